// C = A * B with several elements of C per thread, in registers: a word that was read from shared
// memory once is used for a whole row or column of the thread's elements. First a column of
// elements per thread, then a rectangle.
//
//   A: M x K    B: K x N    C: M x N
//   float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Any M, N and K: what lies outside the matrices is loaded as zero, which adds nothing to the sum.
#pragma once

#include <cuda_runtime.h>

// [column_tiles]
/// A block computes BM x BN elements of C from tiles that are BK deep. Thread (tx, ty) owns TM
/// elements, one below the other, in column tx of the block's tile: in a step of k it reads TM
/// words of As and a single one of Bs. Block: BN x BM/TM threads. Grid: x covers the N columns in
/// steps of BN, y the M rows in steps of BM.
template <int BM, int BN, int BK, int TM>
__global__ void __launch_bounds__(BN* BM / TM) column_tiles(const float* __restrict__ A,  // M x K
                                                            const float* __restrict__ B,  // K x N
                                                            float* __restrict__ C,        // M x N
                                                            int M, int N, int K) {
  constexpr int kThreads = BN * BM / TM;
  // words of A and of B that each thread fetches per tile
  constexpr int kWordsOfA = BM * BK / kThreads, kWordsOfB = BK * BN / kThreads;
  static_assert(BM % TM == 0 && kWordsOfA * kThreads == BM * BK && kWordsOfB * kThreads == BK * BN,
                "the threads share the tiles evenly");
  __shared__ float As[BM][BK];  // As[i][k] = A[row0 + i][k0 + k]
  __shared__ float Bs[BK][BN];  // Bs[k][j] = B[k0 + k][col0 + j]

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int thread = ty * BN + tx;
  const int row0 = blockIdx.y * BM;  // the tile's first row of C and of A
  const int col0 = blockIdx.x * BN;  // the tile's first column of C and of B
  float sum[TM] = {};                // of the elements (row0 + ty * TM + i, col0 + tx)

  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int w = 0; w < kWordsOfA; ++w) {
      const int word = thread + w * kThreads, row = row0 + word / BK, k = k0 + word % BK;
      As[word / BK][word % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
#pragma unroll
    for (int w = 0; w < kWordsOfB; ++w) {
      const int word = thread + w * kThreads, k = k0 + word / BN, col = col0 + word % BN;
      Bs[word / BN][word % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();  // written before read

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      const float b = Bs[k][tx];  // one load for TM multiply-adds
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i] += As[ty * TM + i][k] * b;
    }
    __syncthreads();  // read before overwritten
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + ty * TM + i, col = col0 + tx;
    if (row < M && col < N) C[row * N + col] = sum[i];
  }
}
// [column_tiles]

