// C = A * B faster than cublasSgemm. Both matrices are laid out first so that every tile comes by
// copies of 16 bytes; a warp owns a rectangle of C; the next words of shared memory are on their
// way while the last ones are multiplied; blocks that run at the same time share what L2 holds; and
// no SM is idle at the end, since the last tiles are shared out k-tile by k-tile.
//
//   A: M x K    B: K x N    C: M x N
//   float, row-major: element (i, j) of an r x c matrix is at [i * c + j]
//
// Any M, N and K. Compile with -Xptxas -O1: at -O3 the assembler changes the order of the
// multiply-adds and of the loads between them.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

/// Shared memory of a block whose k-tiles are BK rows of BM + BN words.
constexpr int tile_bytes(int BM, int BN, int BK, int STAGES) {
  return STAGES * BK * (BM + BN) * static_cast<int>(sizeof(float));
}
/// The same of sliced_tiles, where a slice's part of C must fit, too.
constexpr int sliced_bytes(int BM, int BN, int BK, int SLICES, int STAGES) {
  const int tiles = tile_bytes(BM + 4, BN, BK, STAGES),
            part = SLICES > 1 ? BM * BN * static_cast<int>(sizeof(float)) : 0;
  return tiles > part ? tiles : part;
}

// [transpose_padded]
/// At = A^T: K rows of `lda` words, M rounded up to a multiple of 4, so that each row begins at a
/// multiple of 16 bytes. Block: 256 threads, a tile of 64 x 64. Grid: x covers the M rows of A, y
/// its K columns. VEC: words per load of A, 1 or 4.
template <int VEC>
__global__ void __launch_bounds__(256)
    transpose_padded(const float* __restrict__ A, float* __restrict__ At, int M, int K, int lda) {
  __shared__ float tile[64][65];  // tile[k][row]
  const int row0 = blockIdx.x * 64, k0 = blockIdx.y * 64, thread = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 16 / VEC; ++i) {
    const int row = thread * VEC / 64 + 4 * VEC * i, k = thread * VEC % 64;
    if (row0 + row >= M || k0 + k >= K) continue;
    const float* from = A + size_t(row0 + row) * K + k0 + k;
    if constexpr (VEC == 4) {
      const float4 words = *reinterpret_cast<const float4*>(from);
      tile[k][row] = words.x;
      tile[k + 1][row] = words.y;
      tile[k + 2][row] = words.z;
      tile[k + 3][row] = words.w;
    } else {
      tile[k][row] = *from;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int k = thread / 16 + 16 * i, row = thread % 16 * 4;
    if (k0 + k >= K || row0 + row >= lda) continue;
    float4 words{0.0f, 0.0f, 0.0f, 0.0f};
    if (row0 + row < M) words.x = tile[k][row];
    if (row0 + row + 1 < M) words.y = tile[k][row + 1];
    if (row0 + row + 2 < M) words.z = tile[k][row + 2];
    if (row0 + row + 3 < M) words.w = tile[k][row + 3];
    *reinterpret_cast<float4*>(At + size_t(k0 + k) * lda + row0 + row) = words;
  }
}
// [transpose_padded]

/// out = in with rows of `ld` words in place of `cols`; what is added is zero. Block: 256 threads,
/// any grid.
static __global__ void __launch_bounds__(256)
    pad_rows(const float* __restrict__ in, float* __restrict__ out, int rows, int cols, int ld) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int col = threadIdx.x; col < ld; col += 256)
      out[size_t(row) * ld + col] = col < cols ? in[size_t(row) * cols + col] : 0.0f;
  }
}

// [multiply_add]
/// sum += a b^T, row by row, to and fro: all multiply-adds of a row share a word of a, and the next
/// row begins with the word of b that this one ended with. An operand that the last instruction
/// read, too, needs no second read of the registers.
template <int TM, int TN>
__device__ __forceinline__ void multiply_add(float (&sum)[TM][TN], const float (&a)[TM],
                                             const float (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int n = 0; n < TN; ++n) {
      const int j = i % 2 ? TN - 1 - n : n;
      sum[i][j] += a[i] * b[j];
    }
  }
}
// [multiply_add]

