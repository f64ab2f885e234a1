// A second matrix, and back again.
// expect: transpose_in_place efficiency A copy of A elsewhere
// points: transpose_in_place 55..60
#include "homework.cuh"

constexpr int SIDE = 32;

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[SIDE][SIDE + 1];
  const int r0 = blockIdx.y * SIDE, c0 = blockIdx.x * SIDE;
  for (int i = threadIdx.y; i < SIDE; i += 8)
    if (r0 + i < n && c0 + threadIdx.x < n) tile[i][threadIdx.x] = in[(r0 + i) * n + c0 + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < SIDE; i += 8)
    if (c0 + i < n && r0 + threadIdx.x < n) out[(c0 + i) * n + r0 + threadIdx.x] = tile[threadIdx.x][i];
}

__global__ void copy(const float* from, float* to, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) to[i] = from[i];
}

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  const int tiles = (n + SIDE - 1) / SIDE;
  float* scratch = nullptr;
  if (cudaMalloc(&scratch, sizeof(float) * n * n) != cudaSuccess) return cudaErrorMemoryAllocation;
  transpose<<<dim3(tiles, tiles), dim3(SIDE, 8), 0, stream>>>(A, scratch, n);
  copy<<<(n * n + 255) / 256, 256, 0, stream>>>(scratch, A, n * n);
  const cudaError_t error = cudaGetLastError();
  cudaFree(scratch);
  return error;
}
