/// @file
/// The C functions of libtilewise_kernels.so (launchers.cu), for code that knows nothing of CUDA.
#pragma once

#include <cstddef>

typedef struct CUstream_st* cudaStream_t;  // as cuda_runtime.h has it

extern "C" {
int launch_nothing(cudaStream_t stream);
int launch_naive(const float* a, const float* b, float* c, int m, int n, int k,
                 cudaStream_t stream);
int launch_tiled(const float* a, const float* b, float* c, int m, int n, int k,
                 cudaStream_t stream);
int launch_transpose_f32(const float* in, float* out, int rows, int cols, cudaStream_t stream);
int launch_sum_f32(const float* x, std::size_t n, float* total, cudaStream_t stream);
const char* error_text(int error);
const char* error_name(int error);
int forget_error();
int use_device(int device, int* before);
int lend_to_device(void* memory, std::size_t bytes);
int take_back(void* memory);
int wait_for(cudaStream_t stream);
}
