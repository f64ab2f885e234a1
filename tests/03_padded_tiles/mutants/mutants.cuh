// Wrong kernels for running sums. Each holds one mistake that people make with a tile, its padding or its swizzle, and
// each must be rejected by check_sums(), the same function that the right kernels pass.
//
// The kernels differ in one place each, so they are one template: its body is a right kernel, padded or swizzled, and
// every `is(Bug::...)` is the place where one mistake is made.
#pragma once

#include <cuda_runtime.h>

#include "03_padded_tiles/check_running_sums.hpp"

namespace sums_mutants {

enum class Bug {
  none,           ///< padded, right: proves that it is the mistake, and not the template, that is rejected
  none_swizzled,  ///< the same, swizzled
  no_barrier_before_walk,
  no_barrier_before_drain,
  no_guard_on_rows,
  no_guard_on_cols,
  no_guard_on_store,
  guard_and_for_or,
  pitch_of_fill_differs,
  pitch_of_walk_differs,
  last_column_lost,
  walk_into_padding,
  walk_stops_early,
  first_column_skipped,
  sum_forgotten_between_tiles,
  sum_starts_with_block,
  sum_counts_twice,
  not_zeroed_outside,
  swizzle_forgotten_in_walk,
  swizzle_by_column,
  swizzle_off_by_one,
  narrow_lanes_overlap,
  tile_not_advanced,
  pitch_of_out_is_rows,
  row_of_block_ignored,
  exclusive_sums,
  only_first_tile,
  only_full_tiles,
  adds_to_out,
  loses_bits,
  into_the_input,
  divides_by_zero,
};

template <Bug BUG>
__global__ void mutant(const float* in, float* out, int rows, int cols) {
  const auto is = [](Bug bug) { return bug == BUG; };
  constexpr bool swizzled = BUG == Bug::none_swizzled || BUG == Bug::swizzle_forgotten_in_walk ||
                            BUG == Bug::swizzle_by_column || BUG == Bug::swizzle_off_by_one;
  constexpr int PITCH = swizzled ? 32 : 33;
  __shared__ float tile[32 * PITCH];
  const auto place = [](int i, int j) { return swizzled ? 32 * i + (j ^ i) : PITCH * i + j; };

  const int lane = threadIdx.x;
  const int r0 = is(Bug::row_of_block_ignored) ? 0 : blockIdx.x * 32;
  if (is(Bug::only_full_tiles) && r0 + 32 > rows) return;
  float sum = is(Bug::sum_starts_with_block) ? static_cast<float>(blockIdx.x) : 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 32) {
    if (is(Bug::only_first_tile) && c0 > 0) return;
    for (int i = 0; i < 32; ++i) {
      bool inside = r0 + i < rows && c0 + lane < cols;
      if (is(Bug::no_guard_on_rows)) inside = c0 + lane < cols;
      if (is(Bug::no_guard_on_cols)) inside = r0 + i < rows;
      if (is(Bug::guard_and_for_or)) inside = r0 + i < rows || c0 + lane < cols;
      const size_t from = static_cast<size_t>(r0 + i) * cols + (is(Bug::tile_not_advanced) ? 0 : c0) + lane;
      int to = place(i, lane);
      if (is(Bug::pitch_of_fill_differs)) to = 32 * i + lane;
      if (is(Bug::narrow_lanes_overlap)) to = place(i, lane % 16);  // a fill for 16 columns, with 32 lanes
      if (is(Bug::not_zeroed_outside) && !inside) continue;
      tile[to] = inside ? in[from] : 0.0f;
    }
    if (is(Bug::no_barrier_before_walk)) {
    } else {
      __syncthreads();
    }

    if (is(Bug::sum_forgotten_between_tiles)) sum = 0.0f;
    for (int j = is(Bug::first_column_skipped) ? 1 : 0; j < 32; ++j) {
      if (is(Bug::walk_stops_early) && j == 31) break;
      int at = place(lane, j);
      if (is(Bug::pitch_of_walk_differs)) at = 32 * lane + j;
      if (is(Bug::walk_into_padding)) at = place(lane, j + 1);
      if (is(Bug::swizzle_forgotten_in_walk)) at = 32 * lane + j;
      if (is(Bug::swizzle_by_column)) at = 32 * lane + (j ^ (j / 2));
      if (is(Bug::swizzle_off_by_one)) at = 32 * lane + (j ^ ((lane + 1) % 32));
      const float word = tile[at];
      if (is(Bug::exclusive_sums)) tile[at] = sum;
      sum += is(Bug::sum_counts_twice) && c0 > 0 && j == 0 ? 2 * word : word;
      if (is(Bug::loses_bits)) sum = static_cast<float>(static_cast<int>(sum * 1048576.0f)) / 1048576.0f;
      if (!is(Bug::exclusive_sums)) tile[at] = sum;
    }
    if (is(Bug::no_barrier_before_drain)) {
    } else {
      __syncthreads();
    }

    for (int i = 0; i < 32; ++i) {
      bool inside = r0 + i < rows && c0 + lane < cols;
      if (is(Bug::no_guard_on_store)) inside = c0 + lane < cols;
      if (is(Bug::last_column_lost)) inside = inside && c0 + lane < cols - 1;
      if (!inside) continue;
      float word = tile[place(i, lane)];
      if (is(Bug::divides_by_zero)) word = word / (word * 0.0f) * 0.0f;
      const int pitch = is(Bug::pitch_of_out_is_rows) ? rows : cols;
      float* to = (is(Bug::into_the_input) ? const_cast<float*>(in) : out) + static_cast<size_t>(r0 + i) * pitch + c0;
      to[lane] = is(Bug::adds_to_out) ? to[lane] + word : word;
    }
  }
}

