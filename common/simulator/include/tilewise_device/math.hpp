// Mathematical functions that CUDA has beyond <math.h>, min and max, fast intrinsics, arithmetic with a given rounding,
// and conversions. The fast intrinsics are as exact here as the host's functions: a GPU's are less so.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "tilewise_sim/device.hpp"

// ---------------------------------------------------------------- min and max
// Exactly CUDA's overloads, not templates: they win over std::min where both are visible.
#define TILEWISE_MIN_MAX(R, A, B)                         \
  inline R min(A a, B b) {                                \
    const R x = static_cast<R>(a), y = static_cast<R>(b); \
    return x < y ? x : y;                                 \
  }                                                       \
  inline R max(A a, B b) {                                \
    const R x = static_cast<R>(a), y = static_cast<R>(b); \
    return x > y ? x : y;                                 \
  }                                                       \
  static_assert(true)
#define TILEWISE_MIN_MAX_INTEGER(S, U) \
  TILEWISE_MIN_MAX(S, S, S);           \
  TILEWISE_MIN_MAX(U, U, U);           \
  TILEWISE_MIN_MAX(U, S, U);           \
  TILEWISE_MIN_MAX(U, U, S)
TILEWISE_MIN_MAX_INTEGER(int, unsigned int);
TILEWISE_MIN_MAX_INTEGER(long int, unsigned long int);
TILEWISE_MIN_MAX_INTEGER(long long int, unsigned long long int);
#undef TILEWISE_MIN_MAX_INTEGER
#undef TILEWISE_MIN_MAX

// A NaN is ignored where the other argument is a number.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double min(float a, double b) { return ::fmin(double(a), b); }
inline double max(float a, double b) { return ::fmax(double(a), b); }
inline double min(double a, float b) { return ::fmin(a, double(b)); }
inline double max(double a, float b) { return ::fmax(a, double(b)); }

inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a > b ? a : b; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

