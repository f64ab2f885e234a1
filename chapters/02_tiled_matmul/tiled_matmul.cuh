// C = A * B through shared memory: a block of threads fetches one tile of A and one of B, so that
// each word is fetched from global memory once and then used by a whole row or column of threads.
//
//   A: M x K    B: K x N    C: M x N
//   float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Any M, N and K: what lies outside the matrices is loaded as zero, which adds nothing to the sum.
#pragma once

#include <cuda_runtime.h>

// [tiled_matmul]
/// A block of TILE x TILE threads computes a TILE x TILE tile of C; thread (tx, ty) owns one
/// element of it. The tile size is known to the compiler, so the loop over k is unrolled and As is
/// read four words at a time. Grid: x covers the N columns, y the M rows.
template <int TILE>
__global__ void tiled_matmul(const float* __restrict__ A,  // M x K
                             const float* __restrict__ B,  // K x N
                             float* __restrict__ C,        // M x N
                             int M, int N, int K) {
  __shared__ float As[TILE][TILE];  // As[i][k] = A[block's first row + i][k0 + k]
  __shared__ float Bs[TILE][TILE];  // Bs[k][j] = B[k0 + k][block's first column + j]

  const int tx = threadIdx.x;              // 0 .. TILE-1, along a row: neighbours in a warp
  const int ty = threadIdx.y;              // 0 .. TILE-1, down a column
  const int row = blockIdx.y * TILE + ty;  // of C and of A
  const int col = blockIdx.x * TILE + tx;  // of C and of B
  float sum = 0.0f;

  // No thread returns early: one without an element of C still loads its words of the tiles and
  // comes to the barriers.
  const int tiles = (K + TILE - 1) / TILE;
  for (int t = 0; t < tiles; ++t) {
    const int k0 = t * TILE;  // the tiles' first column of A and first row of B
    // Each thread loads one word of each tile. tx runs along a row of both, so both loads are
    // coalesced.
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();  // first barrier: all words are written before any is read

#pragma unroll
    for (int k = 0; k < TILE; ++k) {
      // As: one word for the whole row of threads. Bs: neighbouring words
      sum += As[ty][k] * Bs[k][tx];
    }
    __syncthreads();  // second barrier: all words are read before any is overwritten
  }

  if (row < M && col < N) C[row * N + col] = sum;
}
// [tiled_matmul]

