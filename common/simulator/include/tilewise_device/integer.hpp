// Integer intrinsics, SIMD within a word, and reinterpretation of bits. Semantics: CUDA Math API, "Integer Intrinsics",
// "SIMD Intrinsics" and "Type Casting Intrinsics".
#pragma once

#include <bit>
#include <cstdint>

#include "vector_types.h"

// ---------------------------------------------------------------- counting and moving bits
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
/// Position of the lowest set bit counted from 1; 0 where no bit is set.
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(unsigned(x)) + 1; }
inline int __ffsll(long long x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(x)) + 1; }

inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}

/// Four bytes chosen from the eight of y:x by the low three bits of each nibble of `selector`.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned index = selector >> (4 * i) & 7u;
    result |= unsigned(bytes >> (8 * index) & 0xffu) << (8 * i);
  }
  return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}

/// Position of the n-th set bit of `mask`, searched upwards (offset > 0) or downwards from `base`; ~0 if there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (mask >> (base & 31u) & 1u) ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int bit = int(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1u) && --left == 0) return unsigned(bit);
  }
  return 0xffffffffu;
}

// ---------------------------------------------------------------- multiplication
inline int __mulhi(int x, int y) { return int(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned(static_cast<unsigned long long>(x) * y >> 32); }
__extension__ typedef __int128 tilewise_int128;
__extension__ typedef unsigned __int128 tilewise_uint128;
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<tilewise_int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<tilewise_uint128>(x) * y >> 64);
}
inline int mulhi(int x, int y) { return __mulhi(x, y); }
inline unsigned mulhi(unsigned x, unsigned y) { return __umulhi(x, y); }
/// Low 32 bits of the product of the low 24 bits, taken as signed numbers.
inline int __mul24(int x, int y) {
  const int a = int(unsigned(x) << 8) >> 8;
  const int b = int(unsigned(y) << 8) >> 8;
  return int(unsigned(a) * unsigned(b));
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }

