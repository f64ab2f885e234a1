// cuBLASLt as it is on a GPU and on the simulator: results and status codes are the same. What only the simulator can
// say is at the end.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "expected_findings.hpp"
#include "tilewise/cublas.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

#ifdef TILEWISE_SIMULATOR
namespace tilewise::sim {
std::string last_finding();  // library_findings_test.cpp
}
#endif

namespace {

using tilewise::DeviceBuffer;

template <class T>
constexpr cudaDataType kType = std::is_same_v<T, double>          ? CUDA_R_64F
                               : std::is_same_v<T, __half>        ? CUDA_R_16F
                               : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                               : std::is_same_v<T, std::int8_t>   ? CUDA_R_8I
                               : std::is_same_v<T, std::int32_t>  ? CUDA_R_32I
                                                                  : CUDA_R_32F;

template <class T>
double number(T value) {
  return double(float(value));
}

/// Small integers: every sum below is exact in float.
template <class T>
std::vector<T> integers(std::size_t size, std::uint64_t seed) {
  std::vector<T> v;
  for (const float x : tilewise::random_vector(size, seed, tilewise::Distribution::integers)) v.push_back(T(x));
  return v;
}

/// A matrix with its layout; `ld` has two words more than it needs.
template <class T>
struct Matrix {
  Matrix(int rows, int cols, std::uint64_t seed, cublasLtOrder_t order = CUBLASLT_ORDER_COL, int batches = 1)
      : rows(rows),
        cols(cols),
        ld((order == CUBLASLT_ORDER_COL ? rows : cols) + gap()),
        by_rows(order == CUBLASLT_ORDER_ROW),
        batches(batches),
        stride(std::int64_t(ld) * (by_rows ? rows : cols)),
        host(integers<T>(stride * batches, seed)),
        device(host) {
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&layout, kType<T>, rows, cols, ld));
    const std::int32_t kind = order;
    CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &kind, sizeof kind));
    CUBLAS_CHECK(
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches));
    CUBLAS_CHECK(
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
  }
  ~Matrix() { cublasLtMatrixLayoutDestroy(layout); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  /// Tensor cores want columns in multiples of 16 bytes where elements are narrow.
  static int gap() { return sizeof(T) < 4 ? 8 : 2; }
  std::size_t at(int i, int j, int batch = 0) const {
    return batch * stride + (by_rows ? j + std::size_t(i) * ld : i + std::size_t(j) * ld);
  }
  double operator()(cublasOperation_t op, int i, int j, int batch = 0) const {
    return number(op == CUBLAS_OP_N ? host[at(i, j, batch)] : host[at(j, i, batch)]);
  }

  int rows, cols, ld;
  bool by_rows;
  std::int32_t batches;
  std::int64_t stride;
  std::vector<T> host;
  DeviceBuffer<T> device;
  cublasLtMatrixLayout_t layout = nullptr;
};

struct Handle {
  Handle() { CUBLAS_CHECK(cublasLtCreate(&handle)); }
  ~Handle() { cublasLtDestroy(handle); }
  operator cublasLtHandle_t() const { return handle; }
  cublasLtHandle_t handle = nullptr;
};

struct Operation {
  Operation(cublasComputeType_t compute, cudaDataType scale) {
    CUBLAS_CHECK(cublasLtMatmulDescCreate(&operation, compute, scale));
  }
  ~Operation() { cublasLtMatmulDescDestroy(operation); }
  operator cublasLtMatmulDesc_t() const { return operation; }
  template <class V>
  cublasStatus_t set(cublasLtMatmulDescAttributes_t attribute, V value) {
    return cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value);
  }
  cublasLtMatmulDesc_t operation = nullptr;
};

