// Wrong kernels of chapter 08. Each holds one mistake that would spoil a measurement or its check, and each must be
// rejected by the same function that the right kernels pass. Bug::none is right, and proves that it is the mistake, and
// not the template, that is rejected.
#pragma once

#include <cuda_runtime.h>

#include "roofline.cuh"

namespace machine_mutants {

// ---------------------------------------------------------------- rings

/// An ordinary shuffle: a random permutation, and a single cycle in only one of n cases.
inline std::vector<std::uint32_t> plain_shuffle(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> next(n);
  for (std::size_t i = 0; i < n; ++i) next[i] = static_cast<std::uint32_t>(i);
  tilewise::Random random(seed);
  for (std::size_t i = n; i-- > 1;) std::swap(next[i], next[random.below(i + 1)]);  // itself too
  return next;
}

/// Two cycles: even places and odd ones.
inline std::vector<std::uint32_t> two_cycles(std::size_t n, std::uint64_t) {
  std::vector<std::uint32_t> next(n);
  for (std::size_t i = 0; i < n; ++i) next[i] = static_cast<std::uint32_t>((i + 2) % n);
  return next;
}

inline std::vector<std::uint32_t> everyone_stays(std::size_t n, std::uint64_t) {
  std::vector<std::uint32_t> next(n);
  for (std::size_t i = 0; i < n; ++i) next[i] = static_cast<std::uint32_t>(i);
  return next;
}

/// A cycle of all but the last one, which stays.
inline std::vector<std::uint32_t> last_one_left_out(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> next = sattolo(n - 1, seed);
  next.push_back(static_cast<std::uint32_t>(n - 1));
  return next;
}

/// No permutation: two places lead to the same one, and nothing leads back to the first.
inline std::vector<std::uint32_t> a_tail(std::size_t n, std::uint64_t) {
  std::vector<std::uint32_t> next(n);
  for (std::size_t i = 0; i < n; ++i) next[i] = static_cast<std::uint32_t>(i + 1 < n ? i + 1 : 1);
  return next;
}

inline std::vector<std::uint32_t> leads_outside(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> next = sattolo(n, seed);
  next[n / 2] = static_cast<std::uint32_t>(n);
  return next;
}

// ---------------------------------------------------------------- walks

enum class Walk {
  none,
  one_step_short,
  one_step_more,
  steps_do_not_depend,  ///< loads, but always from the same place: nothing waits for anything
  stays_at_start,       ///< the loop has gone: nothing of it is used
  index_for_offset,     ///< takes the links for word numbers
  no_barrier,
  half_of_the_ring,
  lanes_follow_lane_0,
  place_not_written,
  cycles_not_written,
  cycles_backwards,
  ring_changed,
};

template <Walk BUG>
__global__ void walk_mutant(unsigned* ring, unsigned words, unsigned* place, unsigned steps, long long* cycles) {
  const auto is = [](Walk bug) { return bug == BUG; };
  __shared__ unsigned links[kSharedRing];
  const unsigned filled = is(Walk::half_of_the_ring) ? words / 2 : words;
  for (unsigned i = threadIdx.x; i < filled; i += blockDim.x) links[i] = ring[i];
  if (!is(Walk::no_barrier)) __syncthreads();

  unsigned at = place[is(Walk::lanes_follow_lane_0) ? 0 : threadIdx.x];
  const unsigned start = at;
  const long long begin = clock64();
  unsigned count = steps;
  if (is(Walk::one_step_short)) count = steps - 1;
  if (is(Walk::one_step_more)) count = steps + 1;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned from = is(Walk::steps_do_not_depend) ? start : at;
    at = links[(is(Walk::index_for_offset) ? from : from / 4) % kSharedRing];
  }
  if (is(Walk::stays_at_start)) at = start;
  if (!is(Walk::place_not_written)) place[threadIdx.x] = at;
  const long long end = clock64();
  if (is(Walk::ring_changed) && threadIdx.x == 0) ring[0] = at;
  if (threadIdx.x == 0 && !is(Walk::cycles_not_written))
    *cycles = is(Walk::cycles_backwards) ? begin - end : end - begin;
}

