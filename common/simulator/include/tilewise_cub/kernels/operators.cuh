// CUB's operators and small types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

// The version that CUDA 12.8 has.
#define CUB_MAJOR_VERSION 2
#define CUB_MINOR_VERSION 7
#define CUB_SUBMINOR_VERSION 0
#define CUB_VERSION 200700

#define CUB_RUNTIME_FUNCTION __host__ __device__
#define CUB_PTX_ARCH 900
#define CUB_MIN(a, b) (((a) > (b)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) > (b)) ? (a) : (b))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y)-1) / (y))

namespace cub {

struct NullType {
  template <class T>
  __host__ __device__ NullType& operator=(const T&) {
    return *this;
  }
  __host__ __device__ bool operator==(const NullType&) const { return true; }
  __host__ __device__ bool operator!=(const NullType&) const { return false; }
};

template <class K, class V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  K key;
  V value;
  KeyValuePair() = default;
  __host__ __device__ KeyValuePair(const K& key, const V& value) : key(key), value(value) {}
  __host__ __device__ bool operator!=(const KeyValuePair& other) const {
    return value != other.value || key != other.key;
  }
};

#define TILEWISE_CUB_OPERATOR(name, expression)                         \
  struct name {                                                         \
    template <class T, class U>                                         \
    __host__ __device__ auto operator()(const T& a, const U& b) const { \
      return expression;                                                \
    }                                                                   \
  }
TILEWISE_CUB_OPERATOR(Equality, a == b);
TILEWISE_CUB_OPERATOR(Inequality, a != b);
TILEWISE_CUB_OPERATOR(Sum, a + b);
TILEWISE_CUB_OPERATOR(Difference, a - b);
TILEWISE_CUB_OPERATOR(Division, a / b);
#undef TILEWISE_CUB_OPERATOR

struct Max {
  template <class T, class U>
  __host__ __device__ std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T, class U>
  __host__ __device__ std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return b < a ? b : a;
  }
};
/// Of equal values the one with the smaller key.
struct ArgMax {
  template <class K, class V>
  __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
template <class To>
struct CastOp {
  template <class T>
  __host__ __device__ To operator()(T&& x) const {
    return static_cast<To>(x);
  }
};
template <class EqualityOp>
struct InequalityWrapper {
  EqualityOp op;
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return !op(a, b);
  }
};

namespace tilewise {

struct Plus {  // as Sum; no function of that name calls it
  template <class T>
  __host__ __device__ auto operator()(const T& a, const T& b) const {
    return a + b;
  }
};

/// The bits of a key as an unsigned number in the keys' order; -0 and 0 are one key.
template <class Key>
struct Bits {
  using Word =
      std::conditional_t<sizeof(Key) == 1, std::uint8_t,
                         std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                                            std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;
  static_assert(sizeof(Key) <= 8, "the simulator sorts keys of at most 8 bytes, without a decomposer");
  static constexpr bool kInteger = std::is_integral_v<Key>;
  static constexpr Word kTop = Word(Word(1) << (8 * sizeof(Key) - 1));

  __host__ __device__ static Word of(const Key& key) {
    Word word;
    memcpy(&word, &key, sizeof word);
    if constexpr (kInteger) {
      return std::is_signed_v<Key> ? Word(word ^ kTop) : word;
    } else {
      if (word == kTop) word = 0;
      return word & kTop ? Word(~word) : Word(word | kTop);
    }
  }
};

}  // namespace tilewise

/// Two arrays of device memory, of which one is in use: what a sort leaves is in Current().
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  __host__ __device__ DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  __host__ __device__ T* Current() { return d_buffers[selector]; }
  __host__ __device__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

/// Says what failed, and where; `cub::Debug` is what the macros call.
__host__ __device__ inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) printf("CUDA error %d [%s, %d]\n", int(error), file, line);
  return error;
}
#define CubDebug(e) cub::Debug((cudaError_t)(e), __FILE__, __LINE__)
#define CubDebugExit(e) \
  if (cub::Debug((cudaError_t)(e), __FILE__, __LINE__)) exit(1)

}  // namespace cub