template <class T>
constexpr cublasComputeType_t kCompute = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
template <class T>
using Scale = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// alpha op(A) op(B) + beta C of one batch, before an epilogue.
template <class A, class C>
double expected(const Matrix<A>& a, cublasOperation_t op_a, const Matrix<A>& b, cublasOperation_t op_b, int k,
                const Matrix<C>& c, double alpha, double beta, int i, int j, int batch = 0) {
  double sum = 0;
  for (int l = 0; l < k; ++l) sum += a(op_a, i, l, batch) * b(op_b, l, j, batch);
  return alpha * sum + (beta == 0 ? 0 : beta * c(CUBLAS_OP_N, i, j, batch));
}

template <class T, class D>
void check_products(cublasLtOrder_t order_a, cublasLtOrder_t order_d, int batches) {
  Handle handle;
  const int m = 24, n = 16, k = 32;
  for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (const auto& [alpha, beta] : {std::pair<Scale<T>, Scale<T>>{1, 0}, {2, -1}}) {
        const Matrix<T> A(op_a == CUBLAS_OP_N ? m : k, op_a == CUBLAS_OP_N ? k : m, 1, order_a, batches);
        const Matrix<T> B(op_b == CUBLAS_OP_N ? k : n, op_b == CUBLAS_OP_N ? n : k, 2, CUBLASLT_ORDER_COL, batches);
        const Matrix<D> C(m, n, 3, order_d, batches);
        Matrix<D> result(m, n, 4, order_d, batches);
        Operation operation(kCompute<T>, kType<Scale<T>>);
        CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_TRANSA, op_a));
        CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_TRANSB, op_b));
        CUBLAS_CHECK(cublasLtMatmul(handle, operation, &alpha, A.device.data(), A.layout, B.device.data(), B.layout,
                                    &beta, C.device.data(), C.layout, result.device.data(), result.layout, nullptr,
                                    nullptr, 0, nullptr));
        std::vector<D> wanted = result.host;  // what lies between columns stays
        for (int batch = 0; batch < batches; ++batch)
          for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i)
              wanted[result.at(i, j, batch)] = D(expected(A, op_a, B, op_b, k, C, alpha, beta, i, j, batch));
        const std::vector<D> got = result.device.to_host();
        int wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i) wrong += number(got[i]) != number(wanted[i]);
        INFO("operations " << op_a << " " << op_b << ", beta " << beta);
        CHECK(wrong == 0);
      }
    }
  }
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

}  // namespace

TEST_CASE("cublasLtMatmul: types, operations, C apart from D", "[cublas]") {
  check_products<float, float>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 1);
  check_products<double, double>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 1);
  check_products<__half, __half>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 1);
  check_products<__half, float>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 1);
  check_products<__nv_bfloat16, float>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 1);
  check_products<__nv_bfloat16, __nv_bfloat16>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 1);
}

TEST_CASE("cublasLtMatmul: matrices in order of rows, and batches", "[cublas]") {
  check_products<float, float>(CUBLASLT_ORDER_ROW, CUBLASLT_ORDER_COL, 1);
  check_products<float, float>(CUBLASLT_ORDER_ROW, CUBLASLT_ORDER_ROW, 1);
  check_products<float, float>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 3);
  check_products<__half, __half>(CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, 2);
}

