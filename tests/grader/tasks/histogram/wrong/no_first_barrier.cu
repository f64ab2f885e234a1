// expect: histogram findings warp-synchronous
// points: histogram 5..25
#include "homework.cuh"

__global__ void histogram(const int* key, int* count, int n, int bins) {
  __shared__ int local[256];
  for (int k = threadIdx.x; k < bins; k += blockDim.x) local[k] = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[key[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < bins; k += blockDim.x)
    if (local[k] > 0) atomicAdd(&count[k], local[k]);
}

cudaError_t launch_histogram(const int* key, int* count, int n, int bins, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  error = cudaMemsetAsync(count, 0, sizeof(int) * bins, stream);
  if (error != cudaSuccess || n == 0) return error;
  histogram<<<32, 256, 0, stream>>>(key, count, n, bins);
  return cudaGetLastError();
}
