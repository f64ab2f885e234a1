// cuBLAS's part of the simulator: the calls' checks and status codes are cuBLAS's, the arithmetic is Eigen's.
//
// Every routine has the same three steps: judge the arguments (as cuBLAS does, before any work), judge the memory that
// they point to (what a GPU would fault on, or read past, is a finding), compute.
#include "cublas_v2.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "libraries/matrices.hpp"
#include "runtime/api.hpp"
#include "runtime/library.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace tilewise::sim {
namespace {

using namespace blas;

// Never destroyed: programs destroy handles in destructors of their own static objects.
std::vector<std::unique_ptr<cublasContext>>& handles() {
  static auto* owners = new std::vector<std::unique_ptr<cublasContext>>;
  return *owners;
}

bool is_handle(cublasHandle_t handle) {
  const DeviceLock lock(device_mutex());
  return handle && std::any_of(handles().begin(), handles().end(), [=](auto& h) { return h.get() == handle; });
}

/// Body of the calls that only look at the handle or change it.
template <class Body>
cublasStatus_t with_handle(cublasHandle_t handle, Body body) {
  const DeviceLock lock(device_mutex());
  return is_handle(handle) ? body(*handle) : CUBLAS_STATUS_NOT_INITIALIZED;
}

/// Body of the calls that compute: `body(call, handle)` is the work, once the arguments are known to be `valid`.
template <class Body>
cublasStatus_t compute(const char* function, cublasHandle_t handle, bool valid, void* site, Body body) {
  const auto refuse = [](cublasStatus_t status) { return library::note_failure(status), status; };
  if (!is_handle(handle)) return refuse(CUBLAS_STATUS_NOT_INITIALIZED);
  if (!valid) return refuse(CUBLAS_STATUS_INVALID_VALUE);
  if (library::is_captured(handle->stream)) {
    const auto work = [body, settings = *handle](Call& call) mutable { return body(call, settings); };
    return library::capture(function, handle->stream, site, handle, work) ? CUBLAS_STATUS_SUCCESS
                                                                          : refuse(CUBLAS_STATUS_EXECUTION_FAILED);
  }
  Call call(function, handle->stream, site);
  if (!call.ready() || !(launches_only || body(call, *handle))) return refuse(CUBLAS_STATUS_EXECUTION_FAILED);
  call.done(handle);
  return CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------- scalars and results: host or device, as the handle
// says

Scalars scalars(const cublasContext& handle) {
  return {handle.pointers == CUBLAS_POINTER_MODE_DEVICE,
          "but the handle's pointer mode is CUBLAS_POINTER_MODE_HOST: the CPU would crash here; pass a host variable, "
          "or call cublasSetPointerMode",
          "but the handle's pointer mode is CUBLAS_POINTER_MODE_DEVICE: the GPU would fault here"};
}

template <class T>
bool scalar(Call& call, const cublasContext& handle, const char* name, const T* p, T& value) {
  return blas::scalar(call, scalars(handle), name, p, value);
}

/// Asked first by routines whose result is a number.
bool may_deliver(Call& call, const cublasContext& handle) {
  return handle.pointers == CUBLAS_POINTER_MODE_DEVICE || call.may_deliver_to_host();
}

template <class T>
bool deliver(Call& call, const cublasContext& handle, T* result, T value) {
  if (!usable(call, scalars(handle), "result", result, sizeof(T), false)) return false;
  *result = value;
  call.wrote(result, library::vector(1, 1, sizeof(T)));
  if (handle.pointers == CUBLAS_POINTER_MODE_HOST) call.host_waits();
  return true;
}

// ---------------------------------------------------------------- vectors

/// First element of a vector of n: with a negative increment it is the last one in memory.
template <class T>
T* first(T* x, std::int64_t n, std::int64_t increment) {
  return increment < 0 ? x - (n - 1) * increment : x;
}

template <class T>
Vector<T> load(const T* x, std::int64_t n, std::int64_t increment) {
  Vector<T> v(n);
  const T* from = first(x, n, increment);
  for (std::int64_t i = 0; i < n; ++i) v[i] = from[i * increment];
  return v;
}

template <class T>
void store(T* x, std::int64_t n, std::int64_t increment, const Vector<T>& v) {
  T* to = first(x, n, increment);
  for (std::int64_t i = 0; i < n; ++i) to[i * increment] = v[i];
}

/// What is summed in single precision would lose more in one sum over all elements than cuBLAS does, which sums them in parts.
template <class T>
Vector<double> in_double(const Vector<T>& v) {
  return v.template cast<double>();
}

template <class T>
Region vector_of(std::int64_t n, std::int64_t increment) {
  return library::vector(n, increment, sizeof(T));
}

template <class T>
cublasStatus_t dot(const char* name, cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,
                   T* result, void* site) {
  return compute(name, handle, result != nullptr, site, [=](Call& call, cublasContext& h) {
    if (!may_deliver(call, h)) return false;
    if (n <= 0) return deliver(call, h, result, T(0));
    if (!call.readable("x", x, vector_of<T>(n, incx)) || !call.readable("y", y, vector_of<T>(n, incy))) return false;
    const auto a = in_double(load(x, n, incx)), b = in_double(load(y, n, incy));
    return deliver(call, h, result, static_cast<T>(a.dot(b)));
  });
}

/// Routines of one vector and one result; with n or the increment not positive the result is 0.
template <class T, class R, class F>
cublasStatus_t reduce(const char* name, cublasHandle_t handle, int n, const T* x, int incx, R* result, void* site,
                      F f) {
  return compute(name, handle, result != nullptr, site, [=](Call& call, cublasContext& h) {
    if (!may_deliver(call, h)) return false;
    if (n <= 0 || incx <= 0) return deliver(call, h, result, R(0));
    if (!call.readable("x", x, vector_of<T>(n, incx))) return false;
    return deliver(call, h, result, R(f(load(x, n, incx))));
  });
}

/// Position, from 1, of the first element that `better` prefers to all before it.
template <class T, class Better>
int position(const Vector<T>& v, Better better) {
  Eigen::Index best = 0;
  for (Eigen::Index i = 1; i < v.size(); ++i) {
    if (better(std::abs(v[i]), std::abs(v[best]))) best = i;
  }
  return static_cast<int>(best) + 1;
}

template <class T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,
                    int incy, void* site) {
  return compute(name, handle, alpha != nullptr, site, [=](Call& call, cublasContext& h) {
    T a{};
    if (!scalar(call, h, "alpha", alpha, a)) return false;
    if (n <= 0 || a == T(0)) return true;
    if (!call.readable("x", x, vector_of<T>(n, incx)) || !call.readable("y", y, vector_of<T>(n, incy))) return false;
    store<T>(y, n, incy, a * load(x, n, incx) + load(y, n, incy));
    call.wrote(y, vector_of<T>(n, incy));
    return true;
  });
}

template <class T>
cublasStatus_t scal(const char* name, cublasHandle_t handle, int n, const T* alpha, T* x, int incx, void* site) {
  return compute(name, handle, alpha != nullptr, site, [=](Call& call, cublasContext& h) {
    T a{};
    if (!scalar(call, h, "alpha", alpha, a)) return false;
    if (n <= 0 || incx <= 0) return true;
    if (!call.readable("x", x, vector_of<T>(n, incx))) return false;
    store<T>(x, n, incx, a * load(x, n, incx));
    call.wrote(x, vector_of<T>(n, incx));
    return true;
  });
}

template <class T>
cublasStatus_t copy_vector(const char* name, cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy,
                           void* site) {
  return compute(name, handle, true, site, [=](Call& call, cublasContext&) {
    if (n <= 0) return true;
    if (!call.readable("x", x, vector_of<T>(n, incx)) || !call.fits("y", y, vector_of<T>(n, incy))) return false;
    store<T>(y, n, incy, load(x, n, incx));
    call.wrote(y, vector_of<T>(n, incy));
    return true;
  });
}

template <class T>
cublasStatus_t swap(const char* name, cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, void* site) {
  return compute(name, handle, true, site, [=](Call& call, cublasContext&) {
    if (n <= 0) return true;
    if (!call.readable("x", x, vector_of<T>(n, incx)) || !call.readable("y", y, vector_of<T>(n, incy))) return false;
    const Vector<T> was_x = load<T>(x, n, incx);
    store<T>(x, n, incx, load<T>(y, n, incy));
    store<T>(y, n, incy, was_x);
    return true;
  });
}

// ---------------------------------------------------------------- matrices

/// What is the same in all routines C = alpha op(A) op(B) + beta C.
struct Product {
  cublasOperation_t op_a, op_b;
  int m, n, k, lda, ldb, ldc;

