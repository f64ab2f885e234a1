// Wrong transposes. Each holds one mistake that people make, and each must be rejected by check_transpose(), the same
// function that the right kernels pass.
//
// The kernels differ in one place each, so they are three templates: the bodies are right kernels, one by tiles with a
// swizzle, one by float4, one with a ragged edge, and every `is(Bug::...)` is the place where one mistake is made.
#pragma once

#include <cuda_runtime.h>

#include "04_transpose/check_transpose.hpp"

namespace transpose_mutants {

constexpr int kTile = 16;

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  no_barrier,
  warp_barrier,
  early_return,
  no_guard_on_load,
  no_guard_on_store,
  load_guard_on_store,
  guard_and_for_or,
  copies_instead,
  tile_not_turned,
  blocks_not_exchanged,
  row_and_col_exchanged,
  pitch_of_in_is_rows,
  pitch_of_out_is_cols,
  swizzle_forgotten,
  swizzle_off_by_one,
  last_column_lost,
  first_row_shifted,
  only_first_tile,
  only_full_tiles,
  adds_to_out,
  rounds,
  into_the_input,
};

template <Bug BUG>
__global__ void mutant(const float* in, float* out, int rows, int cols) {
  const auto is = [](Bug bug) { return bug == BUG; };

  __shared__ float tile[kTile][kTile];  // tile[i][j ^ i] = in[r0 + i][c0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const bool exchanged = is(Bug::row_and_col_exchanged);
  const int r0 = (exchanged ? blockIdx.x : blockIdx.y) * kTile;
  const int c0 = (exchanged ? blockIdx.y : blockIdx.x) * kTile;
  if (is(Bug::only_first_tile) && (r0 > 0 || c0 > 0)) return;
  if (is(Bug::only_full_tiles) && (r0 + kTile > rows || c0 + kTile > cols)) return;

  bool load = r0 + ty < rows && c0 + tx < cols;
  if (is(Bug::early_return) && !load) return;  // but some of these threads have an element to write
  if (is(Bug::no_guard_on_load)) load = true;
  if (load) tile[ty][tx ^ ty] = in[(r0 + ty) * (is(Bug::pitch_of_in_is_rows) ? rows : cols) + c0 + tx];

  if (is(Bug::warp_barrier)) {
    __syncwarp();  // a tile is filled by eight warps, not by one
  } else if (!is(Bug::no_barrier)) {
    __syncthreads();
  }

  bool store = c0 + ty < cols && r0 + tx < rows;
  if (is(Bug::no_guard_on_store)) store = true;
  if (is(Bug::load_guard_on_store)) store = r0 + ty < rows && c0 + tx < cols;
  if (is(Bug::guard_and_for_or)) store = c0 + ty < cols || r0 + tx < rows;
  if (is(Bug::last_column_lost)) store = store && c0 + ty < cols - 1;
  if (is(Bug::copies_instead)) store = r0 + ty < rows && c0 + tx < cols;
  if (!store) return;

  float word = tile[tx][ty ^ tx];
  if (is(Bug::tile_not_turned)) word = tile[ty][tx ^ ty];
  if (is(Bug::swizzle_forgotten)) word = tile[tx][ty];
  if (is(Bug::swizzle_off_by_one)) word = tile[tx][ty ^ ((tx + 1) % kTile)];
  if (is(Bug::rounds)) word = static_cast<float>(static_cast<int>(word * 4194304.0f)) / 4194304.0f;  // to 22 bits

  size_t at = static_cast<size_t>(c0 + ty) * (is(Bug::pitch_of_out_is_cols) ? cols : rows) + r0 + tx;
  if (is(Bug::blocks_not_exchanged)) at = static_cast<size_t>(r0 + ty) * rows + c0 + tx;
  if (is(Bug::copies_instead)) {  // the transpose of the transpose
    at = static_cast<size_t>(r0 + ty) * cols + c0 + tx;
    word = tile[ty][tx ^ ty];
  }
  if (is(Bug::first_row_shifted) && c0 + ty == 0) at += 1;
  float* to = is(Bug::into_the_input) ? const_cast<float*>(in) : out;
  to[at] = is(Bug::adds_to_out) ? to[at] + word : word;
}

enum class WideBug {
  none,
  piece_not_turned,     ///< 4 x 4 pieces change places, but not the words inside
  swizzle_by_word,      ///< stored by j / 4 % 8, fetched by j % 8
  half_the_rows,        ///< 256 threads write 16 rows of 64 at a time; one round is enough, they thought
  guard_of_first_word,  ///< for widths that are no multiple of 4: a float4 across the edge
};

