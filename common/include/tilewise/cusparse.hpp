/// @file
/// cuSPARSE without leaks and without unnoticed errors. A program that includes this links cusparse:
/// `add_chapter(NN_topic LIBRARIES cusparse)`.
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
#endif

namespace tilewise {

/// A cuSPARSE call that did not return CUSPARSE_STATUS_SUCCESS. what() names file, line, call and status.
class CusparseError : public std::runtime_error {
 public:
  CusparseError(cusparseStatus_t code, const char* call, const char* file, int line)
      : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                           cusparseGetErrorName(code) + ": " + cusparseGetErrorString(code)),
        code_(code) {}
  cusparseStatus_t code() const { return code_; }

 private:
  cusparseStatus_t code_;
};

}  // namespace tilewise

/// Calls a cuSPARSE function; throws tilewise::CusparseError with file, line and call unless it succeeds. A success
/// says that the arguments were accepted and the work was queued, not that it is done.
#define CUSPARSE_CHECK(...)                                                               \
  do {                                                                                    \
    const cusparseStatus_t tilewise_status = (__VA_ARGS__);                               \
    if (tilewise_status != CUSPARSE_STATUS_SUCCESS)                                       \
      throw ::tilewise::CusparseError(tilewise_status, #__VA_ARGS__, __FILE__, __LINE__); \
  } while (false)

namespace tilewise {

/// Owns a cuSPARSE handle. Make one, keep it, and use it for all calls.
class CusparseHandle {
 public:
  explicit CusparseHandle(cudaStream_t stream = nullptr) {
    CUSPARSE_CHECK(cusparseCreate(&handle_));
    if (stream != nullptr) set_stream(stream);
  }
  CusparseHandle(CusparseHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CusparseHandle& operator=(CusparseHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CusparseHandle() {
    if (handle_ != nullptr) cusparseDestroy(handle_);  // a destructor must not throw
  }

  /// The calls that follow are work on this stream.
  void set_stream(cudaStream_t stream) { CUSPARSE_CHECK(cusparseSetStream(handle_, stream)); }

  operator cusparseHandle_t() const { return handle_; }

 private:
  cusparseHandle_t handle_ = nullptr;
};

/// cuSPARSE's name of float and double.
template <class T>
constexpr cudaDataType cuda_data_type() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;
}

/// Describes a CSR matrix in device memory, with 32-bit indices from 0. Owns the description, not the memory.
class CusparseCsr {
 public:
  /// row_ptr: rows + 1 offsets; col and values: nnz each.
  template <class T>
  CusparseCsr(std::int64_t rows, std::int64_t cols, std::int64_t nnz, const int* row_ptr, const int* col,
              const T* values) {
    CUSPARSE_CHECK(cusparseCreateCsr(&matrix_, rows, cols, nnz, const_cast<int*>(row_ptr), const_cast<int*>(col),
                                     const_cast<T*>(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, cuda_data_type<T>()));
  }
  CusparseCsr(CusparseCsr&& other) noexcept : matrix_(std::exchange(other.matrix_, nullptr)) {}
  CusparseCsr& operator=(CusparseCsr&& other) noexcept {
    std::swap(matrix_, other.matrix_);
    return *this;
  }
  ~CusparseCsr() {
    if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
  }
  operator cusparseSpMatDescr_t() const { return matrix_; }

 private:
  cusparseSpMatDescr_t matrix_ = nullptr;
};

/// Describes a dense vector in device memory. Owns the description, not the memory. cuSPARSE writes only to vectors
/// that are passed as results.
class CusparseVector {
 public:
  template <class T>
  CusparseVector(std::int64_t size, const T* values) {
    CUSPARSE_CHECK(cusparseCreateDnVec(&vector_, size, const_cast<T*>(values), cuda_data_type<T>()));
  }
  CusparseVector(CusparseVector&& other) noexcept : vector_(std::exchange(other.vector_, nullptr)) {}
  CusparseVector& operator=(CusparseVector&& other) noexcept {
    std::swap(vector_, other.vector_);
    return *this;
  }
  ~CusparseVector() {
    if (vector_ != nullptr) cusparseDestroyDnVec(vector_);
  }
  operator cusparseDnVecDescr_t() const { return vector_; }

 private:
  cusparseDnVecDescr_t vector_ = nullptr;
};

/// What computes the calls, for the reader of a result: "cuSPARSE 12.6.3", or on the simulator what stands in for it.
inline std::string cusparse_engine() {
#ifdef TILEWISE_SIMULATOR
  return std::string(sim::library_engine()) + ", in cuSPARSE's place";
#else
  int major = 0, minor = 0, patch = 0;
  CUSPARSE_CHECK(cusparseGetProperty(MAJOR_VERSION, &major));
  CUSPARSE_CHECK(cusparseGetProperty(MINOR_VERSION, &minor));
  CUSPARSE_CHECK(cusparseGetProperty(PATCH_LEVEL, &patch));
  return "cuSPARSE " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
#endif
}

}  // namespace tilewise
