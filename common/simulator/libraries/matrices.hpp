// What cublas.cpp and cublasLt.cpp share: dense matrices in device memory, of types that may be narrower than the arithmetic.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cublas_v2.h"
#include "runtime/library.hpp"
#include "tilewise_device/half_format.hpp"

namespace tilewise::sim::blas {

using library::Call;
using library::Region;

template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

inline bool is_operation(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
inline bool transposes(cublasOperation_t op) { return op != CUBLAS_OP_N; }

/// How the inputs of a product are rounded before it.
enum class Inputs { exact, tf32, half, bfloat16 };

inline float round_input(float value, Inputs inputs) {
  using namespace half_detail;
  switch (inputs) {
    case Inputs::exact:
      return value;
    case Inputs::half:
      return Half::decode(Half::encode(value));
    case Inputs::bfloat16:
      return std::isnan(value) ? value : Bfloat16::decode(Bfloat16::encode(value));
    case Inputs::tf32:
      break;
  }
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffffe000u);  // tensor cores look no further
}
inline double round_input(double value, Inputs) { return value; }
inline std::int32_t round_input(std::int32_t value, Inputs) { return value; }

inline std::size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_8I:
      return 1;
    default:
      return 4;
  }
}

inline bool is_narrow(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

/// A matrix in device memory: rows x cols as stored, column-major or row-major.
struct Stored {
  const char* name;
  const void* data;
  cudaDataType type;
  std::int64_t rows, cols, ld;
  bool by_rows = false;

  Region region() const {
    Region r =
        by_rows ? library::matrix(cols, rows, ld, bytes_of(type)) : library::matrix(rows, cols, ld, bytes_of(type));
    r.by_rows = by_rows;
    return r;
  }
  std::int64_t at(std::int64_t i, std::int64_t j) const { return by_rows ? j + i * ld : i + j * ld; }
};

template <class T>
constexpr cudaDataType type_of = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

/// The number `at` elements from `data`.
template <class T>
T number(const void* data, cudaDataType type, std::int64_t at) {
  switch (type) {
    case CUDA_R_16F:
      return T(half_detail::Half::decode(static_cast<const std::uint16_t*>(data)[at]));
    case CUDA_R_16BF:
      return T(half_detail::Bfloat16::decode(static_cast<const std::uint16_t*>(data)[at]));
    case CUDA_R_8I:
      return T(static_cast<const std::int8_t*>(data)[at]);
    default:
      return static_cast<const T*>(data)[at];
  }
}

template <class T>
void set_number(void* data, cudaDataType type, std::int64_t at, T value) {
  switch (type) {
    case CUDA_R_16F:
      static_cast<std::uint16_t*>(data)[at] = half_detail::Half::encode(double(value));
      break;
    case CUDA_R_16BF:
      static_cast<std::uint16_t*>(data)[at] = half_detail::Bfloat16::encode(double(value));
      break;
    default:
      static_cast<T*>(data)[at] = value;
  }
}

template <class T>
T element(const Stored& m, std::int64_t i, std::int64_t j) {
  return number<T>(m.data, m.type, m.at(i, j));
}

template <class T>
void set_element(const Stored& m, std::int64_t i, std::int64_t j, T value) {
  set_number<T>(const_cast<void*>(m.data), m.type, m.at(i, j), value);
}

/// op(m), packed.
template <class T>
Matrix<T> load(const Stored& m, cublasOperation_t op, Inputs inputs = Inputs::exact) {
  Matrix<T> packed(m.rows, m.cols);
  for (std::int64_t j = 0; j < m.cols; ++j) {
    for (std::int64_t i = 0; i < m.rows; ++i) packed(i, j) = round_input(element<T>(m, i, j), inputs);
  }
  if (transposes(op)) packed = packed.transpose().eval();
  return packed;
}

/// Where scalars are, and how the text of a finding ends about one that is on the other side.
struct Scalars {
  bool on_device;
  const char* else_on_host;    ///< after "alpha is device memory (...), "
  const char* else_on_device;  ///< after "alpha is host memory, "
};

inline bool usable(Call& call, const Scalars& where, const char* name, const void* p, std::size_t bytes, bool read) {
  if (!where.on_device) return call.on_host(name, p, where.else_on_host);
  const Region one = library::vector(1, 1, bytes);
  if (memory::find(p) == nullptr && !memory::in_arenas(reinterpret_cast<std::uintptr_t>(p)) && p != nullptr) {
    call.finding("host-pointer", std::string(name) + " is host memory, " + where.else_on_device);
    return false;
  }
  return read ? call.readable(name, p, one) : call.fits(name, p, one);
}

template <class T>
bool scalar(Call& call, const Scalars& where, const char* name, const T* p, T& value) {
  if (!usable(call, where, name, p, sizeof(T), true)) return false;
  if (where.on_device)
    value = *p;
  else
    call.read_from_host(&value, p, sizeof value);
  return true;
}

/// What nothing is done to.
struct NoEpilogue {
  bool ready(Call&) const { return true; }
  template <class T>
  void apply(Call&, Matrix<T>&) const {}
};

/// One product D = alpha op(A) op(B) + beta C, once alpha and beta are known; C may be D. The epilogue is asked whether all is
/// `ready` before anything is computed, and changes the result before it's stored.
template <class T, class Epilogue = NoEpilogue>
bool multiply(Call& call, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t k, T alpha, const Stored& A,
              const Stored& B, T beta, const Stored& C, const Stored& D, Inputs inputs, Epilogue epilogue = {}) {
  if (D.rows == 0 || D.cols == 0) return true;
  const bool product = alpha != T(0) && k > 0;  // else A and B are not looked at
  if (product) {
    if (!call.readable(A.name, A.data, A.region()) || !call.readable(B.name, B.data, B.region())) return false;
    if (!call.apart(D.name, D.data, D.region(), A.name, A.data, A.region()) ||
        !call.apart(D.name, D.data, D.region(), B.name, B.data, B.region())) {
      return false;
    }
  }
  // What is in C is not looked at when beta is 0: not even a NaN.
  const bool in_place = C.data == D.data;
  if (beta != T(0) && !call.readable(C.name, C.data, C.region())) return false;
  if ((beta == T(0) || !in_place) && !call.fits(D.name, D.data, D.region())) return false;
  if (beta != T(0) && !in_place && !call.apart(D.name, D.data, D.region(), C.name, C.data, C.region())) return false;
  if (!epilogue.ready(call)) return false;

  Matrix<T> result = Matrix<T>::Zero(D.rows, D.cols);
  if (product) result.noalias() = load<T>(A, op_a, inputs) * load<T>(B, op_b, inputs);
  if (product) result *= alpha;
  if (beta != T(0)) {
    for (std::int64_t j = 0; j < D.cols; ++j) {
      for (std::int64_t i = 0; i < D.rows; ++i) result(i, j) += beta * element<T>(C, i, j);
    }
  }
  epilogue.apply(call, result);
  for (std::int64_t j = 0; j < D.cols; ++j) {
    for (std::int64_t i = 0; i < D.rows; ++i) set_element<T>(D, i, j, result(i, j));
  }
  call.wrote(const_cast<void*>(D.data), D.region());
  return true;
}

}  // namespace tilewise::sim::blas