TEST_CASE("cublasLtMatmul: half with scalars in half, and 8-bit integers", "[cublas]") {
  Handle handle;
  const int m = 16, n = 8, k = 32;
  {
    const Matrix<__half> A(m, k, 1), B(k, n, 2);
    Matrix<__half> C(m, n, 3);
    const Operation operation(CUBLAS_COMPUTE_16F, CUDA_R_16F);
    const __half alpha = 2.0f, beta = 1.0f;
    CUBLAS_CHECK(cublasLtMatmul(handle, operation, &alpha, A.device.data(), A.layout, B.device.data(), B.layout, &beta,
                                C.device.data(), C.layout, C.device.data(), C.layout, nullptr, nullptr, 0, nullptr));
    const std::vector<__half> got = C.device.to_host();
    for (int i = 0; i < m; ++i)
      CHECK(number(got[C.at(i, 3)]) == expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, k, C, 2, 1, i, 3));
  }
  const Matrix<std::int8_t> A(k, m, 1), B(k, n, 2);
  Matrix<std::int32_t> C(m, n + 2, 3);
  cublasLtMatrixLayout_t layout;
  CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32I, m, n, m));
  Operation operation(CUBLAS_COMPUTE_32I, CUDA_R_32I);
  CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T));
  const std::int32_t alpha = 1, beta = 0;
  CUBLAS_CHECK(cublasLtMatmul(handle, operation, &alpha, A.device.data(), A.layout, B.device.data(), B.layout, &beta,
                              C.device.data(), layout, C.device.data(), layout, nullptr, nullptr, 0, nullptr));
  const std::vector<std::int32_t> got = C.device.to_host();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) CHECK(got[i + j * m] == expected(A, CUBLAS_OP_T, B, CUBLAS_OP_N, k, C, 1, 0, i, j));
  CUBLAS_CHECK(cublasLtMatrixLayoutDestroy(layout));
}

TEST_CASE("cublasLtMatmul: bias, ReLU, GELU, and what they leave for the way back", "[cublas]") {
  Handle handle;
  const int m = 32, n = 24, k = 8;
  const float alpha = 0.25f, beta = 0;
  const Matrix<float> A(m, k, 1), B(k, n, 2);
  const std::vector<float> bias = integers<float>(m, 7);
  const DeviceBuffer<float> device_bias(bias);
  DeviceBuffer<char> workspace(1 << 16);
  const auto run = [&](Operation& operation, cublasLtEpilogue_t epilogue, Matrix<float>& D) {
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
    CUBLAS_CHECK(cublasLtMatmul(handle, operation, &alpha, A.device.data(), A.layout, B.device.data(), B.layout, &beta,
                                D.device.data(), D.layout, D.device.data(), D.layout, nullptr, workspace.data(),
                                1 << 16, nullptr));
    return D.device.to_host();
  };
  const auto check = [&](const std::vector<float>& got, const Matrix<float>& D, const char* name, auto wanted) {
    double largest = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        const double x = expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, k, D, alpha, 0, i, j);
        const double w = wanted(x, i, j);
        largest = std::max(largest, std::abs(got[D.at(i, j)] - w) / (1 + std::abs(w)));
      }
    }
    INFO(name);
    CHECK(largest < 2e-3);
  };
  {
    Matrix<float> D(m, n, 3);
    Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    check(run(operation, CUBLASLT_EPILOGUE_RELU, D), D, "ReLU", [](double x, int, int) { return std::max(x, 0.0); });
    check(run(operation, CUBLASLT_EPILOGUE_GELU, D), D, "GELU", [](double x, int, int) { return gelu(x); });
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, device_bias.data()));
    check(run(operation, CUBLASLT_EPILOGUE_BIAS, D), D, "bias", [&](double x, int i, int) { return x + bias[i]; });
    check(run(operation, CUBLASLT_EPILOGUE_RELU_BIAS, D), D, "ReLU, bias",
          [&](double x, int i, int) { return std::max(x + bias[i], 0.0); });
    check(run(operation, CUBLASLT_EPILOGUE_GELU_BIAS, D), D, "GELU, bias",
          [&](double x, int i, int) { return gelu(x + bias[i]); });
  }
  {  // GELU keeps what it was given, and its gradient takes it
    Matrix<float> D(m, n, 3);
    DeviceBuffer<float> aux(m * n), gradient_of_bias(m);
    Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, device_bias.data()));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.data()));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(m)));
    check(run(operation, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, D), D, "GELU, aux, bias",
          [&](double x, int i, int) { return gelu(x + bias[i]); });
    const std::vector<float> kept = aux.to_host();
    const auto slope = [&](int i, int j) {
      const double x = kept[i + j * m], h = 1e-4;
      return (gelu(x + h) - gelu(x - h)) / (2 * h);
    };
    CHECK(kept[5] == Approx(expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, k, D, alpha, 0, 5, 0) + bias[5]).margin(1e-3));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<float*>(nullptr)));
    check(run(operation, CUBLASLT_EPILOGUE_DGELU, D), D, "gradient of GELU",
          [&](double x, int i, int j) { return x * slope(i, j); });
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gradient_of_bias.data()));
    const std::vector<float> got = run(operation, CUBLASLT_EPILOGUE_DGELU_BGRAD, D);
    check(got, D, "gradient of GELU and bias", [&](double x, int i, int j) { return x * slope(i, j); });
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += got[D.at(3, j)];
    CHECK(gradient_of_bias.to_host()[3] == Approx(sum).margin(1e-2));
  }
  {  // ReLU keeps a bit for each element
    Matrix<float> D(m, n, 3);
    DeviceBuffer<unsigned char> mask(128 / 8 * n);
    Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.data()));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(128)));
    check(run(operation, CUBLASLT_EPILOGUE_RELU_AUX, D), D, "ReLU, aux",
          [](double x, int, int) { return std::max(x, 0.0); });
    check(run(operation, CUBLASLT_EPILOGUE_DRELU, D), D, "gradient of ReLU",
          [](double x, int, int) { return x > 0 ? x : 0.0; });
  }
}