  bool valid() const {
    return is_operation(op_a) && is_operation(op_b) && m >= 0 && n >= 0 && k >= 0 &&
           lda >= std::max(1, transposes(op_a) ? k : m) && ldb >= std::max(1, transposes(op_b) ? n : k) &&
           ldc >= std::max(1, m);
  }
  Stored A(const void* data, cudaDataType type) const {
    return transposes(op_a) ? Stored{"A", data, type, k, m, lda} : Stored{"A", data, type, m, k, lda};
  }
  Stored B(const void* data, cudaDataType type) const {
    return transposes(op_b) ? Stored{"B", data, type, n, k, ldb} : Stored{"B", data, type, k, n, ldb};
  }
  Stored C(const void* data, cudaDataType type) const { return {"C", data, type, m, n, ldc}; }

  template <class T>
  bool run(Call& call, T alpha, const void* a, cudaDataType type_a, const void* b, cudaDataType type_b, T beta, void* c,
           cudaDataType type_c, Inputs inputs) const {
    return multiply<T>(call, op_a, op_b, k, alpha, A(a, type_a), B(b, type_b), beta, C(c, type_c), C(c, type_c),
                       inputs);
  }
};

Inputs inputs_of(const cublasContext& handle) {
  return (handle.math & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH ? Inputs::tf32 : Inputs::exact;
}

template <class T>
cublasStatus_t gemm(const char* name, cublasHandle_t handle, const Product& product, const T* alpha, const T* A,
                    const T* B, const T* beta, T* C, void* site) {
  const bool valid = product.valid() && alpha != nullptr && beta != nullptr;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    T a{}, b{};
    if (!scalar(call, h, "alpha", alpha, a) || !scalar(call, h, "beta", beta, b)) return false;
    return product.run<T>(call, a, A, type_of<T>, B, type_of<T>, b, C, type_of<T>, inputs_of(h));
  });
}

