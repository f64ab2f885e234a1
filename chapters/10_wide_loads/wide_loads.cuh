// C = A * B with four words at a time: an instruction that loads 16 bytes does the work of four
// that load 4. First from global memory only, then from shared memory too, then in the stores of C,
// where it does not help.
//
//   A: M x K    B: K x N    C: M x N
//   float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Any M, N and K: what lies outside the matrices is loaded as zero, which adds nothing to the sum.
// A 16-byte access needs an address that is a multiple of 16 bytes. Where a row may begin
// elsewhere, the same kernels load word by word (ALIGNED is false).
#pragma once

#include <cuda_runtime.h>

// [load_four]
/// The words i .. i + 3 of a row of n words, zero for those beyond its end. ALIGNED: i, n and the
/// row's start are multiples of 4 words, so that all four are inside or none is, and one 16-byte
/// load fetches them.
template <bool ALIGNED>
__device__ __forceinline__ float4 load_four(const float* row, int i, int n) {
  if constexpr (ALIGNED) {
    return i < n ? *reinterpret_cast<const float4*>(row + i) : float4{0.0f, 0.0f, 0.0f, 0.0f};
  } else {
    const float x = i < n ? row[i] : 0, y = i + 1 < n ? row[i + 1] : 0;
    const float z = i + 2 < n ? row[i + 2] : 0, w = i + 3 < n ? row[i + 3] : 0;
    return {x, y, z, w};
  }
}
// [load_four]

// [wide_fetches]
/// register_tiles of lesson 09 with four words per load from global memory: a quarter of the
/// instructions that fetch, for the same bytes. What the threads read from shared memory, and how,
/// is unchanged. Block: BM/TM * BN/TN threads in a row. Grid: x covers the N columns in steps of
/// BN, y the M rows in steps of BM.
template <int BM, int BN, int BK, int TM, int TN, bool ALIGNED>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    wide_fetches(const float* __restrict__ A,  // M x K
                 const float* __restrict__ B,  // K x N
                 float* __restrict__ C,        // M x N
                 int M, int N, int K) {
  constexpr int kRowStep = BM / TM, kColumnStep = BN / TN, kThreads = kRowStep * kColumnStep;
  // how many fours of words each thread fetches per tile
  constexpr int kFoursOfA = BM * BK / 4 / kThreads, kFoursOfB = BK * BN / 4 / kThreads;
  static_assert(BK % 4 == 0 && BN % 4 == 0 && TM % 4 == 0 && TN % 4 == 0, "four words at a time");
  static_assert(kFoursOfA * 4 * kThreads == BM * BK && kFoursOfB * 4 * kThreads == BK * BN,
                "the threads share the tiles evenly");
  // lanes that store neighbours along k find different banks
  constexpr int kPad = 32 / BK;
  __shared__ float As[BK][BM + kPad];       // As[k][i] = A[row0 + i][k0 + k]
  __shared__ alignas(16) float Bs[BK][BN];  // Bs[k][j] = B[k0 + k][col0 + j]

  const int thread = threadIdx.x, tx = thread % kColumnStep, ty = thread / kColumnStep;
  const int row0 = blockIdx.y * BM;
  const int col0 = blockIdx.x * BN;
  // sum[i][j] is of the element (row0 + ty + i * kRowStep, col0 + tx + j * kColumnStep)
  float sum[TM][TN] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    float4 from_a[kFoursOfA], from_b[kFoursOfB];
#pragma unroll
    for (int f = 0; f < kFoursOfA; ++f) {
      const int four = thread + f * kThreads, row = row0 + four / (BK / 4),
                k = k0 + four % (BK / 4) * 4;
      from_a[f] = load_four<ALIGNED>(A + size_t(row) * K, k, row < M ? K : 0);
    }
#pragma unroll
    for (int f = 0; f < kFoursOfB; ++f) {
      const int four = thread + f * kThreads, k = k0 + four / (BN / 4),
                col = col0 + four % (BN / 4) * 4;
      from_b[f] = load_four<ALIGNED>(B + size_t(k) * N, col, k < K ? N : 0);
    }
#pragma unroll
    for (int f = 0; f < kFoursOfA; ++f) {  // four of a row of A, one below the other in As
      const int four = thread + f * kThreads, i = four / (BK / 4), k = four % (BK / 4) * 4;
      As[k][i] = from_a[f].x, As[k + 1][i] = from_a[f].y, As[k + 2][i] = from_a[f].z,
      As[k + 3][i] = from_a[f].w;
    }
#pragma unroll
    for (int f = 0; f < kFoursOfB; ++f) {
      const int four = thread + f * kThreads, k = four / (BN / 4), j = four % (BN / 4) * 4;
      *reinterpret_cast<float4*>(&Bs[k][j]) = from_b[f];
    }
    __syncthreads();  // written before read

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
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
    __syncthreads();  // read before overwritten
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty + i * kRowStep, col = col0 + tx + j * kColumnStep;
      if (row < M && col < N) C[size_t(row) * N + col] = sum[i][j];
    }
  }
}
// [wide_fetches]

