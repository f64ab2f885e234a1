// C = A * B, fetching the next tiles while the present ones are multiplied: first by hand, through
// registers and two buffers in shared memory, then by asynchronous copies, which go to shared
// memory without passing through a register.
//
//   A: M x K    B: K x N    C: M x N
//   float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Any M, N and K: past the end of K tiles are filled with zeros, which add nothing to the sums.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// [load_words]
/// Four neighbouring words, the first `inside` lie inside the matrix, and the others become zeros.
/// With WORDS == 4 it is one load of 16 bytes, so that all four must lie inside or none, and `from`
/// at a multiple of 16 bytes.
template <int WORDS>
__device__ __forceinline__ float4 load_words(const float* __restrict__ from, int inside) {
  float4 words{0.0f, 0.0f, 0.0f, 0.0f};
  if constexpr (WORDS == 4) {
    if (inside > 0) words = __ldg(reinterpret_cast<const float4*>(from));
  } else {
    if (inside > 0) words.x = from[0];
    if (inside > 1) words.y = from[1];
    if (inside > 2) words.z = from[2];
    if (inside > 3) words.w = from[3];
  }
  return words;
}
// [load_words]

// [double_buffered_tiles]
/// A block computes BM x BN elements of C from tiles that are BK deep, a thread TM x TN of them.
/// There are two buffers in shared memory: while the threads multiply out of one, the words of the
/// next tiles are on their way into registers, and they are then stored into the other. So a tile
/// takes one barrier, and the loads have all the time of the multiplying to arrive. WORDS: 4 if N
/// and K are multiples of 4 and A and B lie at multiples of 16 bytes, else 1. Block: BM/TM * BN/TN
/// threads in x. Grid: x covers the N columns in steps of BN, y the M rows in steps of BM.
template <int BM, int BN, int BK, int TM, int TN, int WORDS>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    double_buffered_tiles(const float* __restrict__ A,  // M x K
                          const float* __restrict__ B,  // K x N
                          float* __restrict__ C,        // M x N
                          int M, int N, int K) {
  constexpr int kAcross = BN / TN, kDown = BM / TM, kThreads = kAcross * kDown;
  // how many quads of words each thread fetches per tile
  constexpr int kQuadsOfA = BM * BK / 4 / kThreads, kQuadsOfB = BK * BN / 4 / kThreads;
  static_assert(kQuadsOfA * kThreads * 4 == BM * BK && kQuadsOfB * kThreads * 4 == BK * BN &&
                    TM % 4 == 0 && TN % 4 == 0,
                "the threads share the tiles evenly, four words at a time");
  // keeps the stores of a column of As out of each other's banks
  constexpr int kPad = 4;
  __shared__ __align__(16) float As[2][BK][BM + kPad];  // As[buffer][k][i] = A[row0 + i][k0 + k]
  __shared__ __align__(16) float Bs[2][BK][BN];         // Bs[buffer][k][j] = B[k0 + k][col0 + j]

  const int thread = threadIdx.x, tx = thread % kAcross, ty = thread / kAcross;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  // of four neighbours, and kDown * 4 rows (kAcross * 4 columns) further on of the next four
  float sum[TM][TN] = {};
  float4 next_a[kQuadsOfA], next_b[kQuadsOfB];  // on their way

  const auto fetch = [&](int k0) {
#pragma unroll
    for (int q = 0; q < kQuadsOfA; ++q) {
      const int quad = thread + q * kThreads, row = row0 + quad / (BK / 4),
                k = k0 + quad % (BK / 4) * 4;
      next_a[q] = load_words<WORDS>(A + size_t(row) * K + k, row < M ? K - k : 0);
    }
#pragma unroll
    for (int q = 0; q < kQuadsOfB; ++q) {
      const int quad = thread + q * kThreads, k = k0 + quad / (BN / 4),
                col = col0 + quad % (BN / 4) * 4;
      next_b[q] = load_words<WORDS>(B + size_t(k) * N + col, k < K ? N - col : 0);
    }
  };
  const auto store = [&](int buffer) {
#pragma unroll
    for (int q = 0; q < kQuadsOfA; ++q) {
      const int quad = thread + q * kThreads, i = quad / (BK / 4), k = quad % (BK / 4) * 4;
      As[buffer][k][i] = next_a[q].x;
      As[buffer][k + 1][i] = next_a[q].y;
      As[buffer][k + 2][i] = next_a[q].z;
      As[buffer][k + 3][i] = next_a[q].w;
    }
#pragma unroll
    for (int q = 0; q < kQuadsOfB; ++q) {
      const int quad = thread + q * kThreads;
      *reinterpret_cast<float4*>(&Bs[buffer][quad / (BN / 4)][quad % (BN / 4) * 4]) = next_b[q];
    }
  };

  // [by_hand]
  fetch(0);
  store(0);
  __syncthreads();  // written before read
  int buffer = 0;
  for (int k0 = 0; k0 < K; k0 += BK) {
    const bool more = k0 + BK < K;
    if (more) fetch(k0 + BK);  // the loads leave now; the words are first needed below
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      alignas(16) float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&a[i]) =
            *reinterpret_cast<const float4*>(&As[buffer][k][ty * 4 + i * kDown]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&b[j]) =
            *reinterpret_cast<const float4*>(&Bs[buffer][k][tx * 4 + j * kAcross]);
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    buffer ^= 1;
    if (more) store(buffer);  // here they are waited for
    __syncthreads();          // this buffer is written, and the other one read
  }
  // [by_hand]

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * 4 + i / 4 * 4 * kDown + i % 4,
                col = col0 + tx * 4 + j / 4 * 4 * kAcross + j % 4;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}
