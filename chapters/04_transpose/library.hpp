// The transpose of a library: cublasSgeam(), which computes C = alpha op(A) + beta op(B), with
// beta = 0.
#pragma once

#include "tilewise/cublas.hpp"

/// out = transpose of in, by cuBLAS. Arguments as for the launch functions of transpose.cuh.
class LibraryTranspose {
 public:
  cudaError_t operator()(const float* in, float* out, int rows, int cols,
                         cudaStream_t stream = nullptr) {
    if (rows == 0 || cols == 0) return cudaSuccess;  // cuBLAS refuses a leading dimension of 0
    const float one = 1.0f, zero = 0.0f;
    handle_.set_stream(stream);
    // cuBLAS is column-major: what it calls cols x rows with a leading dimension of cols, is `in`.
    // B is not read, but must be given: C itself is allowed.
    CUBLAS_CHECK(cublasSgeam(handle_, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero,
                             out, rows, out, rows));
    return cudaGetLastError();
  }

 private:
  tilewise::CublasHandle handle_;
};

/// The same with one handle for all calls.
inline cudaError_t launch_library_transpose(const float* in, float* out, int rows, int cols,
                                            cudaStream_t stream) {
  static LibraryTranspose transpose;
  return transpose(in, out, rows, cols, stream);
}
