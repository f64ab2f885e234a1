// What is in programs by the hundred and harms nobody: using namespace std, a macro that ends the program, questions to the
// device, exceptions, times, a pragma against warnings, names that nearly are the simulator's.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "homework.cuh"

using namespace std;
namespace s = std;

#pragma GCC diagnostic ignored "-Wunused-function"
#define CUDA_CHECK(call)                                                            \
  do {                                                                              \
    cudaError_t code = (call);                                                      \
    if (code != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
      exit(EXIT_FAILURE);                                                           \
    }                                                                               \
  } while (0)

constexpr int tw_size = 128, tw_halo = 2;  // tw: tile width

__device__ float nothing(float a) { return 0 * (fmodf(a, 1.0f) + __expf(0.0f) + hypotf(0.0f, 0.0f) + log2f(1.0f)); }

static int round_up(int a, int b) {
  if (b <= 0) throw invalid_argument("round_up");
  return static_cast<int>(lround(ceil(double(a) / b)));
}

__global__ void sums(const float* x, float* y, int n) {
  __shared__ float s[tw_size + 2 * tw_halo];
  const int first = blockIdx.x * tw_size - tw_halo;
  for (int i = threadIdx.x; i < tw_size + 2 * tw_halo; i += tw_size) {
    bool clang = first + i >= 0 && first + i < n;
    s[i] = clang ? x[first + i] : 0;
  }
  __syncthreads();
  float sum = nothing(s[threadIdx.x]);
#pragma unroll
  for (int d = 0; d <= 2 * tw_halo; ++d) sum += s[threadIdx.x + d];
  const int i = blockIdx.x * tw_size + threadIdx.x;
  if (i < n) y[i] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  if (properties.maxThreadsPerBlock < tw_size) cerr << "a block of " << tw_size << " does not fit" << endl;
  const auto start = chrono::steady_clock::now();
  cudaEvent_t launched;
  CUDA_CHECK(cudaEventCreate(&launched));
  try {
    sums<<<round_up(n, tw_size), tw_size, 0, stream>>>(x, y, n);
  } catch (const exception& e) {
    cerr << e.what() << endl;
    return cudaErrorInvalidValue;
  }
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaEventRecord(launched, stream));
  CUDA_CHECK(cudaEventSynchronize(launched));
  CUDA_CHECK(cudaEventDestroy(launched));
  if (chrono::duration<double>(chrono::steady_clock::now() - start).count() > 3600) cerr << "slow" << endl;
  return cudaSuccess;
}
