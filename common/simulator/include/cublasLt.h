// cuBLASLt: handles alone, since many programs make one and never use it. Its other names are refused, see rewriter/libraries.hpp.
#pragma once
#define CUBLASLT_H_  // programs ask for it

#include "cublas_v2.h"

typedef struct cublasLtContext* cublasLtHandle_t;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static char context;
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cublasLtHandle_t>(&context);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
