// Wrong kernels that fetch ahead. Each holds one mistake that people make, and each must be rejected by check_matmul(), the same
// function that the right kernels pass.
//
// Two templates, for the chapter's two kernels: the body is the right kernel, and every `is(...)` is the place where one mistake
// is made. What tiles in registers can do wrong as well is among chapter 09's mutants.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "check_matmul.hpp"

namespace async_mutants {

// A tile of C of 32 x 32 elements and a depth of 8; 4 x 4 elements for each of 64 threads; 3 stages.
constexpr int kTile = 32, kDepth = 8, kEach = 4, kStages = 3, kThreads = 64;

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  no_wait,
  wait_too_weak,            ///< leaves one group more in flight
  no_commit,                ///< no group, so nothing that a wait would wait for
  commit_only_with_copies,  ///< the last waits count groups that are not there
  no_barrier,
  barrier_before_wait,     ///< everybody is here, and then each thread waits for its own copies
  fetch_before_barrier,    ///< into the stage that others still multiply
  next_stage_fetched,      ///< into the stage that is being multiplied
  wrong_stage_multiplied,  ///< the one after
  short_prologue,          ///< one tile less is on its way than the loop counts on
  same_tile_again,         ///< the addresses do not go on
  all_zeros,               ///< zfill is what is filled, not what is copied
  no_zeros,                ///< what lies past the end of K is copied as well
  zeros_by_whole_tile,     ///< all of a tile that K cuts short is zeros
  zeros_in_a_only,         ///< rows of B past the end are copied
  rows_not_clamped,        ///< rows of A past the end are copied
  columns_not_clamped,     ///< and words of B past the end of its rows
  forgets_last_tile,       ///< rounds the number of tiles down
  guard_by_row             ///< a row may be inside where the column is not
};

template <Bug BUG>
__global__ void stages(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](Bug bug) { return bug == BUG; };
  __shared__ float As[kStages][kDepth][kTile + 4], Bs[kStages][kDepth][kTile];
  const int thread = threadIdx.x, tx = thread % 8, ty = thread / 8;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float sum[kEach][kEach] = {};
  const auto zeros = [&](int k, int left) {  // of the four bytes of a word in row k of a tile
    const bool inside = is(Bug::zeros_by_whole_tile) ? left >= kDepth : k < left;
    return inside == !is(Bug::all_zeros) || is(Bug::no_zeros) ? 0 : 4;
  };
  const auto fetch = [&](int stage, int t) {
    const int k0 = is(Bug::same_tile_again) ? 0 : t * kDepth, left = K - t * kDepth;
    for (int w = thread; w < kTile * kDepth; w += kThreads) {
      const int i = w / kDepth, k = w % kDepth;
      const int row = is(Bug::rows_not_clamped) ? row0 + i : min(row0 + i, M - 1);
      __pipeline_memcpy_async(&As[stage][k][i], &A[row * K + k0 + k], 4, zeros(k, left));
    }
    for (int w = thread; w < kDepth * kTile; w += kThreads) {
      const int k = w / kTile, j = w % kTile;
      const int col = is(Bug::columns_not_clamped) ? col0 + j : min(col0 + j, N - 1);
      __pipeline_memcpy_async(&Bs[stage][k][j], &B[(k0 + k) * N + col], 4,
                              is(Bug::zeros_in_a_only) ? 0 : zeros(k, left));
    }
  };
  const int tiles = is(Bug::forgets_last_tile) ? K / kDepth : (K + kDepth - 1) / kDepth;
  for (int t = 0; t < kStages - (is(Bug::short_prologue) ? 2 : 1); ++t) {
    if (t < tiles) fetch(t, t);
    if (!is(Bug::no_commit)) __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    const int next = t + kStages - (is(Bug::short_prologue) ? 2 : 1);
    const int to = (next + (is(Bug::next_stage_fetched) ? 1 : 0)) % kStages;
    if (is(Bug::barrier_before_wait)) __syncthreads();
    if (!is(Bug::no_wait)) __pipeline_wait_prior(kStages - (is(Bug::wait_too_weak) ? 1 : 2));
    if (is(Bug::fetch_before_barrier) && next < tiles) fetch(to, next);
    if (!is(Bug::barrier_before_wait) && !is(Bug::no_barrier)) __syncthreads();
    if (!is(Bug::fetch_before_barrier) && next < tiles) fetch(to, next);
    if (!is(Bug::no_commit) && (!is(Bug::commit_only_with_copies) || next < tiles)) __pipeline_commit();
    const int stage = (t + (is(Bug::wrong_stage_multiplied) ? 1 : 0)) % kStages;
    for (int k = 0; k < kDepth; ++k)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[i][j] += As[stage][k][ty * kEach + i] * Bs[stage][k][tx * kEach + j];
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = row0 + ty * kEach + i, col = col0 + tx * kEach + j;
      if (row < M && (col < N || is(Bug::guard_by_row))) C[row * N + col] = sum[i][j];
    }
  }
}

enum class HandBug {
  none,
  no_barrier,
  one_buffer,          ///< stores into the buffer that others still read
  never_swapped,       ///< stores into the other one, and goes on to read the first
  stored_before_read,  ///< the next words go into the present buffer before it is multiplied
  no_first_tile,       ///< begins to multiply before anything is there
  one_tile_too_many,   ///< fetches a tile after the last one, and has no guard for it
  no_guard_of_k        ///< what lies past the end of K is loaded as well
};