// ---------------------------------------------------------------- functions of their own
namespace tilewise::sim::math_detail {

// sin(pi x) and cos(pi x), exact at multiples of one half: the argument is first reduced to [-1/4, 1/4].
inline void sin_cos_pi(double x, double* sine, double* cosine) {
  own_arithmetic(false);
  if (!std::isfinite(x)) {
    *sine = *cosine = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const double r = std::remainder(x, 2.0);          // [-1, 1], exact
  const double quadrant = std::nearbyint(2.0 * r);  // -2 ... 2
  const double t = (r - 0.5 * quadrant) * std::numbers::pi;
  const double s = std::sin(t), c = std::cos(t);
  switch (static_cast<int>(quadrant) & 3) {
    case 0:
      *sine = s, *cosine = c;
      break;
    case 1:
      *sine = c, *cosine = -s;
      break;
    case 2:
      *sine = -s, *cosine = -c;
      break;
    default:
      *sine = -c, *cosine = s;
      break;
  }
  if (*sine == 0.0) *sine = std::copysign(0.0, x);
  if (*cosine == 0.0) *cosine = 0.0;
}

// Inverse of erfc on (0, 2): a first guess, then Halley steps on the exact function.
inline double erfc_inverse(double y) {
  own_arithmetic(false);
  if (!(y >= 0.0 && y <= 2.0)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0.0) return std::numeric_limits<double>::infinity();
  if (y == 2.0) return -std::numeric_limits<double>::infinity();
  const double tail = y < 1.0 ? y : 2.0 - y;
  // Abramowitz and Stegun 26.2.23 for the normal quantile, good to 4.5e-4.
  const double t = std::sqrt(-2.0 * std::log(0.5 * tail));
  double x = (t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))) /
             std::numbers::sqrt2;
  for (int step = 0; step < 4; ++step) {
    const double error = std::erfc(x) - tail;
    if (error == 0.0) break;
    const double newton = error / (2.0 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x += newton / (1.0 + x * newton);
  }
  return y < 1.0 ? x : -x;
}

inline double erf_inverse(double y) {
  own_arithmetic(false);
  if (!(y >= -1.0 && y <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(y) > 0.5) return y > 0 ? erfc_inverse(1.0 - y) : -erfc_inverse(1.0 + y);
  double x = y * 0.5 / std::numbers::inv_sqrtpi;  // the first term of the series
  for (int step = 0; step < 6; ++step) {
    const double newton = (std::erf(x) - y) / (2.0 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= newton / (1.0 + x * newton);
  }
  return y == 0.0 ? y : x;
}

// exp(x^2) erfc(x) without overflow: the continued fraction where erfc itself underflows.
inline double erfc_scaled(double x) {
  own_arithmetic(false);
  if (x < 20.0) return std::exp(x * x) * std::erfc(x);
  double tail = x;
  for (int k = 40; k >= 1; --k) tail = x + 0.5 * k / tail;
  return std::numbers::inv_sqrtpi / tail;
}

template <class T>
T euclidean_norm(int n, const T* values) {
  own_arithmetic(false);
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = ::fmax(largest, std::fabs(double(values[i])));
  if (largest == 0.0 || std::isinf(largest)) return T(largest);
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (values[i] / largest) * (values[i] / largest);
  return T(largest * std::sqrt(sum));
}

// 1 / x of the double that a function of floats works with.
inline float inverse(double x) {
  own_arithmetic(false);
  return float(1.0 / x);
}

}  // namespace tilewise::sim::math_detail

inline double rsqrt(double x) { return 1.0 / ::sqrt(x); }
inline float rsqrtf(float x) { return ::tilewise::sim::math_detail::inverse(::sqrt(double(x))); }
inline double rcbrt(double x) { return 1.0 / ::cbrt(x); }
inline float rcbrtf(float x) { return ::tilewise::sim::math_detail::inverse(::cbrt(double(x))); }

inline void sincospi(double x, double* sine, double* cosine) {
  ::tilewise::sim::math_detail::sin_cos_pi(x, sine, cosine);
}
inline void sincospif(float x, float* sine, float* cosine) {
  double s, c;
  sincospi(double(x), &s, &c);
  *sine = float(s), *cosine = float(c);
}
// Newer C libraries declare sinpi and cospi (C23), others do not: user code gets these in either case.
#define sinpi tilewise_sinpi
#define cospi tilewise_cospi
#define sinpif tilewise_sinpif
#define cospif tilewise_cospif
inline double tilewise_sinpi(double x) {
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  return sine;
}
inline double tilewise_cospi(double x) {
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  return cosine;
}
inline float tilewise_sinpi(float x) { return float(tilewise_sinpi(double(x))); }
inline float tilewise_cospi(float x) { return float(tilewise_cospi(double(x))); }
inline float tilewise_sinpif(float x) { return float(tilewise_sinpi(double(x))); }
inline float tilewise_cospif(float x) { return float(tilewise_cospi(double(x))); }

// The C library's functions by these names store past the checks of accesses; these are compiled with the program.
#define sincos tilewise_sincos
#define sincosf tilewise_sincosf
inline void tilewise_sincos(double x, double* sine, double* cosine) { *sine = ::sin(x), *cosine = ::cos(x); }
inline void tilewise_sincosf(float x, float* sine, float* cosine) { *sine = ::sinf(x), *cosine = ::cosf(x); }
#if !defined(__GLIBC__)  // GNU extensions of the C library
inline double exp10(double x) { return ::pow(10.0, x); }
inline float exp10f(float x) { return float(::pow(10.0, double(x))); }
#endif

inline double norm(int n, const double* values) { return ::tilewise::sim::math_detail::euclidean_norm(n, values); }
inline float normf(int n, const float* values) { return ::tilewise::sim::math_detail::euclidean_norm(n, values); }
inline double rnorm(int n, const double* values) { return 1.0 / norm(n, values); }
inline float rnormf(int n, const float* values) { return 1.0f / normf(n, values); }
inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline float norm3df(float a, float b, float c) { return std::hypot(a, b, c); }
inline double norm4d(double a, double b, double c, double d) { return ::hypot(std::hypot(a, b, c), d); }
inline float norm4df(float a, float b, float c, float d) { return float(norm4d(a, b, c, d)); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline float rnorm3df(float a, float b, float c) { return ::tilewise::sim::math_detail::inverse(norm3d(a, b, c)); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline float rnorm4df(float a, float b, float c, float d) {
  return ::tilewise::sim::math_detail::inverse(norm4d(a, b, c, d));
}
inline double rhypot(double a, double b) { return 1.0 / ::hypot(a, b); }
inline float rhypotf(float a, float b) { return ::tilewise::sim::math_detail::inverse(::hypot(double(a), double(b))); }

inline double erfinv(double x) { return ::tilewise::sim::math_detail::erf_inverse(x); }
inline float erfinvf(float x) { return float(erfinv(double(x))); }
inline double erfcinv(double x) { return ::tilewise::sim::math_detail::erfc_inverse(x); }
inline float erfcinvf(float x) { return float(erfcinv(double(x))); }
inline double erfcx(double x) { return ::tilewise::sim::math_detail::erfc_scaled(x); }
inline float erfcxf(float x) { return float(erfcx(double(x))); }
inline double normcdf(double x) {
  ::tilewise::sim::own_arithmetic(false);
  return 0.5 * ::erfc(-x / std::numbers::sqrt2);
}
inline float normcdff(float x) { return float(normcdf(double(x))); }
inline double normcdfinv(double x) { return -std::numbers::sqrt2 * erfcinv(2.0 * x); }
inline float normcdfinvf(float x) { return float(normcdfinv(double(x))); }
#if defined(__cpp_lib_math_special_functions)
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, ::fabs(x)); }
inline float cyl_bessel_i0f(float x) { return float(cyl_bessel_i0(double(x))); }
inline double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, ::fabs(x)), x); }
inline float cyl_bessel_i1f(float x) { return float(cyl_bessel_i1(double(x))); }
#endif
inline float fdividef(float x, float y) { return x / y; }

