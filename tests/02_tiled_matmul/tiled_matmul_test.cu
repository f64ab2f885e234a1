// Chapter 02: the tiled kernels on every kind of shape and tile, and the wrong kernels that the same check must reject.
#include "tiled_matmul.cuh"

#include <limits>
#include <string>
#include <vector>

#include "../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "01_naive_matmul/check_matmul.hpp"
#include "02_tiled_matmul/mutants/mutants.cuh"
#include "catch.hpp"
#include "tile_costs.hpp"
#include "tilewise/counters.hpp"
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

template <int TILE>
Kernel prefetched() {
  return {"tiled_matmul_prefetched<" + std::to_string(TILE) + ">",
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_tiled_matmul_prefetched<TILE>(A, B, C, M, N, K);
          }};
}

template <int BM, int BN, int BK>
Kernel rectangular() {
  return {
      "tiled_matmul_rectangular<" + std::to_string(BM) + ", " + std::to_string(BN) + ", " + std::to_string(BK) + ">",
      [](const float* A, const float* B, float* C, int M, int N, int K) {
        return launch_tiled_matmul_rectangular<BM, BN, BK>(A, B, C, M, N, K);
      }};
}

/// Tiles that divide a warp, tiles that do not, and the largest. Of the rectangles: those of the lesson, and one
/// without powers of two.
const std::vector<Kernel> kernels = {
    tiled_static<3>(),        tiled_static<8>(),        tiled_static<13>(),        tiled_static<16>(),
    tiled_static<32>(),       tiled_dynamic(1),         tiled_dynamic(5),          tiled_dynamic(16),
    tiled_dynamic(32),        prefetched<5>(),          prefetched<16>(),          prefetched<32>(),
    rectangular<32, 32, 8>(), rectangular<64, 64, 8>(), rectangular<32, 128, 8>(), rectangular<32, 48, 5>(),
};

}  // namespace

