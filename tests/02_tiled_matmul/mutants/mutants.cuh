// Wrong tiled kernels. Each holds one mistake that people make, and each must be rejected by check_matmul(), the
// same function that the right kernels pass. All are launched as tiled_matmul<kTile>().
//
// The kernels differ in one place each, so they are three templates, for three of the chapter's kernels: the body is
// the right kernel, and every `is(Bug::...)` is the place where one mistake is made.
#pragma once

#include <cuda_runtime.h>

#include "check_matmul.hpp"

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

// Two pairs of tiles used in turns, one barrier per tile.
enum class PrefetchBug {
  none,
  no_barrier,
  one_pair_only,       ///< the second pair is saved, the second barrier too
  reads_other_pair,    ///< multiplies the pair of the tile before
  fetches_same_tile,   ///< the next tile is the present one again
  fetches_one_late,    ///< the words go into shared memory one turn too early: the first tile is lost
  no_guard_past_end,   ///< after the last tile there is no tile, but it is fetched all the same
  turns_from_one_side  ///< As changes sides, Bs does not
};

template <PrefetchBug BUG>
__global__ void prefetched_mutant(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](PrefetchBug bug) { return bug == BUG; };
  __shared__ float As[2][kTile][kTile];
  __shared__ float Bs[2][kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  float a = row < M && tx < K ? A[row * K + tx] : 0.0f;
  float b = ty < K && col < N ? B[ty * N + col] : 0.0f;
  if (is(PrefetchBug::reads_other_pair)) As[1][ty][tx] = Bs[1][ty][tx] = 1.0f;  // no word is without a value
  const int tiles = (K + kTile - 1) / kTile;
  for (int t = 0; t < tiles; ++t) {
    const int turn = is(PrefetchBug::one_pair_only) ? 0 : t % 2;
    const int turn_b = is(PrefetchBug::turns_from_one_side) ? 0 : turn;
    const int k0 = (is(PrefetchBug::fetches_same_tile) ? t : t + 1) * kTile;
    const bool more = !is(PrefetchBug::no_guard_past_end);
    const auto fetch = [&] {
      a = row < M && (k0 + tx < K || (!more && t + 1 == tiles)) ? A[row * K + k0 + tx] : 0.0f;
      b = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    };
    if (is(PrefetchBug::fetches_one_late)) fetch();
    As[turn][ty][tx] = a;
    Bs[turn_b][ty][tx] = b;
    if (!is(PrefetchBug::no_barrier)) __syncthreads();
    if (!is(PrefetchBug::fetches_one_late)) fetch();
    const int read = is(PrefetchBug::reads_other_pair) ? 1 - turn : turn;
    for (int k = 0; k < kTile; ++k)
      sum += As[read][ty][k] * Bs[is(PrefetchBug::turns_from_one_side) ? turn_b : read][k][tx];
    if (is(PrefetchBug::no_guard_past_end)) sum += 0.0f * a;  // uses what it fetched from nowhere
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

// A tile of C of 32 x 32 elements and a depth of 16 for 16 x 16 threads: four elements each.
constexpr int kBlockTile = 32;

enum class RectangleBug {
  none,
  loads_one_round,  ///< 256 threads, 256 words: a tile has 512
  no_second_barrier,
  a_counted_by_columns,    ///< words of As counted down the columns and stored along the rows
  depth_for_width,         ///< row of Bs found by dividing by the depth
  guard_by_first_element,  ///< the other three elements are written wherever they lie
  neighbours_not_apart,    ///< reads elements 2 tx and 2 tx + 1, writes tx and tx + 16
  one_sum,                 ///< one running sum for all four
  forgets_last_block       ///< rounds the number of steps down
};

template <RectangleBug BUG>
__global__ void rectangular_mutant(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](RectangleBug bug) { return bug == BUG; };
  constexpr int B_ = kBlockTile, D = 16;
  __shared__ float As[B_][D];
  __shared__ float Bs[D][B_];
  const int tx = threadIdx.x, ty = threadIdx.y, me = ty * 16 + tx;
  const int row0 = blockIdx.y * B_, col0 = blockIdx.x * B_;
  float sum[2][2] = {};
  if (is(RectangleBug::loads_one_round) || is(RectangleBug::depth_for_width))
    for (int word = me; word < B_ * D; word += 256) As[word / D][word % D] = Bs[word / B_][word % B_] = 1.0f;
  __syncthreads();
  const int steps = is(RectangleBug::forgets_last_block) ? K / D * D : K;
  for (int k0 = 0; k0 < steps; k0 += D) {
    const int rounds = is(RectangleBug::loads_one_round) ? 256 : B_ * D;
    for (int word = me; word < rounds; word += 256) {
      const int i = is(RectangleBug::a_counted_by_columns) ? word % B_ : word / D;
      const int k = is(RectangleBug::a_counted_by_columns) ? word / B_ : word % D;
      As[word / D][word % D] = row0 + i < M && k0 + k < K ? A[(row0 + i) * K + k0 + k] : 0.0f;
    }
    for (int word = me; word < rounds; word += 256) {
      const int k = is(RectangleBug::depth_for_width) ? word / D % D : word / B_;
      const int j = word % B_;
      Bs[k][j] = k0 + k < K && col0 + j < N ? B[(k0 + k) * N + col0 + j] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < D; ++k) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          const int col = is(RectangleBug::neighbours_not_apart) ? 2 * tx + j : tx + 16 * j;
          float& s = is(RectangleBug::one_sum) ? sum[0][0] : sum[i][j];
          s += As[ty + 16 * i][k] * Bs[k][col];
        }
      }
    }
    if (!is(RectangleBug::no_second_barrier)) __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      const bool inside =
          is(RectangleBug::guard_by_first_element) ? row0 + ty < M && col0 + tx < N : row < M && col < N;
      if (inside) C[row * N + col] = is(RectangleBug::one_sum) ? sum[0][0] : sum[i][j];
    }
  }
}