// CUDA overloads its own functions for float as C++ does for the standard ones.
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrt(float x) { return rcbrtf(x); }
inline float exp10(float x) { return exp10f(x); }
inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
inline void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
inline float erfinv(float x) { return erfinvf(x); }
inline float erfcinv(float x) { return erfcinvf(x); }
inline float erfcx(float x) { return erfcxf(x); }
inline float normcdf(float x) { return normcdff(x); }
inline float normcdfinv(float x) { return normcdfinvf(x); }
inline float rhypot(float a, float b) { return rhypotf(a, b); }

// ---------------------------------------------------------------- fast intrinsics
// The C library has some of these names for itself, hence the renaming.
#define __sinf tilewise_fast_sinf
#define __cosf tilewise_fast_cosf
#define __tanf tilewise_fast_tanf
#define __sincosf tilewise_fast_sincosf
#define __expf tilewise_fast_expf
#define __exp10f tilewise_fast_exp10f
#define __logf tilewise_fast_logf
#define __log2f tilewise_fast_log2f
#define __log10f tilewise_fast_log10f
#define __powf tilewise_fast_powf
#define __tanhf tilewise_fast_tanhf
inline float __sinf(float x) { return ::sinf(x); }
inline float __cosf(float x) { return ::cosf(x); }
inline float __tanf(float x) { return ::tanf(x); }
inline float __tanhf(float x) { return ::tanhf(x); }
inline void __sincosf(float x, float* sine, float* cosine) { *sine = ::sinf(x), *cosine = ::cosf(x); }
inline float __expf(float x) { return ::expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return ::logf(x); }
inline float __log2f(float x) { return ::log2f(x); }
inline float __log10f(float x) { return ::log10f(x); }
/// 2^(y log2 x), so NaN for every negative x, unlike powf.
inline float __powf(float x, float y) { return y == 0.0f ? 1.0f : ::exp2f(y * ::log2f(x)); }
/// x / y; 0 where 2^126 < |y| < 2^128, as CUDA documents it.
inline float __fdividef(float x, float y) {
  const float size = ::fabsf(y);
  if (size > 0x1p126f && !std::isinf(size)) return std::isinf(x) ? std::numeric_limits<float>::quiet_NaN() : 0.0f * x;
  return x / y;
}
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }  // NaN becomes 0
inline float __frsqrt_rn(float x) { return rsqrtf(x); }

