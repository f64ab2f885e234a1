// What the compiler's -fsanitize=thread instrumentation calls. The sanitizer's own library is not linked: these
// functions take its place and show every access of a simulated thread to the observer.
//
// Host code of the same files is instrumented too; then no thread is observed and a hook returns at once.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
static constexpr bool __libc_single_threaded = false;  // not known
#endif

#include "base/inline_cache.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "model/fast_path.hpp"
#include "model/known_places.hpp"
#include "model/observer.hpp"
#include "model/order.hpp"
#include "model/race_search.hpp"
#include "runtime/host_algorithm.hpp"
#include "runtime/host_code.hpp"
#include "runtime/watchdog.hpp"

using tilewise::sim::kCallDepth;
using tilewise::sim::Lane;
using tilewise::sim::observed_lane;
namespace checker = tilewise::sim::checker;
namespace host_code = tilewise::sim::host_code;
namespace inline_cache = tilewise::sim::inline_cache;
namespace memory = tilewise::sim::memory;
namespace observer = tilewise::sim::observer;
namespace order = tilewise::sim::order;
namespace race_search = tilewise::sim::race_search;
using observer::Layout;

#define HOOK extern "C" __attribute__((noinline, visibility("default")))
#define SITE __builtin_return_address(0)

namespace {

__attribute__((noinline)) void observed(Lane* lane, const volatile void* address, std::size_t bytes,
                                        observer::Access kind, const void* site, Layout layout) {
  observed_lane = nullptr;  // see Unobserved
  observer::access(*lane, address, bytes, kind, site, layout);
  observed_lane = lane;
}

// What the hooks tell of the accessed type. The compilers call the plain hook of n bytes where the type's alignment is n,
// for 16 bytes where it is 8 or more; simcc then looks at how the compiler moves them, and calls the unaligned hook where
// it does so as if it were 8 (rewriter/arithmetic.hpp). nvcc moves a struct in pieces of its alignment.
#if defined(__x86_64__) || (defined(__aarch64__) && defined(__linux__))
constexpr std::size_t kMostAligned = 16;
#else
constexpr std::size_t kMostAligned = 8;                // there simcc doesn't look
#endif
constexpr Layout plain(std::size_t n) {
  return {static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(n < kMostAligned ? n : kMostAligned)};
}

// The alignment is below that of the plain hook: half of it for a struct of two members, or of four floats.
constexpr Layout unaligned(std::size_t n) {
  return {static_cast<std::uint8_t>(n == 1 ? 1 : n / 2), static_cast<std::uint8_t>(n == 16 ? 8 : 1)};
}

// Other structs, copied whole: the widest pieces that the size allows are those of the alignment of most of them. g++
// comes here with 2 to 16 bytes, too, where their alignment is below 8 and below their number.
constexpr Layout of_struct(std::size_t n) {
  if (n == 2 || n == 4 || n == 8) return unaligned(n);
  if (n == 16) return {4, 1};
  const std::size_t widest = n & (~n + 1);
  return {static_cast<std::uint8_t>(widest < 16 ? widest : 16), 1};
}

inline void not_observed(const volatile void* address, std::size_t bytes, const void* site) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if ((memory::in_device_arena(at) && !memory::device_memory_is_open()) ||
      (memory::hidden_variables.contains(at) && memory::is_hidden(at)))
    memory::host_access(at, bytes, const_cast<void*>(site));
  if (memory::device_variables.contains(at) && !memory::device_memory_is_open())
    memory::host_access_to_variable(at, const_cast<void*>(site));
  if (memory::guarded.contains(at)) memory::look_at_guarded(at, 1);
}

__attribute__((noinline)) void host_does_watched(const volatile void* address, std::size_t bytes, observer::Access kind,
                                                 const void* site) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (tilewise::sim::is_of_algorithm(at))
    return tilewise::sim::algorithm_accesses(at, bytes, !observer::only_reads(kind), site);
  if (order::unfinished.contains(at)) order::host_uses(at, bytes, !observer::only_reads(kind), const_cast<void*>(site));
  not_observed(address, bytes, site);
}

