// C = A * B with float matrices on Hopper's tensor cores, which take TF32: a float whose last 13
// bits don't count. Once as that, and once with each number split into two TF32 numbers, so that
// (almost) all of its bits count.
//
//   A: M x K    B: K x N    C: M x N     float, row-major
//
// Any M; N and K are multiples of 4, since rows must begin at multiples of 16 bytes. Compute
// capability 9.0.
//
// In TF32, wgmma reads its operands from shared memory only along k. A's rows are; B's are not, and
// TMA can't transpose. But the first operand may come from registers. So these kernels compute
// C^T = B^T A^T: B^T from registers, where a thread can put what it likes.
#pragma once

#include "wgmma.cuh"

namespace tf32 {

// a tile of C, and how deep its tiles of A and B are
constexpr int kRows = 256, kCols = 128, kDepth = 32;
constexpr int kTileA = kRows * kDepth * sizeof(float), kTileB = kDepth * kCols * sizeof(float),
              kTiles = kTileA + kTileB;
constexpr int kBoxB = kDepth * 32 * sizeof(float);  // a box of B is 32 columns wide: 128 bytes

// [place_in_b]
/// Where this thread finds its elements of B^T in a tile of B, as wgmma wants them: of the warp's
/// 16 columns it has two neighbours, for k = `k` and then for k + 4; the first of each pair is
/// wgmma's row r, the second its row r + 8. In words; TMA's swizzle is part of it.
struct PlaceInB {
  int first, second;
  __device__ __forceinline__ explicit PlaceInB(int warpgroup) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, k = lane % 4,
              pair = lane / 4 * 2;
    const int col = warpgroup * 64 + warp * 16 + pair, box = col / 32 * (kBoxB / 4),
              piece = col % 32 / 4, word = col % 4;
    first = box + k * 32 + (piece ^ k) * 4 + word;
    second = box + (k + 4) * 32 + (piece ^ (k + 4)) * 4 + word;
  }
};
// [place_in_b]

/// Stores the sums of C^T that a warpgroup has: row0 and col0 are where its ROWS x 64 elements
/// begin in C. N is even.
template <int ROWS>
__device__ __forceinline__ void store_transposed(const float (&sum)[ROWS / 2], float* C, int row0,
                                                 int col0, int M, int N) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const int row = row0 + lane % 4 * 2, col = col0 + warp * 16 + lane / 4 * 2;
  if (col >= N) return;
#pragma unroll
  for (int i = 0; i < ROWS / 2; i += 4) {
    const int r = row + i * 2;
    if (r < M)
      *reinterpret_cast<float2*>(C + size_t(r) * N + col) = make_float2(sum[i], sum[i + 2]);
    if (r + 1 < M)
      *reinterpret_cast<float2*>(C + size_t(r + 1) * N + col) = make_float2(sum[i + 1], sum[i + 3]);
  }
}

}  // namespace tf32

