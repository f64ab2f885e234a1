// The homework's solution, on this machine (a GPU, too): right for many shapes, nothing written beside its output, no
// input changed, the handle as promised. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/random.hpp"

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A handle that is on another stream than the one to be used.
struct Library {
  cublasHandle_t handle = nullptr;
  cudaStream_t before = nullptr, stream = nullptr;
  Library() {
    CUDA_CHECK(cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSetStream(handle, before) == CUBLAS_STATUS_SUCCESS);
  }
  ~Library() {
    cublasDestroy(handle);
    cudaStreamDestroy(before);
    cudaStreamDestroy(stream);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void check(cublasStatus_t status) {
    REQUIRE(status == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    cudaStream_t on = nullptr;
    cublasMath_t math = CUBLAS_TF32_TENSOR_OP_MATH;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_DEVICE;
    REQUIRE(cublasGetStream(handle, &on) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasGetMathMode(handle, &math) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasGetPointerMode(handle, &pointers) == CUBLAS_STATUS_SUCCESS);
    CHECK(on == stream);
    CHECK(math == CUBLAS_DEFAULT_MATH);
    CHECK(pointers == CUBLAS_POINTER_MODE_HOST);
  }
};

std::vector<float> poison(int rows, int cols) { return std::vector<float>(at(rows) * at(cols), NAN); }

/// Elements of `got` that are not the sum of `terms(i, t)` over 0 <= t < count, within the rounding bound.
template <class Terms>
int wrong_sums(const std::vector<float>& got, int count, Terms terms) {
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double sum = 0, magnitude = 0;
    for (int t = 0; t < count; ++t) {
      const double term = terms(static_cast<int>(i), t);
      sum += term;
      magnitude += std::abs(term);
    }
    wrong += !tilewise::element_ok(got[i], sum, tilewise::error_bound(at(count) + 3, magnitude));
  }
  return wrong;
}

}  // namespace

TEST_CASE("homework, solution: a linear layer", "[homework]") {
  Library library;
  for (const auto& s : std::vector<std::vector<int>>{
           {1, 1, 1}, {7, 33, 5}, {5, 7, 33}, {33, 5, 7}, {64, 48, 80}, {1, 100, 3}, {100, 1, 9}}) {
    const int rows = s[0], in = s[1], out = s[2];
    INFO("rows = " << rows << ", in = " << in << ", out = " << out);
    const auto x = tilewise::random_vector(at(rows) * at(in), 1), w = tilewise::random_vector(at(out) * at(in), 2),
               b = tilewise::random_vector(at(out), 3);
    GuardedMatrix X(x), W(w), bias(b), Y(poison(rows, out));
    library.check(
        launch_linear(library.handle, X.data(), W.data(), bias.data(), Y.data(), rows, in, out, library.stream));
    CHECK(wrong_sums(Y.values(), in + 1, [&](int e, int k) {
            const int i = e / out, j = e % out;
            return k == in ? double{b[at(j)]} : double{x[at(i * in + k)]} * double{w[at(j * in + k)]};
          }) == 0);
    CHECK(Y.margins_intact());
    CHECK(X.intact());
    CHECK(W.intact());
    CHECK(bias.intact());
  }
}

TEST_CASE("homework, solution: scores of all heads", "[homework]") {
  Library library;
  for (const auto& s : std::vector<std::vector<int>>{
           {1, 1, 1, 1}, {3, 5, 7, 11}, {8, 16, 24, 32}, {2, 33, 1, 5}, {5, 1, 40, 9}, {1, 6, 7, 64}}) {
    const int heads = s[0], queries = s[1], keys = s[2], d = s[3];
    INFO("heads = " << heads << ", queries = " << queries << ", keys = " << keys << ", d = " << d);
    const auto q = tilewise::random_vector(at(queries * heads) * at(d), 4),
               k = tilewise::random_vector(at(keys) * at(d), 5);
    GuardedMatrix Q(q), K(k), S(poison(heads * queries, keys));
    library.check(
        launch_head_scores(library.handle, Q.data(), K.data(), S.data(), heads, queries, keys, d, library.stream));
    CHECK(wrong_sums(S.values(), d, [&](int e, int c) {
            const int h = e / (queries * keys), i = e / keys % queries, j = e % keys;
            return double{q[at((i * heads + h) * d + c)]} * double{k[at(j * d + c)]} / std::sqrt(double(d));
          }) == 0);
    CHECK(S.margins_intact());
    CHECK(Q.intact());
    CHECK(K.intact());
  }
}

TEST_CASE("homework, solution: distances", "[homework]") {
  Library library;
  for (const auto& s : std::vector<std::vector<int>>{
           {1, 1, 1}, {7, 33, 5}, {33, 7, 40}, {64, 48, 32}, {1, 100, 3}, {100, 1, 200}, {9, 9, 33}}) {
    const int m = s[0], n = s[1], d = s[2];
    INFO("m = " << m << ", n = " << n << ", d = " << d);
    const auto a = tilewise::random_vector(at(m) * at(d), 6);
    auto b = tilewise::random_vector(at(n) * at(d), 7);
    for (int j = 0; j < std::min(m, n); j += 2)  // the same points
      for (int k = 0; k < d; ++k) b[at(j * d + k)] = a[at(j * d + k)];
    GuardedMatrix A(a), B(b), D(poison(m, n)), workspace(poison(1, m + n));
    library.check(
        launch_distances(library.handle, A.data(), B.data(), D.data(), workspace.data(), m, n, d, library.stream));
    const std::vector<float> got = D.values();
    int wrong = 0;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double exact = 0, magnitude = 0;
        for (int k = 0; k < d; ++k) {
          const double u = double{a[at(i * d + k)]}, v = double{b[at(j * d + k)]};
          exact += (u - v) * (u - v);
          magnitude += u * u + v * v + 2 * std::abs(u * v);
        }
        const double e = tilewise::error_bound(at(d) + 3, magnitude), root = std::sqrt(exact);
        const double bound = std::max(std::sqrt(exact + e) - root, root - std::sqrt(std::max(0.0, exact - e)));
        wrong += !tilewise::element_ok(got[at(i * n + j)], root, bound + 0x1p-22 * root);
      }
    }
    CHECK(wrong == 0);
    CHECK(D.margins_intact());
    CHECK(workspace.margins_intact());
    CHECK(A.intact());
    CHECK(B.intact());
  }
}