// An ordinary access of host code, which must not come too early for what the device does; or of a kernel that is not observed, which may
// do what it likes, unless the program isn't trusted.
inline void host_does(const volatile void* address, std::size_t bytes, observer::Access kind, const void* site) {
  if (!memory::is_watched(reinterpret_cast<std::uintptr_t>(address))) return;
  if (tilewise::sim::current_lane && memory::guarded.bytes == 0) return;
  host_does_watched(address, bytes, kind, site);
}

inline void seen(const volatile void* address, std::size_t bytes, observer::Access kind, const void* site,
                 Layout layout) {
  if (Lane* lane = observed_lane)
    observed(lane, address, bytes, kind, site, layout);
  else
    host_does(address, bytes, kind, site);
}

template <std::uint32_t bytes, observer::Access kind>
inline void observed_plain(Lane* lane, const volatile void* address, const void* site, unsigned known_bits) {
  observed_lane = nullptr;  // see Unobserved
  if (!observer::check_and_count<kind, bytes>(*lane, reinterpret_cast<std::uintptr_t>(address), site, known_bits)) {
    Layout layout = plain(bytes);
    layout.known_bits = static_cast<std::uint8_t>(known_bits);
    observer::access(*lane, address, bytes, kind, site, layout);
  }
  observed_lane = lane;
}

// The same for 1, 2, 4, 8 and 16 bytes, which nearly all accesses are: at full length,
template <std::uint32_t bytes, observer::Access kind>
__attribute__((noinline)) void look_at_plain(Lane* lane, const volatile void* address, const void* site,
                                             unsigned known_bits) {
  if (observer::checking) return observed_plain<bytes, kind>(lane, address, site, known_bits);
  if (observer::count_alone(*lane, reinterpret_cast<std::uintptr_t>(address), bytes, kind, site, known_bits)) return;
  Layout layout = plain(bytes);
  layout.known_bits = static_cast<std::uint8_t>(known_bits);
  observed(lane, address, bytes, kind, site, layout);
}

template <std::uint32_t bytes, observer::Access kind>
inline void seen_by_whoever_runs(const volatile void* address, const void* site, unsigned known_bits) {
  if (Lane* lane = observed_lane) return look_at_plain<bytes, kind>(lane, address, site, known_bits);
  host_does(address, bytes, kind, site);
}

// Until when a known place stays one.
template <observer::Access kind>
constexpr auto until_changed =
    kind == observer::Access::store ? inline_cache::Until::threads_poll : inline_cache::Until::places_are_forgotten;

// in a known place, with memory of which some bytes may be unwritten,
template <std::uint32_t bytes, observer::Access kind>
__attribute__((noinline)) void follow_what_is_written(const volatile void* address, const void* site,
                                                      unsigned known_bits, inline_cache::Cache* cache = nullptr) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (kind == observer::Access::store) {
    memory::mark_written(at, bytes);
    tilewise::sim::idle_polls = 0;
  } else if (!memory::is_written(at, bytes)) {
    return seen_by_whoever_runs<bytes, kind>(address, site, known_bits);
  }
  if (cache) inline_cache::fill(*cache, at, 0, bytes, until_changed<kind>);  // of many loops all iterations come here
}

// and what most of them need where races are no longer looked for. It comes first, whoever runs: what it lets pass is no matter for
// host code either. All calls of it are the last thing that it does, so that it needs no stack.
template <std::uint32_t bytes, observer::Access kind>
inline void seen_plain(const volatile void* address, const void* site, unsigned known_bits = 0) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!race_search::goes_on()) {
    if (const checker::KnownPlace* place = checker::stays_in_known_place(at, bytes, site)) {
      if (place->written_in_part) return follow_what_is_written<bytes, kind>(address, site, known_bits);
      if (kind == observer::Access::store) tilewise::sim::idle_polls = 0;
      return;
    }
  }
  seen_by_whoever_runs<bytes, kind>(address, site, known_bits);
}

