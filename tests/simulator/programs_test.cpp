// Ordinary CUDA programs, in the styles that tutorials have them, compiled by simcc and run; and programs that use what
// the simulator lacks, which must say so.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "catch.hpp"
#include "text.hpp"
#include "workplace.hpp"

TEST_CASE("A program runs: vector addition in managed memory", "[programs]") {
  runs("vector_add_managed", "100003 elements, 3 launches: right\n");
}

TEST_CASE("A program runs: reduction by shuffles", "[programs]") {
  std::string expected;
  for (const char* n : {"1", "31", "33", "1000", "77777"})
    for (const char* what : {"sum", "maximum"}) expected += std::string(what) + " of " + n + ": right\n";
  runs("reduction_shuffle", expected);
}

TEST_CASE("A program runs: histogram by atomics", "[programs]") {
  runs("histogram_atomics", "global   right\nshared   right\nmatched  right\n");
}

TEST_CASE("A program runs: stencil with constant memory", "[programs]") {
  runs("stencil_constant", "117 x 61 pixels: right\n");
}

TEST_CASE("A program runs: streams and asynchronous copies", "[programs]") {
  runs("streams_async", "8181 values in 9 chunks on 3 streams: right\n");
}

TEST_CASE("A program runs: a reset gives variables their first values, on one device and on several", "[programs]") {
  const std::string expected =
      "changed: 13, 1 0 0, 6\nreset: 7, 0 0 0, 5\nevent: cudaErrorContextIsDestroyed\nchanged again: 12, 1 1 1, 5\n";
  for (const char* devices : {"1", "2"}) {
    setenv("TILEWISE_DEVICES", devices, 1);
    runs("device_reset", expected);
  }
  unsetenv("TILEWISE_DEVICES");
}

TEST_CASE("A program runs: all that NCCL does, on one device and on several", "[.all][programs][devices][nccl]") {
  for (const char* devices : {"1", "2", "5"}) {
    setenv("TILEWISE_DEVICES", devices, 1);
    runs("nccl_operations",
         "tilewise: ncclAllReduce and its kin are computed by the simulator's own library on the CPU: checked, but "
         "neither "
         "counted nor timed\n" +
             std::string(devices) +
             " ranks: 0 wrong\nmore ranks than devices: 1\na device twice: 5\na rank too many: 4\nno such root: 4\n"
             "no such type: 4\nno communicator: 4\nno group: 4\nanother's stream: " +
             (std::string(devices) == "1" ? "0" : "1") + "\ndestroyed twice: 4\n");
  }
  unsetenv("TILEWISE_DEVICES");
}

