// No guard where words are loaded: past the end of A lies nothing of ours.
// expect: transpose_in_place findings out-of-bounds
// points: transpose_in_place 8..16
#include "homework.cuh"

constexpr int SIDE = 32;  // of a tile, in words
constexpr int STEP = 8;   // rows of a tile that the block moves at a time

// Two tiles that are each other's mirror image change places, so one block must have both. It has read all of them
// before it writes any word, and no other block touches them: nobody needs to wait for another block.
__global__ void transpose_in_place(float* A, int n) {
  if (blockIdx.x < blockIdx.y) return;     // the whole block: the one with x and y exchanged has these tiles
  __shared__ float upper[SIDE][SIDE + 1];  // upper[i][j] = A[r0 + i][c0 + j]
  __shared__ float lower[SIDE][SIDE + 1];  // lower[i][j] = A[c0 + i][r0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int r0 = blockIdx.y * SIDE;
  const int c0 = blockIdx.x * SIDE;
  const bool two = r0 != c0;  // a tile on the diagonal is its own mirror image

  for (int i = ty; i < SIDE; i += STEP) {
    upper[i][tx] = A[(r0 + i) * n + c0 + tx];
    if (two) lower[i][tx] = A[(c0 + i) * n + r0 + tx];
  }
  __syncthreads();
  for (int i = ty; i < SIDE; i += STEP) {
    if (c0 + i < n && r0 + tx < n) A[(c0 + i) * n + r0 + tx] = upper[tx][i];
    if (two && r0 + i < n && c0 + tx < n) A[(r0 + i) * n + c0 + tx] = lower[tx][i];
  }
}

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  const int tiles = (n + SIDE - 1) / SIDE;
  transpose_in_place<<<dim3(tiles, tiles), dim3(SIDE, STEP), 0, stream>>>(A, n);
  return cudaGetLastError();
}
