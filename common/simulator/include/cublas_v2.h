// cuBLAS, as far as the simulator has it: the CPU computes (libraries/cublas.cpp), the calls, their checks and their
// status codes are cuBLAS's. What a call does is cuBLAS's documentation's business; comments here say where the
// simulator differs. Functions that are not here are named below: calling one is a compile-time error.
#pragma once
#define CUBLAS_V2_H_  // programs ask for it
#define CUBLAS_API_H_

#include <cstddef>
#include <cstdint>

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#include "tilewise_device/not_supported.hpp"

// The version that this follows.
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 8
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef struct cublasContext* cublasHandle_t;
typedef cudaDataType cublasDataType_t;

/// EXECUTION_FAILED here also means: the work was refused since a pointer is wrong, and a finding says which one. On a
/// GPU the call itself would succeed, and the device fail later or compute with what lies there.
typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;

typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;

/// TF32 (and COMPUTE_32F_FAST_TF32): inputs of matrix products are cut to 10 mantissa bits, sums are FP32. FAST_16F and
/// FAST_16BF round inputs to half and bfloat16.
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,  // deprecated by cuBLAS; without effect on FP32
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
} cublasMath_t;

typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
} cublasComputeType_t;

/// All the same here.
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO1 = 1,
  CUBLAS_GEMM_ALGO2 = 2,
  CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
} cublasGemmAlgo_t;

extern "C" {

// ---------------------------------------------------------------- the handle
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
size_t cublasGetCudartVersion();
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// ---------------------------------------------------------------- copies
cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* device, int incy);
cublasStatus_t cublasGetVector(int n, int elemSize, const void* device, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* device, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* device, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream);

// ---------------------------------------------------------------- computing
// float
cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy,
                          float* result);
cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float* x, int incx, float* result);
cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float* x, int incx, float* result);
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
                           int incy);
cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float* alpha, float* x, int incx);
cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float* x, int incx, float* y, int incy);
cublasStatus_t cublasSswap(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy);
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                           const float* A, int lda, const float* x, int incx, const float* beta, float* y, int incy);
cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float* alpha, const float* x, int incx,
                          const float* y, int incy, float* A, int lda);
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const float* alpha, const float* A, int lda, const float* B, int ldb,
                           const float* beta, float* C, int ldc);
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float* alpha, const float* const Aarray[], int lda,
                                  const float* const Barray[], int ldb, const float* beta, float* const Carray[],
                                  int ldc, int batchCount);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float* alpha, const float* A, int lda,
                                         long long int strideA, const float* B, int ldb, long long int strideB,
                                         const float* beta, float* C, int ldc, long long int strideC, int batchCount);
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const float* alpha, const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc);

// double
cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double* x, int incx, const double* y, int incy,
                          double* result);
cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double* x, int incx, double* result);
cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double* x, int incx, double* result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result);
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result);
cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double* alpha, const double* x, int incx, double* y,
                           int incy);
cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double* alpha, double* x, int incx);
cublasStatus_t cublasDcopy(cublasHandle_t handle, int n, const double* x, int incx, double* y, int incy);
cublasStatus_t cublasDswap(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy);
cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double* alpha,
                           const double* A, int lda, const double* x, int incx, const double* beta, double* y,
                           int incy);
cublasStatus_t cublasDger(cublasHandle_t handle, int m, int n, const double* alpha, const double* x, int incx,
                          const double* y, int incy, double* A, int lda);
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const double* alpha, const double* A, int lda, const double* B, int ldb,
                           const double* beta, double* C, int ldc);
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const double* alpha, const double* const Aarray[], int lda,
                                  const double* const Barray[], int ldb, const double* beta, double* const Carray[],
                                  int ldc, int batchCount);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* B, int ldb, long long int strideB,
                                         const double* beta, double* C, int ldc, long long int strideC, int batchCount);
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const double* alpha, const double* A, int lda, const double* beta, const double* B, int ldb,
                           double* C, int ldc);