// The same of a place that has a cache. On a thread's own stack nothing is ever wrong with an access, nor counted.
template <std::uint32_t bytes, observer::Access kind>
inline void seen_at_place(const volatile void* address, inline_cache::Cache& cache, unsigned known_bits,
                          const void* site) {
  using inline_cache::Until;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!race_search::goes_on()) {
    if (const checker::KnownPlace* place = checker::stays_in_known_place(at, bytes, site)) {
      if (place->written_in_part) return follow_what_is_written<bytes, kind>(address, site, known_bits, &cache);
      if (kind == observer::Access::store) tilewise::sim::idle_polls = 0;
      return inline_cache::fill(cache, place->begin, place->last, bytes, until_changed<kind>);
    }
  }
  if (Lane* lane = observed_lane) {
    if (tilewise::sim::on_own_stack(at))
      return inline_cache::fill(cache, tilewise::sim::own_stack_end - tilewise::sim::kStackBytes,
                                tilewise::sim::kStackBytes - bytes, bytes, Until::stack_changes);
    return look_at_plain<bytes, kind>(lane, address, site, known_bits);
  }
  if (tilewise::sim::current_lane && !observer::active() && memory::guarded.bytes == 0 && __libc_single_threaded)
    return inline_cache::fill(cache, 0, ~std::size_t{1}, bytes, Until::launch_ends);
  if (!memory::is_watched(at)) {
    if (tilewise::sim::current_lane || !__libc_single_threaded) return;
    return inline_cache::fill(cache, memory::stretch_begin(at), memory::kStretchBytes - bytes, bytes,
                              Until::host_is_watched);
  }
  host_does(address, bytes, kind, site);
}

inline void seen_volatile(const volatile void* address, std::size_t bytes, observer::Access kind, const void* site,
                          Layout layout) {
  Lane* lane = tilewise::sim::current_lane;
  if (!lane) return not_observed(address, bytes, site);
  if (kind == observer::Access::load)
    tilewise::sim::polled(*lane, address, site);  // first: others may run before the load
  if (checker::needs_no_look(reinterpret_cast<std::uintptr_t>(address), static_cast<std::uint32_t>(bytes), site)) {
    if (kind == observer::Access::store) tilewise::sim::idle_polls = 0;
    return;
  }
  lane->volatile_access = true;
  seen(address, bytes, kind, site, layout);
  lane->volatile_access = false;
}

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15ull;
  return a ^ (a >> 29);
}

}  // namespace

// ---------------------------------------------------------------- plain accesses
#define SIZED(n)                                                                                                \
  HOOK void __tsan_read##n(void* p) { seen_plain<n, observer::Access::load>(p, SITE); }                         \
  HOOK void __tsan_write##n(void* p) { seen_plain<n, observer::Access::store>(p, SITE); }                       \
  HOOK void __tsan_volatile_read##n(void* p) { seen_volatile(p, n, observer::Access::load, SITE, plain(n)); }   \
  HOOK void __tsan_volatile_write##n(void* p) { seen_volatile(p, n, observer::Access::store, SITE, plain(n)); } \
  HOOK void __tsan_read##n##_pc(void* p, void* pc) { seen(p, n, observer::Access::load, pc, plain(n)); }        \
  HOOK void __tsan_write##n##_pc(void* p, void* pc) { seen(p, n, observer::Access::store, pc, plain(n)); }      \
  HOOK void __tsan_unaligned_read##n(void* p) { seen(p, n, observer::Access::load, SITE, unaligned(n)); }       \
  HOOK void __tsan_unaligned_write##n(void* p) { seen(p, n, observer::Access::store, SITE, unaligned(n)); }     \
  HOOK void __tsan_unaligned_volatile_read##n(void* p) {                                                        \
    seen_volatile(p, n, observer::Access::load, SITE, unaligned(n));                                            \
  }                                                                                                             \
  HOOK void __tsan_unaligned_volatile_write##n(void* p) {                                                       \
    seen_volatile(p, n, observer::Access::store, SITE, unaligned(n));                                           \
  }                                                                                                             \
  HOOK void __tsan_read_write##n(void* p) {                                                                     \
    seen(p, n, observer::Access::load, SITE, plain(n));                                                         \
    seen(p, n, observer::Access::store, SITE, plain(n));                                                        \
  }                                                                                                             \
  HOOK void __tsan_unaligned_read_write##n(void* p) {                                                           \
    seen(p, n, observer::Access::load, SITE, unaligned(n));                                                     \
    seen(p, n, observer::Access::store, SITE, unaligned(n));                                                    \
  }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)
