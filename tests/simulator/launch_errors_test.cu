// Launches that cannot run: the error they give, and that they leave everything as it was. Also occupancy.
// Holds on a GPU and on the simulator; checked on an H200 with CUDA 13.0.
#include <cuda_runtime.h>

#include <cstddef>
#include <iterator>
#include <utility>

#include "catch.hpp"
#include "expected_findings.hpp"
#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/report.hpp"
#endif

namespace {

// A launch with an impossible shape: CUDA 13 calls it an invalid value, as every other bad argument.
#if CUDART_VERSION >= 13000
constexpr cudaError_t kBadShape = cudaErrorInvalidValue;
#else
constexpr cudaError_t kBadShape = cudaErrorInvalidConfiguration;
#endif

__global__ void mark(int* out) { out[0] = 1; }

__global__ void __launch_bounds__(128) mark_bounded(int* out) { out[0] = 1; }

__global__ void mark_dynamic(int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = 1;
  out[0] = dynamic[threadIdx.x];
}

__global__ void mark_opted_in(int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = 1;
  out[0] = dynamic[threadIdx.x];
}

__global__ void mark_static(int* out) {
  __shared__ int fixed[8000];
  fixed[threadIdx.x] = 1;
  out[0] = fixed[threadIdx.x];
}

template <int Value>
__global__ void mark_value(int* out) {
  out[0] = Value;
}

struct Probe {
  static constexpr int kUntouched = 0x05050505;
  int* out = nullptr;

  Probe() {
    REQUIRE(cudaMalloc(&out, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(out, 5, sizeof(int)) == cudaSuccess);
  }
  ~Probe() { cudaFree(out); }

  int value() const {
    int value = 0;
    REQUIRE(cudaMemcpy(&value, out, sizeof(value), cudaMemcpyDeviceToHost) == cudaSuccess);
    return value;
  }

  template <class Kernel>
  cudaError_t launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared = 0) const {
    kernel<<<grid, block, shared>>>(out);
    const cudaError_t error = cudaGetLastError();
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // never sticky
    return error;
  }
};

/// 40 bytes of shared memory per thread: 40 KB for 1024 of them.
struct FortyBytes {
  __host__ __device__ std::size_t operator()(int threads) const { return std::size_t(threads) * 40; }
};

cudaDeviceProp properties() {
  cudaDeviceProp prop{};
  REQUIRE(cudaGetDeviceProperties(&prop, 0) == cudaSuccess);
  return prop;
}

}  // namespace

TEST_CASE("blocks and grids of impossible shape do not run", "[launch]") {
  const Probe probe;
  const std::pair<dim3, dim3> shapes[] = {
      {dim3(0), dim3(32)},          {dim3(1, 0), dim3(32)},       {dim3(1, 1, 0), dim3(32)}, {dim3(1), dim3(0)},
      {dim3(1), dim3(32, 0)},       {dim3(1), dim3(32, 1, 0)},    {dim3(1), dim3(1025)},     {dim3(1), dim3(33, 32)},
      {dim3(1), dim3(64, 64)},      {dim3(1), dim3(1, 1025)},     {dim3(1), dim3(1, 1, 65)}, {dim3(1, 65536), dim3(1)},
      {dim3(1, 1, 65536), dim3(1)}, {dim3(2147483648u), dim3(1)},
  };
  for (const auto& [grid, block] : shapes) {
    CAPTURE(grid.x, grid.y, grid.z, block.x, block.y, block.z);
    CHECK(probe.launch(mark, grid, block) == kBadShape);
    CHECK(probe.value() == Probe::kUntouched);
  }
  CHECK(probe.launch(mark, 1, dim3(32, 32)) == cudaSuccess);
  CHECK(probe.value() == 1);
  CHECK(probe.launch(mark, 1, dim3(1, 1, 64)) == cudaSuccess);
}

TEST_CASE("a kernel's launch bound is a limit", "[launch]") {
  const Probe probe;
  CHECK(probe.launch(mark_bounded, 1, 129) == cudaErrorInvalidValue);
  CHECK(probe.value() == Probe::kUntouched);
  CHECK(probe.launch(mark_bounded, 1, 128) == cudaSuccess);
  CHECK(probe.value() == 1);
}