// [wide_loads]
/// Four words per load from shared memory, too. A thread's rows and columns come in groups of four
/// neighbours, so that a[i] .. a[i + 3] are one load from a row of As, which holds a column of A,
/// and b[j] .. b[j + 3] one from a row of Bs. Rows of As begin at multiples of 16 bytes: the pad is
/// four words. Block and grid: as wide_fetches.
template <int BM, int BN, int BK, int TM, int TN, bool ALIGNED>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    wide_loads(const float* __restrict__ A,  // M x K
               const float* __restrict__ B,  // K x N
               float* __restrict__ C,        // M x N
               int M, int N, int K) {
  constexpr int kRowStep = BM / TM, kColumnStep = BN / TN, kThreads = kRowStep * kColumnStep;
  // how many fours of words each thread fetches per tile
  constexpr int kFoursOfA = BM * BK / 4 / kThreads, kFoursOfB = BK * BN / 4 / kThreads;
  static_assert(BK % 4 == 0 && BN % 4 == 0 && TM % 4 == 0 && TN % 4 == 0, "four words at a time");
  static_assert(kFoursOfA * 4 * kThreads == BM * BK && kFoursOfB * 4 * kThreads == BK * BN,
                "the threads share the tiles evenly");
  constexpr int kPad = 4;
  __shared__ alignas(16) float As[BK][BM + kPad];  // As[k][i] = A[row0 + i][k0 + k]
  __shared__ alignas(16) float Bs[BK][BN];         // Bs[k][j] = B[k0 + k][col0 + j]

  const int thread = threadIdx.x, tx = thread % kColumnStep, ty = thread / kColumnStep;
  const int row0 = blockIdx.y * BM;
  const int col0 = blockIdx.x * BN;
  // sum[i][j] is of the element in row row0 + 4 * ty + i / 4 * 4 * kRowStep + i % 4 and in column
  // col0 + 4 * tx + j / 4 * 4 * kColumnStep + j % 4
  float sum[TM][TN] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    float4 from_a[kFoursOfA], from_b[kFoursOfB];
#pragma unroll
    for (int f = 0; f < kFoursOfA; ++f) {
      const int four = thread + f * kThreads, row = row0 + four / (BK / 4),
                k = k0 + four % (BK / 4) * 4;
      from_a[f] = load_four<ALIGNED>(A + size_t(row) * K, k, row < M ? K : 0);
    }
#pragma unroll
    for (int f = 0; f < kFoursOfB; ++f) {
      const int four = thread + f * kThreads, k = k0 + four / (BN / 4),
                col = col0 + four % (BN / 4) * 4;
      from_b[f] = load_four<ALIGNED>(B + size_t(k) * N, col, k < K ? N : 0);
    }
#pragma unroll
    for (int f = 0; f < kFoursOfA; ++f) {  // four of a row of A, one below the other in As
      const int four = thread + f * kThreads, i = four / (BK / 4), k = four % (BK / 4) * 4;
      As[k][i] = from_a[f].x, As[k + 1][i] = from_a[f].y, As[k + 2][i] = from_a[f].z,
      As[k + 3][i] = from_a[f].w;
    }
#pragma unroll
    for (int f = 0; f < kFoursOfB; ++f) {
      const int four = thread + f * kThreads, k = four / (BN / 4), j = four % (BN / 4) * 4;
      *reinterpret_cast<float4*>(&Bs[k][j]) = from_b[f];
    }
    __syncthreads();  // written before read

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      alignas(16) float a[TM], b[TN];
      // [step]
#pragma unroll
      for (int i = 0; i < TM; i += 4) {
        *reinterpret_cast<float4*>(&a[i]) =
            *reinterpret_cast<const float4*>(&As[k][4 * ty + i * kRowStep]);
      }
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        *reinterpret_cast<float4*>(&b[j]) =
            *reinterpret_cast<const float4*>(&Bs[k][4 * tx + j * kColumnStep]);
      }
      // [step]
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // read before overwritten
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + 4 * ty + i / 4 * 4 * kRowStep + i % 4;
      const int col = col0 + 4 * tx + j / 4 * 4 * kColumnStep + j % 4;
      if (row < M && col < N) C[size_t(row) * N + col] = sum[i][j];
    }
  }
}
// [wide_loads]

