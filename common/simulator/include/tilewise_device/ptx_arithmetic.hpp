// Inline PTX without memory: integers, floating-point numbers, moves, comparisons and conversions. Types are the instruction's; operands
// have any type of that size.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tilewise_device/integer.hpp"
#include "tilewise_device/math.hpp"

namespace tilewise::sim::ptx {

template <int i, class First, class... Rest>
TILEWISE_INLINE constexpr decltype(auto) pick(First& first, Rest&... rest) {
  if constexpr (i == 0)
    return (first);
  else
    return pick<i - 1>(rest...);
}

// A register holds the bits, whatever its type. One that is wider than the number gets its sign, or zeros.
template <class To, class T>
TILEWISE_INLINE void put(To& to, const T& value) {
  static_assert(sizeof(To) == sizeof(T) || (sizeof(To) > sizeof(T) && std::is_integral_v<T> && std::is_integral_v<To>),
                "the operand and the type of this PTX instruction differ in size");
  if constexpr (sizeof(To) == sizeof(T))
    __builtin_memcpy(&to, &value, sizeof value);
  else
    to = To(value);
}
template <class T, class From>
TILEWISE_INLINE T get(const From& from) {
  static_assert(sizeof(From) == sizeof(T) || (std::is_integral_v<T> && std::is_integral_v<From>) ||
                    (std::is_floating_point_v<T> && std::is_floating_point_v<From>),
                "the operand and the type of this PTX instruction differ in size");
  T value;
  if constexpr (sizeof(From) == sizeof(T))
    __builtin_memcpy(&value, &from, sizeof value);
  else
    value = T(from);
  return value;
}

// ---------------------------------------------------------------- integers
// What the manual says where lengths and positions go beyond the number; the types are the instruction's.
template <class T>
struct ExtractBits {
  template <class To, class From, class Begin, class Length>
  TILEWISE_INLINE static void call(To& to, const From& from, const Begin& begin, const Length& length) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const T value = T(from);
    const unsigned first = unsigned(begin) & 0xffu, bits = unsigned(length) & 0xffu;
    if (bits == 0) {
      to = To(0);
      return;
    }
    const unsigned left = first < kBits ? kBits - first : 0;  // bits from there on
    const bool sign = std::is_signed_v<T> && (value >> (bits < left ? first + bits - 1 : kBits - 1) & 1);
    const unsigned taken = bits < left ? bits : left;
    using Unsigned = std::make_unsigned_t<T>;
    const Unsigned mask = taken == kBits ? ~Unsigned(0) : (Unsigned(1) << taken) - 1;
    const Unsigned low = taken == 0 ? Unsigned(0) : Unsigned(value) >> first & mask;
    to = To(T(sign ? low | ~mask : low));
  }
};

/// The low bits of `inserted` in place of some of `into`.
template <class T>
struct InsertBits {
  template <class To, class A, class B, class Begin, class Length>
  TILEWISE_INLINE static void call(To& to, const A& inserted, const B& into, const Begin& begin, const Length& length) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const unsigned first = unsigned(begin) & 0xffu, bits = unsigned(length) & 0xffu;
    if (first >= kBits || bits == 0) {
      to = To(into);
      return;
    }
    const T mask = (bits >= kBits ? ~T(0) : (T(1) << bits) - 1) << first;
    to = To((T(into) & ~mask) | (T(inserted) << first & mask));
  }
};

/// The highest bit that isn't the sign's; all ones where there is none.
template <class T>
struct FindBit {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    using Unsigned = std::make_unsigned_t<T>;
    const T value = T(from);
    const Unsigned bits = Unsigned(value < 0 ? ~value : value);
    to = To(bits == 0 ? 0xffffffffu : 8 * unsigned(sizeof(T)) - 1 - unsigned(std::countl_zero(bits)));
  }
};
/// The shift that brings it to the top.
template <class T>
struct ShiftOf {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    std::uint32_t position;
    FindBit<T>::call(position, from);
    to = To(position == 0xffffffffu ? position : 8 * std::uint32_t(sizeof(T)) - 1 - position);
  }
};

template <class T>
struct CountBits {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    to = To(std::popcount(T(from)));
  }
};
template <class T>
struct CountZeros {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    to = To(std::countl_zero(T(from)));
  }
};
template <class T>
struct ReverseBits {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    if constexpr (sizeof(T) == 8)
      to = To(__brevll(T(from)));
    else
      to = To(__brev(T(from)));
  }
};

