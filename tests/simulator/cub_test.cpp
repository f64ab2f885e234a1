// Programs with CUB: that they run is in programs/cub_*.cu; what is wrong with them is found, and what isn't there is refused by name.
#include <string>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

const std::string kSaid =
    "tilewise: CUB's device-wide algorithms run on the CPU, as loops of host code: checked, but neither counted nor "
    "timed\n";

/// Compiles and runs; `message` is one of the lines that it says, and the program fails. Without one there are no findings.
void finds(const std::string& message, const std::string& body) {
  const Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write("#include <cub/cub.cuh>\n" + body));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  const Outcome ran = workplace.run_app();
  INFO(ran.text);
  CHECK(ran.status == (message.empty() ? 0 : 1));
  CHECK(ran.text.find(message) != std::string::npos);
}

std::string two_sums(const std::string& between) {
  return R"(__global__ void sums(const float* in, float* out) {
  using BlockReduce = cub::BlockReduce<float, 128>;
  __shared__ BlockReduce::TempStorage temp;
  const float sum = BlockReduce(temp).Sum(in[threadIdx.x]);
  )" + between +
         R"(
  const float again = BlockReduce(temp).Sum(sum);
  if (threadIdx.x == 0) *out = sum + again;
}
int main() {
  float* p;
  cudaMalloc(&p, 129 * sizeof(float));
  cudaMemset(p, 0, 129 * sizeof(float));
  sums<<<1, 128>>>(p, p + 128);
  cudaDeviceSynchronize();
  cudaFree(p);
}
)";
}

/// A sum of `n` of 100 numbers, of which `filled` are set, in the stream `stream`; `between` stands before it.
std::string device_sum(const std::string& n, const std::string& filled, const std::string& between = "") {
  return R"(#include <cstdio>
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
int main() {
  int *p, *sum, host = 0;
  void* temp = nullptr;
  size_t bytes = 0;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaMalloc(&p, 100 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cub::DeviceReduce::Sum(temp, bytes, p, sum, )" +
         n + R"();
  cudaMalloc(&temp, bytes);
  fill<<<1, )" +
         filled + R"(, 0, one>>>(p);
  )" + between +
         R"(
  cub::DeviceReduce::Sum(temp, bytes, p, sum, )" +
         n + R"(, two);
  cudaMemcpyAsync(&host, sum, sizeof host, cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(two);
  std::printf("%d\n", host);
  cudaFree(p), cudaFree(sum), cudaFree(temp), cudaEventDestroy(event), cudaStreamDestroy(one), cudaStreamDestroy(two);
}
)";
}

}  // namespace

TEST_CASE("TempStorage that is used again without a barrier is a race", "[programs][cub]") {
  finds("program.cu:7: race-shared: this thread writes element 1 of temp", two_sums(""));
  finds("", two_sums("__syncthreads();"));
}

TEST_CASE("CUB's calls for a device are work in their stream, and their memory is looked at", "[.all][programs][cub]") {
  const std::string waits = "cudaEventRecord(event, one), cudaStreamWaitEvent(two, event);";
  prints(kSaid + "100\n", "#include <cub/cub.cuh>\n" + device_sum("100", "100", waits));
  finds("program.cu:19: race-streams: cub::DeviceReduce reads", device_sum("100", "100"));
  finds("program.cu:19: uninitialised: cub::DeviceReduce reads", device_sum("100", "64", waits));
  finds("program.cu:19: out-of-bounds: cub::DeviceReduce reads 0 bytes past the end of the 400-byte device allocation",
        device_sum("101", "100", waits));
  finds("program.cu:19: host-pointer: cub::DeviceReduce: d_out is host memory",
        device_sum("100", "100", waits + " int* const of_device = sum; sum = &host;"));
}

TEST_CASE("A kernel that reads what CUB has not yet written is found", "[.all][programs][cub]") {
  finds("race-streams", R"(
__global__ void use(int* p) { p[0] += 1; }
int main() {
  int *p, *sorted;
  void* temp = nullptr;
  size_t bytes = 0;
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaMalloc(&p, 64 * sizeof(int)), cudaMalloc(&sorted, 64 * sizeof(int));
  cudaMemset(p, 0, 64 * sizeof(int));
  cub::DeviceRadixSort::SortKeys(temp, bytes, p, sorted, 64);
  cudaMalloc(&temp, bytes);
  cub::DeviceRadixSort::SortKeys(temp, bytes, p, sorted, 64);
  use<<<1, 1, 0, other>>>(sorted);
  cudaDeviceSynchronize();
  cudaFree(p), cudaFree(sorted), cudaFree(temp), cudaStreamDestroy(other);
}
)");
}

TEST_CASE("What of CUB isn't there is refused by name", "[programs][cub]") {
  refuses("program.cu:2: error: the simulator does not support BlockMergeSort",
          "#include <cub/block/block_merge_sort.cuh>\nusing Sort = cub::BlockMergeSort<int, 32, 1>;\nint main() {}\n");
}