struct WalkMutant {
  const char* name;
  void (*kernel)(unsigned*, unsigned, unsigned*, unsigned, long long*);
  Fault fault;
  const char* finding = "";
  bool gpu_may_be_lucky = false;
};

inline const WalkMutant walk_mutants[] = {
    {"one_step_short", walk_mutant<Walk::one_step_short>, Fault::wrong_value},
    {"one_step_more", walk_mutant<Walk::one_step_more>, Fault::wrong_value},
    {"steps_do_not_depend", walk_mutant<Walk::steps_do_not_depend>, Fault::wrong_value},
    {"stays_at_start", walk_mutant<Walk::stays_at_start>, Fault::wrong_value},
    {"index_for_offset", walk_mutant<Walk::index_for_offset>, Fault::wrong_value},
    {"no_barrier", walk_mutant<Walk::no_barrier>, Fault::finding, "warp-synchronous", true},
    {"half_of_the_ring", walk_mutant<Walk::half_of_the_ring>, Fault::finding, "uninitialised", true},
    {"lanes_follow_lane_0", walk_mutant<Walk::lanes_follow_lane_0>, Fault::wrong_value},
    {"place_not_written", walk_mutant<Walk::place_not_written>, Fault::wrong_value},
    {"cycles_not_written", walk_mutant<Walk::cycles_not_written>, Fault::wrong_value, "no length of time"},
    {"cycles_backwards", walk_mutant<Walk::cycles_backwards>, Fault::wrong_value, "no length of time"},
    {"ring_changed", walk_mutant<Walk::ring_changed>, Fault::input_changed},
};

// ---------------------------------------------------------------- multiply-adds

enum class Chain {
  none,
  loop_dropped,  ///< what is left when the compiler sees that nobody looks at x
  one_step_short,
  two_steps_short,  ///< back on the same side of the fixed point
  only_the_first_chain,
  not_fused,  ///< a product, rounded, then a sum
  in_double,  ///< more exact, and another unit of the machine
  a_and_b_exchanged,
  starts_from_zero,
  chains_side_by_side,  ///< out[thread * chains + chain]
  last_block_missing,
};

constexpr int kMutantChains = 4;

template <Chain BUG>
__global__ void chain_mutant(float a, float b, unsigned steps, float* out) {
  const auto is = [](Chain bug) { return bug == BUG; };
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (is(Chain::last_block_missing) && blockIdx.x + 1 == gridDim.x) return;
  unsigned count = steps;
  if (is(Chain::loop_dropped)) count = 0;
  if (is(Chain::one_step_short)) count = steps - 1;
  if (is(Chain::two_steps_short)) count = steps - 2;
  for (int c = 0; c < kMutantChains; ++c) {
    float x = is(Chain::starts_from_zero) ? 0.0f : 0.5f + (thread % 64) / 64.0f + c;
    if (is(Chain::only_the_first_chain) && c > 0) count = 0;
    double wide = x;
    for (unsigned i = 0; i < count; ++i) {
      x = is(Chain::not_fused)           ? __fadd_rn(__fmul_rn(a, x), b)
          : is(Chain::a_and_b_exchanged) ? fmaf(b, x, a)
                                         : fmaf(a, x, b);
      wide = static_cast<double>(a) * wide + b;
    }
    if (is(Chain::in_double)) x = static_cast<float>(wide);
    out[is(Chain::chains_side_by_side) ? thread * kMutantChains + c : c * threads + thread] = x;
  }
}

struct ChainMutant {
  const char* name;
  void (*kernel)(float, float, unsigned, float*);
};

