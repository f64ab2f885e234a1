// Calls by address of every kind that C++ has: virtual functions, its own and the library's; std::function; pointers to its
// own functions and to those that it may call by name.
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "homework.cuh"

struct Shape {
  virtual ~Shape() = default;
  virtual int blocks(int n) const = 0;
};

struct Threads : Shape {
  explicit Threads(int n) : number(n) {}
  int blocks(int n) const override { return (n + number - 1) / number; }
  int number;
};

struct TooMany : std::runtime_error {
  using std::runtime_error::runtime_error;
};

__device__ float plain(float a) { return a; }

__global__ void sums(const float* x, float* y, int n) {
  float (*const same)(float) = plain;
  __shared__ float s[132];
  const int first = blockIdx.x * 128 - 2;
  for (int i = threadIdx.x; i < 132; i += 128) s[i] = first + i >= 0 && first + i < n ? x[first + i] : 0;
  __syncthreads();
  float sum = 0;
  for (int d = 0; d < 5; ++d) sum += same(s[threadIdx.x + d]);
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = sum;
}

static int twice(int a) { return 2 * a; }

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  const std::unique_ptr<Shape> shape = std::make_unique<Threads>(128);
  const std::function<int(int)> blocks = [&](int of) { return shape->blocks(of); };
  int (*volatile doubled)(int) = twice;
  int (*volatile print)(const char*, ...) = std::printf;
  cudaError_t (*volatile ask)() = cudaGetLastError;
  std::ostream& (*volatile end)(std::ostream&) = std::endl<char, std::char_traits<char>>;
  try {
    if (doubled(blocks(n)) > 0) throw TooMany("not really");
  } catch (const std::exception& e) {
    print("%s\n", e.what());
    end(std::cout);
  }
  sums<<<blocks(n), 128, 0, stream>>>(x, y, n);
  return ask();
}
