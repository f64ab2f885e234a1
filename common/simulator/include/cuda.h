// The driver API is not part of the simulator; this header answers only which CUDA it resembles.
#pragma once

#define CUDA_VERSION 12080  // as CUDART_VERSION
