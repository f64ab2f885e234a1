// Barriers, fences, loads and stores with cache hints, clocks and traps.
#pragma once

#include <time.h>
#include <type_traits>

#include "tilewise_sim/device.hpp"

// ---------------------------------------------------------------- barriers and fences
TILEWISE_INLINE void __syncthreads() { ::tilewise::sim::sync_block(); }
TILEWISE_INLINE int __syncthreads_count(int predicate) { return ::tilewise::sim::sync_block_count(predicate); }
TILEWISE_INLINE int __syncthreads_and(int predicate) { return ::tilewise::sim::sync_block_and(predicate); }
TILEWISE_INLINE int __syncthreads_or(int predicate) { return ::tilewise::sim::sync_block_or(predicate); }

// One OS thread: keeping the compiler from moving accesses is all that a fence needs.
TILEWISE_INLINE void __threadfence() { tilewise::sim::memory_fence(); }
TILEWISE_INLINE void __threadfence_block() { tilewise::sim::memory_fence(true); }
TILEWISE_INLINE void __threadfence_system() { tilewise::sim::memory_fence(); }

// ---------------------------------------------------------------- loads and stores with a cache hint
// Each is one plain access of the full width: the hints change speed, not results.
namespace tilewise::sim::memory_detail {
template <class T>
inline constexpr bool kCacheHint = !std::is_pointer_v<T> && sizeof(T) <= 16;
}
#define TILEWISE_LOAD(name)                                                                    \
  template <class T, std::enable_if_t<::tilewise::sim::memory_detail::kCacheHint<T>, int> = 0> \
  TILEWISE_INLINE T name(const T* address) {                                                   \
    return *address;                                                                           \
  }                                                                                            \
  static_assert(true)
#define TILEWISE_STORE(name)                                                                   \
  template <class T, std::enable_if_t<::tilewise::sim::memory_detail::kCacheHint<T>, int> = 0> \
  TILEWISE_INLINE void name(T* address, std::type_identity_t<T> value) {                       \
    *address = value;                                                                          \
  }                                                                                            \
  static_assert(true)

TILEWISE_LOAD(__ldg);
TILEWISE_LOAD(__ldca);
TILEWISE_LOAD(__ldcg);
TILEWISE_LOAD(__ldcs);
TILEWISE_LOAD(__ldlu);
TILEWISE_LOAD(__ldcv);
TILEWISE_STORE(__stwb);
TILEWISE_STORE(__stcg);
TILEWISE_STORE(__stcs);
TILEWISE_STORE(__stwt);
#undef TILEWISE_LOAD
#undef TILEWISE_STORE

// ---------------------------------------------------------------- memcpy and memset in device code
// nvcc (13.0, in its PTX) makes them loads and stores of single bytes, whatever the pointers point to: it takes nothing for
// granted about the addresses. simcc has device code call these.
namespace tilewise::sim {
TILEWISE_INLINE void* copy_bytes(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
  return to;
}
TILEWISE_INLINE void* set_bytes(void* to, int value, std::size_t bytes) {
  auto* target = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < bytes; ++i) target[i] = static_cast<unsigned char>(value);
  return to;
}
}  // namespace tilewise::sim

// ---------------------------------------------------------------- clocks and traps
/// Nanoseconds of the host's clock: they pass, so waiting loops end, but say nothing about a GPU.
inline unsigned long long globaltimer() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1'000'000'000ull * now.tv_sec + now.tv_nsec;
}
/// No cycles pass here. Each reading is one more than the last, of whatever thread, and further on when one thread has read it 1,000
/// times in a row: loops that wait for the clock end, differences are never 0 or negative, and two runs of a program read the same.
inline long long clock64() { return ::tilewise::sim::clock_reading(); }
namespace tilewise::sim {
/// `clock()` of device code: the same count. Host code that runs the same function gets the C library's.
inline clock_t clock() { return in_kernel() ? static_cast<clock_t>(clock_reading()) : ::clock(); }
}  // namespace tilewise::sim

inline void __nanosleep(unsigned) { ::tilewise::sim::yield_thread(); }
[[noreturn]] inline void __trap() { ::tilewise::sim::trap(); }
[[noreturn]] inline void __brkpt() { ::tilewise::sim::trap(); }
inline void __prof_trigger(int) {}

// ---------------------------------------------------------------- address spaces
// Device memory has one address space here. Where a pointer points is the runtime's knowledge, so code that branches on it
// is told so instead of being misled.
inline unsigned __isGlobal(const void* pointer) { return ::tilewise::sim::is_global(pointer); }
inline unsigned __isShared(const void* pointer) { return ::tilewise::sim::is_shared(pointer); }
[[noreturn]] inline unsigned __isConstant(const void*) { ::tilewise::sim::unsupported("__isConstant()"); }
[[noreturn]] inline unsigned __isLocal(const void*) { ::tilewise::sim::unsupported("__isLocal()"); }
/// For inline PTX.
namespace tilewise::sim::ptx {
TILEWISE_DISTINCT std::uint32_t shared_address(const void* pointer);
}
TILEWISE_INLINE std::size_t __cvta_generic_to_shared(const void* pointer) {
  return ::tilewise::sim::ptx::shared_address(pointer);
}
