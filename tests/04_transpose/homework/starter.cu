// Homework of chapter 04. `make homework-04` grades this file; `make homework-04 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You only need to add lines, not to change any.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Four lines of this kernel are missing. It compiles all the same.

constexpr int SIDE = 32;  // of a tile, in words
constexpr int STEP = 8;   // rows of a tile that the block moves at a time

__global__ void rotate(const float* A,  // rows x cols
                       float* B,        // cols x rows
                       int rows, int cols) {
  __shared__ float tile[SIDE][SIDE + 1];  // tile[i][j] = A[r0 + i][c0 + j]
  const int tx = threadIdx.x;             // 0 .. 31
  const int ty = threadIdx.y;             // 0 .. 7
  const int r0 = blockIdx.y * SIDE;
  const int c0 = blockIdx.x * SIDE;

  for (int i = ty; i < SIDE; i += STEP)
    // TODO (1 line): the tile may reach past the edges of A
      tile[i][tx] = A[(r0 + i) * cols + c0 + tx];
  // TODO (1 line): what has to happen between writing the tile and reading it?

  for (int j = ty; j < SIDE; j += STEP) {
    const int row = c0 + j;  // of B
    int col = r0 + tx;       // of B, if B were the transpose of A
    // TODO (1 line): but B isn't the transpose of A
    // TODO (1 line): the tile may reach past the edges of B
      B[row * rows + col] = tile[tx][j];
  }
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  const dim3 blocks((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
  rotate<<<blocks, dim3(SIDE, STEP), 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// A becomes its transpose in place. You choose the tile's size and the block's shape.

// TODO (about 25 lines): a kernel

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// Pixels of a few channels become planes: out[b][c][p] = in[b][p][c].

// TODO (about 20 lines): a kernel

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  // TODO (about 5 lines): launch it
  return cudaGetLastError();
}