/// Writes `value` to the words first .. first + 3 of a row of C of `words` words, and nothing
/// beyond its end; ALIGNED as in load_four().
template <bool ALIGNED>
__device__ __forceinline__ void store_four(float* row, int first, int words, float4 value) {
  if constexpr (ALIGNED) {
    if (first < words) *reinterpret_cast<float4*>(row + first) = value;
  } else {
    if (first < words) row[first] = value.x;
    if (first + 1 < words) row[first + 1] = value.y;
    if (first + 2 < words) row[first + 2] = value.z;
    if (first + 3 < words) row[first + 3] = value.w;
  }
}

// [wide_stores]
/// And four words per store to C, which does not help: a 16-byte store takes its words from four
/// neighbouring registers, so nvcc can no longer put the sums where the multiply-adds would like to
/// have them. Block and grid: as wide_fetches.
template <int BM, int BN, int BK, int TM, int TN, bool ALIGNED>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    wide_stores(const float* __restrict__ A,  // M x K
                const float* __restrict__ B,  // K x N
                float* __restrict__ C,        // M x N
                int M, int N, int K) {
  constexpr int kRowStep = BM / TM, kColumnStep = BN / TN, kThreads = kRowStep * kColumnStep;
  // how many fours of words each thread fetches per tile
  constexpr int kFoursOfA = BM * BK / 4 / kThreads, kFoursOfB = BK * BN / 4 / kThreads;
  static_assert(BK % 4 == 0 && BN % 4 == 0 && TM % 4 == 0 && TN % 4 == 0, "four words at a time");
  static_assert(kFoursOfA * 4 * kThreads == BM * BK && kFoursOfB * 4 * kThreads == BK * BN,
                "the threads share the tiles evenly");
  constexpr int kPad = 4;
  __shared__ alignas(16) float As[BK][BM + kPad];  // As[k][i] = A[row0 + i][k0 + k]
  __shared__ alignas(16) float Bs[BK][BN];         // Bs[k][j] = B[k0 + k][col0 + j]

  const int thread = threadIdx.x, tx = thread % kColumnStep, ty = thread / kColumnStep;
  const int row0 = blockIdx.y * BM;
  const int col0 = blockIdx.x * BN;
  // sum[i][j] is of the element in row row0 + 4 * ty + i / 4 * 4 * kRowStep + i % 4 and in column
  // col0 + 4 * tx + j / 4 * 4 * kColumnStep + j % 4
  float sum[TM][TN] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    float4 from_a[kFoursOfA], from_b[kFoursOfB];
#pragma unroll
    for (int f = 0; f < kFoursOfA; ++f) {
      const int four = thread + f * kThreads, row = row0 + four / (BK / 4),
                k = k0 + four % (BK / 4) * 4;
      from_a[f] = load_four<ALIGNED>(A + size_t(row) * K, k, row < M ? K : 0);
    }
#pragma unroll
    for (int f = 0; f < kFoursOfB; ++f) {
      const int four = thread + f * kThreads, k = k0 + four / (BN / 4),
                col = col0 + four % (BN / 4) * 4;
      from_b[f] = load_four<ALIGNED>(B + size_t(k) * N, col, k < K ? N : 0);
    }
#pragma unroll
    for (int f = 0; f < kFoursOfA; ++f) {  // four of a row of A, one below the other in As
      const int four = thread + f * kThreads, i = four / (BK / 4), k = four % (BK / 4) * 4;
      As[k][i] = from_a[f].x, As[k + 1][i] = from_a[f].y, As[k + 2][i] = from_a[f].z,
      As[k + 3][i] = from_a[f].w;
    }
#pragma unroll
    for (int f = 0; f < kFoursOfB; ++f) {
      const int four = thread + f * kThreads, k = four / (BN / 4), j = four % (BN / 4) * 4;
      *reinterpret_cast<float4*>(&Bs[k][j]) = from_b[f];
    }
    __syncthreads();  // written before read

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      alignas(16) float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) {
        *reinterpret_cast<float4*>(&a[i]) =
            *reinterpret_cast<const float4*>(&As[k][4 * ty + i * kRowStep]);
      }
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        *reinterpret_cast<float4*>(&b[j]) =
            *reinterpret_cast<const float4*>(&Bs[k][4 * tx + j * kColumnStep]);
      }
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // read before overwritten
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int row = row0 + 4 * ty + i / 4 * 4 * kRowStep + i % 4,
                col = col0 + 4 * tx + j * kColumnStep;
      const float4 four = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
      if (row < M) store_four<ALIGNED>(C + size_t(row) * N, col, N, four);
    }
  }
}
// [wide_stores]