TEST_CASE("tiled kernels are right on every shape", "[tiled]") {
  for (const MatmulShape& shape : matmul_shapes()) {
    const auto a = tilewise::random_vector(shape.m * shape.k, 1);
    const auto b = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(a, b, shape);
    for (const Kernel& kernel : kernels) {
      if (kernel.name == "tiled_matmul_dynamic, tile 1" && shape.m * shape.n > 1024)
        continue;  // one thread per block: slow, and nothing new
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
  for (const Kernel& kernel : {tiled_static<8>(), tiled_static<16>(), tiled_static<32>(), tiled_dynamic(16),
                               prefetched<16>(), rectangular<64, 64, 8>()}) {
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
  REQUIRE(with_tile(1 << 20) == cudaErrorInvalidValue);  // tile * tile would overflow an int
  REQUIRE(with_tile(33) == kBlockTooLarge);              // 1,089 threads
  REQUIRE(with_tile(64) == kBlockTooLarge);              // 4,096 threads
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
  const auto all = [&](const float* A, const float* B, float* C, int M, int N, int K) {
    cudaError_t status = launch_tiled_matmul_dynamic(A, B, C, M, N, K, 8, stream.get());
    if (status == cudaSuccess) status = launch_tiled_matmul<16>(A, B, C, M, N, K, stream.get());
    if (status == cudaSuccess) status = launch_tiled_matmul_prefetched<16>(A, B, C, M, N, K, stream.get());
    if (status == cudaSuccess) status = launch_tiled_matmul_rectangular<32, 64, 8>(A, B, C, M, N, K, stream.get());
    return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
  };
  REQUIRE(check_matmul(all, {33, 20, 47}, 1).right());
}

TEST_CASE("a block asks for as much shared memory as the lesson says", "[tiled]") {
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, tiled_matmul<16>) == cudaSuccess);
  REQUIRE(attributes.maxThreadsPerBlock >= 256);
  REQUIRE(tiled_matmul_shared_bytes(8) == 512);
  REQUIRE(tiled_matmul_shared_bytes(16) == 2048);
  REQUIRE(tiled_matmul_shared_bytes(32) == 8192);
}

TEST_CASE("what a tile costs, and how many blocks an SM then holds, is as the page says", "[tiled]") {
  const std::vector<tile_costs::TileCost> costs = tile_costs::all();
  const auto cost = [&](const std::string& name) {
    for (const tile_costs::TileCost& c : costs)
      if (c.name == name) return c;
    FAIL("no " << name);
    return costs[0];
  };
  CHECK(cost("tiled_matmul<8>").shared_bytes == 512);
  CHECK(cost("tiled_matmul<16>").shared_bytes == 2048);
  CHECK(cost("tiled_matmul<32>").shared_bytes == 8192);
  CHECK(cost("tiled_matmul_prefetched<32>").shared_bytes == 16384);
  CHECK(cost("tiled_matmul_rectangular<64,64,8>").shared_bytes == 4096);
  CHECK(cost("tiled_matmul<16>").intensity() == 4);
  CHECK(cost("tiled_matmul<32>").intensity() == 8);
  CHECK(cost("tiled_matmul_rectangular<64,64,8>").intensity() == 16);
  // 4,096 threads are too many, and nothing else is.
  CHECK(cost("tiled_matmul<64>").impossible.find("4,096 threads per block") != std::string::npos);
  const tilewise::Device& device = tilewise::device();
  for (const tile_costs::TileCost& c : costs) {
    INFO(c.name);
    if (!c.impossible.empty()) continue;
    cudaFuncAttributes attributes{};
    if (c.registers == 0) continue;  // not recorded yet for the simulator
    CHECK(c.blocks_per_sm >= 1);
    CHECK(c.blocks_per_sm * c.threads <= device.max_threads_per_sm);
    CHECK(c.blocks_per_sm * c.shared_bytes <= device.shared_per_sm);
    CHECK(c.blocks_per_sm * c.threads * c.registers <= device.registers_per_sm);
    CHECK(c.occupancy == static_cast<double>(c.blocks_per_sm * c.threads) / device.max_threads_per_sm);
    if (c.name != "tiled_matmul<8>") continue;
    REQUIRE(cudaFuncGetAttributes(&attributes, tiled_matmul<8>) == cudaSuccess);
    CHECK(attributes.sharedSizeBytes == c.shared_bytes);
  }
  if (device.major == 9 && tilewise::is_simulated()) {  // another nvcc may need other registers. The page's table:
                                                        // 2,048 threads, 32 blocks and 65,536 registers per SM
    CHECK(cost("tiled_matmul<8>").blocks_per_sm == 32);
    CHECK(cost("tiled_matmul<16>").blocks_per_sm == 8);
    CHECK(cost("tiled_matmul<32>").blocks_per_sm == 2);
    CHECK(cost("tiled_matmul_prefetched<32>").blocks_per_sm == 2);
    CHECK(cost("tiled_matmul_rectangular<64,64,8>").blocks_per_sm == 4);  // 56 registers for each of 256 threads
    CHECK(cost("tiled_matmul_rectangular<32,128,8>").blocks_per_sm == 4);
  }
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

TEST_CASE("requests fall by the factor that the page promises", "[counts]") {
  const MatmulShape shape{128, 128, 64};
  const std::uint64_t naive = 2 * 128 * 128 * 64 / 32;  // requests of the naive kernel: 2 M N K words, 32 to a request
  struct Promise {
    Kernel kernel;
    std::uint64_t requests, shared_bytes;
  };
  const Promise promises[] = {
      {tiled_static<8>(), naive / 8, 512},
      {tiled_static<16>(), naive / 16, 2048},
      {tiled_static<32>(), naive / 32, 8192},
      {tiled_dynamic(16), naive / 16, 2048},
      {prefetched<16>(), naive / 16, 4096},
      {prefetched<32>(), naive / 32, 16384},
      {rectangular<32, 32, 8>(), naive / 32, 2048},
      {rectangular<64, 64, 8>(), naive / 64, 4096},
      {rectangular<64, 64, 16>(), naive / 64, 8192},  // depth changes nothing but the number of barriers
      // A word of A serves 128 columns, one of B only 32 rows: half of naive / 128 + naive / 32.
      {rectangular<32, 128, 8>(), (naive / 128 + naive / 32) / 2, 5120},
  };
  for (const Promise& promise : promises) {
    INFO(promise.kernel.name);
    const tilewise::Counts counts = counts_of(promise.kernel, shape);
    CHECK(counts.global_load_requests == promise.requests);
    CHECK(counts.global_load_sectors == 4 * promise.requests);  // coalesced: not one byte in vain
    CHECK(counts.shared_conflicts == 0);
    CHECK(counts.dram_bytes_at_least == static_cast<std::uint64_t>(shape.matrix_bytes()));
  }
}

TEST_CASE("a thread with several elements reads less from shared memory for each of them", "[counts]") {
  const MatmulShape shape{128, 128, 64};
  const double products = 128.0 * 128 * 64 / 32;  // multiply-adds of a warp
  const auto loads = [&](const Kernel& kernel) { return counts_of(kernel, shape).shared_loads / products; };
  CHECK(loads(tiled_static<32>()) == 2.0);
  CHECK(loads(prefetched<32>()) == 2.0);
  CHECK(loads(rectangular<32, 32, 8>()) == 1.0);              // 2 + 2 words for 2 x 2 products
  CHECK(loads(rectangular<64, 64, 8>()) == 0.5);              // 4 + 4 words for 4 x 4
  CHECK(loads(rectangular<32, 128, 8>()) == (2 + 8) / 16.0);  // 2 + 8 words for 2 x 8
}

#endif

namespace {

MatmulLaunch launch_of(void (*kernel)(const float*, const float*, float*, int, int, int),
                       int tile = tiled_mutants::kTile) {
  return [=](const float* A, const float* B, float* C, int M, int N, int K) {
    const dim3 block(tiled_mutants::kTile, tiled_mutants::kTile);
    const dim3 grid((N + tile - 1) / tile, (M + tile - 1) / tile);
    kernel<<<grid, block>>>(A, B, C, M, N, K);
    return cudaGetLastError();
  };
}

}  // namespace

TEST_CASE("the templates of the wrong tiled kernels are right without a mistake", "[mutants]") {
  using namespace tiled_mutants;
  for (const MatmulLaunch& launch : {launch_of(mutant<Bug::none>), launch_of(prefetched_mutant<PrefetchBug::none>),
                                     launch_of(rectangular_mutant<RectangleBug::none>, kBlockTile)}) {
    const Verdict verdict = check_mutant(launch);
    INFO(verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong tiled kernel is rejected, and for its own mistake", "[mutants]") {
  for (const tiled_mutants::Mutant& mutant : tiled_mutants::mutants) {
    Verdict verdict;
    for (const MatmulShape& shape : mutant_shapes()) {  // one shape that shows the mistake is enough
      const Verdict one = check_matmul(launch_of(mutant.kernel, mutant.tile), shape, 7);
      verdict.faults |= one.faults;
      if (!one.right()) verdict.text += shape.text() + ": " + one.text + "\n";
      if (verdict.has(mutant.fault) && verdict.text.find(mutant.finding) != std::string::npos) break;
    }
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