TEST_CASE("A program runs: unusual launches, host threads, with every compiler there is", "[.all][programs]") {
  const std::string expected =
      "before main: right\nuntyped pointers: right\ncomplex numbers: right\nvalue of one lane: right\n"
      "host threads: right\n";
  runs("launches_and_threads", expected);
  for (const std::string compiler : {"g++", "clang++"}) {
    if (std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    INFO(compiler);
    runs("launches_and_threads", expected, "--cxx=" + compiler);
  }
}

TEST_CASE("A program runs: kernels with the names of standard functions, with every compiler there is",
          "[.all][programs]") {
  for (const std::string compiler : {"g++", "clang++"}) {
    if (std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    INFO(compiler);
    runs("kernel_names", "right\n", "--cxx=" + compiler);
  }
}

// Each is about one thing that its name says, checks its own results, and prints "right".
TEST_CASE("Programs run that check themselves", "[programs]") {
  for (const char* name : {"ballot_compact", "bitonic_sort", "box_three_dimensions", "captured_stream", "cas_double",
                           "device_lambdas", "errors_by_name", "function_table", "last_block_sum", "life_generations",
                           "managed_classes", "mapped_memory", "occupancy_launch", "pitched_rows", "scan_blocks",
                           "surface_invert", "texture_image", "texture_volume", "tiles_of_groups"}) {
    INFO(name);
    runs(name, "right\n");
  }
}

// The same, of which each takes a second to compile: `make check` runs them.
TEST_CASE("More programs run that check themselves", "[.all][programs]") {
  for (const char* name : {"atomics_of_the_standard",
                           "bf16_rounding",
                           "bit_tricks",
                           "cub_blocks",
                           "curand_in_kernel",
                           "device_heap",
                           "dynamic_parallelism",
                           "extern_shared_templates",
                           "grid_sync",
                           "half_arithmetic",
                           "host_callback",
                           "inline_ptx",
                           "labelled_groups",
                           "launch_by_pointer",
                           "match_votes",
                           "memory_pool",
                           "nvstd_function",
                           "prefetch_and_advise",
                           "producer_consumer_flags",
                           "scan_of_groups",
                           "sort_by_radix",
                           "spin_lock",
                           "symbols_and_tables",
                           "virtual_on_device",
                           "wmma_tile"}) {
    INFO(name);
    runs(name, "right\n");
  }
}

TEST_CASE("A program runs: CUB's functions for whole devices", "[.all][programs]") {
  runs("cub_device",
       "tilewise: CUB's device-wide algorithms run on the CPU, as loops of host code: checked, but neither counted nor "
       "timed\nright\n");
}

TEST_CASE("Programs run that check themselves, with libraries", "[.all][programs]") {
  for (const auto& [name, function] :
       {std::pair{"cublas_batched", "cublasSgemmStridedBatched"}, std::pair{"cublaslt_perceptron", "cublasLtMatmul"},
        std::pair{"curand_on_host", "curandGenerateUniform"}, std::pair{"cusparse_spmv", "cusparseSpMV"}}) {
    INFO(name);
    runs(name, std::string("tilewise: ") + function +
                   " and its kin are computed by the simulator's own library on the CPU: checked, but neither counted "
                   "nor timed\nright\n");
  }
}

TEST_CASE("A kernel and a host function share a name", "[programs]") {
  for (const std::string& compiler : compilers()) {
    prints("7\n", R"(#include <cstdio>
struct Planes { int* red; };
__global__ void fill(Planes planes) { planes.red[threadIdx.x] = 7; }
void fill() {
  Planes planes;
  cudaMallocManaged(&planes.red, 32 * sizeof(int));
  fill<<<1, 32>>>(planes);
  cudaDeviceSynchronize();
  std::printf("%d\n", planes.red[31]);
  cudaFree(planes.red);
}
int main() { fill(); }
)",
           "--cxx=" + compiler);
  }
}

TEST_CASE("What __CUDA_ARCH__ says of blocks in __launch_bounds__ is no difference", "[programs]") {
  prints("3\n", R"(#include <cstdio>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define BLOCKS 2
#else
#define BLOCKS 1
#endif
__global__ void __launch_bounds__(64, BLOCKS)
    three(int* out) { *out = 3; }
int main() {
  int* out;
  cudaMallocManaged(&out, sizeof *out);
  three<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  std::printf("%d\n", *out);
  cudaFree(out);
}
)");
}

TEST_CASE("What the simulator lacks of textures is refused", "[programs]") {
  refuses("program.cu:2: error: the simulator does not support this function of textures (tex2DLod)", R"(
__global__ void k(cudaTextureObject_t t, float* p) { p[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, 1.0f); }
int main() {}
)");
  refuses("program.cu:2: error: the simulator does not support texture references (CUDA 12 removed them)", R"(
texture<float, 2> image;
int main() {}
)");
  refuses("program.cu:2: error: the simulator does not support mipmaps (cudaMipmappedArray_t)", R"(
cudaMipmappedArray_t levels;
int main() {}
)");
  refuses("program.cu:4: no-texture: there is no such texture: it was destroyed", R"(
__global__ void k(cudaTextureObject_t t, float* p) {
  p[threadIdx.x] =
      tex1Dfetch<float>(t, threadIdx.x);
}
int main() {
  float* p;
  cudaMalloc(&p, 128), cudaMemset(p, 0, 128);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = p;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 128;
  cudaTextureDesc desc = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &resource, &desc, nullptr);
  k<<<1, 32>>>(t, p);
  cudaDestroyTextureObject(t);
  k<<<1, 32>>>(t, p);
}
)");
}

TEST_CASE("A program with parts of cooperative groups that the simulator lacks is refused by name", "[programs]") {
  refuses("program.cu:5: error: the simulator does not support cooperative_groups::inclusive_scan_update", R"(
#include <cooperative_groups/scan.h>
using namespace cooperative_groups;
__global__ void k(int* p) {
  *p = inclusive_scan_update(coalesced_threads(), *p, 1);
}
int main() {}
)");
}

TEST_CASE("A promise to the compiler that is broken is found, with its line", "[.all][programs]") {
  const std::string kernel = R"(
extern "C" __global__ void f(const float* in, float* out, int n) {
  __builtin_assume(n > 0);
  const float4* fours = (const float4*)__builtin_assume_aligned(in, 16);
  switch (n % 4) {
    case 0: *out = fours->x; break;
    case 1: *out = 1; break;
    default: __builtin_unreachable();
  }
}
int main() {
  float* p;
  cudaMalloc(&p, 400), cudaMemset(p, 0, 400);
)";
  prints("", kernel + "  f<<<1, 1>>>(p, p + 10, 4);\n  f<<<1, 1>>>(p, p + 10, 5);\n  cudaFree(p);\n}\n");
  refuses("program.cu:3: false-promise: what __builtin_assume() promises is false",
          kernel + "  f<<<1, 1>>>(p, p + 10, 0);\n}\n");
  refuses("program.cu:4: false-promise: the address given to __builtin_assume_aligned()",
          kernel + "  f<<<1, 1>>>(p + 1, p + 10, 4);\n}\n");
  refuses("program.cu:8: false-promise: __builtin_unreachable() is reached",
          kernel + "  f<<<1, 1>>>(p, p + 10, 6);\n}\n");
  refuses("in f, block (0,0,0)", kernel + "  f<<<1, 1>>>(p, p + 10, 6);\n}\n");
  refuses("program.cu:1: false-promise", "int main(int n, char**) { if (n == 1) __builtin_unreachable(); }\n");
}