template <class T>
cublasStatus_t gemm_strided(const char* name, cublasHandle_t handle, const Product& product, const T* alpha, const T* A,
                            long long stride_a, const T* B, long long stride_b, const T* beta, T* C, long long stride_c,
                            int count, void* site) {
  const bool valid = product.valid() && alpha != nullptr && beta != nullptr && count >= 0;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    T a{}, b{};
    if (!scalar(call, h, "alpha", alpha, a) || !scalar(call, h, "beta", beta, b)) return false;
    for (int i = 0; i < count; ++i) {
      if (!product.run<T>(call, a, A + i * stride_a, type_of<T>, B + i * stride_b, type_of<T>, b, C + i * stride_c,
                          type_of<T>, inputs_of(h))) {
        return false;
      }
    }
    return true;
  });
}

template <class T>
cublasStatus_t gemm_batched(const char* name, cublasHandle_t handle, const Product& product, const T* alpha,
                            const T* const A[], const T* const B[], const T* beta, T* const C[], int count,
                            void* site) {
  const bool valid = product.valid() && alpha != nullptr && beta != nullptr && count >= 0;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    T a{}, b{};
    if (!scalar(call, h, "alpha", alpha, a) || !scalar(call, h, "beta", beta, b)) return false;
    if (product.m == 0 || product.n == 0) return true;
    const Region list = vector_of<void*>(count, 1);  // the lists of pointers are in device memory, too
    if (!call.readable("Aarray", A, list) || !call.readable("Barray", B, list) || !call.readable("Carray", C, list)) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      if (!product.run<T>(call, a, A[i], type_of<T>, B[i], type_of<T>, b, C[i], type_of<T>, inputs_of(h))) return false;
    }
    return true;
  });
}

