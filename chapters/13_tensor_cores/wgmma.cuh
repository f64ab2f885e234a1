// C = A * B on Hopper's tensor cores, from a first wgmma to past cuBLASLt: tiles come by the copy
// engine (TMA), a warpgroup of four warps multiplies them where they lie in shared memory, and only
// the sums are in registers.
//
//   A: M x K    B: K x N    C: M x N     bfloat16, row-major; sums in float
//
// Any M; N and K are multiples of 8, since rows must begin at multiples of 16 bytes. Compute
// capability 9.0.
#pragma once

#include "hopper.cuh"
#include "tensor_map.hpp"

using bf16 = __nv_bfloat16;

// a tile of C, and how deep its tiles of A and B are
constexpr int kRows = 128, kCols = 256, kDepth = 64;
constexpr int kTileA = kRows * kDepth * sizeof(bf16), kTileB = kDepth * kCols * sizeof(bf16),
              kTiles = kTileA + kTileB;
constexpr int kBoxB = kDepth * 64 * sizeof(bf16);  // a box of B is 64 columns wide: 128 bytes
constexpr int kBoxC = 64 * 64 * sizeof(bf16);      // one of C is 64 x 64

/// Starts the copies of a tile of A (from row `row`) and of one of B (from column `col`), both from
/// k on.
__device__ __forceinline__ void load_tiles(unsigned char* tiles, const CUtensorMap& A,
                                           const CUtensorMap& B, int row, int col, int k,
                                           uint64_t* barrier) {
  barrier_expect(barrier, kTiles);
  tma_load(tiles, A, k, row, barrier);
#pragma unroll
  for (int j = 0; j < kCols / 64; ++j)
    tma_load(tiles + kTileA + j * kBoxB, B, col + j * 64, k, barrier);
}

/// Starts sum = the product of this warpgroup's 64 rows of A's tile and B's tile, + sum unless
/// `first`.
__device__ __forceinline__ void multiply_tiles(float (&sum)[128], const unsigned char* tiles,
                                               int warpgroup, bool first) {
  const uint32_t a = shared_address(tiles) + warpgroup * (kTileA / 2),
                 b = shared_address(tiles) + kTileA;
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < kDepth; k += 16)
    wgmma_bf16(sum, k_major(a + k * sizeof(bf16)), n_major(b + k * 128, kBoxB), first && k == 0);
  wgmma_commit();
}

/// Stores a warpgroup's 64 x 256 sums, whose first row and column are given. N is even.
__device__ __forceinline__ void store_sums(const float (&sum)[128], bf16* C, int row0, int col0,
                                           int M, int N) {
  const int thread = threadIdx.x % 128, row = row0 + thread / 32 * 16 + thread % 32 / 4,
            col = col0 + thread % 4 * 2;
#pragma unroll
  for (int i = 0; i < 128; i += 2) {
    const int r = row + i / 2 % 2 * 8, c = col + i / 4 * 8;
    if (r < M && c < N)
      *reinterpret_cast<__nv_bfloat162*>(C + size_t(r) * N + c) =
          __floats2bfloat162_rn(sum[i], sum[i + 1]);
  }
}

// [wgmma_tiles]
/// One pair of tiles at a time: copy, wait, multiply, wait. Block: 2 warpgroups. Grid: x covers N
/// in steps of 256, y covers M in steps of 128. Dynamic shared memory: kTiles.
__global__ void __launch_bounds__(256)
    wgmma_tiles(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                bf16* C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full;
  const int row0 = blockIdx.y * kRows, col0 = blockIdx.x * kCols, warpgroup = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    barrier_init(&full, 1);
    barriers_ready();
  }
  __syncthreads();

  float sum[128] = {};
  int parity = 0;
  // [tiles_loop]
  for (int k = 0; k < K; k += kDepth) {
    if (threadIdx.x == 0) load_tiles(tiles, A, B, row0, col0, k, &full);
    barrier_wait(&full, parity);
    parity ^= 1;
    multiply_tiles(sum, tiles, warpgroup, false);
    wgmma_wait<0>();
    __syncthreads();  // both warpgroups are through with the tiles
  }
  // [tiles_loop]
  store_sums(sum, C, row0 + warpgroup * 64, col0, M, N);
}
// [wgmma_tiles]