TEST_CASE("What a loop sets has a value after it, and what it may not have set is warned of", "[.all][programs]") {
  const auto said = [](const std::string& body) {
    Workplace workplace;
    return workplace
        .compile(
            workplace.write("__global__ void k(const float* a, float* b, int n) {\n" + body + "\n}\nint main() {}\n"),
            "-Wall")
        .text;
  };
  CHECK(said("int i; float s = 0; for (i = 0; i < n; ++i) s += a[i]; for (; i < 9; ++i) s -= a[i]; *b = s;") == "");
  CHECK(said("float v; for (int i = 0; i < 4; ++i) v = a[i]; *b = v;") == "");
  CHECK(said("int i; do { i = n--; } while (i > 3); *b = i;") == "");
  CHECK(said("int i; while ((i = n--) > 3) *b = 1; *b = i;") == "");
  CHECK(said("float v; for (;;) { v = a[n--]; if (v > 3) break; } *b = v;") == "");
  CHECK(said("float s; for (int i = 0; i < n; ++i) s += a[i]; *b = s;").find("uninitialized") != std::string::npos);
  CHECK(said("float v; for (int i = 0; i < n; ++i) v = a[i]; *b = v;").find("uninitialized") != std::string::npos);
}

TEST_CASE("A program with inline PTX that the simulator lacks is refused", "[programs]") {
  refuses("program.cu:4: error: the simulator does not support inline PTX", R"(
__global__ void multiprocessor(unsigned* p) {
  unsigned l;
  asm volatile("mov.u32 %0, %%envreg0;" : "=r"(l));
  p[threadIdx.x] = l;
}
int main() {}
)");
}

TEST_CASE("A program whose kernel waits for the host is refused, not called a deadlock", "[programs]") {
  refuses("does not support a kernel that waits for the host, as waits(int volatile*, int*) may at ", R"(
__global__ void waits(volatile int* latch, int* out) { while (*latch == 0) {} *out = 42; }
int main() {
  int *latch, *out;
  cudaMallocHost(&latch, sizeof(int)), cudaMalloc(&out, sizeof(int));
  *latch = 0;
  waits<<<1, 1>>>(latch, out);
  *(volatile int*)latch = 1;
  cudaDeviceSynchronize();
  return 0;
})");
  refuses("does not support a kernel that waits for the host, as naps(int volatile*) may at ", R"(
__global__ void naps(volatile int* latch) { while (*latch == 0) __nanosleep(100); }
int main() {
  int* latch;
  cudaMallocManaged(&latch, sizeof(int));
  *latch = 0;
  naps<<<1, 1>>>(latch);
  return 0;
})");
  refuses("deadlock: the block never ends", R"(
__global__ void waits(volatile int* latch) { while (*latch == 0) {} }
int main() {
  int* latch;
  cudaMalloc(&latch, sizeof(int)), cudaMemset(latch, 0, sizeof(int));
  waits<<<1, 1>>>(latch);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
})");
}

TEST_CASE("A reference to managed memory is a kernel's parameter like a pointer", "[programs]") {
  prints("7 0 1 2\n", R"(#include <cstdio>
struct Pair { int a, b; };
__global__ void fill(const Pair& pair, int& sum, int* out) {
  out[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) sum = pair.a + pair.b;
}
int main() {
  Pair* pair;
  int *sum, *out;
  cudaMallocManaged(&pair, sizeof *pair), cudaMallocManaged(&sum, sizeof *sum), cudaMallocManaged(&out, 3 * sizeof *out);
  *pair = {3, 4};
  fill<<<1, 3>>>(*pair, *sum, out);
  cudaDeviceSynchronize();
  std::printf("%d %d %d %d\n", *sum, out[0], out[1], out[2]);
  cudaFree(pair), cudaFree(sum), cudaFree(out);
})");
}

TEST_CASE("A kernel that waits for its children is refused: CUDA 12 and later have no such call for sm_90",
          "[programs]") {
  refuses("program.cu:5: error: cudaDeviceSynchronize() in device code", R"(
__global__ void child() {}
__global__ void parent() {
  child<<<1, 4>>>();
  cudaDeviceSynchronize();
}
int main() { parent<<<1, 1>>>(); return cudaDeviceSynchronize(); }
)");
}

