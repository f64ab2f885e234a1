// Wrong kernels with WMMA. Each holds one mistake that people make, and each must be rejected by check_product(), the same function that the right
// kernels pass. What copies and stages can do wrong besides is among lesson 11's mutants.
#pragma once

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "13_tensor_cores/check_product.hpp"

namespace wmma_mutants {

// A tile of C of 32 x 64 elements, each of 4 warps 16 x 32 of them, and k-tiles of depth 32. A block computes two neighbouring tiles, one after the other.
constexpr int kRows = 32, kCols = 64, kDepth = 32, kStages = 3, kThreads = 128;
constexpr int kRowA = kDepth + 8, kRowB = kCols + 8;

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  b_column_major,
  padding_forgotten,  ///< rows of A's tile as if they were kDepth long
  first_rows_of_b,    ///< the second half of a k-tile multiplies B's first half
  no_barrier,
  no_wait,
  no_zeros,         ///< what lies past the end of K is copied as well
  zeros_in_a_only,  ///< rows of B past the end are copied
  last_k_tile_forgotten,
  sums_not_cleared,  ///< for the second tile
  sums_rounded,      ///< to half, at every k-step
  warps_swapped,     ///< two warps store each other's rows
  no_row_guard,
  no_column_guard,
  memory_reused_early,  ///< sums are rounded in the memory of tiles that others still multiply
  read_before_store     ///< of the rounded sums: no __syncwarp() between store_matrix_sync and the reads
};

template <Bug BUG>
__global__ void __launch_bounds__(kThreads)
    tiles(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C, int M, int N, int K) {
  using namespace nvcuda::wmma;
  const auto is = [](Bug bug) { return bug == BUG; };
  __shared__ union {
    struct {
      __half As[kStages][kRows][kRowA], Bs[kStages][kDepth][kRowB];
    } tile;
    float floats[4][16 * 16];
  } __align__(128) shared;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int row0 = blockIdx.y * kRows, warp_row = warp / 2 * 16, warp_col = warp % 2 * 32;
  const int steps = is(Bug::last_k_tile_forgotten) ? K / kDepth : (K + kDepth - 1) / kDepth;

  fragment<accumulator, 16, 16, 16, float> sums[2];
  for (int half = 0; half < 2; ++half) {
    const int col0 = (blockIdx.x * 2 + half) * kCols;
    const auto copy = [&](int stage, int k0) {  // 8 numbers at a time
      for (int i = thread; i < kRows * kDepth / 8; i += kThreads) {
        const int row = i / (kDepth / 8), k = i % (kDepth / 8) * 8;
        const bool inside = row0 + row < M && (k0 + k < K || is(Bug::no_zeros));
        __pipeline_memcpy_async(&shared.tile.As[stage][row][k], inside ? A + size_t(row0 + row) * K + k0 + k : A, 16,
                                inside ? 0 : 16);
      }
      for (int i = thread; i < kDepth * kCols / 8; i += kThreads) {
        const int k = i / (kCols / 8), col = i % (kCols / 8) * 8;
        const bool inside = (k0 + k < K || is(Bug::no_zeros) || is(Bug::zeros_in_a_only)) && col0 + col < N;
        __pipeline_memcpy_async(&shared.tile.Bs[stage][k][col], inside ? B + size_t(k0 + k) * N + col0 + col : B, 16,
                                inside ? 0 : 16);
      }
    };

    if (!is(Bug::sums_not_cleared) || half == 0)
      for (auto& sum : sums) fill_fragment(sum, 0.0f);
    for (int t = 0; t < kStages - 1; ++t) {
      if (t < steps) copy(t, t * kDepth);
      __pipeline_commit();
    }
    for (int t = 0; t < steps; ++t) {
      if (!is(Bug::no_wait)) __pipeline_wait_prior(kStages - 2);
      if (!is(Bug::no_barrier)) __syncthreads();
      const int next = t + kStages - 1, stage = t % kStages;
      if (next < steps) copy(next % kStages, next * kDepth);
      __pipeline_commit();
      for (int k = 0; k < kDepth; k += 16) {
        fragment<matrix_a, 16, 16, 16, __half, row_major> a;
        load_matrix_sync(a, &shared.tile.As[stage][warp_row][k], is(Bug::padding_forgotten) ? kDepth : kRowA);
        for (int j = 0; j < 2; ++j) {
          const __half* from = &shared.tile.Bs[stage][is(Bug::first_rows_of_b) ? 0 : k][warp_col + j * 16];
          if constexpr (BUG == Bug::b_column_major) {
            fragment<matrix_b, 16, 16, 16, __half, col_major> b;
            load_matrix_sync(b, from, kRowB);
            mma_sync(sums[j], a, b, sums[j]);
          } else {
            fragment<matrix_b, 16, 16, 16, __half, row_major> b;
            load_matrix_sync(b, from, kRowB);
            mma_sync(sums[j], a, b, sums[j]);
          }
          if (is(Bug::sums_rounded))
            for (float& x : sums[j].x) x = __half2float(__float2half(x));
        }
      }
    }

    __pipeline_wait_prior(0);
    if (!is(Bug::memory_reused_early)) __syncthreads();
    const int store_row = is(Bug::warps_swapped) ? 16 - warp_row : warp_row;
    const int row = row0 + store_row + lane / 2;
    for (int j = 0; j < 2; ++j) {
      float* floats = shared.floats[warp];
      store_matrix_sync(floats, sums[j], 16, mem_row_major);
      if (!is(Bug::read_before_store)) __syncwarp();
      const int col = col0 + warp_col + j * 16 + lane % 2 * 8;
      if ((row < M || is(Bug::no_row_guard)) && (col < N || is(Bug::no_column_guard)))
        for (int i = 0; i < 8; ++i) C[size_t(row) * N + col + i] = __half(floats[lane / 2 * 16 + lane % 2 * 8 + i]);
      __syncwarp();
    }
    __syncthreads();  // the next tile's copies go where the sums were
  }
}

