// make_float4() and its kin.
#pragma once
#define __VECTOR_FUNCTIONS_H__  // programs ask for it

#include "vector_types.h"

#define TILEWISE_MAKE_VECTORS(Base, T)                                               \
  inline Base##1 make_##Base##1(T x) { return Base##1 {x}; }                         \
  inline Base##2 make_##Base##2(T x, T y) { return Base##2 {x, y}; }                 \
  inline Base##3 make_##Base##3(T x, T y, T z) { return Base##3 {x, y, z}; }         \
  inline Base##4 make_##Base##4(T x, T y, T z, T w) { return Base##4 {x, y, z, w}; } \
  static_assert(true)

TILEWISE_MAKE_VECTORS(char, signed char);
TILEWISE_MAKE_VECTORS(uchar, unsigned char);
TILEWISE_MAKE_VECTORS(short, short);
TILEWISE_MAKE_VECTORS(ushort, unsigned short);
TILEWISE_MAKE_VECTORS(int, int);
TILEWISE_MAKE_VECTORS(uint, unsigned int);
TILEWISE_MAKE_VECTORS(long, long);
TILEWISE_MAKE_VECTORS(ulong, unsigned long);
TILEWISE_MAKE_VECTORS(longlong, long long);
TILEWISE_MAKE_VECTORS(ulonglong, unsigned long long);
TILEWISE_MAKE_VECTORS(float, float);
TILEWISE_MAKE_VECTORS(double, double);

#undef TILEWISE_MAKE_VECTORS
