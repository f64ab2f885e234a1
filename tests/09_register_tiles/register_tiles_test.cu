// Chapter 09: several elements per thread on every kind of shape, and the wrong kernels that the same check must reject.
#include "register_tiles.cuh"

#include <limits>
#include <string>
#include <vector>

#include "../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "01_naive_matmul/check_matmul.hpp"
#include "09_register_tiles/mutants/mutants.cuh"
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

template <int BM, int BN, int BK, int TM>
Kernel columns() {
  return {rows::with_arguments("column_tiles", BM, BN, BK, TM),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_column_tiles<BM, BN, BK, TM>(A, B, C, M, N, K);
          }};
}

template <int BM, int BN, int BK, int TM, int TN>
Kernel rectangles() {
  return {rows::with_arguments("register_tiles", BM, BN, BK, TM, TN),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_register_tiles<BM, BN, BK, TM, TN>(A, B, C, M, N, K);
          }};
}

/// Those of the lesson, and small and odd ones: no powers of two, one element per thread, rectangles lying and standing.
const std::vector<Kernel> kernels = {
    columns<64, 64, 8, 8>(),        columns<8, 16, 4, 4>(),           columns<6, 9, 6, 3>(),
    rectangles<64, 64, 16, 4, 4>(), rectangles<128, 128, 16, 8, 8>(), rectangles<128, 128, 16, 16, 8>(),
    rectangles<8, 8, 8, 2, 2>(),    rectangles<16, 32, 4, 2, 4>(),    rectangles<20, 30, 6, 5, 2>(),
};

}  // namespace

