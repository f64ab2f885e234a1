// Chapter 09: several elements per thread on every kind of shape, and the wrong kernels that the same check must reject.
#include "register_tiles.cuh"

#include <string>
#include <vector>

#include "09_register_tiles/mutants/mutants.cuh"
#include "catch.hpp"
#include "matmul_frame.hpp"
#include "rows.hpp"

namespace {

using tilewise::MatmulShape;
using Kernel = MatmulKernel;

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
  require_right(kernels, matmul_shapes());
}

TEST_CASE("and around the edges of a tile of 128", "[register_tiles]") {
  require_right({rectangles<128, 128, 16, 8, 8>(), rectangles<128, 128, 16, 16, 8>()},
                {{127, 129, 17}, {129, 128, 8}, {130, 127, 9}, {256, 131, 7}});
}

TEST_CASE("register tiles are right on all kinds of data", "[register_tiles]") {
  require_right_on_all_data({columns<64, 64, 8, 8>(), rectangles<128, 128, 16, 8, 8>()}, {{45, 39, 58}}, {3, 4, 5});
}

TEST_CASE("several elements per thread do not change one bit of the result", "[register_tiles]") {
  require_bits_of_naive(kernels, {45, 39, 58});
}

TEST_CASE("in registers, too, what is not a number stays in its row and column", "[register_tiles]") {
  require_nan_stays(kernels, {21, 35, 19});
}

TEST_CASE("register tiles of an empty matrix are no error, and a sum of no tiles is zero", "[register_tiles]") {
  require_empty_is_no_error(kernels);
}

TEST_CASE("sizes that cannot be are refused, and C is left alone", "[register_tiles]") {
  require_refusals(kernels, {{1 << 16, 1 << 15, 1}});  // 2^31 elements
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
  return launch_in_tiles(kernel, register_mutants::kTile, block);
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
  check_rejected(register_mutants::mutants,
                 [](const register_mutants::Mutant& mutant) { return launch_of(mutant.kernel, mutant.block); });
}
