// Complex numbers as pairs: x is the real part, y the imaginary part.
#pragma once
#define CU_COMPLEX_H_  // programs ask for it

#include <math.h>

#include "vector_functions.h"

// `Complex` is the pair's type, `Real` that of its parts, `f` the suffix of the real functions.
#define TILEWISE_COMPLEX(Complex, Real, make_pair, make, name, f)                                                  \
  inline Complex make(Real real, Real imaginary) { return make_pair(real, imaginary); }                            \
  inline Real cuCreal##name(Complex a) { return a.x; }                                                             \
  inline Real cuCimag##name(Complex a) { return a.y; }                                                             \
  inline Complex cuConj##name(Complex a) { return make(a.x, -a.y); }                                               \
  inline Complex cuCadd##name(Complex a, Complex b) { return make(a.x + b.x, a.y + b.y); }                         \
  inline Complex cuCsub##name(Complex a, Complex b) { return make(a.x - b.x, a.y - b.y); }                         \
  inline Complex cuCmul##name(Complex a, Complex b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
  /* Both are scaled by the divisor's size, so that no square overflows. */                                        \
  inline Complex cuCdiv##name(Complex a, Complex b) {                                                              \
    const Real scale = 1 / (fabs##f(b.x) + fabs##f(b.y));                                                          \
    const Complex p = make(a.x * scale, a.y * scale), q = make(b.x * scale, b.y * scale);                          \
    const Real whole = 1 / (q.x * q.x + q.y * q.y);                                                                \
    return make((p.x * q.x + p.y * q.y) * whole, (p.y * q.x - p.x * q.y) * whole);                                 \
  }                                                                                                                \
  inline Real cuCabs##name(Complex a) { return hypot##f(a.x, a.y); }                                               \
  inline Complex cuCfma##name(Complex a, Complex b, Complex c) {                                                   \
    return make(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                                         \
  }                                                                                                                \
  static_assert(true)

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

TILEWISE_COMPLEX(cuFloatComplex, float, make_float2, make_cuFloatComplex, f, f);
TILEWISE_COMPLEX(cuDoubleComplex, double, make_double2, make_cuDoubleComplex, , );

#undef TILEWISE_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_cuDoubleComplex(a.x, a.y); }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return make_cuFloatComplex(static_cast<float>(a.x), static_cast<float>(a.y));
}
