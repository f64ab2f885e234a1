// Wrong kernels with wgmma, for compute capability 9.0. Each holds one mistake that people make, and each must be rejected by check_product(), the same
// function that the right kernels pass. None of them can hang: copies and arrivals are as many as in the right kernel.
#pragma once

#include "../../../chapters/13_tensor_cores/tf32.cuh"
#include "../../../chapters/13_tensor_cores/wgmma.cuh"
#include "13_tensor_cores/check_product.hpp"

namespace hopper_mutants {

enum class Bug {
  none,                  ///< wgmma_stages<4>: proves that it is the mistake, and not the template, that is rejected
  product_overwritten,   ///< each k-tile's product takes the place of the sum
  wrong_box_stride,      ///< B's next 64 columns half a box further on
  k_in_elements,         ///< the second operand's address goes on by elements, where it should by bytes
  rows_of_warpgroup_0,   ///< both warpgroups multiply the first 64 rows of A's tile
  rows_8_to_15_swapped,  ///< each warp's rows 8 to 15 are stored as its rows 0 to 7
  released_early,        ///< the tiles may be overwritten while they are multiplied
  last_k_tile_forgotten  ///< the number of k-tiles is rounded down
};

constexpr int kStages = 4;

template <Bug BUG>
__global__ void __launch_bounds__(384, 1)
    stages(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, bf16* C, int M, int N, int K) {
  const auto is = [](Bug bug) { return bug == BUG; };
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int row0 = blockIdx.y * kRows, col0 = blockIdx.x * kCols;
  const int steps = is(Bug::last_k_tile_forgotten) ? K / kDepth : (K + kDepth - 1) / kDepth;
  prepare_barriers<kStages>(full, empty);

  int stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    registers_down_to<56>();
    for (int t = 0; threadIdx.x == 0 && t < steps; ++t) {
      barrier_wait(&empty[stage], parity ^ 1);
      load_tiles(tiles + stage * kTiles, A, B, row0, col0, t * kDepth, &full[stage]);
      if (++stage == kStages) stage = 0, parity ^= 1;
    }
  } else {
    registers_up_to<224>();
    const int warpgroup = threadIdx.x / 128 - 1;
    float sum[128] = {};
    for (int t = 0, before = 0; t < steps; ++t) {
      barrier_wait(&full[stage], parity);
      const uint32_t at = shared_address(tiles + stage * kTiles), b = at + kTileA;
      const uint32_t a = at + (is(Bug::rows_of_warpgroup_0) ? 0 : warpgroup * (kTileA / 2));
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < kDepth; k += 16) {
        const uint32_t a_step = k * (is(Bug::k_in_elements) ? 1 : sizeof(bf16));
        wgmma_bf16(sum, k_major(a + a_step), n_major(b + k * 128, is(Bug::wrong_box_stride) ? kBoxB / 2 : kBoxB),
                   is(Bug::product_overwritten) && k == 0);
      }
      wgmma_commit();
      if (is(Bug::released_early)) {
        if (threadIdx.x % 128 == 0) barrier_arrive(&empty[stage]);
      } else {
        wgmma_wait<1>();
        if (t > 0 && threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
      }
      before = stage;
      if (++stage == kStages) stage = 0, parity ^= 1;
    }
    wgmma_wait<0>();
    const int thread = threadIdx.x % 128, row = row0 + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < 128; i += 2) {
      const int second = is(Bug::rows_8_to_15_swapped) ? 1 - i / 2 % 2 : i / 2 % 2;
      const int r = row + second * 8, c = col0 + thread % 4 * 2 + i / 4 * 8;
      if (r < M && c < N)
        *reinterpret_cast<__nv_bfloat162*>(C + size_t(r) * N + c) = __floats2bfloat162_rn(sum[i], sum[i + 1]);
    }
  }
}

template <Bug BUG>
cudaError_t launch(const bf16* A, const bf16* B, bf16* C, int M, int N, int K) {
  return launch_for_each_tile(stages<BUG>, 384, kStages * kTiles, A, B, C, M, N, K, nullptr);
}

