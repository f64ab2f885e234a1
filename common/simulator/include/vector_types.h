// CUDA's vector types (char1 ... double4, dim3) for the simulator and for plain C++ files.
//
// A real GPU moves a float4 with one 16-byte instruction. The types here are copied the same way, through one
// machine word of their size, so that the simulator sees `float4 v = p[i];` as one 16-byte access and `p[i].x` as one
// 4-byte access. Types of three components, and of 1-component, are copied component by component, as nvcc does.
// Because of this the 2- and 4-component types have constructors instead of being aggregates; brace initialisation,
// arrays, unions, constants and kernel arguments work as with CUDA's own.
#pragma once
#define __VECTOR_TYPES_H__  // programs ask for it

#include <cstddef>
#include <new>

// An access is attributed to the source line that it is inlined into, so wrappers round accesses must be inlined.
#define TILEWISE_INLINE __attribute__((always_inline)) inline

namespace tilewise::sim::vector_detail {

// Words that may alias anything: the unit in which a vector of that many bytes is copied.
template <std::size_t bytes>
struct Word;
template <>
struct Word<2> {
  typedef unsigned short type __attribute__((may_alias));
};
template <>
struct Word<4> {
  typedef unsigned int type __attribute__((may_alias));
};
template <>
struct Word<8> {
  typedef unsigned int type __attribute__((vector_size(8), may_alias));
};
template <>
struct Word<16> {
  typedef unsigned int type __attribute__((vector_size(16), may_alias));
};
template <>
struct Word<32> : Word<16> {};  // double4 and longlong4 move as two 16-byte halves

template <std::size_t bytes>
TILEWISE_INLINE void copy_words(void* to, const void* from) {
  using W = typename Word<bytes>::type;
  if constexpr (bytes == sizeof(W)) {
    *static_cast<W*>(to) = *static_cast<const W*>(from);
  } else {
    const W low = static_cast<const W*>(from)[0];
    const W high = static_cast<const W*>(from)[1];
    static_cast<W*>(to)[0] = low;
    static_cast<W*>(to)[1] = high;
  }
}

// A union that holds a vector, copied as nvcc moves it.
template <class Union>
TILEWISE_INLINE void copy_object(Union* to, const Union* from) {
  if constexpr ((sizeof(Union) == 8 || sizeof(Union) == 16 || sizeof(Union) == 32) &&
                alignof(Union) >= (sizeof(Union) < 16 ? sizeof(Union) : 16)) {
    copy_words<sizeof(Union)>(to, from);
  } else {
    constexpr std::size_t word = alignof(Union) >= 4 ? 4 : alignof(Union) >= 2 ? 2 : 1;
    struct Bytes {
      unsigned char byte[word];
    };
    for (std::size_t i = 0; i < sizeof(Union) / word; ++i)
      __builtin_memcpy(reinterpret_cast<Bytes*>(to) + i, reinterpret_cast<const Bytes*>(from) + i, word);
  }
}

// Takes part in `float4 v = {1};` but not in `float4 v = 1;`, which is an error in CUDA as well.
template <class T>
struct First {
  T value;
  constexpr First(T v) : value(v) {}
};

}  // namespace tilewise::sim::vector_detail

namespace tilewise::sim {
/// std::bit_cast, which simcc replaces: the vectors here have constructors, so the standard's refuses them.
template <class To, class From>
[[nodiscard]] TILEWISE_INLINE constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From), "std::bit_cast wants two types of the same size");
  if constexpr (__is_trivially_copyable(To) && __is_trivially_copyable(From)) {
    return __builtin_bit_cast(To, from);
  } else {
    struct Bytes {
      alignas(To) alignas(From) unsigned char byte[sizeof(From)];
    } bytes;
    new (&bytes) From(from);
    return *reinterpret_cast<To*>(&bytes);
  }
}
}  // namespace tilewise::sim

// ---------------------------------------------------------------- one component
#define TILEWISE_VECTOR1(Name, T) \
  struct Name {                   \
    T x;                          \
  }

// ---------------------------------------------------------------- two and four components: moved as one word
#define TILEWISE_VECTOR2(Name, T, alignment)                                        \
  struct alignas(alignment) Name {                                                  \
    T x, y;                                                                         \
    Name() = default;                                                               \
    constexpr Name(::tilewise::sim::vector_detail::First<T> a) : x(a.value), y() {} \
    constexpr Name(T a, T b) : x(a), y(b) {}                                        \
    TILEWISE_INLINE constexpr Name(const Name& from) { *this = from; }              \
    TILEWISE_INLINE constexpr Name& operator=(const Name& from) {                   \
      if (__builtin_is_constant_evaluated()) {                                      \
        x = from.x, y = from.y;                                                     \
      } else {                                                                      \
        ::tilewise::sim::vector_detail::copy_words<2 * sizeof(T)>(this, &from);     \
      }                                                                             \
      return *this;                                                                 \
    }                                                                               \
  };                                                                                \
  static_assert(sizeof(Name) == 2 * sizeof(T) && alignof(Name) == (alignment))