// [wide_copies]
/// Lesson 11's kernel on a transposed A: tiles of A come row by row, too, so that each thread
/// begins BM/4 * BK / threads copies of 16 bytes in place of four times as many of 4 bytes. lda and
/// ldb are multiples of 4; At and B lie at multiples of 16 bytes. Block: BM/TM * BN/TN threads in
/// x. Grid: x covers the N columns in steps of BN, y the M rows in steps of BM. Dynamic shared
/// memory: tile_bytes<BM, BN, BK, STAGES>.
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    wide_copies(const float* __restrict__ At, int lda,  // K x M, rows of lda words
                const float* __restrict__ B, int ldb,   // K x N, rows of ldb words
                float* __restrict__ C, int M, int N, int K) {
  constexpr int kAcross = BN / TN, kDown = BM / TM, kThreads = kAcross * kDown;
  // rows of A and of B that the block copies at a time
  constexpr int kRowsOfA = kThreads / (BM / 4), kRowsOfB = kThreads / (BN / 4);
  static_assert(BK % kRowsOfA == 0 && BK % kRowsOfB == 0 && TM % 4 == 0 && TN % 4 == 0 &&
                STAGES >= 2);
  extern __shared__ __align__(16) float shared[];
  const auto As = reinterpret_cast<float(*)[BK][BM]>(shared);                     // As[stage][k][i]
  const auto Bs = reinterpret_cast<float(*)[BK][BN]>(shared + STAGES * BK * BM);  // Bs[stage][k][j]

  const int thread = threadIdx.x, tx = thread % kAcross, ty = thread / kAcross;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int a_row = thread % (BM / 4) * 4, a_k = thread / (BM / 4);
  const int b_col = thread % (BN / 4) * 4, b_k = thread / (BN / 4);
  // The next tiles to fetch. Rows and columns outside C are fetched from its last ones: what comes
  // of them is never stored.
  const float* a_tile = At + size_t(a_k) * lda + min(row0 + a_row, lda - 4);
  const float* b_tile = B + size_t(b_k) * ldb + min(col0 + b_col, ldb - 4);

  // what lies past the end of K is not read but filled with zeros
  const auto fetch = [&](int stage, int left) {
#pragma unroll
    for (int k = 0; k < BK; k += kRowsOfA)
      __pipeline_memcpy_async(&As[stage][a_k + k][a_row], a_tile + size_t(k) * lda, 16,
                              a_k + k < left ? 0 : 16);
#pragma unroll
    for (int k = 0; k < BK; k += kRowsOfB)
      __pipeline_memcpy_async(&Bs[stage][b_k + k][b_col], b_tile + size_t(k) * ldb, 16,
                              b_k + k < left ? 0 : 16);
    a_tile += size_t(BK) * lda;
    b_tile += size_t(BK) * ldb;
  };

  float sum[TM][TN] = {};
  const int tiles = (K + BK - 1) / BK;
#pragma unroll
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < tiles) fetch(t, K - t * BK);
    __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    const int next = t + STAGES - 1;
    if (next < tiles) fetch(next % STAGES, K - next * BK);
    __pipeline_commit();
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
      multiply_add(sum, a, b);
    }
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * 4 + i / 4 * 4 * kDown + i % 4,
                col = col0 + tx * 4 + j / 4 * 4 * kAcross + j % 4;
      if (row < M && col < N) C[size_t(row) * N + col] = sum[i][j];
    }
  }
}
// [wide_copies]

// [tile]
/// BM x BN elements of C by a block of 32 * WM * WN threads: WM x WN warps, each of which owns a
/// rectangle of BM/WM x BN/WN elements, and each of its lanes TM x TN of them, in groups of 4 x 4.
/// STAGES k-tiles of depth BK are in shared memory or on their way there. lda and ldb are multiples
/// of 4; K is larger than BK.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES>
struct Tile {
  static constexpr int kThreads = 32 * WM * WN, kLanesM = BM / (WM * TM), kLanesN = BN / (WN * TN);
  // rows of A and of B that the block copies at a time
  static constexpr int kRowsOfA = kThreads * 4 / BM, kRowsOfB = kThreads * 4 / BN;
  // copies that each thread makes per k-tile, of A alone and of both
  static constexpr int kCopiesOfA = BK / kRowsOfA, kCopies = kCopiesOfA + BK / kRowsOfB;
  static_assert(kLanesM * kLanesN == 32 && TM % 4 == 0 && TN % 4 == 0 && BK % 2 == 0 &&
                STAGES >= 2);
  static_assert(kRowsOfA >= 1 && kRowsOfB >= 1 && BK % kRowsOfA == 0 && BK % kRowsOfB == 0);

  /// The first row (column) of the tile that this thread computes. Signed on purpose: with unsigned
  /// numbers ptxas gave the loop below other registers, and it ran 1 % slower.
  static __device__ __forceinline__ int my_row() {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
    return warp / WN * (BM / WM) + lane / 2 % kLanesM * 4;
  }
  static __device__ __forceinline__ int my_col() {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
    return warp % WN * (BN / WN) + (lane % 2 + lane / (2 * kLanesM) * 2) * 4;
  }