/// lop3: bit i of `table` is the result where a, b and c have the bits of i.
struct AnyLogic {
  template <class To, class A, class B, class C, class Table>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c, const Table& table) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (std::uint32_t(table) >> i & 1u)
        result |= ((i & 4u) ? std::uint32_t(a) : ~std::uint32_t(a)) &
                  ((i & 2u) ? std::uint32_t(b) : ~std::uint32_t(b)) & ((i & 1u) ? std::uint32_t(c) : ~std::uint32_t(c));
    to = To(result);
  }
};
struct Permute {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& selector) {
    to = To(__byte_perm(unsigned(a), unsigned(b), unsigned(selector)));
  }
};

/// dp4a: the sum of four products of bytes, and c.
template <class T>
struct DotProduct {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    put(to, __dp4a(get<T>(a), get<T>(b), get<T>(c)));
  }
};

/// |a - b| of all numbers of type T in a word; `added`: their sum and the third source.
template <class T, bool added>
struct Differences {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    call(to, a, b, 0);
  }
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    std::uint32_t result = added ? std::uint32_t(c) : 0;
    for (unsigned shift = 0; shift < 32; shift += 8 * unsigned(sizeof(T))) {
      const std::int64_t x = T(std::uint32_t(a) >> shift), y = T(std::uint32_t(b) >> shift);
      const auto difference = std::uint32_t(x > y ? x - y : y - x);
      if constexpr (added)
        result += difference;
      else
        result |= (difference & std::uint32_t(std::make_unsigned_t<T>(~T(0)))) << shift;
    }
    to = To(result);
  }
};

// ---------------------------------------------------------------- what becomes of one or two numbers
struct Exchanged {
  template <class T>
  TILEWISE_INLINE static T of(T, T b) {
    return b;
  }
};
// Overflow goes round, in signed numbers, too: unsigned ones of at least 32 bits are computed with.
template <class T>
using Round = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
struct Added {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(Round<T>(old) + Round<T>(b));
    else
      return old + b;
  }
};
struct Subtracted {
  template <class T>
  TILEWISE_INLINE static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(Round<T>(a) - Round<T>(b));
    else
      return a - b;
  }
};
struct Multiplied {
  template <class T>
  TILEWISE_INLINE static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(Round<T>(a) * Round<T>(b));
    else
      return a * b;
  }
};
struct HighOfProduct {
  template <class T>
  TILEWISE_INLINE static T of(T a, T b) {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T(Wide(a) * Wide(b) >> 8 * sizeof(T));
  }
};
// Of integers: the manual does not say what a division by 0 gives. An H100 gives all ones, of the quotient and of the remainder.
struct Divided {
  template <class T>
  TILEWISE_INLINE static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return T(~Round<T>(0));
      if (std::is_signed_v<T> && b == T(-1)) return T(Round<T>(0) - Round<T>(a));
    }
    return T(a / b);
  }
};
struct Remainder {
  template <class T>
  TILEWISE_INLINE static T of(T a, T b) {
    if (b == 0) return T(~Round<T>(0));
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
  }
};
// A NaN is ignored where the other operand is a number.
struct Lesser {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    if constexpr (std::is_same_v<T, float>)
      return ::fminf(old, b);
    else if constexpr (std::is_same_v<T, double>)
      return ::fmin(old, b);
    else
      return b < old ? b : old;
  }
};
struct Greater {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    if constexpr (std::is_same_v<T, float>)
      return ::fmaxf(old, b);
    else if constexpr (std::is_same_v<T, double>)
      return ::fmax(old, b);
    else
      return b > old ? b : old;
  }
};
struct Anded {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    return old & b;
  }
};
struct Ored {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    return old | b;
  }
};
struct Xored {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    return old ^ b;
  }
};
struct CountedUp {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    return old >= b ? T(0) : T(old + 1);
  }
};
struct CountedDown {
  template <class T>
  TILEWISE_INLINE static T of(T old, T b) {
    return old == 0 || old > b ? b : T(old - 1);
  }
};

struct ShiftedLeft {
  template <class T>
  TILEWISE_INLINE static T of(T a, std::uint32_t by) {
    return by >= 8 * sizeof(T) ? T(0) : T(Round<T>(a) << by);
  }
};
struct ShiftedRight {
  template <class T>
  TILEWISE_INLINE static T of(T a, std::uint32_t by) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if (by >= kBits) return std::is_signed_v<T> ? T(a >> (kBits - 1)) : T(0);
    return T(a >> by);
  }
};
struct Inverted {
  template <class T>
  TILEWISE_INLINE static T of(T a) {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return T(~a);
  }
};
struct Negated {
  template <class T>
  TILEWISE_INLINE static T of(T a) {
    if constexpr (std::is_integral_v<T>)
      return T(Round<T>(0) - Round<T>(a));
    else
      return -a;
  }
};
struct Absolute {
  template <class T>
  TILEWISE_INLINE static T of(T a) {
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? Negated::of(a) : a;
    else if constexpr (std::is_same_v<T, float>)
      return ::fabsf(a);
    else
      return ::fabs(a);
  }
};