// [tiled_matmul_dynamic]
/// The same with the tile size chosen at launch: tile = blockDim.x = blockDim.y, and both tiles
/// live in one array of 2 * tile * tile floats whose size is the launch's third argument. One
/// compiled kernel serves every tile size; in return the compiler can neither unroll the loop over
/// k fully nor know any address in advance. Grid: x covers the N columns, y the M rows.
__global__ void tiled_matmul_dynamic(const float* __restrict__ A,  // M x K
                                     const float* __restrict__ B,  // K x N
                                     float* __restrict__ C,        // M x N
                                     int M, int N, int K) {
  extern __shared__ float tiles[];
  const int tile = blockDim.x;
  float* As = tiles;                // tile x tile, row-major
  float* Bs = tiles + tile * tile;  // tile x tile, row-major

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;
  float sum = 0.0f;

  for (int k0 = 0; k0 < K; k0 += tile) {
    As[ty * tile + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty * tile + tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();  // written before read

    for (int k = 0; k < tile; ++k) {
      sum += As[ty * tile + k] * Bs[k * tile + tx];
    }
    __syncthreads();  // read before overwritten
  }

  if (row < M && col < N) C[row * N + col] = sum;
}
// [tiled_matmul_dynamic]

// [tiled_matmul_rectangular]
/// A block of 16 x 16 threads computes a tile of C of BM x BN elements, from tiles that are BK
/// deep: BM x BK words of A and BK x BN of B. BM x BN may be more than the 1,024 threads that a
/// block can have, so every thread owns BM/16 x BN/16 elements, which lie 16 rows and 16 columns
/// apart: neighbours in a warp then own neighbours in C. Grid: x covers the N columns in steps of
/// BN, y the M rows in steps of BM.
template <int BM, int BN, int BK>
__global__ void tiled_matmul_rectangular(const float* __restrict__ A,  // M x K
                                         const float* __restrict__ B,  // K x N
                                         float* __restrict__ C,        // M x N
                                         int M, int N, int K) {
  static_assert(BM % 16 == 0 && BN % 16 == 0 && BK >= 1,
                "16 x 16 threads share a tile of C evenly");
  __shared__ float As[BM][BK];  // As[i][k] = A[row0 + i][k0 + k]; each word is used BN times
  __shared__ float Bs[BK][BN];  // Bs[k][j] = B[k0 + k][col0 + j]; each word is used BM times

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row0 = blockIdx.y * BM;  // the tile's first row of C and of A
  const int col0 = blockIdx.x * BN;  // the tile's first column of C and of B
  float sum[BM / 16][BN / 16] = {};  // of the elements (row0 + ty + 16 i, col0 + tx + 16 j)

  for (int k0 = 0; k0 < K; k0 += BK) {
    // The shape of the block of threads has nothing to do with the shape of a tile: count the
    // words, row by row.
    for (int word = ty * 16 + tx; word < BM * BK; word += 256) {
      const int row = row0 + word / BK;
      const int k = k0 + word % BK;
      As[word / BK][word % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int word = ty * 16 + tx; word < BK * BN; word += 256) {
      const int k = k0 + word / BN;
      const int col = col0 + word % BN;
      Bs[word / BN][word % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();  // written before read

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[BM / 16], b[BN / 16];  // read from shared memory once, used BN/16 and BM/16 times
      for (int i = 0; i < BM / 16; ++i) a[i] = As[ty + 16 * i][k];
      for (int j = 0; j < BN / 16; ++j) b[j] = Bs[k][tx + 16 * j];
      for (int i = 0; i < BM / 16; ++i) {
        for (int j = 0; j < BN / 16; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // read before overwritten
  }

  for (int i = 0; i < BM / 16; ++i) {
    for (int j = 0; j < BN / 16; ++j) {
      const int row = row0 + ty + 16 * i;
      const int col = col0 + tx + 16 * j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}
// [tiled_matmul_rectangular]

// [tiled_matmul_prefetched]
/// tiled_matmul() with the next tile on its way while this one is multiplied (*double buffering*):
/// it is fetched into registers, and there are two pairs of tiles in shared memory, used in turns.
/// One barrier per tile is enough. Grid: x covers the N columns, y the M rows.
template <int TILE>
__global__ void tiled_matmul_prefetched(const float* __restrict__ A,  // M x K
                                        const float* __restrict__ B,  // K x N
                                        float* __restrict__ C,        // M x N
                                        int M, int N, int K) {
  __shared__ float As[2][TILE][TILE];
  __shared__ float Bs[2][TILE][TILE];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;
  float sum = 0.0f;

  float a = row < M && tx < K ? A[row * K + tx] : 0.0f;  // this thread's words of tile 0
  float b = ty < K && col < N ? B[ty * N + col] : 0.0f;
  const int tiles = (K + TILE - 1) / TILE;
  for (int t = 0; t < tiles; ++t) {
    const int turn = t % 2;
    As[turn][ty][tx] = a;
    Bs[turn][ty][tx] = b;
    // The only barrier: this pair is written before it is read. The pair was read two tiles ago,
    // before the barrier of the tile in between, so no thread needs its old words any more.
    __syncthreads();

    const int k0 = (t + 1) * TILE;  // the next tile; after the last one there is nothing to fetch
    a = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    b = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;

#pragma unroll
    for (int k = 0; k < TILE; ++k) {
      // needs neither a nor b: the loads may take their time
      sum += As[turn][ty][k] * Bs[turn][k][tx];
    }
  }

  if (row < M && col < N) C[row * N + col] = sum;
}
// [tiled_matmul_prefetched]

/// True when an int holds every position that the kernels compute: M, N and K are at most 2^30, so
/// that `row`, `col` and `k0 + tx` fit also past the edges (tiles have at most 1,024 rows and
/// columns), and no matrix has 2^31 elements or more.
constexpr bool tiled_matmul_fits(int M, int N, int K) {
  constexpr int most = 1 << 30;
  constexpr long long elements = 1LL << 31;
  return M >= 0 && N >= 0 && K >= 0 && M <= most && N <= most && K <= most &&
         1LL * M * K < elements && 1LL * K * N < elements && 1LL * M * N < elements;
}

/// Shared memory of one block in bytes: a tile of A and a tile of B.
constexpr size_t tiled_matmul_shared_bytes(int tile) { return 2 * sizeof(float) * tile * tile; }

// [launch]
/// Starts tiled_matmul<TILE>(). K == 0 fills C with zeros; M == 0 or N == 0 does nothing. Returns
/// cudaErrorInvalidValue for a size that cannot be, else what the launch itself reports (more than
/// 65,535 blocks in y is cudaErrorInvalidConfiguration, from CUDA 13 on cudaErrorInvalidValue).
template <int TILE>
cudaError_t launch_tiled_matmul(const float* A, const float* B, float* C, int M, int N, int K,
                                cudaStream_t stream = nullptr) {
  static_assert(TILE >= 1 && TILE * TILE <= 1024,
                "one thread per element: a block has at most 1,024 threads");
  if (!tiled_matmul_fits(M, N, K)) return cudaErrorInvalidValue;
  // C has no elements, and a grid of 0 blocks is an error
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(TILE, TILE);
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  tiled_matmul<TILE><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
// [launch]

/// Starts tiled_matmul_dynamic() with any tile that the device can launch; the rest as
/// launch_tiled_matmul(). A tile of more than 32 needs more than 1,024 threads, and the launch
/// reports cudaErrorInvalidConfiguration (from CUDA 13 on cudaErrorInvalidValue).
inline cudaError_t launch_tiled_matmul_dynamic(const float* A, const float* B, float* C, int M,
                                               int N, int K, int tile,
                                               cudaStream_t stream = nullptr) {
  if (!tiled_matmul_fits(M, N, K)) return cudaErrorInvalidValue;
  // a block side is at most 1,024, so tile * tile fits
  if (tile < 1 || tile > 1024) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(tile, tile);
  const dim3 blocks((N + tile - 1) / tile, (M + tile - 1) / tile);
  tiled_matmul_dynamic<<<blocks, threads, tiled_matmul_shared_bytes(tile), stream>>>(A, B, C, M, N,
                                                                                     K);
  return cudaGetLastError();
}

/// Starts tiled_matmul_rectangular<BM, BN, BK>(), 256 threads per block; the rest as
/// launch_tiled_matmul().
template <int BM, int BN, int BK>
cudaError_t launch_tiled_matmul_rectangular(const float* A, const float* B, float* C, int M, int N,
                                            int K, cudaStream_t stream = nullptr) {
  static_assert(BM <= 1024 && BN <= 1024 && BK <= 1024, "tiled_matmul_fits() counts on it");
  if (!tiled_matmul_fits(M, N, K)) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(16, 16);
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  tiled_matmul_rectangular<BM, BN, BK><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

/// Starts tiled_matmul_prefetched<TILE>(); everything as launch_tiled_matmul().
template <int TILE>
cudaError_t launch_tiled_matmul_prefetched(const float* A, const float* B, float* C, int M, int N,
                                           int K, cudaStream_t stream = nullptr) {
  static_assert(TILE >= 1 && TILE * TILE <= 1024,
                "one thread per element: a block has at most 1,024 threads");
  if (!tiled_matmul_fits(M, N, K)) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 threads(TILE, TILE);
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  tiled_matmul_prefetched<TILE><<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