struct Mutant {
  const char* name;
  void (*kernel)(const float*, const float*, float*, int, int, int);
  Fault fault;               ///< what check_matmul() must find, among other things
  const char* finding = "";  ///< of a race: what the simulator calls it. A GPU may be lucky, the simulator never is
  int tile = kTile;          ///< side of the tile of C that a block of 16 x 16 threads computes
};

inline const Mutant mutants[] = {
    {"no_first_barrier", mutant<Bug::no_first_barrier>, Fault::wrong_value, "race-shared"},
    {"no_second_barrier", mutant<Bug::no_second_barrier>, Fault::wrong_value, "race-shared"},
    {"warp_barrier", mutant<Bug::warp_barrier>, Fault::wrong_value, "race-shared"},
    {"early_return", mutant<Bug::early_return>, Fault::wrong_value, "uninitialised-shared"},
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
    {"no_barrier", prefetched_mutant<PrefetchBug::no_barrier>, Fault::wrong_value, "race-shared"},
    {"one_pair_only", prefetched_mutant<PrefetchBug::one_pair_only>, Fault::wrong_value, "race-shared"},
    {"reads_other_pair", prefetched_mutant<PrefetchBug::reads_other_pair>, Fault::wrong_value, "race-shared"},
    {"fetches_same_tile", prefetched_mutant<PrefetchBug::fetches_same_tile>, Fault::wrong_value},
    {"fetches_one_late", prefetched_mutant<PrefetchBug::fetches_one_late>, Fault::wrong_value},
    {"no_guard_past_end", prefetched_mutant<PrefetchBug::no_guard_past_end>, Fault::wrong_value},
    {"turns_from_one_side", prefetched_mutant<PrefetchBug::turns_from_one_side>, Fault::wrong_value, "race-shared"},
    {"loads_one_round", rectangular_mutant<RectangleBug::loads_one_round>, Fault::wrong_value, "", kBlockTile},
    {"no_second_barrier, rectangular", rectangular_mutant<RectangleBug::no_second_barrier>, Fault::wrong_value,
     "race-shared", kBlockTile},
    {"a_counted_by_columns", rectangular_mutant<RectangleBug::a_counted_by_columns>, Fault::wrong_value, "",
     kBlockTile},
    {"depth_for_width", rectangular_mutant<RectangleBug::depth_for_width>, Fault::wrong_value, "", kBlockTile},
    {"guard_by_first_element", rectangular_mutant<RectangleBug::guard_by_first_element>, Fault::outside_written, "",
     kBlockTile},
    {"neighbours_not_apart", rectangular_mutant<RectangleBug::neighbours_not_apart>, Fault::wrong_value, "",
     kBlockTile},
    {"one_sum", rectangular_mutant<RectangleBug::one_sum>, Fault::wrong_value, "", kBlockTile},
    {"forgets_last_block", rectangular_mutant<RectangleBug::forgets_last_block>, Fault::wrong_value, "", kBlockTile},
};

}  // namespace tiled_mutants