template <class T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,
                    const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy, void* site) {
  const bool valid = is_operation(op) && m >= 0 && n >= 0 && lda >= std::max(1, m) && incx != 0 && incy != 0 &&
                     alpha != nullptr && beta != nullptr;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    T a{}, b{};
    if (!scalar(call, h, "alpha", alpha, a) || !scalar(call, h, "beta", beta, b)) return false;
    if (m == 0 || n == 0) return true;
    const int length_x = transposes(op) ? m : n;
    const int length_y = transposes(op) ? n : m;
    const Stored matrix{"A", A, type_of<T>, m, n, lda};
    const Region region_y = vector_of<T>(length_y, incy);
    if (!(b == T(0) ? call.fits("y", y, region_y) : call.readable("y", y, region_y))) return false;
    Vector<T> sum = Vector<T>::Zero(length_y);
    if (a != T(0)) {
      const Region region_x = vector_of<T>(length_x, incx);
      if (!call.readable("A", A, matrix.region()) || !call.readable("x", x, region_x)) return false;
      if (!call.apart("y", y, region_y, "x", x, region_x) || !call.apart("y", y, region_y, "A", A, matrix.region())) {
        return false;
      }
      sum.noalias() = load<T>(matrix, op) * load(x, length_x, incx);
      sum *= a;
    }
    if (b != T(0)) sum += b * load<T>(y, length_y, incy);
    store(y, length_y, incy, sum);
    call.wrote(y, region_y);
    return true;
  });
}

template <class T>
cublasStatus_t ger(const char* name, cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,
                   const T* y, int incy, T* A, int lda, void* site) {
  const bool valid = m >= 0 && n >= 0 && incx != 0 && incy != 0 && lda >= std::max(1, m) && alpha != nullptr;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    T a{};
    if (!scalar(call, h, "alpha", alpha, a)) return false;
    if (m == 0 || n == 0 || a == T(0)) return true;
    const Stored matrix{"A", A, type_of<T>, m, n, lda};
    if (!call.readable("x", x, vector_of<T>(m, incx)) || !call.readable("y", y, vector_of<T>(n, incy)) ||
        !call.readable("A", A, matrix.region()) ||
        !call.apart("A", A, matrix.region(), "x", x, vector_of<T>(m, incx)) ||
        !call.apart("A", A, matrix.region(), "y", y, vector_of<T>(n, incy))) {
      return false;
    }
    const Vector<T> column = a * load(x, m, incx), row = load(y, n, incy);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) A[i + static_cast<std::int64_t>(j) * lda] += column[i] * row[j];
    }
    return true;
  });
}

template <class T>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc,
                    void* site) {
  // In place only as it is: not transposed, and with the same leading dimension.
  const bool in_place_a = C != A || (op_a == CUBLAS_OP_N && lda == ldc);
  const bool in_place_b = C != B || (op_b == CUBLAS_OP_N && ldb == ldc);
  const bool valid = is_operation(op_a) && is_operation(op_b) && m >= 0 && n >= 0 &&
                     lda >= std::max(1, transposes(op_a) ? n : m) && ldb >= std::max(1, transposes(op_b) ? n : m) &&
                     ldc >= std::max(1, m) && alpha != nullptr && beta != nullptr && in_place_a && in_place_b;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    T a{}, b{};
    if (!scalar(call, h, "alpha", alpha, a) || !scalar(call, h, "beta", beta, b)) return false;
    if (m == 0 || n == 0) return true;
    const Stored out{"C", C, type_of<T>, m, n, ldc};
    if (!call.fits("C", C, out.region())) return false;
    Matrix<T> sum = Matrix<T>::Zero(m, n);
    const auto add = [&](const char* letter, const T* data, cublasOperation_t op, int ld, T factor) {
      if (factor == T(0)) return true;  // then the matrix is not looked at, and may be null
      const Stored in{letter, data, type_of<T>, transposes(op) ? n : m, transposes(op) ? m : n, ld};
      if (!call.readable(letter, data, in.region())) return false;
      if (data != C && !call.apart("C", C, out.region(), letter, data, in.region())) return false;
      sum += factor * load<T>(in, op);
      return true;
    };
    if (!add("A", A, op_a, lda, a) || !add("B", B, op_b, ldb, b)) return false;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) C[i + static_cast<std::int64_t>(j) * ldc] = sum(i, j);
    }
    call.wrote(C, out.region());
    return true;
  });
}

// ---------------------------------------------------------------- copies between host and device

