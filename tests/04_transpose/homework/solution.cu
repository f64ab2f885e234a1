// One solution of the homework of chapter 04. `make solution-04` prints it.
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
    if (r0 + i < rows && c0 + tx < cols)
      tile[i][tx] = A[(r0 + i) * cols + c0 + tx];
  __syncthreads();  // a thread reads words that other warps wrote

  for (int j = ty; j < SIDE; j += STEP) {
    const int row = c0 + j;  // of B
    int col = r0 + tx;       // of B, if B were the transpose of A
    col = rows - 1 - col;  // a rotation is a transpose with every row reversed
    if (row < cols && col >= 0)  // what lies below the last row of A lies left of the first column of B
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
    if (r0 + i < n && c0 + tx < n) upper[i][tx] = A[(r0 + i) * n + c0 + tx];
    if (two && c0 + i < n && r0 + tx < n) lower[i][tx] = A[(c0 + i) * n + r0 + tx];
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

// ---------------------------------------------------------------------------------------------- 3. stretch
// Pixels of a few channels become planes: out[b][c][p] = in[b][p][c].

// The pixels of a block are one run of memory: it is read from front to end, whatever the number of channels. Each
// plane gets a run of `share` words. Lanes pick up words that are `pitch` apart: an odd pitch takes all banks in turn.
__global__ void nhwc_to_nchw(const float* in,  // images x pixels x channels
                             float* out,       // images x channels x pixels
                             int pixels, int channels, int share) {
  extern __shared__ float s[];  // s[p * pitch + c] = in[image][p0 + p][c]
  const int pitch = channels | 1;
  const int p0 = blockIdx.x * share;
  const int count = min(share, pixels - p0);  // the last block has fewer
  const int image = blockIdx.y * pixels * channels;

  const float* from = in + image + p0 * channels;
  for (int k = threadIdx.x; k < count * channels; k += blockDim.x) s[k / channels * pitch + k % channels] = from[k];
  __syncthreads();
  float* to = out + image + p0;
  for (int k = threadIdx.x; k < count * channels; k += blockDim.x)
    to[k / count * pixels + k % count] = s[k % count * pitch + k / count];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  const int share = channels <= 16 ? 256 : 4096 / channels;  // pixels of a block: about 4,096 words at most
  const int blocks = (pixels + share - 1) / share;
  const size_t shared = sizeof(float) * share * (channels | 1);
  nhwc_to_nchw<<<dim3(blocks, images), 256, shared, stream>>>(in, out, pixels, channels, share);
  return cudaGetLastError();
}
