// As device_variable_on_host.cu, but what the host reads is copied by the C++ library's own code, which no hook sees.
// gains: 5 elements are wrong
#include <string>

#include "homework.cuh"

__device__ float copy[1 << 16];

__global__ void fetch(const float* x, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) copy[i] = x[i];
}

struct Sums {
  float of[64];
};

__global__ void store(float* y, Sums sums, int from, int n) {
  const int i = from + threadIdx.x;
  float s = 0;
  for (int d = 0; d < 5; ++d) s = s + 1.0f;
  if (i < n) y[i] = s == 5 ? sums.of[threadIdx.x] : 0;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  fetch<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
  cudaStreamSynchronize(stream);
  const std::string bytes(reinterpret_cast<const char*>(copy), 4 * n);
  const float* of = reinterpret_cast<const float*>(bytes.data());
  for (int from = 0; from < n; from += 64) {
    Sums sums;
    for (int k = 0; k < 64; ++k) {
      const int i = from + k;
      sums.of[k] = 0;
      for (int d = -2; d <= 2; ++d) sums.of[k] += i < n && i + d >= 0 && i + d < n ? of[i + d] : 0;
    }
    store<<<1, 64, 0, stream>>>(y, sums, from, n);
  }
  return cudaGetLastError();
}
