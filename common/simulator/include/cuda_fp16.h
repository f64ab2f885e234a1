// half and half2. Every operation rounds once to nearest even, as the hardware's does.
#pragma once
#define __CUDA_FP16_H__  // programs ask for it

#include "tilewise_device/half_format.hpp"
#include "vector_functions.h"
#if defined(__CUDACC__)
#include "device_functions.h"
#endif

struct alignas(2) __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};

#define TW_T __half
#define TW_T2 __half2
#define TW_OTHER __nv_bfloat16
#define TW_RAW __half_raw
#define TW_FORMAT ::tilewise::sim::half_detail::Half
#define TW_NAME_TO(name, suffix) __half2##name##_##suffix
#define TW_NAME_FROM(name, suffix) __##name##2half_##suffix
#include "tilewise_device/half_functions.inc"
#undef TW_T
#undef TW_T2
#undef TW_OTHER
#undef TW_RAW
#undef TW_FORMAT
#undef TW_NAME_TO
#undef TW_NAME_FROM

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

// ---------------------------------------------------------------- to and from float and double
inline __half __float2half(float a) { return __half(a); }
inline __half __float2half_rn(float a) { return __half(a); }
inline __half __double2half(double a) { return __half(a); }
inline __half tilewise_round_half(float a, ::tilewise::sim::half_detail::Rounding rounding) {
  __half result;
  ::tilewise::sim::half_detail::round_to(result, a, rounding);
  return result;
}
inline __half __float2half_rz(float a) { return tilewise_round_half(a, ::tilewise::sim::half_detail::Rounding::zero); }
inline __half __float2half_ru(float a) { return tilewise_round_half(a, ::tilewise::sim::half_detail::Rounding::up); }
inline __half __float2half_rd(float a) { return tilewise_round_half(a, ::tilewise::sim::half_detail::Rounding::down); }
inline float __half2float(__half a) { return float(a); }

inline __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
inline __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
inline __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
inline float2 __half22float2(__half2 a) { return make_float2(float(a.x), float(a.y)); }

// ---------------------------------------------------------------- parts of pairs, and bits
inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
inline __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
inline __half2 __half2half2(__half x) { return __half2(x, x); }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
inline __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
inline __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
inline __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
inline __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
inline short __half_as_short(__half a) { return static_cast<short>(a.__x); }
inline unsigned short __half_as_ushort(__half a) { return a.__x; }
inline __half __short_as_half(short bits) { return __half(__half_raw{static_cast<unsigned short>(bits)}); }
inline __half __ushort_as_half(unsigned short bits) { return __half(__half_raw{bits}); }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