// [double_buffered_tiles]

// [async_tiles]
/// The same with STAGES buffers, filled by asynchronous copies: STAGES - 1 tiles are on their way
/// while one is multiplied, and none of their words is in a register. The multiply-adds of a step
/// go to and fro, too. Each word of A is a copy of its own, since As is stored by columns of A.
/// WORDS: 4 if N is a multiple of 4 and B lies at a multiple of 16 bytes, else 1: the words of B
/// that one copy moves. Block: BM/TM * BN/TN threads in x. Grid: x covers the N columns in steps of
/// BN, y the M rows in steps of BM. Dynamic shared memory: async_tiles_bytes().
template <int BM, int BN, int BK, int TM, int TN, int STAGES, int WORDS>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    async_tiles(const float* __restrict__ A,  // M x K
                const float* __restrict__ B,  // K x N
                float* __restrict__ C,        // M x N
                int M, int N, int K) {
  constexpr int kAcross = BN / TN, kDown = BM / TM, kThreads = kAcross * kDown, kPad = 4;
  constexpr int kLanesOfA = 8, kRowsOfA = kThreads / kLanesOfA;  // that the block fetches at a time
  constexpr int kLanesOfB = BN / WORDS, kRowsOfB = kThreads / kLanesOfB;
  static_assert(kRowsOfA * kLanesOfA == kThreads && kRowsOfB * kLanesOfB == kThreads &&
                    BM % kRowsOfA == 0 && BK % kLanesOfA == 0 && BK % kRowsOfB == 0 &&
                    TM % 4 == 0 && TN % 4 == 0 && STAGES >= 2,
                "the threads share the tiles evenly");
  extern __shared__ __align__(16) float shared[];
  // As[stage][k][i]
  const auto As = reinterpret_cast<float(*)[BK][BM + kPad]>(shared);
  // Bs[stage][k][j]
  const auto Bs = reinterpret_cast<float(*)[BK][BN]>(shared + STAGES * BK * (BM + kPad));

  const int thread = threadIdx.x, tx = thread % kAcross, ty = thread / kAcross;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int a_k = thread % kLanesOfA, a_row = thread / kLanesOfA;
  const int b_col = thread % kLanesOfB * WORDS, b_k = thread / kLanesOfB;
  float sum[TM][TN] = {};

  // Rows and columns outside C are fetched from its last ones: what comes of them is never stored.
  int from_a[BM / kRowsOfA];  // in a_tile
#pragma unroll
  for (int r = 0; r < BM / kRowsOfA; ++r)
    from_a[r] = min(row0 + a_row + r * kRowsOfA, M - 1) * K + a_k;
  const float* a_tile = A;  // the next tiles to fetch
  const float* b_tile = B + size_t(b_k) * N + min(col0 + b_col, N - WORDS);

  // [fetch]
  // Begins the copies of the next tiles, `left` deep; what lies past the end of K is not read but
  // filled with zeros.
  const auto fetch = [&](int stage, int left) {
#pragma unroll
    for (int r = 0; r < BM / kRowsOfA; ++r) {
#pragma unroll
      for (int k = 0; k < BK; k += kLanesOfA)
        __pipeline_memcpy_async(&As[stage][a_k + k][a_row + r * kRowsOfA], a_tile + from_a[r] + k,
                                4, a_k + k < left ? 0 : 4);
    }
#pragma unroll
    for (int k = 0; k < BK; k += kRowsOfB)
      __pipeline_memcpy_async(&Bs[stage][b_k + k][b_col], b_tile + size_t(k) * N, 4 * WORDS,
                              b_k + k < left ? 0 : 4 * WORDS);
    a_tile += BK;
    b_tile += size_t(BK) * N;
  };
  // [fetch]

  // [stages]
  const int tiles = (K + BK - 1) / BK;
#pragma unroll
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < tiles) fetch(t, K - t * BK);
    __pipeline_commit();  // a group per tile, even an empty one, so that counting them is simple
  }
  for (int t = 0; t < tiles; ++t) {
    // all groups but the latest STAGES - 2: my copies of tile t are here
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();  // everybody's are, and every thread is through with tile t - 1
    const int next = t + STAGES - 1;
    if (next < tiles) fetch(next % STAGES, K - next * BK);  // into the buffers of tile t - 1
    __pipeline_commit();
    // [stages]
    const int stage = t % STAGES;
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      alignas(16) float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&a[i]) =
            *reinterpret_cast<const float4*>(&As[stage][k][ty * 4 + i * kDown]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&b[j]) =
            *reinterpret_cast<const float4*>(&Bs[stage][k][tx * 4 + j * kAcross]);
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int n = 0; n < TN; ++n) {
          // to and fro: a row begins with the word of b that the last one ended with
          const int j = i % 2 == 0 ? n : TN - 1 - n;
          sum[i][j] += a[i] * b[j];
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * 4 + i / 4 * 4 * kDown + i % 4,
                col = col0 + tx * 4 + j / 4 * 4 * kAcross + j % 4;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}