/// For each stage a barrier that says its tiles have arrived, and one that says all `users`
/// warpgroups are through with them. All threads call this.
template <int STAGES>
__device__ __forceinline__ void prepare_barriers(uint64_t (&full)[STAGES],
                                                 uint64_t (&empty)[STAGES], int users = 2) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], users);
    }
    barriers_ready();
  }
  __syncthreads();
}

// [wgmma_stages]
/// A third warpgroup does nothing but start copies, STAGES pairs of tiles ahead. It gives its
/// registers to the two that multiply. Block: 3 warpgroups, the first copies. Grid and sizes as
/// above, with STAGES * kTiles of dynamic shared memory.
template <int STAGES>
__global__ void __launch_bounds__(384, 1)
    wgmma_stages(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                 bf16* C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const int row0 = blockIdx.y * kRows, col0 = blockIdx.x * kCols, steps = (K + kDepth - 1) / kDepth;
  prepare_barriers<STAGES>(full, empty);

  int stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    registers_down_to<56>();
    for (int t = 0; threadIdx.x == 0 && t < steps; ++t) {
      barrier_wait(&empty[stage], parity ^ 1);
      load_tiles(tiles + stage * kTiles, A, B, row0, col0, t * kDepth, &full[stage]);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
  } else {
    registers_up_to<224>();
    const int warpgroup = threadIdx.x / 128 - 1;
    float sum[128] = {};
    for (int t = 0, before = 0; t < steps; ++t) {
      barrier_wait(&full[stage], parity);
      multiply_tiles(sum, tiles + stage * kTiles, warpgroup, false);
      wgmma_wait<1>();  // the product before this one is done: its tiles may be overwritten
      if (t > 0 && threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
      before = stage;
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    wgmma_wait<0>();
    store_sums(sum, C, row0 + warpgroup * 64, col0, M, N);
  }
}
// [wgmma_stages]

// [place]
/// Where tile t of tiles_m x tiles_n is: column by column within groups of GROUP rows, so that
/// tiles in flight share what L2 holds.
template <int GROUP>
__device__ __forceinline__ int2 place(int t, int tiles_m, int tiles_n) {
  const int first = t / (GROUP * tiles_n) * GROUP, rows = min(GROUP, tiles_m - first),
            in = t % (GROUP * tiles_n);
  return {first + in % rows, in / rows};
}
// [place]

/// Which part of the work a block does, one after another: whole tiles, then its share of the
/// k-tiles of the last ones. (Where blocks work in clusters, "block" and "tile" here are a cluster
/// and the tiles that it computes at the same time.)
struct Work {
  int number, blocks;  ///< this block, of so many
  /// tiles that one block computes, tiles that are shared, k-tiles of each
  int whole, shared, steps;
  int next, from, to;      ///< the next whole tile; the k-tiles left of this block's share
  int tile, first, count;  ///< now: k-tiles [first, first + count) of that tile

  __device__ __forceinline__ Work(int tiles, int whole, int steps, int number = blockIdx.x,
                                  int blocks = gridDim.x)
      : number(number),
        blocks(blocks),
        whole(whole),
        shared(tiles - whole),
        steps(steps),
        next(number),
        tile(0),
        first(0),
        count(0) {
    from = min(share() * number, shared * steps);
    to = min(from + share(), shared * steps);
  }
  /// K-tiles of every block's share; the last blocks may have fewer.
  __device__ __forceinline__ int share() const { return (shared * steps + blocks - 1) / blocks; }
  __device__ __forceinline__ bool advance() {
    if (next < whole) {
      tile = next, first = 0, count = steps;
      next += blocks;
      return true;
    }
    if (from >= to) return false;
    tile = whole + from / steps, first = from % steps, count = min(steps - first, to - from);
    from += count;
    return true;
  }
  /// The blocks that share this tile, and where the one of that number has put its part.
  __device__ __forceinline__ int first_block() const { return (tile - whole) * steps / share(); }
  __device__ __forceinline__ int last_block() const {
    return ((tile - whole + 1) * steps - 1) / share();
  }
  __device__ __forceinline__ int slot(int block) const {
    return 2 * block + (block * share() <= (tile - whole) * steps);
  }
};

// [add_parts]
/// For a part of a tile: puts this warpgroup's sums into the workspace, and if all others have been
/// there, `sum` becomes the sum of all parts, in their order. Returns whether that is so. `rank` of
/// `ranks` is which tile of the cluster's it is.
__device__ __forceinline__ bool add_parts(float (&sum)[128], const Work& work, float4* parts,
                                          unsigned* arrived, int warpgroup, int* is_last,
                                          int rank = 0, int ranks = 1) {
  constexpr int kWords = 64 * kCols / 4;  // float4 of a warpgroup's part
  const int thread = threadIdx.x % 128, first = work.first_block(), last = work.last_block();
  const auto place = [=](int block) {
    return parts + size_t(2 * (ranks * work.slot(block) + rank) + warpgroup) * kWords + thread;
  };
  float4* mine = place(work.number);
#pragma unroll
  for (int i = 0; i < 32; ++i)
    mine[i * 128] = make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
  __threadfence();
  warpgroup_wait(warpgroup + 1);
  unsigned* counter = arrived + 2 * (ranks * (work.tile - work.whole) + rank) + warpgroup;
  if (thread == 0) *is_last = atomicAdd(counter, 1) == unsigned(last - first);
  warpgroup_wait(warpgroup + 1);
  if (!*is_last) return false;
  __threadfence();
#pragma unroll
  for (int i = 0; i < 128; ++i) sum[i] = 0;
  for (int block = first; block <= last; ++block) {
    const float4* part = place(block);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float4 words = __ldcg(part + i * 128);
      sum[4 * i] += words.x, sum[4 * i + 1] += words.y, sum[4 * i + 2] += words.z,
          sum[4 * i + 3] += words.w;
    }
  }
  return true;
}
// [add_parts]

// [store_tile]
/// Stores a warpgroup's 64 x 256 sums by way of shared memory, half after half: stmatrix writes
/// them in TMA's order, and one thread starts the copy, which goes on while the next tile is
/// multiplied. Sums outside of C aren't written.
__device__ __forceinline__ void store_tile(const float (&sum)[128], unsigned char* staged,
                                           const CUtensorMap& C, int row0, int col0,
                                           int warpgroup) {
  const int thread = threadIdx.x % 128, row = thread / 32 * 16 + thread % 16,
            half_box = thread % 32 / 16;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (thread == 0) tma_store_wait_read();  // the copy before this one is through with `staged`
    warpgroup_wait(warpgroup + 1);
#pragma unroll
    for (int q = 0; q < 8; ++q) {  // 16 columns
      const float* s = sum + half * 64 + q * 8;
      const int piece = q % 4 * 2 + half_box;  // of 8 columns, in a row of 64
      store_matrices(staged + q / 4 * kBoxC + row * 128 + (piece ^ row % 8) * 16,
                     __floats2bfloat162_rn(s[0], s[1]), __floats2bfloat162_rn(s[2], s[3]),
                     __floats2bfloat162_rn(s[4], s[5]), __floats2bfloat162_rn(s[6], s[7]));
    }
    tma_store_fence();
    warpgroup_wait(warpgroup + 1);
    if (thread == 0) {
      for (int box = 0; box < 2; ++box)
        tma_store(C, staged + box * kBoxC, col0 + half * 128 + box * 64, row0);
      tma_store_commit();
    }
  }
}
// [store_tile]

