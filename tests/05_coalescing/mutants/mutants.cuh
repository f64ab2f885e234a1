// Wrong kernels. Each holds one mistake that people make, and each must be rejected by check_task(), the same function
// that the right kernels pass.
//
// They differ in one place each, so they are templates: the bodies are right kernels, and every `is(Bug::...)` is the
// place where one mistake is made.
#pragma once

#include <cuda_runtime.h>

#include "05_coalescing/check_coalescing.hpp"
#include "coalescing.cuh"

namespace coalescing_mutants {

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  stride_only_on_load,
  stride_only_on_store,
  stride_plus_one,
  guard_off_by_one,
  no_guard,
  last_word_lost,
  only_the_first_share,
  block_of_128_assumed,
  every_block_the_same,
  words_between_too,
  adds_to_out,
  rounds,
  into_the_input,
  first_word_only,
};

/// strided_copy() of floats, in blocks of 256 threads that move 4 words each.
template <Bug BUG>
__global__ void moves(const float* in, float* out, size_t count, size_t stride) {
  const auto is = [](Bug bug) { return bug == BUG; };
  const size_t block = is(Bug::every_block_the_same) ? 0 : blockIdx.x;
  const size_t threads = is(Bug::block_of_128_assumed) ? 128 : 256;
  const size_t last = is(Bug::guard_off_by_one) ? count + 1 : is(Bug::last_word_lost) ? count - 1 : count;
  for (int k = 0; k < (is(Bug::only_the_first_share) ? 1 : 4); ++k) {
    const size_t i = block * threads * 4 + k * threads + threadIdx.x;
    if (i >= last && !is(Bug::no_guard)) continue;
    if (is(Bug::first_word_only) && i > 0) continue;
    const size_t step = is(Bug::stride_plus_one) ? stride + 1 : stride;
    const size_t from = is(Bug::stride_only_on_store) ? i : i * step;
    const size_t to = is(Bug::stride_only_on_load) ? i : i * step;
    float word = in[from];
    if (is(Bug::rounds)) word = static_cast<float>(static_cast<int>(word * 4194304.0f)) / 4194304.0f;  // to 22 bits
    if (is(Bug::into_the_input)) const_cast<float*>(in)[to] = 0;
    out[to] = is(Bug::adds_to_out) ? out[to] + word : word;
    if (is(Bug::words_between_too) && i + 1 < count) out[to + 1] = in[from + 1];
  }
}

enum class WideBug {
  none,
  tail_lost,        ///< count / 4 float4, and nothing after them
  tail_rounded_up,  ///< one float4 more, across the end
  scalar_index,     ///< float4 number i taken for float number i
};

/// copy_four_vectors() with one float4 per thread.
template <WideBug BUG>
__global__ void wide(const float* in, float* out, size_t count) {
  const auto is = [](WideBug bug) { return bug == BUG; };
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t vectors = is(WideBug::tail_rounded_up) ? (count + 3) / 4 : count / 4;
  if (i < vectors) {
    if (is(WideBug::scalar_index)) {
      for (int w = 0; w < 4; ++w) out[i + w] = in[i + w];
    } else {
      reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    }
  }
  const size_t rest = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && rest < count && !is(WideBug::tail_lost)) out[rest] = in[rest];
}

enum class ParticleBug {
  none,
  no_first_barrier,
  no_second_barrier,
  early_return,         ///< of threads without a particle, before the barrier
  count_for_floats,     ///< the guard of the staging loop counts particles
  not_turned,           ///< staged by the field's row, fetched as if by the particle's
  velocity_first,       ///< the new velocity moves the particle
  age_forgotten,        ///< all fields but one
  drag_on_position,     ///< field 0 instead of field 4
  fields_of_neighbour,  ///< thread t takes the velocity of particle t + 1
  nan_where_drag_is_small,
};

