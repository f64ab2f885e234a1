// Chapter 11: tiles fetched ahead, by hand and by asynchronous copies, on every kind of shape, and the wrong kernels that the same
// check must reject.
#include "async_copies.cuh"

#include <string>
#include <vector>

#include "11_async_copies/mutants/mutants.cuh"
#include "catch.hpp"
#include "matmul_frame.hpp"
#include "rows.hpp"

namespace {

using tilewise::MatmulShape;
using Kernel = MatmulKernel;

template <int BM, int BN, int BK, int TM, int TN>
Kernel by_hand() {
  return {rows::with_arguments("double_buffered_tiles", BM, BN, BK, TM, TN),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_double_buffered_tiles<BM, BN, BK, TM, TN>(A, B, C, M, N, K);
          }};
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
Kernel async() {
  return {rows::with_arguments("async_tiles", BM, BN, BK, TM, TN, STAGES),
          [](const float* A, const float* B, float* C, int M, int N, int K) {
            return launch_async_tiles<BM, BN, BK, TM, TN, STAGES>(A, B, C, M, N, K);
          }};
}

/// Those of the lesson, and small ones: more stages, shallow tiles, rectangles lying and standing.
const std::vector<Kernel> kernels = {
    by_hand<128, 128, 8, 8, 8>(),   async<128, 128, 8, 8, 8, 2>(), async<128, 128, 16, 8, 8, 2>(),
    async<128, 128, 16, 8, 8, 3>(), by_hand<32, 32, 8, 4, 4>(),    by_hand<32, 64, 16, 4, 8>(),
    async<32, 32, 8, 4, 4, 2>(),    async<32, 32, 8, 4, 4, 5>(),   async<64, 32, 16, 8, 4, 3>(),
    async<32, 64, 8, 4, 8, 4>(),
};

}  // namespace

TEST_CASE("kernels that fetch ahead are right on every shape", "[async_copies]") {
  require_right(kernels, matmul_shapes());
}

TEST_CASE("and around the edges of a tile of 128, with words of 16 bytes and without", "[async_copies]") {
  require_right({by_hand<128, 128, 8, 8, 8>(), async<128, 128, 16, 8, 8, 3>()},
                {{127, 129, 17}, {129, 128, 8}, {130, 132, 36}, {256, 131, 7}, {5, 4, 100}});
}

TEST_CASE("matrices that do not begin at a multiple of 16 bytes are fetched word by word", "[async_copies]") {
  const MatmulShape shape{36, 40, 24};
  const auto a = tilewise::random_vector(shape.m * shape.k + 1, 1),
             b = tilewise::random_vector(shape.k * shape.n + 1, 2);
  const std::vector<float> a1(a.begin() + 1, a.end()), b1(b.begin() + 1, b.end());
  const tilewise::DeviceBuffer<float> A(a), B(b);
  tilewise::DeviceBuffer<float> C(shape.m * shape.n);
  const tilewise::MatmulReference reference(a1, b1, shape);
  for (const Kernel& kernel : kernels) {
    C.poison();
    REQUIRE(kernel.launch(A.data() + 1, B.data() + 1, C.data(), 36, 40, 24) == cudaSuccess);
    const tilewise::Comparison comparison = reference.check(C.to_host());
    INFO(kernel.name << ": " << comparison.text());
    REQUIRE(comparison.ok);
  }
}

