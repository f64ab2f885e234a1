// cuBLAS as it is on a GPU and on the simulator: results and status codes are the same. What only the simulator can
// say, which pointer is wrong, is at the end.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "expected_findings.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/cublas.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
#endif

namespace {

using tilewise::CublasHandle;
using tilewise::DeviceBuffer;

constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Small integers: every sum below is exact, in whatever order it is added, and in TF32 too.
std::vector<float> integers(std::size_t size, std::uint64_t seed) {
  return tilewise::random_vector(size, seed, tilewise::Distribution::integers);
}

template <class T>
std::vector<T> as(const std::vector<float>& v) {
  return {v.begin(), v.end()};
}

/// A column-major matrix of rows x cols with `gap` unused words, NaN, at the end of each column.
template <class T = float>
struct Matrix {
  Matrix(int rows, int cols, int gap, std::uint64_t seed) : rows(rows), cols(cols), ld(std::max(1, rows + gap)) {
    host.assign(static_cast<std::size_t>(ld) * cols, std::numeric_limits<T>::quiet_NaN());
    const std::vector<float> words = integers(static_cast<std::size_t>(rows) * cols, seed);
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i)
        host[i + static_cast<std::size_t>(j) * ld] = T(words[i + static_cast<std::size_t>(j) * rows]);
    device = DeviceBuffer<T>(host);
  }
  T operator()(int i, int j) const { return host[i + static_cast<std::size_t>(j) * ld]; }
  T at(cublasOperation_t op, int i, int j) const { return op == CUBLAS_OP_N ? (*this)(i, j) : (*this)(j, i); }
  const T* data() const { return device.data(); }
  T* data() { return device.data(); }

  int rows, cols, ld;
  std::vector<T> host;
  DeviceBuffer<T> device;
};

/// Equal, NaN where NaN is expected: what lies between the columns must stay as it was.
template <class T>
bool same(const std::vector<T>& got, const std::vector<T>& expected) {
  if (got.size() != expected.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) ? !std::isnan(got[i]) : got[i] != expected[i]) return false;
  }
  return true;
}

struct Shape {
  int m, n, k;
};
constexpr Shape kShapes[] = {{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {1, 6, 3}, {17, 13, 29}, {33, 8, 1}, {64, 48, 16}};

template <class T>
Matrix<T> operand(cublasOperation_t op, int rows, int cols, int gap, std::uint64_t seed) {
  return op == CUBLAS_OP_N ? Matrix<T>(rows, cols, gap, seed) : Matrix<T>(cols, rows, gap, seed);
}

template <class T>
void expect_product(cublasOperation_t op_a, cublasOperation_t op_b, int k, T alpha, const Matrix<T>& A,
                    const Matrix<T>& B, T beta, Matrix<T>& C) {
  for (int j = 0; j < C.cols; ++j) {
    for (int i = 0; i < C.rows; ++i) {
      T sum = 0;
      for (int l = 0; l < k; ++l) sum += A.at(op_a, i, l) * B.at(op_b, l, j);
      T& c = C.host[i + static_cast<std::size_t>(j) * C.ld];
      c = alpha * sum + (beta == T(0) ? T(0) : beta * c);
    }
  }
}

cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const float* alpha,
                    const Matrix<float>& A, const Matrix<float>& B, const float* beta, Matrix<float>& C) {
  return cublasSgemm(h, a, b, m, n, k, alpha, A.data(), A.ld, B.data(), B.ld, beta, C.data(), C.ld);
}
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,
                    const double* alpha, const Matrix<double>& A, const Matrix<double>& B, const double* beta,
                    Matrix<double>& C) {
  return cublasDgemm(h, a, b, m, n, k, alpha, A.data(), A.ld, B.data(), B.ld, beta, C.data(), C.ld);
}

template <class T>
void check_all_products() {
  CublasHandle handle;
  for (const Shape& s : kShapes) {
    for (const cublasOperation_t op_a : kOps) {
      for (const cublasOperation_t op_b : kOps) {
        for (const int gap : {0, 3}) {
          for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {2, 0}, {-1, 1}, {0.5, -2}, {0, 3}}) {
            const Matrix<T> A = operand<T>(op_a, s.m, s.k, gap, 1), B = operand<T>(op_b, s.k, s.n, gap, 2);
            Matrix<T> C(s.m, s.n, gap, 3);
            CUBLAS_CHECK(gemm(handle, op_a, op_b, s.m, s.n, s.k, &alpha, A, B, &beta, C));
            expect_product(op_a, op_b, s.k, alpha, A, B, beta, C);
            INFO(s.m << " x " << s.n << " x " << s.k << ", ops " << op_a << " " << op_b << ", gap " << gap << ", alpha "
                     << alpha << ", beta " << beta);
            REQUIRE(same(C.device.to_host(), C.host));
          }
        }
      }
    }
  }
}

