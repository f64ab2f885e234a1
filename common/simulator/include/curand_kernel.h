// cuRAND in kernels: XORWOW and Philox4x32-10, with the numbers that a GPU gives. Uniform ones are the same to the bit, normal ones as far
// as logarithm and sine are. Generators that are not here are refused by name.
#pragma once
#define CURAND_KERNEL_H_  // programs ask for it

#include "cuda_runtime.h"
#include "curand.h"
#include "tilewise_device/random.hpp"

/// 48 bytes, as CUDA's.
struct curandStateXORWOW {
  ::tilewise::sim::random::Xorwow generator;
  int boxmuller_flag, boxmuller_flag_double;  ///< whether the second number of a pair waits: random::Waiting
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

/// 64 bytes, as CUDA's.
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;  ///< so many words of `output` are used
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace tilewise::sim::random {

/// A normal number's second is not for a log-normal one.
enum Waiting { nothing_waits, normal_waits, log_normal_waits };

inline void restart_pairs(auto* state) {
  state->boxmuller_flag = state->boxmuller_flag_double = nothing_waits;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}
inline void compute_output(curandStatePhilox4_32_10_t* state) {
  const uint4 c = state->ctr;
  const Words words = philox({c.x, c.y, c.z, c.w}, state->key.x, state->key.y);
  state->output = make_uint4(words.x, words.y, words.z, words.w);
}
/// Adds n to the 128-bit counter, from its `high` half on: 0 or 1.
inline void advance_counter(curandStatePhilox4_32_10_t* state, unsigned long long n, int high) {
  unsigned long long low = state->ctr.x | (unsigned long long)state->ctr.y << 32;
  unsigned long long upper = state->ctr.z | (unsigned long long)state->ctr.w << 32;
  if (high == 0) {
    low += n;
    if (low < n) ++upper;
  } else {
    upper += n;
  }
  state->ctr = make_uint4((unsigned)low, (unsigned)(low >> 32), (unsigned)upper, (unsigned)(upper >> 32));
}

}  // namespace tilewise::sim::random

// ---------------------------------------------------------------- XORWOW
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW_t* state) {
  state->generator = ::tilewise::sim::random::Xorwow::start(seed, subsequence, offset);
  ::tilewise::sim::random::restart_pairs(state);
}
inline unsigned int curand(curandStateXORWOW_t* state) { return state->generator.next(); }
inline void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  ::tilewise::sim::random::Xorwow x = state->generator;
  x.skip(n);
  state->generator = x;
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  ::tilewise::sim::random::Xorwow x = state->generator;
  x.skip_subsequences(n);
  state->generator = x;
}

// ---------------------------------------------------------------- Philox4x32-10
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += (unsigned)(n & 3);
  n /= 4;
  if (state->STATE > 3) ++n, state->STATE -= 4;
  ::tilewise::sim::random::advance_counter(state, n, 0);
  ::tilewise::sim::random::compute_output(state);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  ::tilewise::sim::random::advance_counter(state, n, 1);
  ::tilewise::sim::random::compute_output(state);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  state->STATE = 0;
  ::tilewise::sim::random::restart_pairs(state);
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
inline unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const uint4 words = state->output;
  const unsigned used = state->STATE++;
  if (state->STATE == 4) {
    state->STATE = 0;
    ::tilewise::sim::random::advance_counter(state, 1, 0);
    ::tilewise::sim::random::compute_output(state);
  }
  return used == 0 ? words.x : used == 1 ? words.y : used == 2 ? words.z : words.w;
}
inline uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 a = state->output;
  ::tilewise::sim::random::advance_counter(state, 1, 0);
  ::tilewise::sim::random::compute_output(state);
  const uint4 b = state->output;
  switch (state->STATE) {
    case 0:
      return a;
    case 1:
      return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
      return make_uint4(a.z, a.w, b.x, b.y);
    default:
      return make_uint4(a.w, b.x, b.y, b.z);
  }
}

