// A thread swaps two words: right, and half of all accesses run down columns.
// expect: transpose_in_place efficiency loads that don't go along rows
// points: transpose_in_place 55..60
#include "homework.cuh"

__global__ void swap_words(float* A, int n) {
  const int col = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= n || col >= n || col <= row) return;
  const float word = A[row * n + col];
  A[row * n + col] = A[col * n + row];
  A[col * n + row] = word;
}

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  swap_words<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8), 0, stream>>>(A, n);
  return cudaGetLastError();
}