// ---------------------------------------------------------------- averages and differences
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
inline unsigned __sad(int x, int y, unsigned z) {
  return (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x)) + z;
}
inline int __hadd(int x, int y) { return int((static_cast<long long>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return int((static_cast<long long>(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) { return unsigned((static_cast<unsigned long long>(x) + y) >> 1); }
inline unsigned __urhadd(unsigned x, unsigned y) { return unsigned((static_cast<unsigned long long>(x) + y + 1) >> 1); }

// ---------------------------------------------------------------- dot products of packed integers
namespace tilewise::sim::integer_detail {
// Lane i of x, read as a T.
template <class T>
constexpr T lane(unsigned x, int i) {
  return static_cast<T>(x >> (8 * sizeof(T) * unsigned(i)));
}

// Applies `op` to each lane of type T; the low bits of its result are kept.
template <class T, class Op>
constexpr unsigned map(unsigned a, unsigned b, Op op) {
  constexpr unsigned bits = 8 * sizeof(T);
  unsigned result = 0;
  for (unsigned i = 0; i < 32 / bits; ++i) {
    const int value = op(int(lane<T>(a, int(i))), int(lane<T>(b, int(i))));
    result |= (unsigned(value) & ((1u << bits) - 1u)) << (bits * i);
  }
  return result;
}

template <class T>
constexpr int saturate(int value) {
  constexpr int low = std::is_signed_v<T> ? -(1 << (8 * sizeof(T) - 1)) : 0;
  constexpr int high = std::is_signed_v<T> ? (1 << (8 * sizeof(T) - 1)) - 1 : (1 << (8 * sizeof(T))) - 1;
  return value < low ? low : value > high ? high : value;
}
}  // namespace tilewise::sim::integer_detail

inline int __dp4a(int a, int b, int c) {
  namespace in = ::tilewise::sim::integer_detail;
  unsigned sum = unsigned(c);
  for (int i = 0; i < 4; ++i)
    sum += unsigned(in::lane<signed char>(unsigned(a), i) * in::lane<signed char>(unsigned(b), i));
  return int(sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  namespace in = ::tilewise::sim::integer_detail;
  for (int i = 0; i < 4; ++i) c += unsigned(in::lane<unsigned char>(a, i)) * in::lane<unsigned char>(b, i);
  return c;
}
inline int __dp4a(char4 a, char4 b, int c) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c; }
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return unsigned(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) + c;
}
// Two 16-bit numbers of a times the low (or high) two 8-bit numbers of b.
inline int __dp2a_lo(int a, int b, int c) {
  namespace in = ::tilewise::sim::integer_detail;
  return c + in::lane<short>(unsigned(a), 0) * in::lane<signed char>(unsigned(b), 0) +
         in::lane<short>(unsigned(a), 1) * in::lane<signed char>(unsigned(b), 1);
}
inline int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, int(unsigned(b) >> 16), c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
inline int __dp2a_lo(short2 a, char4 b, int c) { return a.x * b.x + a.y * b.y + c; }
inline int __dp2a_hi(short2 a, char4 b, int c) { return a.x * b.z + a.y * b.w + c; }
inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return unsigned(a.x * b.x) + unsigned(a.y * b.y) + c; }
inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return unsigned(a.x * b.z) + unsigned(a.y * b.w) + c; }

// ---------------------------------------------------------------- SIMD within a word: two halves or four bytes
#define TILEWISE_SIMD(name, Lane, expression)                                                             \
  inline unsigned name(unsigned x, unsigned y) {                                                          \
    using L = Lane;                                                                                       \
    return ::tilewise::sim::integer_detail::map<L>(x, y, [](int a, int b) -> int { return expression; }); \
  }                                                                                                       \
  static_assert(true)
#define TILEWISE_SIMD_BOTH(name, Signedness, expression) \
  TILEWISE_SIMD(name##2, Signedness short, expression);  \
  TILEWISE_SIMD(name##4, Signedness char, expression)

TILEWISE_SIMD_BOTH(__vadd, unsigned, a + b);
TILEWISE_SIMD_BOTH(__vaddss, signed, ::tilewise::sim::integer_detail::saturate<L>(a + b));
TILEWISE_SIMD_BOTH(__vaddus, unsigned, ::tilewise::sim::integer_detail::saturate<L>(a + b));
TILEWISE_SIMD_BOTH(__vsub, unsigned, a - b);
TILEWISE_SIMD_BOTH(__vsubss, signed, ::tilewise::sim::integer_detail::saturate<L>(a - b));
TILEWISE_SIMD_BOTH(__vsubus, unsigned, ::tilewise::sim::integer_detail::saturate<L>(a - b));
TILEWISE_SIMD_BOTH(__vabsdiffs, signed, a > b ? a - b : b - a);
TILEWISE_SIMD_BOTH(__vabsdiffu, unsigned, a > b ? a - b : b - a);
TILEWISE_SIMD_BOTH(__vavgs, signed, (a + b + (a + b >= 0)) >> 1);  // a half is rounded away from zero
TILEWISE_SIMD_BOTH(__vavgu, unsigned, (a + b + 1) >> 1);
TILEWISE_SIMD_BOTH(__vhaddu, unsigned, (a + b) >> 1);
TILEWISE_SIMD_BOTH(__vmaxs, signed, a > b ? a : b);
TILEWISE_SIMD_BOTH(__vmaxu, unsigned, a > b ? a : b);
TILEWISE_SIMD_BOTH(__vmins, signed, a < b ? a : b);
TILEWISE_SIMD_BOTH(__vminu, unsigned, a < b ? a : b);
// Comparisons: all bits of a lane set where true; the __vset forms give 1.
TILEWISE_SIMD_BOTH(__vcmpeq, unsigned, -(a == b));
TILEWISE_SIMD_BOTH(__vcmpne, unsigned, -(a != b));
TILEWISE_SIMD_BOTH(__vcmpges, signed, -(a >= b));
TILEWISE_SIMD_BOTH(__vcmpgeu, unsigned, -(a >= b));
TILEWISE_SIMD_BOTH(__vcmpgts, signed, -(a > b));
TILEWISE_SIMD_BOTH(__vcmpgtu, unsigned, -(a > b));
TILEWISE_SIMD_BOTH(__vcmples, signed, -(a <= b));
TILEWISE_SIMD_BOTH(__vcmpleu, unsigned, -(a <= b));
TILEWISE_SIMD_BOTH(__vcmplts, signed, -(a < b));
TILEWISE_SIMD_BOTH(__vcmpltu, unsigned, -(a < b));
TILEWISE_SIMD_BOTH(__vseteq, unsigned, a == b);
TILEWISE_SIMD_BOTH(__vsetne, unsigned, a != b);
TILEWISE_SIMD_BOTH(__vsetges, signed, a >= b);
TILEWISE_SIMD_BOTH(__vsetgeu, unsigned, a >= b);
TILEWISE_SIMD_BOTH(__vsetgts, signed, a > b);
TILEWISE_SIMD_BOTH(__vsetgtu, unsigned, a > b);
TILEWISE_SIMD_BOTH(__vsetles, signed, a <= b);
TILEWISE_SIMD_BOTH(__vsetleu, unsigned, a <= b);
TILEWISE_SIMD_BOTH(__vsetlts, signed, a < b);
TILEWISE_SIMD_BOTH(__vsetltu, unsigned, a < b);
#undef TILEWISE_SIMD
#undef TILEWISE_SIMD_BOTH

inline unsigned __vneg2(unsigned x) { return __vsub2(0, x); }
inline unsigned __vneg4(unsigned x) { return __vsub4(0, x); }
inline unsigned __vnegss2(unsigned x) { return __vsubss2(0, x); }
inline unsigned __vnegss4(unsigned x) { return __vsubss4(0, x); }
inline unsigned __vabs2(unsigned x) { return __vabsdiffs2(x, 0); }
inline unsigned __vabs4(unsigned x) { return __vabsdiffs4(x, 0); }
inline unsigned __vabsss2(unsigned x) { return __vminu2(__vabs2(x), 0x7fff7fffu); }
inline unsigned __vabsss4(unsigned x) { return __vminu4(__vabs4(x), 0x7f7f7f7fu); }
/// Sums of the absolute differences of all lanes.
inline unsigned __vsadu4(unsigned x, unsigned y) { return __dp4a(__vabsdiffu4(x, y), 0x01010101u, 0u); }
inline unsigned __vsads4(unsigned x, unsigned y) { return __dp4a(__vabsdiffs4(x, y), 0x01010101u, 0u); }
inline unsigned __vsadu2(unsigned x, unsigned y) {
  const unsigned d = __vabsdiffu2(x, y);
  return (d & 0xffffu) + (d >> 16);
}
inline unsigned __vsads2(unsigned x, unsigned y) {
  const unsigned d = __vabsdiffs2(x, y);
  return (d & 0xffffu) + (d >> 16);
}

// ---------------------------------------------------------------- for dynamic programming: a sum, and the larger or smaller of two or three
namespace tilewise::sim::integer_detail {
template <class T>
constexpr T dpx_larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
constexpr T dpx_smaller(T a, T b) {
  return b < a ? b : a;
}
/// a + b, which wraps round.
template <class T>
constexpr T wrapped_sum(T a, T b) {
  return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
}
/// Applies `op` to both halves of three words.
template <class T, class Op>
constexpr unsigned map3(unsigned a, unsigned b, unsigned c, Op op) {
  const auto half = [&](int i) {
    return unsigned(static_cast<unsigned short>(op(lane<T>(a, i), lane<T>(b, i), lane<T>(c, i))));
  };
  return half(0) | half(1) << 16;
}
}  // namespace tilewise::sim::integer_detail

// For each: of a word, of its halves, signed and unsigned; the forms with _relu give 0 for what is below it.
#define TILEWISE_DPX3(name, Word, suffix, half_suffix, Half, expression)     \
  inline Word name##_##suffix(Word a, Word b, Word c) {                      \
    using namespace ::tilewise::sim::integer_detail;                         \
    using T = Word;                                                          \
    return expression;                                                       \
  }                                                                          \
  inline unsigned name##_##half_suffix(unsigned x, unsigned y, unsigned z) { \
    using namespace ::tilewise::sim::integer_detail;                         \
    using T = Half;                                                          \
    return map3<T>(x, y, z, [](T a, T b, T c) -> T { return expression; });  \
  }                                                                          \
  static_assert(true)
#define TILEWISE_DPX3_ALL(name, expression)                              \
  TILEWISE_DPX3(name, int, s32, s16x2, short, expression);               \
  TILEWISE_DPX3(name, unsigned, u32, u16x2, unsigned short, expression); \
  TILEWISE_DPX3(name, int, s32_relu, s16x2_relu, short, dpx_larger(T(expression), T(0)))
TILEWISE_DPX3_ALL(__viaddmax, dpx_larger(wrapped_sum(a, b), c));
TILEWISE_DPX3_ALL(__viaddmin, dpx_smaller(wrapped_sum(a, b), c));
TILEWISE_DPX3_ALL(__vimax3, dpx_larger(dpx_larger(a, b), c));
TILEWISE_DPX3_ALL(__vimin3, dpx_smaller(dpx_smaller(a, b), c));
#undef TILEWISE_DPX3_ALL
#undef TILEWISE_DPX3

inline int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
inline int __vimin_s32_relu(int a, int b) { return __vimin3_s32_relu(a, b, a); }
inline unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vimin3_s16x2_relu(a, b, a); }

// Whether it was the first one, or both were equal, too.
#define TILEWISE_DPX_WHICH(name, Word, suffix, half_suffix, Half, better, choose)       \
  inline Word name##_##suffix(Word a, Word b, bool* first) {                            \
    *first = a better b;                                                                \
    return ::tilewise::sim::integer_detail::choose(a, b);                               \
  }                                                                                     \
  inline unsigned name##_##half_suffix(unsigned a, unsigned b, bool* high, bool* low) { \
    namespace in = ::tilewise::sim::integer_detail;                                     \
    *high = in::lane<Half>(a, 1) better in::lane<Half>(b, 1);                           \
    *low = in::lane<Half>(a, 0) better in::lane<Half>(b, 0);                            \
    return in::map<Half>(a, b, [](int x, int y) { return in::choose(x, y); });          \
  }                                                                                     \
  static_assert(true)
TILEWISE_DPX_WHICH(__vibmax, int, s32, s16x2, short, >=, dpx_larger);
TILEWISE_DPX_WHICH(__vibmax, unsigned, u32, u16x2, unsigned short, >=, dpx_larger);
TILEWISE_DPX_WHICH(__vibmin, int, s32, s16x2, short, <=, dpx_smaller);
TILEWISE_DPX_WHICH(__vibmin, unsigned, u32, u16x2, unsigned short, <=, dpx_smaller);
#undef TILEWISE_DPX_WHICH

// ---------------------------------------------------------------- the same bits as another type
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) { return int(std::bit_cast<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return int(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t(unsigned(high)) << 32 | unsigned(low));
}