#undef SIZED

// The compiler knows the last 3 or 4 bits of the address, or all, whatever the iteration (rewriter/known_bits.hpp).
#define KNOWN(n, bits)                                                                                        \
  HOOK void tilewise_read##n##_known##bits(void* p) { seen_plain<n, observer::Access::load>(p, SITE, bits); } \
  HOOK void tilewise_write##n##_known##bits(void* p) { seen_plain<n, observer::Access::store>(p, SITE, bits); }
KNOWN(1, 3)
KNOWN(1, 4)
KNOWN(1, 5)
KNOWN(2, 3)
KNOWN(2, 4)
KNOWN(2, 5)
KNOWN(4, 3)
KNOWN(4, 4)
KNOWN(4, 5)
KNOWN(8, 4)
KNOWN(8, 5)
#undef KNOWN

// A place with a cache (rewriter/inline_caches.hpp): what is known of the address's last bits, as above, is the third argument.
#define CACHED(n)                                                                                  \
  HOOK void tilewise_read##n##_cached(void* p, inline_cache::Cache* cache, unsigned known_bits) {  \
    seen_at_place<n, observer::Access::load>(p, *cache, known_bits, SITE);                         \
  }                                                                                                \
  HOOK void tilewise_write##n##_cached(void* p, inline_cache::Cache* cache, unsigned known_bits) { \
    seen_at_place<n, observer::Access::store>(p, *cache, known_bits, SITE);                        \
  }
CACHED(1)
CACHED(2)
CACHED(4)
CACHED(8)
CACHED(16)
#undef CACHED

HOOK void __tsan_read_range(void* p, std::size_t n) { seen(p, n, observer::Access::load, SITE, of_struct(n)); }
HOOK void __tsan_write_range(void* p, std::size_t n) { seen(p, n, observer::Access::store, SITE, of_struct(n)); }
// What tells an object's class: a constructor in a kernel stores it like any member.
HOOK void __tsan_vptr_read(void** p) {
  if (observed_lane) observed(observed_lane, p, sizeof *p, observer::Access::load, SITE, plain(sizeof *p));
}
HOOK void __tsan_vptr_update(void** p, void*) {
  host_code::makes_object(p, tilewise::sim::current_lane != nullptr);
  if (observed_lane) observed(observed_lane, p, sizeof *p, observer::Access::store, SITE, plain(sizeof *p));
}
HOOK void __tsan_init() {}

// ---------------------------------------------------------------- the call path
HOOK void __tsan_func_entry(void* caller) {
  Lane* lane = observed_lane;
  if (!lane) return;
  if (lane->call_depth < kCallDepth) {
    lane->calls->saved[lane->call_depth] = lane->call_context;
    lane->calls->callers[lane->call_depth] = caller;
  }
  ++lane->call_depth;
  lane->call_context = mix(lane->call_context, reinterpret_cast<std::uintptr_t>(caller));
}

HOOK void __tsan_func_exit() {
  Lane* lane = observed_lane;
  if (!lane || lane->call_depth == 0) return;
  --lane->call_depth;
  if (lane->call_depth < kCallDepth) lane->call_context = lane->calls->saved[lane->call_depth];
}

