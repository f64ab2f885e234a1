// Tiles of 64 x 64 in dynamic shared memory, swizzled; two launches, one for the diagonal.
#include "homework.cuh"

constexpr int W = 64;

__global__ void diagonal(float* A, int n) {
  extern __shared__ float s[];
  const int first = blockIdx.x * W, x = threadIdx.x;
  for (int i = threadIdx.y; i < W; i += 4)
    if (first + i < n && first + x < n) s[i * W + (x ^ (i % 32))] = A[(first + i) * n + first + x];
  __syncthreads();
  for (int i = threadIdx.y; i < W; i += 4)
    if (first + i < n && first + x < n) A[(first + i) * n + first + x] = s[x * W + (i ^ (x % 32))];
}

__global__ void pairs(float* A, int n) {
  extern __shared__ float s[];
  float* t = s + W * W;
  if (blockIdx.x <= blockIdx.y) return;
  const int r0 = blockIdx.y * W, c0 = blockIdx.x * W, x = threadIdx.x;
  for (int i = threadIdx.y; i < W; i += 4) {
    if (c0 + x < n) s[i * W + (x ^ (i % 32))] = A[(r0 + i) * n + c0 + x];  // a tile to the right: its rows are there
    if (c0 + i < n) t[i * W + (x ^ (i % 32))] = A[(c0 + i) * n + r0 + x];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < W; i += 4) {
    if (c0 + i < n) A[(c0 + i) * n + r0 + x] = s[x * W + (i ^ (x % 32))];
    if (c0 + x < n) A[(r0 + i) * n + c0 + x] = t[x * W + (i ^ (x % 32))];
  }
}

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  const int tiles = (n + W - 1) / W;
  diagonal<<<tiles, dim3(W, 4), W * W * sizeof(float), stream>>>(A, n);
  if (tiles > 1) pairs<<<dim3(tiles, tiles), dim3(W, 4), 2 * W * W * sizeof(float), stream>>>(A, n);
  return cudaGetLastError();
}