// ---------------------------------------------------------------- arithmetic with a given rounding
namespace tilewise::sim::math_detail {

template <class T>
inline T hidden(T value) {
  volatile T box = value;
  return box;
}

// Evaluates `operation` with the processor set to `mode`. Going through volatile keeps the compiler from folding the
// operation or moving it across the change of mode.
template <class R, class Operation, class... T>
inline R rounded(int mode, Operation operation, T... arguments) {
  if (mode == FE_TONEAREST) return static_cast<R>(operation(arguments...));
  const int before = std::fegetround();
  std::fesetround(mode);
  const volatile R result = static_cast<R>(operation(hidden(arguments)...));
  std::fesetround(before);
  return result;
}

}  // namespace tilewise::sim::math_detail

#define TILEWISE_ROUNDED(T, stem, suffix, mode)      \
  inline T stem##add_##suffix(T a, T b) {            \
    return ::tilewise::sim::math_detail::rounded<T>( \
        mode, [](T x, T y) { return x + y; }, a, b); \
  }                                                  \
  inline T stem##sub_##suffix(T a, T b) {            \
    return ::tilewise::sim::math_detail::rounded<T>( \
        mode, [](T x, T y) { return x - y; }, a, b); \
  }                                                  \
  inline T stem##mul_##suffix(T a, T b) {            \
    return ::tilewise::sim::math_detail::rounded<T>( \
        mode, [](T x, T y) { return x * y; }, a, b); \
  }                                                  \
  inline T stem##div_##suffix(T a, T b) {            \
    return ::tilewise::sim::math_detail::rounded<T>( \
        mode, [](T x, T y) { return x / y; }, a, b); \
  }                                                  \
  inline T stem##rcp_##suffix(T a) {                 \
    return ::tilewise::sim::math_detail::rounded<T>( \
        mode, [](T x) { return T(1) / x; }, a);      \
  }                                                  \
  inline T stem##sqrt_##suffix(T a) {                \
    return ::tilewise::sim::math_detail::rounded<T>( \
        mode, [](T x) { return std::sqrt(x); }, a);  \
  }                                                  \
  static_assert(true)
#define TILEWISE_FMA(T, name, mode)                                      \
  inline T name(T a, T b, T c) {                                         \
    return ::tilewise::sim::math_detail::rounded<T>(                     \
        mode, [](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c); \
  }                                                                      \
  static_assert(true)

TILEWISE_ROUNDED(float, __f, rn, FE_TONEAREST);
TILEWISE_ROUNDED(float, __f, rz, FE_TOWARDZERO);
TILEWISE_ROUNDED(float, __f, ru, FE_UPWARD);
TILEWISE_ROUNDED(float, __f, rd, FE_DOWNWARD);
TILEWISE_ROUNDED(double, __d, rn, FE_TONEAREST);
TILEWISE_ROUNDED(double, __d, rz, FE_TOWARDZERO);
TILEWISE_ROUNDED(double, __d, ru, FE_UPWARD);
TILEWISE_ROUNDED(double, __d, rd, FE_DOWNWARD);
TILEWISE_FMA(float, __fmaf_rn, FE_TONEAREST);
TILEWISE_FMA(float, __fmaf_rz, FE_TOWARDZERO);
TILEWISE_FMA(float, __fmaf_ru, FE_UPWARD);
TILEWISE_FMA(float, __fmaf_rd, FE_DOWNWARD);
TILEWISE_FMA(double, __fma_rn, FE_TONEAREST);
TILEWISE_FMA(double, __fma_rz, FE_TOWARDZERO);
TILEWISE_FMA(double, __fma_ru, FE_UPWARD);
TILEWISE_FMA(double, __fma_rd, FE_DOWNWARD);
#undef TILEWISE_ROUNDED
#undef TILEWISE_FMA

// ---------------------------------------------------------------- conversions
namespace tilewise::sim::math_detail {

inline double round_even(double x) { return std::nearbyint(x); }
inline double round_zero(double x) { return std::trunc(x); }
inline double round_up(double x) { return std::ceil(x); }
inline double round_down(double x) { return std::floor(x); }

// PTX cvt: out-of-range values clamp; NaN becomes 0, or the top bit alone if a 64-bit type takes part.
template <class I>
inline I to_integer(double whole, bool wide) {
  constexpr double limit =
      sizeof(I) == 8 ? (std::is_signed_v<I> ? 0x1p63 : 0x1p64) : (std::is_signed_v<I> ? 0x1p31 : 0x1p32);
  using U = std::make_unsigned_t<I>;
  if (std::isnan(whole)) return wide || sizeof(I) == 8 ? I(U(1) << (8 * sizeof(I) - 1)) : I(0);
  if (whole >= limit) return std::numeric_limits<I>::max();
  if (whole <= (std::is_signed_v<I> ? -limit : 0.0)) return std::numeric_limits<I>::min();
  return static_cast<I>(whole);
}

}  // namespace tilewise::sim::math_detail

// From a float or double F, named `from`, to the four integer types and back.
#define TILEWISE_TO_INTEGER(F, from, I, to, suffix, round)                                                      \
  inline I __##from##2##to##_##suffix(F x) {                                                                    \
    return ::tilewise::sim::math_detail::to_integer<I>(::tilewise::sim::math_detail::round(x), sizeof(F) == 8); \
  }