// ---------------------------------------------------------------- std::atomic, mostly of host code
// Done for real, since host code may have threads; on a simulated thread it is an atomic of that thread.
namespace {
void seen_atomic_load(const volatile void* p, std::size_t bytes, const void* site) {
  if (observed_lane)
    seen(p, bytes, observer::Access::load, site, plain(bytes));
  else
    not_observed(p, bytes, site);
}

template <class T>
void seen_atomic(const volatile T* p, const void* site) {
  if (Lane* lane = observed_lane) {
    observed_lane = nullptr;
    observer::atomic(*lane, p, sizeof(T), site);
    observed_lane = lane;
  } else {
    not_observed(p, sizeof(T), site);
  }
}
}  // namespace

#define UPDATE(bits, T, name, builtin)                           \
  HOOK T __tsan_atomic##bits##_##name(volatile T* p, T v, int) { \
    seen_atomic(p, SITE);                                        \
    return builtin(p, v, __ATOMIC_SEQ_CST);                      \
  }
#define COMPARE_EXCHANGE(bits, T, name, weak)                                                         \
  HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile T* p, T* expected, T v, int, int) { \
    seen_atomic(p, SITE);                                                                             \
    return __atomic_compare_exchange_n(p, expected, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
  }
#define ATOMIC(bits, T)                                                                         \
  HOOK T __tsan_atomic##bits##_load(const volatile T* p, int) {                                 \
    seen_atomic_load(p, sizeof(T), SITE);                                                       \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                \
  }                                                                                             \
  HOOK void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                              \
    seen_atomic(p, SITE);                                                                       \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                             \
  UPDATE(bits, T, exchange, __atomic_exchange_n)                                                \
  UPDATE(bits, T, fetch_add, __atomic_fetch_add)                                                \
  UPDATE(bits, T, fetch_sub, __atomic_fetch_sub)                                                \
  UPDATE(bits, T, fetch_and, __atomic_fetch_and)                                                \
  UPDATE(bits, T, fetch_or, __atomic_fetch_or)                                                  \
  UPDATE(bits, T, fetch_xor, __atomic_fetch_xor)                                                \
  UPDATE(bits, T, fetch_nand, __atomic_fetch_nand)                                              \
  COMPARE_EXCHANGE(bits, T, strong, false)                                                      \
  COMPARE_EXCHANGE(bits, T, weak, true)                                                         \
  HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) { \
    seen_atomic(p, SITE);                                                                       \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
    return expected;                                                                            \
  }
ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)
#undef ATOMIC
#undef COMPARE_EXCHANGE
#undef UPDATE

HOOK void __tsan_atomic_thread_fence(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }
HOOK void __tsan_atomic_signal_fence(int) { std::atomic_signal_fence(std::memory_order_seq_cst); }

// ---------------------------------------------------------------- memcpy and kin in device code
// Not what the source says, which is rewritten (tilewise_device/memory.hpp), but structs that the compiler copies by a
// call. Newer clang calls __tsan_memcpy; everything else calls memcpy itself, which the linker directs here (--wrap, see
// simulator/CMakeLists.txt). Only device memory is of interest: initial values of local arrays come from the program's own.
namespace {

// clang says nothing of the struct's alignment.
constexpr Layout of_block(std::size_t n) {
  const std::size_t widest = n & (~n + 1);
  return {static_cast<std::uint8_t>(widest < 16 ? widest : 16), 1};
}

void seen_block(const volatile void* p, std::size_t bytes, observer::Access kind, const void* site) {
  Lane* lane = observed_lane;
  if (!lane || bytes == 0) return;
  observed_lane = nullptr;  // see Unobserved
  if (observer::on_device(const_cast<const void*>(p))) observer::access(*lane, p, bytes, kind, site, of_block(bytes));
  observed_lane = lane;
}

void seen_copy(void* to, const void* from, std::size_t bytes, const void* site) {
  if (tilewise::sim::host_algorithms > 0 && !tilewise::sim::current_lane)
    return tilewise::sim::algorithm_copies(to, from, bytes, site);
  seen_block(from, bytes, observer::Access::load, site);
  seen_block(to, bytes, observer::Access::store, site);
}

void seen_fill(void* to, std::size_t bytes, const void* site) {
  const auto at = reinterpret_cast<std::uintptr_t>(to);
  if (!tilewise::sim::current_lane && bytes > 0 && tilewise::sim::is_of_algorithm(at))
    return tilewise::sim::algorithm_accesses(at, bytes, true, site);
  seen_block(to, bytes, observer::Access::store, site);
}

}  // namespace

