// bfloat16 and its pair. Every operation rounds once to nearest even, as the hardware's does.
#pragma once
#define __CUDA_BF16_H__  // programs ask for it

#include "tilewise_device/half_format.hpp"
#include "vector_functions.h"
#if defined(__CUDACC__)
#include "device_functions.h"
#endif

struct alignas(2) __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

#define TW_T __nv_bfloat16
#define TW_T2 __nv_bfloat162
#define TW_OTHER __half
#define TW_RAW __nv_bfloat16_raw
#define TW_FORMAT ::tilewise::sim::half_detail::Bfloat16
#define TW_NAME_TO(name, suffix) __bfloat162##name##_##suffix
#define TW_NAME_FROM(name, suffix) __##name##2bfloat16_##suffix
#include "tilewise_device/half_functions.inc"
#undef TW_T
#undef TW_T2
#undef TW_OTHER
#undef TW_RAW
#undef TW_FORMAT
#undef TW_NAME_TO
#undef TW_NAME_FROM

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// ---------------------------------------------------------------- to and from float and double
inline __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 tilewise_round_bfloat16(float a, ::tilewise::sim::half_detail::Rounding rounding) {
  __nv_bfloat16 result;
  ::tilewise::sim::half_detail::round_to(result, a, rounding);
  return result;
}
inline __nv_bfloat16 __float2bfloat16_rz(float a) {
  return tilewise_round_bfloat16(a, ::tilewise::sim::half_detail::Rounding::zero);
}
inline __nv_bfloat16 __float2bfloat16_ru(float a) {
  return tilewise_round_bfloat16(a, ::tilewise::sim::half_detail::Rounding::up);
}
inline __nv_bfloat16 __float2bfloat16_rd(float a) {
  return tilewise_round_bfloat16(a, ::tilewise::sim::half_detail::Rounding::down);
}
inline float __bfloat162float(__nv_bfloat16 a) { return float(a); }

inline __nv_bfloat162 __float2bfloat162_rn(float a) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a)); }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(float(a.x), float(a.y)); }

// ---------------------------------------------------------------- parts of pairs, and bits
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
inline short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.__x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16(__nv_bfloat16_raw{static_cast<unsigned short>(bits)});
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16(__nv_bfloat16_raw{bits}); }

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
