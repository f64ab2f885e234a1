// Launches that are asked for again. The simulator doesn't run those that would change nothing: nobody may notice. Holds on a GPU
// and on the simulator.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "tilewise/device_buffer.hpp"
#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/report.hpp"
#endif

using tilewise::DeviceBuffer;

namespace {

constexpr int kN = 1000;  // no multiple of a warp
constexpr int kThreads = 128, kBlocks = (kN + kThreads - 1) / kThreads;
constexpr int kTimes = 6;

__device__ int factor = 2;
__constant__ int summand;

__device__ int own_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void scale(const int* in, int* out, int by) {
  if (const int i = own_index(); i < kN) out[i] = by * in[i];
}
__global__ void scale_by_variable(const int* in, int* out) {
  if (const int i = own_index(); i < kN) out[i] = factor * in[i] + summand;
}
__global__ void add_one(int* values) {
  if (const int i = own_index(); i < kN) ++values[i];
}
__global__ void count(const int* in, int* bins) {
  if (const int i = own_index(); i < kN) atomicAdd(&bins[in[i] % 8], 1);
}
__global__ void read_clock(long long* out) { *out = clock64(); }
__global__ void read_texture(cudaTextureObject_t texture, int* out) {
  if (const int i = own_index(); i < kN) out[i] = tex1Dfetch<int>(texture, i);
}
__global__ void keep_one_more(int** kept, int* count) { kept[(*count)++] = static_cast<int*>(malloc(sizeof(int))); }
__global__ void free_all(int** kept, const int* count) {
  for (int i = 0; i < *count; ++i) free(kept[i]);
}

std::vector<int> numbers(int first = 0) {
  std::vector<int> all(kN);
  for (int i = 0; i < kN; ++i) all[i] = first + i;
  return all;
}

std::vector<int> times(const std::vector<int>& in, int by, int and_more = 0) {
  std::vector<int> out(in);
  for (int& value : out) value = by * value + and_more;
  return out;
}

// How many launches f() makes that the simulator does not run; on a GPU `expected`.
template <class Function>
std::uint64_t not_run([[maybe_unused]] std::uint64_t expected, Function f) {
#ifdef TILEWISE_SIMULATOR
  const std::uint64_t before = tilewise::sim::launches_not_run();
  f();
  return tilewise::sim::launches_not_run() - before;
#else
  f();
  return expected;
#endif
}

}  // namespace

TEST_CASE("repeats: a launch that would change nothing is not run") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> out(kN);
  const std::uint64_t left_out = not_run(kTimes - 2, [&] {
    for (int i = 0; i < kTimes; ++i) scale<<<kBlocks, kThreads>>>(in.data(), out.data(), 3);
  });
  CHECK(out.to_host() == times(numbers(), 3));
  CHECK(left_out == kTimes - 2);  // the second shows it
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("repeats: a launch is run where it is counted, or not checked") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> out(kN);
  const auto repeat = [&] {
    for (int i = 0; i < kTimes; ++i) scale<<<kBlocks, kThreads>>>(in.data(), out.data(), 3);
  };
  repeat();
  CHECK(not_run(0, repeat) == kTimes);
  const bool was_counting = tilewise::sim::set_counting(true);
  CHECK(not_run(0, repeat) == 0);
  CHECK(tilewise::sim::last_counters().global_load_sectors == kN / 8);
  tilewise::sim::set_counting(was_counting);
  const bool was_checking = tilewise::sim::set_checking(false);
  CHECK(not_run(0, repeat) == 0);
  tilewise::sim::set_checking(was_checking);
  CHECK(not_run(0, repeat) == kTimes - 1);
  CHECK(out.to_host() == times(numbers(), 3));
}
#endif

