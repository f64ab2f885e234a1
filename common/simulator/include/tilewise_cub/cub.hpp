// CUB, as far as the simulator has it: its own, for what public programs use. The rest is an error that names it.
#pragma once

#include <chrono>  // as NVIDIA's does

#include "device.hpp"
#include "kernels/iterators.cuh"
#if defined(__CUDACC__)
#include "kernels/block.cuh"
#include "kernels/warp.cuh"
#endif