// Functions of one number, as exact as the host's: the approximate ones of a GPU are less so.
#define TILEWISE_PTX_FUNCTION(name, of_float, of_double)             \
  struct name {                                                      \
    TILEWISE_INLINE static float of(float x) { return of_float; }    \
    TILEWISE_INLINE static double of(double x) { return of_double; } \
  }
TILEWISE_PTX_FUNCTION(Reciprocal, 1.0f / x, 1.0 / x);
TILEWISE_PTX_FUNCTION(SquareRoot, ::sqrtf(x), ::sqrt(x));
TILEWISE_PTX_FUNCTION(InverseSquareRoot, ::rsqrtf(x), ::rsqrt(x));
TILEWISE_PTX_FUNCTION(PowerOfTwo, ::exp2f(x), ::exp2(x));
TILEWISE_PTX_FUNCTION(LogarithmOfTwo, ::log2f(x), ::log2(x));
TILEWISE_PTX_FUNCTION(Sine, ::sinf(x), ::sin(x));
TILEWISE_PTX_FUNCTION(Cosine, ::cosf(x), ::cos(x));
TILEWISE_PTX_FUNCTION(HyperbolicTangent, ::tanhf(x), ::tanh(x));
#undef TILEWISE_PTX_FUNCTION

/// With .ftz a subnormal number is a zero of the same sign.
template <bool flush, class T>
TILEWISE_INLINE T flushed(T x) {
  if constexpr (flush)
    return ::fabsf(x) < 0x1p-126f ? ::copysignf(0.0f, x) : x;
  else
    return x;
}
template <class T, bool flush, class From>
TILEWISE_INLINE T operand(const From& from) {
  return flushed<flush>(get<T>(from));
}

template <class T, class What, bool flush = false>
struct Binary {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    put(to, flushed<flush>(T(What::of(operand<T, flush>(a), operand<T, flush>(b)))));
  }
};
template <class T, class What, bool flush = false>
struct Unary {
  template <class To, class A>
  TILEWISE_INLINE static void call(To& to, const A& a) {
    put(to, flushed<flush>(T(What::of(operand<T, flush>(a)))));
  }
};
/// The second source has 32 bits whatever T has.
template <class T, class What>
struct Shift {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& by) {
    put(to, What::of(get<T>(a), get<std::uint32_t>(by)));
  }
};
template <class T>
struct MultiplyAdd {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    put(to, Added::of(Multiplied::of(get<T>(a), get<T>(b)), get<T>(c)));
  }
};
template <class T>
struct MultiplyHighAdd {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    put(to, Added::of(HighOfProduct::of(get<T>(a), get<T>(b)), get<T>(c)));
  }
};
/// The whole product, of twice as many bits.
template <class T>
using Twice = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 4, std::int64_t, std::int32_t>,
                                 std::conditional_t<sizeof(T) == 4, std::uint64_t, std::uint32_t>>;
template <class T>
struct MultiplyWide {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    put(to, Twice<T>(Twice<T>(get<T>(a)) * Twice<T>(get<T>(b))));
  }
};
template <class T>
struct MultiplyWideAdd {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    put(to, Added::of(Twice<T>(Twice<T>(get<T>(a)) * Twice<T>(get<T>(b))), get<Twice<T>>(c)));
  }
};
template <class T, bool flush = false>
struct FusedMultiplyAdd {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    const T x = operand<T, flush>(a), y = operand<T, flush>(b), z = operand<T, flush>(c);
    if constexpr (sizeof(T) == 4)
      put(to, flushed<flush>(::fmaf(x, y, z)));
    else
      put(to, ::fma(x, y, z));
  }
};

// ---------------------------------------------------------------- moves, comparisons, conversions
template <class T>
struct Move {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    put(to, get<T>(from));
  }
};
/// mov.b64 {a, b}, c: parts of a register, the low one first.
template <class T, int count>
struct TakeApart {
  using Part = std::conditional_t<sizeof(T) / count == 4, std::uint32_t,
                                  std::conditional_t<sizeof(T) / count == 2, std::uint16_t, std::uint8_t>>;
  template <class... Operands>
  TILEWISE_INLINE static void call(Operands&&... all) {
    T whole = get<T>(pick<count>(all...));
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (put(pick<i>(all...), Part(whole >> (8 * sizeof(Part) * i))), ...);
    }
    (std::make_integer_sequence<int, count>());
  }
};
template <class T, int count>
struct PutTogether {
  using Part = typename TakeApart<T, count>::Part;
  template <class To, class... Operands>
  TILEWISE_INLINE static void call(To& to, const Operands&... all) {
    T whole = 0;
    [&]<int... i>(std::integer_sequence<int, i...>) {
      ((whole |= T(get<Part>(pick<i>(all...))) << (8 * sizeof(Part) * i)), ...);
    }
    (std::make_integer_sequence<int, count>());
    put(to, whole);
  }
};
template <class T>
struct Select {
  template <class To, class A, class B, class P>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const P& p) {
    put(to, p ? get<T>(a) : get<T>(b));
  }
};

