// Chapter 10: 16-byte accesses on every kind of shape, and the wrong kernels that the same check must reject.
#include "wide_loads.cuh"

#include <limits>
#include <string>
#include <vector>

#include "../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "01_naive_matmul/check_matmul.hpp"
#include "10_wide_loads/mutants/mutants.cuh"
#include "catch.hpp"
#include "rows.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

namespace {

using tilewise::Distribution;
using tilewise::MatmulShape;

struct Kernel {
  std::string name;
  MatmulLaunch launch;
};

template <int BM, int BN, int BK, int TM, int TN>
Kernel fetches() {
  return {rows::with_arguments("wide_fetches", BM, BN, BK, TM, TN),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_wide_fetches<BM, BN, BK, TM, TN>(A, B, C, M, N, K);
          }};
}

template <int BM, int BN, int BK, int TM, int TN>
Kernel loads() {
  return {rows::with_arguments("wide_loads", BM, BN, BK, TM, TN),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_wide_loads<BM, BN, BK, TM, TN>(A, B, C, M, N, K);
          }};
}

template <int BM, int BN, int BK, int TM, int TN>
Kernel stores() {
  return {rows::with_arguments("wide_stores", BM, BN, BK, TM, TN),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_wide_stores<BM, BN, BK, TM, TN>(A, B, C, M, N, K);
          }};
}

/// Those of the lesson, and small ones: lying and standing rectangles, tiles of one group of four.
const std::vector<Kernel> kernels = {
    fetches<128, 128, 16, 8, 8>(), fetches<16, 32, 8, 4, 4>(), fetches<8, 8, 4, 4, 4>(), loads<128, 128, 16, 8, 8>(),
    loads<64, 128, 16, 8, 8>(),    loads<16, 32, 8, 4, 4>(),   loads<32, 16, 8, 4, 4>(), stores<128, 128, 16, 8, 8>(),
    stores<32, 16, 8, 4, 8>(),     stores<8, 8, 4, 4, 4>(),
};

/// Rows of these begin at multiples of 16 bytes, so that the kernels load four words at a time; ragged for all tiles.
const std::vector<MatmulShape> aligned_shapes = {{1, 4, 4},    {3, 4, 8},    {17, 20, 12},
                                                 {37, 36, 20}, {5, 132, 28}, {129, 132, 36}};

}  // namespace

TEST_CASE("kernels with wide accesses are right on every shape", "[wide_loads]") {
  std::vector<MatmulShape> shapes = matmul_shapes();
  shapes.insert(shapes.end(), aligned_shapes.begin(), aligned_shapes.end());
  for (const MatmulShape& shape : shapes) {
    const auto a = tilewise::random_vector(shape.m * shape.k, 1);
    const auto b = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(a, b, shape);
    for (const Kernel& kernel : kernels) {
      const Verdict verdict = check_matmul(kernel.launch, shape, a, b, reference);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == shape.m * shape.n);
    }
  }
}

