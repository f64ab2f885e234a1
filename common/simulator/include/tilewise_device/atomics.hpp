// Atomic functions. The simulator runs on one OS thread, so an atomic is: announce, read, compute, write back.
#pragma once

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
inline int sum(int a, int b) { return int(unsigned(a) + unsigned(b)); }
inline unsigned sum(unsigned a, unsigned b) { return a + b; }
inline unsigned long long sum(unsigned long long a, unsigned long long b) { return a + b; }
inline float sum(float a, float b) { return a + b; }
inline double sum(double a, double b) { return a + b; }

}  // namespace tilewise::sim::atomic_detail

// One function for each of the three scopes: they differ in speed only.
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

TILEWISE_ATOMICS(int, atomicSub, ::tilewise::sim::atomic_detail::sum(old, int(0u - unsigned(value))));
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