TEST_CASE("A program that synchronises the grids of several devices is refused: CUDA 13 has removed that",
          "[programs]") {
  refuses("program.cu:4: error: CUDA 13 has removed grids of several devices (this_multi_grid)", R"(
#include <cooperative_groups.h>
__global__ void k() {
  auto grids = cooperative_groups::this_multi_grid();
  grids.sync();
}
int main() {}
)");
  refuses("program.cu:4: error: CUDA 13 has removed grids of several devices (cudaLaunchCooperativeKernelMultiDevice)",
          R"(
__global__ void k() {}
int main() {
  cudaLaunchCooperativeKernelMultiDevice(nullptr, 2, 0);
}
)");
}

TEST_CASE("A program with parts of CUDA graphs that are not there is refused", "[programs]") {
  refuses(
      "program.cu:4: error: the simulator does not support cudaEventRecordWithFlags(): use cudaEventRecord; in place "
      "of cudaEventRecordExternal, which in a capture makes a node that records the event in each launch of the graph, "
      "add one after cudaStreamEndCapture by cudaGraphAddEventRecordNode",
      R"(
#include <cuda_runtime.h>
int main() {
  cudaEventRecordWithFlags(nullptr, nullptr, 0);
}
)");
  refuses("program.cu:3: error: the simulator does not support this part of CUDA graphs (cudaGraphConditionalHandle)",
          R"(
int main() {
  cudaGraphConditionalHandle handle;
}
)");
  refuses("new arguments for a launch that was captured (capture it again, and call cudaGraphExecUpdate)", R"(
__global__ void put(int* p, int number) { *p = number; }
int main() {
  int *p, number = 1;
  cudaMalloc(&p, 4);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  put<<<1, 1, 0, stream>>>(p, number);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  size_t one = 1;
  cudaGraphNode_t node;
  cudaGraphGetNodes(graph, &node, &one);
  void* arguments[] = {&p, &number};
  const cudaKernelNodeParams parameters{(void*)put, dim3(1), dim3(1), 0, arguments, nullptr};
  cudaGraphExecKernelNodeSetParams(ready, node, &parameters);
}
)");
}

// ------------------------------------------------------------------------------------------- TILEWISE_SAMPLE
namespace {

nlohmann::json report_of(const Workplace& workplace, const std::string& environment, Outcome& outcome) {
  outcome = workplace.run_app("TILEWISE_REPORT='" + workplace.path("report.json") + "' " + environment);
  std::ifstream file(workplace.path("report.json"));
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

// Adds 1 to every word, twice, and says how many words are wrong.
const char* const kAddTwice = R"(
#include <cstdio>
__global__ void add(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}
int main() {
  constexpr int n = 99999;
  static float host[n];
  float *a, *b, *c;
  cudaMalloc(&a, sizeof host), cudaMalloc(&b, sizeof host), cudaMalloc(&c, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(a, b, n);
  add<<<(n + 255) / 256, 256>>>(b, c, n);
  cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (float word : host) wrong += word != 2;
  std::printf("%d wrong\n", wrong);
  cudaFree(a), cudaFree(b), cudaFree(c);
  return cudaGetLastError();
}
)";

}  // namespace

TEST_CASE("TILEWISE_BLOCK_SECONDS: a block that doesn't end is a finding with its line", "[programs][watchdog]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <cstdlib>
__global__ void k(int* out, int kind) {
  volatile int i = 1;
  if (kind == 1) while (i > 0) i = i % 5 + 1;
  if (kind == 2) while (i > 0) out[threadIdx.x] = i;
  if (kind == 3) while (i > 0) __syncthreads();
  if (kind == 4) while (atomicAdd(&out[64], 0) == 0) {}
  if (kind == 5) for (int n = 0; n < 20000; ++n) out[blockIdx.x * 64 + threadIdx.x] = n;  // slow, and thread by thread
}
int main(int, char** argv) {
  int* out;
  cudaMalloc(&out, 1000), cudaMemset(out, 0, 1000);
  for (int n = 0; n < 2; ++n) k<<<2, 64>>>(out, std::atoi(std::getenv("KIND")));
  cudaFree(out);
})"))
              .status == 0);
  for (const std::string kind : {"1", "2", "3"}) {
    INFO(kind);
    const Outcome ran = workplace.run_app("TILEWISE_BLOCK_SECONDS=0.3 KIND=" + kind);
    CHECK(ran.status == 1);
    CHECK(has(ran.text, "endless: "));
    if (kind != "3")  // threads that meet again and again are stopped wherever they are
      CHECK(has(ran.text,
                std::to_string(3 + std::stoi(kind)) + ": endless: no thread of this block has come to its end in "));
    CHECK(has(ran.text, "block (0,0,0)"));
    Outcome again;
    const auto report = report_of(workplace, "TILEWISE_BLOCK_SECONDS=0.3 KIND=" + kind, again);
    REQUIRE(report.size() == 1);  // the launch that it was in, which has not ended
    CHECK(report[0].at("findings").at(0).at("kind") == "endless");
  }
  const Outcome waits = workplace.run_app("TILEWISE_BLOCK_SECONDS=0.3 KIND=4");
  CHECK(has(waits.text, "deadlock: the block never ends, since threads wait for something that does not happen"));
  CHECK(workplace.run_app("TILEWISE_BLOCK_SECONDS=0.3 KIND=5").status == 0);
  for (const std::string value : {"0", "-1", "abc", "1s"}) {
    const Outcome refused = workplace.run_app("KIND=0 TILEWISE_BLOCK_SECONDS=" + value);
    CHECK(refused.status == 2);
    CHECK(has(refused.text, "which is no number above 0"));
  }
}