/// True when an int holds every row, column and k that the kernels compute, also past the edges: M,
/// N and K are at most 2^30 (tiles have at most 1,024 rows and columns). Positions in the matrices
/// are size_t.
constexpr bool wide_loads_fits(int M, int N, int K) {
  constexpr int most = 1 << 30;
  return M >= 0 && N >= 0 && K >= 0 && M <= most && N <= most && K <= most;
}

/// True when every four words that the kernels fetch or store together begin at a multiple of 16
/// bytes: the matrices do, and so do all their rows.
inline bool wide_loads_aligned(const float* A, const float* B, const float* C, int N, int K) {
  const auto at_16 = [](const float* matrix) { return reinterpret_cast<size_t>(matrix) % 16 == 0; };
  return N % 4 == 0 && K % 4 == 0 && at_16(A) && at_16(B) && at_16(C);
}

/// Starts wide_fetches<BM, BN, BK, TM, TN>(), word by word unless wide_loads_aligned() holds.
/// K == 0 fills C with zeros; M == 0 or N == 0 does nothing. Returns cudaErrorInvalidValue for a
/// size that cannot be, else what the launch reports.
template <int BM, int BN, int BK, int TM, int TN>
cudaError_t launch_wide_fetches(const float* A, const float* B, float* C, int M, int N, int K,
                                cudaStream_t stream = nullptr) {
  static_assert(BM <= 1024 && BN <= 1024 && BK <= 1024, "wide_loads_fits() counts on it");
  if (!wide_loads_fits(M, N, K)) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  if (wide_loads_aligned(A, B, C, N, K)) {
    wide_fetches<BM, BN, BK, TM, TN, true><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  } else {
    wide_fetches<BM, BN, BK, TM, TN, false><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  }
  return cudaGetLastError();
}

/// Starts wide_loads<BM, BN, BK, TM, TN>(); everything as launch_wide_fetches().
template <int BM, int BN, int BK, int TM, int TN>
cudaError_t launch_wide_loads(const float* A, const float* B, float* C, int M, int N, int K,
                              cudaStream_t stream = nullptr) {
  static_assert(BM <= 1024 && BN <= 1024 && BK <= 1024, "wide_loads_fits() counts on it");
  if (!wide_loads_fits(M, N, K)) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  if (wide_loads_aligned(A, B, C, N, K)) {
    wide_loads<BM, BN, BK, TM, TN, true><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  } else {
    wide_loads<BM, BN, BK, TM, TN, false><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  }
  return cudaGetLastError();
}

/// Starts wide_stores<BM, BN, BK, TM, TN>(); everything as launch_wide_fetches().
template <int BM, int BN, int BK, int TM, int TN>
cudaError_t launch_wide_stores(const float* A, const float* B, float* C, int M, int N, int K,
                               cudaStream_t stream = nullptr) {
  static_assert(BM <= 1024 && BN <= 1024 && BK <= 1024, "wide_loads_fits() counts on it");
  if (!wide_loads_fits(M, N, K)) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  if (wide_loads_aligned(A, B, C, N, K)) {
    wide_stores<BM, BN, BK, TM, TN, true><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  } else {
    wide_stores<BM, BN, BK, TM, TN, false><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  }
  return cudaGetLastError();
}
