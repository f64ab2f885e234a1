// <math.h> makes C++20's lerp() a global name, and programs of before then have one of their own (helper_math.h).
#pragma once
#pragma push_macro("lerp")
#define lerp tilewise_lerp_of_cxx20
#include <math.h>

#include <cmath>
#pragma pop_macro("lerp")
