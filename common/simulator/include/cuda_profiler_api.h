// cudaProfilerStart and cudaProfilerStop: accepted, without effect.
#pragma once

#include "cuda_runtime_api.h"