// [wgmma_persistent]
/// As many blocks as SMs, each of which goes from tile to tile: while its sums are stored, the
/// copies for the next tile are on their way. The tiles that would leave SMs idle at the end are
/// shared, k-tile by k-tile: tiles from `whole` on. Block: 3 warpgroups. Grid: the number of SMs.
/// Dynamic shared memory: STAGES * kTiles + 4 * kBoxC. `parts`: 2 * kRows * kCols floats for each
/// block. `arrived`: 2 zeros for each shared tile.
template <int STAGES, int GROUP>
__global__ void __launch_bounds__(384, 1)
    wgmma_persistent(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                     const __grid_constant__ CUtensorMap C, int M, int N, int K, int whole,
                     float4* parts, unsigned* arrived) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  __shared__ int is_last[2];
  const int tiles_m = (M + kRows - 1) / kRows, tiles_n = (N + kCols - 1) / kCols;
  Work work(tiles_m * tiles_n, whole, (K + kDepth - 1) / kDepth);
  prepare_barriers<STAGES>(full, empty);

  int stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    registers_down_to<56>();
    while (threadIdx.x == 0 && work.advance()) {
      const int2 at = place<GROUP>(work.tile, tiles_m, tiles_n);
      for (int t = work.first; t < work.first + work.count; ++t) {
        barrier_wait(&empty[stage], parity ^ 1);
        load_tiles(tiles + stage * kTiles, A, B, at.x * kRows, at.y * kCols, t * kDepth,
                   &full[stage]);
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
  } else {
    registers_up_to<224>();
    const int warpgroup = threadIdx.x / 128 - 1;
    unsigned char* staged = tiles + STAGES * kTiles + warpgroup * 2 * kBoxC;
    float sum[128];
    while (work.advance()) {
      int before = 0;
      for (int t = 0; t < work.count; ++t) {
        barrier_wait(&full[stage], parity);
        multiply_tiles(sum, tiles + stage * kTiles, warpgroup, t == 0);
        if (t > 0) {
          wgmma_wait<1>();
          if (threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
        }
        before = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      wgmma_wait<0>();
      if (threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
      if (work.count < work.steps &&
          !add_parts(sum, work, parts, arrived, warpgroup, &is_last[warpgroup]))
        continue;
      const int2 at = place<GROUP>(work.tile, tiles_m, tiles_n);
      store_tile(sum, staged, C, at.x * kRows + warpgroup * 64, at.y * kCols, warpgroup);
    }
    if (threadIdx.x % 128 == 0) tma_store_wait();
  }
}
// [wgmma_persistent]

/// What clusters of two compute: pairs of tiles one below the other, which share B's tile, and in
/// an odd last row of tiles two neighbours.
__host__ __device__ constexpr int pairs_of_tiles(int tiles_m, int tiles_n) {
  return tiles_m / 2 * tiles_n + tiles_m % 2 * ((tiles_n + 1) / 2);
}

// [wgmma_clusters]
/// The same in clusters of two blocks, whose tiles of C lie one below the other and need the same
/// tile of B: each block fetches half of it, for both. (In an odd last row of tiles they are
/// neighbours, and each block fetches all of its own tile of B.) A stage may be filled again when
/// the four warpgroups of the cluster are through with it. Grid: twice the number of clusters.
template <int STAGES, int GROUP>
__global__ void __launch_bounds__(384, 1)
    wgmma_clusters(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                   const __grid_constant__ CUtensorMap C, int M, int N, int K, int whole,
                   float4* parts, unsigned* arrived) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  __shared__ int is_last[2];
  const int rank = rank_in_cluster();
  const int tiles_m = (M + kRows - 1) / kRows, tiles_n = (N + kCols - 1) / kCols,
            below = tiles_m / 2 * tiles_n;  // so many pairs one below the other, then neighbours
  Work work(pairs_of_tiles(tiles_m, tiles_n), whole, (K + kDepth - 1) / kDepth, blockIdx.x / 2,
            gridDim.x / 2);
  const auto my_place = [=](int pair) {
    if (pair >= below) return int2{tiles_m - 1, 2 * (pair - below) + rank};
    const int2 at = place<GROUP>(pair, tiles_m / 2, tiles_n);
    return int2{2 * at.x + rank, at.y};
  };
  prepare_barriers<STAGES>(full, empty, 4);
  cluster_wait();  // the other block's barriers are ready, too

  int stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    registers_down_to<56>();
    while (threadIdx.x == 0 && work.advance()) {
      const int2 at = my_place(work.tile);
      const int row = at.x * kRows, col = at.y * kCols;
      for (int t = work.first; t < work.first + work.count; ++t) {
        barrier_wait(&empty[stage], parity ^ 1);
        unsigned char* to = tiles + stage * kTiles;
        barrier_expect(&full[stage], kTiles);
        tma_load(to, A, t * kDepth, row, &full[stage]);
        if (work.tile < below) {
#pragma unroll
          for (int j = 2 * rank; j < 2 * rank + 2; ++j)
            tma_load(to + kTileA + j * kBoxB, B, col + j * 64, t * kDepth, &full[stage], 0b11);
        } else {
#pragma unroll
          for (int j = 0; j < kCols / 64; ++j)
            tma_load(to + kTileA + j * kBoxB, B, col + j * 64, t * kDepth, &full[stage]);
        }
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
  } else {
    registers_up_to<224>();
    const int warpgroup = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    unsigned char* staged = tiles + STAGES * kTiles + warpgroup * 2 * kBoxC;
    float sum[128];
    while (work.advance()) {
      int before = 0;
      for (int t = 0; t < work.count; ++t) {
        barrier_wait(&full[stage], parity);
        multiply_tiles(sum, tiles + stage * kTiles, warpgroup, t == 0);
        if (t > 0) {
          wgmma_wait<1>();
          if (thread < 2) barrier_arrive(&empty[before], thread);  // here and there
        }
        before = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      wgmma_wait<0>();
      if (thread < 2) barrier_arrive(&empty[before], thread);
      if (work.count < work.steps &&
          !add_parts(sum, work, parts, arrived, warpgroup, &is_last[warpgroup], rank, 2))
        continue;
      const int2 at = my_place(work.tile);
      store_tile(sum, staged, C, at.x * kRows + warpgroup * 64, at.y * kCols, warpgroup);
    }
    if (thread == 0) tma_store_wait();
  }
  __syncwarp();
  cluster_wait();  // the other block may still send tiles here, and arrive at barriers
}
// [wgmma_clusters]

// ---------------------------------------------------------------- launches
// All return cudaErrorInvalidValue for sizes and addresses that TMA can't take, and
// cudaErrorNotSupported without compute capability 9.0.

/// Is this device one with wgmma, and can TMA take these matrices of elements of that size?
inline cudaError_t can_use_wgmma(const void* A, const void* B, const void* C, int M, int N, int K,
                                 int element_bytes) {
  int device = 0, major = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (status != cudaSuccess) return status;
  if (major != 9) return cudaErrorNotSupported;
  const auto address = reinterpret_cast<uintptr_t>(A) | reinterpret_cast<uintptr_t>(B) |
                       reinterpret_cast<uintptr_t>(C);
  const long long tiles = ((M + 127LL) / 128) * ((N + 127LL) / 128) *
                          ((K + 31LL) / 32);  // no fewer than any kernel here has
  // a size and a tile more fit into an int
  constexpr int kMost = 1 << 30;
  const bool fits = M >= 0 && N >= 0 && K >= 0 && M <= kMost && N <= kMost && K <= kMost &&
                    address % 16 == 0 && N * 1LL * element_bytes % 16 == 0 &&
                    K * 1LL * element_bytes % 16 == 0 && tiles < (1LL << 31);
  return fits ? cudaSuccess : cudaErrorInvalidValue;
}

/// A sum of no products: C is zero.
inline cudaError_t fill_with_zeros(void* C, int M, int N, int element_bytes, cudaStream_t stream) {
  return M == 0 || N == 0 ? cudaSuccess
                          : cudaMemsetAsync(C, 0, size_t(M) * N * element_bytes, stream);
}

struct Maps {
  CUtensorMap A, B, C;
};
inline cudaError_t make_maps(Maps& maps, const bf16* A, const bf16* B, const bf16* C, int M, int N,
                             int K) {
  const auto type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  cudaError_t status = make_tensor_map(maps.A, type, sizeof(bf16), A, M, K, kRows, kDepth);
  if (status == cudaSuccess)
    status = make_tensor_map(maps.B, type, sizeof(bf16), B, K, N, kDepth, 64);
  if (status == cudaSuccess) status = make_tensor_map(maps.C, type, sizeof(bf16), C, M, N, 64, 64);
  return status;
}

/// A launch of one of the kernels that have a block for each tile.
template <class Kernel>
cudaError_t launch_for_each_tile(Kernel kernel, int threads, int bytes, const bf16* A,
                                 const bf16* B, bf16* C, int M, int N, int K, cudaStream_t stream) {
  if (const cudaError_t status = can_use_wgmma(A, B, C, M, N, K, sizeof(bf16))) return status;
  if (M == 0 || N == 0 || K == 0) return fill_with_zeros(C, M, N, sizeof(bf16), stream);
  if ((M + kRows - 1) / kRows > 65535) return cudaErrorInvalidValue;
  Maps maps;
  cudaError_t status = make_maps(maps, A, B, C, M, N, K);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<dim3((N + kCols - 1) / kCols, (M + kRows - 1) / kRows), threads, bytes, stream>>>(
      maps.A, maps.B, C, M, N, K);
  return cudaGetLastError();
}
inline cudaError_t launch_wgmma_tiles(const bf16* A, const bf16* B, bf16* C, int M, int N, int K,
                                      cudaStream_t stream = nullptr) {
  return launch_for_each_tile(wgmma_tiles, 256, kTiles, A, B, C, M, N, K, stream);
}
template <int STAGES>
cudaError_t launch_wgmma_stages(const bf16* A, const bf16* B, bf16* C, int M, int N, int K,
                                cudaStream_t stream = nullptr) {
  return launch_for_each_tile(wgmma_stages<STAGES>, 384, STAGES * kTiles, A, B, C, M, N, K, stream);
}

/// How many of so many tiles are computed as a whole, by `blocks` blocks: all, unless the last
/// round leaves more than a fifth of the blocks idle. Then its tiles are shared.
constexpr int whole_tiles(int tiles, int blocks) {
  const int last_round = tiles % blocks;
  return last_round * 5LL > blocks * 4LL ? tiles : tiles - last_round;
}

/// Bytes of workspace for the persistent kernels: parts of 128 x 256 sums, two for each block, and
/// counters.
inline cudaError_t persistent_workspace(std::size_t& bytes) {
  int device = 0, sms = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  bytes = size_t(sms) * (2 * kRows * kCols * sizeof(float) + 2 * sizeof(unsigned));
  return status;
}

/// What both persistent launches do first: so many blocks, the tiles that aren't shared, and
/// counters at zero for those that are.
struct Persistent {
  int blocks = 0, whole = 0;
  float4* parts = nullptr;
  unsigned* arrived = nullptr;
};
inline cudaError_t plan_persistent(Persistent& plan, int tiles, void* workspace,
                                   cudaStream_t stream, int in_cluster = 1) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&plan.blocks, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  plan.blocks -= plan.blocks % in_cluster;
  plan.whole = whole_tiles(tiles, plan.blocks / in_cluster);
  plan.parts = static_cast<float4*>(workspace);
  plan.arrived =
      reinterpret_cast<unsigned*>(plan.parts + size_t(plan.blocks) * 2 * kRows * kCols / 4);
  if (plan.whole == tiles) return cudaSuccess;
  return cudaMemsetAsync(plan.arrived, 0, 2 * sizeof(unsigned) * in_cluster * (tiles - plan.whole),
                         stream);
}

/// kernel<<<blocks, 384, bytes, stream>>>(args...), with blocks in clusters of so many.
template <class... Parameters, class... Args>
cudaError_t launch_in_clusters(int in_cluster, int blocks, int bytes, cudaStream_t stream,
                               void (*kernel)(Parameters...), Args... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(in_cluster), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = 384;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, Parameters(args)...);
}

/// A launch of one of the persistent kernels, whose blocks work in clusters of so many.
template <int STAGES, class Kernel>
cudaError_t launch_persistent(Kernel kernel, int in_cluster, const bf16* A, const bf16* B, bf16* C,
                              int M, int N, int K, void* workspace, cudaStream_t stream) {
  if (const cudaError_t status = can_use_wgmma(A, B, C, M, N, K, sizeof(bf16))) return status;
  if (M == 0 || N == 0 || K == 0) return fill_with_zeros(C, M, N, sizeof(bf16), stream);
  constexpr int bytes = STAGES * kTiles + 4 * kBoxC;
  const int tiles_m = (M + kRows - 1) / kRows, tiles_n = (N + kCols - 1) / kCols;
  Maps maps;
  Persistent plan;
  cudaError_t status = make_maps(maps, A, B, C, M, N, K);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess)
    status = plan_persistent(plan,
                             in_cluster == 2 ? pairs_of_tiles(tiles_m, tiles_n) : tiles_m * tiles_n,
                             workspace, stream, in_cluster);
  if (status != cudaSuccess) return status;
  return launch_in_clusters(in_cluster, plan.blocks, bytes, stream, kernel, maps.A, maps.B, maps.C,
                            M, N, K, plan.whole, plan.parts, plan.arrived);
}

/// `workspace` has persistent_workspace() bytes, at a multiple of 16.
template <int STAGES, int GROUP>
cudaError_t launch_wgmma_persistent(const bf16* A, const bf16* B, bf16* C, int M, int N, int K,
                                    void* workspace, cudaStream_t stream = nullptr) {
  return launch_persistent<STAGES>(wgmma_persistent<STAGES, GROUP>, 1, A, B, C, M, N, K, workspace,
                                   stream);
}
template <int STAGES, int GROUP>
cudaError_t launch_wgmma_clusters(const bf16* A, const bf16* B, bf16* C, int M, int N, int K,
                                  void* workspace, cudaStream_t stream = nullptr) {
  return launch_persistent<STAGES>(wgmma_clusters<STAGES, GROUP>, 2, A, B, C, M, N, K, workspace,
                                   stream);
}
