// Chapter 02: the tiled kernels on every kind of shape and tile, and the wrong kernels that the same check must reject.
#include "tiled_matmul.cuh"

#include <limits>
#include <string>
#include <vector>

#include "../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "01_naive_matmul/check_matmul.hpp"
#include "02_tiled_matmul/mutants/mutants.cuh"
#include "catch.hpp"
#include "tilewise/device.hpp"

namespace {

/// What CUDA answers to a block that is too large: CUDA 13 changed it.
constexpr cudaError_t kBlockTooLarge = CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

using tilewise::Distribution;
using tilewise::MatmulShape;

struct Kernel {
  std::string name;
  MatmulLaunch launch;
};

template <int TILE>
Kernel tiled_static() {
  return {"tiled_matmul<" + std::to_string(TILE) + ">",
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_tiled_matmul<TILE>(A, B, C, M, N, K);
          }};
}

Kernel tiled_dynamic(int tile) {
  return {"tiled_matmul_dynamic, tile " + std::to_string(tile),
          [tile](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_tiled_matmul_dynamic(A, B, C, M, N, K, tile);
          }};
}

/// Tiles that divide a warp, tiles that do not, and the largest.
const std::vector<Kernel> kernels = {
    tiled_static<1>(),  tiled_static<3>(),  tiled_static<4>(), tiled_static<8>(), tiled_static<13>(),
    tiled_static<16>(), tiled_static<32>(), tiled_dynamic(1),  tiled_dynamic(2),  tiled_dynamic(5),
    tiled_dynamic(8),   tiled_dynamic(16),  tiled_dynamic(27), tiled_dynamic(32),
};

}  // namespace

TEST_CASE("tiled kernels are right on every shape", "[tiled]") {
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

TEST_CASE("tiled kernels are right on all kinds of data", "[tiled]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : {tiled_static<8>(), tiled_static<16>(), tiled_static<32>(), tiled_dynamic(16)}) {
    for (std::uint64_t seed : {3, 4, 5, 6}) {
      const Verdict verdict = check_matmul(kernel.launch, {45, 39, 58}, seed, distribution);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
      if (distribution == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
    }
  }
}

TEST_CASE("tiling does not change one bit of the result", "[tiled]") {
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

TEST_CASE("in tiles, too, what is not a number stays in its row and column", "[tiled]") {
  // A tile that reached over the end of a row of A, or below B, would carry the NaN into other elements.
  const MatmulShape shape{21, 35, 19};
  auto a = tilewise::random_vector(shape.m * shape.k, 1);
  auto b = tilewise::random_vector(shape.k * shape.n, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < shape.k; ++k) a[5 * shape.k + k] = nan;   // one row in the middle of A
  a[4 * shape.k + 18] = inf;                                            // the last word of the row before it
  for (std::size_t k = 0; k < shape.k; ++k) b[k * shape.n + 34] = nan;  // the last column of B
  const tilewise::MatmulReference reference(a, b, shape);
  for (const Kernel& kernel : kernels) {
    const Verdict verdict = check_matmul(kernel.launch, shape, a, b, reference);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("tiles of an empty matrix are no error, and a sum of no tiles is zero", "[tiled]") {
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

TEST_CASE("tiles that cannot be launched are refused, and C is left alone", "[tiled]") {
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  const auto with_tile = [&](int tile) {
    return launch_tiled_matmul_dynamic(A.data(), B.data(), C.data(), 4, 4, 4, tile);
  };
  REQUIRE(with_tile(0) == cudaErrorInvalidValue);
  REQUIRE(with_tile(-8) == cudaErrorInvalidValue);
  REQUIRE(with_tile(1 << 20) == cudaErrorInvalidValue);     // tile * tile would overflow an int
  REQUIRE(with_tile(33) == kBlockTooLarge);  // 1,089 threads
  REQUIRE(with_tile(64) == kBlockTooLarge);  // 4,096 threads
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

TEST_CASE("tiled kernels run on the stream they are given", "[tiled]") {
  const tilewise::Stream stream;
  const auto both = [&](const float* A, const float* B, float* C, int M, int N, int K) {
    cudaError_t status = launch_tiled_matmul_dynamic(A, B, C, M, N, K, 8, stream.get());
    if (status == cudaSuccess) status = launch_tiled_matmul<16>(A, B, C, M, N, K, stream.get());
    return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
  };
  REQUIRE(check_matmul(both, {33, 20, 47}, 1).right());
}

TEST_CASE("a block asks for as much shared memory as the lesson says", "[tiled]") {
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, tiled_matmul<16>) == cudaSuccess);
  REQUIRE(attributes.maxThreadsPerBlock >= 256);
  REQUIRE(tiled_matmul_shared_bytes(8) == 512);
  REQUIRE(tiled_matmul_shared_bytes(16) == 2048);
  REQUIRE(tiled_matmul_shared_bytes(32) == 8192);
}

namespace {

MatmulLaunch launch_of(void (*kernel)(const float*, const float*, float*, int, int, int)) {
  return [kernel](const float* A, const float* B, float* C, int M, int N, int K) {
    constexpr int tile = tiled_mutants::kTile;
    const dim3 block(tile, tile);
    const dim3 grid((N + tile - 1) / tile, (M + tile - 1) / tile);
    kernel<<<grid, block>>>(A, B, C, M, N, K);
    return cudaGetLastError();
  };
}

}  // namespace

TEST_CASE("the template of the wrong tiled kernels is right without a mistake", "[mutants]") {
  const Verdict verdict = check_mutant(launch_of(tiled_mutants::mutant<tiled_mutants::Bug::none>));
  INFO(verdict.text);
  REQUIRE(verdict.right());
}

TEST_CASE("every wrong tiled kernel is rejected, and for its own mistake", "[mutants]") {
  for (const tiled_mutants::Mutant& mutant : tiled_mutants::mutants) {
    const Verdict verdict = check_mutant(launch_of(mutant.kernel));
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
    if (mutant.race && !tilewise::is_simulated()) {
      // On a GPU the warps may happen to run in a harmless order; compute-sanitizer is the judge there.
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    if (mutant.race) CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