// [wgmma_tf32_persistent]
/// wgmma_persistent for floats, with tiles of 256 x 128. The tensor map's type lets TMA round to
/// TF32 on the way. Dynamic shared memory: STAGES * tf32::kTiles. Otherwise as there.
template <int STAGES, int GROUP>
__global__ void __launch_bounds__(384, 1)
    wgmma_tf32_persistent(const __grid_constant__ CUtensorMap A,
                          const __grid_constant__ CUtensorMap B, float* C, int M, int N, int K,
                          int whole, float4* parts, unsigned* arrived) {
  using namespace tf32;
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  __shared__ int is_last[2];
  const int tiles_m = (M + tf32::kRows - 1) / tf32::kRows,
            tiles_n = (N + tf32::kCols - 1) / tf32::kCols;
  const int steps = (K + tf32::kDepth - 1) / tf32::kDepth;
  prepare_barriers<STAGES>(full, empty);

  int stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    registers_down_to<56>();
    Work work(tiles_m * tiles_n, whole, steps);
    while (threadIdx.x == 0 && work.advance()) {
      const int2 at = place<GROUP>(work.tile, tiles_m, tiles_n);
      for (int t = work.first; t < work.first + work.count; ++t) {
        barrier_wait(&empty[stage], parity ^ 1);
        unsigned char* to = tiles + stage * tf32::kTiles;
        barrier_expect(&full[stage], tf32::kTiles);
        tma_load(to, A, t * tf32::kDepth, at.x * tf32::kRows, &full[stage]);
        for (int j = 0; j < tf32::kCols / 32; ++j)
          tma_load(to + tf32::kTileA + j * tf32::kBoxB, B, at.y * tf32::kCols + j * 32,
                   t * tf32::kDepth, &full[stage]);
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
  } else {
    registers_up_to<224>();
    Work work(tiles_m * tiles_n, whole, steps);
    const int warpgroup = threadIdx.x / 128 - 1;
    const PlaceInB place_in_b(warpgroup);
    float sum[128];
    while (work.advance()) {
      int before = 0;
      const auto step = [&](uint32_t(&b)[4][4], int t) {
        barrier_wait(&full[stage], parity);
        const float* words =
            reinterpret_cast<const float*>(tiles + stage * tf32::kTiles + tf32::kTileA);
#pragma unroll
        for (int k = 0; k < 4; ++k) {  // steps of 8: 8 rows of B, 256 words
          const float2 x = *reinterpret_cast<const float2*>(words + place_in_b.first + k * 256);
          const float2 y = *reinterpret_cast<const float2*>(words + place_in_b.second + k * 256);
          b[k][0] = __float_as_uint(x.x), b[k][1] = __float_as_uint(x.y);
          b[k][2] = __float_as_uint(y.x), b[k][3] = __float_as_uint(y.y);
        }
        const uint32_t a = shared_address(tiles + stage * tf32::kTiles);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) wgmma_tf32(sum, b[k], k_major(a + k * 32), t == 0 && k == 0);
        wgmma_commit();
        if (t > 0) {
          wgmma_wait<1>();
          if (threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
        }
        before = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      };
      // wgmma reads registers while it runs: the next step needs others
      uint32_t even[4][4], odd[4][4];
      for (int t = 0; t < work.count; t += 2) {
        step(even, t);
        if (t + 1 < work.count) step(odd, t + 1);
      }
      wgmma_wait<0>();
      if (threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
      if (work.count < work.steps &&
          !add_parts(sum, work, parts, arrived, warpgroup, &is_last[warpgroup]))
        continue;
      const int2 at = place<GROUP>(work.tile, tiles_m, tiles_n);
      store_transposed<tf32::kRows>(sum, C, at.x * tf32::kRows, at.y * tf32::kCols + warpgroup * 64,
                                    M, N);
    }
  }
}
// [wgmma_tf32_persistent]

// [low_parts]
/// What TF32 leaves out of a number: a - (a with its last 13 bits cleared), which is exact. n is a
/// multiple of 4.
static __global__ void __launch_bounds__(256)
    low_parts(const float4* __restrict__ a, float4* __restrict__ low, size_t n) {
  const auto low_part = [](float x) {
    return x - __uint_as_float(__float_as_uint(x) & 0xffffe000u);
  };
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < n / 4; i += gridDim.x * size_t{256}) {
    const float4 x = a[i];
    low[i] = make_float4(low_part(x.x), low_part(x.y), low_part(x.z), low_part(x.w));
  }
}
// [low_parts]

// [wgmma_3xtf32]
/// a b = a_high b_high + a_high b_low + a_low b_high + (a_low b_low, which is left out): three
/// products in TF32. A goes to the tensor cores as it is, since they don't see the last 13 bits;
/// A's low parts are a matrix of their own, `low`; B is split in registers. The tensor cores cut
/// what they add, so after each k-tile their sums are added to `sum` by ordinary additions, which
/// round. Tiles of 128 x 128. Dynamic shared memory: STAGES * (2 * kTile3A + tf32::kTileB). Block:
/// 3 warpgroups. Grid: the number of SMs.
constexpr int kRows3 = 128, kTile3A = kRows3 * tf32::kDepth * sizeof(float);
template <int STAGES, int GROUP>
__global__ void __launch_bounds__(384, 1)
    wgmma_3xtf32(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap low,
                 const __grid_constant__ CUtensorMap B, float* C, int M, int N, int K) {
  using namespace tf32;
  constexpr int kTiles3 = 2 * kTile3A + tf32::kTileB;
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const int tiles_m = (M + kRows3 - 1) / kRows3, tiles_n = (N + tf32::kCols - 1) / tf32::kCols;
  const int steps = (K + tf32::kDepth - 1) / tf32::kDepth;
  prepare_barriers<STAGES>(full, empty);

  int stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    registers_down_to<56>();
    for (int tile = blockIdx.x; threadIdx.x == 0 && tile < tiles_m * tiles_n; tile += gridDim.x) {
      const int2 at = place<GROUP>(tile, tiles_m, tiles_n);
      for (int t = 0; t < steps; ++t) {
        barrier_wait(&empty[stage], parity ^ 1);
        unsigned char* to = tiles + stage * kTiles3;
        barrier_expect(&full[stage], kTiles3);
        tma_load(to, A, t * tf32::kDepth, at.x * kRows3, &full[stage]);
        tma_load(to + kTile3A, low, t * tf32::kDepth, at.x * kRows3, &full[stage]);
        for (int j = 0; j < tf32::kCols / 32; ++j)
          tma_load(to + 2 * kTile3A + j * tf32::kBoxB, B, at.y * tf32::kCols + j * 32,
                   t * tf32::kDepth, &full[stage]);
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
  } else {
    registers_up_to<224>();
    const int warpgroup = threadIdx.x / 128 - 1;
    const PlaceInB place_in_b(warpgroup);
    for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
      float sum[64] = {}, part[64];
      for (int t = 0; t < steps; ++t) {
        barrier_wait(&full[stage], parity);
        const float* words = reinterpret_cast<const float*>(tiles + stage * kTiles3 + 2 * kTile3A);
        uint32_t b_high[4][4], b_low[4][4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const float2 x = *reinterpret_cast<const float2*>(words + place_in_b.first + k * 256);
          const float2 y = *reinterpret_cast<const float2*>(words + place_in_b.second + k * 256);
          const float b[4] = {x.x, x.y, y.x, y.y};
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            b_high[k][i] = __float_as_uint(b[i]) & 0xffffe000u;
            b_low[k][i] = __float_as_uint(b[i] - __uint_as_float(b_high[k][i]));
          }
        }
        const uint32_t a = shared_address(tiles + stage * kTiles3), a_low = a + kTile3A;
        wgmma_fence();
        // the small products first
#pragma unroll
        for (int k = 0; k < 4; ++k) wgmma_tf32(part, b_low[k], k_major(a + k * 32), k == 0);
#pragma unroll
        for (int k = 0; k < 4; ++k) wgmma_tf32(part, b_high[k], k_major(a_low + k * 32), false);
#pragma unroll
        for (int k = 0; k < 4; ++k) wgmma_tf32(part, b_high[k], k_major(a + k * 32), false);
        wgmma_commit();
        wgmma_wait<0>();
        if (threadIdx.x % 128 == 0) barrier_arrive(&empty[stage]);
        if (++stage == STAGES) stage = 0, parity ^= 1;
#pragma unroll
        for (int i = 0; i < 64; ++i) sum[i] += part[i];
      }
      const int2 at = place<GROUP>(tile, tiles_m, tiles_n);
      store_transposed<kRows3>(sum, C, at.x * kRows3, at.y * tf32::kCols + warpgroup * 64, M, N);
    }
  }
}
// [wgmma_3xtf32]

