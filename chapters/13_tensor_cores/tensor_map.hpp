// Tensor maps: what the copy engine (TMA) must know of a matrix. The function that makes them
// belongs to the driver's interface; it is asked for at run time, so that programs need no -lcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

/// How to fetch or store boxes of box_rows x box_cols of a row-major matrix of rows x cols
/// elements. A row of a box is 128 bytes; boxes lie in shared memory with a swizzle of 128 bytes.
/// `matrix` and each row must lie at multiples of 16 bytes. (CUDA driver API: "Tensor Map Object
/// Management".) Errors: cudaErrorInvalidValue, cudaErrorNotSupported on a driver without it.
inline cudaError_t make_tensor_map(CUtensorMap& map, CUtensorMapDataType type,
                                   std::size_t element_bytes, const void* matrix, int rows,
                                   int cols, int box_rows, int box_cols) {
  using Encode =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                   const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode,
                                                              12000, cudaEnableDefault, &found);
#else
  const cudaError_t status =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) return status;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  // the fast dimension first
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t row_bytes[] = {cols * element_bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)},
                   steps[] = {1, 1};
  const CUresult result = reinterpret_cast<Encode>(encode)(
      &map, type, 2, const_cast<void*>(matrix), sizes, row_bytes, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