template <HandBug BUG>
__global__ void two_buffers(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](HandBug bug) { return bug == BUG; };
  constexpr int kWords = kTile * kDepth / kThreads;
  __shared__ float As[2][kDepth][kTile + 4], Bs[2][kDepth][kTile];
  const int thread = threadIdx.x, tx = thread % 8, ty = thread / 8;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float sum[kEach][kEach] = {}, a[kWords], b[kWords];
  const auto fetch = [&](int k0) {
    for (int q = 0; q < kWords; ++q) {
      const int w = thread + q * kThreads, row = row0 + w / kDepth, ka = k0 + w % kDepth, kb = k0 + w / kTile,
                col = col0 + w % kTile;
      const bool all = is(HandBug::no_guard_of_k);
      a[q] = row < M && (ka < K || all) ? A[row * K + ka] : 0.0f;
      b[q] = (kb < K || all) && col < N ? B[kb * N + col] : 0.0f;
    }
  };
  const auto store = [&](int buffer) {
    for (int q = 0; q < kWords; ++q) {
      const int w = thread + q * kThreads;
      As[buffer][w % kDepth][w / kDepth] = a[q];
      Bs[buffer][w / kTile][w % kTile] = b[q];
    }
  };
  fetch(0);
  if (!is(HandBug::no_first_tile)) store(0);
  __syncthreads();
  int buffer = 0;
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const bool more = k0 + kDepth < K || is(HandBug::one_tile_too_many);
    if (more) fetch(is(HandBug::one_tile_too_many) ? k0 + 2 * kDepth : k0 + kDepth);
    if (more && is(HandBug::stored_before_read)) store(buffer);
    for (int k = 0; k < kDepth; ++k)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[i][j] += As[buffer][k][ty * kEach + i] * Bs[buffer][k][tx * kEach + j];
    const int other = is(HandBug::one_buffer) || is(HandBug::stored_before_read) ? buffer : buffer ^ 1;
    if (more && !is(HandBug::stored_before_read)) store(other);
    if (!is(HandBug::never_swapped)) buffer = other;
    if (!is(HandBug::no_barrier)) __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = row0 + ty * kEach + i, col = col0 + tx * kEach + j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}

struct Mutant {
  const char* name;
  void (*kernel)(const float*, const float*, float*, int, int, int);
  Fault fault;  ///< what check_matmul() must find, among other things
  const char* finding =
      "";  ///< of missing order: what the simulator calls it. A GPU may be lucky, the simulator never is
};

inline const Mutant mutants[] = {
    {"no_wait", stages<Bug::no_wait>, Fault::wrong_value, "async-in-flight"},
    {"wait_too_weak", stages<Bug::wait_too_weak>, Fault::wrong_value, "async-in-flight"},
    {"no_commit", stages<Bug::no_commit>, Fault::wrong_value, "async-in-flight"},
    {"commit_only_with_copies", stages<Bug::commit_only_with_copies>, Fault::wrong_value, "async-in-flight"},
    {"no_barrier", stages<Bug::no_barrier>, Fault::finding, "race-shared"},
    {"barrier_before_wait", stages<Bug::barrier_before_wait>, Fault::wrong_value, "async-in-flight"},
    {"fetch_before_barrier", stages<Bug::fetch_before_barrier>, Fault::finding, "race-shared"},
    {"next_stage_fetched", stages<Bug::next_stage_fetched>, Fault::wrong_value, "async-in-flight"},
    {"wrong_stage_multiplied", stages<Bug::wrong_stage_multiplied>, Fault::wrong_value, "async-in-flight"},
    {"short_prologue", stages<Bug::short_prologue>, Fault::wrong_value, "async-in-flight"},
    {"same_tile_again", stages<Bug::same_tile_again>, Fault::wrong_value},
    {"all_zeros", stages<Bug::all_zeros>, Fault::wrong_value},
    {"no_zeros", stages<Bug::no_zeros>, Fault::wrong_value},
    {"zeros_by_whole_tile", stages<Bug::zeros_by_whole_tile>, Fault::wrong_value},
    {"zeros_in_a_only", stages<Bug::zeros_in_a_only>, Fault::wrong_value},
    {"forgets_last_tile", stages<Bug::forgets_last_tile>, Fault::wrong_value},
    {"guard_by_row", stages<Bug::guard_by_row>, Fault::outside_written},
    {"no_barrier, by hand", two_buffers<HandBug::no_barrier>, Fault::finding, "race-shared"},
    {"one_buffer, by hand", two_buffers<HandBug::one_buffer>, Fault::finding, "race-shared"},
    {"never_swapped, by hand", two_buffers<HandBug::never_swapped>, Fault::wrong_value},
    {"stored_before_read, by hand", two_buffers<HandBug::stored_before_read>, Fault::finding, "race-shared"},
    {"no_first_tile, by hand", two_buffers<HandBug::no_first_tile>, Fault::wrong_value, "uninitialised-shared"},
    {"one_tile_too_many, by hand", two_buffers<HandBug::one_tile_too_many>, Fault::wrong_value},
    {"no_guard_of_k, by hand", two_buffers<HandBug::no_guard_of_k>, Fault::wrong_value},
};

/// Those that only read where no memory need be: the check of C cannot see it.
inline const Mutant readers_outside[] = {
    {"rows_not_clamped", stages<Bug::rows_not_clamped>, Fault::finding, "out-of-bounds"},
    {"columns_not_clamped", stages<Bug::columns_not_clamped>, Fault::finding, "out-of-bounds"},
    {"no_zeros", stages<Bug::no_zeros>, Fault::finding, "out-of-bounds"},
    {"no_guard_of_k, by hand", two_buffers<HandBug::no_guard_of_k>, Fault::finding, "out-of-bounds"},
};

}  // namespace async_mutants