template <Bug BUG>
cudaError_t launch(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  tiles<BUG><<<dim3((N + 2 * kCols - 1) / (2 * kCols), (M + kRows - 1) / kRows), kThreads>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

inline std::vector<ProductMutant<__half>> mutants() {
  return {
      {"b_column_major", launch<Bug::b_column_major>, Fault::wrong_value},
      {"padding_forgotten", launch<Bug::padding_forgotten>, Fault::wrong_value},
      {"first_rows_of_b", launch<Bug::first_rows_of_b>, Fault::wrong_value},
      {"no_barrier", launch<Bug::no_barrier>, Fault::finding, "race-shared"},
      {"no_wait", launch<Bug::no_wait>, Fault::finding, "async-in-flight"},
      {"no_zeros", launch<Bug::no_zeros>, Fault::wrong_value},
      {"zeros_in_a_only", launch<Bug::zeros_in_a_only>, Fault::wrong_value},
      {"last_k_tile_forgotten", launch<Bug::last_k_tile_forgotten>, Fault::wrong_value},
      {"sums_not_cleared", launch<Bug::sums_not_cleared>, Fault::wrong_value},
      {"sums_rounded", launch<Bug::sums_rounded>, Fault::wrong_value},
      {"warps_swapped", launch<Bug::warps_swapped>, Fault::wrong_value},
      {"no_row_guard", launch<Bug::no_row_guard>, Fault::outside_written},
      {"no_column_guard", launch<Bug::no_column_guard>, Fault::outside_written},
      {"memory_reused_early", launch<Bug::memory_reused_early>, Fault::finding, "race-shared"},
      {"read_before_store", launch<Bug::read_before_store>, Fault::finding, "warp-synchronous"},
  };
}

}  // namespace wmma_mutants