TEST_CASE("TILEWISE_SAMPLE: a wrong value ends the program before it begins", "[programs][sample]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <cstdio>
int main() { std::puts("began"); return cudaDeviceSynchronize(); })"))
              .status == 0);
  for (const std::string value : {"0", "-3", "abc", "32x", "1.5", "1000000001", "99999999999999999999"}) {
    const Outcome ran = workplace.run_app("TILEWISE_SAMPLE=" + value);
    CHECK(ran.status == 2);
    CHECK(ran.text == "TILEWISE_SAMPLE '" + value + "': not a number of blocks; allowed are 1 to 1000000000\n");
  }
  CHECK(workplace.run_app("TILEWISE_SAMPLE=").text == "began\n");
  CHECK(workplace.run_app("TILEWISE_SAMPLE=1000000000").text == "began\n");
}

// Each block of 64 threads adds up four pieces of 64 words that asynchronous copies bring.
const char* const kPieces = R"(
#include <cuda_pipeline.h>
#include <cstdio>
constexpr int N = 64, PIECES = 4;
__device__ void begin(float* to, const float* in, int piece) {
  __pipeline_memcpy_async(&to[threadIdx.x], &in[(blockIdx.x * PIECES + piece) * N + threadIdx.x], 4);
  __pipeline_commit();
}
__global__ void at_once(const float* in, float* out) {
  __shared__ float s[2][N];
  float sum = 0;
  for (int p = 0; p < PIECES; ++p) {
    begin(s[p % 2], in, p);
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += s[p % 2][N - 1 - threadIdx.x];
  }
  out[blockIdx.x * N + threadIdx.x] = sum;
}
__global__ void ahead(const float* in, float* out) {
  __shared__ float s[2][N];
  begin(s[0], in, 0);
  float sum = 0;
  for (int p = 0; p < PIECES; ++p) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (p + 1 < PIECES) begin(s[(p + 1) % 2], in, p + 1);
    sum += s[p % 2][N - 1 - threadIdx.x];
  }
  out[blockIdx.x * N + threadIdx.x] = sum;
}
// The wait stands after a barrier; half of the threads have nothing to read before it.
__global__ void behind_a_barrier(const float* in, float* out) {
  __shared__ float s[PIECES][N];
  begin(s[0], in, 0);
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int p = 1; p < PIECES; ++p) begin(s[p], in, p);
  float sum = 0;
  if (threadIdx.x % 2 == 0) sum = s[0][N - 1 - threadIdx.x];
  __syncthreads();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (threadIdx.x % 2 == 1) sum = s[0][N - 1 - threadIdx.x];
  for (int p = 1; p < PIECES; ++p) sum += s[p][N - 1 - threadIdx.x];
  out[blockIdx.x * N + threadIdx.x] = sum;
}
int main() {
  const int blocks = 40;
  float *in, *out;
  cudaMallocManaged(&in, blocks * PIECES * N * sizeof(float));
  cudaMallocManaged(&out, blocks * N * sizeof(float));
  for (int i = 0; i < blocks * PIECES * N; ++i) in[i] = i % 7;
  at_once<<<blocks, N>>>(in, out);
  ahead<<<blocks, N>>>(in, out);
  behind_a_barrier<<<blocks, N>>>(in, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
)";

TEST_CASE("A report says for how many bytes of asynchronous copies threads waited with nothing done meanwhile",
          "[programs][async]") {
  const Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(kPieces));
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  constexpr std::uint64_t kPiece = 40 * 64 * 4;  // bytes, of all blocks
  const std::uint64_t expected[] = {4 * kPiece, kPiece, kPiece + 3 * kPiece / 2};
  for (const std::string environment : {"", "TILEWISE_FINDINGS=off", "TILEWISE_SAMPLE=10"}) {
    INFO(environment);
    Outcome ran;
    const auto report = report_of(workplace, environment, ran);
    CHECK(ran.status == 0);
    CHECK(has(ran.text, "cudaSuccess\n"));
    REQUIRE(report.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      std::uint64_t bytes = 0, copied = 0;
      for (const auto& line : report[i].at("lines")) {
        copied += line.value("bytes_copied", std::uint64_t{0});
        CHECK(line.count("bytes_waited_for") == (line.at("access") == "copy"));
        if (line.at("access") == "copy") bytes += line.at("bytes_waited_for").get<std::uint64_t>();
      }
      CHECK(bytes == expected[i]);
      CHECK(copied == 4 * kPiece);
    }
  }
}