TEST_CASE("repeats: other arguments are another launch") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> out(kN);
  for (int i = 0; i < kTimes; ++i) {
    scale<<<kBlocks, kThreads>>>(in.data(), out.data(), i % 3);
    CHECK(out.to_host() == times(numbers(), i % 3));
  }
  for (int i = 0; i < kTimes; ++i) {
    scale<<<kBlocks, kThreads>>>(in.data(), out.data(), 5);
    scale<<<1, kThreads>>>(in.data(), out.data(), 6);
    std::vector<int> expected = times(numbers(), 5);
    for (int k = 0; k < kThreads; ++k) expected[k] = 6 * k;
    CHECK(out.to_host() == expected);
  }
}

TEST_CASE("repeats: kernels that take turns, each undoing nothing of the other's") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> middle(kN), out(kN);
  const std::uint64_t left_out = not_run(2 * (kTimes - 2), [&] {
    for (int i = 0; i < kTimes; ++i) {
      scale<<<kBlocks, kThreads>>>(in.data(), middle.data(), 3);
      scale<<<kBlocks, kThreads>>>(middle.data(), out.data(), 4);
    }
  });
  CHECK(out.to_host() == times(numbers(), 12));
  CHECK(left_out == 2 * (kTimes - 2));
}

TEST_CASE("repeats: what changes memory in between is seen") {
  DeviceBuffer<int> in(numbers()), out(kN);
  const auto repeat = [&] {
    for (int i = 0; i < kTimes; ++i) scale<<<kBlocks, kThreads>>>(in.data(), out.data(), 3);
  };
  repeat();
  SECTION("a copy from the host") {
    in.upload(numbers(7));
    repeat();
    CHECK(out.to_host() == times(numbers(7), 3));
  }
  SECTION("a copy from the host of what is there already") {
    in.upload(numbers());
    CHECK(not_run(kTimes, repeat) == kTimes);
    CHECK(out.to_host() == times(numbers(), 3));
  }
  SECTION("a copy on the device") {
    const DeviceBuffer<int> other(numbers(9));
    CUDA_CHECK(cudaMemcpy(in.data(), other.data(), in.bytes(), cudaMemcpyDeviceToDevice));
    repeat();
    CHECK(out.to_host() == times(numbers(9), 3));
  }
  SECTION("a fill of the output") {
    CUDA_CHECK(cudaMemset(out.data(), 0, out.bytes()));
    repeat();
    CHECK(out.to_host() == times(numbers(), 3));
  }
  SECTION("a fill of the input, twice") {
    for (const int byte : {0, 1, 0}) {
      CUDA_CHECK(cudaMemset(in.data(), byte, in.bytes()));
      repeat();
      CHECK(out.to_host() == std::vector<int>(kN, 3 * 0x01010101 * byte));
    }
  }
  SECTION("another kernel") {
    add_one<<<kBlocks, kThreads>>>(in.data());
    repeat();
    CHECK(out.to_host() == times(numbers(1), 3));
  }
  SECTION("memory that is freed and allocated anew") {
    in = DeviceBuffer<int>(numbers(5));
    repeat();
    CHECK(out.to_host() == times(numbers(5), 3));
  }
}

TEST_CASE("repeats: variables of the device") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> out(kN);
  for (const int value : {2, 5, 5, 4}) {
    CUDA_CHECK(cudaMemcpyToSymbol(factor, &value, sizeof value));
    const int more = 10 * value;
    CUDA_CHECK(cudaMemcpyToSymbol(summand, &more, sizeof more));
    for (int i = 0; i < kTimes; ++i) scale_by_variable<<<kBlocks, kThreads>>>(in.data(), out.data());
    CHECK(out.to_host() == times(numbers(), value, more));
  }
}

TEST_CASE("repeats: a launch that changes its own input is run each time") {
  DeviceBuffer<int> values(numbers());
  const std::uint64_t left_out = not_run(0, [&] {
    for (int i = 0; i < kTimes; ++i) add_one<<<kBlocks, kThreads>>>(values.data());
  });
  CHECK(values.to_host() == numbers(kTimes));
  CHECK(left_out == 0);
}

