// Wrong kernels with 16-byte loads. Each holds one mistake that people make, and each must be rejected by check_matmul(),
// the same function that the right kernels pass.
//
// One template, for a block of 32 x 32 elements: the body is the right kernel, and every `is(...)` is the place where one
// mistake is made. What kernels with several elements per thread can do wrong as well is among chapter 09's mutants.
#pragma once

#include <cuda_runtime.h>

#include "check_matmul.hpp"

namespace wide_mutants {

// A tile of C of 32 x 32 elements and a depth of 8; 4 x 4 elements per thread: 64 threads, each fetches four words of A
// and four of B.
constexpr int kTile = 32, kDepth = 8, kEach = 4, kStep = kTile / kEach, kThreads = kStep * kStep;

enum class Bug {
  none,                   ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  wide_at_any_size,       ///< 16-byte loads whatever N and K are: rows begin where such a load may not
  wide_by_n_alone,        ///< asks whether the rows of B allow it, and not those of A
  wide_by_k_alone,        ///< asks whether the rows of A allow it, and not those of B
  rows_padded_by_one,     ///< As as in lesson 03: its rows no longer begin at multiples of 16 bytes
  guard_of_first_word,    ///< word by word, but all four are fetched where the first is inside
  guard_of_last_word,     ///< none is fetched where the last is outside
  not_transposed,         ///< stores the four words of A as they came
  first_word_four_times,  ///< .x for .x, .y, .z and .w
  words_reversed,         ///< .w first
  rows_read_apart,        ///< reads four neighbours, writes rows a step apart
  columns_read_apart,     ///< the same with columns
  a_read_once,            ///< the four words of A are read for the first k only
  b_read_once,            ///< and those of B
  stores_by_first_word,   ///< four words of C are written where the first is inside
  stores_by_last_word,    ///< none is written where the last is outside
  no_first_barrier,
  no_second_barrier
};

template <Bug BUG>
__device__ float4 load_four(const float* row, int first, int words, bool wide) {
  if (wide) return first < words ? *reinterpret_cast<const float4*>(row + first) : float4{0.0f, 0.0f, 0.0f, 0.0f};
  float word[4] = {};
  for (int w = 0; w < 4; ++w) {
    int asked = first + w;
    if (BUG == Bug::guard_of_first_word) asked = first;
    if (BUG == Bug::guard_of_last_word) asked = first + 3;
    if (asked < words) word[w] = row[first + w];
  }
  return {word[0], word[1], word[2], word[3]};
}

template <Bug BUG>
__global__ void wide(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto is = [](Bug bug) { return bug == BUG; };
  constexpr int kPad = BUG == Bug::rows_padded_by_one ? 1 : 4;
  __shared__ alignas(16) float As[kDepth][kTile + kPad];
  __shared__ alignas(16) float Bs[kDepth][kTile];
  const int thread = threadIdx.x, tx = thread % kStep, ty = thread / kStep;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  bool wide = K % 4 == 0 && N % 4 == 0;
  if (is(Bug::wide_at_any_size)) wide = true;
  if (is(Bug::wide_by_n_alone)) wide = N % 4 == 0;
  if (is(Bug::wide_by_k_alone)) wide = K % 4 == 0;
  float sum[kEach][kEach] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int i = thread / (kDepth / 4), ka = thread % (kDepth / 4) * 4;
    const int kb = thread / (kTile / 4), j = thread % (kTile / 4) * 4;
    const float4 from_a =
        load_four<BUG>(A + static_cast<std::size_t>(row0 + i) * K, k0 + ka, row0 + i < M ? K : 0, wide);
    const float4 from_b =
        load_four<BUG>(B + static_cast<std::size_t>(k0 + kb) * N, col0 + j, k0 + kb < K ? N : 0, wide);
    const float word[] = {from_a.x, from_a.y, from_a.z, from_a.w};
    for (int w = 0; w < 4; ++w) {
      const int from = is(Bug::first_word_four_times) ? 0 : is(Bug::words_reversed) ? 3 - w : w;
      const int position = is(Bug::not_transposed) ? i * kDepth + ka + w : (ka + w) * kTile + i;
      As[position / kTile][position % kTile] = word[from];
    }
    *reinterpret_cast<float4*>(&Bs[kb][j]) = from_b;
    if (!is(Bug::no_first_barrier)) __syncthreads();
    float4 a4 = {}, b4 = {};
    for (int k = 0; k < kDepth; ++k) {
      if (!is(Bug::a_read_once) || k == 0) a4 = *reinterpret_cast<const float4*>(&As[k][4 * ty]);
      if (!is(Bug::b_read_once) || k == 0) b4 = *reinterpret_cast<const float4*>(&Bs[k][4 * tx]);
      const float a[] = {a4.x, a4.y, a4.z, a4.w}, b[] = {b4.x, b4.y, b4.z, b4.w};
      for (int e = 0; e < kEach * kEach; ++e) sum[e / kEach][e % kEach] += a[e / kEach] * b[e % kEach];
    }
    if (!is(Bug::no_second_barrier)) __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = row0 + (is(Bug::rows_read_apart) ? ty + i * kStep : 4 * ty + i);
      const int col = col0 + (is(Bug::columns_read_apart) ? tx + j * kStep : 4 * tx + j);
      bool write = col < N;
      if (is(Bug::stores_by_first_word)) write = col0 + 4 * tx < N;
      if (is(Bug::stores_by_last_word)) write = col0 + 4 * tx + 3 < N;
      if (row < M && write) C[static_cast<std::size_t>(row) * N + col] = sum[i][j];
    }
  }
}