inline const ChainMutant chain_mutants[] = {
    {"loop_dropped", chain_mutant<Chain::loop_dropped>},
    {"one_step_short", chain_mutant<Chain::one_step_short>},
    {"two_steps_short", chain_mutant<Chain::two_steps_short>},
    {"only_the_first_chain", chain_mutant<Chain::only_the_first_chain>},
    {"not_fused", chain_mutant<Chain::not_fused>},
    {"in_double", chain_mutant<Chain::in_double>},
    {"a_and_b_exchanged", chain_mutant<Chain::a_and_b_exchanged>},
    {"starts_from_zero", chain_mutant<Chain::starts_from_zero>},
    {"chains_side_by_side", chain_mutant<Chain::chains_side_by_side>},
    {"last_block_missing", chain_mutant<Chain::last_block_missing>},
};

// ---------------------------------------------------------------- sums

enum class Sum {
  none,
  odd_words_left,     ///< only whole units of 4 words
  whole_sweeps_only,  ///< what is left after the last round of all threads is skipped
  sweep_overlaps,     ///< a step too short: the last units of a round are read twice
  only_x,
  past_the_end,  ///< one unit more than there is
  first_block_only,
  not_written,
  reads_once,  ///< and multiplies: a right sum, without the work. What a compiler may do if one lets it
};

template <Sum BUG>
__global__ void sum_mutant(const unsigned* in, size_t words, unsigned passes, unsigned* out) {
  const auto is = [](Sum bug) { return bug == BUG; };
  const uint4* const units = reinterpret_cast<const uint4*>(in);
  const size_t count = words / 4 + (is(Sum::past_the_end) ? 1 : 0);
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t step = is(Sum::sweep_overlaps) ? threads - 1 : threads;

  unsigned sum = 0;
  for (unsigned pass = 0; pass < (is(Sum::reads_once) ? 1 : passes); ++pass) {
    for (size_t at = thread; at < count; at += step) {
      if (is(Sum::whole_sweeps_only) && at - thread + threads > count) break;
      const uint4 unit = units[at];
      sum += is(Sum::only_x) ? unit.x : unit.x + unit.y + unit.z + unit.w;
    }
    if (!is(Sum::odd_words_left) && !is(Sum::past_the_end))
      for (size_t word = words / 4 * 4 + thread; word < words; word += threads) sum += in[word];
  }
  if (is(Sum::reads_once)) sum *= passes;
  if (is(Sum::first_block_only) && blockIdx.x > 0) sum = 0;
  if (is(Sum::not_written) && thread + 1 == threads) return;
  out[thread] = sum;
}

struct SumMutant {
  const char* name;
  void (*kernel)(const unsigned*, size_t, unsigned, unsigned*);
  const char* text = "";  ///< what the verdict must say
  bool simulator_only = false;
};

inline const SumMutant sum_mutants[] = {
    {"odd_words_left", sum_mutant<Sum::odd_words_left>},
    {"whole_sweeps_only", sum_mutant<Sum::whole_sweeps_only>},
    {"sweep_overlaps", sum_mutant<Sum::sweep_overlaps>},
    {"only_x", sum_mutant<Sum::only_x>},
    {"past_the_end", sum_mutant<Sum::past_the_end>},
    {"first_block_only", sum_mutant<Sum::first_block_only>},
    {"not_written", sum_mutant<Sum::not_written>},
    {"reads_once", sum_mutant<Sum::reads_once>, "bytes instead of", true},
};

// ---------------------------------------------------------------- sums that go round in shared memory

enum class Round { none, no_barrier, half_filled, same_unit_again, step_of_32, one_step_short };

