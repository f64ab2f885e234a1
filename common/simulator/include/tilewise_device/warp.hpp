// Warp-level primitives: shuffles, votes, matches and reductions. Each is one exchange of values between the lanes of
// its mask, followed by arithmetic on what came back.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim::warp_detail {

// Types that CUDA's shuffles take: arithmetic types; half and bfloat16 join in their headers.
template <class T>
inline constexpr bool kShuffles = std::is_arithmetic_v<T> && sizeof(T) <= 8;

template <class T>
TILEWISE_INLINE std::uint64_t to_bits(const T& value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
TILEWISE_INLINE T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

// Lane that `lane` reads from, as PTX defines `shfl`. Lanes that would leave their segment of `width` read themselves.
inline unsigned source_index(unsigned lane, int source, int width) {
  const unsigned segment = ~(unsigned(width) - 1);
  return (lane & segment) | (unsigned(source) & ~segment & 31u);
}
inline unsigned source_up(unsigned lane, unsigned delta, int width) {
  const int from = int(lane) - int(delta & 31u);
  return from >= int(lane & ~(unsigned(width) - 1)) ? unsigned(from) : lane;
}
inline unsigned source_down(unsigned lane, unsigned delta, int width) {
  const unsigned from = lane + (delta & 31u);
  return from <= (lane | (unsigned(width) - 1)) ? from : lane;
}
// A lane may read from an earlier segment, but not from a later one.
inline unsigned source_xor(unsigned lane, int mask, int width) {
  const unsigned from = lane ^ (unsigned(mask) & 31u);
  return from <= (lane | (unsigned(width) - 1)) ? from : lane;
}

template <class T>
TILEWISE_INLINE T shuffle(unsigned mask, const T& value, unsigned source) {
  std::uint64_t all[kWarpSize];
  if (!(warp_exchange(mask, WarpOp::shuffle, to_bits(value), all) >> source & 1u)) absent_lane(mask, source);
  return from_bits<T>(all[source]);
}

// Lanes of `mask` whose published word has the property. Outside the instrumented code, since it only reads `all`.
__attribute__((no_sanitize("thread"), noinline)) inline unsigned lanes_equal(unsigned mask, const std::uint64_t* all,
                                                                             std::uint64_t value) {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1u) && all[lane] == value) lanes |= 1u << lane;
  }
  return lanes;
}

TILEWISE_INLINE unsigned ballot(unsigned mask, bool predicate) {
  std::uint64_t all[kWarpSize];
  warp_exchange(mask, WarpOp::vote, predicate, all);
  return lanes_equal(mask, all, 1);
}

TILEWISE_INLINE unsigned match(unsigned mask, std::uint64_t bits) {
  std::uint64_t all[kWarpSize];
  warp_exchange(mask, WarpOp::match, bits, all);
  return lanes_equal(mask, all, bits);
}

template <class T, class Op>
__attribute__((no_sanitize("thread"), noinline)) T fold(unsigned mask, const std::uint64_t* all, Op op) {
  bool first = true;
  T result{};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    T value;
    __builtin_memcpy(&value, &all[lane], sizeof(T));
    result = first ? value : op(result, value);
    first = false;
  }
  return result;
}

template <class T, class Op>
TILEWISE_INLINE T reduce(unsigned mask, T value, Op op) {
  std::uint64_t all[kWarpSize];
  warp_exchange(mask, WarpOp::reduce, to_bits(value), all);
  return fold<T>(mask, all, op);
}

}  // namespace tilewise::sim::warp_detail

// ---------------------------------------------------------------- shuffles
// Small integers are promoted to int first, as CUDA's overload resolution does.
#define TILEWISE_SHUFFLE(name, SourceType, source_of)                                                 \
  template <class T, std::enable_if_t<::tilewise::sim::warp_detail::kShuffles<T>, int> = 0>           \
  TILEWISE_INLINE auto name(unsigned mask, T value, SourceType source, int width = 32) {              \
    namespace warp = ::tilewise::sim::warp_detail;                                                    \
    if constexpr (std::is_integral_v<T>) {                                                            \
      return warp::shuffle(mask, +value, warp::source_of(::tilewise::sim::lane_id(), source, width)); \
    } else {                                                                                          \
      return warp::shuffle(mask, value, warp::source_of(::tilewise::sim::lane_id(), source, width));  \
    }                                                                                                 \
  }                                                                                                   \
  static_assert(true)

TILEWISE_SHUFFLE(__shfl_sync, int, source_index);
TILEWISE_SHUFFLE(__shfl_up_sync, unsigned, source_up);
TILEWISE_SHUFFLE(__shfl_down_sync, unsigned, source_down);
TILEWISE_SHUFFLE(__shfl_xor_sync, int, source_xor);
#undef TILEWISE_SHUFFLE

// ---------------------------------------------------------------- barriers and votes
TILEWISE_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  std::uint64_t all[::tilewise::sim::kWarpSize];
  ::tilewise::sim::warp_exchange(mask, ::tilewise::sim::WarpOp::sync, 0, all);
}

TILEWISE_INLINE unsigned __activemask() { return ::tilewise::sim::active_mask(); }
TILEWISE_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return ::tilewise::sim::warp_detail::ballot(mask, predicate != 0);
}
TILEWISE_INLINE int __any_sync(unsigned mask, int predicate) {
  return ::tilewise::sim::warp_detail::ballot(mask, predicate != 0) != 0;
}
TILEWISE_INLINE int __all_sync(unsigned mask, int predicate) {
  return ::tilewise::sim::warp_detail::ballot(mask, predicate == 0) == 0;
}
/// Non-zero where the predicate is the same in all lanes.
TILEWISE_INLINE int __uni_sync(unsigned mask, int predicate) {
  const unsigned lanes = ::tilewise::sim::warp_detail::ballot(mask, predicate != 0);
  return lanes == 0 || lanes == mask;
}

template <class T, std::enable_if_t<std::is_arithmetic_v<T> && sizeof(T) <= 8, int> = 0>
TILEWISE_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  return ::tilewise::sim::warp_detail::match(mask, ::tilewise::sim::warp_detail::to_bits(value));
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T> && sizeof(T) <= 8, int> = 0>
TILEWISE_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all_equal) {
  const bool same = ::tilewise::sim::warp_detail::match(mask, ::tilewise::sim::warp_detail::to_bits(value)) == mask;
  *all_equal = same;
  return same ? mask : 0u;
}

// ---------------------------------------------------------------- reductions
TILEWISE_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](unsigned a, unsigned b) { return a + b; });
}
TILEWISE_INLINE int __reduce_add_sync(unsigned mask, int value) {
  return int(__reduce_add_sync(mask, unsigned(value)));
}
TILEWISE_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](unsigned a, unsigned b) { return a < b ? a : b; });
}
TILEWISE_INLINE int __reduce_min_sync(unsigned mask, int value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](int a, int b) { return a < b ? a : b; });
}
TILEWISE_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](unsigned a, unsigned b) { return a > b ? a : b; });
}
TILEWISE_INLINE int __reduce_max_sync(unsigned mask, int value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](int a, int b) { return a > b ? a : b; });
}
TILEWISE_INLINE unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](unsigned a, unsigned b) { return a & b; });
}
TILEWISE_INLINE unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](unsigned a, unsigned b) { return a | b; });
}
TILEWISE_INLINE unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return ::tilewise::sim::warp_detail::reduce(mask, value, [](unsigned a, unsigned b) { return a ^ b; });
}