TEST_CASE("and around the edges of a tile of 128, aligned and not", "[wide_loads]") {
  for (const MatmulShape& shape : {MatmulShape{127, 129, 17}, {129, 128, 8}, {130, 124, 12}, {256, 132, 20}}) {
    for (const Kernel& kernel :
         {fetches<128, 128, 16, 8, 8>(), loads<128, 128, 16, 8, 8>(), stores<128, 128, 16, 8, 8>()}) {
      const Verdict verdict = check_matmul(kernel.launch, shape, 5);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("wide accesses are right on all kinds of data", "[wide_loads]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : {loads<128, 128, 16, 8, 8>(), stores<16, 32, 8, 4, 4>()}) {
    for (const MatmulShape& shape : {MatmulShape{45, 39, 58}, {45, 40, 56}}) {
      const Verdict verdict = check_matmul(kernel.launch, shape, 3, distribution);
      INFO(kernel.name << ", " << shape.text() << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
      if (distribution == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
    }
  }
}

TEST_CASE("wide accesses do not change one bit of the result", "[wide_loads]") {
  // Every kernel adds the products in the order of k, and what a tile adds beyond the edge is zero.
  for (const MatmulShape& shape : {MatmulShape{45, 39, 58}, {45, 40, 56}}) {
    const int M = static_cast<int>(shape.m), N = static_cast<int>(shape.n), K = static_cast<int>(shape.k);
    const tilewise::DeviceBuffer<float> A(tilewise::random_vector(M * K, 1)), B(tilewise::random_vector(K * N, 2));
    tilewise::DeviceBuffer<float> C(M * N);
    C.poison();
    REQUIRE(launch_naive_matmul(A.data(), B.data(), C.data(), M, N, K, 16) == cudaSuccess);
    const std::vector<float> naive = C.to_host();
    for (const Kernel& kernel : kernels) {
      C.poison();
      REQUIRE(kernel.launch(A.data(), B.data(), C.data(), M, N, K) == cudaSuccess);
      INFO(kernel.name);
      REQUIRE(C.to_host() == naive);
    }
  }
}

TEST_CASE("matrices that begin between two multiples of 16 bytes are loaded word by word", "[wide_loads]") {
  const int M = 21, N = 24, K = 20;
  const std::vector<float> a = tilewise::random_vector(M * K, 1), b = tilewise::random_vector(K * N, 2);
  const tilewise::MatmulReference reference(a, b, {M, N, K});
  for (const Kernel& kernel : kernels) {
    for (const int moved : {0, 1, 2}) {  // which of A, B and C begins one word further on
      GuardedMatrix A(a), B(b), C(std::vector<float>(M * N, GuardedMatrix::canary()));
      float *at_a = A.data() + (moved == 0), *at_b = B.data() + (moved == 1), *at_c = C.data() + (moved == 2);
      REQUIRE(cudaMemcpy(at_a, a.data(), sizeof(float) * a.size(), cudaMemcpyHostToDevice) == cudaSuccess);
      REQUIRE(cudaMemcpy(at_b, b.data(), sizeof(float) * b.size(), cudaMemcpyHostToDevice) == cudaSuccess);
      NewFindings findings;
      REQUIRE(kernel.launch(at_a, at_b, at_c, M, N, K) == cudaSuccess);
      std::vector<float> c(M * N);
      REQUIRE(cudaMemcpy(c.data(), at_c, sizeof(float) * c.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
      INFO(kernel.name << ", matrix " << moved);
      CHECK(findings.take() == "");
      REQUIRE(reference.check(c).ok);
    }
  }
}

TEST_CASE("in wide loads, too, what is not a number stays in its row and column", "[wide_loads]") {
  for (const MatmulShape& shape : {MatmulShape{21, 35, 19}, {21, 36, 20}}) {
    auto a = tilewise::random_vector(shape.m * shape.k, 1);
    auto b = tilewise::random_vector(shape.k * shape.n, 2);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t k = 0; k < shape.k; ++k) a[5 * shape.k + k] = nan;        // one row in the middle of A
    a[5 * shape.k - 1] = std::numeric_limits<float>::infinity();               // the last word of the row before it
    for (std::size_t k = 0; k < shape.k; ++k) b[(k + 1) * shape.n - 1] = nan;  // the last column of B
    const tilewise::MatmulReference reference(a, b, shape);
    for (const Kernel& kernel : kernels) {
      const Verdict verdict = check_matmul(kernel.launch, shape, a, b, reference);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("wide loads of an empty matrix are no error, and a sum of no tiles is zero", "[wide_loads]") {
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    for (const MatmulShape& shape : {MatmulShape{0, 5, 7}, MatmulShape{5, 0, 7}, MatmulShape{0, 0, 0}})
      REQUIRE(check_matmul(kernel.launch, shape, 1).right());
    for (const int N : {7, 8}) {  // word by word, and four at a time
      GuardedMatrix C(std::vector<float>(5 * N, GuardedMatrix::canary()));
      REQUIRE(kernel.launch(nullptr, nullptr, C.data(), 5, N, 0) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      REQUIRE(C.values() == std::vector<float>(5 * N, 0.0f));
      REQUIRE(C.margins_intact());
    }
  }
}

TEST_CASE("sizes that cannot be are refused by wide loads, and C is left alone", "[wide_loads]") {
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), -1, 4, 4) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 4, -1, 4) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 4, 4, -1) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 4, 4, (1 << 30) + 1) == cudaErrorInvalidValue);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(C.intact());
}

TEST_CASE("wide loads run on the stream they are given", "[wide_loads]") {
  const tilewise::Stream stream;
  const auto all = [&](const float* A, const float* B, float* C, int M, int N, int K) {
    cudaError_t status = launch_wide_fetches<128, 128, 16, 8, 8>(A, B, C, M, N, K, stream.get());
    if (status == cudaSuccess) status = launch_wide_stores<128, 128, 16, 8, 8>(A, B, C, M, N, K, stream.get());
    if (status == cudaSuccess) status = launch_wide_loads<128, 128, 16, 8, 8>(A, B, C, M, N, K, stream.get());
    return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
  };
  REQUIRE(check_matmul(all, {33, 20, 47}, 1).right());
}

#ifdef TILEWISE_SIMULATOR

namespace {

tilewise::Counts counts_of(const Kernel& kernel, const MatmulShape& shape) {
  const tilewise::DeviceBuffer<float> A(tilewise::random_vector(shape.m * shape.k, 1));
  const tilewise::DeviceBuffer<float> B(tilewise::random_vector(shape.k * shape.n, 2));
  tilewise::DeviceBuffer<float> C(shape.m * shape.n);
  return tilewise::count([&] {
           REQUIRE(kernel.launch(A.data(), B.data(), C.data(), static_cast<int>(shape.m), static_cast<int>(shape.n),
                                 static_cast<int>(shape.k)) == cudaSuccess);
           REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
         })
      .value();
}

}  // namespace

TEST_CASE("wide accesses make a quarter of the requests, for the same bytes", "[counts]") {
  const MatmulShape shape{128, 128, 64};
  const double products = 128.0 * 128 * 64 / 32;             // multiply-adds of a warp
  const double words = 128.0 * 128 * 64 * (2.0 / 128) / 32;  // words of A and B that a warp's lanes fetch, each one
  const tilewise::Counts of_fetches = counts_of(fetches<128, 128, 16, 8, 8>(), shape);
  const tilewise::Counts of_loads = counts_of(loads<128, 128, 16, 8, 8>(), shape);
  const tilewise::Counts of_stores = counts_of(stores<128, 128, 16, 8, 8>(), shape);
  for (const tilewise::Counts& counts : {of_fetches, of_loads, of_stores}) {
    CHECK(counts.global_load_requests == words / 4);
    CHECK(counts.global_load_sectors == 4 * words);  // as many as lesson 09's 4-byte loads
  }
  CHECK(of_fetches.shared_loads / products == 16.0 / 64);  // 8 + 8 words, one at a time, for 64 products
  CHECK(of_loads.shared_loads / products == 4.0 / 64);     // the same words, four at a time
  CHECK(of_stores.shared_loads == of_loads.shared_loads);
}

#endif

namespace {

MatmulLaunch launch_of(void (*kernel)(const float*, const float*, float*, int, int, int)) {
  return [=](const float* A, const float* B, float* C, int M, int N, int K) {
    using namespace wide_mutants;
    kernel<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), kThreads>>>(A, B, C, M, N, K);
    return cudaGetLastError();
  };
}

/// Those of all mutants, and one whose rows begin at multiples of 16 bytes.
std::vector<MatmulShape> shapes_of_mutants() {
  std::vector<MatmulShape> shapes = mutant_shapes();
  shapes.push_back({37, 44, 20});
  return shapes;
}

}  // namespace

TEST_CASE("the template of the wrong wide loads is right without a mistake", "[mutants]") {
  for (const MatmulShape& shape : shapes_of_mutants()) {
    const Verdict verdict = check_matmul(launch_of(wide_mutants::wide<wide_mutants::Bug::none>), shape, 7);
    INFO(shape.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong wide load is rejected, and for its own mistake", "[mutants]") {
  for (const wide_mutants::Mutant& mutant : wide_mutants::mutants) {
    const bool race = *mutant.finding != '\0';
    Verdict verdict;
    for (const MatmulShape& shape : shapes_of_mutants()) {  // one shape that shows the mistake is enough
      const Verdict one = check_matmul(launch_of(mutant.kernel), shape, 7);
      verdict.faults |= one.faults;
      if (!one.right()) verdict.text += shape.text() + ": " + one.text + "\n";
      if (verdict.has(mutant.fault) && verdict.text.find(mutant.finding) != std::string::npos) break;
    }
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
    if (race && !tilewise::is_simulated()) {
      // On a GPU the warps may happen to run in a harmless order; compute-sanitizer is the judge there.
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    if (race) CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("a 16-byte access that does not begin at a multiple of 16 bytes ends the launch", "[mutants]") {
  // On the simulator only: on a GPU the error stays with the process, and later tests would fail.
  for (const wide_mutants::Mutant& mutant : wide_mutants::misaligned) {
    bool rejected = false;
    for (const MatmulShape& shape : {MatmulShape{20, 36, 20}, {20, 36, 35}, {20, 34, 20}}) {
      NewFindings findings;
      float *A = nullptr, *B = nullptr, *C = nullptr;  // cudaDeviceReset() frees them
      REQUIRE(cudaMalloc(&A, sizeof(float) * shape.m * shape.k) == cudaSuccess);
      REQUIRE(cudaMalloc(&B, sizeof(float) * shape.k * shape.n) == cudaSuccess);
      REQUIRE(cudaMalloc(&C, sizeof(float) * shape.m * shape.n) == cudaSuccess);
      REQUIRE(cudaMemset(A, 0, sizeof(float) * shape.m * shape.k) == cudaSuccess);
      REQUIRE(cudaMemset(B, 0, sizeof(float) * shape.k * shape.n) == cudaSuccess);
      cudaError_t status = launch_of(mutant.kernel)(A, B, C, static_cast<int>(shape.m), static_cast<int>(shape.n),
                                                    static_cast<int>(shape.k));
      if (status == cudaSuccess) status = cudaDeviceSynchronize();
      const std::string text = findings.take();
      REQUIRE(cudaDeviceReset() == cudaSuccess);
      INFO(mutant.name << ", " << shape.text() << ": " << text);
      if (text.empty()) {  // a shape on which the mistake does no harm
        CHECK(status == cudaSuccess);
        continue;
      }
      CHECK(status == cudaErrorMisalignedAddress);
      CHECK(text.find("misaligned") == 0);
      rejected = true;
    }
    INFO(mutant.name);
    CHECK(rejected);
  }
}

#endif
