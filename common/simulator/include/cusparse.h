// cuSPARSE's generic API, as far as the simulator has it: sparse matrix (CSR) times vector. The CPU computes
// (libraries/cusparse.cpp), the calls, their checks and their status codes are cuSPARSE's. Comments say where the
// simulator differs. Functions that are not here are named below: calling one is a compile-time error.
#pragma once
#define CUSPARSE_H_  // programs ask for these
#define CUSPARSEAPI

#include <cstddef>
#include <cstdint>

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#include "tilewise_device/not_supported.hpp"

// The version that this follows.
#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 5
#define CUSPARSE_VER_PATCH 4
#define CUSPARSE_VERSION (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)

typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef struct cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef const struct cusparseSpMatDescr* cusparseConstSpMatDescr_t;
typedef const struct cusparseDnVecDescr* cusparseConstDnVecDescr_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;

/// EXECUTION_FAILED here also means: the work was refused since a pointer or an index is wrong, and a finding says
/// which one. On a GPU the call itself would succeed, and the device fail later or compute with what lies there.
typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ARCH_MISMATCH = 4,
  CUSPARSE_STATUS_MAPPING_ERROR = 5,
  CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7,
  CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSPARSE_STATUS_ZERO_PIVOT = 9,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11,
} cusparseStatus_t;

typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL = 0,
  CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1,
  CUSPARSE_MATRIX_TYPE_HERMITIAN = 2,
  CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3,
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_FORMAT_CSR = 1 } cusparseFormat_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
  CUSPARSE_OPERATION_TRANSPOSE = 1,
  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2,
} cusparseOperation_t;

/// All the same here, but an algorithm for another format is refused.
typedef enum {
  CUSPARSE_SPMV_ALG_DEFAULT = 0,
  CUSPARSE_SPMV_COO_ALG1 = 1,
  CUSPARSE_SPMV_CSR_ALG1 = 2,
  CUSPARSE_SPMV_CSR_ALG2 = 3,
  CUSPARSE_SPMV_COO_ALG2 = 4,
  CUSPARSE_SPMV_SELL_ALG1 = 5,
} cusparseSpMVAlg_t;

extern "C" {

// ---------------------------------------------------------------- the handle
cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version);
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode);
const char* cusparseGetErrorName(cusparseStatus_t status);
const char* cusparseGetErrorString(cusparseStatus_t status);

// ---------------------------------------------------------------- sparse matrices (CSR) and dense vectors
/// Offsets and columns of 32 or 64 bits, both the same; values float or double.
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                   void* rowOffsets, void* colInd, void* values, cusparseIndexType_t rowOffsetsType,
                                   cusparseIndexType_t colIndType, cusparseIndexBase_t base, cudaDataType valueType);
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                        const void* rowOffsets, const void* colInd, const void* values,
                                        cusparseIndexType_t rowOffsetsType, cusparseIndexType_t colIndType,
                                        cusparseIndexBase_t base, cudaDataType valueType);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* rowOffsets, void* colInd, void* values);
/// What older functions want to know of a matrix; those that are here want none.
cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* matrix);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t matrix, cusparseMatrixType_t type);
cusparseMatrixType_t cusparseGetMatType(cusparseMatDescr_t matrix);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t matrix, cusparseFillMode_t fill);
cusparseFillMode_t cusparseGetMatFillMode(cusparseMatDescr_t matrix);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t matrix, cusparseDiagType_t diagonal);
cusparseDiagType_t cusparseGetMatDiagType(cusparseMatDescr_t matrix);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t matrix, cusparseIndexBase_t base);
cusparseIndexBase_t cusparseGetMatIndexBase(cusparseMatDescr_t matrix);
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* cols, int64_t* nnz);
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t* format);
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix, cusparseIndexBase_t* base);
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values);
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values);

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values, cudaDataType valueType);
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector, int64_t size, const void* values,
                                          cudaDataType valueType);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector);
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* size, void** values, cudaDataType* valueType);
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values);
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values);

// ---------------------------------------------------------------- y = alpha op(A) x + beta y
/// The simulator needs no buffer but asks for a small one, and looks whether it gets it, since cuSPARSE may need one.
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm,
                                         size_t* bytes);
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm,
                                         void* buffer);
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm,
                              void* buffer);

}  // extern "C"

