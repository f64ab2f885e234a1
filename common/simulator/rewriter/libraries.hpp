// Libraries of the CUDA Toolkit that the simulator lacks, and the names by which programs use them.
#pragma once

#include <string_view>

namespace tilewise::sim {

struct Library {
  std::string_view name;
  std::string_view header;  ///< how the names of its headers begin
  std::string_view prefix;  ///< how its names begin; the next character is a capital, a digit or `_`
};

/// A header in the simulator's folder stands for each: without anything, so that a program may include it. None stands for NVML: programs ask
/// by __has_include whether it's there, and do without it.
inline constexpr Library kMissingLibraries[] = {
    {"cuBLASXt", "cublasXt", "cublasXt"},
    {"cuFFT on several GPUs", "cufft", "cufftXt"},
    {"cuFFT on several GPUs", "cufft", "cudaLibXt"},
    {"cuFFT on several GPUs", "cufft", "CUFFT_XT"},
    {"cuFFT's callbacks", "cufft", "cufftCallback"},
    {"cuFFT's callbacks", "cufft", "CUFFT_CB"},
    {"cuFFT's functions of FFTW", "cufftw", "fftw"},
    {"cuRAND's MRG32k3a", "curand", "curandStateMRG32k3a"},
    {"cuRAND's MTGP32", "curand", "curandStateMtgp"},
    {"cuRAND's Sobol sequences", "curand", "curandStateSobol"},
    {"cuRAND's Sobol sequences", "curand", "curandStateScrambledSobol"},
    {"cuRAND's Sobol sequences", "curand", "curandDirectionVector"},
    {"cuRAND's Poisson distribution", "curand", "curandDiscreteDistribution"},
    {"cuSOLVER", "cusolver", "cusolver"},
    {"cuSOLVER", "cusolver", "CUSOLVER"},
    {"cuDNN", "cudnn", "cudnn"},
    {"cuDNN", "cudnn", "CUDNN"},
    {"NVRTC", "nvrtc", "nvrtc"},
    {"NVRTC", "nvrtc", "NVRTC"},
    {"NPP", "npp", "npp"},
    {"nvJPEG", "nvjpeg", "nvjpeg"},
    {"8-bit floating point (cuda_fp8.h)", "cuda_fp8", "__nv_fp8"},
    {"graphics interoperability", "cuda_gl_interop", "cudaGL"},
    {"graphics interoperability", "cuda_egl_interop", "cudaEGL"},
    {"graphics interoperability", "cudaEGL", "cuEGL"},
    {"graphics interoperability", "cudaEGL", "CUegl"},
    {"the CUDA driver API", "cuda.h", "cuInit"},
    {"the CUDA driver API", "cuda.h", "cuDevice"},
    {"the CUDA driver API", "cuda.h", "cuCtx"},
    {"the CUDA driver API", "cuda.h", "cuModule"},
    {"the CUDA driver API", "cuda.h", "cuMem"},
    {"the CUDA driver API", "cuda.h", "cuLaunch"},
    {"the CUDA driver API", "cuda.h", "cuStream"},
    {"the CUDA driver API", "cuda.h", "cuEvent"},
    {"the CUDA driver API", "cuda.h", "cuFunc"},
    {"the CUDA driver API", "cuda.h", "cuLink"},
    {"the CUDA driver API", "cuda.h", "cuGet"},
    {"the CUDA driver API", "cuda.h", "cuDriver"},
    {"the CUDA driver API", "cuda.h", "cuOccupancy"},
    {"the CUDA driver API", "cuda.h", "cuPointer"},
    {"the CUDA driver API", "cuda.h", "cuTensorMap"},
    {"the CUDA driver API", "cuda.h", "cuLibrary"},
    {"the CUDA driver API", "cuda.h", "cuKernel"},
    {"the CUDA driver API", "cuda.h", "CUdevice"},
    {"the CUDA driver API", "cuda.h", "CUcontext"},
    {"the CUDA driver API", "cuda.h", "CUmodule"},
    {"the CUDA driver API", "cuda.h", "CUfunction"},
    {"the CUDA driver API", "cuda.h", "CUresult"},
    {"the CUDA driver API", "cuda.h", "CUtensorMap"},
};

/// Names of theirs that are there nevertheless.
inline constexpr std::string_view kThereNevertheless[] = {"cufftXtMakePlanMany", "cufftXtExec"};

/// Namespaces of libraries that the simulator lacks, where a header of that folder is included. Thrust is missing where no
/// package has brought its headers: see thrust.hpp.
inline constexpr Library kMissingNamespaces[] = {
    {"Thrust without its headers", "tilewise_absent/thrust/", "thrust"},
};

}  // namespace tilewise::sim