  // [product]
  /// sum = the product of k-tiles [first, first + count). The first k-tile of all is the one that
  /// may be shorter than BK, so that those in the loop never are. Ends with all of the block's
  /// copies arrived and all threads through with `shared`.
  static __device__ __forceinline__ void product(const float* __restrict__ At, int lda,
                                                 const float* __restrict__ B, int ldb, int K,
                                                 int row0, int col0, int first, int count,
                                                 float* shared, float (&sum)[TM][TN]) {
    float(*As)[BK][BM] = reinterpret_cast<float(*)[BK][BM]>(shared);
    float(*Bs)[BK][BN] = reinterpret_cast<float(*)[BK][BN]>(shared + STAGES * BK * BM);
    const int thread = threadIdx.x, row_in = my_row(), col_in = my_col();
    const int a_k = thread / (BM / 4), a_row = thread % (BM / 4) * 4, b_k = thread / (BN / 4),
              b_col = thread % (BN / 4) * 4;
    const int head = K - (K - 1) / BK * BK, k0 = first == 0 ? 0 : head + (first - 1) * BK,
              depth = first == 0 ? head : BK;
    const float* a_from = At + (long long)lda * (k0 + a_k) + min(row0 + a_row, lda - 4);
    const float* b_from = B + (long long)ldb * (k0 + b_k) + min(col0 + b_col, ldb - 4);

    const auto copy = [&](int stage, int c) {  // copy c of this thread's kCopies
      if (c < kCopiesOfA) {
        __pipeline_memcpy_async(&As[stage][a_k + c * kRowsOfA][a_row],
                                a_from + (long long)lda * (c * kRowsOfA), 16);
      } else {
        const int k = (c - kCopiesOfA) * kRowsOfB;
        __pipeline_memcpy_async(&Bs[stage][b_k + k][b_col], b_from + (long long)ldb * k, 16);
      }
    };
    float a[2][TM], b[2][TN];  // one is multiplied while the other is loaded
    const auto load = [&](int stage, int k, int which) {
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&a[which][i]) =
            *reinterpret_cast<const float4*>(&As[stage][k][row_in + i * kLanesM]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&b[which][j]) =
            *reinterpret_cast<const float4*>(&Bs[stage][k][col_in + j * kLanesN]);
    };

#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
    }
#pragma unroll
    for (int k = 0; k < BK; k += kRowsOfA)
      __pipeline_memcpy_async(&As[0][a_k + k][a_row], a_from + (long long)lda * k, 16,
                              a_k + k < depth ? 0 : 16);
#pragma unroll
    for (int k = 0; k < BK; k += kRowsOfB)
      __pipeline_memcpy_async(&Bs[0][b_k + k][b_col], b_from + (long long)ldb * k, 16,
                              b_k + k < depth ? 0 : 16);
    __pipeline_commit();
    int left = count - 1;  // k-tiles that are still to be copied
    if (left > 0) a_from += (long long)lda * depth, b_from += (long long)ldb * depth;
#pragma unroll
    for (int stage = 1; stage < STAGES - 1; ++stage) {
#pragma unroll
      for (int c = 0; c < kCopies; ++c) copy(stage, c);
      __pipeline_commit();
      if (--left > 0) a_from += (long long)lda * BK, b_from += (long long)ldb * BK;
    }
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();

    // [main_loop]
    load(0, 0, 0);
    int now = 0, next = 1, write = STAGES - 1;
#pragma unroll 1
    for (int t = 0; t < count; ++t) {
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        if (k < BK - 1) {
          load(now, k + 1, (k + 1) % 2);
          // No load of this k-tile follows. When none is left to copy, the last is copied again.
          if (k == BK - 2) {
#pragma unroll
            for (int c = 0; c < kCopies; ++c) copy(write, c);
          }
        } else {
          __pipeline_commit();
          __pipeline_wait_prior(STAGES - 2);
          __syncthreads();
          load(next, 0, 0);
        }
        multiply_add(sum, a[k % 2], b[k % 2]);
      }
      if (--left > 0) a_from += (long long)lda * BK, b_from += (long long)ldb * BK;
      now = next;
      next = next + 1 == STAGES ? 0 : next + 1;
      write = write + 1 == STAGES ? 0 : write + 1;
    }
    // [main_loop]
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  // [product]

  static __device__ __forceinline__ void store(const float (&sum)[TM][TN], float* __restrict__ C,
                                               int M, int N, int row0, int col0) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int row = row0 + my_row() + i / 4 * 4 * kLanesM + i % 4;
      if (row >= M) continue;
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int col = col0 + my_col() + j / 4 * 4 * kLanesN + j % 4;
        if (col < N) C[size_t(row) * N + col] = sum[i][j];
      }
    }
  }
};
// [tile]

/// Blocks that an SM is to hold at a time: two, if the registers have room for the sums of two,
/// `sums` for each lane of a warp number.
constexpr int blocks_for(int sums) { return sums > 512 ? 1 : 2; }

// [block_order]
/// Where tile number `tile` lies, counted down GROUP rows of tiles, then one column further on:
/// blocks that run at the same time read few rows of A and few columns of B, which L2 then holds
/// for all of them. GROUP 1: row by row.
struct Place {
  int row, col;  // in tiles
};
template <int GROUP>
__device__ __forceinline__ Place place_of(int tile, int tiles_m, int tiles_n) {
  const int first = tile / (GROUP * tiles_n) * GROUP, rows = min(GROUP, tiles_m - first),
            within = tile % (GROUP * tiles_n);
  return {first + within % rows, within / rows};
}
// [block_order]

