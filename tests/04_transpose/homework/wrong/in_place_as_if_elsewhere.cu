// The page's kernel, with one matrix for both.
// expect: transpose_in_place findings race-global
// expect: transpose_in_place visible overwritten before it has been read
// points: transpose_in_place 10..19
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

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  const int tiles = (n + SIDE - 1) / SIDE;
  transpose<<<dim3(tiles, tiles), dim3(SIDE, 8), 0, stream>>>(A, A, n);
  return cudaGetLastError();
}
