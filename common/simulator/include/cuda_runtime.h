// What every CUDA source includes. For .cu files (simcc defines __CUDACC__, as nvcc does) it brings the device functions
// as well; plain C++ files get the runtime API, the vector types and harmless markers.
#pragma once
#define __CUDA_RUNTIME_H__  // programs ask for it

// -DP=32 on the command line is for the program: the headers have such letters for types and numbers of their own.
#pragma push_macro("A")
#pragma push_macro("B")
#pragma push_macro("C")
#pragma push_macro("I")
#pragma push_macro("L")
#pragma push_macro("P")
#pragma push_macro("R")
#pragma push_macro("T")
#pragma push_macro("U")
#pragma push_macro("W")
#pragma push_macro("m")
#undef A
#undef B
#undef C
#undef I
#undef L
#undef P
#undef R
#undef T
#undef U
#undef W
#undef m

#if defined(TILEWISE_BEFORE_CXX20)
#include "tilewise_sim/before_cxx20.h"
#endif

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#if defined(__CUDACC__)
#include <assert.h>

#include "device_functions.h"
#else
#include <memory>  // libstdc++ writes __attribute__((__noinline__)) there, which the macro below would break
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#endif

#pragma pop_macro("A")
#pragma pop_macro("B")
#pragma pop_macro("C")
#pragma pop_macro("I")
#pragma pop_macro("L")
#pragma pop_macro("P")
#pragma pop_macro("R")
#pragma pop_macro("T")
#pragma pop_macro("U")
#pragma pop_macro("W")
#pragma pop_macro("m")