TEST_CASE("cublasLtMatmul: gradients of a bias by the inputs", "[cublas]") {
  Handle handle;
  const int m = 32, n = 16, k = 24;
  const float alpha = 1, beta = 0;
  const Matrix<__half> A(m, k, 1), B(k, n, 2);
  Matrix<__half> D(m, n, 3);
  DeviceBuffer<__half> gradient(m);
  Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto run = [&](cublasLtEpilogue_t epilogue) {
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
    return cublasLtMatmul(handle, operation, &alpha, A.device.data(), A.layout, B.device.data(), B.layout, &beta,
                          D.device.data(), D.layout, D.device.data(), D.layout, nullptr, nullptr, 0, nullptr);
  };
  CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gradient.data()));
  CUBLAS_CHECK(run(CUBLASLT_EPILOGUE_BGRADA));
  const std::vector<__half> got = gradient.to_host();
  for (int i = 0; i < m; ++i) {
    double sum = 0;
    for (int l = 0; l < k; ++l) sum += A(CUBLAS_OP_N, i, l);
    CHECK(number(got[i]) == sum);
  }
  CHECK(run(CUBLASLT_EPILOGUE_BGRADB) == CUBLAS_STATUS_NOT_SUPPORTED);
}

// The statuses are an H100's.
TEST_CASE("cublasLtMatmul: which pointers an epilogue takes, and which it refuses", "[cublas]") {
  Handle handle;
  const int m = 32, n = 16, k = 8;
  const float alpha = 1, beta = 0;
  const Matrix<float> A(m, k, 1), B(k, n, 2);
  Matrix<float> D(m, n, 3);
  DeviceBuffer<float> bias(std::vector<float>(m, 1)), aux(std::vector<float>(128 * n, 0));
  DeviceBuffer<char> workspace(1 << 16);
  float* const none = nullptr;
  const auto status = [&](cublasLtEpilogue_t epilogue, bool has_bias, bool has_aux, bool has_workspace = true) {
    Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, has_bias ? bias.data() : none));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, has_aux ? aux.data() : none));
    CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(128)));
    return cublasLtMatmul(handle, operation, &alpha, A.device.data(), A.layout, B.device.data(), B.layout, &beta,
                          D.device.data(), D.layout, D.device.data(), D.layout, nullptr,
                          has_workspace ? workspace.data() : nullptr, has_workspace ? 1 << 16 : 0, nullptr);
  };
  constexpr auto kDone = CUBLAS_STATUS_SUCCESS, kWrong = CUBLAS_STATUS_INVALID_VALUE,
                 kLacks = CUBLAS_STATUS_NOT_SUPPORTED;
  CHECK(status(CUBLASLT_EPILOGUE_DEFAULT, true, false) == kWrong);
  CHECK(status(CUBLASLT_EPILOGUE_DEFAULT, false, true) == kDone);
  CHECK(status(CUBLASLT_EPILOGUE_RELU, false, true) == kLacks);
  CHECK(status(CUBLASLT_EPILOGUE_RELU, true, true) == kWrong);
  CHECK(status(CUBLASLT_EPILOGUE_BIAS, false, false) == kWrong);
  CHECK(status(CUBLASLT_EPILOGUE_BIAS, true, true) == kDone);
  CHECK(status(CUBLASLT_EPILOGUE_GELU_BIAS, true, true) == kLacks);
  CHECK(status(CUBLASLT_EPILOGUE_GELU_AUX, false, false) == kLacks);
  CHECK(status(CUBLASLT_EPILOGUE_GELU_AUX, false, true) == kDone);
  CHECK(status(CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, false) == kLacks);
  CHECK(status(CUBLASLT_EPILOGUE_DGELU, false, false) == kWrong);
  CHECK(status(CUBLASLT_EPILOGUE_DGELU, false, true) == kDone);
  CHECK(status(CUBLASLT_EPILOGUE_DGELU_BGRAD, true, true) == kDone);
  CHECK(status(CUBLASLT_EPILOGUE_DGELU_BGRAD, true, true, false) == kLacks);
  CHECK(status(CUBLASLT_EPILOGUE_DRELU_BGRAD, false, true) == kWrong);
}