/// Without a stream the call returns when the copy is done.
cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void* from, int from_ld, void* to, int to_ld,
                           cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (rows < 0 || cols < 0 || bytes <= 0 || from_ld < std::max(1, rows) || to_ld < std::max(1, rows)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows == 0 || cols == 0) return CUBLAS_STATUS_SUCCESS;
  const std::size_t size = static_cast<std::size_t>(bytes);
  const std::size_t height = static_cast<std::size_t>(cols);
  const cudaError_t error =
      stream == nullptr ? cudaMemcpy2D(to, to_ld * size, from, from_ld * size, rows * size, height, kind)
                        : cudaMemcpy2DAsync(to, to_ld * size, from, from_ld * size, rows * size, height, kind, *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

/// A vector is a matrix of one row.
cublasStatus_t copy_vector(int n, int bytes, const void* from, int from_inc, void* to, int to_inc, cudaMemcpyKind kind,
                           const cudaStream_t* stream) {
  if (n < 0 || from_inc <= 0 || to_inc <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  return copy_matrix(1, n, bytes, from, from_inc, to, to_inc, kind, stream);
}

struct StatusText {
  cublasStatus_t status;
  const char* name;
  const char* text;
};
#define TILEWISE_STATUS(name, text) \
  { name, #name, text }
constexpr StatusText kStatus[] = {
    TILEWISE_STATUS(CUBLAS_STATUS_SUCCESS, "success"),
    TILEWISE_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"),
    TILEWISE_STATUS(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed"),
    TILEWISE_STATUS(CUBLAS_STATUS_INVALID_VALUE, "an unsupported value or parameter was passed to the function"),
    TILEWISE_STATUS(CUBLAS_STATUS_ARCH_MISMATCH, "the device lacks a feature that the function needs"),
    TILEWISE_STATUS(CUBLAS_STATUS_MAPPING_ERROR, "an access to GPU memory space failed"),
    TILEWISE_STATUS(CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch on the GPU"),
    TILEWISE_STATUS(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed"),
    TILEWISE_STATUS(CUBLAS_STATUS_NOT_SUPPORTED, "the functionality is not supported"),
    TILEWISE_STATUS(CUBLAS_STATUS_LICENSE_ERROR, "the licence was not found"),
};
#undef TILEWISE_STATUS

}  // namespace
}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- the handle

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const DeviceLock lock(device_mutex());
  if (sticky_error() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  handles().push_back(std::make_unique<cublasContext>());
  *handle = handles().back().get();
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  return with_handle(handle, [](cublasContext& h) {
    std::erase_if(handles(), [&](auto& owner) { return owner.get() == &h; });
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) {
  return with_handle(handle, [=](cublasContext&) {
    if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  const int numbers[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  *value = numbers[type];
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return with_handle(handle, [=](cublasContext& h) {
    if (!is_stream(stream)) return CUBLAS_STATUS_INVALID_VALUE;
    h.stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return with_handle(handle, [=](cublasContext& h) {
    if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *stream = h.stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return with_handle(handle, [=](cublasContext& h) {
    if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
    h.pointers = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return with_handle(handle, [=](cublasContext& h) {
    if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = h.pointers;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return with_handle(handle, [=](cublasContext& h) {
    const int flags = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    const int number = static_cast<int>(mode) & ~flags;
    if (number < CUBLAS_DEFAULT_MATH || number > CUBLAS_TF32_TENSOR_OP_MATH) return CUBLAS_STATUS_INVALID_VALUE;
    h.math = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return with_handle(handle, [=](cublasContext& h) {
    if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = h.math;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return with_handle(handle, [=](cublasContext& h) {
    if (mode != CUBLAS_ATOMICS_NOT_ALLOWED && mode != CUBLAS_ATOMICS_ALLOWED) return CUBLAS_STATUS_INVALID_VALUE;
    h.atomics = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return with_handle(handle, [=](cublasContext& h) {
    if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = h.atomics;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t) {
  return with_handle(handle, [=](cublasContext&) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0;
    return aligned ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  });
}

const char* cublasGetStatusName(cublasStatus_t status) {
  for (const auto& known : kStatus) {
    if (known.status == status) return known.name;
  }
  return "unknown status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  for (const auto& known : kStatus) {
    if (known.status == status) return known.text;
  }
  return "unknown status";
}

// ---------------------------------------------------------------- copies

cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* device, int incy) {
  return copy_vector(n, elemSize, x, incx, device, incy, cudaMemcpyHostToDevice, nullptr);
}
cublasStatus_t cublasGetVector(int n, int elemSize, const void* device, int incx, void* y, int incy) {
  return copy_vector(n, elemSize, device, incx, y, incy, cudaMemcpyDeviceToHost, nullptr);
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb) {
  return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, nullptr);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb) {
  return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, nullptr);
}
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* device, int incy,
                                    cudaStream_t stream) {
  return copy_vector(n, elemSize, x, incx, device, incy, cudaMemcpyHostToDevice, &stream);
}
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* device, int incx, void* y, int incy,
                                    cudaStream_t stream) {
  return copy_vector(n, elemSize, device, incx, y, incy, cudaMemcpyDeviceToHost, &stream);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream) {
  return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, &stream);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream) {
  return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, &stream);
}

// ---------------------------------------------------------------- the routines, for float and for double

// P is the letter in the name, p the same in the names of amax and amin, T the type.
#define TILEWISE_ROUTINES(P, p, T)                                                                                     \
  cublasStatus_t cublas##P##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result) { \
    return dot<T>("cublas" #P "dot", handle, n, x, incx, y, incy, result, TILEWISE_CALLER);                            \
  }                                                                                                                    \
  cublasStatus_t cublas##P##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {                      \
    return reduce("cublas" #P "nrm2", handle, n, x, incx, result, TILEWISE_CALLER,                                     \
                  [](const Vector<T>& v) { return static_cast<T>(in_double(v).stableNorm()); });                       \
  }                                                                                                                    \
  cublasStatus_t cublas##P##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result) {                      \
    return reduce("cublas" #P "asum", handle, n, x, incx, result, TILEWISE_CALLER,                                     \
                  [](const Vector<T>& v) { return static_cast<T>(in_double(v).cwiseAbs().sum()); });                   \
  }                                                                                                                    \
  cublasStatus_t cublasI##p##amax(cublasHandle_t handle, int n, const T* x, int incx, int* result) {                   \
    return reduce("cublasI" #p "amax", handle, n, x, incx, result, TILEWISE_CALLER,                                    \
                  [](const Vector<T>& v) { return position(v, [](T a, T b) { return a > b; }); });                     \
  }                                                                                                                    \
  cublasStatus_t cublasI##p##amin(cublasHandle_t handle, int n, const T* x, int incx, int* result) {                   \
    return reduce("cublasI" #p "amin", handle, n, x, incx, result, TILEWISE_CALLER,                                    \
                  [](const Vector<T>& v) { return position(v, [](T a, T b) { return a < b; }); });                     \
  }                                                                                                                    \
  cublasStatus_t cublas##P##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) { \
    return axpy<T>("cublas" #P "axpy", handle, n, alpha, x, incx, y, incy, TILEWISE_CALLER);                           \
  }                                                                                                                    \
  cublasStatus_t cublas##P##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {                       \
    return scal<T>("cublas" #P "scal", handle, n, alpha, x, incx, TILEWISE_CALLER);                                    \
  }                                                                                                                    \
  cublasStatus_t cublas##P##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {                 \
    return copy_vector<T>("cublas" #P "copy", handle, n, x, incx, y, incy, TILEWISE_CALLER);                           \
  }                                                                                                                    \
  cublasStatus_t cublas##P##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {                       \
    return swap<T>("cublas" #P "swap", handle, n, x, incx, y, incy, TILEWISE_CALLER);                                  \
  }                                                                                                                    \
  cublasStatus_t cublas##P##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha,         \
                                 const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy) {           \
    return gemv<T>("cublas" #P "gemv", handle, trans, m, n, alpha, A, lda, x, incx, beta, y, incy, TILEWISE_CALLER);   \
  }                                                                                                                    \
  cublasStatus_t cublas##P##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, \
                                int incy, T* A, int lda) {                                                             \
    return ger<T>("cublas" #P "ger", handle, m, n, alpha, x, incx, y, incy, A, lda, TILEWISE_CALLER);                  \
  }                                                                                                                    \
  cublasStatus_t cublas##P##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,     \
                                 int n, int k, const T* alpha, const T* A, int lda, const T* B, int ldb,               \
                                 const T* beta, T* C, int ldc) {                                                       \
    return gemm<T>("cublas" #P "gemm", handle, Product{transa, transb, m, n, k, lda, ldb, ldc}, alpha, A, B, beta, C,  \
                   TILEWISE_CALLER);                                                                                   \
  }                                                                                                                    \
  cublasStatus_t cublas##P##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,     \
                                        int m, int n, int k, const T* alpha, const T* const Aarray[], int lda,         \
                                        const T* const Barray[], int ldb, const T* beta, T* const Carray[], int ldc,   \
                                        int batchCount) {                                                              \
    return gemm_batched<T>("cublas" #P "gemmBatched", handle, Product{transa, transb, m, n, k, lda, ldb, ldc}, alpha,  \
                           Aarray, Barray, beta, Carray, batchCount, TILEWISE_CALLER);                                 \
  }                                                                                                                    \
  cublasStatus_t cublas##P##gemmStridedBatched(                                                                        \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha,  \
      const T* A, int lda, long long int strideA, const T* B, int ldb, long long int strideB, const T* beta, T* C,     \
      int ldc, long long int strideC, int batchCount) {                                                                \
    return gemm_strided<T>("cublas" #P "gemmStridedBatched", handle, Product{transa, transb, m, n, k, lda, ldb, ldc},  \
                           alpha, A, strideA, B, strideB, beta, C, strideC, batchCount, TILEWISE_CALLER);              \
  }                                                                                                                    \
  cublasStatus_t cublas##P##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,     \
                                 int n, const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, \
                                 int ldc) {                                                                            \
    return geam<T>("cublas" #P "geam", handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc,              \
                   TILEWISE_CALLER);                                                                                   \
  }

TILEWISE_ROUTINES(S, s, float)
TILEWISE_ROUTINES(D, d, double)

// ---------------------------------------------------------------- cublasGemmEx and its strided batches

namespace {

/// A matrix of each product: its first one and how many elements lie between one and the next, or a list of them in device memory.
struct Batch {
  const void* data;
  cudaDataType type;
  long long stride = 0;
  bool is_list = false;

  const void* operator[](int i) const {
    if (is_list) return static_cast<const void* const*>(data)[i];
    return static_cast<const char*>(data) + i * stride * static_cast<long long>(bytes_of(type));
  }
  bool readable(Call& call, const char* name, int count) const {
    return !is_list || call.readable(name, data, vector_of<void*>(count, 1));
  }
};

/// What the products are computed in. Scalars have the type S, in half where S has 16 bits.
template <class T, class S>
cublasStatus_t gemm_ex_in(const char* name, cublasHandle_t handle, const Product& product, const void* alpha,
                          const Batch& A, const Batch& B, const void* beta, const Batch& C, int count,
                          cublasComputeType_t computeType, void* site) {
  const bool valid = product.valid() && alpha != nullptr && beta != nullptr && count >= 0;
  return compute(name, handle, valid, site, [=](Call& call, cublasContext& h) {
    S factors[2] = {};
    if (!scalar(call, h, "alpha", static_cast<const S*>(alpha), factors[0]) ||
        !scalar(call, h, "beta", static_cast<const S*>(beta), factors[1])) {
      return false;
    }
    const auto value = [&](int i) {
      return sizeof(S) == 2 ? number<T>(factors, CUDA_R_16F, i) : static_cast<T>(factors[i]);
    };
    Inputs inputs = Inputs::exact;
    if (A.type == CUDA_R_32F) {
      if (computeType == CUBLAS_COMPUTE_32F) inputs = inputs_of(h);
      if (computeType == CUBLAS_COMPUTE_32F_FAST_TF32) inputs = Inputs::tf32;
      if (computeType == CUBLAS_COMPUTE_32F_FAST_16F) inputs = Inputs::half;
      if (computeType == CUBLAS_COMPUTE_32F_FAST_16BF) inputs = Inputs::bfloat16;
    }
    if (product.m == 0 || product.n == 0) return true;
    if (!A.readable(call, "Aarray", count) || !B.readable(call, "Barray", count) || !C.readable(call, "Carray", count))
      return false;
    for (int i = 0; i < count; ++i) {
      if (!product.run<T>(call, value(0), A[i], A.type, B[i], B.type, value(1), const_cast<void*>(C[i]), C.type,
                          inputs)) {
        return false;
      }
    }
    return true;
  });
}

cublasStatus_t gemm_ex(const char* name, cublasHandle_t handle, const Product& product, const void* alpha,
                       const Batch& A, const Batch& B, const void* beta, const Batch& C, int count,
                       cublasComputeType_t computeType, void* site) {
  const auto in = [&]<class T, class S>(T, S) {
    return gemm_ex_in<T, S>(name, handle, product, alpha, A, B, beta, C, count, computeType, site);
  };
  const auto are = [&](cudaDataType inputs, cudaDataType output) {
    return A.type == inputs && B.type == inputs && C.type == output;
  };
  switch (computeType) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      if (are(CUDA_R_64F, CUDA_R_64F)) return in(double(), double());
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case CUBLAS_COMPUTE_16F:  // sums in float, rounded once
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      if (are(CUDA_R_16F, CUDA_R_16F)) return in(float(), std::uint16_t());
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (are(CUDA_R_8I, CUDA_R_32I) && product.lda % 4 == 0 && product.ldb % 4 == 0)
        return in(std::int32_t(), std::int32_t());
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      for (const cudaDataType type : {CUDA_R_16F, CUDA_R_16BF})
        if (are(type, type)) return in(float(), float());
      for (const cudaDataType type : {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F})
        if (are(type, CUDA_R_32F)) return in(float(), float());
      library::not_supported(name, "data types " + std::to_string(A.type) + ", " + std::to_string(B.type) + " and " +
                                       std::to_string(C.type));
      return CUBLAS_STATUS_NOT_SUPPORTED;
    default:
      library::not_supported(name, "compute type " + std::to_string(computeType));
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

}  // namespace

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t) {
  return gemm_ex("cublasGemmEx", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha, {A, Atype}, {B, Btype}, beta,
                 {C, Ctype}, 1, computeType, TILEWISE_CALLER);
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc) {
  return gemm_ex("cublasSgemmEx", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha, {A, Atype}, {B, Btype}, beta,
                 {C, Ctype}, 1, CUBLAS_COMPUTE_32F, TILEWISE_CALLER);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t) {
  return gemm_ex("cublasGemmStridedBatchedEx", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha,
                 {A, Atype, strideA}, {B, Btype, strideB}, beta, {C, Ctype, strideC}, batchCount, computeType,
                 TILEWISE_CALLER);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t) {
  return gemm_ex("cublasGemmBatchedEx", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha,
                 {Aarray, Atype, 0, true}, {Barray, Btype, 0, true}, beta, {Carray, Ctype, 0, true}, batchCount,
                 computeType, TILEWISE_CALLER);
}

// ---------------------------------------------------------------- products in half

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half* alpha, const __half* A, int lda, const __half* B, int ldb,
                           const __half* beta, __half* C, int ldc) {
  return gemm_ex("cublasHgemm", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha, {A, CUDA_R_16F},
                 {B, CUDA_R_16F}, beta, {C, CUDA_R_16F}, 1, CUBLAS_COMPUTE_16F, TILEWISE_CALLER);
}

cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const __half* alpha, const __half* const Aarray[], int lda,
                                  const __half* const Barray[], int ldb, const __half* beta, __half* const Carray[],
                                  int ldc, int batchCount) {
  return gemm_ex("cublasHgemmBatched", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha,
                 {Aarray, CUDA_R_16F, 0, true}, {Barray, CUDA_R_16F, 0, true}, beta, {Carray, CUDA_R_16F, 0, true},
                 batchCount, CUBLAS_COMPUTE_16F, TILEWISE_CALLER);
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const __half* alpha, const __half* A, int lda,
                                         long long int strideA, const __half* B, int ldb, long long int strideB,
                                         const __half* beta, __half* C, int ldc, long long int strideC,
                                         int batchCount) {
  return gemm_ex("cublasHgemmStridedBatched", handle, {transa, transb, m, n, k, lda, ldb, ldc}, alpha,
                 {A, CUDA_R_16F, strideA}, {B, CUDA_R_16F, strideB}, beta, {C, CUDA_R_16F, strideC}, batchCount,
                 CUBLAS_COMPUTE_16F, TILEWISE_CALLER);
}
