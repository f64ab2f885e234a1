// threadIdx, blockIdx, blockDim, gridDim and warpSize need no declaration here: simcc translates them.
#pragma once

#include "vector_types.h"
