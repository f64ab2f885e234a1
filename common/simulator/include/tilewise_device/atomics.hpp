// Atomic functions. The simulator runs on one OS thread, so an atomic is: announce, read, compute, write back.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim::atomic_detail {

template <class T, class Compute>
TILEWISE_INLINE T read_modify_write(T* address, Compute compute) {
  atomic_access(address, sizeof(T));
  T old;
  raw_copy(&old, address, sizeof(T));
  const T next = compute(old);
  raw_copy(address, &next, sizeof(T));
  return old;
}

// Integer sums wrap round, also for int.
template <class T>
constexpr T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else
    return a + b;
}
template <class T>
constexpr T wrapped_difference(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(std::make_unsigned_t<T>(a) - std::make_unsigned_t<T>(b));
  else
    return a - b;
}

}  // namespace tilewise::sim::atomic_detail

// One function for each of the three scopes, which an H200 executes alike (docs/findings.md, "What is not found").
#define TILEWISE_ATOMIC(T, name, suffix, expression)                                                               \
  TILEWISE_INLINE T name##suffix(T* address, T value) {                                                            \
    return ::tilewise::sim::atomic_detail::read_modify_write(address, [value](T old) -> T { return expression; }); \
  }
#define TILEWISE_ATOMICS(T, name, expression)   \
  TILEWISE_ATOMIC(T, name, , expression)        \
  TILEWISE_ATOMIC(T, name, _block, expression)  \
  TILEWISE_ATOMIC(T, name, _system, expression) \
  static_assert(true)

TILEWISE_ATOMICS(int, atomicAdd, ::tilewise::sim::atomic_detail::sum(old, value));
TILEWISE_ATOMICS(unsigned int, atomicAdd, old + value);
TILEWISE_ATOMICS(unsigned long long int, atomicAdd, old + value);
TILEWISE_ATOMICS(float, atomicAdd, old + value);
TILEWISE_ATOMICS(double, atomicAdd, old + value);

TILEWISE_ATOMICS(int, atomicSub, ::tilewise::sim::atomic_detail::wrapped_difference(old, value));
TILEWISE_ATOMICS(unsigned int, atomicSub, old - value);

TILEWISE_ATOMICS(int, atomicExch, ((void)old, value));
TILEWISE_ATOMICS(unsigned int, atomicExch, ((void)old, value));
TILEWISE_ATOMICS(unsigned long long int, atomicExch, ((void)old, value));
TILEWISE_ATOMICS(float, atomicExch, ((void)old, value));

TILEWISE_ATOMICS(int, atomicMin, value < old ? value : old);
TILEWISE_ATOMICS(unsigned int, atomicMin, value < old ? value : old);
TILEWISE_ATOMICS(unsigned long long int, atomicMin, value < old ? value : old);
TILEWISE_ATOMICS(long long int, atomicMin, value < old ? value : old);

TILEWISE_ATOMICS(int, atomicMax, value > old ? value : old);
TILEWISE_ATOMICS(unsigned int, atomicMax, value > old ? value : old);
TILEWISE_ATOMICS(unsigned long long int, atomicMax, value > old ? value : old);
TILEWISE_ATOMICS(long long int, atomicMax, value > old ? value : old);

TILEWISE_ATOMICS(unsigned int, atomicInc, old >= value ? 0u : old + 1u);
TILEWISE_ATOMICS(unsigned int, atomicDec, (old == 0u || old > value) ? value : old - 1u);

TILEWISE_ATOMICS(int, atomicAnd, old& value);
TILEWISE_ATOMICS(unsigned int, atomicAnd, old& value);
TILEWISE_ATOMICS(unsigned long long int, atomicAnd, old& value);
TILEWISE_ATOMICS(int, atomicOr, old | value);
TILEWISE_ATOMICS(unsigned int, atomicOr, old | value);
TILEWISE_ATOMICS(unsigned long long int, atomicOr, old | value);
TILEWISE_ATOMICS(int, atomicXor, old ^ value);
TILEWISE_ATOMICS(unsigned int, atomicXor, old ^ value);
TILEWISE_ATOMICS(unsigned long long int, atomicXor, old ^ value);

