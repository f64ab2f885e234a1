// Calling cuBLAS right from row-major code. No kernels here: each function is one call of the
// library, with the translation that the call needs. All of them queue work on the handle's stream
// and return at once.
//
//   element (i, j) of a row-major matrix is at [i * ld + j], of a column-major one, cuBLAS's, at
//   [i + j * ld]
//
// Sizes and leading dimensions that cannot be are CUBLAS_STATUS_INVALID_VALUE, which cuBLAS itself
// says.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

// [dot]
/// *result = x . y, n elements each, where `result` is a variable of the program: the call waits
/// until it is there.
inline cublasStatus_t dot_to_host(cublasHandle_t handle, const float* x, const float* y, int n,
                                  float* result) {
  return cublasSdot(handle, n, x, 1, y, 1, result);  // increments of 1: neighbouring elements
}

/// The same where `result` is device memory: the call doesn't wait, and a kernel that follows can
/// read it. The handle remembers its pointer mode, so it is put back for the calls of others.
inline cublasStatus_t dot_to_device(cublasHandle_t handle, const float* x, const float* y, int n,
                                    float* result) {
  cublasPointerMode_t before;
  cublasStatus_t status = cublasGetPointerMode(handle, &before);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSdot(handle, n, x, 1, y, 1, result);
  const cublasStatus_t restored = cublasSetPointerMode(handle, before);
  return status != CUBLAS_STATUS_SUCCESS ? status : restored;
}
// [dot]

/// CUBLAS_OP_T for CUBLAS_OP_N and the other way round. (OP_C is the conjugate transpose; of real
/// numbers, the transpose.)
constexpr cublasOperation_t other_op(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

// [sgemv]
/// y = alpha op(A) x + beta y, with A m x n, row-major, `lda` words from one row to the next
/// (lda >= n). For CUBLAS_OP_N x has n elements and y has m, for CUBLAS_OP_T the other way round.
inline cublasStatus_t sgemv_row_major(cublasHandle_t handle, cublasOperation_t op, int m, int n,
                                      float alpha, const float* A, int lda, const float* x,
                                      float beta, float* y) {
  // Read by columns, the same words are an n x m matrix, and it is A's transpose. So: sizes and
  // operation exchanged.
  return cublasSgemv(handle, other_op(op), n, m, &alpha, A, lda, x, 1, &beta, y, 1);
}
// [sgemv]

// [sgemm]
/// C = alpha op(A) op(B) + beta C, all row-major. op(A) is m x k, op(B) is k x n, C is m x n;
/// `lda`, `ldb` and `ldc` are the words from one row of A, B and C *as they are stored* to the
/// next.
inline cublasStatus_t sgemm_row_major(cublasHandle_t handle, cublasOperation_t op_a,
                                      cublasOperation_t op_b, int m, int n, int k, float alpha,
                                      const float* A, int lda, const float* B, int ldb, float beta,
                                      float* C, int ldc) {
  // cuBLAS sees the transposes of A, B and C, and the transpose of a product is the product of the
  // transposes in the other order: C^T = op(B)^T op(A)^T. Nothing is moved: operands exchanged, m
  // and n exchanged, and that is all.
  return cublasSgemm(handle, op_b, op_a, n, m, k, &alpha, B, ldb, A, lda, &beta, C, ldc);
}
// [sgemm]

// [tf32]
/// The same, and cuBLAS may use the tensor cores: they read the first 10 of the 23 bits after the
/// point of A's and B's words. Only this call: the handle's math mode is put back.
inline cublasStatus_t sgemm_row_major_tf32(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k, float alpha,
                                           const float* A, int lda, const float* B, int ldb,
                                           float beta, float* C, int ldc) {
  cublasMath_t before;
  cublasStatus_t status = cublasGetMathMode(handle, &before);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = sgemm_row_major(handle, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  const cublasStatus_t restored = cublasSetMathMode(handle, before);
  return status != CUBLAS_STATUS_SUCCESS ? status : restored;
}
// [tf32]

// [detour]
/// What people write who do not exchange the operands: A and B are transposed into column-major
/// copies, multiplied, and the product is transposed back. Right, and it moves every word twice
/// more. C = A B, all row-major and without gaps; `workspace` is device memory for m k + k n + m n
/// words.
inline cublasStatus_t sgemm_by_transposing(cublasHandle_t handle, int m, int n, int k,
                                           const float* A, const float* B, float* C,
                                           float* workspace) {
  const float one = 1.0f, zero = 0.0f;
  // cuBLAS wants leading dimensions of at least 1, of empty matrices, too
  const auto at_least_1 = [](int ld) { return ld > 1 ? ld : 1; };
  const int ld_m = at_least_1(m), ld_n = at_least_1(n), ld_k = at_least_1(k);
  float* const A_columns = workspace;                                  // m x k, column-major
  float* const B_columns = A_columns + static_cast<size_t>(m) * ld_k;  // k x n, column-major
  float* const C_columns = B_columns + static_cast<size_t>(ld_k) * n;  // m x n, column-major
  const auto transpose = [&](int rows, int cols, const float* from, int from_ld, float* to,
                             int to_ld) {
    return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, from, from_ld, &zero, to,
                       to_ld, to, to_ld);
  };
  cublasStatus_t status = transpose(m, k, A, ld_k, A_columns, ld_m);
  if (status == CUBLAS_STATUS_SUCCESS) status = transpose(k, n, B, ld_n, B_columns, ld_k);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A_columns, ld_m,
                         B_columns, ld_k, &zero, C_columns, ld_m);
  if (status == CUBLAS_STATUS_SUCCESS) status = transpose(n, m, C_columns, ld_m, C, ld_n);
  return status;
}
// [detour]

// [batch]
/// `count` products of the same small size with one call: C_i = A_i B_i, row-major without gaps,
/// one matrix after the other. What a call costs is paid once, and the products run side by side.
inline cublasStatus_t sgemm_row_major_batch(cublasHandle_t handle, int m, int n, int k,
                                            const float* A, const float* B, float* C, int count) {
  const float one = 1.0f, zero = 0.0f;
  const long long A_words = 1LL * m * k, B_words = 1LL * k * n, C_words = 1LL * m * n;
  const int lda = k > 1 ? k : 1, ldb = n > 1 ? n : 1;
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, B, ldb, B_words,
                                   A, lda, A_words, &zero, C, ldb, C_words, count);
}
// [batch]

// [launch]
/// C = A B as in the earlier chapters: row-major without gaps, on a stream. Leaves the handle on
/// that stream.
inline cublasStatus_t launch_cublas_sgemm(cublasHandle_t handle, const float* A, const float* B,
                                          float* C, int M, int N, int K,
                                          cudaStream_t stream = nullptr) {
  if (const cublasStatus_t status = cublasSetStream(handle, stream)) return status;
  // a leading dimension is at least 1, also of an empty matrix
  const int lda = K > 1 ? K : 1, ldb = N > 1 ? N : 1;
  return sgemm_row_major(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, 1.0f, A, lda, B, ldb, 0.0f, C,
                         ldb);
}
// [launch]