#define TILEWISE_FROM_INTEGER(F, from, I, to, suffix, mode)      \
  inline F __##to##2##from##_##suffix(I x) {                     \
    return ::tilewise::sim::math_detail::rounded<F>(             \
        mode, [](I value) { return static_cast<F>(value); }, x); \
  }
#define TILEWISE_CONVERSIONS(F, from, I, to)               \
  TILEWISE_TO_INTEGER(F, from, I, to, rn, round_even)      \
  TILEWISE_TO_INTEGER(F, from, I, to, rz, round_zero)      \
  TILEWISE_TO_INTEGER(F, from, I, to, ru, round_up)        \
  TILEWISE_TO_INTEGER(F, from, I, to, rd, round_down)      \
  TILEWISE_FROM_INTEGER(F, from, I, to, rn, FE_TONEAREST)  \
  TILEWISE_FROM_INTEGER(F, from, I, to, rz, FE_TOWARDZERO) \
  TILEWISE_FROM_INTEGER(F, from, I, to, ru, FE_UPWARD)     \
  TILEWISE_FROM_INTEGER(F, from, I, to, rd, FE_DOWNWARD)   \
  static_assert(true)
TILEWISE_CONVERSIONS(float, float, int, int);
TILEWISE_CONVERSIONS(float, float, unsigned int, uint);
TILEWISE_CONVERSIONS(float, float, long long int, ll);
TILEWISE_CONVERSIONS(float, float, unsigned long long int, ull);
TILEWISE_CONVERSIONS(double, double, int, int);
TILEWISE_CONVERSIONS(double, double, unsigned int, uint);
TILEWISE_CONVERSIONS(double, double, long long int, ll);
TILEWISE_CONVERSIONS(double, double, unsigned long long int, ull);
#undef TILEWISE_CONVERSIONS
#undef TILEWISE_FROM_INTEGER
#undef TILEWISE_TO_INTEGER

inline float __double2float_rn(double x) { return float(x); }
inline float __double2float_rz(double x) {
  return ::tilewise::sim::math_detail::rounded<float>(
      FE_TOWARDZERO, [](double v) { return float(v); }, x);
}
inline float __double2float_ru(double x) {
  return ::tilewise::sim::math_detail::rounded<float>(
      FE_UPWARD, [](double v) { return float(v); }, x);
}
inline float __double2float_rd(double x) {
  return ::tilewise::sim::math_detail::rounded<float>(
      FE_DOWNWARD, [](double v) { return float(v); }, x);
}