TEST_CASE("cublasLtMatmul: an algorithm by the heuristic, a workspace, scalars in device memory", "[cublas]") {
  Handle handle;
  const int m = 16, n = 16, k = 16;
  const Matrix<float> A(m, k, 1), B(k, n, 2);
  Matrix<float> C(m, n, 3);
  const DeviceBuffer<float> scalars(std::vector<float>{2, 1});
  Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE));
  cublasLtMatmulPreference_t preference;
  CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
  const std::size_t most = 1 << 20;
  CUBLAS_CHECK(
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
  cublasLtMatmulHeuristicResult_t found[2];
  int count = 0;
  CUBLAS_CHECK(cublasLtMatmulAlgoGetHeuristic(handle, operation, A.layout, B.layout, C.layout, C.layout, preference, 2,
                                              found, &count));
  REQUIRE(count >= 1);
  CHECK(found[0].state == CUBLAS_STATUS_SUCCESS);
  CHECK(found[0].workspaceSize <= most);
  DeviceBuffer<char> workspace(most);
  CUBLAS_CHECK(cublasLtMatmul(handle, operation, scalars.data(), A.device.data(), A.layout, B.device.data(), B.layout,
                              scalars.data() + 1, C.device.data(), C.layout, C.device.data(), C.layout, &found[0].algo,
                              workspace.data(), most, nullptr));
  const std::vector<float> got = C.device.to_host();
  for (int i = 0; i < m; ++i) CHECK(got[C.at(i, 5)] == expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, k, C, 2, 1, i, 5));
  CUBLAS_CHECK(cublasLtMatmulPreferenceDestroy(preference));
}

