// Chapter 02: the tiled kernels on every kind of shape and tile, and the wrong kernels that the same check must reject.
#include "tiled_matmul.cuh"

#include <string>
#include <vector>

#include "02_tiled_matmul/mutants/mutants.cuh"
#include "catch.hpp"
#include "matmul_frame.hpp"
#include "tile_costs.hpp"

namespace {

/// What CUDA answers to a block that is too large: CUDA 13 changed it.
constexpr cudaError_t kBlockTooLarge = CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

using tilewise::MatmulShape;
using Kernel = MatmulKernel;

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
  require_right(kernels, matmul_shapes(), [](const Kernel& kernel, const MatmulShape& shape) {
    // One thread per block: slow, and nothing new.
    return kernel.name == "tiled_matmul_dynamic, tile 1" && shape.m * shape.n > 1024;
  });
}

TEST_CASE("tiled kernels are right on all kinds of data", "[tiled]") {
  require_right_on_all_data({tiled_static<8>(), tiled_static<16>(), tiled_static<32>(), tiled_dynamic(16),
                             prefetched<16>(), rectangular<64, 64, 8>()},
                            {{45, 39, 58}}, {3, 4, 5, 6});
}

TEST_CASE("tiling does not change one bit of the result", "[tiled]") { require_bits_of_naive(kernels, {45, 39, 58}); }

TEST_CASE("in tiles, too, what is not a number stays in its row and column", "[tiled]") {
  require_nan_stays(kernels, {21, 35, 19});
}

TEST_CASE("tiles of an empty matrix are no error, and a sum of no tiles is zero", "[tiled]") {
  require_empty_is_no_error(kernels);
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
  REQUIRE(cudaGetLastError() == cudaSuccess);            // a refused launch leaves nothing behind
  REQUIRE(C.intact());
  require_refusals(kernels);
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
  return launch_in_tiles(kernel, tile, dim3(tiled_mutants::kTile, tiled_mutants::kTile));
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
  check_rejected(tiled_mutants::mutants,
                 [](const tiled_mutants::Mutant& mutant) { return launch_of(mutant.kernel, mutant.tile); });
}
