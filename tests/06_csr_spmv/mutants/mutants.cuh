// Wrong products. Each holds one mistake that people make, and each must be rejected by check_spmv(), the same function
// that the right kernels pass.
//
// The kernels differ in one place each, so they are two templates: the bodies are right kernels, 8 lanes per row, and
// the balanced one in a plainer form, and every `is(Bug::...)` is the place where one mistake is made.
#pragma once

#include <cuda_runtime.h>

#include "06_csr_spmv/check_spmv.hpp"

namespace spmv_mutants {

enum class Bug {
  none,               ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  indices_exchanged,  ///< x[e] * values[col_index[e]]
  x_by_row,           ///< values[e] * x[row]
  adds_to_y,          ///< y += A x
  skips_empty_rows,   ///< "nothing to do": y keeps what it held
  end_included,       ///< one nonzero of the next row, too
  first_lost,
  last_lane_lost,  ///< begins with lanes 1 .. 7 only when the row is longer than 8
  no_guard,        ///< a row beyond the last
  last_row_lost,
  columns_from_1,
  shuffle_too_short,  ///< from 2 lanes apart
  shuffle_too_long,   ///< from 16 lanes apart: two rows are added
  early_return,       ///< lanes without a row leave before a shuffle that waits for them
  every_lane_writes,
  row_by_int_division,  ///< row = thread / 4 for 8 lanes
  unguarded_x,          ///< 0 * x[0] for lanes beyond the end: wrong when x[0] is infinite, and in time
  in_float16_steps,     ///< sums rounded to 11 bits
  into_the_input,
};

using RowKernel = void (*)(int, const int*, const int*, const float*, const float*, float*);

template <Bug BUG>
__global__ void row_mutant(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                           float* y) {
  const auto is = [](Bug bug) { return bug == BUG; };
  constexpr int LANES = 8;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / (is(Bug::row_by_int_division) ? LANES / 2 : LANES), lane = thread % LANES;
  bool inside = row < rows;
  if (is(Bug::no_guard)) inside = row <= rows;
  if (is(Bug::last_row_lost)) inside = row < rows - 1;
  if (is(Bug::early_return) && !inside) return;
  float sum = 0;
  if (inside && (row < rows || is(Bug::no_guard))) {
    int begin = row_ptr[row], end = row_ptr[row + 1];
    if (is(Bug::skips_empty_rows) && begin == end) inside = false;
    if (is(Bug::end_included) && row + 1 < rows) ++end;
    if (is(Bug::first_lost)) ++begin;
    const int step = is(Bug::last_lane_lost) ? LANES + 1 : LANES;
    for (int e = begin + lane; e < end; e += step) {
      const int col = col_index[e] - (is(Bug::columns_from_1) && col_index[e] > 0);
      if (is(Bug::indices_exchanged))
        sum += x[e % 64] * values[col];
      else if (is(Bug::x_by_row))
        sum += values[e] * x[row % 100];
      else
        sum += values[e] * x[col];
      if (is(Bug::in_float16_steps)) sum = ldexpf(rintf(ldexpf(sum, 11)), -11);
    }
    if (is(Bug::unguarded_x) && begin == end) sum += 0 * values[0] / (x[0] - x[0]);
  }
  const int first_apart = is(Bug::shuffle_too_short) ? 2 : is(Bug::shuffle_too_long) ? 16 : 4;
  for (int apart = first_apart; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (!inside || (lane != 0 && !is(Bug::every_lane_writes))) return;
  if (is(Bug::into_the_input)) const_cast<float*>(x)[0] = 0;
  y[row] = is(Bug::adds_to_y) ? y[row] + sum : sum;
}

enum class TileBug {
  none,
  no_barrier_after_zeroing,    ///< `begins` may be set to 0 after it was filled
  no_barrier_before_reading,   ///< products may be read before they are there
  empty_rows_left,             ///< only rows with nonzeros are written
  carry_of_warps_lost,         ///< rows across two warps miss what came before
  carry_of_threads_lost,       ///< rows across two threads likewise
  before_lost,                 ///< the last thread's part of a row is forgotten
  scan_across_rows,            ///< the scan does not start anew where a row begins
  last_row_unwritten,          ///< the tile's last row
  guard_by_capacity,           ///< takes nonzeros of the next tile
  cut_rows_overwrite,          ///< a piece is written to y as if it were the row
  front_and_behind_exchanged,  ///< pieces are stored in each other's place
  alignment_forgotten,         ///< rows begin counted from the tile's first nonzero, products from the line's
  gaps_forgotten,              ///< products are stored with gaps for the banks, and read without
};

using TileKernel = void (*)(const int*, const int*, const float*, const float*, float*, SpmvPlan<float>);

template <TileBug BUG>
__global__ void tile_mutant(const int* row_ptr, const int* col_index, const float* values, const float* x, float* y,
                            SpmvPlan<float> plan) {
  const auto is = [](TileBug bug) { return bug == BUG; };
  constexpr int THREADS = kSpmvThreads, ITEMS = kSpmvItems, CAPACITY = kSpmvCapacity;
  __shared__ int begins[CAPACITY];
  __shared__ float products[spmv_padded<float>(CAPACITY)];
  __shared__ int rows_of[THREADS];
  __shared__ float sums_of[THREADS];
  const int thread = threadIdx.x;
  const SpmvCut a = plan.cuts[blockIdx.x], b = plan.cuts[blockIdx.x + 1];
  const int rows = b.row - a.row;
  const int base = a.e & ~31;
  const bool front = a.e != row_ptr[a.row], behind = b.e != row_ptr[b.row];

  for (int k = 0; k < ITEMS; ++k) {
    const int i = is(TileBug::no_barrier_after_zeroing) ? CAPACITY - 1 - (k * THREADS + thread) : k * THREADS + thread;
    begins[i] = 0;
  }
  if (!is(TileBug::no_barrier_after_zeroing)) __syncthreads();
  for (int i = thread; i < rows + behind; i += THREADS) {
    const int first = max(row_ptr[a.row + i], a.e);
    if (first < row_ptr[a.row + i + 1])
      begins[first - (is(TileBug::alignment_forgotten) ? a.e : base)] = i + 1;
    else if (!is(TileBug::empty_rows_left))
      y[a.row + i] = 0;
  }
  const int end = is(TileBug::guard_by_capacity) ? plan.cuts[plan.tiles].e : b.e;
  for (int k = 0; k < ITEMS; ++k) {
    const int i = k * THREADS + thread;
    const bool inside = base + i >= a.e && base + i < end;
    products[spmv_padded<float>(i)] = inside ? values[base + i] * x[col_index[base + i]] : 0.0f;
  }
  if (!is(TileBug::no_barrier_before_reading)) __syncthreads();

  const auto finish = [&](int row, float sum) {
    if (row == 1 && front && !is(TileBug::cut_rows_overwrite))
      plan.pieces[2 * blockIdx.x + is(TileBug::front_and_behind_exchanged)] = sum;
    else if (row == rows + 1 && !is(TileBug::cut_rows_overwrite))
      plan.pieces[2 * blockIdx.x + !is(TileBug::front_and_behind_exchanged)] = sum;
    else
      y[a.row + row - 1] = sum;
  };
  int row = 0;
  float before = 0, sum = 0;
  for (int i = thread * ITEMS; i < (thread + 1) * ITEMS; ++i) {
    if (begins[i] != 0) {
      if (row != 0)
        finish(row, sum);
      else
        before = sum;
      row = begins[i];
      sum = 0;
    }
    sum += products[is(TileBug::gaps_forgotten) ? i : spmv_padded<float>(i)];
  }
  rows_of[thread] = row;
  sums_of[thread] = sum;
  __syncthreads();
  int open_row = 0;
  float open_sum = 0;
  for (int t = 0; t < thread; ++t) {
    if (is(TileBug::carry_of_threads_lost) && t < thread - 1) continue;
    if (is(TileBug::carry_of_warps_lost) && t / 32 != thread / 32 && rows_of[t] == 0) continue;
    if (is(TileBug::scan_across_rows))
      open_sum += sums_of[t];
    else
      open_sum = rows_of[t] != 0 ? sums_of[t] : open_sum + sums_of[t];
    open_row = rows_of[t] != 0 ? rows_of[t] : open_row;
  }
  if (row != 0 && open_row != 0) finish(open_row, open_sum + (is(TileBug::before_lost) ? 0 : before));
  if (thread == THREADS - 1 && !is(TileBug::last_row_unwritten)) {
    const int last = row != 0 ? row : open_row;
    if (last != 0) finish(last, row != 0 ? sum : open_sum + sum);
  }
}

enum class JoinBug {
  none,
  nothing,                 ///< "the tiles have done it all"
  last_piece_lost,         ///< t < last
  first_piece_from_front,  ///< the piece in the first tile is taken from its front
  every_tile_adds,         ///< tiles in the middle of a row add up, too
  adds_to_y,               ///< y holds NaN, or what was there before
  next_row,
};

using JoinKernel = void (*)(const int*, float*, SpmvPlan<float>);

template <JoinBug BUG>
__global__ void join_mutant(const int* row_ptr, float* y, SpmvPlan<float> plan) {
  const auto is = [](JoinBug bug) { return bug == BUG; };
  const int tile = blockIdx.x * 256 + threadIdx.x;
  if (tile >= plan.tiles || is(JoinBug::nothing)) return;
  const SpmvCut a = plan.cuts[tile], b = plan.cuts[tile + 1];
  const int first = row_ptr[b.row];
  if (first >= b.e || (first < a.e && !is(JoinBug::every_tile_adds))) return;
  int last = static_cast<int>(spmv_position(b.row, row_ptr[b.row + 1] - 1) / kSpmvTile);
  if (is(JoinBug::last_piece_lost)) --last;
  float sum = plan.pieces[2 * tile + !is(JoinBug::first_piece_from_front)];
  for (int t = tile + 1; t <= last; ++t) sum += plan.pieces[2 * t];
  float* to = y + b.row + is(JoinBug::next_row);
  *to = is(JoinBug::adds_to_y) ? *to + sum : sum;
}

struct Mutant {
  const char* name;
  RowKernel rows;  ///< one of the two
  TileKernel tiles;
  JoinKernel join;           ///< with `tiles`
  Fault fault;               ///< what check_spmv() must find, among other things
  const char* finding = "";  ///< and what the simulator calls it
  bool gpu_may_be_lucky = false;
};

inline const Mutant mutants[] = {
    {"indices_exchanged", row_mutant<Bug::indices_exchanged>, nullptr, nullptr, Fault::wrong_value},
    {"x_by_row", row_mutant<Bug::x_by_row>, nullptr, nullptr, Fault::wrong_value},
    {"adds_to_y", row_mutant<Bug::adds_to_y>, nullptr, nullptr, Fault::wrong_value},
    {"skips_empty_rows", row_mutant<Bug::skips_empty_rows>, nullptr, nullptr, Fault::wrong_value},
    {"end_included", row_mutant<Bug::end_included>, nullptr, nullptr, Fault::wrong_value},
    {"first_lost", row_mutant<Bug::first_lost>, nullptr, nullptr, Fault::wrong_value},
    {"last_lane_lost", row_mutant<Bug::last_lane_lost>, nullptr, nullptr, Fault::wrong_value},
    {"no_guard", row_mutant<Bug::no_guard>, nullptr, nullptr, Fault::outside_written},
    {"last_row_lost", row_mutant<Bug::last_row_lost>, nullptr, nullptr, Fault::wrong_value},
    {"columns_from_1", row_mutant<Bug::columns_from_1>, nullptr, nullptr, Fault::wrong_value},
    {"shuffle_too_short", row_mutant<Bug::shuffle_too_short>, nullptr, nullptr, Fault::wrong_value},
    {"shuffle_too_long", row_mutant<Bug::shuffle_too_long>, nullptr, nullptr, Fault::wrong_value},
    {"early_return", row_mutant<Bug::early_return>, nullptr, nullptr, Fault::finding, "shuffle-absent-lane", true},
    {"every_lane_writes", row_mutant<Bug::every_lane_writes>, nullptr, nullptr, Fault::finding, "warp-synchronous",
     true},
    {"row_by_int_division", row_mutant<Bug::row_by_int_division>, nullptr, nullptr, Fault::wrong_value},
    {"unguarded_x", row_mutant<Bug::unguarded_x>, nullptr, nullptr, Fault::wrong_value},
    {"in_float16_steps", row_mutant<Bug::in_float16_steps>, nullptr, nullptr, Fault::wrong_value},
    {"into_the_input", row_mutant<Bug::into_the_input>, nullptr, nullptr, Fault::input_changed},
    {"no_barrier_after_zeroing", nullptr, tile_mutant<TileBug::no_barrier_after_zeroing>, join_mutant<JoinBug::none>,
     Fault::finding, "race-shared", true},
    {"no_barrier_before_reading", nullptr, tile_mutant<TileBug::no_barrier_before_reading>, join_mutant<JoinBug::none>,
     Fault::finding, "race-shared", true},
    {"empty_rows_left", nullptr, tile_mutant<TileBug::empty_rows_left>, join_mutant<JoinBug::none>, Fault::wrong_value},
    {"carry_of_warps_lost", nullptr, tile_mutant<TileBug::carry_of_warps_lost>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"carry_of_threads_lost", nullptr, tile_mutant<TileBug::carry_of_threads_lost>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"before_lost", nullptr, tile_mutant<TileBug::before_lost>, join_mutant<JoinBug::none>, Fault::wrong_value},
    {"scan_across_rows", nullptr, tile_mutant<TileBug::scan_across_rows>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"last_row_unwritten", nullptr, tile_mutant<TileBug::last_row_unwritten>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"guard_by_capacity", nullptr, tile_mutant<TileBug::guard_by_capacity>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"cut_rows_overwrite", nullptr, tile_mutant<TileBug::cut_rows_overwrite>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"front_and_behind_exchanged", nullptr, tile_mutant<TileBug::front_and_behind_exchanged>,
     join_mutant<JoinBug::none>, Fault::wrong_value},
    {"alignment_forgotten", nullptr, tile_mutant<TileBug::alignment_forgotten>, join_mutant<JoinBug::none>,
     Fault::wrong_value},
    {"gaps_forgotten", nullptr, tile_mutant<TileBug::gaps_forgotten>, join_mutant<JoinBug::none>, Fault::wrong_value},
    {"join_nothing", nullptr, tile_mutant<TileBug::none>, join_mutant<JoinBug::nothing>, Fault::wrong_value},
    {"join_last_piece_lost", nullptr, tile_mutant<TileBug::none>, join_mutant<JoinBug::last_piece_lost>,
     Fault::wrong_value},
    {"join_first_piece_from_front", nullptr, tile_mutant<TileBug::none>, join_mutant<JoinBug::first_piece_from_front>,
     Fault::wrong_value},
    {"join_every_tile_adds", nullptr, tile_mutant<TileBug::none>, join_mutant<JoinBug::every_tile_adds>,
     Fault::wrong_value, "", true},  // right if the first tile of the row is the last to store
    {"join_adds_to_y", nullptr, tile_mutant<TileBug::none>, join_mutant<JoinBug::adds_to_y>, Fault::wrong_value},
    {"join_next_row", nullptr, tile_mutant<TileBug::none>, join_mutant<JoinBug::next_row>, Fault::wrong_value},
};

}  // namespace spmv_mutants