#define TILEWISE_ATOMIC_CAS(T, name)                                                     \
  TILEWISE_INLINE T name(T* address, T compare, T value) {                               \
    return ::tilewise::sim::atomic_detail::read_modify_write(                            \
        address, [compare, value](T old) -> T { return old == compare ? value : old; }); \
  }
#define TILEWISE_ATOMICS_CAS(T)            \
  TILEWISE_ATOMIC_CAS(T, atomicCAS)        \
  TILEWISE_ATOMIC_CAS(T, atomicCAS_block)  \
  TILEWISE_ATOMIC_CAS(T, atomicCAS_system) \
  static_assert(true)

TILEWISE_ATOMICS_CAS(int);
TILEWISE_ATOMICS_CAS(unsigned int);
TILEWISE_ATOMICS_CAS(unsigned long long int);
TILEWISE_ATOMICS_CAS(unsigned short int);

#undef TILEWISE_ATOMIC_CAS
#undef TILEWISE_ATOMICS_CAS
#undef TILEWISE_ATOMICS
#undef TILEWISE_ATOMIC

// Each component is added atomically, the vector as a whole is not; one 8- or 16-byte access (sm_90 and newer).
TILEWISE_INLINE float2 atomicAdd(float2* address, float2 value) {
  return ::tilewise::sim::atomic_detail::read_modify_write(address, [value](float2 old) {
    return float2{old.x + value.x, old.y + value.y};
  });
}
TILEWISE_INLINE float4 atomicAdd(float4* address, float4 value) {
  return ::tilewise::sim::atomic_detail::read_modify_write(address, [value](float4 old) {
    return float4{old.x + value.x, old.y + value.y, old.z + value.z, old.w + value.w};
  });
}

// ---------------------------------------------------------------- CUDA 12.8's own: an order and a scope for each
enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

namespace tilewise::sim::atomic_detail {

/// The bits of a T: what is read, written or exchanged at once.
template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                          std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                             std::conditional_t<sizeof(T) == 1, std::uint8_t, void>>>>;
/// T, but not deduced from this argument.
template <class T>
using Value = std::common_type_t<T>;

// What nvcc takes, too.
template <class T>
inline constexpr bool kInteger = std::is_integral_v<T>;
template <class T>
inline constexpr bool kSummed = std::is_arithmetic_v<T> && sizeof(T) >= 4 &&
                                !(kInteger<T> && std::is_signed_v<T> && sizeof(T) == 8);
template <class T>
inline constexpr bool kCompared = kInteger<T> && sizeof(T) >= 4;

TILEWISE_INLINE void ordered_fence(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED) memory_fence(scope <= __NV_THREAD_SCOPE_BLOCK);
}

template <class T, class Compute>
TILEWISE_INLINE T ordered_update(T* address, int order, int scope, Compute compute) {
  ordered_fence(order, scope);
  const T old = read_modify_write(address, compute);
  ordered_fence(order, scope);
  return old;
}

}  // namespace tilewise::sim::atomic_detail

TILEWISE_INLINE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  ::tilewise::sim::atomic_detail::ordered_fence(order, scope);
}

#define TILEWISE_INTEGER_ATOMIC(T)                           \
  static_assert(::tilewise::sim::atomic_detail::kInteger<T>, \
                "this function takes integers alone; the one whose name does not end in _n takes other types")

template <class T>
TILEWISE_INLINE void __nv_atomic_load(T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  using Bits = ::tilewise::sim::atomic_detail::Bits<T>;
  *value = __builtin_bit_cast(T, Bits(*reinterpret_cast<volatile Bits*>(address)));
  ::tilewise::sim::atomic_detail::ordered_fence(order, scope);
}
template <class T>
TILEWISE_INLINE T __nv_atomic_load_n(T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  TILEWISE_INTEGER_ATOMIC(T);
  T value;
  __nv_atomic_load(address, &value, order, scope);
  return value;
}

