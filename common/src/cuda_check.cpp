#include "tilewise/cuda_check.hpp"

#include <string>

namespace tilewise {
namespace {

std::string message(cudaError_t code, const char* call, const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorName(code) + ": " +
         cudaGetErrorString(code);
}

}  // namespace

CudaError::CudaError(cudaError_t code, const char* call, const char* file, int line)
    : std::runtime_error(message(code, call, file, line)), code_(code) {}

void throw_cuda_error(cudaError_t code, const char* call, const char* file, int line) {
  throw CudaError(code, call, file, line);
}

}  // namespace tilewise