// [async_tiles]

/// Shared memory of a block of async_tiles<BM, BN, BK, ..., STAGES, ...>: its tiles of A have rows
/// of BM + 4 words.
constexpr int async_tiles_bytes(int BM, int BN, int BK, int STAGES) {
  return STAGES * BK * (BM + 4 + BN) * static_cast<int>(sizeof(float));
}

/// True when an int holds every position that the kernels compute as one: M, N and K are at most
/// 2^30, so that rows and columns fit also past the edges, and no matrix has 2^31 - 8 elements or
/// more (from_a goes up to 7 words past a row's start).
constexpr bool async_copies_fits(int M, int N, int K) {
  constexpr int most = 1 << 30;
  constexpr long long elements = (1LL << 31) - 8;
  return M >= 0 && N >= 0 && K >= 0 && M <= most && N <= most && K <= most &&
         1LL * M * K < elements && 1LL * K * N < elements && 1LL * M * N < elements;
}

inline bool at_16_bytes(const float* p) { return reinterpret_cast<size_t>(p) % 16 == 0; }

/// Starts double_buffered_tiles<BM, BN, BK, TM, TN>(), with 16-byte loads where the sizes allow
/// them. K == 0 fills C with zeros; M == 0 or N == 0 does nothing. Returns cudaErrorInvalidValue
/// for a size that cannot be, else what the launch itself reports.
template <int BM, int BN, int BK, int TM, int TN>
cudaError_t launch_double_buffered_tiles(const float* A, const float* B, float* C, int M, int N,
                                         int K, cudaStream_t stream = nullptr) {
  if (!async_copies_fits(M, N, K)) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  const int threads = BM / TM * (BN / TN);
  if (N % 4 == 0 && K % 4 == 0 && at_16_bytes(A) && at_16_bytes(B))
    double_buffered_tiles<BM, BN, BK, TM, TN, 4><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  else
    double_buffered_tiles<BM, BN, BK, TM, TN, 1><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

/// Starts async_tiles<BM, BN, BK, TM, TN, STAGES>(), with 16-byte copies of B where the sizes allow
/// them; everything else as launch_double_buffered_tiles(). Blocks with more than 48 KB of shared
/// memory need a GPU that has it: an error says so.
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
cudaError_t launch_async_tiles(const float* A, const float* B, float* C, int M, int N, int K,
                               cudaStream_t stream = nullptr) {
  if (!async_copies_fits(M, N, K)) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  const int threads = BM / TM * (BN / TN), bytes = async_tiles_bytes(BM, BN, BK, STAGES);
  const auto kernel = N % 4 == 0 && at_16_bytes(B) ? async_tiles<BM, BN, BK, TM, TN, STAGES, 4>
                                                   : async_tiles<BM, BN, BK, TM, TN, STAGES, 1>;
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<blocks, threads, bytes, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
