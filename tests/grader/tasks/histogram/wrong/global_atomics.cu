// expect: histogram efficiency atomic
// points: histogram 80..86
#include "homework.cuh"

__global__ void histogram(const int* key, int* count, int n, int bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&count[key[i]], 1);
}

cudaError_t launch_histogram(const int* key, int* count, int n, int bins, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  error = cudaMemsetAsync(count, 0, sizeof(int) * bins, stream);
  if (error != cudaSuccess || n == 0) return error;
  histogram<<<32, 256, 0, stream>>>(key, count, n, bins);
  return cudaGetLastError();
}