// [warp_tiles]
/// A tile of C per block, by Tile::product. K is larger than BK. Block: 32 * WM * WN threads in x.
/// Grid: a block per tile, in x. Dynamic shared memory: tile_bytes<BM, BN, BK, STAGES>.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
__global__ void __launch_bounds__(32 * WM * WN, blocks_for(TM* TN* WM* WN))
    warp_tiles(const float* __restrict__ At, int lda,  // K x M, rows of lda words
               const float* __restrict__ B, int ldb,   // K x N, rows of ldb words
               float* __restrict__ C, int M, int N, int K) {
  using T = Tile<BM, BN, BK, TM, TN, WM, WN, STAGES>;
  extern __shared__ __align__(16) float shared[];
  const Place place = place_of<GROUP>(blockIdx.x, (M + BM - 1) / BM, (N + BN - 1) / BN);
  float sum[TM][TN];
  T::product(At, lda, B, ldb, K, place.row * BM, place.col * BN, 0, (K + BK - 1) / BK, shared, sum);
  T::store(sum, C, M, N, place.row * BM, place.col * BN);
}
// [warp_tiles]

// [past_cublas]
/// Share `share` of `shares` begins at this k-tile, when `all` k-tiles of some tiles of C are dealt
/// evenly, tile after tile.
__device__ __forceinline__ long long share_begin(long long all, int shares, int share) {
  return all * share / shares;
}
/// The share that k-tile `k_tile` is in.
__device__ __forceinline__ int share_of(long long all, int shares, long long k_tile) {
  return int(((k_tile + 1) * shares + all - 1) / all) - 1;
}

/// warp_tiles with no SM idle at the end. There is a block for each of the first `whole` tiles, and
/// then there are `shares` blocks, at most as many as the other tiles have k-tiles, that share
/// these evenly. Of a tile that several of them work on, each leaves its part in `parts`, and the
/// one that comes last adds them up, always in the same order. No block waits for another one.
/// parts: 2 * shares tiles of BM * BN words. arrived: a zero for each tile that is shared. Grid:
/// whole + shares blocks in x. Everything else as for warp_tiles.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
__global__ void __launch_bounds__(32 * WM * WN, blocks_for(TM* TN* WM* WN))
    past_cublas(const float* __restrict__ At, int lda,  // K x M, rows of lda words
                const float* __restrict__ B, int ldb,   // K x N, rows of ldb words
                float* __restrict__ C, int M, int N, int K, int whole, int shares,
                float* __restrict__ parts, unsigned* __restrict__ arrived) {
  using T = Tile<BM, BN, BK, TM, TN, WM, WN, STAGES>;
  extern __shared__ __align__(16) float shared[];
  const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN, tiles_k = (K + BK - 1) / BK;
  const int share = int(blockIdx.x) - whole;
  const long long all = (long long)(tiles_m * tiles_n - whole) * tiles_k;
  // this block's k-tiles: the first one, and how many
  int tile = blockIdx.x, first = 0, left = tiles_k;
  if (share >= 0) {
    const long long begin = share_begin(all, shares, share);
    tile = whole + int(begin / tiles_k);
    first = int(begin % tiles_k);
    left = int(share_begin(all, shares, share + 1) - begin);
  }
  float sum[TM][TN];
  while (left > 0) {
    const int count = min(left, tiles_k - first);
    const Place place = place_of<GROUP>(tile, tiles_m, tiles_n);
    T::product(At, lda, B, ldb, K, place.row * BM, place.col * BN, first, count, shared, sum);
    bool complete = count == tiles_k;
    // [add_parts]
    // The shares `from` to `to` work on this tile. A share has parts of two tiles at most: the end
    // of one, and the beginning of another.
    if (!complete) {
      const long long k_tile = (long long)(tile - whole) * tiles_k;
      const int from = share_of(all, shares, k_tile),
                to = share_of(all, shares, k_tile + tiles_k - 1);
      float* mine = parts + size_t(2 * share + (share == from)) * BM * BN + threadIdx.x;
#pragma unroll
      for (int e = 0; e < TM * TN; ++e) mine[e * T::kThreads] = sum[e / TN][e % TN];
      __threadfence();  // all blocks can see my part
      __syncthreads();  // and everybody's
      unsigned* before_me = reinterpret_cast<unsigned*>(shared);
      if (threadIdx.x == 0) *before_me = atomicAdd(&arrived[tile - whole], 1u);
      __syncthreads();
      complete = *before_me == unsigned(to - from);
      __syncthreads();  // read by all: the memory is free again
      if (complete) {
        __threadfence();
#pragma unroll 1
        for (int p = from; p <= to; ++p) {
          const float* part = parts + size_t(2 * p + (p == from)) * BM * BN + threadIdx.x;
          // __ldcg: from L2, without a place in L1, since each word is read once
#pragma unroll
          for (int e = 0; e < TM * TN; ++e)
            sum[e / TN][e % TN] =
                (p == from ? 0.0f : sum[e / TN][e % TN]) + __ldcg(&part[e * T::kThreads]);
        }
      }
    }
    // [add_parts]
    if (complete) T::store(sum, C, M, N, place.row * BM, place.col * BN);
    left -= count;
    first = 0;
    ++tile;
  }
}
// [past_cublas]

