// Calls of cuBLAS and cuSPARSE with matrices and vectors that are not as they say.
#include <cublas_v2.h>
#include <cusparse.h>

#include "cases.hpp"
#include "tilewise_sim/library.hpp"

// Whoever asks says so himself: nothing on stderr but findings.
static const char* const computed_by = tilewise::sim::library_engine();

// ---------------------------------------------------------------- dense: C = A B, 4 x 6 and 6 x 5, by columns
static int product(const float* A, int lda, const float* B, const float* alpha, float* C) {
  const float zero = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, 6, alpha, A, lda, B, 6, &zero, C, 4);  // finding: out-of-bounds lda_too_large, host-pointer host_matrix, overlap result_over_input, uninitialised never_written, host-access device_alpha
  cublasDestroy(handle);
  return status == CUBLAS_STATUS_SUCCESS ? 0 : 3;
}
static const float one = 1;

CASE(lda_too_large) { float *a = zeros<float>(24), *b = zeros<float>(30), *c = zeros<float>(20); product(a, 5, b, &one, c); return finish(a, b, c); }
CASE(lda_too_large_right) { float *a = zeros<float>(24), *b = zeros<float>(30), *c = zeros<float>(20); product(a, 4, b, &one, c); return finish(a, b, c); }

CASE(host_matrix) { float a[24] = {}, *b = zeros<float>(30), *c = zeros<float>(20); product(a, 4, b, &one, c); return finish(b, c); }
CASE(host_matrix_right) {
  float host[24] = {}, *a = nullptr, *b = zeros<float>(30), *c = zeros<float>(20);
  cudaMalloc(&a, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  product(a, 4, b, &one, c);
  return finish(a, b, c);
}

CASE(result_over_input) { float *a = zeros<float>(24), *b = zeros<float>(30); product(a, 4, b, &one, a); return finish(a, b); }
CASE(result_over_input_right) { float *a = zeros<float>(44), *b = zeros<float>(30); product(a, 4, b, &one, a + 24); return finish(a, b); }

CASE(never_written) { float *a = nullptr, *b = zeros<float>(30), *c = zeros<float>(20); cudaMalloc(&a, 96); product(a, 4, b, &one, c); return finish(a, b, c); }
CASE(never_written_right) { float *a = zeros<float>(24), *b = zeros<float>(30), *c = nullptr; cudaMalloc(&c, 80); product(a, 4, b, &one, c); return finish(a, b, c); }

CASE(device_alpha) { float *a = zeros<float>(24), *b = zeros<float>(30), *c = zeros<float>(20), *alpha = zeros<float>(1); product(a, 4, b, alpha, c); return finish(a, b, c, alpha); }
CASE(device_alpha_right) { float *a = zeros<float>(24), *b = zeros<float>(30), *c = zeros<float>(20); float alpha = 2; product(a, 4, b, &alpha, c); return finish(a, b, c); }

// ---------------------------------------------------------------- sparse: a diagonal of 3
static int diagonal(int last_column, int last_offset) {
  const int offsets[] = {0, 1, 2, last_offset}, columns[] = {0, 1, last_column};
  const float values[] = {1, 2, 3}, alpha = 1, beta = 0;
  int *row_ptr = zeros<int>(4), *col = zeros<int>(3);
  float *value = zeros<float>(3), *x = zeros<float>(3), *y = zeros<float>(3);
  cudaMemcpy(row_ptr, offsets, sizeof offsets, cudaMemcpyHostToDevice);
  cudaMemcpy(col, columns, sizeof columns, cudaMemcpyHostToDevice);
  cudaMemcpy(value, values, sizeof values, cudaMemcpyHostToDevice);
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t from, to;
  cusparseCreateCsr(&A, 3, 3, 3, row_ptr, col, value, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&from, 3, x, CUDA_R_32F);
  cusparseCreateDnVec(&to, 3, y, CUDA_R_32F);
  size_t bytes = 0;
  void* buffer = nullptr;
  cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, from, &beta, to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  cudaMalloc(&buffer, bytes);
  cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, from, &beta, to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer);  // finding: out-of-bounds column_outside, out-of-bounds offsets_too_far
  cusparseDestroyDnVec(from);
  cusparseDestroyDnVec(to);
  cusparseDestroySpMat(A);
  cusparseDestroy(handle);
  return finish(row_ptr, col, value, x, y, static_cast<char*>(buffer));
}

CASE(column_outside) { return diagonal(3, 3); }
CASE(column_outside_right) { return diagonal(2, 3); }

CASE(offsets_too_far) { return diagonal(2, 4); }
CASE(offsets_too_far_right) { return diagonal(2, 3); }
