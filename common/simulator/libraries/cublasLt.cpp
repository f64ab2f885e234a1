// cuBLASLt's part of the simulator: objects that describe a matrix product, and the product. Objects are the program's
// own structs, as CUDA's are. A handle is one of cuBLAS's, which may be given for one of cuBLASLt's.
#include "cublasLt.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include "libraries/matrices.hpp"
#include "runtime/api.hpp"

namespace tilewise::sim::blas {
namespace {

// ---------------------------------------------------------------- objects

struct Layout {
  std::int32_t type = CUDA_R_32F;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0;
  std::int32_t batches = 1;
  std::int64_t stride = 0, plane_offset = 0;
};

struct Operation {
  std::int32_t compute = CUBLAS_COMPUTE_32F;
  std::int32_t scale = CUDA_R_32F;
  std::int32_t pointers = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N;
  std::int32_t fill = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_ld = 0, aux_stride = 0, alpha_stride = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t aux_type = -1, bias_type = -1;  // D's
  std::int8_t fast_sums = 0;
};

struct Preference {
  std::uint32_t search = CUBLASLT_SEARCH_BEST_FIT;
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 0x7;
  std::uint32_t alignment_a = 256, alignment_b = 256, alignment_c = 256, alignment_d = 256;
  float waves = 0;
  std::uint64_t implementations = ~0ull;
};

Layout& of(cublasLtMatrixLayout_t object) { return *reinterpret_cast<Layout*>(object); }
Operation& of(cublasLtMatmulDesc_t object) { return *reinterpret_cast<Operation*>(object); }
Preference& of(cublasLtMatmulPreference_t object) { return *reinterpret_cast<Preference*>(object); }
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Operation) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

template <class Object, class What>
cublasStatus_t init(Object* object, const What& what) {
  if (object == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *object = {};
  new (object) What(what);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Object, class What>
cublasStatus_t create(Object** object, const What& what) {
  if (object == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *object = new Object;
  return init(*object, what);
}

template <class Object>
cublasStatus_t destroy(Object* object) {
  if (object == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  delete object;
  return CUBLAS_STATUS_SUCCESS;
}

// `member(object, attribute, act)` calls `act` with the member that an attribute stands for.

constexpr cublasStatus_t kNoSuchAttribute = CUBLAS_STATUS_INVALID_VALUE;

template <class Act>
cublasStatus_t member(Layout& layout, int attribute, Act act) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return act(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return act(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return act(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return act(layout.cols);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return act(layout.ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return act(layout.batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return act(layout.stride);
    case CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET:
      return act(layout.plane_offset);
    default:
      return kNoSuchAttribute;
  }
}

template <class Act>
cublasStatus_t member(Operation& operation, int attribute, Act act) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return act(operation.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return act(operation.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return act(operation.pointers);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return act(operation.op_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return act(operation.op_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return act(operation.op_c);
    case CUBLASLT_MATMUL_DESC_FILL_MODE:
      return act(operation.fill);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return act(operation.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return act(operation.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return act(operation.bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return act(operation.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return act(operation.aux_ld);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return act(operation.aux_stride);
    case CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE:
      return act(operation.alpha_stride);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return act(operation.multiprocessors);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return act(operation.aux_type);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return act(operation.fast_sums);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return act(operation.bias_type);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER:
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_C_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_D_SCALE_MODE:
      library::not_supported("cublasLtMatmul", "scales of 8-bit numbers (attribute " + std::to_string(attribute) + ")");
      return CUBLAS_STATUS_NOT_SUPPORTED;
    default:
      return kNoSuchAttribute;
  }
}

template <class Act>
cublasStatus_t member(Preference& preference, int attribute, Act act) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
      return act(preference.search);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return act(preference.workspace);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return act(preference.reductions);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return act(preference.alignment_a);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return act(preference.alignment_b);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return act(preference.alignment_c);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return act(preference.alignment_d);
    case CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT:
      return act(preference.waves);
    case CUBLASLT_MATMUL_PREF_IMPL_MASK:
      return act(preference.implementations);
    default:
      return kNoSuchAttribute;
  }
}

template <class Object>
cublasStatus_t set(Object* object, int attribute, const void* from, std::size_t bytes) {
  if (object == nullptr || from == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return member(of(object), attribute, [=](auto& value) {
    if (bytes != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&value, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
  });
}

template <class Object>
cublasStatus_t get(Object* object, int attribute, void* to, std::size_t bytes, std::size_t* written) {
  if (object == nullptr || (bytes == 0 ? written == nullptr : to == nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  return member(of(object), attribute, [=](auto& value) {
    if (bytes != 0 && bytes != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes != 0) std::memcpy(to, &value, bytes);
    if (written != nullptr) *written = sizeof value;
    return CUBLAS_STATUS_SUCCESS;
  });
}

bool is_handle(cublasLtHandle_t handle) {
  int version = 0;
  return cublasGetVersion(reinterpret_cast<cublasHandle_t>(handle), &version) == CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------- epilogues

enum : std::uint32_t {
  kRelu = 2,
  kBias = 4,
  kReluGradient = 8,
  kBiasGradient = 16,
  kGelu = 32,
  kGeluGradient = 64,
  kAux = 128
};

bool is_epilogue(std::uint32_t e) {
  switch (e) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB:
      return true;
    default:
      return false;
  }
}
bool is_of_inputs(std::uint32_t e) { return e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB; }
bool has_bias(std::uint32_t e) { return (e & kBias) != 0; }
bool has_bias_gradient(std::uint32_t e) { return (e & kBiasGradient) != 0 || is_of_inputs(e); }
bool has_aux(std::uint32_t e) { return (e & kAux) != 0; }
bool has_mask(std::uint32_t e) { return has_aux(e) && (e & (kRelu | kReluGradient)) != 0; }
bool reads_aux(std::uint32_t e) { return (e & (kReluGradient | kGeluGradient)) != 0; }

double inner(double x) { return 0.7978845608028654 * (x + 0.044715 * x * x * x); }  // sqrt(2 / pi)
double gelu(double x) { return 0.5 * x * (1 + std::tanh(inner(x))); }
double gelu_gradient(double x) {
  const double t = std::tanh(inner(x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

/// What happens to one product's result, and the vector and matrix that take part.
template <class T>
struct Epilogue {
  std::uint32_t kind;
  std::int64_t rows, cols;
  void* bias;  // or its gradient
  cudaDataType bias_type;
  void* aux;  // what GELU was given, or a bit for each element: whether ReLU let it pass
  cudaDataType aux_type;
  std::int64_t aux_ld;
  Stored A, B;
  cublasOperation_t op_a, op_b;

  Region bias_region() const {
    return library::vector(kind == CUBLASLT_EPILOGUE_BGRADB ? cols : rows, 1, bytes_of(bias_type));
  }
  Region aux_region() const {
    return has_mask(kind) ? library::matrix((rows + 7) / 8, cols, aux_ld / 8, 1)
                          : library::matrix(rows, cols, aux_ld, bytes_of(aux_type));
  }

  bool ready(Call& call) const {
    if (has_bias(kind) && !call.readable("the bias", bias, bias_region())) return false;
    if (has_bias_gradient(kind) && !call.fits("the gradient of the bias", bias, bias_region())) return false;
    if (kind == CUBLASLT_EPILOGUE_BGRADA && !call.readable(A.name, A.data, A.region())) return false;
    if (kind == CUBLASLT_EPILOGUE_BGRADB && !call.readable(B.name, B.data, B.region())) return false;
    if (!has_aux(kind)) return true;
    return reads_aux(kind) ? call.readable("the epilogue's auxiliary matrix", aux, aux_region())
                           : call.fits("the epilogue's auxiliary matrix", aux, aux_region());
  }

  void apply(Call& call, Matrix<T>& result) const {
    if (has_bias(kind)) {
      for (std::int64_t i = 0; i < rows; ++i) result.row(i).array() += number<T>(bias, bias_type, i);
    }
    if (has_mask(kind) && !reads_aux(kind)) {
      for (std::int64_t j = 0; j < cols; ++j) {
        for (std::int64_t i = 0; i < rows; i += 8) {
          unsigned char bits = 0;
          for (std::int64_t k = i; k < std::min(rows, i + 8); ++k) bits |= (result(k, j) > T(0)) << (k - i);
          static_cast<unsigned char*>(aux)[j * (aux_ld / 8) + i / 8] = bits;
        }
      }
    }
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) apply(result(i, j), i, j);
    }
    if (has_aux(kind) && !reads_aux(kind)) call.wrote(aux, aux_region());
    if (!has_bias_gradient(kind)) return;
    Vector<T> sums;
    if (kind == CUBLASLT_EPILOGUE_BGRADA)
      sums = load<T>(A, op_a).rowwise().sum();
    else if (kind == CUBLASLT_EPILOGUE_BGRADB)
      sums = load<T>(B, op_b).colwise().sum().transpose();
    else
      sums = result.rowwise().sum();
    for (std::int64_t i = 0; i < sums.size(); ++i) set_number<T>(bias, bias_type, i, sums[i]);
    call.wrote(bias, bias_region());
  }

 private:
  void apply(T& x, std::int64_t i, std::int64_t j) const {
    if (kind & kRelu) x = x > T(0) || x != x ? x : T(0);
    if (kind & kReluGradient) {
      const unsigned char bits = static_cast<const unsigned char*>(aux)[j * (aux_ld / 8) + i / 8];
      if ((bits >> (i % 8) & 1) == 0) x = T(0);
    }
    const std::int64_t at = i + j * aux_ld;
    if (kind & kGelu) {
      if (has_aux(kind)) set_number<T>(aux, aux_type, at, x);
      x = T(gelu(double(x)));
    }
    if (kind & kGeluGradient) x = T(double(x) * gelu_gradient(double(number<T>(aux, aux_type, at))));
  }
};

// ---------------------------------------------------------------- the product

/// A call, its descriptions copied: a node of a graph keeps it.
struct Product {
  Operation operation;
  Layout a, b, c, d;

  cublasStatus_t judge(const char* function) const;
  cublasStatus_t judge_memory(std::size_t workspace_bytes) const;
  std::size_t workspace() const;  ///< bytes
  template <class T, class S>
  bool run(Call& call, const void* alpha, const void* A, const void* B, const void* beta, const void* C, void* D) const;

 private:
  std::int64_t k() const { return std::int64_t(transposes(cublasOperation_t(operation.op_a)) ? a.rows : a.cols); }
  Inputs inputs() const {
    if (a.type != CUDA_R_32F) return Inputs::exact;
    switch (operation.compute) {
      case CUBLAS_COMPUTE_32F_FAST_TF32:
        return Inputs::tf32;
      case CUBLAS_COMPUTE_32F_FAST_16F:
        return Inputs::half;
      case CUBLAS_COMPUTE_32F_FAST_16BF:
        return Inputs::bfloat16;
      default:
        return Inputs::exact;
    }
  }
};

/// Whether the types are among those that are computed here.
bool knows_types(const Operation& operation, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  if (a.type != b.type || c.type != d.type) return false;
  const auto are = [&](int inputs, int output, int scale) {
    return a.type == inputs && d.type == output && operation.scale == scale;
  };
  switch (operation.compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return are(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F);
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return are(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F);
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return are(CUDA_R_8I, CUDA_R_32I, CUDA_R_32I);
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      for (const int narrow : {CUDA_R_16F, CUDA_R_16BF})
        if (are(narrow, narrow, CUDA_R_32F) || are(narrow, CUDA_R_32F, CUDA_R_32F)) return true;
      return are(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F);
    default:
      return false;
  }
}

cublasStatus_t Product::judge(const char* function) const {
  const auto lacks = [&](const std::string& what) {
    library::not_supported(function, what);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  };
  const Operation& o = operation;
  if (!is_operation(cublasOperation_t(o.op_a)) || !is_operation(cublasOperation_t(o.op_b)) || !is_epilogue(o.epilogue))
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool flips_a = transposes(cublasOperation_t(o.op_a)), flips_b = transposes(cublasOperation_t(o.op_b));
  const std::uint64_t m = flips_a ? a.cols : a.rows, n = flips_b ? b.rows : b.cols;
  const bool fits = (flips_a ? a.rows : a.cols) == (flips_b ? b.cols : b.rows) && d.rows == m && d.cols == n &&
                    c.rows == m && c.cols == n;
  if (!fits || m == 0 || n == 0) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Layout* layout : {&a, &b, &c, &d}) {
    if (layout->order != CUBLASLT_ORDER_COL && layout->order != CUBLASLT_ORDER_ROW)
      return lacks("order " + std::to_string(layout->order) + " of a matrix");
    const std::uint64_t least = layout->order == CUBLASLT_ORDER_COL ? layout->rows : layout->cols;
    if (layout->ld < std::int64_t(least) || layout->batches < 1 || layout->batches != d.batches)
      return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!knows_types(o, a, b, c, d)) {
    return lacks("compute type " + std::to_string(o.compute) + ", scale type " + std::to_string(o.scale) +
                 " and data types " + std::to_string(a.type) + ", " + std::to_string(b.type) + ", " +
                 std::to_string(c.type) + " and " + std::to_string(d.type));
  }
  if (o.pointers != CUBLASLT_POINTER_MODE_HOST && o.pointers != CUBLASLT_POINTER_MODE_DEVICE)
    return lacks("pointer mode " + std::to_string(o.pointers));
  if (o.op_c != CUBLAS_OP_N || o.fill != CUBLAS_FILL_MODE_FULL) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (a.type == CUDA_R_8I) {
    if (k() % 4 != 0 || a.ld % 4 != 0 || b.ld % 4 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (c.order != d.order) return CUBLAS_STATUS_INVALID_VALUE;
  if (o.epilogue == CUBLASLT_EPILOGUE_BGRADB && !flips_b) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool plain = (o.epilogue & ~(std::uint32_t(CUBLASLT_EPILOGUE_DEFAULT) | kRelu | kGelu)) == 0;
  if (d.order == CUBLASLT_ORDER_ROW && !plain)
    return lacks("a bias or an auxiliary matrix where D is in order of rows");
  if (has_aux(o.epilogue)) {
    const auto row = has_mask(o.epilogue) ? 128 : std::int64_t(16 / bytes_of(cudaDataType(d.type)));
    if (o.aux_ld < std::int64_t(m) || o.aux_ld % row != 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (o.aux_type != -1 && o.aux_type != d.type && !has_mask(o.epilogue))
      return lacks("an auxiliary matrix of data type " + std::to_string(o.aux_type));
  }
  const bool biased = has_bias(o.epilogue) || has_bias_gradient(o.epilogue);
  if (biased && o.bias_type != -1 && o.bias_type != d.type) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

// Sums of a bias's gradient that pass through the workspace.
std::size_t Product::workspace() const {
  const std::uint32_t e = operation.epilogue;
  return reads_aux(e) && has_bias_gradient(e) ? d.rows * std::max<std::size_t>(4, bytes_of(cudaDataType(d.type))) + 31
                                              : 0;
}

// What an H100 said of each epilogue, with the pointers and the workspace and without them (CUDA 13.0).
cublasStatus_t Product::judge_memory(std::size_t workspace_bytes) const {
  const std::uint32_t e = operation.epilogue;
  const bool has_bias_pointer = operation.bias != nullptr, has_aux_pointer = operation.aux != nullptr;
  if (has_bias_pointer != (has_bias(e) || has_bias_gradient(e))) return CUBLAS_STATUS_INVALID_VALUE;
  if (has_aux(e) && !has_aux_pointer) return reads_aux(e) ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_SUPPORTED;
  if (!has_aux(e) && has_aux_pointer && (e & (kRelu | kGelu)) != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  return workspace_bytes < workspace() ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

const void* moved(const void* data, std::int64_t elements, int type) {
  if (data == nullptr) return nullptr;
  return static_cast<const char*>(data) + elements * static_cast<std::int64_t>(bytes_of(cudaDataType(type)));
}

/// Arithmetic in T, scalars of type S.
template <class T, class S>
bool Product::run(Call& call, const void* alpha, const void* A, const void* B, const void* beta, const void* C,
                  void* D) const {
  const Scalars where{
      operation.pointers == CUBLASLT_POINTER_MODE_DEVICE,
      "but the description's pointer mode is CUBLASLT_POINTER_MODE_HOST: the CPU would crash here; pass "
      "a host variable, or set CUBLASLT_MATMUL_DESC_POINTER_MODE",
      "but the description's pointer mode is CUBLASLT_POINTER_MODE_DEVICE: the GPU would fault here"};
  S factors[2] = {};
  if (!scalar(call, where, "alpha", static_cast<const S*>(alpha), factors[0]) ||
      !scalar(call, where, "beta", static_cast<const S*>(beta), factors[1])) {
    return false;
  }
  const auto value = [&](int i) {
    return std::is_same_v<S, std::uint16_t> ? number<T>(factors, CUDA_R_16F, i) : T(factors[i]);
  };
  const auto op_a = cublasOperation_t(operation.op_a), op_b = cublasOperation_t(operation.op_b);
  for (int batch = 0; batch < d.batches; ++batch) {
    const auto stored = [&](const char* name, const void* data, const Layout& l) {
      return Stored{
          name, moved(data, batch * l.stride, l.type), cudaDataType(l.type), std::int64_t(l.rows), std::int64_t(l.cols),
          l.ld, l.order == CUBLASLT_ORDER_ROW};
    };
    Epilogue<T> epilogue{operation.epilogue,
                         std::int64_t(d.rows),
                         std::int64_t(d.cols),
                         const_cast<void*>(moved(operation.bias, batch * operation.bias_stride, d.type)),
                         cudaDataType(d.type),
                         operation.aux,
                         cudaDataType(d.type),
                         operation.aux_ld,
                         stored("A", A, a),
                         stored("B", B, b),
                         op_a,
                         op_b};
    if (operation.aux != nullptr) {
      epilogue.aux =
          static_cast<char*>(operation.aux) +
          (has_mask(operation.epilogue) ? batch * operation.aux_stride / 8
                                        : batch * operation.aux_stride * std::int64_t(bytes_of(cudaDataType(d.type))));
    }
    if (!multiply<T>(call, op_a, op_b, k(), value(0), epilogue.A, epilogue.B, value(1), stored("C", C, c),
                     stored("D", D, d), inputs(), epilogue)) {
      return false;
    }
  }
  return true;
}

constexpr std::uint64_t kAlgorithm = 0x7469'6c65'7769'7365;  // in what a call has filled in

bool is_algorithm(const cublasLtMatmulAlgo_t* algo) { return algo != nullptr && algo->data[0] == kAlgorithm; }

}  // namespace
}  // namespace tilewise::sim::blas

using namespace tilewise::sim;
using namespace tilewise::sim::blas;

// ---------------------------------------------------------------- the handle, and what cuBLAS says too

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return cublasCreate(reinterpret_cast<cublasHandle_t*>(handle));
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return cublasDestroy(reinterpret_cast<cublasHandle_t>(handle));
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) { return cublasGetProperty(type, value); }

namespace {
size_t remembered_heuristics = 8192;
}  // namespace

cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (capacity == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *capacity = remembered_heuristics;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  remembered_heuristics = capacity;
  return CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------- objects

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows, uint64_t cols,
                                        int64_t ld) {
  return init(layout, Layout{.type = type, .rows = rows, .cols = cols, .ld = ld});
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  return create(layout, Layout{.type = type, .rows = rows, .cols = cols, .ld = ld});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, size_t bytes) {
  return set(layout, attr, buf, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attr,
                                                void* buf, size_t bytes, size_t* written) {
  return get(layout, attr, buf, bytes, written);
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t operation, cublasComputeType_t compute, cudaDataType scale) {
  return init(operation, Operation{.compute = compute, .scale = scale});
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t compute,
                                        cudaDataType scale) {
  return create(operation, Operation{.compute = compute, .scale = scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) { return destroy(operation); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attr,
                                              const void* buf, size_t bytes) {
  return set(operation, attr, buf, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attr,
                                              void* buf, size_t bytes, size_t* written) {
  return get(operation, attr, buf, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  return init(preference, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return destroy(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attr, const void* buf,
                                                    size_t bytes) {
  return set(preference, attr, buf, bytes);
}
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attr, void* buf, size_t bytes,
                                                    size_t* written) {
  return get(preference, attr, buf, bytes, written);
}

// ---------------------------------------------------------------- algorithms: there is one

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  if (found != nullptr) *found = 0;
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (operation == nullptr || a == nullptr || b == nullptr || d == nullptr || preference == nullptr || requested <= 0 ||
      results == nullptr || found == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Product product{of(operation), of(a), of(b), of(c != nullptr ? c : d), of(d)};
  const cublasStatus_t status = product.judge("cublasLtMatmulAlgoGetHeuristic");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  results[0] = {};
  results[0].workspaceSize = product.workspace();
  results[0].algo.data[0] = kAlgorithm;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, int requested, int ids[],
                                        int* found) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested <= 0 || ids == nullptr || found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  ids[0] = 0;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType, cudaDataType,
                                      cudaDataType, cudaDataType, cudaDataType, int id, cublasLtMatmulAlgo_t* algo) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (algo == nullptr || id != 0) return CUBLAS_STATUS_INVALID_VALUE;
  *algo = {};
  algo->data[0] = kAlgorithm;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                       cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (operation == nullptr || a == nullptr || b == nullptr || d == nullptr || !is_algorithm(algo) ||
      result == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cublasLtMatmulAlgo_t kept = result->algo;
  *result = {};
  result->algo = kept;
  return Product{of(operation), of(a), of(b), of(c != nullptr ? c : d), of(d)}.judge("cublasLtMatmulAlgoCheck");
}

// ---------------------------------------------------------------- the product

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* A,
                              cublasLtMatrixLayout_t a, const void* B, cublasLtMatrixLayout_t b, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c, void* D, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  const char* const function = "cublasLtMatmul";
  const auto refuse = [](cublasStatus_t status) { return library::note_failure(status), status; };
  if (!is_handle(handle)) return refuse(CUBLAS_STATUS_NOT_INITIALIZED);
  const bool aligned = reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0;
  if (operation == nullptr || a == nullptr || b == nullptr || d == nullptr || alpha == nullptr || beta == nullptr ||
      (algo != nullptr && !is_algorithm(algo)) || !aligned) {
    return refuse(CUBLAS_STATUS_INVALID_VALUE);
  }
  const Product product{of(operation), of(a), of(b), of(c != nullptr ? c : d), of(d)};
  if (const cublasStatus_t status = product.judge(function); status != CUBLAS_STATUS_SUCCESS) return refuse(status);
  if (workspace == nullptr && workspace_bytes != 0) return refuse(CUBLAS_STATUS_INVALID_VALUE);
  if (const cublasStatus_t status = product.judge_memory(workspace_bytes); status != CUBLAS_STATUS_SUCCESS)
    return refuse(status);
  if (C == D && c != d && product.c.ld != product.d.ld) return refuse(CUBLAS_STATUS_INVALID_VALUE);

  const auto work = [=](Call& call) {
    const auto run = [&] {
      switch (product.operation.scale) {
        case CUDA_R_64F:
          return product.run<double, double>(call, alpha, A, B, beta, C, D);
        case CUDA_R_32I:
          return product.run<std::int32_t, std::int32_t>(call, alpha, A, B, beta, C, D);
        case CUDA_R_16F:
          return product.run<float, std::uint16_t>(call, alpha, A, B, beta, C, D);
        default:
          return product.run<float, float>(call, alpha, A, B, beta, C, D);
      }
    };
    return run() && (workspace == nullptr || call.scratch("the workspace", workspace, workspace_bytes));
  };
  if (library::is_captured(stream)) {
    return library::capture(function, stream, site, handle, work) ? CUBLAS_STATUS_SUCCESS
                                                                  : refuse(CUBLAS_STATUS_EXECUTION_FAILED);
  }
  Call call(function, stream, site);
  if (!call.ready() || !(launches_only || work(call))) return refuse(CUBLAS_STATUS_EXECUTION_FAILED);
  call.done(handle);
  return CUBLAS_STATUS_SUCCESS;
}