// [sliced_tiles]
/// For small C: SLICES groups of WM x WN warps compute the same BM x BN elements, each for its part
/// of every k-tile, and are added up through shared memory at the end. So a block has SLICES times
/// as many warps, and few blocks keep an SM busy. A is not transposed first, since that would be a
/// launch more: each word of A is a copy of its own. K is at least BK. WORDS: 4 if N is a multiple
/// of 4 and B lies at a multiple of 16 bytes, else 1: the words of B that one copy moves. Block:
/// 32 * WM * WN * SLICES threads in x. Grid: a block per tile, in x. Dynamic shared memory:
/// sliced_bytes().
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int SLICES, int STAGES, int WORDS>
__global__ void __launch_bounds__(32 * WM * WN * SLICES, 1)
    sliced_tiles(const float* __restrict__ A,  // M x K
                 const float* __restrict__ B,  // K x N
                 float* __restrict__ C,        // M x N
                 int M, int N, int K) {
#if __CUDA_ARCH__ == 750
  // no launch with so much shared memory gets as far as here
  if constexpr (sliced_bytes(BM, BN, BK, SLICES, STAGES) > 64 * 1024) return;
#endif
  // A slice has kSlice threads, and kDepth of the BK rows of each k-tile.
  constexpr int kSlice = 32 * WM * WN, kThreads = kSlice * SLICES, kDepth = BK / SLICES;
  constexpr int kLanesM = BM / (WM * TM), kLanesN = BN / (WN * TN), kPad = 4;
  constexpr int kLanesOfA = 8, kRowsOfA = kThreads / kLanesOfA, kLanesOfB = BN / WORDS,
                kRowsOfB = kThreads / kLanesOfB;
  constexpr int kAcrossA = BK / kLanesOfA, kCopiesOfA = BM / kRowsOfA * kAcrossA,
                kCopies = kCopiesOfA + BK / kRowsOfB;
  static_assert(kLanesM * kLanesN == 32 && TM % 4 == 0 && TN % 4 == 0 && kDepth % 2 == 0 &&
                STAGES >= 2);
  static_assert(BM % kRowsOfA == 0 && BK % kLanesOfA == 0 && kRowsOfB >= 1 && BK % kRowsOfB == 0);
  extern __shared__ __align__(16) float shared[];
  const auto As = reinterpret_cast<float(*)[BK][BM + kPad]>(shared);
  const auto Bs = reinterpret_cast<float(*)[BK][BN]>(shared + STAGES * BK * (BM + kPad));

  const int thread = threadIdx.x, lane = thread % 32, warp = thread % kSlice / 32,
            slice = thread / kSlice;
  const int row_in = warp / WN * (BM / WM) + lane / 2 % kLanesM * 4;
  const int col_in = warp % WN * (BN / WN) + (lane % 2 + lane / (2 * kLanesM) * 2) * 4;
  const int tiles_n = (N + BN - 1) / BN, row0 = int(blockIdx.x) / tiles_n * BM,
            col0 = int(blockIdx.x) % tiles_n * BN;

  // [sliced_copies]
  const int a_k = thread % kLanesOfA, a_row = thread / kLanesOfA,
            b_col = thread % kLanesOfB * WORDS, b_k = thread / kLanesOfB;
  int a_from[BM / kRowsOfA] = {};  // in a_tile
#pragma unroll
  for (int r = 0; r < BM / kRowsOfA; ++r)
    a_from[r] = min(row0 + a_row + r * kRowsOfA, M - 1) * K + a_k;
  const float* a_tile = A;  // the next k-tile to copy
  const float* b_tile = B + (long long)N * b_k;
  const int b_from = min(col0 + b_col, N - WORDS);  // in a row of b_tile
  // Copy c of this thread's kCopies. The first k-tile may be shorter than BK: zeros past its end.
  // The others are whole.
  const int tiles = (K + BK - 1) / BK, head = K - (tiles - 1) * BK;
  const auto copy_head = [&](int c) {
    if (c < kCopiesOfA) {
      const int r = c / kAcrossA, k = c % kAcrossA * kLanesOfA;
      __pipeline_memcpy_async(&As[0][a_k + k][a_row + r * kRowsOfA], a_tile + a_from[r] + k, 4,
                              a_k + k < head ? 0 : 4);
    } else {
      const int k = (c - kCopiesOfA) * kRowsOfB;
      __pipeline_memcpy_async(&Bs[0][b_k + k][b_col], b_tile + b_from + (long long)N * k, 4 * WORDS,
                              b_k + k < head ? 0 : 4 * WORDS);
    }
  };
  const auto copy = [&](int stage, int c) {
    if (c < kCopiesOfA) {
      const int r = c / kAcrossA, k = c % kAcrossA * kLanesOfA;
      __pipeline_memcpy_async(&As[stage][a_k + k][a_row + r * kRowsOfA], a_tile + a_from[r] + k, 4);
    } else {
      const int k = (c - kCopiesOfA) * kRowsOfB;
      __pipeline_memcpy_async(&Bs[stage][b_k + k][b_col], b_tile + b_from + (long long)N * k,
                              4 * WORDS);
    }
  };
  // [sliced_copies]
  float a[2][TM], b[2][TN], sum[TM][TN] = {};
  const auto load = [&](int stage, int k, int which) {
#pragma unroll
    for (int i = 0; i < TM; i += 4)
      *reinterpret_cast<float4*>(&a[which][i]) =
          *reinterpret_cast<const float4*>(&As[stage][slice * kDepth + k][row_in + i * kLanesM]);
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      *reinterpret_cast<float4*>(&b[which][j]) =
          *reinterpret_cast<const float4*>(&Bs[stage][slice * kDepth + k][col_in + j * kLanesN]);
  };

  int left = tiles;
#pragma unroll
  for (int c = 0; c < kCopies; ++c) copy_head(c);
  __pipeline_commit();
  if (--left > 0) a_tile += head, b_tile += (long long)N * head;
#pragma unroll
  for (int stage = 1; stage < STAGES - 1; ++stage) {
#pragma unroll
    for (int c = 0; c < kCopies; ++c) copy(stage, c);
    __pipeline_commit();
    if (--left > 0) a_tile += BK, b_tile += (long long)N * BK;
  }
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  load(0, 0, 0);
  int now = 0, next = 1, write = STAGES - 1;
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      if (k < kDepth - 1) {
        load(now, k + 1, (k + 1) % 2);
        if (k == kDepth - 2) {
#pragma unroll
          for (int c = 0; c < kCopies; ++c) copy(write, c);
        }
      } else {
        __pipeline_commit();
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        load(next, 0, 0);
      }
      multiply_add(sum, a[k % 2], b[k % 2]);
    }
    if (--left > 0) a_tile += BK, b_tile += (long long)N * BK;
    now = next;
    next = next + 1 == STAGES ? 0 : next + 1;
    write = write + 1 == STAGES ? 0 : write + 1;
  }
  __pipeline_wait_prior(0);

  // [add_slices]
  float* part = shared + thread % kSlice;  // where the k-tiles were
