// threadIdx, blockIdx, blockDim, gridDim and warpSize need no declaration here: simcc translates them.
#pragma once
#define __DEVICE_LAUNCH_PARAMETERS_H__  // programs ask for it

#include "vector_types.h"
