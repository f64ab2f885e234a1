// Chapter 07: the wrappers of cuBLAS on every kind of shape, operation, leading dimension and scalar, and the wrong
// wrappers that the same check must reject.
#include "cublas_sgemm.cuh"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "07_cublas_sgemm/check_sgemm.hpp"
#include "07_cublas_sgemm/mutants/mutants.cuh"
#include "catch.hpp"
#include "check_matmul.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

namespace {

using tilewise::CublasHandle;
using tilewise::DeviceBuffer;
using tilewise::Distribution;
using tilewise::MatmulShape;

constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

/// y or one number against FP64, with everything around it looked at.
struct VectorCheck {
  std::vector<double> expected, bound;
};

VectorCheck expected_gemv(const std::vector<float>& A, int m, int n, cublasOperation_t op, float alpha,
                          const std::vector<float>& x, float beta, const std::vector<float>& y) {
  const int in = op == CUBLAS_OP_N ? n : m, out = op == CUBLAS_OP_N ? m : n;
  VectorCheck check{std::vector<double>(out), std::vector<double>(out)};
  for (int i = 0; i < out; ++i) {
    double sum = 0, magnitude = 0;
    for (int j = 0; j < in; ++j) {
      const double p = double(A[op == CUBLAS_OP_N ? std::size_t(i) * n + j : std::size_t(j) * n + i]) * x[j];
      sum += p;
      magnitude += std::abs(p);
    }
    const double before = beta == 0 ? 0 : double(beta) * y[i];
    check.expected[i] = alpha * sum + before;
    check.bound[i] = std::abs(alpha) * tilewise::error_bound(in, magnitude) +
                     3.1 * 0x1p-24 * (std::abs(alpha) * magnitude + std::abs(before)) + 1e-44;
  }
  return check;
}

}  // namespace

TEST_CASE("sgemm_row_major is right on every shape", "[sgemm]") {
  const float scalars[][2] = {{1, 0}, {2, -1}, {-0.5f, 1}, {1, 1}, {3, 0}};
  std::size_t i = 0;
  for (const MatmulShape& shape : matmul_shapes()) {
    for (int turn = 0; turn < 4; ++turn, ++i) {  // operations, gaps and scalars take turns, all with all in the end
      const SgemmCase c{.shape = shape,
                        .op_a = kOps[i % 3],
                        .op_b = kOps[i / 3 % 3],
                        .gap_a = static_cast<int>(i % 4),
                        .gap_b = static_cast<int>(i / 2 % 4),
                        .gap_c = static_cast<int>(i / 5 % 4),
                        .alpha = scalars[i % 5][0],
                        .beta = scalars[i % 5][1],
                        .seed = i + 1};
      const SgemmVerdict verdict = check_sgemm(sgemm_row_major, c);
      INFO(c.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == shape.m * shape.n);
    }
  }
}

