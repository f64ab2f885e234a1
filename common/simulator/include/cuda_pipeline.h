// CUDA's header also has a class around these functions, nvcuda::experimental::pipeline, which the simulator lacks.
#pragma once

#include "cuda_pipeline_primitives.h"
