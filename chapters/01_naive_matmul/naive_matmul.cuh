// C = A * B, one CUDA thread per element of C, everything read from global memory.
//
//   A: M x K    B: K x N    C: M x N
//   float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Two kernels, the same arithmetic, one difference: which coordinate of C lies along threadIdx.x.
// The 32 threads of a warp have consecutive threadIdx.x, so that choice decides which addresses a
// warp asks for together.
#pragma once

#include <cuda_runtime.h>

// [naive_matmul]
/// One element of C per thread, with the *column* on threadIdx.x.
/// A warp works on 32 neighbours of one row of C: it reads one word of A, and 32 neighbouring words
/// of B. Grid: x covers the N columns, y the M rows. Any block shape.
__global__ void naive_matmul(const float* __restrict__ A,  // M x K
                             const float* __restrict__ B,  // K x N
                             float* __restrict__ C,        // M x N
                             int M, int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. N-1, and beyond in the last block
  const int row = blockIdx.y * blockDim.y + threadIdx.y;  // 0 .. M-1, and beyond in the last block
  if (row >= M || col >= N) return;                       // past the edge: no element to compute

  // Positions fit an int: the launch function refuses matrices of 2^31 elements or more.
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    // A: along row `row`. B: down column `col`, N words from one to the next
    sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
// [naive_matmul]

// [naive_matmul_row_on_x]
/// The same with the *row* on threadIdx.x: the mapping to avoid.
/// A warp works on 32 neighbours of one *column* of C: it reads 32 words of A that lie K words
/// apart, each from a sector of its own, and writes 32 words of C that lie N words apart.
/// Grid: x covers the M rows, y the N columns. Any block shape.
__global__ void naive_matmul_row_on_x(const float* __restrict__ A,  // M x K
                                      const float* __restrict__ B,  // K x N
                                      float* __restrict__ C,        // M x N
                                      int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;  // x and y are swapped here ...
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;

  float sum = 0.0f;  // ... and nowhere else
  for (int k = 0; k < K; ++k) {
    sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
// [naive_matmul_row_on_x]

/// True when an int holds every position that the kernels compute: M, N and K are at most 2^30, so
/// that `row`, `col` and `k` fit also in the threads past the edges, and no matrix has 2^31
/// elements or more.
constexpr bool naive_matmul_fits(int M, int N, int K) {
  constexpr int most = 1 << 30;
  constexpr long long elements = 1LL << 31;
  return M >= 0 && N >= 0 && K >= 0 && M <= most && N <= most && K <= most &&
         1LL * M * K < elements && 1LL * K * N < elements && 1LL * M * N < elements;
}

/// How many blocks of `block` threads cover `n` elements.
constexpr unsigned naive_matmul_blocks(int n, unsigned block) {
  return (static_cast<unsigned>(n) + block - 1) / block;
}

// [launch]
/// Starts naive_matmul() in blocks of block x block threads. K == 0 fills C with zeros; M == 0 or
/// N == 0 does nothing. Returns cudaErrorInvalidValue for a size that cannot be, else what the
/// launch itself reports: for more than 65,535 blocks in y, and for a block of more than 1,024
/// threads, cudaErrorInvalidConfiguration (from CUDA 13 on cudaErrorInvalidValue).
inline cudaError_t launch_naive_matmul(const float* A, const float* B, float* C, int M, int N,
                                       int K, int block, cudaStream_t stream = nullptr) {
  if (!naive_matmul_fits(M, N, K) || block < 1) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(block, block);
  const dim3 blocks(naive_matmul_blocks(N, threads.x), naive_matmul_blocks(M, threads.y));
  naive_matmul<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
// [launch]

/// Starts naive_matmul_row_on_x(); everything else as launch_naive_matmul().
inline cudaError_t launch_naive_matmul_row_on_x(const float* A, const float* B, float* C, int M,
                                                int N, int K, int block,
                                                cudaStream_t stream = nullptr) {
  if (!naive_matmul_fits(M, N, K) || block < 1) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(block, block);
  // the rows of C along x
  const dim3 blocks(naive_matmul_blocks(M, threads.x), naive_matmul_blocks(N, threads.y));
  naive_matmul_row_on_x<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