#define TILEWISE_VECTOR4(Name, T, alignment)                                                  \
  struct alignas(alignment) Name {                                                            \
    T x, y, z, w;                                                                             \
    Name() = default;                                                                         \
    constexpr Name(::tilewise::sim::vector_detail::First<T> a) : x(a.value), y(), z(), w() {} \
    constexpr Name(T a, T b, T c = {}, T d = {}) : x(a), y(b), z(c), w(d) {}                  \
    TILEWISE_INLINE constexpr Name(const Name& from) { *this = from; }                        \
    TILEWISE_INLINE constexpr Name& operator=(const Name& from) {                             \
      if (__builtin_is_constant_evaluated()) {                                                \
        x = from.x, y = from.y, z = from.z, w = from.w;                                       \
      } else {                                                                                \
        ::tilewise::sim::vector_detail::copy_words<4 * sizeof(T)>(this, &from);               \
      }                                                                                       \
      return *this;                                                                           \
    }                                                                                         \
  };                                                                                          \
  static_assert(sizeof(Name) == 4 * sizeof(T) && alignof(Name) == (alignment))

// ---------------------------------------------------------------- three components: moved one by one
#define TILEWISE_VECTOR3(Name, T)                                                         \
  struct Name {                                                                           \
    T x, y, z;                                                                            \
    Name() = default;                                                                     \
    constexpr Name(::tilewise::sim::vector_detail::First<T> a) : x(a.value), y(), z() {}  \
    constexpr Name(T a, T b, T c = {}) : x(a), y(b), z(c) {}                              \
    TILEWISE_INLINE constexpr Name(const Name& from) : x(from.x), y(from.y), z(from.z) {} \
    TILEWISE_INLINE constexpr Name& operator=(const Name& from) {                         \
      x = from.x, y = from.y, z = from.z;                                                 \
      return *this;                                                                       \
    }                                                                                     \
  };                                                                                      \
  static_assert(sizeof(Name) == 3 * sizeof(T) && alignof(Name) == alignof(T))

TILEWISE_VECTOR1(char1, signed char);
TILEWISE_VECTOR1(uchar1, unsigned char);
TILEWISE_VECTOR1(short1, short);
TILEWISE_VECTOR1(ushort1, unsigned short);
TILEWISE_VECTOR1(int1, int);
TILEWISE_VECTOR1(uint1, unsigned int);
TILEWISE_VECTOR1(long1, long);
TILEWISE_VECTOR1(ulong1, unsigned long);
TILEWISE_VECTOR1(longlong1, long long);
TILEWISE_VECTOR1(ulonglong1, unsigned long long);
TILEWISE_VECTOR1(float1, float);
TILEWISE_VECTOR1(double1, double);

TILEWISE_VECTOR2(char2, signed char, 2);
TILEWISE_VECTOR2(uchar2, unsigned char, 2);
TILEWISE_VECTOR2(short2, short, 4);
TILEWISE_VECTOR2(ushort2, unsigned short, 4);
TILEWISE_VECTOR2(int2, int, 8);
TILEWISE_VECTOR2(uint2, unsigned int, 8);
TILEWISE_VECTOR2(long2, long, 2 * sizeof(long));
TILEWISE_VECTOR2(ulong2, unsigned long, 2 * sizeof(long));
TILEWISE_VECTOR2(longlong2, long long, 16);
TILEWISE_VECTOR2(ulonglong2, unsigned long long, 16);
TILEWISE_VECTOR2(float2, float, 8);
TILEWISE_VECTOR2(double2, double, 16);

TILEWISE_VECTOR3(char3, signed char);
TILEWISE_VECTOR3(uchar3, unsigned char);
TILEWISE_VECTOR3(short3, short);
TILEWISE_VECTOR3(ushort3, unsigned short);
TILEWISE_VECTOR3(int3, int);
TILEWISE_VECTOR3(long3, long);
TILEWISE_VECTOR3(ulong3, unsigned long);
TILEWISE_VECTOR3(longlong3, long long);
TILEWISE_VECTOR3(ulonglong3, unsigned long long);
TILEWISE_VECTOR3(float3, float);
TILEWISE_VECTOR3(double3, double);

TILEWISE_VECTOR4(char4, signed char, 4);
TILEWISE_VECTOR4(uchar4, unsigned char, 4);
TILEWISE_VECTOR4(short4, short, 8);
TILEWISE_VECTOR4(ushort4, unsigned short, 8);
TILEWISE_VECTOR4(int4, int, 16);
TILEWISE_VECTOR4(uint4, unsigned int, 16);
TILEWISE_VECTOR4(long4, long, 16);
TILEWISE_VECTOR4(ulong4, unsigned long, 16);
TILEWISE_VECTOR4(longlong4, long long, 16);
TILEWISE_VECTOR4(ulonglong4, unsigned long long, 16);
TILEWISE_VECTOR4(float4, float, 16);
TILEWISE_VECTOR4(double4, double, 16);

#undef TILEWISE_VECTOR1
#undef TILEWISE_VECTOR2
#undef TILEWISE_VECTOR3
#undef TILEWISE_VECTOR4

// threadIdx and blockIdx. A plain aggregate, so that it is returned in registers and the compiler may keep it there.
struct uint3 {
  unsigned int x, y, z;
};

/// Sizes of grids and blocks; what is not given is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
