// Wrong kernels with several elements of C per thread. Each holds one mistake that people make, and each must be
// rejected by check_matmul(), the same function that the right kernels pass.
//
// Two templates, for the chapter's two kernels: the body is the right kernel, and every `is(...)` is the place where one
// mistake is made. What the tiled kernels can do wrong as well (guards of A and B, leading dimensions, swapped indices)
// is among chapter 02's mutants.
#pragma once

#include <cuda_runtime.h>

#include "check_matmul.hpp"

namespace register_mutants {

// A tile of C of 32 x 32 elements and a depth of 8; 4 elements per thread in a column, or 4 x 4.
constexpr int kTile = 32, kDepth = 8, kEach = 4;

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  no_first_barrier,
  no_second_barrier,
  one_word_of_each,          ///< a thread has four words of each tile to fetch
  words_overlap,             ///< the second word is the first one's neighbour, which another thread fetches, too
  rows_read_apart,           ///< reads rows ty, ty + 8 ..., writes rows 4 ty, 4 ty + 1 ...
  columns_read_apart,        ///< the same with columns
  step_of_the_other_side,    ///< rows are as far apart as columns are in a wider tile
  a_read_once,               ///< the words of A are read for the first k only
  b_read_once,               ///< and those of B
  guard_by_first_element,    ///< the other elements are written wherever they lie
  guard_by_row,              ///< a row may be inside where the column is not
  guard_by_whole_rectangle,  ///< nothing is written by a thread with one element outside
  one_row_of_sums,           ///< sum[j] in place of sum[i][j]
  sums_of_last_tile,         ///< the sums begin anew with every tile
  early_return,              ///< threads without elements fetch nothing
  forgets_last_tile          ///< rounds the number of tiles down
};

template <Bug BUG>
__global__ void rectangle(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](Bug bug) { return bug == BUG; };
  constexpr int kStep = kTile / kEach, kThreads = kStep * kStep, kWords = kTile * kDepth / kThreads;
  __shared__ float As[kTile][kDepth];
  __shared__ float Bs[kDepth][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kStep + tx;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  if (is(Bug::early_return) && (row0 + ty >= M || col0 + tx >= N)) return;
  if (is(Bug::one_word_of_each) || is(Bug::words_overlap)) {  // so that no word is ever without a value
    for (int word = thread; word < kTile * kDepth; word += kThreads)
      As[word / kDepth][word % kDepth] = Bs[word / kTile][word % kTile] = 1.0f;
    __syncthreads();
  }
  float sum[kEach][kEach] = {};
  const int end = is(Bug::forgets_last_tile) ? K / kDepth * kDepth : K;
  for (int k0 = 0; k0 < end; k0 += kDepth) {
    for (int w = 0; w < (is(Bug::one_word_of_each) ? 1 : kWords); ++w) {
      const int word = thread + w * (is(Bug::words_overlap) ? 1 : kThreads);
      if (is(Bug::words_overlap) && word >= kTile * kDepth) break;
      const int row = row0 + word / kDepth, ka = k0 + word % kDepth;
      const int kb = k0 + word / kTile, col = col0 + word % kTile;
      if (is(Bug::words_overlap) && w > 0 && thread % 2 == 0)
        continue;  // of two that fetch the same word, one stores it
      As[word / kDepth][word % kDepth] = row < M && ka < K ? A[row * K + ka] : 0.0f;
      Bs[word / kTile][word % kTile] = kb < K && col < N ? B[kb * N + col] : 0.0f;
    }
    if (!is(Bug::no_first_barrier)) __syncthreads();
    if (is(Bug::sums_of_last_tile))
      for (int e = 0; e < kEach * kEach; ++e) sum[e / kEach][e % kEach] = 0.0f;
    float a[kEach], b[kEach];
    for (int k = 0; k < kDepth; ++k) {
      for (int i = 0; i < kEach; ++i) {
        const int apart = is(Bug::step_of_the_other_side) ? kStep / 2 : kStep;
        if (!is(Bug::a_read_once) || k == 0) a[i] = As[ty + i * apart][k];
      }
      for (int j = 0; j < kEach; ++j)
        if (!is(Bug::b_read_once) || k == 0) b[j] = Bs[k][tx + j * kStep];
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[is(Bug::one_row_of_sums) ? 0 : i][j] += a[i] * b[j];
    }
    if (!is(Bug::no_second_barrier)) __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = row0 + (is(Bug::rows_read_apart) ? ty * kEach + i : ty + i * kStep);
      const int col = col0 + (is(Bug::columns_read_apart) ? tx * kEach + j : tx + j * kStep);
      bool write = row < M && col < N;
      if (is(Bug::guard_by_first_element)) write = row0 + ty < M && col0 + tx < N;
      if (is(Bug::guard_by_row)) write = row < M;
      if (is(Bug::guard_by_whole_rectangle))
        write = row0 + ty + (kEach - 1) * kStep < M && col0 + tx + (kEach - 1) * kStep < N;
      if (write) C[row * N + col] = sum[is(Bug::one_row_of_sums) ? 0 : i][j];
    }
  }
}

