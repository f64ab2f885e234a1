// Cooperative launches: a barrier for all threads of the grid. Holds on a GPU and on the simulator.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <vector>

#include "catch.hpp"
#include "expected_findings.hpp"
#include "tilewise/device_buffer.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 96;  // of a block: its last warp is whole, but the block is no power of two

// Whole blocks change places after one barrier after another; each keeps what it has in shared memory, in registers, and on
// the stacks of functions.
__device__ __noinline__ int shifted(cg::grid_group grid, const int* from, int distance) {
  const int own = static_cast<int>(grid.thread_rank());
  grid.sync();
  return from[(own + distance) % static_cast<int>(grid.size())];
}

__global__ void rotate(int* values, int* kept, int rounds) {
  __shared__ int mine[kThreads];
  extern __shared__ int asked_for[];
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank()), t = static_cast<int>(threadIdx.x);
  mine[t] = i;
  asked_for[t] = 2 * i;
  values[i] = i;
  for (int round = 0; round < rounds; ++round) {
    const int value = shifted(grid, values, kThreads + 1);
    grid.sync();
    values[i] = value;
  }
  __syncthreads();
  kept[i] = mine[kThreads - 1 - t] + asked_for[t];
}

// A sum of all blocks' sums, of which each block makes one in shared memory.
__global__ void total(const int* values, int* of_blocks, int* sum, int n) {
  __shared__ int part;
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
    atomicAdd(&part, values[i]);
  __syncthreads();
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = part;
  cg::sync(grid);
  if (grid.thread_rank() != 0) return;
  for (unsigned b = 0; b < gridDim.x; ++b) *sum += of_blocks[b];
}

// Blocks that wait for each other by atomics: a cooperative launch promises that all are there.
__global__ void by_hand(unsigned* arrived, int* values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int n = static_cast<int>(gridDim.x * blockDim.x);
  values[i] = i;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
  __threadfence();
  const int value = values[(i + kThreads) % n];
  cg::this_grid().sync();
  values[i] = value;
}

__global__ void says_whether_valid(int* out) {
  const cg::grid_group grid = cg::this_grid();
  out[grid.block_rank()] = grid.is_valid() + 10 * static_cast<int>(grid.num_blocks());
}

__global__ void syncs(int* out) {
  cg::this_grid().sync();
  out[0] = 1;
}

__global__ void with_shared_memory(int* out) {
  __shared__ int all[10'000];
  all[threadIdx.x] = 1;
  __syncthreads();
  cg::this_grid().sync();
  if (threadIdx.x == 0) out[0] = all[blockDim.x - 1];
}

// The most blocks of a kernel that the device holds at a time.
template <class Kernel>
int resident(Kernel* kernel, int threads) {
  int blocks = 0, multiprocessors = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  return blocks * multiprocessors;
}

}  // namespace

TEST_CASE("the device says that it can launch cooperatively") {
  int can = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  CHECK(can == 1);
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(properties.cooperativeLaunch == 1);
}

TEST_CASE("all threads of a grid wait for each other, again and again") {
  for (const int blocks : {1, 2, 7, 40}) {
    const int n = blocks * kThreads;
    int rounds = 3;
    tilewise::DeviceBuffer<int> values(n), kept(n);
    int *v = values.data(), *k = kept.data();
    void* arguments[] = {&v, &k, &rounds};
    CUDA_CHECK(cudaLaunchCooperativeKernel(rotate, dim3(blocks), dim3(kThreads), arguments, kThreads * sizeof(int)));
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto out = values.to_host(), own = kept.to_host();
    for (int i = 0; i < n; ++i) {
      REQUIRE(out[i] == (i + rounds * (kThreads + 1)) % n);
      const int t = i % kThreads;
      REQUIRE(own[i] == i - t + kThreads - 1 - t + 2 * i);
    }
  }
}

TEST_CASE("a block reads what the others have summed, in grids of several dimensions, too") {
  const int n = 1000;
  std::vector<int> numbers(n);
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += numbers[i] = i % 17;
  tilewise::DeviceBuffer<int> values(numbers), of_blocks(8), sum(std::vector<int>{0});
  int *v = values.data(), *b = of_blocks.data(), *s = sum.data(), count = n;
  void* arguments[] = {&v, &b, &s, &count};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(total), dim3(8), dim3(64), arguments));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(sum.to_host()[0] == expected);

  tilewise::DeviceBuffer<int> valid(12);
  int* out = valid.data();
  void* one[] = {&out};
  CUDA_CHECK(cudaLaunchCooperativeKernel(says_whether_valid, dim3(3, 2, 2), dim3(1), one));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(valid.to_host() == std::vector<int>(12, 121));
}

TEST_CASE("blocks of a cooperative launch may wait for each other by atomics") {
  const int blocks = 9, n = blocks * kThreads;
  tilewise::DeviceBuffer<unsigned> arrived(std::vector<unsigned>{0});
  tilewise::DeviceBuffer<int> values(n);
  unsigned* a = arrived.data();
  int* v = values.data();
  void* arguments[] = {&a, &v};
  CUDA_CHECK(cudaLaunchCooperativeKernel(by_hand, dim3(blocks), dim3(kThreads), arguments));
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto out = values.to_host();
  for (int i = 0; i < n; ++i) REQUIRE(out[i] == (i + kThreads) % n);
}

#ifdef TILEWISE_SIMULATOR  // on an H100 only where no cooperative launch came before it in the process, as one does here
TEST_CASE("a grid that isn't launched cooperatively is not valid") {
  tilewise::DeviceBuffer<int> valid(1);
  says_whether_valid<<<1, 1>>>(valid.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(valid.to_host()[0] == 10);
}
#endif

TEST_CASE("a cooperative grid has as many blocks as the device holds at a time, and no more") {
  ExpectedFindings expected;
  tilewise::DeviceBuffer<int> buffer(std::vector<int>{0});
  int* out = buffer.data();
  void* arguments[] = {&out};
  const int most = resident(syncs, 1024);
  CHECK(cudaLaunchCooperativeKernel(syncs, dim3(most + 1), dim3(1024), arguments) ==
        cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(buffer.to_host()[0] == 0);
  CUDA_CHECK(cudaLaunchCooperativeKernel(syncs, dim3(most), dim3(1024), arguments));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(buffer.to_host()[0] == 1);
}

TEST_CASE("shared memory limits a cooperative grid as it limits what is resident") {
  ExpectedFindings expected;
  tilewise::DeviceBuffer<int> buffer(std::vector<int>{0});
  int* out = buffer.data();
  void* arguments[] = {&out};
  CUDA_CHECK(cudaLaunchCooperativeKernel(with_shared_memory, dim3(2), dim3(32), arguments));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(buffer.to_host()[0] == 1);
  const int most = resident(with_shared_memory, 32);
  CHECK(cudaLaunchCooperativeKernel(with_shared_memory, dim3(most + 1), dim3(32), arguments) ==
        cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CUDA_CHECK(cudaDeviceSynchronize());
}
