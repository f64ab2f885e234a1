/// @file
/// CUDA calls that cannot fail unnoticed.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

namespace tilewise {

/// A CUDA call that did not return cudaSuccess. what() names file, line, call and CUDA's own text.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line);
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

[[noreturn]] void throw_cuda_error(cudaError_t code, const char* call, const char* file, int line);

}  // namespace tilewise

/// Calls a CUDA function; throws tilewise::CudaError with file, line and call unless it returns cudaSuccess.
#define CUDA_CHECK(...)                                                                \
  do {                                                                                 \
    const cudaError_t tilewise_status = (__VA_ARGS__);                                 \
    if (tilewise_status != cudaSuccess)                                                \
      ::tilewise::throw_cuda_error(tilewise_status, #__VA_ARGS__, __FILE__, __LINE__); \
  } while (false)

/// Put it after a launch: a configuration that the device refuses throws here. Does not wait for the kernel.
#define CUDA_CHECK_LAUNCH()                                                               \
  do {                                                                                    \
    const cudaError_t tilewise_status = cudaGetLastError();                               \
    if (tilewise_status != cudaSuccess)                                                   \
      ::tilewise::throw_cuda_error(tilewise_status, "kernel launch", __FILE__, __LINE__); \
  } while (false)

/// The same, and waits: an error inside the kernel throws here too. For tests, not for timed code.
#define CUDA_CHECK_LAUNCH_AND_SYNC()     \
  do {                                   \
    CUDA_CHECK_LAUNCH();                 \
    CUDA_CHECK(cudaDeviceSynchronize()); \
  } while (false)