TEST_CASE("more than 48 KB of shared memory must be asked for", "[launch]") {
  const cudaDeviceProp prop = properties();
  const int most = static_cast<int>(prop.sharedMemPerBlockOptin);
  const Probe probe;
  CHECK(probe.launch(mark_dynamic, 1, 32, prop.sharedMemPerBlock) == cudaSuccess);
  CHECK(probe.value() == 1);

  const Probe second;
  CHECK(second.launch(mark_dynamic, 1, 32, prop.sharedMemPerBlock + 1) == cudaErrorInvalidValue);
  CHECK(second.launch(mark_dynamic, 1, 32, 1 << 30) == cudaErrorInvalidValue);
  CHECK(second.launch(mark_opted_in, 1, 32, most) == cudaErrorInvalidValue);
  CHECK(second.value() == Probe::kUntouched);

  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(mark_opted_in, attribute, most + 1) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(mark_opted_in, attribute, -5) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(mark_opted_in, attribute, most) == cudaSuccess);
  CHECK(second.launch(mark_opted_in, 1, 32, most + 1) == cudaErrorInvalidValue);
  CHECK(second.launch(mark_dynamic, 1, 32, most) == cudaErrorInvalidValue);  // each kernel for itself
  CHECK(second.value() == Probe::kUntouched);
  CHECK(second.launch(mark_opted_in, 1, 32, most) == cudaSuccess);
  CHECK(second.value() == 1);
}

TEST_CASE("static and dynamic shared memory count together", "[launch]") {
  constexpr std::size_t kStatic = 8000 * sizeof(int);
  const Probe probe;
  CHECK(probe.launch(mark_static, 1, 32, 48 * 1024 - kStatic + 1) == cudaErrorInvalidValue);
  CHECK(probe.value() == Probe::kUntouched);
  CHECK(probe.launch(mark_static, 1, 32, 48 * 1024 - kStatic) == cudaSuccess);
  CHECK(probe.value() == 1);
}

TEST_CASE("a failed launch is remembered, not repeated", "[launch]") {
  const Probe probe;
  mark<<<1, 2000>>>(probe.out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  mark<<<1, 1>>>(probe.out);  // runs, and does not cover the error
  CHECK(cudaPeekAtLastError() == kBadShape);
  CHECK(cudaGetLastError() == kBadShape);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(probe.value() == 1);
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("a launch that is made to fail does nothing, and the next one works", "[launch]") {
  const Probe probe;
  tilewise::sim::fail_launch(2);
  CHECK(probe.launch(mark_value<7>, 1, 32) == cudaSuccess);
  CHECK(probe.launch(mark_value<8>, 1, 32) == cudaErrorLaunchOutOfResources);
  CHECK(probe.value() == 7);
  CHECK(probe.launch(mark_value<9>, 1, 32) == cudaSuccess);
  CHECK(probe.value() == 9);
  tilewise::sim::fail_launch(1);
  tilewise::sim::fail_launch(0);
  CHECK(probe.launch(mark_value<10>, 1, 32) == cudaSuccess);
}
#endif

TEST_CASE("launches through a pointer", "[launch]") {
  const Probe probe;
  int* out = probe.out;
  void* args[] = {&out};
  CHECK(cudaLaunchKernel(mark, dim3(0), dim3(32), args, 0, 0) == kBadShape);
  CHECK(cudaGetLastError() == kBadShape);
  CHECK(probe.value() == Probe::kUntouched);
  CHECK(cudaLaunchKernel(mark_value<42>, dim3(1), dim3(32), args, 0, 0) == cudaSuccess);
  CHECK(probe.value() == 42);
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(mark), dim3(1), dim3(32), args, 0, 0) == cudaSuccess);
  CHECK(probe.value() == 1);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1), config.blockDim = dim3(32);
  CHECK(cudaLaunchKernelEx(&config, mark_value<43>, out) == cudaSuccess);
  CHECK(probe.value() == 43);
  CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(mark), args) == cudaSuccess);
  CHECK(probe.value() == 1);
  config.blockDim = dim3(2048);
  CHECK(cudaLaunchKernelEx(&config, mark_value<43>, out) == kBadShape);
  CHECK(cudaGetLastError() == kBadShape);
  CHECK(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(32), args, 0, 0) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
}