/// Counters that aren't cleared: no block learns that it is the last one, and nobody stores the tiles that are shared.
inline cudaError_t counters_not_cleared(const bf16* A, const bf16* B, bf16* C, int M, int N, int K) {
  constexpr int bytes = 4 * kTiles + 4 * kBoxC, blocks = 7;
  const auto kernel = wgmma_persistent<4, 16>;
  const int tiles = (M + kRows - 1) / kRows * ((N + kCols - 1) / kCols);
  tilewise::DeviceBuffer<float4> parts(std::size_t{2} * blocks * kRows * kCols / 4);
  tilewise::DeviceBuffer<unsigned> arrived(std::size_t{2} * tiles);
  arrived.poison();
  Maps maps;
  cudaError_t status = make_maps(maps, A, B, C, M, N, K);
  if (status == cudaSuccess) status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<blocks, 384, bytes>>>(maps.A, maps.B, maps.C, M, N, K, 0, parts.data(), arrived.data());
  status = cudaGetLastError();
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

/// wgmma_3xtf32 with zeros for the low parts of A.
inline cudaError_t low_parts_left_out(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto kernel = wgmma_3xtf32<4, 8>;
  const auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  constexpr int bytes = 4 * (2 * kTile3A + tf32::kTileB);
  tilewise::DeviceBuffer<float> low(std::size_t(M) * K);
  low.zero();
  Maps maps;
  CUtensorMap low_map;
  cudaError_t status = make_tensor_map(maps.A, type, sizeof(float), A, M, K, kRows3, tf32::kDepth);
  if (status == cudaSuccess)
    status = make_tensor_map(low_map, type, sizeof(float), low.data(), M, K, kRows3, tf32::kDepth);
  if (status == cudaSuccess) status = make_tensor_map(maps.B, type, sizeof(float), B, K, N, tf32::kDepth, 32);
  if (status == cudaSuccess) status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<5, 384, bytes>>>(maps.A, low_map, maps.B, C, M, N, K);
  status = cudaGetLastError();
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

/// TF32 alone, where the low parts should count.
inline cudaError_t tf32_alone(const float* A, const float* B, float* C, int M, int N, int K) {
  std::size_t bytes = 0;
  if (const cudaError_t status = persistent_workspace(bytes)) return status;
  tilewise::DeviceBuffer<unsigned char> workspace(bytes);
  const cudaError_t status = launch_wgmma_tf32<4, 8>(A, B, C, M, N, K, workspace.data());
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

inline std::vector<ProductMutant<bf16>> mutants() {
  return {
      {"product_overwritten", launch<Bug::product_overwritten>, Fault::wrong_value},
      {"wrong_box_stride", launch<Bug::wrong_box_stride>, Fault::wrong_value},
      {"k_in_elements", launch<Bug::k_in_elements>, Fault::wrong_value},
      {"rows_of_warpgroup_0", launch<Bug::rows_of_warpgroup_0>, Fault::wrong_value},
      {"rows_8_to_15_swapped", launch<Bug::rows_8_to_15_swapped>, Fault::wrong_value},
      // A matter of time: the copies for this stage begin at once, but the products may be done before they arrive. On the simulator, which would
      // always see it, there is no wgmma.
      {"released_early", launch<Bug::released_early>, Fault::wrong_value, "WRONG"},
      {"last_k_tile_forgotten", launch<Bug::last_k_tile_forgotten>, Fault::wrong_value},
      {"counters_not_cleared", counters_not_cleared, Fault::wrong_value},
  };
}

/// Held against the bound of three products, split_arithmetic().
inline std::vector<ProductMutant<float>> split_mutants() {
  return {
      {"low_parts_left_out", low_parts_left_out, Fault::wrong_value},
      {"tf32_alone", tf32_alone, Fault::wrong_value},
  };
}

}  // namespace hopper_mutants