__global__ void add_one(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

/// Row-wise FP64 errors of C = A B, all n x n and column-major, next to their bounds.
tilewise::Comparison against_fp64(const std::vector<float>& A, const std::vector<float>& B, const std::vector<float>& C,
                                  int n, const tilewise::Arithmetic& arithmetic) {
  std::vector<double> expected(C.size()), bound(C.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      double sum = 0, magnitude = 0;
      for (int l = 0; l < n; ++l) {
        const double product = double(A[i + l * n]) * double(B[l + j * n]);
        sum += product;
        magnitude += std::abs(product);
      }
      expected[i + j * n] = sum;
      bound[i + j * n] = tilewise::error_bound(n, magnitude, arithmetic);
    }
  }
  return tilewise::compare(C, expected, bound, n, n);
}

}  // namespace

TEST_CASE("a cuBLAS handle remembers its stream and its modes", "[cublas]") {
  CHECK(cublasCreate(nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  cublasHandle_t handle = nullptr;
  REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);

  int version = 0;
  CHECK(cublasGetVersion(handle, &version) == CUBLAS_STATUS_SUCCESS);
  CHECK(version >= 120000);

  cudaStream_t stream = nullptr, got = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetStream(handle, &got) == CUBLAS_STATUS_SUCCESS);
  CHECK(got == stream);

  cublasPointerMode_t pointers{};
  CHECK(cublasGetPointerMode(handle, &pointers) == CUBLAS_STATUS_SUCCESS);
  CHECK(pointers == CUBLAS_POINTER_MODE_HOST);  // the default
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetPointerMode(handle, &pointers) == CUBLAS_STATUS_SUCCESS);
  CHECK(pointers == CUBLAS_POINTER_MODE_DEVICE);

  cublasMath_t math{};
  CHECK(cublasGetMathMode(handle, &math) == CUBLAS_STATUS_SUCCESS);
  CHECK(math == CUBLAS_DEFAULT_MATH);  // not TF32
  CHECK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetMathMode(handle, &math) == CUBLAS_STATUS_SUCCESS);
  CHECK(math == CUBLAS_TF32_TENSOR_OP_MATH);

  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("cuBLAS names its status codes", "[cublas]") {
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_SUCCESS)) == "CUBLAS_STATUS_SUCCESS");
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE)) == "CUBLAS_STATUS_INVALID_VALUE");
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_NOT_INITIALIZED)) == "CUBLAS_STATUS_NOT_INITIALIZED");
  CHECK(std::string(cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE)).size() > 5);
}

