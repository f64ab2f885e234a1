// Launches in kernels (dynamic parallelism of CUDA 12 and later). Holds on a GPU and on the simulator. nvcc needs -rdc=true for it,
// which is why it has a folder of its own.
#include <cuda_runtime.h>

#include <vector>

#include "../expected_findings.hpp"
#include "catch.hpp"
#include "tilewise/device_buffer.hpp"

namespace {

struct Range {
  int begin, end;
};

__global__ void add(int* sums, Range range, int value) {
  const int i = range.begin + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < range.end) sums[i] += value;
}

template <class T>
__global__ void scale(T* values, int n, T factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] *= factor;
}

// Children of one block in its default stream come one after the other, each with what the one before has done.
__global__ void one_after_the_other(int* values, int n) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) values[i] = i;
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int blocks = (n + 31) / 32;
  add<<<blocks, 32>>>(values, Range{0, n}, 1);
  scale<int><<<blocks, 32>>>(values, n, 10);
  scale<<<blocks, 32>>>(values, n, 2);  // which T, the arguments say
  add<<<blocks, 32>>>(values, Range{n / 2, n}, 5);
}

// Each level halves the range, as in a quicksort.
__global__ void mark_halves(int* depths, int begin, int end, int depth) {
  const int i = begin + static_cast<int>(threadIdx.x);
  if (i < end) atomicAdd(&depths[i], 1);
  if (threadIdx.x != 0 || end - begin < 2) return;
  const int middle = (begin + end) / 2;
  mark_halves<<<1, 32, 0, cudaStreamFireAndForget>>>(depths, begin, middle, depth + 1);
  mark_halves<<<1, 32, 0, cudaStreamFireAndForget>>>(depths, middle, end, depth + 1);
}

__global__ void count_up(int* count) { atomicAdd(count, 1); }

__global__ void note(const int* count, int* seen, int at) { seen[at] = *count; }

// A tail launch comes when the parent and all its children have ended; two of them in their order.
__global__ void tails(int* count, int* seen) {
  if (threadIdx.x == 0) {
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(count, seen, 0);
    count_up<<<3, 1, 0, cudaStreamTailLaunch>>>(count);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(count, seen, 1);
  }
  count_up<<<1, 4>>>(count);
}

__global__ void own_streams(int* count, int* errors) {
  cudaStream_t stream = nullptr;
  errors[0] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  count_up<<<2, 8, 0, stream>>>(count);
  count_up<<<1, 1, 0, stream>>>(count);
  errors[1] = cudaStreamDestroy(stream);
  errors[2] = cudaGetLastError();
}

__global__ void too_large(int* count, int* errors) {
  count_up<<<1, 4096>>>(count);
  errors[0] = cudaPeekAtLastError() != cudaSuccess;
  errors[1] = cudaGetLastError() != cudaSuccess;
  errors[2] = cudaGetLastError() != cudaSuccess;
  count_up<<<1, 2>>>(count);
}

__host__ __device__ void launch_two(int* count) { count_up<<<1, 2>>>(count); }
__global__ void from_both_sides(int* count) { launch_two(count); }

}  // namespace

TEST_CASE("a block's children come in its order, and see what it has written") {
  const int n = 100;
  tilewise::DeviceBuffer<int> values(n);
  one_after_the_other<<<1, 64>>>(values.data(), n);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto out = values.to_host();
  for (int i = 0; i < n; ++i) REQUIRE(out[i] == (i + 1) * 20 + (i >= n / 2 ? 5 : 0));
}

TEST_CASE("kernels launch themselves, and the launch has ended when all have") {
  const int n = 32;
  tilewise::DeviceBuffer<int> depths(std::vector<int>(n, 0)), doubled(std::vector<int>(n, 0));
  mark_halves<<<1, 32>>>(depths.data(), 0, n, 0);
  scale<<<1, 32>>>(depths.data(), n, 2);  // the same stream: after all of them
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(depths.to_host() == std::vector<int>(n, 12));
}

TEST_CASE("tail launches come after the children, one after the other") {
  tilewise::DeviceBuffer<int> count(std::vector<int>{0}), seen(std::vector<int>{0, 0});
  tails<<<1, 8>>>(count.data(), seen.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(seen.to_host() == std::vector<int>{32, 35});
}

TEST_CASE("streams that kernels make") {
  tilewise::DeviceBuffer<int> count(std::vector<int>{0}), errors(std::vector<int>{-1, -1, -1});
  own_streams<<<1, 1>>>(count.data(), errors.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(errors.to_host() == std::vector<int>{0, 0, 0});
  CHECK(count.to_host()[0] == 17);
}

TEST_CASE("a launch that fails in a kernel is that thread's error alone") {
  ExpectedFindings expected;
  tilewise::DeviceBuffer<int> count(std::vector<int>{0}), errors(std::vector<int>{-1, -1, -1});
  too_large<<<1, 1>>>(count.data(), errors.data());
  CHECK(cudaGetLastError() == cudaSuccess);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(errors.to_host() == std::vector<int>{1, 1, 0});
  CHECK(count.to_host()[0] == 2);
}

TEST_CASE("a function of both sides launches on both") {
  tilewise::DeviceBuffer<int> count(std::vector<int>{0});
  launch_two(count.data());
  from_both_sides<<<1, 3>>>(count.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(count.to_host()[0] == 8);
}