TEST_CASE("a block with 97 KB of shared memory is right, or refused where an SM has less", "[async_copies]") {
  const Kernel kernel = async<128, 128, 32, 8, 8, 3>();
  int most = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  for (const MatmulShape& shape : {MatmulShape{130, 132, 100}, {33, 20, 47}, {1, 1, 1}, {129, 5, 64}}) {
    const Verdict verdict = check_matmul(kernel.launch, shape, 6);
    INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
    if (most < async_tiles_bytes(128, 128, 32, 3)) {
      REQUIRE(verdict.has(Fault::launch_failed));
    } else {
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("tiles fetched ahead are right on all kinds of data", "[async_copies]") {
  require_right_on_all_data({by_hand<32, 32, 8, 4, 4>(), async<32, 32, 8, 4, 4, 5>()}, {{45, 39, 58}}, {3, 4, 5});
}

TEST_CASE("when a word was fetched does not change one bit of the result", "[async_copies]") {
  require_bits_of_naive(kernels, {45, 39, 58});
}

TEST_CASE("fetched ahead, too, what is not a number stays in its row and column", "[async_copies]") {
  require_nan_stays(kernels, {21, 35, 19});
}

TEST_CASE("an empty matrix is no error for tiles fetched ahead, and a sum of no tiles is zero", "[async_copies]") {
  require_empty_is_no_error(kernels);
}

TEST_CASE("sizes that cannot be are refused, and C is left alone", "[async_copies]") {
  require_refusals(kernels, {{1 << 16, 1 << 15, 1}});  // 2^31 elements
}

TEST_CASE("kernels that fetch ahead run on the stream they are given", "[async_copies]") {
  const tilewise::Stream stream;
  const auto all = [&](const float* A, const float* B, float* C, int M, int N, int K) {
    cudaError_t status = launch_double_buffered_tiles<32, 32, 8, 4, 4>(A, B, C, M, N, K, stream.get());
    if (status == cudaSuccess) status = launch_async_tiles<32, 32, 8, 4, 4, 3>(A, B, C, M, N, K, stream.get());
    return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
  };
  REQUIRE(check_matmul(all, {33, 20, 47}, 1).right());
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("copies, loads and stores are those that the page promises", "[counts]") {
  const MatmulShape shape{128, 128, 64};
  const double words = 128.0 * 64;  // of A, and of B
  const double products = 128.0 * 128 * 64 / 32;
  const tilewise::Counts hand = counts_of(by_hand<128, 128, 8, 8, 8>(), shape);
  CHECK(hand.async_copies == 0);
  CHECK(hand.global_load_requests == 2 * words / 4 / 32);  // 16 bytes at a time
  CHECK(hand.shared_stores == (words + words / 4) / 32);   // A word by word, B 16 bytes at a time
  CHECK(hand.shared_loads / products == 4.0 / 64);         // two loads of 16 bytes each for a and b
  const tilewise::Counts copied = counts_of(async<128, 128, 16, 8, 8, 3>(), shape);
  CHECK(copied.async_copies == (words + words / 4) / 32);
  CHECK(copied.global_load_requests == copied.async_copies);
  CHECK(copied.shared_stores == 0);  // that is what the copies save
  CHECK(copied.shared_loads == hand.shared_loads);
  CHECK(copied.async_copy_wavefronts == 4 * words / 32);  // of A: 4 rows, whose words lie in the same banks of L1
}

#endif

namespace {

MatmulLaunch launch_of(void (*kernel)(const float*, const float*, float*, int, int, int)) {
  return launch_in_tiles(kernel, async_mutants::kTile, async_mutants::kThreads);
}

}  // namespace

TEST_CASE("the templates of the wrong kernels that fetch ahead are right without a mistake", "[mutants]") {
  using namespace async_mutants;
  for (const MatmulLaunch& launch : {launch_of(stages<Bug::none>), launch_of(two_buffers<HandBug::none>)}) {
    const Verdict verdict = check_mutant(launch);
    INFO(verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong kernel that fetches ahead is rejected, and for its own mistake", "[mutants]") {
  check_rejected(async_mutants::mutants, [](const async_mutants::Mutant& mutant) { return launch_of(mutant.kernel); });
}

#ifdef TILEWISE_SIMULATOR

namespace {

/// What is found when nothing but the matrices' own words is there.
std::string findings_without_margins(const MatmulLaunch& launch, const MatmulShape& shape) {
  NewFindings findings;
  {
    const tilewise::DeviceBuffer<float> A(tilewise::random_vector(shape.m * shape.k, 1));
    const tilewise::DeviceBuffer<float> B(tilewise::random_vector(shape.k * shape.n, 2));
    tilewise::DeviceBuffer<float> C(shape.m * shape.n);
    REQUIRE(launch(A.data(), B.data(), C.data(), static_cast<int>(shape.m), static_cast<int>(shape.n),
                   static_cast<int>(shape.k)) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  return findings.take();
}

}  // namespace

TEST_CASE("what lies past the matrices is not read, at no edge", "[async_copies]") {
  for (const MatmulShape& shape :
       {MatmulShape{1, 1, 1}, {3, 4, 5}, {33, 36, 7}, {31, 65, 24}, {5, 129, 33}, {130, 7, 4}}) {
    for (const Kernel& kernel : kernels) {
      INFO(kernel.name << ", " << shape.text());
      REQUIRE(findings_without_margins(kernel.launch, shape).empty());
    }
  }
  for (const async_mutants::Mutant& mutant : async_mutants::readers_outside) {
    // So few words past the end that the simulator need not end the launch.
    const std::string text = findings_without_margins(launch_of(mutant.kernel), {31, 5, 9}) +
                             findings_without_margins(launch_of(mutant.kernel), {31, 31, 16});
    INFO(mutant.name << ": " << text);
    CHECK(text.find(mutant.finding) != std::string::npos);
  }
}

#endif