TEST_CASE("kernels with several elements per thread are right on every shape", "[register_tiles]") {
  for (const MatmulShape& shape : matmul_shapes()) {
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

TEST_CASE("and around the edges of a tile of 128", "[register_tiles]") {
  for (const MatmulShape& shape : {MatmulShape{127, 129, 17}, {129, 128, 8}, {130, 127, 9}, {256, 131, 7}}) {
    for (const Kernel& kernel : {rectangles<128, 128, 16, 8, 8>(), rectangles<128, 128, 16, 16, 8>()}) {
      const Verdict verdict = check_matmul(kernel.launch, shape, 5);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("register tiles are right on all kinds of data", "[register_tiles]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : {columns<64, 64, 8, 8>(), rectangles<128, 128, 16, 8, 8>()}) {
    for (std::uint64_t seed : {3, 4, 5}) {
      const Verdict verdict = check_matmul(kernel.launch, {45, 39, 58}, seed, distribution);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
      if (distribution == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
    }
  }
}

TEST_CASE("several elements per thread do not change one bit of the result", "[register_tiles]") {
  // Every kernel adds the products in the order of k, and what a tile adds beyond the edge is zero.
  const int M = 45, N = 39, K = 58;
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

TEST_CASE("in registers, too, what is not a number stays in its row and column", "[register_tiles]") {
  const MatmulShape shape{21, 35, 19};
  auto a = tilewise::random_vector(shape.m * shape.k, 1);
  auto b = tilewise::random_vector(shape.k * shape.n, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t k = 0; k < shape.k; ++k) a[5 * shape.k + k] = nan;   // one row in the middle of A
  a[4 * shape.k + 18] = std::numeric_limits<float>::infinity();         // the last word of the row before it
  for (std::size_t k = 0; k < shape.k; ++k) b[k * shape.n + 34] = nan;  // the last column of B
  const tilewise::MatmulReference reference(a, b, shape);
  for (const Kernel& kernel : kernels) {
    const Verdict verdict = check_matmul(kernel.launch, shape, a, b, reference);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("register tiles of an empty matrix are no error, and a sum of no tiles is zero", "[register_tiles]") {
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    for (const MatmulShape& shape : {MatmulShape{0, 5, 7}, MatmulShape{5, 0, 7}, MatmulShape{0, 0, 0}})
      REQUIRE(check_matmul(kernel.launch, shape, 1).right());
    GuardedMatrix C(std::vector<float>(5 * 7, GuardedMatrix::canary()));
    REQUIRE(kernel.launch(nullptr, nullptr, C.data(), 5, 7, 0) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(C.values() == std::vector<float>(5 * 7, 0.0f));
    REQUIRE(C.margins_intact());
  }
}

TEST_CASE("sizes that cannot be are refused, and C is left alone", "[register_tiles]") {
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), -1, 4, 4) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 4, -1, 4) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 4, 4, -1) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 4, 4, (1 << 30) + 1) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 1 << 16, 1 << 15, 1) ==
            cudaErrorInvalidValue);  // 2^31 elements
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(C.intact());
}

TEST_CASE("register tiles run on the stream they are given", "[register_tiles]") {
  const tilewise::Stream stream;
  const auto all = [&](const float* A, const float* B, float* C, int M, int N, int K) {
    cudaError_t status = launch_column_tiles<64, 64, 8, 8>(A, B, C, M, N, K, stream.get());
    if (status == cudaSuccess) status = launch_register_tiles<128, 128, 16, 8, 8>(A, B, C, M, N, K, stream.get());
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

TEST_CASE("loads per multiply-add are those that the page promises", "[counts]") {
  const MatmulShape shape{128, 128, 64};
  const double products = 128.0 * 128 * 64 / 32;  // multiply-adds of a warp
  struct Promise {
    Kernel kernel;
    double shared_loads;  // per multiply-add
    int tile_rows, tile_columns;
  };
  const Promise promises[] = {
      {columns<64, 64, 8, 8>(), 9.0 / 8, 64, 64},                 // 8 + 1 words for 8 products
      {rectangles<64, 64, 16, 4, 4>(), 8.0 / 16, 64, 64},         // 4 + 4 words for 16
      {rectangles<128, 128, 16, 8, 8>(), 16.0 / 64, 128, 128},    // 8 + 8 words for 64
      {rectangles<128, 128, 16, 16, 8>(), 24.0 / 128, 128, 128},  // 16 + 8 words for 128
  };
  for (const Promise& promise : promises) {
    INFO(promise.kernel.name);
    const tilewise::Counts counts = counts_of(promise.kernel, shape);
    CHECK(counts.shared_loads / products == promise.shared_loads);
    CHECK(counts.shared_conflicts == 0);
    const double words = 128.0 * 128 * 64 * (1.0 / promise.tile_rows + 1.0 / promise.tile_columns);
    CHECK(counts.global_load_requests == words / 32);
    CHECK(counts.global_load_sectors == 4 * counts.global_load_requests);  // coalesced
  }
}

#endif

namespace {

MatmulLaunch launch_of(void (*kernel)(const float*, const float*, float*, int, int, int), dim3 block) {
  return [=](const float* A, const float* B, float* C, int M, int N, int K) {
    constexpr int tile = register_mutants::kTile;
    kernel<<<dim3((N + tile - 1) / tile, (M + tile - 1) / tile), block>>>(A, B, C, M, N, K);
    return cudaGetLastError();
  };
}

}  // namespace

TEST_CASE("the templates of the wrong register tiles are right without a mistake", "[mutants]") {
  using namespace register_mutants;
  for (const MatmulLaunch& launch :
       {launch_of(rectangle<Bug::none>, kRectangle), launch_of(column<Bug::none>, kColumn)}) {
    const Verdict verdict = check_mutant(launch);
    INFO(verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong register tile is rejected, and for its own mistake", "[mutants]") {
  for (const register_mutants::Mutant& mutant : register_mutants::mutants) {
    const bool race = *mutant.finding != '\0';
    Verdict verdict;
    for (const MatmulShape& shape : mutant_shapes()) {  // one shape that shows the mistake is enough
      const Verdict one = check_matmul(launch_of(mutant.kernel, mutant.block), shape, 7);
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