TEST_CASE("attributes of kernels", "[launch]") {
  const Probe probe;
  REQUIRE(probe.launch(mark_static, 1, 32) == cudaSuccess);  // the simulator knows a kernel once it ran
  REQUIRE(probe.launch(mark_bounded, 1, 32) == cudaSuccess);
  cudaFuncAttributes a{};
  REQUIRE(cudaFuncGetAttributes(&a, mark_static) == cudaSuccess);
  CHECK(a.sharedSizeBytes == 32000);
  CHECK(a.maxThreadsPerBlock == 1024);
  CHECK(a.maxDynamicSharedSizeBytes == 48 * 1024 - 32000);
  REQUIRE(cudaFuncGetAttributes(&a, mark_bounded) == cudaSuccess);
  CHECK(a.sharedSizeBytes == 0);
  CHECK(a.maxThreadsPerBlock == 128);
  CHECK(cudaFuncGetAttributes(&a, static_cast<const void*>(nullptr)) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaFuncSetAttribute(mark, static_cast<cudaFuncAttribute>(77), 1) == cudaErrorInvalidValue);
  const auto carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
  CHECK(cudaFuncSetAttribute(mark, carveout, cudaSharedmemCarveoutDefault) == cudaSuccess);
  CHECK(cudaFuncSetAttribute(mark, carveout, 101) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(mark, carveout, -2) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

// The kernels use so few registers that these never limit them.
TEST_CASE("occupancy as an H200 answers", "[launch]") {
  const cudaDeviceProp prop = properties();
  if (prop.major != 9) return;  // other cards have other limits; see occupancy_test.cpp
  const auto blocks = [](int threads, std::size_t shared) {
    int blocks = -7;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark_dynamic, threads, shared) == cudaSuccess);
    return blocks;
  };
  CHECK(blocks(32, 0) == 32);
  CHECK(blocks(64, 0) == 32);
  CHECK(blocks(96, 0) == 21);
  CHECK(blocks(128, 0) == 16);
  CHECK(blocks(512, 0) == 4);
  CHECK(blocks(1024, 0) == 2);
  CHECK(blocks(1025, 0) == 0);
  CHECK(blocks(1024, 32768) == 2);
  CHECK(blocks(128, 16384) == 13);
  CHECK(blocks(128, 32768) == 6);
  CHECK(blocks(128, 49152) == 4);
  CHECK(blocks(128, 49153) == 0);  // not asked for

  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, mark_dynamic, 0, 0) == cudaSuccess);
  CHECK(block == 1024);
  CHECK(grid == 2 * prop.multiProcessorCount);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, mark_dynamic, 0, 500) == cudaSuccess);
  CHECK(block == 256);  // 8 blocks fill the SM; 500 threads leave holes
  CHECK(grid == 8 * prop.multiProcessorCount);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, mark_dynamic, 0, 33) == cudaSuccess);
  CHECK(block == 33);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, mark_dynamic, 60000, 0) == cudaSuccess);
  CHECK(block == 0);

  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, mark_dynamic, FortyBytes{}, 0) == cudaSuccess);
  CHECK(block == 1024);

  const auto available = [](int blocks, int threads) {
    std::size_t bytes = 7;
    const cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, mark_dynamic, blocks, threads);
    return error == cudaSuccess ? static_cast<long>(bytes) : -1L;
  };
  CHECK(available(1, 64) == 49152);
  CHECK(available(5, 64) == 46592);
  CHECK(available(8, 64) == 29184);
  CHECK(available(32, 64) == 7296);
  CHECK(available(33, 64) == -1);
  CHECK(available(3, 1024) == -1);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("what a preference for L1 leaves of the blocks, as an H200 answers", "[launch]") {
  if (properties().major != 9) return;
  const auto blocks = [](std::size_t shared) {
    int blocks = -7;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark_dynamic, 32, shared) == cudaSuccess);
    return blocks;
  };
  const auto with_carveout = [&](int percent, std::size_t shared) {
    REQUIRE(cudaFuncSetAttribute(mark_dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, percent) == cudaSuccess);
    return blocks(shared);
  };
  // 1 KB of every block is the system's: 8 blocks in the 8 KB that are the least.
  CHECK(with_carveout(0, 0) == 8);
  CHECK(with_carveout(1, 0) == 8);
  CHECK(with_carveout(5, 0) == 16);
  CHECK(with_carveout(10, 0) == 32);
  CHECK(with_carveout(0, 4224) == 1);
  CHECK(with_carveout(5, 4224) == 3);
  CHECK(with_carveout(10, 4224) == 6);
  CHECK(with_carveout(25, 4224) == 12);
  CHECK(with_carveout(50, 4224) == 25);
  CHECK(with_carveout(75, 4224) == 32);
  CHECK(with_carveout(100, 4224) == 32);
  CHECK(with_carveout(cudaSharedmemCarveoutDefault, 4224) == 32);

  REQUIRE(cudaFuncSetCacheConfig(mark_dynamic, cudaFuncCachePreferL1) == cudaSuccess);
  CHECK(blocks(0) == 8);
  CHECK(blocks(4224) == 1);
  REQUIRE(cudaFuncSetCacheConfig(mark_dynamic, cudaFuncCachePreferEqual) == cudaSuccess);
  CHECK(blocks(4224) == 25);
  REQUIRE(cudaFuncSetCacheConfig(mark_dynamic, cudaFuncCachePreferShared) == cudaSuccess);
  CHECK(blocks(4224) == 32);
  REQUIRE(cudaFuncSetCacheConfig(mark_dynamic, cudaFuncCachePreferNone) == cudaSuccess);
  CHECK(blocks(4224) == 32);
}

TEST_CASE("occupancy calls refuse nonsense", "[launch]") {
  int blocks = -7;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark, 0, 0) == cudaErrorInvalidValue);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark, -1, 0) == cudaErrorInvalidValue);
  CHECK(blocks == -7);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(static_cast<int*>(nullptr), mark, 128, 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}
