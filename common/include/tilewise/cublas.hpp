/// @file
/// cuBLAS without leaks and without unnoticed errors. A program that includes this links cublas:
/// `add_chapter(NN_topic LIBRARIES cublas)`.
#pragma once

#include <cublas_v2.h>

#include <stdexcept>
#include <string>
#include <utility>

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
#endif

namespace tilewise {

/// A cuBLAS call that did not return CUBLAS_STATUS_SUCCESS. what() names file, line, call and status.
class CublasError : public std::runtime_error {
 public:
  CublasError(cublasStatus_t code, const char* call, const char* file, int line)
      : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                           cublasGetStatusName(code) + ": " + cublasGetStatusString(code)),
        code_(code) {}
  cublasStatus_t code() const { return code_; }

 private:
  cublasStatus_t code_;
};

}  // namespace tilewise

/// Calls a cuBLAS function; throws tilewise::CublasError with file, line and call unless it succeeds. A success says
/// that the arguments were accepted and the work was queued, not that it is done.
#define CUBLAS_CHECK(...)                                                               \
  do {                                                                                  \
    const cublasStatus_t tilewise_status = (__VA_ARGS__);                               \
    if (tilewise_status != CUBLAS_STATUS_SUCCESS)                                       \
      throw ::tilewise::CublasError(tilewise_status, #__VA_ARGS__, __FILE__, __LINE__); \
  } while (false)

namespace tilewise {

/// Owns a cuBLAS handle. Make one, keep it, and use it for all calls: creating it costs far more than most calls.
class CublasHandle {
 public:
  explicit CublasHandle(cudaStream_t stream = nullptr) {
    CUBLAS_CHECK(cublasCreate(&handle_));
    if (stream != nullptr) set_stream(stream);
  }
  CublasHandle(CublasHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CublasHandle& operator=(CublasHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CublasHandle() {
    if (handle_ != nullptr) cublasDestroy(handle_);  // a destructor must not throw
  }

  /// The calls that follow are work on this stream.
  void set_stream(cudaStream_t stream) { CUBLAS_CHECK(cublasSetStream(handle_, stream)); }

  operator cublasHandle_t() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// What computes the calls, for the reader of a result: "cuBLAS 13.1.0", or on the simulator what stands in for it.
inline std::string cublas_engine() {
#ifdef TILEWISE_SIMULATOR
  return std::string(sim::library_engine()) + ", in cuBLAS's place";
#else
  int major = 0, minor = 0, patch = 0;
  CUBLAS_CHECK(cublasGetProperty(MAJOR_VERSION, &major));
  CUBLAS_CHECK(cublasGetProperty(MINOR_VERSION, &minor));
  CUBLAS_CHECK(cublasGetProperty(PATCH_LEVEL, &patch));
  return "cuBLAS " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
#endif
}

}  // namespace tilewise