TEST_CASE("cuBLAS refuses what cannot be, before any work", "[cublas]") {
  CublasHandle handle;
  const float one = 1, zero = 0;
  Matrix<> A(4, 6, 0, 1), B(6, 5, 0, 2), C(4, 5, 0, 3);
  const auto sgemm = [&](cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, int lda, int ldb,
                         int ldc) {
    return cublasSgemm(handle, op_a, op_b, m, n, k, &one, A.data(), lda, B.data(), ldb, &zero, C.data(), ldc);
  };
  const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
  CHECK(sgemm(N, N, 4, 5, 6, 4, 6, 4) == CUBLAS_STATUS_SUCCESS);
  CHECK(sgemm(N, N, -1, 5, 6, 4, 6, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(sgemm(N, N, 4, -1, 6, 4, 6, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(sgemm(N, N, 4, 5, -1, 4, 6, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(sgemm(N, N, 4, 5, 6, 3, 6, 4) == CUBLAS_STATUS_INVALID_VALUE);  // lda < m
  CHECK(sgemm(T, N, 4, 5, 6, 5, 6, 4) == CUBLAS_STATUS_INVALID_VALUE);  // lda < k
  CHECK(sgemm(N, N, 4, 5, 6, 4, 5, 4) == CUBLAS_STATUS_INVALID_VALUE);  // ldb < k
  CHECK(sgemm(N, T, 4, 5, 6, 4, 4, 4) == CUBLAS_STATUS_INVALID_VALUE);  // ldb < n
  CHECK(sgemm(N, N, 4, 5, 6, 4, 6, 3) == CUBLAS_STATUS_INVALID_VALUE);  // ldc < m
  CHECK(sgemm(N, N, 0, 5, 6, 0, 6, 1) == CUBLAS_STATUS_INVALID_VALUE);  // a leading dimension is at least 1
  CHECK(sgemm(N, N, 0, 5, 6, 1, 6, 1) == CUBLAS_STATUS_SUCCESS);        // nothing to do
  CHECK(sgemm(static_cast<cublasOperation_t>(99), N, 4, 5, 6, 4, 6, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSgemm(nullptr, N, N, 4, 5, 6, &one, A.data(), 4, B.data(), 6, &zero, C.data(), 4) ==
        CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(cublasSgemm(handle, N, N, 4, 5, 6, nullptr, A.data(), 4, B.data(), 6, &zero, C.data(), 4) ==
        CUBLAS_STATUS_INVALID_VALUE);

  const auto sgemv = [&](int m, int n, int lda, int incx, int incy) {
    return cublasSgemv(handle, N, m, n, &one, A.data(), lda, B.data(), incx, &zero, C.data(), incy);
  };
  CHECK(sgemv(4, 6, 4, 1, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(sgemv(4, 6, 3, 1, 1) == CUBLAS_STATUS_INVALID_VALUE);
#ifdef TILEWISE_SIMULATOR
  // Invalid by the documentation of cuBLAS too; its version 13.0 on an H200 returns success.
  CHECK(sgemv(-4, 6, 4, 1, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(sgemv(4, 6, 4, 0, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(sgemv(4, 6, 4, 1, 0) == CUBLAS_STATUS_INVALID_VALUE);
#endif
}

TEST_CASE("cublasSgemm: every operation, leading dimensions, alpha and beta", "[cublas]") {
  check_all_products<float>();
}

TEST_CASE("cublasDgemm: every operation, leading dimensions, alpha and beta", "[cublas]") {
  check_all_products<double>();
}

TEST_CASE("beta = 0 means that C is not read, not even a NaN", "[cublas]") {
  CublasHandle handle;
  const float one = 1, zero = 0;
  const Matrix<> A(7, 9, 2, 1), B(9, 5, 1, 2);
  Matrix<> C(7, 5, 3, 3);
  C.device.poison();
  std::vector<float> before = C.device.to_host();
  CUBLAS_CHECK(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 7, 5, 9, &one, A, B, &zero, C));
  expect_product(CUBLAS_OP_N, CUBLAS_OP_N, 9, one, A, B, zero, C);
  CHECK(same(C.device.to_host(), C.host));  // between the columns there is NaN still

  Matrix<> y(7, 1, 0, 4), x(9, 1, 0, 5);
  y.device.poison();
  CUBLAS_CHECK(cublasSgemv(handle, CUBLAS_OP_N, 7, 9, &one, A.data(), A.ld, x.data(), 1, &zero, y.data(), 1));
  for (int i = 0; i < 7; ++i) {
    y.host[i] = 0;
    for (int j = 0; j < 9; ++j) y.host[i] += A(i, j) * x(j, 0);
  }
  CHECK(same(y.device.to_host(), y.host));
}

TEST_CASE("k = 0: C is only scaled", "[cublas]") {
  CublasHandle handle;
  const float one = 1, zero = 0, three = 3;
  const Matrix<> A(4, 1, 0, 1), B(1, 5, 0, 2);
  Matrix<> C(4, 5, 1, 3);
  CUBLAS_CHECK(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, 0, &one, A, B, &three, C));
  expect_product(CUBLAS_OP_N, CUBLAS_OP_N, 0, one, A, B, three, C);
  CHECK(same(C.device.to_host(), C.host));
  CUBLAS_CHECK(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, 0, &one, A, B, &zero, C));
  expect_product(CUBLAS_OP_N, CUBLAS_OP_N, 0, one, A, B, zero, C);
  CHECK(same(C.device.to_host(), C.host));
}

TEST_CASE("small numbers aren't lost in a sum of many", "[cublas]") {
  std::vector<float> x(1 << 20, 1.0f);
  x[0] = 4096;
  const double squares = 4096.0 * 4096 + (x.size() - 1);
  const DeviceBuffer<float> device(x);
  CublasHandle handle;
  float result = kNan;
  CUBLAS_CHECK(cublasSnrm2(handle, int(x.size()), device.data(), 1, &result));
  CHECK(result == Approx(std::sqrt(squares)).epsilon(1e-4));
  CUBLAS_CHECK(cublasSdot(handle, int(x.size()), device.data(), 1, device.data(), 1, &result));
  CHECK(result == Approx(squares).epsilon(1e-4));
}

TEST_CASE("vectors: dot, norms, positions, axpy, scal, copy, swap", "[cublas]") {
  CublasHandle handle;
  for (const int n : {1, 2, 31, 257}) {
    for (const int incx : {1, 3}) {
      for (const int incy : {1, 2}) {
        INFO("n " << n << ", increments " << incx << " and " << incy);
        const std::vector<float> hx = integers(static_cast<std::size_t>(n) * incx, 1);
        const std::vector<float> hy = integers(static_cast<std::size_t>(n) * incy, 2);
        DeviceBuffer<float> x(hx), y(hy);
        double dot = 0, squares = 0, sum = 0;
        int largest = 1;
        for (int i = 0; i < n; ++i) {
          dot += double(hx[i * incx]) * hy[i * incy];
          squares += double(hx[i * incx]) * hx[i * incx];
          sum += std::abs(hx[i * incx]);
          if (std::abs(hx[i * incx]) > std::abs(hx[(largest - 1) * incx])) largest = i + 1;
        }
        float result = kNan;
        CUBLAS_CHECK(cublasSdot(handle, n, x.data(), incx, y.data(), incy, &result));
        CHECK(result == float(dot));
        CUBLAS_CHECK(cublasSnrm2(handle, n, x.data(), incx, &result));
        CHECK(result == Approx(std::sqrt(squares)).epsilon(1e-6));
        CUBLAS_CHECK(cublasSasum(handle, n, x.data(), incx, &result));
        CHECK(result == float(sum));
        int at = 0;
        CUBLAS_CHECK(cublasIsamax(handle, n, x.data(), incx, &at));
        CHECK(at == largest);  // from 1, the first of the largest

        const DeviceBuffer<double> dx(as<double>(hx)), dy(as<double>(hy));
        double in_double = 0;
        CUBLAS_CHECK(cublasDdot(handle, n, dx.data(), incx, dy.data(), incy, &in_double));
        CHECK(in_double == dot);

        const float alpha = 3;
        std::vector<float> expected = hy;
        for (int i = 0; i < n; ++i) expected[i * incy] += alpha * hx[i * incx];
        CUBLAS_CHECK(cublasSaxpy(handle, n, &alpha, x.data(), incx, y.data(), incy));
        CHECK(same(y.to_host(), expected));
        for (int i = 0; i < n; ++i) expected[i * incy] *= alpha;
        CUBLAS_CHECK(cublasSscal(handle, n, &alpha, y.data(), incy));
        CHECK(same(y.to_host(), expected));
        std::vector<float> other = hx;
        for (int i = 0; i < n; ++i) std::swap(expected[i * incy], other[i * incx]);
        CUBLAS_CHECK(cublasSswap(handle, n, x.data(), incx, y.data(), incy));
        CHECK(same(y.to_host(), expected));
        CHECK(same(x.to_host(), other));
        for (int i = 0; i < n; ++i) expected[i * incy] = other[i * incx];
        CUBLAS_CHECK(cublasScopy(handle, n, x.data(), incx, y.data(), incy));
        CHECK(same(y.to_host(), expected));
      }
    }
  }
}

TEST_CASE("no elements: sums are 0", "[cublas]") {
  CublasHandle handle;
  DeviceBuffer<float> x(1);
  x.zero();
  float result = kNan;
  CUBLAS_CHECK(cublasSdot(handle, 0, x.data(), 1, x.data(), 1, &result));
  CHECK(result == 0);
  result = kNan;
  CUBLAS_CHECK(cublasSnrm2(handle, 0, x.data(), 1, &result));
  CHECK(result == 0);
  int at = -1;
  CUBLAS_CHECK(cublasIsamax(handle, 0, x.data(), 1, &at));
  CHECK(at == 0);
}

TEST_CASE("a negative increment walks a vector backwards", "[cublas]") {
  CublasHandle handle;
  const std::vector<float> hx = {1, 2, 3}, hy = {10, 100, 1000};
  const DeviceBuffer<float> x(hx), y(hy);
  float result = kNan;
  CUBLAS_CHECK(cublasSdot(handle, 3, x.data(), -1, y.data(), 1, &result));
  CHECK(result == 3 * 10 + 2 * 100 + 1 * 1000);
}

TEST_CASE("cublasSgemv and cublasSger", "[cublas]") {
  CublasHandle handle;
  for (const Shape& s : kShapes) {
    for (const cublasOperation_t op : kOps) {
      for (const int gap : {0, 2}) {
        for (const int inc : {1, 2}) {
          const Matrix<> A(s.m, s.n, gap, 1);
          const int in = op == CUBLAS_OP_N ? s.n : s.m, out = op == CUBLAS_OP_N ? s.m : s.n;
          const Matrix<> x(inc, in, 0, 2);  // the first row is the vector
          Matrix<> y(inc, out, 0, 3);
          const float alpha = 2, beta = -1;
          CUBLAS_CHECK(cublasSgemv(handle, op, s.m, s.n, &alpha, A.data(), A.ld, x.data(), inc, &beta, y.data(), inc));
          for (int i = 0; i < out; ++i) {
            float sum = 0;
            for (int j = 0; j < in; ++j) sum += A.at(op, i, j) * x(0, j);
            y.host[i * inc] = alpha * sum + beta * y.host[i * inc];
          }
          INFO(s.m << " x " << s.n << ", op " << op << ", gap " << gap << ", increment " << inc);
          REQUIRE(same(y.device.to_host(), y.host));
        }
      }
    }
    Matrix<> A(s.m, s.n, 2, 1);
    const Matrix<> x(s.m, 1, 0, 2), y(s.n, 1, 0, 3);
    const float alpha = -2;
    CUBLAS_CHECK(cublasSger(handle, s.m, s.n, &alpha, x.data(), 1, y.data(), 1, A.data(), A.ld));
    for (int j = 0; j < s.n; ++j)
      for (int i = 0; i < s.m; ++i) A.host[i + j * A.ld] += alpha * x(i, 0) * y(j, 0);
    CHECK(same(A.device.to_host(), A.host));
  }
}

TEST_CASE("batches: by a stride, and by lists of pointers", "[cublas]") {
  CublasHandle handle;
  const int m = 5, n = 4, k = 3, count = 6;
  const float alpha = 2, beta = -1;
  std::vector<Matrix<>> As, Bs, Cs;
  std::vector<float> all_a, all_b, all_c;
  std::vector<const float*> list_a, list_b;
  std::vector<float*> list_c;
  for (int i = 0; i < count; ++i) {
    As.emplace_back(m, k, 1, 10 + i);
    Bs.emplace_back(k, n, 0, 20 + i);
    Cs.emplace_back(m, n, 2, 30 + i);
    all_a.insert(all_a.end(), As[i].host.begin(), As[i].host.end());
    all_b.insert(all_b.end(), Bs[i].host.begin(), Bs[i].host.end());
    all_c.insert(all_c.end(), Cs[i].host.begin(), Cs[i].host.end());
    list_a.push_back(As[i].data());
    list_b.push_back(Bs[i].data());
    list_c.push_back(Cs[i].data());
  }
  const DeviceBuffer<float> a(all_a), b(all_b);
  DeviceBuffer<float> c(all_c);
  CUBLAS_CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.data(), As[0].ld,
                                         As[0].host.size(), b.data(), Bs[0].ld, Bs[0].host.size(), &beta, c.data(),
                                         Cs[0].ld, Cs[0].host.size(), count));
  const DeviceBuffer<const float*> pa(list_a), pb(list_b);
  const DeviceBuffer<float*> pc(list_c);
  CUBLAS_CHECK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, pa.data(), As[0].ld, pb.data(),
                                  Bs[0].ld, &beta, pc.data(), Cs[0].ld, count));
  std::vector<float> expected;
  for (int i = 0; i < count; ++i) {
    expect_product(CUBLAS_OP_N, CUBLAS_OP_N, k, alpha, As[i], Bs[i], beta, Cs[i]);
    CHECK(same(Cs[i].device.to_host(), Cs[i].host));
    expected.insert(expected.end(), Cs[i].host.begin(), Cs[i].host.end());
  }
  CHECK(same(c.to_host(), expected));
  CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.data(), As[0].ld, 0, b.data(),
                                  Bs[0].ld, 0, &beta, c.data(), Cs[0].ld, 0, -1) == CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("cublasSgeam adds and transposes", "[cublas]") {
  CublasHandle handle;
  for (const cublasOperation_t op_a : kOps) {
    for (const cublasOperation_t op_b : kOps) {
      const Matrix<> A = operand<float>(op_a, 9, 6, 1, 1), B = operand<float>(op_b, 9, 6, 2, 2);
      Matrix<> C(9, 6, 3, 3);
      const float alpha = 2, beta = -3;
      CUBLAS_CHECK(
          cublasSgeam(handle, op_a, op_b, 9, 6, &alpha, A.data(), A.ld, &beta, B.data(), B.ld, C.data(), C.ld));
      for (int j = 0; j < 6; ++j)
        for (int i = 0; i < 9; ++i) C.host[i + j * C.ld] = alpha * A.at(op_a, i, j) + beta * B.at(op_b, i, j);
      CHECK(same(C.device.to_host(), C.host));
    }
  }
  Matrix<> A(9, 6, 0, 1);
  const float one = 1, zero = 0;
  CHECK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 6, 9, &one, A.data(), 9, &zero, A.data(), 9, A.data(), 9) ==
        CUBLAS_STATUS_INVALID_VALUE);  // in place, but transposed
}

TEST_CASE("cublasGemmEx: float, and half with sums in float", "[cublas]") {
  CublasHandle handle;
  const int m = 8, n = 16, k = 24;
  const Matrix<> A(m, k, 0, 1), B(k, n, 0, 2);
  Matrix<> C(m, n, 0, 3);
  const float alpha = 2, beta = -1;
  CUBLAS_CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.data(), CUDA_R_32F, m, B.data(),
                            CUDA_R_32F, k, &beta, C.data(), CUDA_R_32F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  expect_product(CUBLAS_OP_N, CUBLAS_OP_N, k, alpha, A, B, beta, C);
  CHECK(same(C.device.to_host(), C.host));

  std::vector<__half> ha(A.host.begin(), A.host.end()), hb(B.host.begin(), B.host.end());
  const DeviceBuffer<__half> a(ha), b(hb);
  CUBLAS_CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.data(), CUDA_R_16F, m, b.data(),
                            CUDA_R_16F, k, &beta, C.data(), CUDA_R_32F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  expect_product(CUBLAS_OP_N, CUBLAS_OP_N, k, alpha, A, B, beta, C);
  CHECK(same(C.device.to_host(), C.host));
}

TEST_CASE("cublasGemmStridedBatchedEx: the same, from matrix to matrix", "[cublas]") {
  CublasHandle handle;
  const int m = 3, n = 5, k = 4, count = 3;
  const long long A_apart = m * k + 2, C_apart = m * n + 1;  // all use the same B
  const std::vector<float> A = integers(count * A_apart, 1), B = integers(k * n, 2), C = integers(count * C_apart, 3);
  const DeviceBuffer<float> a(A), b(B);
  DeviceBuffer<float> c(C);
  const float alpha = 2, beta = -1;
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.data(), CUDA_R_32F, m,
                                          A_apart, b.data(), CUDA_R_32F, k, 0, &beta, c.data(), CUDA_R_32F, m, C_apart,
                                          count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  std::vector<float> expected = C;
  for (int p = 0; p < count; ++p) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int q = 0; q < k; ++q) sum += A[p * A_apart + i + q * m] * B[q + j * k];
        float& to = expected[p * C_apart + i + j * m];
        to = alpha * sum + beta * to;
      }
    }
  }
  CHECK(same(c.to_host(), expected));

  const DeviceBuffer<__half> ha(std::vector<__half>(A.begin(), A.end())), hb(std::vector<__half>(B.begin(), B.end()));
  DeviceBuffer<float> narrow(C);
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, ha.data(), CUDA_R_16F, m,
                                          A_apart, hb.data(), CUDA_R_16F, k, 0, &beta, narrow.data(), CUDA_R_32F, m,
                                          C_apart, count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  CHECK(same(narrow.to_host(), expected));
}

TEST_CASE("scalars and results in device memory", "[cublas]") {
  CublasHandle handle;
  CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  const Matrix<> A(6, 7, 0, 1), B(7, 5, 0, 2);
  Matrix<> C(6, 5, 0, 3);
  const DeviceBuffer<float> scalars(std::vector<float>{2, -1});
  CUBLAS_CHECK(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 6, 5, 7, scalars.data(), A, B, scalars.data() + 1, C));
  expect_product<float>(CUBLAS_OP_N, CUBLAS_OP_N, 7, 2, A, B, -1, C);
  CHECK(same(C.device.to_host(), C.host));

  DeviceBuffer<float> result(1);
  result.poison();
  CUBLAS_CHECK(cublasSdot(handle, 42, A.data(), 1, A.data(), 1, result.data()));
  double expected = 0;
  for (const float a : A.host) expected += double(a) * a;
  CHECK(result.to_host()[0] == float(expected));
}