// ---------------------------------------------------------------- what cuSPARSE has and the simulator lacks
TILEWISE_NOT_SUPPORTED(cusparseScsrmv);
TILEWISE_NOT_SUPPORTED(cusparseDcsrmv);
TILEWISE_NOT_SUPPORTED(cusparseScsrmm);
TILEWISE_NOT_SUPPORTED(cusparseDcsrmm);
TILEWISE_NOT_SUPPORTED(cusparseScsrgemm);
TILEWISE_NOT_SUPPORTED(cusparseDcsrgemm);
TILEWISE_NOT_SUPPORTED(cusparseCreateCoo);
TILEWISE_NOT_SUPPORTED(cusparseCreateConstCoo);
TILEWISE_NOT_SUPPORTED(cusparseCreateCsc);
TILEWISE_NOT_SUPPORTED(cusparseCreateConstCsc);
TILEWISE_NOT_SUPPORTED(cusparseCreateBsr);
TILEWISE_NOT_SUPPORTED(cusparseCreateConstBsr);
TILEWISE_NOT_SUPPORTED(cusparseCreateBlockedEll);
TILEWISE_NOT_SUPPORTED(cusparseCreateSlicedEll);
TILEWISE_NOT_SUPPORTED(cusparseCreateSpVec);
TILEWISE_NOT_SUPPORTED(cusparseDestroySpVec);
TILEWISE_NOT_SUPPORTED(cusparseCreateDnMat);
TILEWISE_NOT_SUPPORTED(cusparseCreateConstDnMat);
TILEWISE_NOT_SUPPORTED(cusparseDestroyDnMat);
TILEWISE_NOT_SUPPORTED(cusparseSpMM);
TILEWISE_NOT_SUPPORTED(cusparseSpMM_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseSpMM_preprocess);
TILEWISE_NOT_SUPPORTED(cusparseSpGEMM_workEstimation);
TILEWISE_NOT_SUPPORTED(cusparseSpGEMM_compute);
TILEWISE_NOT_SUPPORTED(cusparseSpGEMM_copy);
TILEWISE_NOT_SUPPORTED(cusparseSpGEMM_createDescr);
TILEWISE_NOT_SUPPORTED(cusparseSDDMM);
TILEWISE_NOT_SUPPORTED(cusparseSDDMM_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseSpSV_createDescr);
TILEWISE_NOT_SUPPORTED(cusparseSpSV_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseSpSV_analysis);
TILEWISE_NOT_SUPPORTED(cusparseSpSV_solve);
TILEWISE_NOT_SUPPORTED(cusparseSpSM_createDescr);
TILEWISE_NOT_SUPPORTED(cusparseSpSM_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseSpSM_analysis);
TILEWISE_NOT_SUPPORTED(cusparseSpSM_solve);
TILEWISE_NOT_SUPPORTED(cusparseSpVV);
TILEWISE_NOT_SUPPORTED(cusparseSpVV_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseAxpby);
TILEWISE_NOT_SUPPORTED(cusparseGather);
TILEWISE_NOT_SUPPORTED(cusparseScatter);
TILEWISE_NOT_SUPPORTED(cusparseRot);
TILEWISE_NOT_SUPPORTED(cusparseCsr2cscEx2);
TILEWISE_NOT_SUPPORTED(cusparseCsr2cscEx2_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseXcoo2csr);
TILEWISE_NOT_SUPPORTED(cusparseXcsr2coo);
TILEWISE_NOT_SUPPORTED(cusparseSparseToDense_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseSparseToDense_analysis);
TILEWISE_NOT_SUPPORTED(cusparseSparseToDense_convert);
TILEWISE_NOT_SUPPORTED(cusparseDenseToSparse_bufferSize);
TILEWISE_NOT_SUPPORTED(cusparseDenseToSparse_analysis);
TILEWISE_NOT_SUPPORTED(cusparseDenseToSparse_convert);
TILEWISE_NOT_SUPPORTED(cusparseCsrSetStridedBatch);
TILEWISE_NOT_SUPPORTED(cusparseSpMatSetAttribute);
TILEWISE_NOT_SUPPORTED(cusparseSpMatGetAttribute);
TILEWISE_NOT_SUPPORTED(cusparseCsrGet);
TILEWISE_NOT_SUPPORTED(cusparseConstCsrGet);
TILEWISE_NOT_SUPPORTED(cusparseConstDnVecGet);
TILEWISE_NOT_SUPPORTED(cusparseConstDnVecGetValues);
TILEWISE_NOT_SUPPORTED(cusparseConstSpMatGetValues);
TILEWISE_NOT_SUPPORTED(cusparseSpMVOp);
TILEWISE_NOT_SUPPORTED(cusparseLoggerSetLevel);
TILEWISE_NOT_SUPPORTED(cusparseLoggerSetFile);