#define TILEWISE_PTX_COMPARISON(name, expression) \
  struct name {                                   \
    template <class T>                            \
    TILEWISE_INLINE static bool of(T a, T b) {    \
      return expression;                          \
    }                                             \
  }
// The first six are false of NaN, the others true.
TILEWISE_PTX_COMPARISON(Equal, a == b);
TILEWISE_PTX_COMPARISON(Unequal, a<b || a> b);
TILEWISE_PTX_COMPARISON(Below, a < b);
TILEWISE_PTX_COMPARISON(AtMost, a <= b);
TILEWISE_PTX_COMPARISON(Above, a > b);
TILEWISE_PTX_COMPARISON(AtLeast, a >= b);
TILEWISE_PTX_COMPARISON(NotUnequal, !(a < b || a > b));
TILEWISE_PTX_COMPARISON(NotEqual, !(a == b));
TILEWISE_PTX_COMPARISON(NotBelow, !(a < b));
TILEWISE_PTX_COMPARISON(NotAtMost, !(a <= b));
TILEWISE_PTX_COMPARISON(NotAbove, !(a > b));
TILEWISE_PTX_COMPARISON(NotAtLeast, !(a >= b));
TILEWISE_PTX_COMPARISON(BothNumbers, a == a && b == b);
TILEWISE_PTX_COMPARISON(AnyNan, a != a || b != b);
#undef TILEWISE_PTX_COMPARISON

/// setp, with one result or with the opposite as a second one; `Combined` with a third predicate.
template <int results, class T, class What, bool flush, class Combined = void>
struct Compare {
  template <class... Operands>
  TILEWISE_INLINE static void call(Operands&&... all) {
    const bool is = What::of(operand<T, flush>(pick<results>(all...)), operand<T, flush>(pick<results + 1>(all...)));
    bool to = is, other = !is;
    if constexpr (!std::is_void_v<Combined>) {
      const bool third = pick<results + 2>(all...);
      to = Combined::of(is, third);
      other = Combined::of(!is, third);
    }
    pick<0>(all...) = to;
    if constexpr (results == 2) pick<1>(all...) = other;
  }
};

#define TILEWISE_PTX_ROUNDING(name, function) \
  struct name {                               \
    template <class T>                        \
    TILEWISE_INLINE static T of(T x) {        \
      return function(x);                     \
    }                                         \
  }
TILEWISE_PTX_ROUNDING(Nearest, std::nearbyint);
TILEWISE_PTX_ROUNDING(ToZero, std::trunc);
TILEWISE_PTX_ROUNDING(Down, std::floor);
TILEWISE_PTX_ROUNDING(Up, std::ceil);
#undef TILEWISE_PTX_ROUNDING
struct AsItIs {};

/// cvt. What is out of an integer's range becomes its nearest end.
template <class T, class From, class How = AsItIs>
struct Convert {
  template <class To, class Operand>
  TILEWISE_INLINE static void call(To& to, const Operand& from) {
    const From x = narrow(from);
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<T>)
      put(to, to_integer(How::of(x)));
    else if constexpr (std::is_floating_point_v<From> && !std::is_same_v<How, AsItIs>)
      put(to, T(How::of(x)));
    else
      put(to, T(x));
  }

 private:
  // An 8-bit number comes in a wider register.
  template <class Operand>
  TILEWISE_INLINE static From narrow(const Operand& from) {
    return get<From>(from);
  }
  TILEWISE_INLINE static T to_integer(From x) {
    constexpr bool kZeroForNan = sizeof(From) == 4 && sizeof(T) <= 4;
    if (x != x) return kZeroForNan ? T(0) : T(Round<T>(1) << (8 * sizeof(T) - 1));
    if (x < From(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (x >= From(std::numeric_limits<T>::max()) + From(sizeof(T) < sizeof(From) ? 1 : 0))
      return std::numeric_limits<T>::max();
    return T(x);
  }
};

}  // namespace tilewise::sim::ptx