TEST_CASE("cuBLASLt's objects give back what was put into them, and refuse the rest", "[cublas]") {
  cublasLtMatrixLayout_t layout;
  CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16BF, 3, 5, 7));
  std::uint64_t rows = 0;
  std::int64_t ld = 0;
  std::int32_t type = 0;
  std::size_t written = 0;
  CUBLAS_CHECK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, &written));
  CHECK(written == 8);
  CUBLAS_CHECK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld, nullptr));
  CUBLAS_CHECK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof type, nullptr));
  CHECK(rows == 3);
  CHECK(ld == 7);
  CHECK(type == CUDA_R_16BF);
  CUBLAS_CHECK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, nullptr, 0, &written));
  CHECK(written == 4);
  const int order = CUBLASLT_ORDER_ROW;
  CHECK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, 8) ==
        CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, nullptr, 4) ==
        CUBLAS_STATUS_INVALID_VALUE);
  CUBLAS_CHECK(cublasLtMatrixLayoutDestroy(layout));

  cublasLtMatrixLayoutOpaque_t of_mine;  // an object of the program's own
  CUBLAS_CHECK(cublasLtMatrixLayoutInit(&of_mine, CUDA_R_32F, 3, 5, 7));
  CUBLAS_CHECK(cublasLtMatrixLayoutGetAttribute(&of_mine, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, nullptr));
  CHECK(rows == 3);

  Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  std::uint32_t epilogue = 0;
  CUBLAS_CHECK(
      cublasLtMatmulDescGetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue, nullptr));
  CHECK(epilogue == CUBLASLT_EPILOGUE_DEFAULT);
  CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, 1) == CUBLAS_STATUS_INVALID_VALUE);  // 4 bytes
  CHECK(std::string(cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED)) == "CUBLAS_STATUS_NOT_SUPPORTED");
  CHECK(cublasLtGetVersion() >= 120000);
}

TEST_CASE("cublasLtMatmul refuses what cannot be, before any work", "[cublas]") {
  Handle handle;
  const float one = 1, zero = 0;
  const Matrix<float> A(8, 12, 1), B(12, 4, 2), wrong(8, 8, 4);
  Matrix<float> C(8, 4, 3);
  const Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto matmul = [&](cublasLtHandle_t h, cublasLtMatmulDesc_t op, cublasLtMatrixLayout_t a,
                          cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t d) {
    return cublasLtMatmul(h, op, &one, A.device.data(), a, B.device.data(), b, &zero, C.device.data(), C.layout,
                          C.device.data(), d, nullptr, nullptr, 0, nullptr);
  };
  CHECK(matmul(handle, operation, A.layout, B.layout, C.layout) == CUBLAS_STATUS_SUCCESS);
#ifdef TILEWISE_SIMULATOR  // NVIDIA's library crashes
  CHECK(matmul(nullptr, operation, A.layout, B.layout, C.layout) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(matmul(handle, nullptr, A.layout, B.layout, C.layout) == CUBLAS_STATUS_INVALID_VALUE);
#endif
  CHECK(matmul(handle, operation, A.layout, wrong.layout, C.layout) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(matmul(handle, operation, A.layout, B.layout, wrong.layout) == CUBLAS_STATUS_INVALID_VALUE);

  cublasLtMatmulPreference_t preference;
  CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
  cublasLtMatmulHeuristicResult_t found;
  int count = 7;
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, operation, A.layout, B.layout, C.layout, C.layout, preference, 0, &found,
                                       &count) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, operation, A.layout, wrong.layout, C.layout, C.layout, preference, 1,
                                       &found, &count) != CUBLAS_STATUS_SUCCESS);
  const Operation mixed(CUBLAS_COMPUTE_64F, CUDA_R_64F);  // of float matrices
  CHECK(matmul(handle, mixed, A.layout, B.layout, C.layout) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, mixed, A.layout, B.layout, C.layout, C.layout, preference, 1, &found,
                                       &count) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK((count == 0 || count == 7));  // NVIDIA's library leaves it alone
  CUBLAS_CHECK(cublasLtMatmulPreferenceDestroy(preference));
}