// ---------------------------------------------------------------- numbers, of either
template <class State>
inline float curand_uniform(State* state) {
  return ::tilewise::sim::random::uniform(curand(state));
}
template <class State>
inline double curand_uniform_double(State* state) {
  const unsigned first = curand(state), second = curand(state);
  return ::tilewise::sim::random::uniform(first, second);
}
/// Of a single word: 32 bits are random.
inline double curand_uniform_double(curandStatePhilox4_32_10_t* state) { return curand(state) * 0x1p-32 + 0x1p-33; }
template <class State>
inline float2 curand_normal2(State* state) {
  const unsigned first = curand(state), second = curand(state);
  const auto pair = ::tilewise::sim::random::normal(first, second);
  return make_float2(pair.first, pair.second);
}
template <class State>
inline double2 curand_normal2_double(State* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state), d = curand(state);
  const auto pair = ::tilewise::sim::random::normal(a, b, c, d);
  return make_double2(pair.first, pair.second);
}
namespace tilewise::sim::random {

/// Every other call makes a pair, by `make`, and keeps its second.
template <class State, class Make>
inline float one_of_pair(State* state, Waiting kind, Make make) {
  if (state->boxmuller_flag == kind) {
    state->boxmuller_flag = nothing_waits;
    return state->boxmuller_extra;
  }
  const float2 pair = make(state);
  state->boxmuller_extra = pair.y;
  state->boxmuller_flag = kind;
  return pair.x;
}
template <class State, class Make>
inline double one_of_doubles(State* state, Waiting kind, Make make) {
  if (state->boxmuller_flag_double == kind) {
    state->boxmuller_flag_double = nothing_waits;
    return state->boxmuller_extra_double;
  }
  const double2 pair = make(state);
  state->boxmuller_extra_double = pair.y;
  state->boxmuller_flag_double = kind;
  return pair.x;
}

}  // namespace tilewise::sim::random

template <class State>
inline float curand_normal(State* state) {
  using namespace ::tilewise::sim::random;
  return one_of_pair(state, normal_waits, [](State* s) { return curand_normal2(s); });
}
template <class State>
inline double curand_normal_double(State* state) {
  using namespace ::tilewise::sim::random;
  return one_of_doubles(state, normal_waits, [](State* s) { return curand_normal2_double(s); });
}
template <class State>
inline float2 curand_log_normal2(State* state, float mean, float stddev) {
  const float2 pair = curand_normal2(state);
  return make_float2(expf(mean + stddev * pair.x), expf(mean + stddev * pair.y));
}
template <class State>
inline double2 curand_log_normal2_double(State* state, double mean, double stddev) {
  const double2 pair = curand_normal2_double(state);
  return make_double2(exp(mean + stddev * pair.x), exp(mean + stddev * pair.y));
}
template <class State>
inline float curand_log_normal(State* state, float mean, float stddev) {
  using namespace ::tilewise::sim::random;
  return one_of_pair(state, log_normal_waits, [=](State* s) { return curand_log_normal2(s, mean, stddev); });
}
template <class State>
inline double curand_log_normal_double(State* state, double mean, double stddev) {
  using namespace ::tilewise::sim::random;
  return one_of_doubles(state, log_normal_waits, [=](State* s) { return curand_log_normal2_double(s, mean, stddev); });
}

// ---------------------------------------------------------------- four or two at once, of Philox alone
inline float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  using ::tilewise::sim::random::uniform;
  const uint4 w = curand4(state);
  return make_float4(uniform(w.x), uniform(w.y), uniform(w.z), uniform(w.w));
}
inline double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  using ::tilewise::sim::random::uniform;
  const uint4 w = curand4(state);
  return make_double2(uniform(w.x, w.y), uniform(w.z, w.w));
}
inline float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  using ::tilewise::sim::random::normal;
  const uint4 w = curand4(state);
  const auto a = normal(w.x, w.y), b = normal(w.z, w.w);
  return make_float4(a.first, a.second, b.first, b.second);
}
inline float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
  const float4 n = curand_normal4(state);
  return make_float4(expf(mean + stddev * n.x), expf(mean + stddev * n.y), expf(mean + stddev * n.z),
                     expf(mean + stddev * n.w));
}

TILEWISE_NOT_SUPPORTED(curand_poisson);
TILEWISE_NOT_SUPPORTED(curand_poisson4);
TILEWISE_NOT_SUPPORTED(curand_discrete);
TILEWISE_NOT_SUPPORTED(curand_mtgp32_specific);
TILEWISE_NOT_SUPPORTED(skipahead_subsequence);