struct Mutant {
  const char* name;
  RunningSumsKernel kernel;
  Fault fault;                    ///< what check_sums() must find, among other things
  const char* finding = "";       ///< and what the simulator calls it
  bool gpu_may_be_lucky = false;  ///< a warp often runs in step, or reads where only the simulator looks
};

inline const Mutant mutants[] = {
    {"no_barrier_before_walk", mutant<Bug::no_barrier_before_walk>, Fault::finding, "warp-synchronous", true},
    {"no_barrier_before_drain", mutant<Bug::no_barrier_before_drain>, Fault::finding, "warp-synchronous", true},
    {"no_guard_on_rows", mutant<Bug::no_guard_on_rows>, Fault::finding, "out-of-bounds", true},
    {"no_guard_on_cols", mutant<Bug::no_guard_on_cols>, Fault::finding, "out-of-bounds", true},
    {"no_guard_on_store", mutant<Bug::no_guard_on_store>, Fault::outside_written},
    {"guard_and_for_or", mutant<Bug::guard_and_for_or>, Fault::finding, "out-of-bounds", true},
    {"pitch_of_fill_differs", mutant<Bug::pitch_of_fill_differs>, Fault::wrong_value},
    {"pitch_of_walk_differs", mutant<Bug::pitch_of_walk_differs>, Fault::wrong_value},
    {"last_column_lost", mutant<Bug::last_column_lost>, Fault::wrong_value},
    {"walk_into_padding", mutant<Bug::walk_into_padding>, Fault::wrong_value},
    {"walk_stops_early", mutant<Bug::walk_stops_early>, Fault::wrong_value},
    {"first_column_skipped", mutant<Bug::first_column_skipped>, Fault::wrong_value},
    {"sum_forgotten_between_tiles", mutant<Bug::sum_forgotten_between_tiles>, Fault::wrong_value},
    {"sum_starts_with_block", mutant<Bug::sum_starts_with_block>, Fault::wrong_value},
    {"sum_counts_twice", mutant<Bug::sum_counts_twice>, Fault::wrong_value},
    {"not_zeroed_outside", mutant<Bug::not_zeroed_outside>, Fault::finding, "uninitialised", true},
    {"swizzle_forgotten_in_walk", mutant<Bug::swizzle_forgotten_in_walk>, Fault::wrong_value},
    {"swizzle_by_column", mutant<Bug::swizzle_by_column>, Fault::wrong_value},
    {"swizzle_off_by_one", mutant<Bug::swizzle_off_by_one>, Fault::wrong_value},
    {"narrow_lanes_overlap", mutant<Bug::narrow_lanes_overlap>, Fault::wrong_value},
    {"tile_not_advanced", mutant<Bug::tile_not_advanced>, Fault::wrong_value},
    {"pitch_of_out_is_rows", mutant<Bug::pitch_of_out_is_rows>, Fault::wrong_value},
    {"row_of_block_ignored", mutant<Bug::row_of_block_ignored>, Fault::wrong_value},
    {"exclusive_sums", mutant<Bug::exclusive_sums>, Fault::wrong_value},
    {"only_first_tile", mutant<Bug::only_first_tile>, Fault::wrong_value},
    {"only_full_tiles", mutant<Bug::only_full_tiles>, Fault::wrong_value},
    {"adds_to_out", mutant<Bug::adds_to_out>, Fault::wrong_value},
    {"loses_bits", mutant<Bug::loses_bits>, Fault::wrong_value},
    {"into_the_input", mutant<Bug::into_the_input>, Fault::input_changed},
    {"divides_by_zero", mutant<Bug::divides_by_zero>, Fault::wrong_value},
};

}  // namespace sums_mutants