TEST_CASE("cublasHgemm and its batches", "[cublas]") {
  tilewise::CublasHandle handle;
  const int m = 24, n = 16, k = 32, batches = 3;
  const __half alpha = 2.0f, beta = 1.0f;
  const Matrix<__half> A(m, k, 1, CUBLASLT_ORDER_COL, batches), B(k, n, 2, CUBLASLT_ORDER_COL, batches);
  const auto check = [&](const Matrix<__half>& C, int first, int last) {
    const std::vector<__half> got = C.device.to_host();
    int wrong = 0;
    for (int batch = first; batch < last; ++batch)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
          wrong += number(got[C.at(i, j, batch)]) !=
                   number(__half(float(expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, k, C, 2, 1, i, j, batch))));
    CHECK(wrong == 0);
  };
  Matrix<__half> one(m, n, 3, CUBLASLT_ORDER_COL, batches), strided(m, n, 3, CUBLASLT_ORDER_COL, batches),
      listed(m, n, 3, CUBLASLT_ORDER_COL, batches);
  CUBLAS_CHECK(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.device.data(), A.ld, B.device.data(),
                           B.ld, &beta, one.device.data(), one.ld));
  check(one, 0, 1);
  CUBLAS_CHECK(cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.device.data(), A.ld,
                                         A.stride, B.device.data(), B.ld, B.stride, &beta, strided.device.data(),
                                         strided.ld, strided.stride, batches));
  check(strided, 0, batches);
  std::vector<const __half*> a, b;
  std::vector<__half*> c;
  for (int i = 0; i < batches; ++i) {
    a.push_back(A.device.data() + i * A.stride), b.push_back(B.device.data() + i * B.stride);
    c.push_back(listed.device.data() + i * listed.stride);
  }
  const DeviceBuffer<const __half*> list_a(a), list_b(b);
  const DeviceBuffer<__half*> list_c(c);
  CUBLAS_CHECK(cublasHgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, list_a.data(), A.ld, list_b.data(),
                                  B.ld, &beta, list_c.data(), listed.ld, batches));
  check(listed, 0, batches);

  const float alpha_float = 2, beta_float = 1;  // the same with sums in float
  CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  Matrix<__half> again(m, n, 3, CUBLASLT_ORDER_COL, batches);
  for (int i = 0; i < batches; ++i) c[i] = again.device.data() + i * again.stride;
  const DeviceBuffer<__half*> list_again(c);
  CUBLAS_CHECK(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha_float,
                                   reinterpret_cast<const void* const*>(list_a.data()), CUDA_R_16F, A.ld,
                                   reinterpret_cast<const void* const*>(list_b.data()), CUDA_R_16F, B.ld, &beta_float,
                                   reinterpret_cast<void* const*>(list_again.data()), CUDA_R_16F, again.ld, batches,
                                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  check(again, 0, batches);
}