#pragma unroll 1
  for (int s = 1; s < SLICES; ++s) {
    __syncthreads();
    if (slice == s) {
#pragma unroll
      for (int e = 0; e < TM * TN; ++e) part[e * kSlice] = sum[e / TN][e % TN];
    }
    __syncthreads();
    if (slice == 0) {
#pragma unroll
      for (int e = 0; e < TM * TN; ++e) sum[e / TN][e % TN] += part[e * kSlice];
    }
  }
  if (slice != 0) return;
    // [add_slices]
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + row_in + i / 4 * 4 * kLanesM + i % 4;
    if (row >= M) continue;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int col = col0 + col_in + j / 4 * 4 * kLanesN + j % 4;
      if (col < N) C[size_t(row) * N + col] = sum[i][j];
    }
  }
}
// [sliced_tiles]

/// True when the kernels can count what these sizes need: M and N up to 8,388,480, K up to
/// 4,194,240, and no matrix of 2^31 - 2^16 elements or more.
constexpr bool past_cublas_fits(int M, int N, int K) {
  constexpr int most = 65535 * 128, most_k = 65535 * 64;  // a grid has 65,535 blocks in y
  constexpr long long elements = (1LL << 31) - (1 << 16);
  return M >= 0 && N >= 0 && K >= 0 && M <= most && N <= most && K <= most_k &&
         1LL * M * K < elements && 1LL * K * N < elements && 1LL * M * N < elements;
}

/// What the kernels that take a transposed A get: both matrices in rows that begin at multiples of
/// 16 bytes.
struct Operands {
  const float* At;
  int lda;
  const float* B;
  int ldb;
};

inline bool rows_at_16_bytes(const float* matrix, int cols) {
  return cols % 4 == 0 && reinterpret_cast<size_t>(matrix) % 16 == 0;
}

/// Words of workspace for prepare(): A transposed, and B where its rows do not begin at multiples
/// of 16 bytes.
inline size_t prepared_words(const float* B, int M, int N, int K) {
  return (size_t(M + 3) / 4 * 4 + (rows_at_16_bytes(B, N) ? 0 : size_t(N + 3) / 4 * 4)) * K;
}

/// Starts what lays A and B out in `workspace`, which lies at a multiple of 16 bytes. M, N and K
/// are at least 1.
inline cudaError_t prepare(const float* A, const float* B, int M, int N, int K, float* workspace,
                           cudaStream_t stream, Operands& ready) {
  const int lda = (M + 3) / 4 * 4, ldb = (N + 3) / 4 * 4;
  const dim3 blocks((M + 63) / 64, (K + 63) / 64);
  if (rows_at_16_bytes(A, K))
    transpose_padded<4><<<blocks, 256, 0, stream>>>(A, workspace, M, K, lda);
  else
    transpose_padded<1><<<blocks, 256, 0, stream>>>(A, workspace, M, K, lda);
  ready = {workspace, lda, B, ldb};
  if (!rows_at_16_bytes(B, N)) {
    float* padded = workspace + size_t(lda) * K;
    pad_rows<<<min(K, 1024), 256, 0, stream>>>(B, padded, K, N, ldb);
    ready.B = padded;
  }
  return cudaGetLastError();
}