/// Bytes of workspace: persistent_workspace() of wgmma.cuh, at a multiple of 16.
template <int STAGES, int GROUP>
cudaError_t launch_wgmma_tf32(const float* A, const float* B, float* C, int M, int N, int K,
                              void* workspace, cudaStream_t stream = nullptr) {
  if (const cudaError_t status = can_use_wgmma(A, B, C, M, N, K, sizeof(float))) return status;
  if (M == 0 || N == 0 || K == 0) return fill_with_zeros(C, M, N, sizeof(float), stream);
  const auto kernel = wgmma_tf32_persistent<STAGES, GROUP>;
  const auto type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  constexpr int bytes = STAGES * tf32::kTiles;
  const int tiles = (M + tf32::kRows - 1) / tf32::kRows * ((N + tf32::kCols - 1) / tf32::kCols);
  Maps maps;
  Persistent plan;
  cudaError_t status =
      make_tensor_map(maps.A, type, sizeof(float), A, M, K, tf32::kRows, tf32::kDepth);
  if (status == cudaSuccess)
    status = make_tensor_map(maps.B, type, sizeof(float), B, K, N, tf32::kDepth, 32);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) status = plan_persistent(plan, tiles, workspace, stream);
  if (status != cudaSuccess) return status;
  kernel<<<plan.blocks, 384, bytes, stream>>>(maps.A, maps.B, C, M, N, K, plan.whole, plan.parts,
                                              plan.arrived);
  return cudaGetLastError();
}

/// `low` has room for M * K floats, at a multiple of 16 bytes.
template <int STAGES, int GROUP>
cudaError_t launch_wgmma_3xtf32(const float* A, const float* B, float* C, int M, int N, int K,
                                float* low, cudaStream_t stream = nullptr) {
  if (const cudaError_t status = can_use_wgmma(A, B, C, M, N, K, sizeof(float))) return status;
  if (M == 0 || N == 0 || K == 0) return fill_with_zeros(C, M, N, sizeof(float), stream);
  const auto kernel = wgmma_3xtf32<STAGES, GROUP>;
  const auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  constexpr int bytes = STAGES * (2 * kTile3A + tf32::kTileB);
  Maps maps;
  CUtensorMap low_map;
  Persistent plan;
  cudaError_t status = make_tensor_map(maps.A, type, sizeof(float), A, M, K, kRows3, tf32::kDepth);
  if (status == cudaSuccess)
    status = make_tensor_map(low_map, type, sizeof(float), low, M, K, kRows3, tf32::kDepth);
  if (status == cudaSuccess)
    status = make_tensor_map(maps.B, type, sizeof(float), B, K, N, tf32::kDepth, 32);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) status = plan_persistent(plan, 0, nullptr, stream);
  if (status != cudaSuccess) return status;
  low_parts<<<8 * plan.blocks, 256, 0, stream>>>(reinterpret_cast<const float4*>(A),
                                                 reinterpret_cast<float4*>(low), size_t(M) * K);
  kernel<<<plan.blocks, 384, bytes, stream>>>(maps.A, low_map, maps.B, C, M, N, K);
  return cudaGetLastError();
}