TEST_CASE("Zeros that are written after what a copy reads are neither copied nor waited for", "[programs][async]") {
  const Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(R"(#include <cuda_pipeline.h>
__global__ void k(const float* in, float* out) {
  __shared__ float s[32];
  const bool inside = threadIdx.x < 20;
  __pipeline_memcpy_async(&s[threadIdx.x], inside ? in + threadIdx.x : in, 4, inside ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 128);
  cudaMalloc(&out, 128);
  cudaMemset(in, 0, 128);
  k<<<1, 32>>>(in, out);
  cudaFree(in);
  cudaFree(out);
}
)"));
  REQUIRE(compiled.status == 0);
  Outcome ran;
  const auto report = report_of(workplace, "", ran);
  REQUIRE(report.size() == 1);
  std::uint64_t copied = 0, waited = 0;
  for (const auto& line : report[0].at("lines")) {
    copied += line.value("bytes_copied", std::uint64_t{0});
    waited += line.value("bytes_waited_for", std::uint64_t{0});
  }
  CHECK(copied == 80);
  CHECK(waited == 80);
}

TEST_CASE("A report has the addresses of each line's worst request", "[programs][report]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(
__global__ void k(const float* in, float* out) {
  __shared__ float tile[32][33];
  const int i = threadIdx.x % 32, step = threadIdx.x / 32 + 1;  // the second warp's request is the worse one
  if (i < 30)
    tile[i][threadIdx.x / 32] =
        in[step * i];
  if (i < 30) out[threadIdx.x] = tile[i][threadIdx.x / 32];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 256), cudaMalloc(&out, 256), cudaMemset(in, 0, 256);
  k<<<1, 64>>>(in, out);
  return cudaFree(in) + cudaFree(out);
})"))
              .status == 0);
  Outcome outcome;
  const auto report = report_of(workplace, "", outcome);
  CHECK(outcome.status == 0);
  // Each lane's distance from the first; the last two take no part.
  const auto lanes = [](int bytes) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += std::to_string(bytes * i) + " ";
    return text + ". .";
  };
  int seen = 0;
  for (const auto& line : report.at(0).at("lines")) {
    const auto worst = line.at("worst_request");
    const bool shared = line.at("memory") == "shared", load = line.at("access") == "load";
    CHECK(worst.at("lanes") == lanes(shared ? 33 * 4 : load ? 8 : 4));
    CHECK(worst.at("address").get<std::uint64_t>() % (shared ? 4 : load ? 256 : 128) == 0);
    if (shared) CHECK(worst.at("address").get<std::uint64_t>() < 128);
    ++seen;
  }
  CHECK(seen == 4);
}

TEST_CASE("TILEWISE_SAMPLE: the report and the program's end say what was run in part", "[programs][sample]") {
  const Workplace workplace;
  REQUIRE(workplace.compile(workplace.write(kAddTwice)).status == 0);
  Outcome whole, part;
  const auto all = report_of(workplace, "", whole), some = report_of(workplace, "TILEWISE_SAMPLE=20", part);
  CHECK(whole.text == "0 wrong\n");
  CHECK(part.status == 0);  // nothing is checked, and what is unfinished is no finding
  CHECK(has(part.text, "94976 wrong\n"));
  CHECK(has(part.text, "tilewise: TILEWISE_SAMPLE=20: 2 launches ran in part."));
  REQUIRE(some.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(all[i].count("sampled") == 0);
    CHECK(some[i].at("sampled") ==
          nlohmann::json{{"blocks", 20}, {"of", 391}, {"standard_error", 0.0}, {"standard_error_of_tag_passes", 0.0}});
    CHECK(some[i].at("counters") == all[i].at("counters"));
    CHECK(some[i].at("lines") == all[i].at("lines"));
    auto derived = some[i].at("derived"), expected = all[i].at("derived");
    CHECK(expected.at("dram_bytes_at_least") == 2 * 4 * 100000);           // whole sectors
    CHECK(derived.at("dram_bytes_at_least") == 2 * 4 * (19 * 256 + 160));  // of the blocks that were run
    derived.erase("dram_bytes_at_least"), expected.erase("dram_bytes_at_least");
    CHECK(derived == expected);
  }
  CHECK(some[0].count("reads_unfinished") == 0);
  CHECK(some[1].at("reads_unfinished") == "add(float const*, float*, int)");
  CHECK(has(workplace.run_app("TILEWISE_REPORT=- TILEWISE_SAMPLE=20").text,
            "counted in 20 of 391 blocks, and scaled to all of them; standard error 0.0 %, of tag passes 0.0 %"));

  // As many blocks as there are, or no counting: nothing changes.
  const std::string said = workplace.run_app("TILEWISE_REPORT=-").text;
  CHECK(workplace.run_app("TILEWISE_REPORT=- TILEWISE_SAMPLE=391").text == said);
  CHECK(workplace.run_app("TILEWISE_SAMPLE=20").text == "0 wrong\n");
}