template <Bug BUG>
__global__ void column(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](Bug bug) { return bug == BUG; };
  __shared__ float As[kTile][kDepth];
  __shared__ float Bs[kDepth][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kTile + tx;  // 32 x 8 threads, a word of each tile
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float sum[kEach] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int row = row0 + thread / kDepth, ka = k0 + thread % kDepth;
    const int kb = k0 + thread / kTile, col = col0 + thread % kTile;
    As[thread / kDepth][thread % kDepth] = row < M && ka < K ? A[row * K + ka] : 0.0f;
    Bs[thread / kTile][thread % kTile] = kb < K && col < N ? B[kb * N + col] : 0.0f;
    if (!is(Bug::no_first_barrier)) __syncthreads();
    float b = 0.0f;
    for (int k = 0; k < kDepth; ++k) {
      if (!is(Bug::b_read_once) || k == 0) b = Bs[k][tx];
      for (int i = 0; i < kEach; ++i) sum[i] += As[is(Bug::rows_read_apart) ? ty + i * 8 : ty * kEach + i][k] * b;
    }
    if (!is(Bug::no_second_barrier)) __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    const int row = row0 + ty * kEach + i, col = col0 + tx;
    bool write = row < M && col < N;
    if (is(Bug::guard_by_first_element)) write = row0 + ty * kEach < M && col < N;
    if (is(Bug::guard_by_row)) write = row < M;
    if (write) C[row * N + col] = sum[i];
  }
}

struct Mutant {
  const char* name;
  void (*kernel)(const float*, const float*, float*, int, int, int);
  dim3 block;
  Fault fault;               ///< what check_matmul() must find, among other things
  const char* finding = "";  ///< of a race: what the simulator calls it. A GPU may be lucky, the simulator never is
};

const dim3 kRectangle(kTile / kEach, kTile / kEach), kColumn(kTile, kTile / kEach);

inline const Mutant mutants[] = {
    {"no_first_barrier", rectangle<Bug::no_first_barrier>, kRectangle, Fault::wrong_value, "race-shared"},
    {"no_second_barrier", rectangle<Bug::no_second_barrier>, kRectangle, Fault::wrong_value, "race-shared"},
    {"one_word_of_each", rectangle<Bug::one_word_of_each>, kRectangle, Fault::wrong_value},
    {"words_overlap", rectangle<Bug::words_overlap>, kRectangle, Fault::wrong_value},
    {"rows_read_apart", rectangle<Bug::rows_read_apart>, kRectangle, Fault::wrong_value},
    {"columns_read_apart", rectangle<Bug::columns_read_apart>, kRectangle, Fault::wrong_value},
    {"step_of_the_other_side", rectangle<Bug::step_of_the_other_side>, kRectangle, Fault::wrong_value},
    {"a_read_once", rectangle<Bug::a_read_once>, kRectangle, Fault::wrong_value},
    {"b_read_once", rectangle<Bug::b_read_once>, kRectangle, Fault::wrong_value},
    {"guard_by_first_element", rectangle<Bug::guard_by_first_element>, kRectangle, Fault::outside_written},
    {"guard_by_row", rectangle<Bug::guard_by_row>, kRectangle, Fault::outside_written},
    {"guard_by_whole_rectangle", rectangle<Bug::guard_by_whole_rectangle>, kRectangle, Fault::wrong_value},
    {"one_row_of_sums", rectangle<Bug::one_row_of_sums>, kRectangle, Fault::wrong_value},
    {"sums_of_last_tile", rectangle<Bug::sums_of_last_tile>, kRectangle, Fault::wrong_value},
    {"early_return", rectangle<Bug::early_return>, kRectangle, Fault::wrong_value, "uninitialised-shared"},
    {"forgets_last_tile", rectangle<Bug::forgets_last_tile>, kRectangle, Fault::wrong_value},
    {"no_first_barrier, column", column<Bug::no_first_barrier>, kColumn, Fault::wrong_value, "race-shared"},
    {"no_second_barrier, column", column<Bug::no_second_barrier>, kColumn, Fault::wrong_value, "race-shared"},
    {"rows_read_apart, column", column<Bug::rows_read_apart>, kColumn, Fault::wrong_value},
    {"b_read_once, column", column<Bug::b_read_once>, kColumn, Fault::wrong_value},
    {"guard_by_first_element, column", column<Bug::guard_by_first_element>, kColumn, Fault::outside_written},
    {"guard_by_row, column", column<Bug::guard_by_row>, kColumn, Fault::outside_written},
};

}  // namespace register_mutants
