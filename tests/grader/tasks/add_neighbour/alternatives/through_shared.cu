// Through shared memory, a block for several pieces.
#include "homework.cuh"

template <int N>
__global__ void add_neighbour(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[N + 1];
  for (int first = blockIdx.x * N; first < n; first += gridDim.x * N) {
    const int left = min(N + 1, n - first);
    for (int i = threadIdx.x; i < left; i += N) s[i] = x[first + i];
    __syncthreads();
    const int i = threadIdx.x;
    if (i < min(left, N)) y[first + i] = i + 1 < left ? s[i] + s[i + 1] : s[i];
    __syncthreads();
  }
}

cudaError_t launch_add_neighbour(const float* x, float* y, int n, cudaStream_t stream) {
  constexpr int size = 128;
  const int blocks = n / size + 1;
  add_neighbour<size><<<blocks < 1024 ? blocks : 1024, size, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
