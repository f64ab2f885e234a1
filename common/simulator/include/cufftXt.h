// Of cuFFT's extensions, the plans whose types are named one by one, on one GPU, in single and double precision. Several GPUs, callbacks
// and half precision are refused by name, see rewriter/libraries.hpp.
#pragma once

#include "cufft.h"

extern "C" {

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, cudaDataType inputtype,
                                long long int* onembed, long long int ostride, long long int odist,
                                cudaDataType outputtype, long long int batch, size_t* workSize,
                                cudaDataType executiontype);
/// The direction is that of the types, where one of them is real.
cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction);

}  // extern "C"