template <WideBug BUG>
__global__ void wide_mutant(const float* in, float* out, int rows, int cols) {
  const auto is = [](WideBug bug) { return bug == BUG; };
  __shared__ float4 tile[64][16];
  const int r0 = blockIdx.y * 64, c0 = blockIdx.x * 64, x = threadIdx.x, y = threadIdx.y;
  const int row = r0 + 4 * y, col = c0 + 4 * x;
  if (row < rows && col < cols) {
    float w[4][4];
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        w[i][j] = row + i < rows && col + j < cols ? in[static_cast<size_t>(row + i) * cols + col + j] : 0.0f;
    for (int j = 0; j < 4; ++j) {
      float4 piece = make_float4(w[0][j], w[1][j], w[2][j], w[3][j]);
      if (is(WideBug::piece_not_turned)) piece = make_float4(w[j][0], w[j][1], w[j][2], w[j][3]);
      tile[4 * x + j][y ^ (x % 8)] = piece;
    }
  }
  __syncthreads();
  for (int j = y; j < (is(WideBug::half_the_rows) ? 32 : 64); j += 16) {
    const int out_row = c0 + j, out_col = r0 + 4 * x;
    if (out_row >= cols || out_col >= rows) continue;
    const float4 piece = tile[j][x ^ ((is(WideBug::swizzle_by_word) ? j : j / 4) % 8)];
    const float word[4] = {piece.x, piece.y, piece.z, piece.w};
    for (int i = 0; i < 4; ++i) {
      if (!is(WideBug::guard_of_first_word) && out_col + i >= rows) continue;
      out[static_cast<size_t>(out_row) * rows + out_col + i] = word[i];
    }
  }
}

enum class RaggedBug {
  none,
  no_rows_above,  ///< the 8 rows above the tile are not read, but written out
  no_barrier,
  shift_forgotten,       ///< words are picked up as if every row began at a multiple of 16 bytes
  shift_of_first_row,    ///< or as if all rows began as the first one does
  a_piece_too_few,       ///< 16 pieces cover 64 words only where these begin at a multiple of 16 bytes
  last_piece_unguarded,  ///< a float4 across the end of the matrix
  inside_by_rows,        ///< rows below the tile, so nothing can be across the end: not if these are short
  no_guard_above,        ///< the cut of the first tile is before the beginning of the row
  no_guard_below,        ///< and that of the last one past its end
  half_of_each_row,      ///< 32 lanes write 32 of 64 words
};

template <RaggedBug BUG>
__global__ void ragged_mutant(const float* in, float* out, int rows, int cols) {
  const auto is = [](RaggedBug bug) { return bug == BUG; };
  __shared__ float4 tile[72][17];
  const int r0 = static_cast<int>(blockIdx.y) * 64 - 8, c0 = blockIdx.x * 64;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const long long count = static_cast<long long>(rows) * cols;
  const auto shift = [&](int i) {
    return static_cast<int>((reinterpret_cast<size_t>(in) / 4 + (r0 + 8) * cols + c0 + (i - 8) * cols) % 4);
  };
  const int pieces = is(RaggedBug::a_piece_too_few) ? 16 : 17;
  for (int k = thread; k < 72 * pieces; k += threads) {
    const int i = k / pieces, piece = k % pieces, row = r0 + i;
    if (row < 0 || row >= rows || (is(RaggedBug::no_rows_above) && i < 8)) continue;
    const long long at = static_cast<long long>(row) * cols + c0 - shift(i) + 4 * piece;
    float* to = reinterpret_cast<float*>(&tile[i][piece]);
    for (int w = 0; w < 4; ++w) {
      const bool inside = is(RaggedBug::inside_by_rows) && r0 > 0 && r0 + 72 < rows;
      const bool across = is(RaggedBug::last_piece_unguarded) && at < count;
      if (at + w < 0 || (at + w >= count && !across && !inside)) continue;
      to[w] = in[at + w];
    }
  }
  if (!is(RaggedBug::no_barrier)) __syncthreads();
  for (int j = thread / 32; j < 64 && c0 + j < cols; j += threads / 32) {
    float* to = out + static_cast<size_t>(c0 + j) * rows;
    const int past = static_cast<int>(reinterpret_cast<size_t>(to) / 4 % 8);
    for (int k = 0; k < (is(RaggedBug::half_of_each_row) ? 32 : 64); k += 32) {
      const int i = 8 - past + thread % 32 + k, row = r0 + i;
      if (row < 0 && !is(RaggedBug::no_guard_above)) continue;
      if (row >= rows && !is(RaggedBug::no_guard_below)) continue;
      int shifted = shift(i);
      if (is(RaggedBug::shift_forgotten)) shifted = 0;
      if (is(RaggedBug::shift_of_first_row)) shifted = shift(8);
      to[row] = reinterpret_cast<const float*>(tile[i])[shifted + j];
    }
  }
}