template <ParticleBug BUG>
__global__ void particles(const float* in, float* out, size_t count, float dt) {
  const auto is = [](ParticleBug bug) { return bug == BUG; };
  __shared__ float tile[8][64 + 4];  // blocks of 64 threads
  const int t = threadIdx.x;
  const size_t begin = static_cast<size_t>(blockIdx.x) * (64 * 8);
  const size_t end = is(ParticleBug::count_for_floats) ? count : 8 * count;
  const bool mine = static_cast<size_t>(blockIdx.x) * 64 + t < count;
  if (is(ParticleBug::early_return) && !mine) return;
  for (int word = t; word < 512; word += 64) {
    if (begin + word < end) tile[word % 8][word / 8] = in[begin + word];
  }
  if (!is(ParticleBug::no_first_barrier)) __syncthreads();
  if (mine) {
    const int v = is(ParticleBug::fields_of_neighbour) ? (t + 1) % 64 : t;
    Particle p = {tile[0][t], tile[1][t], tile[2][t], tile[3][t], tile[4][v], tile[5][v], tile[6][v], tile[7][t]};
    if (is(ParticleBug::not_turned)) p = {tile[t % 8][t / 8], p.y, p.z, p.age, p.vx, p.vy, p.vz, p.drag};
    const float age = p.age;
    if (is(ParticleBug::velocity_first)) {
      p.vx *= p.drag, p.vy *= p.drag, p.vz *= p.drag;
      p.x += dt * p.vx, p.y += dt * p.vy, p.z += dt * p.vz, p.age += dt;
    } else {
      p = advance(p, dt);
    }
    if (is(ParticleBug::age_forgotten)) p.age = age;
    if (is(ParticleBug::drag_on_position)) p.x *= p.drag;
    if (is(ParticleBug::nan_where_drag_is_small) && p.drag < -0.9f) p.vx = sqrtf(p.drag);
    tile[0][t] = p.x, tile[1][t] = p.y, tile[2][t] = p.z, tile[3][t] = p.age;
    tile[4][t] = p.vx, tile[5][t] = p.vy, tile[6][t] = p.vz;
  }
  if (!is(ParticleBug::no_second_barrier)) __syncthreads();
  for (int word = t; word < 512; word += 64) {
    if (begin + word < end) out[begin + word] = tile[word % 8][word / 8];
  }
}

enum class SumBug {
  none,
  half_the_shuffles,    ///< begins at a distance of 8
  every_lane_writes,    ///< but only lane 0 has the sum; which of the 32 stays is not defined
  remainder_forgotten,  ///< cols / 32 * 32 columns
  pitch_is_rows,
  not_accumulated,  ///< the last word instead of the sum
  begins_at_one,
};

/// row_sums_warp().
template <SumBug BUG>
__global__ void row_sums(const float* in, float* sums, int rows, int cols) {
  const auto is = [](SumBug bug) { return bug == BUG; };
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int pitch = is(SumBug::pitch_is_rows) ? rows : cols;
  const int end = is(SumBug::remainder_forgotten) ? cols / 32 * 32 : cols;
  float sum = is(SumBug::begins_at_one) ? 1.0f : 0.0f;
  for (int col = lane; col < end; col += 32) {
    const float word = in[static_cast<size_t>(row) * pitch + col];
    sum = is(SumBug::not_accumulated) ? word : sum + word;
  }
  for (int distance = is(SumBug::half_the_shuffles) ? 8 : 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0 || is(SumBug::every_lane_writes)) sums[row] = sum;
}

enum class ColumnBug {
  none,
  no_barrier,
  one_warp_lost,  ///< 31 of 32 partial sums
  no_guard_on_store,
  rows_of_one_block,  ///< rows above 32 forgotten
  part_turned,        ///< part[column][warp] on the way out
};

/// column_sums_block().
template <ColumnBug BUG>
__global__ void column_sums(const float* in, float* sums, int rows, int cols) {
  const auto is = [](ColumnBug bug) { return bug == BUG; };
  __shared__ float part[32][32];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 32 + x;
  float sum = 0;
  if (col < cols)
    for (int row = y; row < (is(ColumnBug::rows_of_one_block) && rows > 32 ? 32 : rows); row += 32)
      sum += in[static_cast<size_t>(row) * cols + col];
  part[y][x] = sum;
  if (!is(ColumnBug::no_barrier)) __syncthreads();
  if (y != 0 || (col >= cols && !is(ColumnBug::no_guard_on_store))) return;
  for (int warp = 1; warp < (is(ColumnBug::one_warp_lost) ? 31 : 32); ++warp)
    sum += is(ColumnBug::part_turned) ? part[x][warp] : part[warp][x];
  sums[col] = sum;
}

enum class GatherBug {
  none,
  scatters,  ///< out[index[i]] = in[i]
  index_ignored,
  index_twice,    ///< in[index[index[i]]]
  index_shifted,  ///< index[i + 1]
  no_guard,
};

template <GatherBug BUG>
__global__ void gathers(const float* in, const unsigned* index, float* out, size_t count) {
  const auto is = [](GatherBug bug) { return bug == BUG; };
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count && !is(GatherBug::no_guard)) return;
  if (is(GatherBug::no_guard) && i >= count) {
    out[i] = in[0];
    return;
  }
  unsigned from = index[is(GatherBug::index_shifted) ? (i + 1) % count : i];
  if (is(GatherBug::index_ignored)) from = static_cast<unsigned>(i);
  if (is(GatherBug::index_twice)) from = index[from];
  if (is(GatherBug::scatters))
    out[from] = in[i];
  else
    out[i] = in[from];
}