template <class T>
TILEWISE_INLINE void __nv_atomic_store(T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  using Bits = ::tilewise::sim::atomic_detail::Bits<T>;
  ::tilewise::sim::atomic_detail::ordered_fence(order, scope);
  *reinterpret_cast<volatile Bits*>(address) = __builtin_bit_cast(Bits, *value);
}
template <class T>
TILEWISE_INLINE void __nv_atomic_store_n(T* address, ::tilewise::sim::atomic_detail::Value<T> value, int order,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
  TILEWISE_INTEGER_ATOMIC(T);
  __nv_atomic_store(address, &value, order, scope);
}

template <class T>
TILEWISE_INLINE void __nv_atomic_exchange(T* address, T* value, T* old, int order,
                                          int scope = __NV_THREAD_SCOPE_SYSTEM) {
  const T next = *value;
  *old = ::tilewise::sim::atomic_detail::ordered_update(address, order, scope, [next](T) { return next; });
}
template <class T>
TILEWISE_INLINE T __nv_atomic_exchange_n(T* address, ::tilewise::sim::atomic_detail::Value<T> value, int order,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
  TILEWISE_INTEGER_ATOMIC(T);
  T old;
  __nv_atomic_exchange(address, &value, &old, order, scope);
  return old;
}

/// `expected` becomes what was there, if those are other bits. Weak ones fail no more often.
template <class T>
TILEWISE_INLINE bool __nv_atomic_compare_exchange(T* address, T* expected, T* desired, bool /*weak*/, int success,
                                                  int /*failure*/, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  using Bits = ::tilewise::sim::atomic_detail::Bits<T>;
  const Bits wanted = __builtin_bit_cast(Bits, *expected);
  const T next = *desired;
  const T old = ::tilewise::sim::atomic_detail::ordered_update(address, success, scope, [wanted, next](T value) {
    return __builtin_bit_cast(Bits, value) == wanted ? next : value;
  });
  if (__builtin_bit_cast(Bits, old) == wanted) return true;
  *expected = old;
  return false;
}
template <class T>
TILEWISE_INLINE bool __nv_atomic_compare_exchange_n(T* address, T* expected,
                                                    ::tilewise::sim::atomic_detail::Value<T> desired, bool weak,
                                                    int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  TILEWISE_INTEGER_ATOMIC(T);
  return __nv_atomic_compare_exchange(address, expected, &desired, weak, success, failure, scope);
}

#undef TILEWISE_INTEGER_ATOMIC

#define TILEWISE_NV_ATOMIC(name, kAllowed, expression)                                                                 \
  template <class T>                                                                                                   \
  TILEWISE_INLINE T __nv_atomic_fetch_##name(T* address, ::tilewise::sim::atomic_detail::Value<T> value, int order,    \
                                             int scope = __NV_THREAD_SCOPE_SYSTEM) {                                   \
    static_assert(::tilewise::sim::atomic_detail::kAllowed<T>,                                                         \
                  "no atomic of this type: sums take int, unsigned, unsigned long long, float and double, the rest "   \
                  "takes integers of 4 and 8 bytes");                                                                  \
    return ::tilewise::sim::atomic_detail::ordered_update(address, order, scope,                                       \
                                                          [value](T old) -> T { return static_cast<T>(expression); }); \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  TILEWISE_INLINE void __nv_atomic_##name(T* address, ::tilewise::sim::atomic_detail::Value<T> value, int order,       \
                                          int scope = __NV_THREAD_SCOPE_SYSTEM) {                                      \
    __nv_atomic_fetch_##name(address, value, order, scope);                                                            \
  }                                                                                                                    \
  static_assert(true)

TILEWISE_NV_ATOMIC(add, kSummed, ::tilewise::sim::atomic_detail::sum(old, value));
TILEWISE_NV_ATOMIC(sub, kSummed, ::tilewise::sim::atomic_detail::wrapped_difference(old, value));
TILEWISE_NV_ATOMIC(and, kCompared, old& value);
TILEWISE_NV_ATOMIC(or, kCompared, old | value);
TILEWISE_NV_ATOMIC(xor, kCompared, old ^ value);
TILEWISE_NV_ATOMIC(min, kCompared, value < old ? value : old);
TILEWISE_NV_ATOMIC(max, kCompared, old < value ? value : old);

#undef TILEWISE_NV_ATOMIC
