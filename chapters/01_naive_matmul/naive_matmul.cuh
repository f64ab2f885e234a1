// C = A * B, one CUDA thread per element of C, everything read from global memory.
//
//   A: M x K    B: K x N    C: M x N     float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Two kernels, the same arithmetic, one difference: which coordinate of C lies along threadIdx.x. The 32 threads of
// a warp have consecutive threadIdx.x, so that choice decides which addresses a warp reads at the same moment.
#pragma once

#include <cuda_runtime.h>

// [naive_matmul]
/// One element of C per thread, with the *column* on threadIdx.x.
/// A warp works on 32 neighbours of one row of C: it reads one word of A, and 32 neighbouring words of B.
/// Grid: x covers the N columns, y the M rows. Any block shape.
__global__ void naive_matmul(const float* __restrict__ A,  // M x K
                             const float* __restrict__ B,  // K x N
                             float* __restrict__ C,        // M x N
                             int M, int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. N-1, and beyond in the last block
  const int row = blockIdx.y * blockDim.y + threadIdx.y;  // 0 .. M-1, and beyond in the last block
  if (row >= M || col >= N) return;                       // a thread of a ragged edge: no element to compute

  // size_t: row * K overflows an int from 46,341 x 46,341 on.
  const float* a = A + static_cast<size_t>(row) * K;  // row `row` of A: K words in a line
  const float* b = B + col;                           // column `col` of B: K words, each N apart
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    sum += a[k] * b[static_cast<size_t>(k) * N];
  }
  C[static_cast<size_t>(row) * N + col] = sum;
}
// [naive_matmul]

// [naive_matmul_row_on_x]
/// The same with the *row* on threadIdx.x: the mapping to avoid.
/// A warp works on 32 neighbours of one *column* of C: it reads 32 words of A that lie K words apart, each from a
/// sector of its own, and writes 32 words of C that lie N words apart.
/// Grid: x covers the M rows, y the N columns. Any block shape.
__global__ void naive_matmul_row_on_x(const float* __restrict__ A,  // M x K
                                      const float* __restrict__ B,  // K x N
                                      float* __restrict__ C,        // M x N
                                      int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;  // x and y have changed places here ...
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;

  const float* a = A + static_cast<size_t>(row) * K;  // ... and nowhere else
  const float* b = B + col;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    sum += a[k] * b[static_cast<size_t>(k) * N];
  }
  C[static_cast<size_t>(row) * N + col] = sum;
}
// [naive_matmul_row_on_x]

/// Largest M, N or K that the launch functions accept. Up to here `row`, `col` and `k` fit an int, also in the
/// threads that lie past the edge of C.
constexpr int kNaiveMatmulMaxSize = 1 << 30;

/// How many blocks of `block` threads cover `n` elements.
constexpr unsigned naive_matmul_blocks(int n, unsigned block) { return (static_cast<unsigned>(n) + block - 1) / block; }

// [launch]
/// Starts naive_matmul() in blocks of block x block threads. K == 0 fills C with zeros; M == 0 or N == 0 does nothing.
/// Returns cudaErrorInvalidValue for a size that cannot be, else what the launch itself reports (a block of more
/// than 1,024 threads, or more than 65,535 blocks in y, is cudaErrorInvalidConfiguration).
inline cudaError_t launch_naive_matmul(const float* A, const float* B, float* C, int M, int N, int K, int block,
                                       cudaStream_t stream = nullptr) {
  const int most = kNaiveMatmulMaxSize;
  if (M < 0 || N < 0 || K < 0 || M > most || N > most || K > most || block < 1) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;  // C has no elements, and a grid of 0 blocks is an error
  const dim3 threads(block, block);
  const dim3 blocks(naive_matmul_blocks(N, threads.x), naive_matmul_blocks(M, threads.y));
  naive_matmul<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
// [launch]

/// Starts naive_matmul_row_on_x(); everything else as launch_naive_matmul().
inline cudaError_t launch_naive_matmul_row_on_x(const float* A, const float* B, float* C, int M, int N, int K,
                                                int block, cudaStream_t stream = nullptr) {
  const int most = kNaiveMatmulMaxSize;
  if (M < 0 || N < 0 || K < 0 || M > most || N > most || K > most || block < 1) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(block, block);
  const dim3 blocks(naive_matmul_blocks(M, threads.x), naive_matmul_blocks(N, threads.y));  // rows along x
  naive_matmul_row_on_x<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