// half: sums are made in FP32 and rounded once, where a GPU may round each
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half* alpha, const __half* A, int lda, const __half* B, int ldb,
                           const __half* beta, __half* C, int ldc);
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const __half* alpha, const __half* const Aarray[], int lda,
                                  const __half* const Barray[], int ldb, const __half* beta, __half* const Carray[],
                                  int ldc, int batchCount);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const __half* alpha, const __half* A, int lda,
                                         long long int strideA, const __half* B, int ldb, long long int strideB,
                                         const __half* beta, __half* C, int ldc, long long int strideC, int batchCount);
/// float, half and bfloat16 with sums in FP32, half with scalars in half, double, and 8-bit integers with sums in 32 bits;
/// other types are CUBLAS_STATUS_NOT_SUPPORTED.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo);

}  // extern "C"

/// As old programs call it, with a data type for the sums.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* A, cudaDataType Atype, int lda,
                                   const void* B, cudaDataType Btype, int ldb, const void* beta, void* C,
                                   cudaDataType Ctype, int ldc, cudaDataType computeType, cublasGemmAlgo_t algo) {
  const cublasComputeType_t compute = computeType == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                      : computeType == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                      : computeType == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                                  : CUBLAS_COMPUTE_32F;
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                      compute, algo);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                                 cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                                 const void* A, cudaDataType Atype, int lda, long long int strideA,
                                                 const void* B, cudaDataType Btype, int ldb, long long int strideB,
                                                 const void* beta, void* C, cudaDataType Ctype, int ldc,
                                                 long long int strideC, int batchCount, cudaDataType computeType,
                                                 cublasGemmAlgo_t algo) {
  const cublasComputeType_t compute = computeType == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                      : computeType == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                      : computeType == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                                  : CUBLAS_COMPUTE_32F;
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA, B, Btype, ldb,
                                    strideB, beta, C, Ctype, ldc, strideC, batchCount, compute, algo);
}