extern "C" {
__attribute__((weak)) void* __real_memcpy(void*, const void*, std::size_t);
__attribute__((weak)) void* __real_memmove(void*, const void*, std::size_t);
__attribute__((weak)) void* __real_memset(void*, int, std::size_t);
}

HOOK void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  seen_copy(to, from, n, SITE);
  return __real_memcpy(to, from, n);
}
HOOK void* __wrap_memmove(void* to, const void* from, std::size_t n) {
  seen_copy(to, from, n, SITE);
  return __real_memmove(to, from, n);
}
HOOK void* __wrap_memset(void* to, int value, std::size_t n) {
  seen_fill(to, n, SITE);
  return __real_memset(to, value, n);
}
HOOK void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  seen_copy(to, from, n, SITE);
  return __real_memcpy ? __real_memcpy(to, from, n) : std::memcpy(to, from, n);
}
HOOK void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  seen_copy(to, from, n, SITE);
  return __real_memmove ? __real_memmove(to, from, n) : std::memmove(to, from, n);
}
HOOK void* __tsan_memset(void* to, int value, std::size_t n) {
  seen_fill(to, n, SITE);
  return __real_memset ? __real_memset(to, value, n) : std::memset(to, value, n);
}

// The same of host code that isn't trusted (rewriter/checked_calls.hpp).
HOOK void* tilewise_guarded_memcpy(void* to, const void* from, std::size_t n) {
  memory::host_uses(from, n);
  memory::host_uses(to, n);
  return __wrap_memcpy(to, from, n);
}
HOOK void* tilewise_guarded_memmove(void* to, const void* from, std::size_t n) {
  memory::host_uses(from, n);
  memory::host_uses(to, n);
  return __wrap_memmove(to, from, n);
}
HOOK void* tilewise_guarded_memset(void* to, int value, std::size_t n) {
  memory::host_uses(to, n);
  return __wrap_memset(to, value, n);
}

// ---------------------------------------------------------------- arithmetic
namespace tilewise::sim {

void own_arithmetic(bool in_single_too) noexcept {
  own_arithmetic_seen.in_double = true;
  if (in_single_too) own_arithmetic_seen.in_single = true;
}

}  // namespace tilewise::sim

// ---------------------------------------------------------------- branches
namespace tilewise::sim {

bool may_skip(bool taken) {
  if (Lane* lane = observed_lane) observer::branch(*lane, taken, SITE);
  return taken;
}

void* aligned8(const volatile void* pointer) { return const_cast<void*>(pointer); }
void* aligned16(const volatile void* pointer) { return const_cast<void*>(pointer); }

}  // namespace tilewise::sim

// ---------------------------------------------------------------- loops
namespace tilewise::sim {

void Loop::enter(unsigned facts) {
  if (Lane* lane = observed_lane) {
    facts_ = facts;
    iteration_ = 0;
    outer_ = lane->loop_context;
    around_ = lane->loop;
    place_ = __builtin_return_address(0);
    lane->loop = this;
  }
}

void Loop::iterate() {
  if (Lane* lane = observed_lane) {
    lane->loop_context = mix(outer_, ++iteration_);
    if (look_at_iteration.load(std::memory_order_relaxed)) [[unlikely]]
      look_again(lane);
    if (!race_search::goes_on()) follow_loops = threads_waited || look_at_iteration.load(std::memory_order_relaxed);
  }
}

void Loop::leave() {
  if (Lane* lane = observed_lane) {
    lane->loop_context = outer_;
    lane->loop = around_;
  }
}

}  // namespace tilewise::sim
