// Chapter 10: 16-byte accesses on every kind of shape, and the wrong kernels that the same check must reject.
#include "wide_loads.cuh"

#include <string>
#include <vector>

#include "10_wide_loads/mutants/mutants.cuh"
#include "catch.hpp"
#include "matmul_frame.hpp"
#include "rows.hpp"

namespace {

using tilewise::MatmulShape;
using Kernel = MatmulKernel;

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
  require_right(kernels, matmul_shapes());
  require_right(kernels, aligned_shapes);
}

TEST_CASE("and around the edges of a tile of 128, aligned and not", "[wide_loads]") {
  require_right({fetches<128, 128, 16, 8, 8>(), loads<128, 128, 16, 8, 8>(), stores<128, 128, 16, 8, 8>()},
                {{127, 129, 17}, {129, 128, 8}, {130, 124, 12}, {256, 132, 20}});
}

TEST_CASE("wide accesses are right on all kinds of data", "[wide_loads]") {
  require_right_on_all_data({loads<128, 128, 16, 8, 8>(), stores<16, 32, 8, 4, 4>()}, {{45, 39, 58}, {45, 40, 56}},
                            {3});
}

TEST_CASE("wide accesses do not change one bit of the result", "[wide_loads]") {
  for (const MatmulShape& shape : {MatmulShape{45, 39, 58}, {45, 40, 56}}) require_bits_of_naive(kernels, shape);
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
  for (const MatmulShape& shape : {MatmulShape{21, 35, 19}, {21, 36, 20}}) require_nan_stays(kernels, shape);
}

TEST_CASE("wide loads of an empty matrix are no error, and a sum of no tiles is zero", "[wide_loads]") {
  require_empty_is_no_error(kernels, {7, 8});  // word by word, and four at a time
}

TEST_CASE("sizes that cannot be are refused by wide loads, and C is left alone", "[wide_loads]") {
  require_refusals(kernels);
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
  return launch_in_tiles(kernel, wide_mutants::kTile, wide_mutants::kThreads);
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
  check_rejected(
      wide_mutants::mutants, [](const wide_mutants::Mutant& mutant) { return launch_of(mutant.kernel); },
      shapes_of_mutants());
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