TEST_CASE("TILEWISE_SAMPLE: launches whose blocks may depend on each other are run whole", "[programs][sample]") {
  // What thread 0 of each block does, and how that is called.
  const std::pair<const char*, const char*> cases[] = {
      {"out[atomicAdd(n, 1)] = 1;", "uses the value that an atomic returns"},
      {"out[blockIdx.x] = *(volatile int*)n + 1;", "reads or writes a volatile variable"},
      {"out[blockIdx.x] = 1; __threadfence();", "calls __threadfence()"},
      {"if (blockIdx.x != 0) out[atomicAdd(n, 1) + 1] = 1; else out[0] = 1;", "uses the value that an atomic returns"},
  };
  for (const auto& [statement, why] : cases) {
    INFO(statement);
    const Workplace workplace;
    REQUIRE(workplace
                .compile(workplace.write(std::string(R"(#include <cstdio>
__global__ void k(int* out, int* n) {
  if (threadIdx.x == 0) { )") + statement +
                                         R"( }
}
int main() {
  int *out, *n, host[300], sum = 0;
  cudaMalloc(&out, sizeof host), cudaMalloc(&n, 4);
  cudaMemset(n, 0, 4), cudaMemset(out, 0, sizeof host);
  k<<<300, 32>>>(out, n);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i : host) sum += i;
  std::printf("%d\n", sum);
  cudaFree(out), cudaFree(n);
})"))
                .status == 0);
    Outcome whole, part;
    auto all = report_of(workplace, "TILEWISE_FINDINGS=off", whole);
    auto some = report_of(workplace, "TILEWISE_SAMPLE=8", part);
    const std::string reason = std::string("program.cu:3 ") + why;
    CHECK(has(part.text, "300\n"));
    CHECK(has(part.text, "tilewise: all 300 blocks of k(int*, int*) are run, not a sample of them: "));
    CHECK(has(part.text, reason));
    CHECK(!has(part.text, "in part"));
    CHECK(has(some[0].at("not_sampled").get<std::string>(), reason));
    some[0].erase("not_sampled");
    // Of requests that cost the same the first is shown, and the blocks' order differs.
    for (auto* launch : {&some[0], &all[0]})
      for (auto& line : launch->at("lines")) line.erase("worst_request");
    CHECK(some == all);
  }
}

TEST_CASE("TILEWISE_SAMPLE: what only concerns one block does not make it depend on others", "[programs][sample]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(
__global__ void k(int* out) {
  __shared__ int n;
  __shared__ volatile int last;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  if (atomicAdd(&n, 1) == 31) last = threadIdx.x;
  __threadfence_block();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, last);
}
int main() {
  int* out;
  cudaMalloc(&out, 4), cudaMemset(out, 0, 4);
  k<<<300, 32>>>(out);
  cudaFree(out);
})"))
              .status == 0);
  Outcome outcome;
  const auto report = report_of(workplace, "TILEWISE_SAMPLE=8", outcome);
  CHECK(report[0].at("sampled").at("blocks") == 8);
  CHECK(report[0].at("counters").at("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum") == 300);
}

TEST_CASE("TILEWISE_SAMPLE: a block that waits for one that has not run is refused by name", "[programs][sample]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(
__global__ void chain(volatile int* sum) {
  if (blockIdx.x >= 100) {
    while (sum[blockIdx.x - 1] == 0) {}
    sum[blockIdx.x] = sum[blockIdx.x - 1];
  } else if (blockIdx.x == 99)
    sum[blockIdx.x] = 1;
}
int main() {
  int* sum;
  cudaMalloc(&sum, 1200), cudaMemset(sum, 0, 1200);
  chain<<<300, 1>>>(sum);
  return cudaFree(sum);
})"))
              .status == 0);
  CHECK(workplace.run_app().status == 0);
  const Outcome ran = workplace.run_app("TILEWISE_COUNT=1 TILEWISE_SAMPLE=8");
  CHECK(ran.status == 2);
  CHECK(has(ran.text, "tilewise: chain(int volatile*) cannot be run in part"));
  CHECK(has(ran.text, "program.cu:4 reads or writes a volatile variable"));
}