TEST_CASE("cublasGemmEx: 8-bit integers, sums in 32 bits", "[cublas]") {
  tilewise::CublasHandle handle;
  const int m = 16, n = 8, k = 32;
  const Matrix<std::int8_t> A(m, k, 1), B(k, n, 2);
  Matrix<std::int32_t> C(m, n, 3);
  const std::int32_t alpha = 1, beta = 2;
  CUBLAS_CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.device.data(), CUDA_R_8I, A.ld,
                            B.device.data(), CUDA_R_8I, B.ld, &beta, C.device.data(), CUDA_R_32I, C.ld,
                            CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
  const std::vector<std::int32_t> got = C.device.to_host();
  for (int i = 0; i < m; ++i) CHECK(got[C.at(i, 2)] == expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, k, C, 1, 2, i, 2));
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("cublasLtMatmul: a wrong pointer or extent is a finding that names it", "[cublas]") {
  Handle handle;
  const float one = 1, zero = 0;
  const Matrix<float> A(8, 12, 1), B(12, 4, 2), by_rows(8, 12, 1, CUBLASLT_ORDER_ROW);
  Matrix<float> C(8, 4, 3);
  Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto finds = [&](const std::string& text, const float* a, const Matrix<float>& layout, float* d,
                         void* workspace, std::size_t bytes) {
    const ExpectedFindings expected;
    CHECK(cublasLtMatmul(handle, operation, &one, a, layout.layout, B.device.data(), B.layout, &zero, d, C.layout, d,
                         C.layout, nullptr, workspace, bytes, nullptr) == CUBLAS_STATUS_EXECUTION_FAILED);
    REQUIRE(expected.count() == 1);
    INFO(tilewise::sim::last_finding());
    CHECK(tilewise::sim::last_finding().find(text) == 0);
  };
  finds("out-of-bounds: cublasLtMatmul: A (8 x 12, leading dimension 10) needs 118 elements and has room for 116",
        A.device.data() + 4, A, C.device.data(), nullptr, 0);
  finds("out-of-bounds: cublasLtMatmul: A (8 x 12, by rows, leading dimension 14) needs 110 elements and has room for ",
        by_rows.device.data() + 4, by_rows, C.device.data(), nullptr, 0);
  finds("null-pointer: cublasLtMatmul: D", A.device.data(), A, nullptr, nullptr, 0);
  finds("host-pointer: cublasLtMatmul: A", A.host.data(), A, C.device.data(), nullptr, 0);
  DeviceBuffer<char> workspace(4096);
  finds("out-of-bounds: cublasLtMatmul: the workspace (4,097 bytes) needs 4,097 bytes", A.device.data(), A,
        C.device.data(), workspace.data(), 4097);
  const DeviceBuffer<float> bias(std::vector<float>(7, 1.0f));
  CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.data()));
  CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS));
  finds("out-of-bounds: cublasLtMatmul: the bias (8 elements) needs", A.device.data(), A, C.device.data(), nullptr, 0);
}

TEST_CASE("cublasLtMatmul takes its turn in its stream, and two streams share no workspace", "[cublas]") {
  Handle handle;
  const float one = 1, zero = 0;
  const Matrix<float> A(8, 8, 1), B(8, 8, 2);
  Matrix<float> C(8, 8, 3), D(8, 8, 3);
  const Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  DeviceBuffer<char> workspace(4096);
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto matmul = [&](Matrix<float>& to, void* memory, cudaStream_t stream) {
    return cublasLtMatmul(handle, operation, &one, A.device.data(), A.layout, B.device.data(), B.layout, &zero,
                          to.device.data(), to.layout, to.device.data(), to.layout, nullptr, memory, memory ? 4096 : 0,
                          stream);
  };
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto count = [&](Matrix<float>& second, void* memory) {
    const ExpectedFindings expected;
    CUBLAS_CHECK(matmul(C, memory, streams[0]));
    CUBLAS_CHECK(matmul(second, memory, streams[1]));
    CUDA_CHECK(cudaDeviceSynchronize());
    if (expected.count() > 0) CHECK(tilewise::sim::last_finding().find("race-streams: ") == 0);
    return expected.count();
  };
  CHECK(count(D, nullptr) == 0);
  CHECK(count(C, nullptr) == 1);
  CHECK(count(D, workspace.data()) == 1);
  for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_CASE("cublasLtMatmul in a captured stream is done when the graph is launched, as it was described", "[cublas]") {
  Handle handle;
  float one = 1, zero = 0;
  const Matrix<float> A(8, 8, 1), B(8, 8, 2);
  Matrix<float> C(8, 8, 3);
  Operation operation(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CUBLAS_CHECK(cublasLtMatmul(handle, operation, &one, A.device.data(), A.layout, B.device.data(), B.layout, &zero,
                              C.device.data(), C.layout, C.device.data(), C.layout, nullptr, nullptr, 0, stream));
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  one = 5;
  CUBLAS_CHECK(operation.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T));
  CHECK(number(C.device.to_host()[0]) == number(C.host[0]));
  CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const std::vector<float> got = C.device.to_host();
  for (int i = 0; i < 8; ++i) CHECK(got[C.at(i, 1)] == expected(A, CUBLAS_OP_N, B, CUBLAS_OP_N, 8, C, 1, 0, i, 1));
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
}

#endif