struct Mutant {
  const char* name;
  void (*kernel)(const float*, const float*, float*, int, int, int);
  Fault fault;               ///< what check_matmul() must find, among other things
  const char* finding = "";  ///< of a race: what the simulator calls it. A GPU may be lucky, the simulator never is
};

inline const Mutant mutants[] = {
    {"guard_of_first_word", wide<Bug::guard_of_first_word>, Fault::wrong_value},
    {"guard_of_last_word", wide<Bug::guard_of_last_word>, Fault::wrong_value},
    {"not_transposed", wide<Bug::not_transposed>, Fault::wrong_value},
    {"first_word_four_times", wide<Bug::first_word_four_times>, Fault::wrong_value},
    {"words_reversed", wide<Bug::words_reversed>, Fault::wrong_value},
    {"rows_read_apart", wide<Bug::rows_read_apart>, Fault::wrong_value},
    {"columns_read_apart", wide<Bug::columns_read_apart>, Fault::wrong_value},
    {"a_read_once", wide<Bug::a_read_once>, Fault::wrong_value},
    {"b_read_once", wide<Bug::b_read_once>, Fault::wrong_value},
    {"stores_by_first_word", wide<Bug::stores_by_first_word>, Fault::outside_written},
    {"stores_by_last_word", wide<Bug::stores_by_last_word>, Fault::wrong_value},
    {"no_first_barrier", wide<Bug::no_first_barrier>, Fault::wrong_value, "race-shared"},
    {"no_second_barrier", wide<Bug::no_second_barrier>, Fault::wrong_value, "race-shared"},
};

/// Those whose launch fails: a 16-byte access that does not begin at a multiple of 16 bytes ends it.
inline const Mutant misaligned[] = {
    {"wide_at_any_size", wide<Bug::wide_at_any_size>, Fault::launch_failed},
    {"wide_by_n_alone", wide<Bug::wide_by_n_alone>, Fault::launch_failed},
    {"wide_by_k_alone", wide<Bug::wide_by_k_alone>, Fault::launch_failed},
    {"rows_padded_by_one", wide<Bug::rows_padded_by_one>, Fault::launch_failed},
};

}  // namespace wide_mutants