TEST_CASE("Macros of one letter on the command line are the program's, and not the headers'", "[programs]") {
  std::string letters;
  for (const char* letter : {"A", "B", "C", "I", "L", "P", "R", "T", "U", "W", "m"})
    letters += std::string(" -D") + letter + "=32";
  for (const std::string& compiler : compilers())
    prints("352\n",
           "#include <cstdio>\n__global__ void k() { printf(\"%d\\n\", A + B + C + I + L + P + R + T + U + W + m); }\n"
           "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n",
           "--cxx=" + compiler + letters);
}

// ------------------------------------------------------------------------------------------- TILEWISE_POLLS
TEST_CASE("TILEWISE_POLLS: how often a block polls in vain before it counts as a deadlock", "[programs][polls]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <cstdio>
__global__ void poll(int* word) {
  for (int i = 0; i < 300000 && atomicAdd(word, 0) == 0; ++i) {
  }
}
int main() {
  int* word;
  cudaMalloc(&word, sizeof *word);
  cudaMemset(word, 0, sizeof *word);
  std::puts("began");
  poll<<<1, 1>>>(word);
  const cudaError_t error = cudaDeviceSynchronize();
  std::puts(error == cudaSuccess ? "ended" : "failed");
  if (error == cudaSuccess) cudaFree(word);
  return error;
})"))
              .status == 0);
  for (const std::string value : {"0", "9999", "-3", "abc", "10000x", "40000001", "99999999999999999999"}) {
    const Outcome ran = workplace.run_app("TILEWISE_POLLS=" + value);
    CHECK(ran.status == 2);
    CHECK(ran.text == "TILEWISE_POLLS '" + value + "': not a number of polls; allowed are 10000 to 40000000\n");
  }
  for (const std::string environment : {"", "TILEWISE_POLLS=", "TILEWISE_POLLS=400000"}) {
    const Outcome ran = workplace.run_app(environment);
    CHECK(ran.status == 0);
    CHECK(ran.text == "began\nended\n");
  }
  const Outcome ran = workplace.run_app("TILEWISE_POLLS=10000");
  CHECK(ran.status != 0);
  CHECK(has(ran.text, "failed"));
  CHECK(has(ran.text, "deadlock"));
}

TEST_CASE("Atomics that change what they find are work, not waiting, however many they are", "[programs][polls]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <cstdio>
__global__ void count(unsigned* total, unsigned* table) {
  unsigned random = threadIdx.x + 1;
  for (int i = 0; i < 20000; ++i) {
    atomicAdd(total, 1u);
    random = 1664525 * random + 1013904223;
    atomicXor(&table[random % 32], random | 1);
  }
}
int main() {
  unsigned *numbers, total;
  cudaMalloc(&numbers, 33 * sizeof *numbers);
  cudaMemset(numbers, 0, 33 * sizeof *numbers);
  count<<<1, 4>>>(numbers, numbers + 1);
  cudaMemcpy(&total, numbers, sizeof total, cudaMemcpyDeviceToHost);
  std::printf("%u\n", total);
  cudaFree(numbers);
})"))
              .status == 0);
  const Outcome ran = workplace.run_app("TILEWISE_POLLS=10000");
  CHECK(ran.text == "80000\n");
  CHECK(ran.status == 0);
}

TEST_CASE("program: a kernel that prints or reads a clock is run each time") {
  std::string expected;
  for (const char* line : {"printf 7\n", "vprintf 8\n"})
    for (int i = 0; i < 4; ++i) expected += line;
  runs("prints_each_time", expected + "4 steps of time\n");
}

TEST_CASE("TILEWISE_REPEATS is run, or nothing") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <cstdio>
__global__ void one(int* p) { *p = 1; }
int main() {
  std::puts("began");
  int* p = nullptr;
  cudaMalloc(&p, sizeof *p);
  for (int i = 0; i < 4; ++i) one<<<1, 1>>>(p);
  cudaFree(p);
})"))
              .status == 0);
  for (const std::string environment : {"", "TILEWISE_REPEATS=", "TILEWISE_REPEATS=run"})
    CHECK(workplace.run_app(environment).text == "began\n");
  const Outcome ran = workplace.run_app("TILEWISE_REPEATS=never");
  CHECK(ran.status == 2);
  CHECK(ran.text == "TILEWISE_REPEATS 'never': not known; allowed is run\n");
}
