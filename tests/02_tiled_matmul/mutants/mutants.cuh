// Wrong tiled kernels. Each holds one mistake that people make, and each must be rejected by check_matmul(), the
// same function that the right kernels pass. All are launched as tiled_matmul<kTile>().
//
// The kernels differ in one place each, so they are one template: the body is the right kernel, and every
// `is(Bug::...)` is the place where one mistake is made.
#pragma once

#include <cuda_runtime.h>

#include "01_naive_matmul/check_matmul.hpp"

namespace tiled_mutants {

constexpr int kTile = 16;

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  no_first_barrier,
  no_second_barrier,
  warp_barrier,
  early_return,
  no_guard_on_a,
  no_guard_on_b,
  guard_a_by_n,
  guard_b_by_m,
  stale_tile_at_edge,
  repeats_last_word,
  no_guard_on_c,
  guard_and_for_or,
  drops_k_remainder,
  one_tile_too_few,
  lda_is_n,
  ldb_is_k,
  as_index_swapped,
  bs_index_swapped,
  row_and_col_swapped,
  c_transposed,
  adds_to_c,
  forgets_earlier_tiles,
  inner_loop_one_short,
};

template <Bug BUG>
__global__ void mutant(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](Bug bug) { return bug == BUG; };

  __shared__ float As[kTile][kTile];
  __shared__ float Bs[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const bool swapped = is(Bug::row_and_col_swapped);
  const int row = (swapped ? blockIdx.x : blockIdx.y) * kTile + ty;
  const int col = (swapped ? blockIdx.y : blockIdx.x) * kTile + tx;

  // The threads that own no element go home, and their share of the tiles is never loaded.
  if (is(Bug::early_return) && (row >= M || col >= N)) return;

  int tiles = (K + kTile - 1) / kTile;
  if (is(Bug::drops_k_remainder)) tiles = K / kTile;
  if (is(Bug::one_tile_too_few)) tiles = tiles - 1;

  const int lda = is(Bug::lda_is_n) ? N : K;
  const int ldb = is(Bug::ldb_is_k) ? K : N;
  float sum = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    int ka = t * kTile + tx;  // column of A that this thread loads
    int kb = t * kTile + ty;  // row of B that this thread loads
    if (is(Bug::repeats_last_word)) {
      ka = ka < K ? ka : K - 1;  // stays inside, but what it loads there must be zero
      kb = kb < K ? kb : K - 1;
    }
    const bool a_inside = is(Bug::no_guard_on_a) ? row < M : row < M && ka < (is(Bug::guard_a_by_n) ? N : K);
    const bool b_inside = is(Bug::no_guard_on_b) ? col < N : kb < (is(Bug::guard_b_by_m) ? M : K) && col < N;
    if (is(Bug::stale_tile_at_edge)) {
      if (t == 0) As[ty][tx] = Bs[ty][tx] = 1.0f;  // so that no word is ever without a value
      if (a_inside) As[ty][tx] = A[row * lda + ka];
      if (b_inside) Bs[ty][tx] = B[kb * ldb + col];
    } else {
      As[ty][tx] = a_inside ? A[row * lda + ka] : 0.0f;
      Bs[ty][tx] = b_inside ? B[kb * ldb + col] : 0.0f;
    }
    if (is(Bug::warp_barrier)) {
      __syncwarp();  // a tile is filled by eight warps, not by one
    } else if (!is(Bug::no_first_barrier)) {
      __syncthreads();
    }

    if (is(Bug::forgets_earlier_tiles)) sum = 0.0f;
    for (int k = 0; k < kTile - (is(Bug::inner_loop_one_short) ? 1 : 0); ++k) {
      const float a = is(Bug::as_index_swapped) ? As[k][ty] : As[ty][k];
      const float b = is(Bug::bs_index_swapped) ? Bs[tx][k] : Bs[k][tx];
      sum += a * b;
    }
    if (!is(Bug::no_second_barrier)) __syncthreads();
  }

  bool write = row < M && col < N;
  if (is(Bug::no_guard_on_c)) write = true;
  if (is(Bug::guard_and_for_or)) write = row < M || col < N;
  if (!write) return;
  const int at = is(Bug::c_transposed) ? col * M + row : row * N + col;
  C[at] = is(Bug::adds_to_c) ? C[at] + sum : sum;
}

struct Mutant {
  const char* name;
  void (*kernel)(const float*, const float*, float*, int, int, int);
  Fault fault;               ///< what check_matmul() must find, among other things
  bool race = false;         ///< depends on timing or on old words: a GPU may be lucky, the simulator never is
  const char* finding = "";  ///< and what the simulator calls it
};

inline const Mutant mutants[] = {
    {"no_first_barrier", mutant<Bug::no_first_barrier>, Fault::wrong_value, true, "race-shared"},
    {"no_second_barrier", mutant<Bug::no_second_barrier>, Fault::wrong_value, true, "race-shared"},
    {"warp_barrier", mutant<Bug::warp_barrier>, Fault::wrong_value, true, "race-shared"},
    {"early_return", mutant<Bug::early_return>, Fault::wrong_value, true, "uninitialised-shared"},
    {"no_guard_on_a", mutant<Bug::no_guard_on_a>, Fault::wrong_value},
    {"no_guard_on_b", mutant<Bug::no_guard_on_b>, Fault::wrong_value},
    {"guard_a_by_n", mutant<Bug::guard_a_by_n>, Fault::wrong_value},
    {"guard_b_by_m", mutant<Bug::guard_b_by_m>, Fault::wrong_value},
    {"stale_tile_at_edge", mutant<Bug::stale_tile_at_edge>, Fault::wrong_value},
    {"repeats_last_word", mutant<Bug::repeats_last_word>, Fault::wrong_value},
    {"no_guard_on_c", mutant<Bug::no_guard_on_c>, Fault::outside_written},
    {"guard_and_for_or", mutant<Bug::guard_and_for_or>, Fault::outside_written},
    {"drops_k_remainder", mutant<Bug::drops_k_remainder>, Fault::wrong_value},
    {"one_tile_too_few", mutant<Bug::one_tile_too_few>, Fault::wrong_value},
    {"lda_is_n", mutant<Bug::lda_is_n>, Fault::wrong_value},
    {"ldb_is_k", mutant<Bug::ldb_is_k>, Fault::wrong_value},
    {"as_index_swapped", mutant<Bug::as_index_swapped>, Fault::wrong_value},
    {"bs_index_swapped", mutant<Bug::bs_index_swapped>, Fault::wrong_value},
    {"row_and_col_swapped", mutant<Bug::row_and_col_swapped>, Fault::wrong_value},
    {"c_transposed", mutant<Bug::c_transposed>, Fault::wrong_value},
    {"adds_to_c", mutant<Bug::adds_to_c>, Fault::wrong_value},
    {"forgets_earlier_tiles", mutant<Bug::forgets_earlier_tiles>, Fault::wrong_value},
    {"inner_loop_one_short", mutant<Bug::inner_loop_one_short>, Fault::wrong_value},
};

}  // namespace tiled_mutants