/// Starts wide_copies<...>(), after what it needs: `workspace` has prepared_words(). K == 0 fills C
/// with zeros; M == 0 or N == 0 does nothing. Returns cudaErrorInvalidValue for a size that cannot
/// be, else what the launches report.
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
cudaError_t launch_wide_copies(const float* A, const float* B, float* C, int M, int N, int K,
                               float* workspace, cudaStream_t stream = nullptr) {
  if (!past_cublas_fits(M, N, K)) return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  if (K == 0) return cudaMemsetAsync(C, 0, sizeof(float) * M * N, stream);
  Operands at;
  if (const cudaError_t status = prepare(A, B, M, N, K, workspace, stream, at)) return status;
  const auto kernel = wide_copies<BM, BN, BK, TM, TN, STAGES>;
  constexpr int bytes = tile_bytes(BM, BN, BK, STAGES);
  if (const cudaError_t status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))
    return status;
  const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
  kernel<<<blocks, BM / TM*(BN / TN), bytes, stream>>>(at.At, at.lda, at.B, at.ldb, C, M, N, K);
  return cudaGetLastError();
}

/// The same of warp_tiles<...>(); K <= BK, which it does not know, is left to wide_copies.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
cudaError_t launch_warp_tiles(const float* A, const float* B, float* C, int M, int N, int K,
                              float* workspace, cudaStream_t stream = nullptr) {
  if (K <= BK || M <= 0 || N <= 0 || !past_cublas_fits(M, N, K))
    return launch_wide_copies<128, 128, 16, 8, 8, 3>(A, B, C, M, N, K, workspace, stream);
  Operands at;
  if (const cudaError_t status = prepare(A, B, M, N, K, workspace, stream, at)) return status;
  const auto kernel = warp_tiles<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>;
  constexpr int bytes = tile_bytes(BM, BN, BK, STAGES);
  if (const cudaError_t status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))
    return status;
  const int blocks = (M + BM - 1) / BM * ((N + BN - 1) / BN);
  kernel<<<blocks, 32 * WM * WN, bytes, stream>>>(at.At, at.lda, at.B, at.ldb, C, M, N, K);
  return cudaGetLastError();
}

/// slots = how many blocks of such a launch run at a time on the current device.
template <class Kernel>
cudaError_t blocks_at_a_time(Kernel kernel, int threads, int bytes, int& slots) {
  int device = 0, sms = 0, per_sm = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, bytes);
  slots = sms * per_sm;
  return status != cudaSuccess ? status : slots > 0 ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/// How the tiles of C are dealt to blocks.
struct Deal {
  int whole = 0, shares = 0, shared_tiles = 0;  ///< see past_cublas
};

/// `slots` blocks run at a time. Whole tiles fill all rounds but the last two; what is left is
/// shared by as many blocks as run at a time. Where the last round is at least 95 % full, there is
/// nothing to gain.
inline Deal deal(int M, int N, int K, int BM, int BN, int BK, int slots) {
  const int tiles = (M + BM - 1) / BM * ((N + BN - 1) / BN), last_round = tiles % slots;
  if (last_round == 0 || last_round * 100LL >= slots * 95LL) return {tiles, 0, 0};
  const int whole = tiles < slots ? 0 : (tiles / slots - 1) * slots;
  const long long k_tiles = 1LL * (tiles - whole) * ((K + BK - 1) / BK);
  return {whole, k_tiles < slots ? int(k_tiles) : slots, tiles - whole};
}

/// The deal of past_cublas<...>() on the current device.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
cudaError_t deal_past_cublas(int M, int N, int K, Deal& d) {
  const auto kernel = past_cublas<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>;
  constexpr int bytes = tile_bytes(BM, BN, BK, STAGES);
  cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  int slots = 0;
  if (status == cudaSuccess) status = blocks_at_a_time(kernel, 32 * WM * WN, bytes, slots);
  if (status == cudaSuccess) d = deal(M, N, K, BM, BN, BK, slots);
  return status;
}

/// Words of workspace for launch_past_cublas<...>(): prepared_words(), the parts of shared tiles,
/// and a counter for each.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
cudaError_t past_cublas_words(const float* B, int M, int N, int K, size_t& words) {
  Deal d;
  const cudaError_t status =
      deal_past_cublas<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>(M, N, K, d);
  words = prepared_words(B, M, N, K) + size_t(2) * d.shares * BM * BN + d.shared_tiles;
  return status;
}

/// The same of past_cublas<...>(); `workspace` has past_cublas_words<...>().
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
cudaError_t launch_past_cublas(const float* A, const float* B, float* C, int M, int N, int K,
                               float* workspace, cudaStream_t stream = nullptr) {
  if (K <= BK || M <= 0 || N <= 0 || !past_cublas_fits(M, N, K))
    return launch_wide_copies<128, 128, 16, 8, 8, 3>(A, B, C, M, N, K, workspace, stream);
  Operands at;
  Deal d;
  cudaError_t status = prepare(A, B, M, N, K, workspace, stream, at);
  if (status == cudaSuccess)
    status = deal_past_cublas<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>(M, N, K, d);
  float* parts = workspace + prepared_words(B, M, N, K);
  unsigned* arrived = reinterpret_cast<unsigned*>(parts + size_t(2) * d.shares * BM * BN);
  if (status == cudaSuccess && d.shares > 0)
    status = cudaMemsetAsync(arrived, 0, sizeof(unsigned) * d.shared_tiles, stream);
  if (status != cudaSuccess) return status;
  past_cublas<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>
      <<<d.whole + d.shares, 32 * WM * WN, tile_bytes(BM, BN, BK, STAGES), stream>>>(
          at.At, at.lda, at.B, at.ldb, C, M, N, K, d.whole, d.shares, parts, arrived);
  return cudaGetLastError();
}

