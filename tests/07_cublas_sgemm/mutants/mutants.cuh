// Wrong wrappers of cublasSgemm for row-major matrices. Each holds one mistake that people make, and each must be
// rejected by check_sgemm(), the same function that the right wrappers pass.
//
// They are one template: the body is the right wrapper, and every `is(Bug::...)` is the place of one mistake.
#pragma once

#include <cublas_v2.h>

#include <algorithm>

#include "07_cublas_sgemm/check_sgemm.hpp"
#include "tilewise/cublas.hpp"

namespace sgemm_mutants {

enum class Bug {
  none,  ///< the right wrapper: proves that it is the mistake, and not the template, that is rejected
  not_translated,
  operands_not_exchanged,
  sizes_not_exchanged,
  ops_not_exchanged,
  everything_transposed,
  op_b_ignored,
  op_a_turned,
  gap_of_a_ignored,
  gap_of_b_ignored,
  gap_of_c_ignored,
  lda_is_m,
  ldb_is_k,
  lda_and_ldb_exchanged,
  k_and_n_exchanged,
  last_product_lost,
  one_row_more,
  gap_is_columns,
  alpha_and_beta_exchanged,
  alpha_forgotten,
  beta_forgotten,
  beta_one,
  beta_tiny,
  beta_nan,
  called_twice,
  status_swallowed,
  default_stream,
  stream_not_put_back,
  other_handle,
  tf32_left_on,
  tf32_unasked,
  half_unasked,
  pointer_mode_left_on,
  scalars_on_device,
  mode_for_device_scalars,
  result_into_a,
};

template <Bug BUG>
cublasStatus_t mutant(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                      float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
  const auto is = [](Bug bug) { return bug == BUG; };
  const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
  const auto turned = [=](cublasOperation_t op) { return op == N ? T : N; };

  if (is(Bug::not_translated)) return cublasSgemm(handle, op_a, op_b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
  if (is(Bug::operands_not_exchanged))
    return cublasSgemm(handle, op_a, op_b, n, m, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
  if (is(Bug::everything_transposed))  // op(A) op(B) it is, but C comes out by columns
    return cublasSgemm(handle, turned(op_a), turned(op_b), m, n, k, &alpha, A, lda, B, ldb, &beta, C, std::max(ldc, m));

  const int tight_a = std::max(1, op_a == N ? k : m), tight_b = std::max(1, op_b == N ? n : k);
  if (is(Bug::gap_of_a_ignored)) lda = tight_a;
  if (is(Bug::gap_of_b_ignored) && ldb >= tight_b) ldb = tight_b;
  if (is(Bug::gap_of_c_ignored)) ldc = n;
  if (is(Bug::lda_is_m)) lda = m;  // "the number of rows"
  if (is(Bug::ldb_is_k)) ldb = k;
  if (is(Bug::lda_and_ldb_exchanged)) std::swap(lda, ldb);
  if (is(Bug::k_and_n_exchanged)) std::swap(k, n);
  if (is(Bug::last_product_lost)) k -= 1;
  if (is(Bug::one_row_more)) m += 1;
  if (is(Bug::gap_is_columns)) n = ldc;  // computes what lies between the rows, too
  if (is(Bug::sizes_not_exchanged)) std::swap(m, n);
  if (is(Bug::ops_not_exchanged)) std::swap(op_a, op_b);
  if (is(Bug::op_b_ignored)) op_b = N;
  if (is(Bug::op_a_turned)) op_a = turned(op_a);
  if (is(Bug::alpha_and_beta_exchanged)) std::swap(alpha, beta);
  if (is(Bug::alpha_forgotten)) alpha = 1;
  if (is(Bug::beta_forgotten)) beta = 0;
  if (is(Bug::beta_one)) beta = 1;                     // "add to what is there"
  if (is(Bug::beta_tiny) && beta == 0) beta = 1e-30f;  // as good as zero, but then C is read
  if (is(Bug::beta_nan) && beta == 0) beta = NAN;      // a variable that nobody set
  if (is(Bug::result_into_a)) C = const_cast<float*>(A);

  cublasHandle_t with = handle;
  if (is(Bug::default_stream)) cublasSetStream(handle, nullptr);
  if (is(Bug::stream_not_put_back)) cublasSetStream(handle, cudaStreamPerThread);
  static tilewise::CublasHandle& own = *new tilewise::CublasHandle;  // on the default stream
  if (is(Bug::other_handle)) with = own;
  if (is(Bug::tf32_left_on) || is(Bug::tf32_unasked)) cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);

  cublasStatus_t status;
  if (is(Bug::half_unasked)) {
    status = cublasGemmEx(with, op_b, op_a, n, m, k, &alpha, B, CUDA_R_32F, ldb, A, CUDA_R_32F, lda, &beta, C,
                          CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT);
  } else if (is(Bug::scalars_on_device)) {
    const tilewise::DeviceBuffer<float> scalars(std::vector<float>{alpha, beta});
    status = cublasSgemm(with, op_b, op_a, n, m, k, scalars.data(), B, ldb, A, lda, scalars.data() + 1, C, ldc);
  } else {
    if (is(Bug::mode_for_device_scalars)) cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    status = cublasSgemm(with, op_b, op_a, n, m, k, &alpha, B, ldb, A, lda, &beta, C, ldc);
    if (is(Bug::mode_for_device_scalars)) cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    if (is(Bug::called_twice)) cublasSgemm(with, op_b, op_a, n, m, k, &alpha, B, ldb, A, lda, &beta, C, ldc);
  }

  if (is(Bug::default_stream)) {  // put back, so that nobody notices
    cudaStream_t stream = nullptr;
    cublasGetStream(handle, &stream);
  }
  if (is(Bug::tf32_unasked)) cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  if (is(Bug::pointer_mode_left_on)) cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  if (is(Bug::status_swallowed)) return CUBLAS_STATUS_SUCCESS;
  return status;
}

struct Mutant {
  const char* name;
  Sgemm sgemm;
  SgemmFault fault;       ///< must be among what is found
  bool on_gpu = true;     ///< false: on a GPU it would end the process, or depends on what cuBLAS chooses
  const char* said = "";  ///< part of what must be said about it, on the simulator
};

inline const std::vector<Mutant>& mutants() {
  using F = SgemmFault;
  // clang-format off
  static const std::vector<Mutant> list = {
      {"row-major matrices passed as they are", mutant<Bug::not_translated>, F::wrong_value},
      {"m and n exchanged, A and B not", mutant<Bug::operands_not_exchanged>, F::wrong_value},
      {"A and B exchanged, m and n not", mutant<Bug::sizes_not_exchanged>, F::refused, true, "CUBLAS_STATUS_INVALID_VALUE"},
      {"A and B exchanged, their operations not", mutant<Bug::ops_not_exchanged>, F::wrong_value},
      {"the other operation for both: C by columns", mutant<Bug::everything_transposed>, F::wrong_value},
      {"B's operation ignored", mutant<Bug::op_b_ignored>, F::wrong_value},
      {"A's operation turned", mutant<Bug::op_a_turned>, F::wrong_value},
      {"A's rows taken as tight", mutant<Bug::gap_of_a_ignored>, F::wrong_value},
      {"B's rows taken as tight", mutant<Bug::gap_of_b_ignored>, F::wrong_value},
      {"C's rows taken as tight", mutant<Bug::gap_of_c_ignored>, F::gap_written},
      {"lda is the number of rows", mutant<Bug::lda_is_m>, F::refused, true, "CUBLAS_STATUS_INVALID_VALUE"},
      {"ldb is the number of rows", mutant<Bug::ldb_is_k>, F::refused, true, "CUBLAS_STATUS_INVALID_VALUE"},
      {"lda and ldb exchanged", mutant<Bug::lda_and_ldb_exchanged>, F::wrong_value},
      {"k and n exchanged", mutant<Bug::k_and_n_exchanged>, F::refused, true, "CUBLAS_STATUS_INVALID_VALUE"},
      {"the last product lost", mutant<Bug::last_product_lost>, F::wrong_value},
      {"a row too many", mutant<Bug::one_row_more>, F::outside_written},
      {"the gap of C computed", mutant<Bug::gap_is_columns>, F::gap_written},
      {"alpha and beta exchanged", mutant<Bug::alpha_and_beta_exchanged>, F::wrong_value},
      {"alpha forgotten", mutant<Bug::alpha_forgotten>, F::wrong_value},
      {"beta forgotten", mutant<Bug::beta_forgotten>, F::wrong_value},
      {"beta is always 1", mutant<Bug::beta_one>, F::wrong_value, true, "nan"},
      {"a tiny beta for zero", mutant<Bug::beta_tiny>, F::wrong_value, true, "nan"},
      {"beta never set", mutant<Bug::beta_nan>, F::wrong_value, true, "nan"},
      {"called twice", mutant<Bug::called_twice>, F::wrong_value},
      {"the status swallowed", mutant<Bug::status_swallowed>, F::accepts_nonsense},
      {"on the default stream", mutant<Bug::default_stream>, F::handle_changed, true, "another stream"},
      {"left on another stream", mutant<Bug::stream_not_put_back>, F::handle_changed, true, "another stream"},
      {"with a handle of its own, on the default stream", mutant<Bug::other_handle>,
#ifdef TILEWISE_SIMULATOR
       F::other_stream,
#else
       F::wrong_value,  // it reads A before A is there
#endif
       true, "another stream than the handle's"},
      {"TF32 left on", mutant<Bug::tf32_left_on>, F::handle_changed, true, "another math mode"},
      {"TF32 without being asked", mutant<Bug::tf32_unasked>, F::wrong_value, false},
      {"half without being asked", mutant<Bug::half_unasked>, F::wrong_value, false},
      {"pointer mode left on device", mutant<Bug::pointer_mode_left_on>, F::handle_changed, true, "another pointer mode"},
      {"alpha in device memory, mode host", mutant<Bug::scalars_on_device>, F::finding, false, "host-access: cublasSgemm: alpha"},
      {"alpha on the host, mode device", mutant<Bug::mode_for_device_scalars>, F::finding, false, "host-pointer: cublasSgemm: alpha"},
      {"the result into A", mutant<Bug::result_into_a>,
#ifdef TILEWISE_SIMULATOR
       F::finding,
#else
       F::input_changed,
#endif
       true, "overlap: cublasSgemm: C"},
  };
  // clang-format on
  return list;
}

}  // namespace sgemm_mutants