template <Round BUG>
__global__ void round_mutant(const uint4* in, unsigned steps, unsigned* out) {
  const auto is = [](Round bug) { return bug == BUG; };
  __shared__ uint4 units[kSharedUnits];
  for (unsigned i = threadIdx.x; i < kSharedUnits / (is(Round::half_filled) ? 2 : 1); i += blockDim.x) units[i] = in[i];
  if (!is(Round::no_barrier)) __syncthreads();
  unsigned sum = 0, at = threadIdx.x;
  for (unsigned i = is(Round::one_step_short) ? 1 : 0; i < steps; ++i) {
    const uint4 unit = units[at % kSharedUnits];
    sum += unit.x + unit.y + unit.z + unit.w;
    at += is(Round::same_unit_again) ? 0 : is(Round::step_of_32) ? 32 : blockDim.x;
  }
  out[static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

struct RoundMutant {
  const char* name;
  void (*kernel)(const uint4*, unsigned, unsigned*);
  Fault fault;
  const char* finding = "";
  bool gpu_may_be_lucky = false;
};

inline const RoundMutant round_mutants[] = {
    {"no_barrier", round_mutant<Round::no_barrier>, Fault::finding, "race-shared", true},
    {"half_filled", round_mutant<Round::half_filled>, Fault::finding, "uninitialised", true},
    {"same_unit_again", round_mutant<Round::same_unit_again>, Fault::wrong_value},
    {"step_of_32", round_mutant<Round::step_of_32>, Fault::wrong_value},
    {"one_step_short", round_mutant<Round::one_step_short>, Fault::wrong_value},
};

// ---------------------------------------------------------------- copy, vector add, multiply-adds per element

enum class Move { none, tail_lost, tail_rounded_up, shifted, first_word_only, into_the_input };

/// Units of 4 words, a thread each.
template <Move BUG>
__global__ void copy_mutant(const unsigned* in, unsigned* out, size_t words) {
  const auto is = [](Move bug) { return bug == BUG; };
  const size_t first = 4 * (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first >= words) return;
  if (is(Move::tail_lost) && first + 4 > words) return;
  for (size_t i = first; i < first + 4; ++i) {
    if (i >= words) {
      if (is(Move::tail_rounded_up)) out[i] = 0;
      continue;
    }
    if (is(Move::first_word_only) && i > first) break;
    unsigned* const to = is(Move::into_the_input) ? const_cast<unsigned*>(in) : out;
    to[i] = in[is(Move::shifted) ? (i + 1) % words : i] + (is(Move::into_the_input) ? 1 : 0);
  }
}

struct MoveMutant {
  const char* name;
  void (*kernel)(const unsigned*, unsigned*, size_t);
  Fault fault;
};

inline const MoveMutant copy_mutants[] = {
    {"tail_lost", copy_mutant<Move::tail_lost>, Fault::wrong_value},
    {"tail_rounded_up", copy_mutant<Move::tail_rounded_up>, Fault::outside_written},
    {"shifted", copy_mutant<Move::shifted>, Fault::wrong_value},
    {"first_word_only", copy_mutant<Move::first_word_only>, Fault::wrong_value},
    {"into_the_input", copy_mutant<Move::into_the_input>, Fault::input_changed},
};

enum class Add { none, no_guard, guard_off_by_one, first_block_only, adds_to_itself, one_input, nan_at_the_end };

template <Add BUG>
__global__ void add_mutant(const float* a, const float* b, float* c, size_t n) {
  const auto is = [](Add bug) { return bug == BUG; };
  const size_t i = static_cast<size_t>(is(Add::first_block_only) ? 0 : blockIdx.x) * blockDim.x + threadIdx.x;
  if (!is(Add::no_guard) && i >= n + (is(Add::guard_off_by_one) ? 1 : 0)) return;
  float sum = a[i] + (is(Add::one_input) ? a[i] : b[i]);
  if (is(Add::adds_to_itself)) sum += c[i];
  if (is(Add::nan_at_the_end) && i + 1 == n) sum = __int_as_float(0x7fc00000);
  c[i] = sum;
}

struct AddMutant {
  const char* name;
  void (*kernel)(const float*, const float*, float*, size_t);
  Fault fault;
};

inline const AddMutant add_mutants[] = {
    {"no_guard", add_mutant<Add::no_guard>, Fault::outside_written},
    {"guard_off_by_one", add_mutant<Add::guard_off_by_one>, Fault::outside_written},
    {"first_block_only", add_mutant<Add::first_block_only>, Fault::wrong_value},
    {"adds_to_itself", add_mutant<Add::adds_to_itself>, Fault::wrong_value},
    {"one_input", add_mutant<Add::one_input>, Fault::wrong_value},
    {"nan_at_the_end", add_mutant<Add::nan_at_the_end>, Fault::wrong_value},
};

enum class Element { none, one_fma_less, one_fma_more, no_fma, tail_lost, tail_written_whole, product_only };

template <Element BUG>
__global__ void element_mutant(const float* in, float* out, size_t n, unsigned fmas, float a, float b) {
  const auto is = [](Element bug) { return bug == BUG; };
  const size_t first = 4 * (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first >= n || (is(Element::tail_lost) && first + 4 > n)) return;
  unsigned count = fmas;
  if (is(Element::one_fma_less)) count = fmas - 1;
  if (is(Element::one_fma_more)) count = fmas + 1;
  if (is(Element::no_fma)) count = 0;
  for (size_t e = first; e < first + 4; ++e) {
    if (e >= n) {
      if (is(Element::tail_written_whole)) out[e] = 0;
      continue;
    }
    float x = in[e];
    for (unsigned i = 0; i < count; ++i) x = is(Element::product_only) ? a * x : fmaf(a, x, b);
    out[e] = x;
  }
}

struct ElementMutant {
  const char* name;
  void (*kernel)(const float*, float*, size_t, unsigned, float, float);
  Fault fault;
};

inline const ElementMutant element_mutants[] = {
    {"one_fma_less", element_mutant<Element::one_fma_less>, Fault::wrong_value},
    {"one_fma_more", element_mutant<Element::one_fma_more>, Fault::wrong_value},
    {"no_fma", element_mutant<Element::no_fma>, Fault::wrong_value},
    {"tail_lost", element_mutant<Element::tail_lost>, Fault::wrong_value},
    {"tail_written_whole", element_mutant<Element::tail_written_whole>, Fault::outside_written},
    {"product_only", element_mutant<Element::product_only>, Fault::wrong_value},
};

// ---------------------------------------------------------------- the five memories

enum class Memories { none, no_barrier, early_return, neighbour_across_blocks, weights_turned, no_guard };

template <Memories BUG>
__global__ void memories_mutant(const float* in, float* out, size_t n) {
  const auto is = [](Memories bug) { return bug == BUG; };
  __shared__ float piece[256];
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (is(Memories::early_return) && i >= n) return;  // its word of `piece` is wanted by others
  piece[threadIdx.x] = i < n ? in[i] : 0.0f;
  if (!is(Memories::no_barrier)) __syncthreads();

  float near[kNear];
  for (unsigned k = 0; k < kNear; ++k) {
    const unsigned j = threadIdx.x + k;
    near[k] = piece[is(Memories::neighbour_across_blocks) ? j % 256 : j % blockDim.x];
  }
  float sum = 0;
  for (unsigned k = 0; k < kNear; ++k)
    sum = fmaf(weights[is(Memories::weights_turned) ? kNear - 1 - k : (k + i) % kNear], near[(k + i) % kNear], sum);
  if (i < n || is(Memories::no_guard)) out[i] = sum;
}

struct MemoriesMutant {
  const char* name;
  void (*kernel)(const float*, float*, size_t);
  Fault fault;
  const char* finding = "";
  bool gpu_may_be_lucky = false;
};

inline const MemoriesMutant memories_mutants[] = {
    {"no_barrier", memories_mutant<Memories::no_barrier>, Fault::finding, "race-shared", true},
    {"early_return", memories_mutant<Memories::early_return>, Fault::finding, "uninitialised", true},
    {"neighbour_across_blocks", memories_mutant<Memories::neighbour_across_blocks>, Fault::finding, "uninitialised",
     true},
    {"weights_turned", memories_mutant<Memories::weights_turned>, Fault::wrong_value},
    {"no_guard", memories_mutant<Memories::no_guard>, Fault::outside_written},
};

}  // namespace machine_mutants