/// Starts sliced_tiles<...>(), which needs no workspace; K < BK, which it does not know, is left to
/// wide_copies, which has one.
template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int SLICES, int STAGES>
cudaError_t launch_sliced_tiles(const float* A, const float* B, float* C, int M, int N, int K,
                                float* workspace, cudaStream_t stream = nullptr) {
  if (K < BK || M <= 0 || N <= 0 || !past_cublas_fits(M, N, K))
    return launch_wide_copies<128, 128, 16, 8, 8, 3>(A, B, C, M, N, K, workspace, stream);
  const auto kernel = rows_at_16_bytes(B, N)
                          ? sliced_tiles<BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES, 4>
                          : sliced_tiles<BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES, 1>;
  constexpr int bytes = sliced_bytes(BM, BN, BK, SLICES, STAGES);
  if (const cudaError_t status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))
    return status;
  const int blocks = (M + BM - 1) / BM * ((N + BN - 1) / BN);
  kernel<<<blocks, 32 * WM * WN * SLICES, bytes, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

/// The kernels that launch_fastest() chooses among.
enum class Fastest { small_slices, slices, small_tiles, deep_tiles, shallow_tiles, wide_tiles };

/// What `make tune-12` found on an H200, by the number of blocks of 64 x 128 for each SM: slices
/// while there is one for each at most, in smaller tiles where that leaves many SMs idle; then
/// shares. k-tiles 16 deep are faster by less than 1 % where tiles of 128 x 128 fit C, and slower
/// by up to 8 % where they don't. Threads with 16 columns in place of 16 rows only gain where C is
/// very large.
inline cudaError_t choose_fastest(int M, int N, Fastest& choice) {
  int device = 0, sms = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const long long blocks = ((M + 63LL) / 64) * ((N + 127LL) / 128);
  choice = blocks * 10 <= sms * 6         ? Fastest::small_slices
           : blocks <= sms                ? Fastest::slices
           : blocks * 10 <= sms * 16      ? Fastest::small_tiles
           : blocks >= 100LL * sms        ? Fastest::wide_tiles
           : M % 128 == 0 && N % 128 == 0 ? Fastest::deep_tiles
                                          : Fastest::shallow_tiles;
  return status;
}

/// Words of workspace for launch_fastest().
inline cudaError_t fastest_words(const float* B, int M, int N, int K, size_t& words) {
  Fastest choice = Fastest::slices;
  if (const cudaError_t status = choose_fastest(M, N, choice)) return status;
  words = prepared_words(B, M, N, K);
  if (choice == Fastest::small_tiles)
    return past_cublas_words<128, 64, 16, 8, 8, 2, 2, 3, 8>(B, M, N, K, words);
  if (choice == Fastest::deep_tiles)
    return past_cublas_words<128, 128, 16, 16, 8, 2, 2, 3, 8>(B, M, N, K, words);
  if (choice == Fastest::wide_tiles)
    return past_cublas_words<128, 128, 8, 8, 16, 2, 2, 5, 8>(B, M, N, K, words);
  if (choice == Fastest::shallow_tiles)
    return past_cublas_words<128, 128, 8, 16, 8, 2, 2, 5, 8>(B, M, N, K, words);
  return cudaSuccess;
}

/// C = A * B by the kernel that is fastest for its size; `workspace` has fastest_words().
inline cudaError_t launch_fastest(const float* A, const float* B, float* C, int M, int N, int K,
                                  float* workspace, cudaStream_t stream = nullptr) {
  Fastest choice = Fastest::slices;
  if (const cudaError_t status = choose_fastest(M, N, choice)) return status;
  const auto launch =
      choice == Fastest::small_slices  ? launch_sliced_tiles<32, 64, 32, 4, 8, 1, 2, 4, 3>
      : choice == Fastest::slices      ? launch_sliced_tiles<64, 128, 64, 8, 8, 2, 2, 4, 3>
      : choice == Fastest::small_tiles ? launch_past_cublas<128, 64, 16, 8, 8, 2, 2, 3, 8>
      : choice == Fastest::wide_tiles  ? launch_past_cublas<128, 128, 8, 8, 16, 2, 2, 5, 8>
      : choice == Fastest::deep_tiles  ? launch_past_cublas<128, 128, 16, 16, 8, 2, 2, 3, 8>
                                       : launch_past_cublas<128, 128, 8, 16, 8, 2, 2, 5, 8>;
  return launch(A, B, C, M, N, K, workspace, stream);
}
