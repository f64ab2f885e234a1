// Part of <cuda_runtime.h> in the simulator.
#pragma once

#include "cuda_runtime.h"
