// cuSPARSE's part of the simulator: sparse matrix (CSR) times vector. The calls' checks and status codes are
// cuSPARSE's. What a GPU would read out of bounds, a wrong index among them, is a finding.
#include "cusparse.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/api.hpp"
#include "runtime/library.hpp"

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointers = CUSPARSE_POINTER_MODE_HOST;
};

struct cusparseSpMatDescr {
  std::int64_t rows, cols, nnz;
  const void *offsets, *columns, *values;
  cusparseIndexType_t index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
};

struct cusparseDnVecDescr {
  std::int64_t size;
  const void* values;
  cudaDataType type;
};

namespace tilewise::sim {
namespace {

using library::Call;
using library::Region;

/// Objects that exist. Never destroyed: programs destroy them in destructors of their own static objects.
template <class Object>
std::vector<std::unique_ptr<Object>>& all() {
  static auto* owners = new std::vector<std::unique_ptr<Object>>;
  return *owners;
}

template <class Object>
bool exists(const Object* object) {
  const DeviceLock lock(device_mutex());
  return object && std::any_of(all<Object>().begin(), all<Object>().end(), [=](auto& o) { return o.get() == object; });
}

template <class Object>
Object* add(Object object) {
  const DeviceLock lock(device_mutex());
  all<Object>().push_back(std::make_unique<Object>(object));
  return all<Object>().back().get();
}

template <class Object>
bool remove(const Object* object) {
  const DeviceLock lock(device_mutex());
  return std::erase_if(all<Object>(), [=](auto& o) { return o.get() == object; }) > 0;
}

template <class Body>
cusparseStatus_t with_handle(cusparseHandle_t handle, Body body) {
  const DeviceLock lock(device_mutex());
  return exists(handle) ? body(*handle) : CUSPARSE_STATUS_INVALID_VALUE;
}

bool is_real(cudaDataType type) { return type == CUDA_R_32F || type == CUDA_R_64F; }
std::size_t bytes_of(cudaDataType type) { return type == CUDA_R_64F ? 8 : 4; }

constexpr std::size_t kBufferBytes = 256;

/// Arguments that all three SpMV calls have.
struct Spmv {
  cusparseHandle_t handle;
  cusparseOperation_t op;
  const void *alpha, *beta;
  cusparseConstSpMatDescr_t A;
  cusparseConstDnVecDescr_t x, y;
  cudaDataType type;
  cusparseSpMVAlg_t algorithm;

  bool transposes() const { return op != CUSPARSE_OPERATION_NON_TRANSPOSE; }

