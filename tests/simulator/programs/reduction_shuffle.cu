// Sums and maxima by shuffles, as a class template over the operation: warp first, then the warps' results.
#include <climits>
#include <iostream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace ops {

struct Sum {
  static constexpr const char *name = "sum";
  __host__ __device__ static int identity() { return 0; }
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};

struct Maximum {
  static constexpr const char *name = "maximum";
  __host__ __device__ static int identity() { return INT_MIN; }
  __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

}  // namespace ops

template <typename Op>
__device__ __forceinline__ int reduce_warp(int value, Op op) {
#pragma unroll
  for (int delta = warpSize / 2; delta > 0; delta >>= 1) value = op(value, __shfl_down_sync(0xffffffffu, value, delta));
  return value;
}

template <typename Op, int kThreads>
__global__ void __launch_bounds__(kThreads) reduce_kernel(const int *__restrict__ in, int *__restrict__ out, size_t n) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024, "whole warps");
  __shared__ int of_warp[kThreads / 32];
  const Op op{};
  int mine = Op::identity();
  for (size_t i = blockIdx.x * size_t{kThreads} + threadIdx.x; i < n; i += size_t{kThreads} * gridDim.x)
    mine = op(mine, in[i]);
  mine = reduce_warp(mine, op);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = threadIdx.x < kThreads / 32 ? of_warp[threadIdx.x] : Op::identity();
    mine = reduce_warp(mine, op);
    if (threadIdx.x == 0) out[blockIdx.x] = mine;
  }
}

class DeviceInts {
 public:
  explicit DeviceInts(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(int))); }
  explicit DeviceInts(const std::vector<int> &from) : DeviceInts(from.size()) {
    check(cudaMemcpy(data_, from.data(), count_ * sizeof(int), cudaMemcpyHostToDevice));
  }
  DeviceInts(const DeviceInts &) = delete;
  DeviceInts &operator=(const DeviceInts &) = delete;
  ~DeviceInts() { cudaFree(data_); }

  int *get() { return data_; }
  int first() const {
    int value;
    check(cudaMemcpy(&value, data_, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }

  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
  }

 private:
  size_t count_ = 0;
  int *data_ = nullptr;
};

template <typename Op>
bool right(const std::vector<int> &numbers) {
  constexpr int kThreads = 192, kBlocks = 20;
  DeviceInts in(numbers), partial(kBlocks), result(1);
  reduce_kernel<Op, kThreads><<<kBlocks, kThreads>>>(in.get(), partial.get(), numbers.size());
  reduce_kernel<Op, 64><<<1, 64>>>(partial.get(), result.get(), kBlocks);
  DeviceInts::check(cudaGetLastError());
  const int expected = std::accumulate(numbers.begin(), numbers.end(), Op::identity(), Op{});
  std::cout << Op::name << " of " << numbers.size() << ": " << (result.first() == expected ? "right" : "WRONG") << '\n';
  return result.first() == expected;
}

int main() try {
  std::mt19937 generator(2024);
  bool all = true;
  for (size_t n : {1, 31, 33, 1000, 77777}) {
    std::vector<int> numbers(n);
    for (int &x : numbers) x = int(generator() % 20001) - 10000;
    all = right<ops::Sum>(numbers) && all;
    all = right<ops::Maximum>(numbers) && all;
  }
  return all ? 0 : 1;
} catch (const std::exception &e) {
  std::cerr << "failed: " << e.what() << '\n';
  return 2;
}