/// What check_task() must find of a wrong kernel, among other things.
struct Expected {
  Fault fault;
  const char* finding = "";       ///< and what the simulator calls it
  bool gpu_may_be_lucky = false;  ///< depends on timing
};

template <class Kernel>
struct Mutant {
  const char* name;
  Kernel kernel;
  Expected expected;
};

#define TILEWISE_MUTANT(kernel, bug, ...)             \
  {                                                   \
#kernel ": " #bug, kernel < bug>, { __VA_ARGS__ } \
  }

inline const Mutant<void (*)(const float*, float*, size_t, size_t)> move_mutants[] = {
    TILEWISE_MUTANT(moves, Bug::stride_only_on_load, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::stride_only_on_store, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::stride_plus_one, Fault::outside_written),
    TILEWISE_MUTANT(moves, Bug::guard_off_by_one, Fault::outside_written),
    TILEWISE_MUTANT(moves, Bug::no_guard, Fault::outside_written),
    TILEWISE_MUTANT(moves, Bug::last_word_lost, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::only_the_first_share, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::block_of_128_assumed, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::every_block_the_same, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::words_between_too, Fault::outside_written),
    TILEWISE_MUTANT(moves, Bug::adds_to_out, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::rounds, Fault::wrong_value),
    TILEWISE_MUTANT(moves, Bug::into_the_input, Fault::input_changed),
    TILEWISE_MUTANT(moves, Bug::first_word_only, Fault::wrong_value),
};

inline const Mutant<void (*)(const float*, float*, size_t)> wide_mutants[] = {
    TILEWISE_MUTANT(wide, WideBug::tail_lost, Fault::wrong_value),
    TILEWISE_MUTANT(wide, WideBug::tail_rounded_up, Fault::outside_written),
    TILEWISE_MUTANT(wide, WideBug::scalar_index, Fault::wrong_value),
};

inline const Mutant<void (*)(const float*, float*, size_t, float)> particle_mutants[] = {
    TILEWISE_MUTANT(particles, ParticleBug::no_first_barrier, Fault::finding, "race-shared", true),
    TILEWISE_MUTANT(particles, ParticleBug::no_second_barrier, Fault::finding, "race-shared", true),
    TILEWISE_MUTANT(particles, ParticleBug::early_return, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::count_for_floats, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::not_turned, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::velocity_first, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::age_forgotten, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::drag_on_position, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::fields_of_neighbour, Fault::wrong_value),
    TILEWISE_MUTANT(particles, ParticleBug::nan_where_drag_is_small, Fault::wrong_value),
};

inline const Mutant<void (*)(const float*, float*, int, int)> row_mutants[] = {
    TILEWISE_MUTANT(row_sums, SumBug::half_the_shuffles, Fault::wrong_value),
    TILEWISE_MUTANT(row_sums, SumBug::every_lane_writes, Fault::finding, "warp-synchronous", true),
    TILEWISE_MUTANT(row_sums, SumBug::remainder_forgotten, Fault::wrong_value),
    TILEWISE_MUTANT(row_sums, SumBug::pitch_is_rows, Fault::wrong_value),
    TILEWISE_MUTANT(row_sums, SumBug::not_accumulated, Fault::wrong_value),
    TILEWISE_MUTANT(row_sums, SumBug::begins_at_one, Fault::wrong_value),
};

inline const Mutant<void (*)(const float*, float*, int, int)> column_mutants[] = {
    TILEWISE_MUTANT(column_sums, ColumnBug::no_barrier, Fault::finding, "race-shared", true),
    TILEWISE_MUTANT(column_sums, ColumnBug::one_warp_lost, Fault::wrong_value),
    TILEWISE_MUTANT(column_sums, ColumnBug::no_guard_on_store, Fault::outside_written),
    TILEWISE_MUTANT(column_sums, ColumnBug::rows_of_one_block, Fault::wrong_value),
    TILEWISE_MUTANT(column_sums, ColumnBug::part_turned, Fault::wrong_value),
};

inline const Mutant<void (*)(const float*, const unsigned*, float*, size_t)> gather_mutants[] = {
    TILEWISE_MUTANT(gathers, GatherBug::scatters, Fault::wrong_value),
    TILEWISE_MUTANT(gathers, GatherBug::index_ignored, Fault::wrong_value),
    TILEWISE_MUTANT(gathers, GatherBug::index_twice, Fault::wrong_value),
    TILEWISE_MUTANT(gathers, GatherBug::index_shifted, Fault::wrong_value),
    TILEWISE_MUTANT(gathers, GatherBug::no_guard, Fault::outside_written),
};

#undef TILEWISE_MUTANT

}  // namespace coalescing_mutants