TEST_CASE("repeats: a histogram that is cleared each time") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> bins(8);
  for (int i = 0; i < kTimes; ++i) {
    CUDA_CHECK(cudaMemset(bins.data(), 0, bins.bytes()));
    count<<<kBlocks, kThreads>>>(in.data(), bins.data());
    CHECK(bins.to_host() == std::vector<int>(8, kN / 8));
  }
}

TEST_CASE("repeats: memory that host code can reach") {
  int* in = nullptr;
  SECTION("managed") { CUDA_CHECK(cudaMallocManaged(&in, kN * sizeof(int))); }
  SECTION("pinned") { CUDA_CHECK(cudaMallocHost(&in, kN * sizeof(int))); }
  DeviceBuffer<int> out(kN);
  for (int i = 0; i < kTimes; ++i) {
    for (int k = 0; k < kN; ++k) in[k] = i / 3 + k;
    scale<<<kBlocks, kThreads>>>(in, out.data(), 3);
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(out.to_host() == times(numbers(i / 3), 3));
  }
  cudaPointerAttributes attributes{};
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, in));
  CUDA_CHECK(attributes.type == cudaMemoryTypeManaged ? cudaFree(in) : cudaFreeHost(in));
}

TEST_CASE("repeats: what is read is no memory") {
  DeviceBuffer<long long> out(1);
  long long before = -1;
  for (int i = 0; i < kTimes; ++i) {
    read_clock<<<1, 1>>>(out.data());
    const long long now = out.to_host()[0];
    CHECK(now > before);
    before = now;
  }
}

TEST_CASE("repeats: another texture with the number of one that is gone") {
  const DeviceBuffer<int> one(numbers()), other(numbers(100));
  DeviceBuffer<int> out(kN);
  for (const DeviceBuffer<int>* in : {&one, &other, &one}) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<int*>(in->data());
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = in->bytes();
    cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    CUDA_CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    for (int i = 0; i < kTimes; ++i) read_texture<<<kBlocks, kThreads>>>(texture, out.data());
    CHECK(out.to_host() == in->to_host());
    CUDA_CHECK(cudaDestroyTextureObject(texture));
  }
}

TEST_CASE("repeats: memory of the device's heap") {
  DeviceBuffer<int*> kept(kTimes);
  DeviceBuffer<int> count(std::vector<int>{0});
  for (int i = 0; i < kTimes; ++i) keep_one_more<<<1, 1>>>(kept.data(), count.data());
  free_all<<<1, 1>>>(kept.data(), count.data());
  CHECK(count.to_host()[0] == kTimes);
}

TEST_CASE("repeats: a graph, a kernel by its address and by a variable") {
  const DeviceBuffer<int> in(numbers());
  DeviceBuffer<int> out(kN);
  const int* from = in.data();
  int* to = out.data();
  int by = 3;
  void* arguments[] = {&from, &to, &by};
  const std::uint64_t left_out = not_run(3 * (kTimes - 2), [&] {
    for (int i = 0; i < kTimes; ++i)
      CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&scale), kBlocks, kThreads, arguments, 0, nullptr));
    CHECK(out.to_host() == times(numbers(), 3));
    by = 4;
    for (int i = 0; i < kTimes; ++i)
      CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&scale), kBlocks, kThreads, arguments, 0, nullptr));
    CHECK(out.to_host() == times(numbers(), 4));
    void (*kernel)(const int*, int*, int) = nullptr;
    kernel = &scale;
    for (int i = 0; i < kTimes; ++i) kernel<<<kBlocks, kThreads>>>(from, to, 5);
    CHECK(out.to_host() == times(numbers(), 5));
  });
  CHECK(left_out == 3 * (kTimes - 2));

  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<kBlocks, kThreads, 0, stream>>>(from, to, 7);
  add_one<<<kBlocks, kThreads, 0, stream>>>(to);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < kTimes; ++i) CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(out.to_host() == times(numbers(), 7, 1));
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
}