TEST_CASE("sgemm_row_major: every pair of operations, on all kinds of data", "[sgemm]") {
  for (const Distribution data :
       {Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers}) {
    for (const cublasOperation_t op_a : kOps) {
      for (const cublasOperation_t op_b : kOps) {
        const SgemmCase c{.shape = {35, 27, 46},
                          .op_a = op_a,
                          .op_b = op_b,
                          .gap_a = 2,
                          .gap_b = 1,
                          .gap_c = 3,
                          .alpha = 2,
                          .beta = -1,
                          .seed = 5,
                          .data = data};
        const SgemmVerdict verdict = check_sgemm(sgemm_row_major, c);
        INFO(c.text() << ", " << tilewise::to_string(data) << ": " << verdict.text);
        REQUIRE(verdict.right());
        if (data == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
      }
    }
  }
}

TEST_CASE("sgemm_row_major with TF32 stays in TF32's bound, and only asks for this call", "[tf32]") {
  for (const MatmulShape& shape : {MatmulShape{64, 64, 64}, MatmulShape{37, 41, 43}, MatmulShape{128, 32, 96}}) {
    const SgemmCase c{.shape = shape, .gap_a = 4, .gap_b = 4, .gap_c = 4, .alpha = 2, .beta = 1};
    const SgemmVerdict verdict = check_sgemm(sgemm_row_major_tf32, c, tilewise::Arithmetic::tf32());
    INFO(c.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
#ifdef TILEWISE_SIMULATOR  // on a GPU, cuBLAS decides whether it pays
    CHECK(check_sgemm(sgemm_row_major_tf32, c).has(SgemmFault::wrong_value));  // FP32's bound is far smaller
#endif
  }
  // Numbers that 10 bits after the point hold are not rounded at all.
  const SgemmCase integers{.shape = {33, 29, 31}, .data = Distribution::integers};
  const SgemmVerdict verdict = check_sgemm(sgemm_row_major_tf32, integers);
  INFO(verdict.text);
  REQUIRE(verdict.right());
  REQUIRE(verdict.comparison.max_error == 0);
}

TEST_CASE("the detour by transposing gives the same product", "[sgemm]") {
  CublasHandle handle;
  for (const MatmulShape& shape : matmul_shapes()) {
    const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
    DeviceBuffer<float> workspace(shape.m * shape.k + shape.k * shape.n + shape.m * shape.n);
    const MatmulLaunch detour = [&](const float* A, const float* B, float* C, int, int, int) {
      return sgemm_by_transposing(handle, m, n, k, A, B, C, workspace.data()) == CUBLAS_STATUS_SUCCESS
                 ? cudaSuccess
                 : cudaErrorUnknown;
    };
    const Verdict verdict = check_matmul(detour, shape, 1);
    INFO(shape.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("launch_cublas_sgemm stands among the kernels of the earlier chapters", "[sgemm]") {
  CublasHandle handle;
  const tilewise::Stream stream;
  for (const MatmulShape& shape : matmul_shapes()) {
    const MatmulLaunch launch = [&](const float* A, const float* B, float* C, int M, int N, int K) {
      return launch_cublas_sgemm(handle, A, B, C, M, N, K, stream.get()) == CUBLAS_STATUS_SUCCESS ? cudaSuccess
                                                                                                  : cudaErrorUnknown;
    };
    const Verdict verdict = check_matmul(launch, shape, 1);
    INFO(shape.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
  cudaStream_t got = nullptr;
  CUBLAS_CHECK(cublasGetStream(handle, &got));
  CHECK(got == stream.get());
}

TEST_CASE("empty matrices, and a sum of nothing", "[sgemm]") {
  CublasHandle handle;
  GuardedMatrix C(std::vector<float>(5 * 7, GuardedMatrix::canary()));
  DeviceBuffer<float> A(1), B(1);
  CHECK(launch_cublas_sgemm(handle, A.data(), B.data(), C.data(), 0, 7, 3) == CUBLAS_STATUS_SUCCESS);
  CHECK(launch_cublas_sgemm(handle, A.data(), B.data(), C.data(), 5, 0, 3) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(C.intact());
  CHECK(launch_cublas_sgemm(handle, A.data(), B.data(), C.data(), 5, 7, 0) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(C.values() == std::vector<float>(5 * 7, 0.0f));
  CHECK(C.margins_intact());
}

TEST_CASE("what cannot be is refused, and C is left alone", "[sgemm]") {
  CublasHandle handle;
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
  const auto call = [&](cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, int lda, int ldb,
                        int ldc) {
    return sgemm_row_major(handle, op_a, op_b, m, n, k, 1, A.data(), lda, B.data(), ldb, 0, C.data(), ldc);
  };
  CHECK(call(N, N, -1, 2, 3, 3, 2, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(call(N, N, 4, -1, 3, 3, 2, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(call(N, N, 4, 2, -1, 3, 2, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(call(N, N, 4, 2, 3, 2, 2, 2) == CUBLAS_STATUS_INVALID_VALUE);  // a row of A has k = 3 words
  CHECK(call(T, N, 4, 2, 3, 3, 2, 2) == CUBLAS_STATUS_INVALID_VALUE);  // stored, A is 3 x 4
  CHECK(call(N, N, 4, 2, 3, 3, 1, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(call(N, T, 4, 2, 3, 3, 2, 2) == CUBLAS_STATUS_INVALID_VALUE);  // stored, B is 2 x 3
  CHECK(call(N, N, 4, 2, 3, 3, 2, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(launch_cublas_sgemm(nullptr, A.data(), B.data(), C.data(), 2, 2, 2) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(dot_to_device(nullptr, A.data(), B.data(), 2, C.data()) == CUBLAS_STATUS_NOT_INITIALIZED);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(C.intact());
}

TEST_CASE("sgemv_row_major: operations, leading dimensions, alpha and beta", "[sgemv]") {
  CublasHandle handle;
  std::size_t cases = 0;
  for (const MatmulShape& shape : matmul_shapes()) {
    const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n);
    for (const cublasOperation_t op : kOps) {
      ++cases;
      const int gap = static_cast<int>(cases % 4), in = op == CUBLAS_OP_N ? n : m, out = op == CUBLAS_OP_N ? m : n;
      const float alpha = cases % 2 ? 1.0f : -2.0f, beta = cases % 3 ? 0.0f : 0.5f;
      const auto a = tilewise::random_vector(shape.m * shape.n, cases), x = tilewise::random_vector(in, cases + 1000),
                 y = tilewise::random_vector(out, cases + 2000);
      const sgemm_check::Stored stored(a, m, n, CUBLAS_OP_N, gap);
      GuardedMatrix A(stored.words), X(x);
      GuardedMatrix Y(beta == 0 ? std::vector<float>(out, GuardedMatrix::canary()) : y, -1.2345678e33f);
      NewFindings findings;
      REQUIRE(sgemv_row_major(handle, op, m, n, alpha, A.data(), stored.ld, X.data(), beta, Y.data()) ==
              CUBLAS_STATUS_SUCCESS);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      const VectorCheck expected = expected_gemv(a, m, n, op, alpha, x, beta, y);
      const auto comparison = tilewise::compare(Y.values(), expected.expected, expected.bound, out, 1);
      INFO(m << " x " << n << ", op " << op << ", gap " << gap << ": " << comparison.text());
      REQUIRE(comparison.ok);
      REQUIRE(Y.margins_intact());
      REQUIRE(findings.take().empty());
    }
  }
  REQUIRE(cases >= 120);
}

TEST_CASE("a wrong cublasSgemv of a row-major matrix is refused or wrong", "[sgemv]") {
  CublasHandle handle;
  const int m = 13, n = 29;
  const auto a = tilewise::random_vector(m * n, 1), x = tilewise::random_vector(n, 2);
  GuardedMatrix A(a), X(x);
  const VectorCheck expected = expected_gemv(a, m, n, CUBLAS_OP_N, 1, x, 0, {});
  const float one = 1, zero = 0;
  const auto right = [&](cublasOperation_t op, int rows, int cols, int lda) {
    GuardedMatrix Y(std::vector<float>(m, GuardedMatrix::canary()), -1.2345678e33f);
    if (cublasSgemv(handle, op, rows, cols, &one, A.data(), lda, X.data(), 1, &zero, Y.data(), 1) !=
        CUBLAS_STATUS_SUCCESS)
      return false;
    return tilewise::compare(Y.values(), expected.expected, expected.bound, m, 1).ok && Y.margins_intact();
  };
  CHECK(right(CUBLAS_OP_T, n, m, n));            // what sgemv_row_major does
  CHECK_FALSE(right(CUBLAS_OP_N, m, n, n));      // as it is written in mathematics
  CHECK_FALSE(right(CUBLAS_OP_N, m, n, m));      // "lda is the number of rows"
  CHECK_FALSE(right(CUBLAS_OP_T, m, n, n));      // sizes not exchanged
  CHECK_FALSE(right(CUBLAS_OP_N, n, m, n));      // operation not exchanged
  CHECK_FALSE(right(CUBLAS_OP_T, n, m, n + 1));  // wrong leading dimension
  CHECK_FALSE(right(CUBLAS_OP_T, n, m - 1, n));  // the last row lost
}

TEST_CASE("dot products, to the host and to the device", "[dot]") {
  CublasHandle handle;
  for (const int n : {1, 2, 3, 31, 32, 33, 127, 1000, 4097}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto x = tilewise::random_vector(n, seed), y = tilewise::random_vector(n, seed + 100);
      const DeviceBuffer<float> X(x), Y(y);
      double sum = 0, magnitude = 0;
      for (int i = 0; i < n; ++i) {
        sum += double(x[i]) * y[i];
        magnitude += std::abs(double(x[i]) * y[i]);
      }
      const double bound = tilewise::error_bound(n, magnitude);
      float host = std::numeric_limits<float>::quiet_NaN();
      REQUIRE(dot_to_host(handle, X.data(), Y.data(), n, &host) == CUBLAS_STATUS_SUCCESS);
      CHECK(tilewise::element_ok(host, sum, bound));
      GuardedMatrix device(std::vector<float>(1, GuardedMatrix::canary()));
      REQUIRE(dot_to_device(handle, X.data(), Y.data(), n, device.data()) == CUBLAS_STATUS_SUCCESS);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(tilewise::element_ok(device.values()[0], sum, bound));
      CHECK(device.margins_intact());
      cublasPointerMode_t mode{};
      CUBLAS_CHECK(cublasGetPointerMode(handle, &mode));
      CHECK(mode == CUBLAS_POINTER_MODE_HOST);  // as it was
    }
  }
  float nothing = std::numeric_limits<float>::quiet_NaN();
  const DeviceBuffer<float> x(std::vector<float>{1});
  REQUIRE(dot_to_host(handle, x.data(), x.data(), 0, &nothing) == CUBLAS_STATUS_SUCCESS);
  CHECK(nothing == 0);
}

TEST_CASE("a batch is the same as its products one by one", "[batch]") {
  CublasHandle handle;
  for (const MatmulShape& shape :
       {MatmulShape{1, 1, 1}, MatmulShape{5, 3, 7}, MatmulShape{16, 16, 16}, MatmulShape{3, 9, 2}}) {
    for (const int count : {1, 2, 7}) {
      const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
      const auto a = tilewise::random_vector(count * shape.m * shape.k, 1, Distribution::integers);
      const auto b = tilewise::random_vector(count * shape.k * shape.n, 2, Distribution::integers);
      GuardedMatrix A(a), B(b), C(std::vector<float>(count * shape.m * shape.n, GuardedMatrix::canary()));
      REQUIRE(sgemm_row_major_batch(handle, m, n, k, A.data(), B.data(), C.data(), count) == CUBLAS_STATUS_SUCCESS);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      std::vector<float> expected;
      for (int p = 0; p < count; ++p)
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int l = 0; l < k; ++l) sum += a[p * m * k + i * k + l] * b[p * k * n + l * n + j];
            expected.push_back(sum);
          }
      CHECK(C.values() == expected);
      CHECK(C.margins_intact());
    }
  }
}

TEST_CASE("a kernel, a product and a kernel on one stream run in this order", "[stream]") {
  // check_sgemm() sends A late on the handle's stream; here the handle changes streams between two products.
  const tilewise::Stream first, second;
  CublasHandle handle(first.get());
  const std::vector<float> identity = {1, 0, 0, 1};
  const DeviceBuffer<float> I(identity), A(std::vector<float>{1, 2, 3, 4});
  DeviceBuffer<float> B(4), C(4);
  CUBLAS_CHECK(launch_cublas_sgemm(handle, A.data(), I.data(), B.data(), 2, 2, 2, first.get()));
  first.synchronize();  // the two streams do not wait for each other by themselves
  CUBLAS_CHECK(launch_cublas_sgemm(handle, A.data(), B.data(), C.data(), 2, 2, 2, second.get()));
  second.synchronize();
  CHECK(C.to_host() == std::vector<float>{7, 10, 15, 22});
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("the CPU's cuBLAS is not counted", "[counts]") {
  CublasHandle handle;
  const DeviceBuffer<float> A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f));
  DeviceBuffer<float> C(16);
  const auto counts =
      tilewise::count([&] { CUBLAS_CHECK(launch_cublas_sgemm(handle, A.data(), B.data(), C.data(), 4, 4, 4)); });
  CHECK_FALSE(counts.has_value());  // and not those of the last kernel
  CHECK(tilewise::cublas_engine().find("CPU") != std::string::npos);
}
#endif

TEST_CASE("the template of the wrong wrappers is right without a mistake", "[mutants]") {
  for (const SgemmCase& c : mutant_cases()) {
    const SgemmVerdict verdict = check_sgemm(sgemm_mutants::mutant<sgemm_mutants::Bug::none>, c);
    INFO(c.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong wrapper is rejected, and for its own mistake", "[mutants]") {
  for (const sgemm_mutants::Mutant& mutant : sgemm_mutants::mutants()) {
    if (!mutant.on_gpu && !tilewise::is_simulated()) continue;
    unsigned faults = 0;
    std::string text;
    for (const SgemmCase& c : mutant_cases()) {
      const SgemmVerdict one = check_sgemm(mutant.sgemm, c);
      faults |= one.faults;
      if (!one.right()) text += c.text() + ": " + one.text + "\n";
    }
    INFO(mutant.name << ": " << (faults == 0 ? "passed as right" : text));
    CHECK((faults & static_cast<unsigned>(mutant.fault)) != 0);
    if (tilewise::is_simulated()) CHECK(text.find(mutant.said) != std::string::npos);
  }
}