TEST_CASE("TF32 is asked for, and then its error stays below TF32's bound", "[cublas]") {
  constexpr int n = 64;
  const std::vector<float> A = tilewise::random_vector(n * n, 1), B = tilewise::random_vector(n * n, 2);
  const DeviceBuffer<float> a(A), b(B);
  DeviceBuffer<float> c(n * n);
  CublasHandle handle;
  const float one = 1, zero = 0;
  const auto product = [&](cublasMath_t mode) {
    CUBLAS_CHECK(cublasSetMathMode(handle, mode));
    c.poison();
    CUBLAS_CHECK(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), n, b.data(), n, &zero, c.data(), n));
    return c.to_host();
  };
  for (const cublasMath_t exact : {CUBLAS_DEFAULT_MATH, CUBLAS_PEDANTIC_MATH}) {
    const auto fp32 = against_fp64(A, B, product(exact), n, tilewise::Arithmetic::fp32());
    INFO(fp32.text());
    CHECK(fp32.ok);
  }
  const std::vector<float> got = product(CUBLAS_TF32_TENSOR_OP_MATH);
  const auto tf32 = against_fp64(A, B, got, n, tilewise::Arithmetic::tf32());
  INFO(tf32.text());
  CHECK(tf32.ok);
#ifdef TILEWISE_SIMULATOR  // before sm_80 there is no TF32, and cuBLAS may choose not to use it
  CHECK(!against_fp64(A, B, got, n, tilewise::Arithmetic::fp32()).ok);
  CHECK(tf32.max_error > 1e-4);