using Kernel = void (*)(const float*, float*, int, int);

struct Mutant {
  const char* name;
  Kernel kernel;
  int tile;                       ///< side of what a block of 16 x 16 threads covers
  Fault fault;                    ///< what check_transpose() must find, among other things
  const char* finding = "";       ///< and what the simulator calls it
  bool gpu_may_be_lucky = false;  ///< depends on timing, or reads where only the simulator looks
};

inline const Mutant mutants[] = {
    {"no_barrier", mutant<Bug::no_barrier>, kTile, Fault::finding, "race-shared", true},
    {"warp_barrier", mutant<Bug::warp_barrier>, kTile, Fault::finding, "race-shared", true},
    {"early_return", mutant<Bug::early_return>, kTile, Fault::wrong_value},
    {"no_guard_on_load", mutant<Bug::no_guard_on_load>, kTile, Fault::finding, "out-of-bounds", true},
    {"no_guard_on_store", mutant<Bug::no_guard_on_store>, kTile, Fault::outside_written},
    {"load_guard_on_store", mutant<Bug::load_guard_on_store>, kTile, Fault::wrong_value},
    {"guard_and_for_or", mutant<Bug::guard_and_for_or>, kTile, Fault::outside_written},
    {"copies_instead", mutant<Bug::copies_instead>, kTile, Fault::wrong_value},
    {"tile_not_turned", mutant<Bug::tile_not_turned>, kTile, Fault::wrong_value},
    {"blocks_not_exchanged", mutant<Bug::blocks_not_exchanged>, kTile, Fault::wrong_value},
    {"row_and_col_exchanged", mutant<Bug::row_and_col_exchanged>, kTile, Fault::wrong_value},
    {"pitch_of_in_is_rows", mutant<Bug::pitch_of_in_is_rows>, kTile, Fault::wrong_value},
    {"pitch_of_out_is_cols", mutant<Bug::pitch_of_out_is_cols>, kTile, Fault::wrong_value},
    {"swizzle_forgotten", mutant<Bug::swizzle_forgotten>, kTile, Fault::wrong_value},
    {"swizzle_off_by_one", mutant<Bug::swizzle_off_by_one>, kTile, Fault::wrong_value},
    {"last_column_lost", mutant<Bug::last_column_lost>, kTile, Fault::wrong_value},
    {"first_row_shifted", mutant<Bug::first_row_shifted>, kTile, Fault::wrong_value},
    {"only_first_tile", mutant<Bug::only_first_tile>, kTile, Fault::wrong_value},
    {"only_full_tiles", mutant<Bug::only_full_tiles>, kTile, Fault::wrong_value},
    {"adds_to_out", mutant<Bug::adds_to_out>, kTile, Fault::wrong_value},
    {"rounds", mutant<Bug::rounds>, kTile, Fault::wrong_value},
    {"into_the_input", mutant<Bug::into_the_input>, kTile, Fault::input_changed},
    {"piece_not_turned", wide_mutant<WideBug::piece_not_turned>, 64, Fault::wrong_value},
    {"swizzle_by_word", wide_mutant<WideBug::swizzle_by_word>, 64, Fault::wrong_value},
    {"half_the_rows", wide_mutant<WideBug::half_the_rows>, 64, Fault::wrong_value},
    {"guard_of_first_word", wide_mutant<WideBug::guard_of_first_word>, 64, Fault::outside_written},
    {"no_rows_above", ragged_mutant<RaggedBug::no_rows_above>, 64, Fault::wrong_value},
    {"ragged_no_barrier", ragged_mutant<RaggedBug::no_barrier>, 64, Fault::finding, "race-shared", true},
    {"shift_forgotten", ragged_mutant<RaggedBug::shift_forgotten>, 64, Fault::wrong_value},
    {"shift_of_first_row", ragged_mutant<RaggedBug::shift_of_first_row>, 64, Fault::wrong_value},
    {"a_piece_too_few", ragged_mutant<RaggedBug::a_piece_too_few>, 64, Fault::wrong_value},
    {"last_piece_unguarded", ragged_mutant<RaggedBug::last_piece_unguarded>, 64, Fault::finding, "out-of-bounds", true},
    {"inside_by_rows", ragged_mutant<RaggedBug::inside_by_rows>, 64, Fault::finding, "out-of-bounds", true},
    {"no_guard_above", ragged_mutant<RaggedBug::no_guard_above>, 64, Fault::wrong_value},
    {"no_guard_below", ragged_mutant<RaggedBug::no_guard_below>, 64, Fault::outside_written},
    {"half_of_each_row", ragged_mutant<RaggedBug::half_of_each_row>, 64, Fault::wrong_value},
};

}  // namespace transpose_mutants