  cusparseStatus_t judge() const {
    if (!exists(handle)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (op < CUSPARSE_OPERATION_NON_TRANSPOSE || op > CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
      return CUSPARSE_STATUS_INVALID_VALUE;
    }
    if (alpha == nullptr || beta == nullptr || !exists(A) || !exists(x) || !exists(y))
      return CUSPARSE_STATUS_INVALID_VALUE;
    if (x->size != (transposes() ? A->rows : A->cols) || y->size != (transposes() ? A->cols : A->rows)) {
      return CUSPARSE_STATUS_INVALID_VALUE;
    }
    if (algorithm != CUSPARSE_SPMV_ALG_DEFAULT && algorithm != CUSPARSE_SPMV_CSR_ALG1 &&
        algorithm != CUSPARSE_SPMV_CSR_ALG2) {
      return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    if (A->type != type || x->type != type || y->type != type) {
      library::not_supported("cusparseSpMV", "values of mixed types");
      return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    return CUSPARSE_STATUS_SUCCESS;
  }
};

/// Alpha or beta, under either mode. False where it can't be read.
bool scalar(Call& call, const cusparseContext& handle, const char* name, const void* p, std::size_t bytes,
            void* value) {
  if (handle.pointers == CUSPARSE_POINTER_MODE_HOST) {
    if (!call.on_host(name, p, "but the handle's pointer mode is CUSPARSE_POINTER_MODE_HOST: the CPU would crash here"))
      return false;
    call.read_from_host(value, p, bytes);
    return true;
  }
  if (!call.readable(name, p, library::vector(1, 1, bytes))) return false;
  std::memcpy(value, p, bytes);
  return true;
}

/// Are the indices those of a CSR matrix of these sizes? Everything has been found readable.
template <class I>
bool is_csr(Call& call, const cusparseSpMatDescr& A) {
  const I* offsets = static_cast<const I*>(A.offsets);
  const I* columns = static_cast<const I*>(A.columns);
  const std::int64_t base = A.base;
  if (offsets[0] != base || offsets[A.rows] - base != A.nnz) {
    call.finding("out-of-bounds", "the row offsets of A run from " + std::to_string(offsets[0]) + " to " +
                                      std::to_string(offsets[A.rows]) + "; with " + std::to_string(A.nnz) +
                                      " values and base " + std::to_string(base) + " they must run from " +
                                      std::to_string(base) + " to " + std::to_string(A.nnz + base));
    return false;
  }
  for (std::int64_t row = 0; row < A.rows; ++row) {
    if (offsets[row] <= offsets[row + 1]) continue;
    call.finding("out-of-bounds", "the row offsets of A fall from " + std::to_string(offsets[row]) + " to " +
                                      std::to_string(offsets[row + 1]) + " in row " + std::to_string(row));
    return false;
  }
  for (std::int64_t i = 0; i < A.nnz; ++i) {
    const std::int64_t column = columns[i] - base;
    if (column >= 0 && column < A.cols) continue;
    call.finding("out-of-bounds", "value " + std::to_string(i) + " of A is in column " + std::to_string(columns[i]) +
                                      ", and A has " + std::to_string(A.cols) + " columns from " +
                                      std::to_string(base));
    return false;
  }
  return true;
}

template <class T, class I>
bool multiply(Call& call, const Spmv& s, const void* alpha_value, const void* beta_value) {
  const cusparseSpMatDescr& A = *s.A;
  const auto* values = static_cast<const T*>(A.values);
  const auto* x = static_cast<const T*>(s.x->values);
  auto* y = static_cast<T*>(const_cast<void*>(s.y->values));
  const T alpha = *static_cast<const T*>(alpha_value);
  const T beta = *static_cast<const T*>(beta_value);
  const Region region_x = library::vector(s.x->size, 1, sizeof(T)), region_y = library::vector(s.y->size, 1, sizeof(T));
  const Region offsets = library::vector(A.rows + 1, 1, sizeof(I));
  const Region columns = library::vector(A.nnz, 1, sizeof(I)), region_a = library::vector(A.nnz, 1, sizeof(T));

  if (!call.readable("A's row offsets", A.offsets, offsets) || !call.readable("A's columns", A.columns, columns) ||
      !call.readable("A's values", values, region_a) || !call.readable("x", x, region_x) ||
      !(beta == T(0) ? call.fits("y", y, region_y) : call.readable("y", y, region_y)) ||
      !call.apart("y", y, region_y, "x", x, region_x) || !is_csr<I>(call, A)) {
    return false;
  }
  const auto* row_ptr = static_cast<const I*>(A.offsets);
  const auto* col = static_cast<const I*>(A.columns);
  std::vector<T> sums(static_cast<std::size_t>(s.y->size), T(0));
  for (std::int64_t row = 0; row < A.rows; ++row) {
    for (std::int64_t i = row_ptr[row] - A.base; i < row_ptr[row + 1] - A.base; ++i) {
      const std::int64_t column = col[i] - A.base;
      if (s.transposes())
        sums[static_cast<std::size_t>(column)] += values[i] * x[row];
      else
        sums[static_cast<std::size_t>(row)] += values[i] * x[column];
    }
  }
  for (std::int64_t i = 0; i < s.y->size; ++i) {
    const T scaled = alpha * sums[static_cast<std::size_t>(i)];
    y[i] = beta == T(0) ? scaled : scaled + beta * y[i];
  }
  call.wrote(y, region_y);
  return true;
}

bool work(Call& call, const cusparseContext& handle, const Spmv& s, const void* buffer, bool computes) {
  double a = 0, b = 0;  // room for either type
  if (!scalar(call, handle, "alpha", s.alpha, bytes_of(s.type), &a) ||
      !scalar(call, handle, "beta", s.beta, bytes_of(s.type), &b) ||
      !call.fits("the buffer", buffer, library::vector(kBufferBytes, 1, 1))) {
    return false;
  }
  if (!computes) return true;
  const auto multiplied = [&](auto value) {
    using T = decltype(value);
    return s.A->index_type == CUSPARSE_INDEX_64I ? multiply<T, std::int64_t>(call, s, &a, &b)
                                                 : multiply<T, std::int32_t>(call, s, &a, &b);
  };
  return s.type == CUDA_R_32F ? multiplied(0.0f) : multiplied(0.0);
}

cusparseStatus_t run(const char* function, const Spmv& s, const void* buffer, bool computes, void* site) {
  if (const cusparseStatus_t status = s.judge()) return status;
  if (library::is_captured(s.handle->stream)) {
    // What the descriptors say now.
    const auto as_now = [s, buffer, computes, handle = *s.handle, A = *s.A, x = *s.x, y = *s.y](Call& call) {
      Spmv then = s;
      then.A = &A;
      then.x = &x;
      then.y = &y;
      return work(call, handle, then, buffer, computes);
    };
    return library::capture(function, s.handle->stream, site, s.handle, as_now) ? CUSPARSE_STATUS_SUCCESS
                                                                                : CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  Call call(function, s.handle->stream, site);
  if (!call.ready() || !work(call, *s.handle, s, buffer, computes)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  if (computes) call.done(s.handle);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t create_csr(cusparseSpMatDescr** matrix, std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                            const void* offsets, const void* columns, const void* values,
                            cusparseIndexType_t offsets_type, cusparseIndexType_t columns_type,
                            cusparseIndexBase_t base, cudaDataType type) {
  if (matrix == nullptr || rows < 0 || cols < 0 || nnz < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  if (cols == 0 || rows == 0 ? nnz > 0 : nnz / rows > cols) return CUSPARSE_STATUS_INVALID_VALUE;
  if (base != CUSPARSE_INDEX_BASE_ZERO && base != CUSPARSE_INDEX_BASE_ONE) return CUSPARSE_STATUS_INVALID_VALUE;
  if (offsets == nullptr || (nnz > 0 && (columns == nullptr || values == nullptr)))
    return CUSPARSE_STATUS_INVALID_VALUE;
  const bool index_types =
      offsets_type == columns_type && (offsets_type == CUSPARSE_INDEX_32I || offsets_type == CUSPARSE_INDEX_64I);
  if (!index_types || !is_real(type)) {
    library::not_supported("cusparseCreateCsr", "these types of indices or values");
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  *matrix = add(cusparseSpMatDescr{rows, cols, nnz, offsets, columns, values, offsets_type, base, type});
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t create_vector(cusparseDnVecDescr** vector, std::int64_t size, const void* values, cudaDataType type) {
  if (vector == nullptr || size < 0 || (size > 0 && values == nullptr)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_real(type)) {
    library::not_supported("cusparseCreateDnVec", "this type of values");
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  *vector = add(cusparseDnVecDescr{size, values, type});
  return CUSPARSE_STATUS_SUCCESS;
}

struct StatusText {
  cusparseStatus_t status;
  const char* name;
  const char* text;
};
#define TILEWISE_STATUS(name, text) \
  { name, #name, text }
constexpr StatusText kStatus[] = {
    TILEWISE_STATUS(CUSPARSE_STATUS_SUCCESS, "success"),
    TILEWISE_STATUS(CUSPARSE_STATUS_NOT_INITIALIZED, "initialization error"),
    TILEWISE_STATUS(CUSPARSE_STATUS_ALLOC_FAILED, "out of memory"),
    TILEWISE_STATUS(CUSPARSE_STATUS_INVALID_VALUE, "invalid value"),
    TILEWISE_STATUS(CUSPARSE_STATUS_ARCH_MISMATCH, "architecture mismatch"),
    TILEWISE_STATUS(CUSPARSE_STATUS_MAPPING_ERROR, "texture failure"),
    TILEWISE_STATUS(CUSPARSE_STATUS_EXECUTION_FAILED, "kernel launch failure"),
    TILEWISE_STATUS(CUSPARSE_STATUS_INTERNAL_ERROR, "internal error"),
    TILEWISE_STATUS(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported"),
    TILEWISE_STATUS(CUSPARSE_STATUS_ZERO_PIVOT, "zero pivot"),
    TILEWISE_STATUS(CUSPARSE_STATUS_NOT_SUPPORTED, "operation not supported"),
    TILEWISE_STATUS(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, "insufficient resources"),
};
#undef TILEWISE_STATUS

}  // namespace
}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- the handle

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  if (handle == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (sticky_error() != cudaSuccess) return CUSPARSE_STATUS_NOT_INITIALIZED;
  *handle = add(cusparseContext{});
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  return remove(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  return with_handle(handle, [=](cusparseContext&) {
    if (version == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUSPARSE_STATUS_INVALID_VALUE;
  const int numbers[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
  *value = numbers[type];
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return with_handle(handle, [=](cusparseContext& h) {
    if (!is_stream(stream)) return CUSPARSE_STATUS_INVALID_VALUE;
    h.stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return with_handle(handle, [=](cusparseContext& h) {
    if (stream == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *stream = h.stream;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  return with_handle(handle, [=](cusparseContext& h) {
    if (mode != CUSPARSE_POINTER_MODE_HOST && mode != CUSPARSE_POINTER_MODE_DEVICE)
      return CUSPARSE_STATUS_INVALID_VALUE;
    h.pointers = mode;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return with_handle(handle, [=](cusparseContext& h) {
    if (mode == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *mode = h.pointers;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

const char* cusparseGetErrorName(cusparseStatus_t status) {
  for (const auto& known : kStatus) {
    if (known.status == status) return known.name;
  }
  return "unrecognized error code";
}

const char* cusparseGetErrorString(cusparseStatus_t status) {
  for (const auto& known : kStatus) {
    if (known.status == status) return known.text;
  }
  return "unrecognized error code";
}

// ---------------------------------------------------------------- matrices and vectors

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                   void* rowOffsets, void* colInd, void* values, cusparseIndexType_t rowOffsetsType,
                                   cusparseIndexType_t colIndType, cusparseIndexBase_t base, cudaDataType valueType) {
  return create_csr(matrix, rows, cols, nnz, rowOffsets, colInd, values, rowOffsetsType, colIndType, base, valueType);
}

cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                        const void* rowOffsets, const void* colInd, const void* values,
                                        cusparseIndexType_t rowOffsetsType, cusparseIndexType_t colIndType,
                                        cusparseIndexBase_t base, cudaDataType valueType) {
  return create_csr(const_cast<cusparseSpMatDescr**>(matrix), rows, cols, nnz, rowOffsets, colInd, values,
                    rowOffsetsType, colIndType, base, valueType);
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  return remove(matrix) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* rowOffsets, void* colInd, void* values) {
  if (!exists(matrix) || rowOffsets == nullptr || colInd == nullptr || values == nullptr) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  matrix->offsets = rowOffsets;
  matrix->columns = colInd;
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* cols, int64_t* nnz) {
  if (!exists(matrix) || rows == nullptr || cols == nullptr || nnz == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *rows = matrix->rows;
  *cols = matrix->cols;
  *nnz = matrix->nnz;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t* format) {
  if (!exists(matrix) || format == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *format = CUSPARSE_FORMAT_CSR;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix, cusparseIndexBase_t* base) {
  if (!exists(matrix) || base == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *base = matrix->base;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  if (!exists(matrix) || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *values = const_cast<void*>(matrix->values);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) {
  if (!exists(matrix) || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values, cudaDataType valueType) {
  return create_vector(vector, size, values, valueType);
}

cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector, int64_t size, const void* values,
                                          cudaDataType valueType) {
  return create_vector(const_cast<cusparseDnVecDescr**>(vector), size, values, valueType);
}

cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  return remove(vector) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* size, void** values, cudaDataType* valueType) {
  if (!exists(vector) || size == nullptr || values == nullptr || valueType == nullptr)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *size = vector->size;
  *values = const_cast<void*>(vector->values);
  *valueType = vector->type;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  if (!exists(vector) || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *values = const_cast<void*>(vector->values);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
  if (!exists(vector) || (vector->size > 0 && values == nullptr)) return CUSPARSE_STATUS_INVALID_VALUE;
  vector->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

// ---------------------------------------------------------------- what a matrix is, for cuSPARSE's older functions

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

namespace {

template <class Value>
cusparseStatus_t set(cusparseMatDescr_t matrix, Value cusparseMatDescr::*member, Value value, Value most) {
  if (!exists(matrix) || value < Value(0) || value > most) return CUSPARSE_STATUS_INVALID_VALUE;
  matrix->*member = value;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Value>
Value get(cusparseMatDescr_t matrix, Value cusparseMatDescr::*member) {
  return exists(matrix) ? matrix->*member : cusparseMatDescr{}.*member;
}

}  // namespace

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* matrix) {
  if (matrix == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *matrix = add(cusparseMatDescr{});
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix) {
  return matrix == nullptr || remove(matrix) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t matrix, cusparseMatrixType_t type) {
  return set(matrix, &cusparseMatDescr::type, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR);
}
cusparseMatrixType_t cusparseGetMatType(cusparseMatDescr_t matrix) { return get(matrix, &cusparseMatDescr::type); }
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t matrix, cusparseFillMode_t fill) {
  return set(matrix, &cusparseMatDescr::fill, fill, CUSPARSE_FILL_MODE_UPPER);
}
cusparseFillMode_t cusparseGetMatFillMode(cusparseMatDescr_t matrix) { return get(matrix, &cusparseMatDescr::fill); }
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t matrix, cusparseDiagType_t diagonal) {
  return set(matrix, &cusparseMatDescr::diagonal, diagonal, CUSPARSE_DIAG_TYPE_UNIT);
}
cusparseDiagType_t cusparseGetMatDiagType(cusparseMatDescr_t matrix) {
  return get(matrix, &cusparseMatDescr::diagonal);
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t matrix, cusparseIndexBase_t base) {
  return set(matrix, &cusparseMatDescr::base, base, CUSPARSE_INDEX_BASE_ONE);
}
cusparseIndexBase_t cusparseGetMatIndexBase(cusparseMatDescr_t matrix) { return get(matrix, &cusparseMatDescr::base); }

// ---------------------------------------------------------------- SpMV

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm,
                                         size_t* bytes) {
  const cusparseStatus_t status = Spmv{handle, op, alpha, beta, A, x, y, computeType, algorithm}.judge();
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  if (bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm,
                                         void* buffer) {
  return run("cusparseSpMV_preprocess", {handle, op, alpha, beta, A, x, y, computeType, algorithm}, buffer, false,
             TILEWISE_CALLER);
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm,
                              void* buffer) {
  return run("cusparseSpMV", {handle, op, alpha, beta, A, x, y, computeType, algorithm}, buffer, true, TILEWISE_CALLER);
}