#endif
}

TEST_CASE("calls take their turn among the kernels of their stream", "[cublas]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  {
    CublasHandle handle(stream);
    const float two = 2;
    DeviceBuffer<float> x(1000);
    x.zero();
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 3; ++i) {
      add_one<<<4, 256, 0, stream>>>(x.data(), 1000);
      CUBLAS_CHECK(cublasSscal(handle, 1000, &two, x.data(), 1));
    }
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(same(x.to_host(), std::vector<float>(1000, 14)));  // ((0 + 1) * 2 + 1) * 2 ...
#ifdef TILEWISE_SIMULATOR
    CHECK(std::string(tilewise::sim::last_library_call().function) == "cublasSscal");
    CHECK(tilewise::sim::last_library_call().stream == stream);
#endif
  }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("a call that is made to fail computes nothing, and those before and after it work", "[cublas]") {
  const CublasHandle handle;
  const float two = 2;
  DeviceBuffer<float> x(std::vector<float>(8, 1));
  const std::uint64_t before = tilewise::sim::last_library_call().serial;
  tilewise::sim::fail_library_call(2);
  CHECK(cublasSscal(handle, 8, &two, x.data(), 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSscal(handle, 8, &two, x.data(), 1) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(same(x.to_host(), std::vector<float>(8, 2)));
  CHECK(cublasSscal(handle, 8, &two, x.data(), 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(same(x.to_host(), std::vector<float>(8, 4)));
  CHECK(tilewise::sim::last_library_call().serial == before + 2);
  tilewise::sim::fail_library_call(1);
  tilewise::sim::fail_library_call(0);
  CHECK(cublasSscal(handle, 8, &two, x.data(), 1) == CUBLAS_STATUS_SUCCESS);
}
#endif

TEST_CASE("copies of vectors and matrices", "[cublas]") {
  const std::vector<float> host = integers(60, 1);
  DeviceBuffer<float> device(60);
  device.zero();
  REQUIRE(cublasSetMatrix(5, 6, sizeof(float), host.data(), 10, device.data(), 8) == CUBLAS_STATUS_SUCCESS);
  std::vector<float> back(60, 0);
  REQUIRE(cublasGetMatrix(5, 6, sizeof(float), device.data(), 8, back.data(), 10) == CUBLAS_STATUS_SUCCESS);
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 10; ++i) CHECK(back[i + 10 * j] == (i < 5 ? host[i + 10 * j] : 0));
  REQUIRE(cublasSetVector(20, sizeof(float), host.data(), 3, device.data(), 2) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasGetVector(20, sizeof(float), device.data(), 2, back.data(), 1) == CUBLAS_STATUS_SUCCESS);
  for (int i = 0; i < 20; ++i) CHECK(back[i] == host[3 * i]);
  CHECK(cublasSetMatrix(5, 6, sizeof(float), host.data(), 4, device.data(), 8) != CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("CUBLAS_CHECK says what failed and where", "[cublas]") {
  CublasHandle handle;
  const float one = 1;
  std::string what;
  try {
    CUBLAS_CHECK(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 1, &one, nullptr, 1, nullptr, 1, &one, nullptr, 1));
  } catch (const tilewise::CublasError& error) {
    CHECK(error.code() == CUBLAS_STATUS_INVALID_VALUE);
    what = error.what();
  }
  CHECK(what.find("cublas_test.cu:") != std::string::npos);
  CHECK(what.find("cublasSgemm") != std::string::npos);
  CHECK(what.find("CUBLAS_STATUS_INVALID_VALUE") != std::string::npos);
  CHECK(!tilewise::cublas_engine().empty());
}

TEST_CASE("cuBLAS calls in a captured stream are done when the graph is launched", "[cublas]") {
  CublasHandle handle;
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  REQUIRE(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  DeviceBuffer<float> x(std::vector<float>{1, 2, 3}), y(std::vector<float>{10, 20, 30}), sum(1);
  sum.zero();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  float alpha = 2;
  CHECK(cublasSaxpy(handle, 3, &alpha, x.data(), 1, y.data(), 1) == CUBLAS_STATUS_SUCCESS);
  alpha = 100;  // the node has the 2
  REQUIRE(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSdot(handle, 3, x.data(), 1, y.data(), 1, sum.data()) == CUBLAS_STATUS_SUCCESS);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(y.to_host() == std::vector<float>{10, 20, 30});
  for (int i = 0; i < 2; ++i) CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(y.to_host() == std::vector<float>{14, 28, 42});
  CHECK(sum.to_host() == std::vector<float>{14 + 2 * 28 + 3 * 42});
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
#ifdef TILEWISE_SIMULATOR
  // A number for the host would have to be waited for.
  REQUIRE(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS);
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cublasSdot(handle, 3, x.data(), 1, y.data(), 1, &alpha) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  static_cast<void>(cudaGetLastError());
  // Memory is looked at when the node is done.
  const ExpectedFindings findings;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cublasSscal(handle, 4, &alpha, y.data(), 1) == CUBLAS_STATUS_SUCCESS);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(findings.count() == 0);
  CHECK(cudaGraphLaunch(exec, stream) == cudaErrorLaunchFailure);
  CHECK(findings.count() == 1);
  static_cast<void>(cudaGetLastError());
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
#endif
  CUDA_CHECK(cudaStreamDestroy(stream));
}

#ifdef TILEWISE_SIMULATOR

namespace tilewise::sim {
std::string last_finding();  // library_findings_test.cpp
}

namespace {

/// The finding that a call makes, which must also make it fail unless it only reads what nobody wrote.
template <class F>
std::string finding_of(F&& call, cublasStatus_t status = CUBLAS_STATUS_EXECUTION_FAILED) {
  const ExpectedFindings expected;
  CHECK(call() == status);
  CHECK(expected.count() == 1);
  return expected.count() > 0 ? tilewise::sim::last_finding() : "";
}

bool says(const std::string& text, const std::string& code, const std::string& part) {
  INFO(text);
  CHECK(text.rfind(code + ": ", 0) == 0);
  CHECK(text.find(part) != std::string::npos);
  return text.rfind(code + ": ", 0) == 0 && text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a wrong pointer or extent is a finding that names the matrix", "[cublas]") {
  CublasHandle handle;
  const float one = 1, zero = 0;
  Matrix<> A(4, 6, 0, 1), B(6, 5, 0, 2), C(4, 5, 0, 3);
  const auto sgemm = [&](int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc) {
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
  };
  CHECK(says(finding_of([&] { return sgemm(4, 5, 6, A.data(), 5, B.data(), 6, C.data(), 4); }), "out-of-bounds",
             "A (4 x 6, leading dimension 5) needs 29 elements and has room for 24"));
  CHECK(says(finding_of([&] { return sgemm(4, 5, 6, A.data(), 4, B.data() + 1, 6, C.data(), 4); }), "out-of-bounds",
             "B (6 x 5, leading dimension 6) needs 30 elements and has room for 29"));
  CHECK(says(finding_of([&] { return sgemm(4, 5, 6, A.data(), 4, B.data(), 6, C.data(), 5); }), "out-of-bounds",
             "C (4 x 5, leading dimension 5) needs 24 elements"));
  CHECK(says(finding_of([&] { return sgemm(4, 5, 6, A.host.data(), 4, B.data(), 6, C.data(), 4); }), "host-pointer",
             "A (4 x 6, leading dimension 4) is host memory"));
  CHECK(says(finding_of([&] { return sgemm(4, 5, 6, A.data(), 4, nullptr, 6, C.data(), 4); }), "null-pointer", "B"));
  CHECK(says(finding_of([&] { return sgemm(4, 4, 4, A.data(), 4, B.data(), 4, A.data() + 8, 4); }), "overlap",
             "C (4 x 4, leading dimension 4), which is written, shares memory with A"));
  float* freed = nullptr;
  CUDA_CHECK(cudaMalloc(&freed, 30 * sizeof(float)));
  CUDA_CHECK(cudaFree(freed));
  CHECK(says(finding_of([&] { return sgemm(4, 5, 6, A.data(), 4, freed, 6, C.data(), 4); }), "use-after-free", "B"));
  const DeviceBuffer<float> unwritten(30);
  CHECK(says(
      finding_of([&] { return sgemm(4, 5, 6, A.data(), 4, unwritten.data(), 6, C.data(), 4); }, CUBLAS_STATUS_SUCCESS),
      "uninitialised", "reads B(0, 0), which nothing has written (and 29 other elements)"));
}

TEST_CASE("matrices side by side in one piece of memory do not overlap", "[cublas]") {
  CublasHandle handle;
  const float one = 1, zero = 0;
  // 12 x 5 words: rows 0..3 are A, 4..7 B, 8..11 C.
  const std::vector<float> host = integers(60, 1);
  DeviceBuffer<float> all(host);
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, all.data(), 12, all.data() + 4, 12, &zero,
                           all.data() + 8, 12));
  const std::vector<float> got = all.to_host();
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 4; ++i) {
      float sum = 0;
      for (int l = 0; l < 4; ++l) sum += host[i + 12 * l] * host[4 + l + 12 * j];
      CHECK(got[8 + i + 12 * j] == sum);
    }
  }
}

TEST_CASE("alpha where the pointer mode does not look for it is a finding", "[cublas]") {
  CublasHandle handle;
  const float one = 1;
  const DeviceBuffer<float> on_device(std::vector<float>{1});
  DeviceBuffer<float> x(std::vector<float>{1, 2, 3});
  CHECK(says(finding_of([&] { return cublasSscal(handle, 3, on_device.data(), x.data(), 1); }), "host-access",
             "alpha is device memory"));
  CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(says(finding_of([&] { return cublasSscal(handle, 3, &one, x.data(), 1); }), "host-pointer",
             "alpha is host memory, but the handle's pointer mode is CUBLAS_POINTER_MODE_DEVICE"));
}

TEST_CASE("a handle that was destroyed is none", "[cublas]") {
  cublasHandle_t handle = nullptr;
  CUBLAS_CHECK(cublasCreate(&handle));
  CUBLAS_CHECK(cublasDestroy(handle));
  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_NOT_INITIALIZED);
  const float one = 1;
  CHECK(cublasSscal(handle, 1, &one, nullptr, 1) == CUBLAS_STATUS_NOT_INITIALIZED);
}

#endif