// [register_tiles]
/// The same with a rectangle of TM x TN elements per thread, BM/TM rows and BN/TN columns apart, so
/// that neighbours in a warp own neighbours in C. In a step of k a thread reads TM + TN words and
/// makes TM * TN multiply-adds of them. As is stored by columns of A, so that a step reads one row
/// of As and one of Bs. A thread fetches all its words of a tile before it stores the first, so
/// that its loads wait side by side. The second launch bound is blocks per SM: it holds nvcc to the
/// registers that two blocks leave each thread. Block: BM/TM * BN/TN threads in a row. Grid: x
/// covers the N columns in steps of BN, y the M rows in steps of BM.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    register_tiles(const float* __restrict__ A,  // M x K
                   const float* __restrict__ B,  // K x N
                   float* __restrict__ C,        // M x N
                   int M, int N, int K) {
  constexpr int kRowStep = BM / TM, kColumnStep = BN / TN, kThreads = kRowStep * kColumnStep;
  // rows of A and of B that the block fetches at a time
  constexpr int kRowsOfA = kThreads / BK, kRowsOfB = kThreads / BN;
  // words of A and of B that each thread fetches per tile
  constexpr int kWordsOfA = BM / kRowsOfA, kWordsOfB = BK / kRowsOfB;
  static_assert(kRowsOfA * BK == kThreads && kRowsOfB * BN == kThreads && BM % kRowsOfA == 0 &&
                    BK % kRowsOfB == 0,
                "the threads share the tiles evenly");
  // BK lanes store one below the other: each row begins kPad banks further on
  constexpr int kPad = 32 / BK;
  __shared__ float As[BK][BM + kPad];  // As[k][i] = A[row0 + i][k0 + k]
  __shared__ float Bs[BK][BN];         // Bs[k][j] = B[k0 + k][col0 + j]

  const int thread = threadIdx.x, tx = thread % kColumnStep, ty = thread / kColumnStep;
  const int row0 = blockIdx.y * BM;
  const int col0 = blockIdx.x * BN;
  // the first of the tiles' words that this thread fetches
  const int a_row = thread / BK, a_k = thread % BK;
  const int b_k = thread / BN, b_col = thread % BN;
  const bool b_inside = col0 + b_col < N;
  // sum[i][j] is of the element (row0 + ty + i * kRowStep, col0 + tx + j * kColumnStep)
  float sum[TM][TN] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    const bool a_inside = k0 + a_k < K;
    float from_a[kWordsOfA] = {}, from_b[kWordsOfB] = {};
#pragma unroll
    for (int w = 0; w < kWordsOfA; ++w) {
      const int row = row0 + a_row + w * kRowsOfA;
      from_a[w] = a_inside && row < M ? A[row * K + k0 + a_k] : 0.0f;
    }
#pragma unroll
    for (int w = 0; w < kWordsOfB; ++w) {
      const int k = k0 + b_k + w * kRowsOfB;
      from_b[w] = b_inside && k < K ? B[k * N + col0 + b_col] : 0.0f;
    }
#pragma unroll
    for (int w = 0; w < kWordsOfA; ++w) As[a_k][a_row + w * kRowsOfA] = from_a[w];
#pragma unroll
    for (int w = 0; w < kWordsOfB; ++w) Bs[b_k + w * kRowsOfB][b_col] = from_b[w];
    __syncthreads();  // written before read

// [step]
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];  // TM + TN loads for TM * TN multiply-adds
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = As[k][ty + i * kRowStep];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = Bs[k][tx + j * kColumnStep];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    // [step]
    __syncthreads();  // read before overwritten
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty + i * kRowStep, col = col0 + tx + j * kColumnStep;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}
// [register_tiles]

/// True when an int holds every position that the kernels compute: M, N and K are at most 2^30, so
/// that `row`, `col` and `k` fit also past the edges (tiles have at most 1,024 rows and columns),
/// and no matrix has 2^31 elements or more.
constexpr bool register_tiles_fits(int M, int N, int K) {
  constexpr int most = 1 << 30;
  constexpr long long elements = 1LL << 31;
  return M >= 0 && N >= 0 && K >= 0 && M <= most && N <= most && K <= most &&
         1LL * M * K < elements && 1LL * K * N < elements && 1LL * M * N < elements;
}

/// Starts column_tiles<BM, BN, BK, TM>(). K == 0 fills C with zeros; M == 0 or N == 0 does nothing.
/// Returns cudaErrorInvalidValue for a size that cannot be, else what the launch itself reports.
template <int BM, int BN, int BK, int TM>
cudaError_t launch_column_tiles(const float* A, const float* B, float* C, int M, int N, int K,
                                cudaStream_t stream = nullptr) {
  static_assert(BM <= 1024 && BN <= 1024 && BK <= 1024, "register_tiles_fits() counts on it");
  if (!register_tiles_fits(M, N, K)) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(BN, BM / TM);
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  column_tiles<BM, BN, BK, TM><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

/// Starts register_tiles<BM, BN, BK, TM, TN>(); everything as launch_column_tiles().
template <int BM, int BN, int BK, int TM, int TN>
cudaError_t launch_register_tiles(const float* A, const float* B, float* C, int M, int N, int K,
                                  cudaStream_t stream = nullptr) {
  static_assert(BM <= 1024 && BN <= 1024 && BK <= 1024, "register_tiles_fits() counts on it");
  if (!register_tiles_fits(M, N, K)) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  register_tiles<BM, BN, BK, TM, TN><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