// ---------------------------------------------------------------- the names with a version
#define cublasSdot_v2 cublasSdot
#define cublasSnrm2_v2 cublasSnrm2
#define cublasSasum_v2 cublasSasum
#define cublasSaxpy_v2 cublasSaxpy
#define cublasSscal_v2 cublasSscal
#define cublasScopy_v2 cublasScopy
#define cublasSswap_v2 cublasSswap
#define cublasSgemv_v2 cublasSgemv
#define cublasSger_v2 cublasSger
#define cublasSgemm_v2 cublasSgemm
#define cublasIsamax_v2 cublasIsamax
#define cublasIsamin_v2 cublasIsamin
#define cublasDdot_v2 cublasDdot
#define cublasDnrm2_v2 cublasDnrm2
#define cublasDasum_v2 cublasDasum
#define cublasDaxpy_v2 cublasDaxpy
#define cublasDscal_v2 cublasDscal
#define cublasDcopy_v2 cublasDcopy
#define cublasDswap_v2 cublasDswap
#define cublasDgemv_v2 cublasDgemv
#define cublasDger_v2 cublasDger
#define cublasDgemm_v2 cublasDgemm
#define cublasIdamax_v2 cublasIdamax
#define cublasIdamin_v2 cublasIdamin
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasGetVersion_v2 cublasGetVersion
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasSetWorkspace_v2 cublasSetWorkspace
// ---------------------------------------------------------------- what cuBLAS has and the simulator lacks
TILEWISE_NOT_SUPPORTED(cublasCdotu);
TILEWISE_NOT_SUPPORTED(cublasZdotu);
TILEWISE_NOT_SUPPORTED(cublasCdotc);
TILEWISE_NOT_SUPPORTED(cublasZdotc);
TILEWISE_NOT_SUPPORTED(cublasCnrm2);
TILEWISE_NOT_SUPPORTED(cublasZnrm2);
TILEWISE_NOT_SUPPORTED(cublasCasum);
TILEWISE_NOT_SUPPORTED(cublasZasum);
TILEWISE_NOT_SUPPORTED(cublasCaxpy);
TILEWISE_NOT_SUPPORTED(cublasZaxpy);
TILEWISE_NOT_SUPPORTED(cublasCscal);
TILEWISE_NOT_SUPPORTED(cublasZscal);
TILEWISE_NOT_SUPPORTED(cublasCcopy);
TILEWISE_NOT_SUPPORTED(cublasZcopy);
TILEWISE_NOT_SUPPORTED(cublasCswap);
TILEWISE_NOT_SUPPORTED(cublasZswap);
TILEWISE_NOT_SUPPORTED(cublasCrot);
TILEWISE_NOT_SUPPORTED(cublasZrot);
TILEWISE_NOT_SUPPORTED(cublasCrotg);
TILEWISE_NOT_SUPPORTED(cublasZrotg);
TILEWISE_NOT_SUPPORTED(cublasCgemv);
TILEWISE_NOT_SUPPORTED(cublasZgemv);
TILEWISE_NOT_SUPPORTED(cublasCgerc);
TILEWISE_NOT_SUPPORTED(cublasZgerc);
TILEWISE_NOT_SUPPORTED(cublasCgeru);
TILEWISE_NOT_SUPPORTED(cublasZgeru);
TILEWISE_NOT_SUPPORTED(cublasCgemm);
TILEWISE_NOT_SUPPORTED(cublasZgemm);
TILEWISE_NOT_SUPPORTED(cublasCgemm3m);
TILEWISE_NOT_SUPPORTED(cublasZgemm3m);
TILEWISE_NOT_SUPPORTED(cublasCgemmBatched);
TILEWISE_NOT_SUPPORTED(cublasZgemmBatched);
TILEWISE_NOT_SUPPORTED(cublasCgemmStridedBatched);
TILEWISE_NOT_SUPPORTED(cublasZgemmStridedBatched);
TILEWISE_NOT_SUPPORTED(cublasCgeam);
TILEWISE_NOT_SUPPORTED(cublasZgeam);
TILEWISE_NOT_SUPPORTED(cublasCsymm);
TILEWISE_NOT_SUPPORTED(cublasZsymm);
TILEWISE_NOT_SUPPORTED(cublasChemm);
TILEWISE_NOT_SUPPORTED(cublasZhemm);
TILEWISE_NOT_SUPPORTED(cublasCtrsm);
TILEWISE_NOT_SUPPORTED(cublasZtrsm);
TILEWISE_NOT_SUPPORTED(cublasCtrmm);
TILEWISE_NOT_SUPPORTED(cublasZtrmm);
TILEWISE_NOT_SUPPORTED(cublasCsyrk);
TILEWISE_NOT_SUPPORTED(cublasZsyrk);
TILEWISE_NOT_SUPPORTED(cublasCherk);
TILEWISE_NOT_SUPPORTED(cublasZherk);
TILEWISE_NOT_SUPPORTED(cublasSrot);
TILEWISE_NOT_SUPPORTED(cublasDrot);
TILEWISE_NOT_SUPPORTED(cublasSrotg);
TILEWISE_NOT_SUPPORTED(cublasDrotg);
TILEWISE_NOT_SUPPORTED(cublasSrotm);
TILEWISE_NOT_SUPPORTED(cublasDrotm);
TILEWISE_NOT_SUPPORTED(cublasSrotmg);
TILEWISE_NOT_SUPPORTED(cublasDrotmg);
TILEWISE_NOT_SUPPORTED(cublasSgbmv);
TILEWISE_NOT_SUPPORTED(cublasDgbmv);
TILEWISE_NOT_SUPPORTED(cublasSsymv);
TILEWISE_NOT_SUPPORTED(cublasDsymv);
TILEWISE_NOT_SUPPORTED(cublasSsbmv);
TILEWISE_NOT_SUPPORTED(cublasDsbmv);
TILEWISE_NOT_SUPPORTED(cublasSspmv);
TILEWISE_NOT_SUPPORTED(cublasDspmv);
TILEWISE_NOT_SUPPORTED(cublasStrmv);
TILEWISE_NOT_SUPPORTED(cublasDtrmv);
TILEWISE_NOT_SUPPORTED(cublasStbmv);
TILEWISE_NOT_SUPPORTED(cublasDtbmv);
TILEWISE_NOT_SUPPORTED(cublasStpmv);
TILEWISE_NOT_SUPPORTED(cublasDtpmv);
TILEWISE_NOT_SUPPORTED(cublasStrsv);
TILEWISE_NOT_SUPPORTED(cublasDtrsv);
TILEWISE_NOT_SUPPORTED(cublasStbsv);
TILEWISE_NOT_SUPPORTED(cublasDtbsv);
TILEWISE_NOT_SUPPORTED(cublasStpsv);
TILEWISE_NOT_SUPPORTED(cublasDtpsv);
TILEWISE_NOT_SUPPORTED(cublasSsyr);
TILEWISE_NOT_SUPPORTED(cublasDsyr);
TILEWISE_NOT_SUPPORTED(cublasSsyr2);
TILEWISE_NOT_SUPPORTED(cublasDsyr2);
TILEWISE_NOT_SUPPORTED(cublasSspr);
TILEWISE_NOT_SUPPORTED(cublasDspr);
TILEWISE_NOT_SUPPORTED(cublasSspr2);
TILEWISE_NOT_SUPPORTED(cublasDspr2);
TILEWISE_NOT_SUPPORTED(cublasSsymm);
TILEWISE_NOT_SUPPORTED(cublasDsymm);
TILEWISE_NOT_SUPPORTED(cublasSsyrk);
TILEWISE_NOT_SUPPORTED(cublasDsyrk);
TILEWISE_NOT_SUPPORTED(cublasSsyr2k);
TILEWISE_NOT_SUPPORTED(cublasDsyr2k);
TILEWISE_NOT_SUPPORTED(cublasSsyrkx);
TILEWISE_NOT_SUPPORTED(cublasDsyrkx);
TILEWISE_NOT_SUPPORTED(cublasStrmm);
TILEWISE_NOT_SUPPORTED(cublasDtrmm);
TILEWISE_NOT_SUPPORTED(cublasStrsm);
TILEWISE_NOT_SUPPORTED(cublasDtrsm);
TILEWISE_NOT_SUPPORTED(cublasStrsmBatched);
TILEWISE_NOT_SUPPORTED(cublasDtrsmBatched);
TILEWISE_NOT_SUPPORTED(cublasSgemvBatched);
TILEWISE_NOT_SUPPORTED(cublasDgemvBatched);
TILEWISE_NOT_SUPPORTED(cublasSgemvStridedBatched);
TILEWISE_NOT_SUPPORTED(cublasDgemvStridedBatched);
TILEWISE_NOT_SUPPORTED(cublasSgemmGroupedBatched);
TILEWISE_NOT_SUPPORTED(cublasDgemmGroupedBatched);
TILEWISE_NOT_SUPPORTED(cublasSdgmm);
TILEWISE_NOT_SUPPORTED(cublasDdgmm);
TILEWISE_NOT_SUPPORTED(cublasSgetrfBatched);
TILEWISE_NOT_SUPPORTED(cublasDgetrfBatched);
TILEWISE_NOT_SUPPORTED(cublasSgetrsBatched);
TILEWISE_NOT_SUPPORTED(cublasDgetrsBatched);
TILEWISE_NOT_SUPPORTED(cublasSgetriBatched);
TILEWISE_NOT_SUPPORTED(cublasDgetriBatched);
TILEWISE_NOT_SUPPORTED(cublasSmatinvBatched);
TILEWISE_NOT_SUPPORTED(cublasDmatinvBatched);
TILEWISE_NOT_SUPPORTED(cublasSgeqrfBatched);
TILEWISE_NOT_SUPPORTED(cublasDgeqrfBatched);
TILEWISE_NOT_SUPPORTED(cublasSgelsBatched);
TILEWISE_NOT_SUPPORTED(cublasDgelsBatched);
TILEWISE_NOT_SUPPORTED(cublasStpttr);
TILEWISE_NOT_SUPPORTED(cublasDtpttr);
TILEWISE_NOT_SUPPORTED(cublasStrttp);
TILEWISE_NOT_SUPPORTED(cublasDtrttp);
TILEWISE_NOT_SUPPORTED(cublasCgemmEx);
TILEWISE_NOT_SUPPORTED(cublasGemmGroupedBatchedEx);
TILEWISE_NOT_SUPPORTED(cublasDotEx);
TILEWISE_NOT_SUPPORTED(cublasDotcEx);
TILEWISE_NOT_SUPPORTED(cublasNrm2Ex);
TILEWISE_NOT_SUPPORTED(cublasAxpyEx);
TILEWISE_NOT_SUPPORTED(cublasScalEx);
TILEWISE_NOT_SUPPORTED(cublasAsumEx);
TILEWISE_NOT_SUPPORTED(cublasCopyEx);
TILEWISE_NOT_SUPPORTED(cublasSwapEx);
TILEWISE_NOT_SUPPORTED(cublasIamaxEx);
TILEWISE_NOT_SUPPORTED(cublasIaminEx);
TILEWISE_NOT_SUPPORTED(cublasRotEx);
TILEWISE_NOT_SUPPORTED(cublasLoggerConfigure);
TILEWISE_NOT_SUPPORTED(cublasSetLoggerCallback);
TILEWISE_NOT_SUPPORTED(cublasGetLoggerCallback);
TILEWISE_NOT_SUPPORTED(cublasSetSmCountTarget);
TILEWISE_NOT_SUPPORTED(cublasGetSmCountTarget);
TILEWISE_NOT_SUPPORTED(cublasSgemm_64);
TILEWISE_NOT_SUPPORTED(cublasDgemm_64);
TILEWISE_NOT_SUPPORTED(cublasSgemv_64);
TILEWISE_NOT_SUPPORTED(cublasDgemv_64);
TILEWISE_NOT_SUPPORTED(cublasSdot_64);
TILEWISE_NOT_SUPPORTED(cublasDdot_64);
TILEWISE_NOT_SUPPORTED(cublasSaxpy_64);
TILEWISE_NOT_SUPPORTED(cublasGemmEx_64);
TILEWISE_NOT_SUPPORTED(cublasSgemmBatched_64);
TILEWISE_NOT_SUPPORTED(cublasDgemmBatched_64);
TILEWISE_NOT_SUPPORTED(cublasSgemmStridedBatched_64);
TILEWISE_NOT_SUPPORTED(cublasDgemmStridedBatched_64);
TILEWISE_NOT_SUPPORTED(cublasGemmStridedBatchedEx_64);
TILEWISE_NOT_SUPPORTED(cublasGemmBatchedEx_64);
TILEWISE_NOT_SUPPORTED(cublasSgemmEx_64);
TILEWISE_NOT_SUPPORTED(cublasSgeam_64);
TILEWISE_NOT_SUPPORTED(cublasDgeam_64);
TILEWISE_NOT_SUPPORTED(cublasSger_64);
TILEWISE_NOT_SUPPORTED(cublasDger_64);
TILEWISE_NOT_SUPPORTED(cublasSscal_64);
TILEWISE_NOT_SUPPORTED(cublasDscal_64);
TILEWISE_NOT_SUPPORTED(cublasDaxpy_64);
TILEWISE_NOT_SUPPORTED(cublasSnrm2_64);
TILEWISE_NOT_SUPPORTED(cublasDnrm2_64);
TILEWISE_NOT_SUPPORTED(cublasSasum_64);
TILEWISE_NOT_SUPPORTED(cublasDasum_64);
TILEWISE_NOT_SUPPORTED(cublasIsamax_64);
TILEWISE_NOT_SUPPORTED(cublasIdamax_64);
TILEWISE_NOT_SUPPORTED(cublasIsamin_64);
TILEWISE_NOT_SUPPORTED(cublasIdamin_64);
TILEWISE_NOT_SUPPORTED(cublasScopy_64);
TILEWISE_NOT_SUPPORTED(cublasDcopy_64);
TILEWISE_NOT_SUPPORTED(cublasSswap_64);
TILEWISE_NOT_SUPPORTED(cublasDswap_64);
TILEWISE_NOT_SUPPORTED(cublasSsyrk_64);
TILEWISE_NOT_SUPPORTED(cublasDsyrk_64);
TILEWISE_NOT_SUPPORTED(cublasSsymm_64);
TILEWISE_NOT_SUPPORTED(cublasDsymm_64);
TILEWISE_NOT_SUPPORTED(cublasStrsm_64);
TILEWISE_NOT_SUPPORTED(cublasDtrsm_64);
TILEWISE_NOT_SUPPORTED(cublasSdgmm_64);
TILEWISE_NOT_SUPPORTED(cublasDdgmm_64);
TILEWISE_NOT_SUPPORTED(cublasUint8gemmBias);