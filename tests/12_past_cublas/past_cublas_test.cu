// Chapter 12: kernels faster than the library, on every kind of shape, and the wrong kernels that the same check must reject.
#include "past_cublas.cuh"

#include <limits>
#include <string>
#include <vector>

#include "12_past_cublas/mutants/mutants.cuh"
#include "catch.hpp"
#include "check_matmul.hpp"
#include "rows.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

namespace {

using tilewise::Distribution;
using tilewise::MatmulShape;

/// A kernel of this chapter with a workspace of exactly the words that it asks for: a word more is out of bounds.
struct Kernel {
  std::string name;
  rows::LaunchWithWorkspace launch;
  cudaError_t (*words)(const float* B, int M, int N, int K, std::size_t& words);

  cudaError_t operator()(const float* A, const float* B, float* C, int M, int N, int K,
                         cudaStream_t stream = nullptr) const {
    std::size_t size = 0;
    if (past_cublas_fits(M, N, K) && M > 0 && N > 0 && K > 0)
      if (const cudaError_t status = words(B, M, N, K, size)) return status;
    tilewise::DeviceBuffer<float> workspace(size);
    const cudaError_t status = launch(A, B, C, M, N, K, workspace.data(), stream);
    return status == cudaSuccess && size > 0 ? cudaStreamSynchronize(stream) : status;  // before it is freed
  }
};

cudaError_t words_to_prepare(const float* B, int M, int N, int K, std::size_t& words) {
  words = prepared_words(B, M, N, K);
  return cudaSuccess;
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
Kernel wide() {
  return {rows::with_arguments("wide_copies", BM, BN, BK, TM, TN, STAGES),
          launch_wide_copies<BM, BN, BK, TM, TN, STAGES>, words_to_prepare};
}

template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
Kernel warps() {
  return {rows::with_arguments("warp_tiles", BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP),
          launch_warp_tiles<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>, words_to_prepare};
}

template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
Kernel shared_out() {
  return {rows::with_arguments("past_cublas", BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP),
          launch_past_cublas<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>,
          past_cublas_words<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>};
}

template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int SLICES, int STAGES>
Kernel sliced() {
  return {rows::with_arguments("sliced_tiles", BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES),
          launch_sliced_tiles<BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES>, words_to_prepare};
}

/// Small tiles, so that small matrices have many of them.
const std::vector<Kernel> small = {wide<32, 32, 8, 4, 4, 3>(), warps<32, 32, 8, 4, 4, 1, 2, 3, 2>(),
                                   shared_out<32, 32, 8, 4, 4, 1, 2, 3, 2>(), sliced<32, 32, 16, 4, 4, 1, 2, 2, 3>()};

/// Those of the lesson; each needs a multiple of 10 milliseconds on the simulator.
const std::vector<Kernel> large = {
    wide<128, 128, 32, 8, 8, 3>(),
    warps<128, 128, 16, 16, 8, 2, 2, 3, 8>(),
    shared_out<128, 128, 16, 16, 8, 2, 2, 3, 8>(),
    shared_out<128, 128, 8, 16, 8, 2, 2, 5, 8>(),
    shared_out<128, 128, 8, 8, 16, 2, 2, 5, 8>(),
    sliced<64, 128, 64, 8, 8, 2, 2, 4, 3>(),
    sliced<32, 64, 32, 4, 8, 1, 2, 4, 3>(),
    {"launch_fastest", launch_fastest, fastest_words},
};

/// True where a block of sliced_tiles<64, 128, 64, ...> has the 147 KB that it needs: not before sm_80.
bool has_shared_memory_for_all() {
  int most = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  return most >= sliced_bytes(64, 128, 64, 4, 3);
}

}  // namespace

TEST_CASE("kernels past the library are right on every shape", "[past_cublas]") {
  for (const MatmulShape& shape : matmul_shapes()) {
    const auto a = tilewise::random_vector(shape.m * shape.k, 1);
    const auto b = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(a, b, shape);
    for (const Kernel& kernel : small) {
      const Verdict verdict = check_matmul(kernel, shape, a, b, reference);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == shape.m * shape.n);
    }
  }
}

TEST_CASE("and with the lesson's tiles, around their edges", "[past_cublas]") {
  for (const MatmulShape& shape : {MatmulShape{127, 129, 17},
                                   {129, 128, 8},
                                   {130, 132, 36},
                                   {256, 131, 7},
                                   {5, 4, 100},
                                   {1, 1, 1},
                                   {64, 64, 64},
                                   {129, 260, 65}}) {
    for (const Kernel& kernel : large) {
      const Verdict verdict = check_matmul(kernel, shape, 5);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      if (has_shared_memory_for_all())
        REQUIRE(verdict.right());
      else
        REQUIRE((verdict.right() || verdict.has(Fault::launch_failed)));
    }
  }
}

TEST_CASE("matrices that do not begin at a multiple of 16 bytes are laid out all the same", "[past_cublas]") {
  const MatmulShape shape{36, 40, 24};
  const auto a = tilewise::random_vector(shape.m * shape.k + 1, 1),
             b = tilewise::random_vector(shape.k * shape.n + 1, 2);
  const std::vector<float> a1(a.begin() + 1, a.end()), b1(b.begin() + 1, b.end());
  const tilewise::DeviceBuffer<float> A(a), B(b);
  tilewise::DeviceBuffer<float> C(shape.m * shape.n);
  const tilewise::MatmulReference reference(a1, b1, shape);
  for (const Kernel& kernel : small) {
    C.poison();
    REQUIRE(kernel(A.data() + 1, B.data() + 1, C.data(), 36, 40, 24) == cudaSuccess);
    const tilewise::Comparison comparison = reference.check(C.to_host());
    INFO(kernel.name << ": " << comparison.text());
    REQUIRE(comparison.ok);
  }
}

TEST_CASE("kernels past the library are right on all kinds of data", "[past_cublas]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : small) {
    for (std::uint64_t seed : {3, 4, 5}) {
      const Verdict verdict = check_matmul(kernel, {45, 39, 58}, seed, distribution);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
      if (distribution == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
    }
  }
}

TEST_CASE("past the library, too, what is not a number stays in its row and column", "[past_cublas]") {
  const MatmulShape shape{21, 35, 19};
  auto a = tilewise::random_vector(shape.m * shape.k, 1);
  auto b = tilewise::random_vector(shape.k * shape.n, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t k = 0; k < shape.k; ++k) a[5 * shape.k + k] = nan;   // one row in the middle of A
  for (std::size_t k = 0; k < shape.k; ++k) a[20 * shape.k + k] = nan;  // and the last, which stands for those outside
  a[4 * shape.k + 18] = std::numeric_limits<float>::infinity();         // the last word of the row before it
  for (std::size_t k = 0; k < shape.k; ++k) b[k * shape.n + 34] = nan;  // the last column of B
  const tilewise::MatmulReference reference(a, b, shape);
  for (const Kernel& kernel : small) {
    const Verdict verdict = check_matmul(kernel, shape, a, b, reference);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("past the library an empty matrix is no error, and a sum of nothing is zero", "[past_cublas]") {
  for (const Kernel& kernel : small) {
    INFO(kernel.name);
    for (const MatmulShape& shape : {MatmulShape{0, 5, 7}, MatmulShape{5, 0, 7}, MatmulShape{0, 0, 0}})
      REQUIRE(check_matmul(kernel, shape, 1).right());
    GuardedMatrix C(std::vector<float>(5 * 7, GuardedMatrix::canary()));
    REQUIRE(kernel(nullptr, nullptr, C.data(), 5, 7, 0) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(C.values() == std::vector<float>(5 * 7, 0.0f));
    REQUIRE(C.margins_intact());
  }
}

TEST_CASE("past the library sizes that cannot be are refused, and C is left alone", "[past_cublas]") {
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  for (const Kernel& kernel : small) {
    INFO(kernel.name);
    REQUIRE(kernel(A.data(), B.data(), C.data(), -1, 4, 4) == cudaErrorInvalidValue);
    REQUIRE(kernel(A.data(), B.data(), C.data(), 4, -1, 4) == cudaErrorInvalidValue);
    REQUIRE(kernel(A.data(), B.data(), C.data(), 4, 4, -1) == cudaErrorInvalidValue);
    REQUIRE(kernel(A.data(), B.data(), C.data(), 4, 4, 65535 * 64 + 1) == cudaErrorInvalidValue);
    REQUIRE(kernel(A.data(), B.data(), C.data(), 1 << 16, 1 << 15, 1) == cudaErrorInvalidValue);  // 2^31 elements
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(C.intact());
}

TEST_CASE("kernels past the library run on the stream they are given", "[past_cublas]") {
  const tilewise::Stream stream;
  for (const Kernel& kernel : small) {
    INFO(kernel.name);
    const auto launch = [&](const float* A, const float* B, float* C, int M, int N, int K) {
      return kernel(A, B, C, M, N, K, stream.get());
    };
    REQUIRE(check_matmul(launch, {33, 20, 47}, 1).right());
  }
}

TEST_CASE("tiles are right however they are dealt: whole ones, and shares of any number", "[past_cublas]") {
  // 3 x 3 tiles with 7 k-tiles each, the first of which is 2 deep.
  const MatmulShape shape{70, 90, 50};
  const auto a = tilewise::random_vector(shape.m * shape.k, 1), b = tilewise::random_vector(shape.k * shape.n, 2);
  const tilewise::MatmulReference reference(a, b, shape);
  for (const int whole : {0, 1, 5, 9}) {
    for (const int shares : {1, 2, 3, 4, 7, 13, 28, 63}) {
      if ((whole == 9) != (shares == 1) && whole == 9) continue;
      const int dealt = whole == 9 ? 0 : std::min(shares, (9 - whole) * 7);
      const auto launch = [&](const float* A, const float* B, float* C, int M, int N, int K) {
        tilewise::DeviceBuffer<float> workspace(prepared_words(B, M, N, K)), parts(2 * shares * 32 * 32);
        tilewise::DeviceBuffer<unsigned> arrived(std::vector<unsigned>(9, 0));
        Operands at;
        if (const cudaError_t status = prepare(A, B, M, N, K, workspace.data(), nullptr, at)) return status;
        past_cublas<32, 32, 8, 4, 4, 1, 2, 3, 2><<<whole + dealt, 64, tile_bytes(32, 32, 8, 3)>>>(
            at.At, at.lda, at.B, at.ldb, C, M, N, K, whole, dealt, parts.data(), arrived.data());
        return cudaDeviceSynchronize();
      };
      const Verdict verdict = check_matmul(launch, shape, a, b, reference);
      INFO(whole << " whole tiles, " << dealt << " shares: " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("a deal gives every k-tile to one block", "[past_cublas]") {
  const auto is = [](Deal d, int whole, int shares, int shared_tiles) {
    return d.whole == whole && d.shares == shares && d.shared_tiles == shared_tiles;
  };
  REQUIRE(is(deal(4096, 4096, 4096, 128, 128, 16, 264), 528, 264, 496));  // 3.9 rounds: the last two are shared
  REQUIRE(is(deal(2048, 2048, 2048, 128, 128, 16, 264), 256, 0, 0));      // 97 % of a round: nothing to gain
  REQUIRE(is(deal(1024, 1024, 1024, 128, 128, 16, 264), 0, 264, 64));     // less than a round: everything is shared
  REQUIRE(is(deal(128, 128, 40, 128, 128, 16, 264), 0, 3, 1));            // no more shares than k-tiles
  REQUIRE(is(deal(128 * 264, 128, 64, 128, 128, 16, 264), 264, 0, 0));    // a full round
}

TEST_CASE("the fastest kernel is chosen by how many blocks there are for an SM", "[past_cublas]") {
  const auto chosen = [](int M, int N) {
    Fastest choice = Fastest::slices;
    REQUIRE(choose_fastest(M, N, choice) == cudaSuccess);
    return choice;
  };
  int sms = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  REQUIRE(chosen(1, 1) == Fastest::small_slices);
  REQUIRE(chosen(64 * (sms * 6 / 10), 128) == Fastest::small_slices);
  REQUIRE(chosen(64 * sms, 128) == Fastest::slices);
  REQUIRE(chosen(64 * sms + 1, 128) == Fastest::small_tiles);
  REQUIRE(chosen(128 * sms, 256) == Fastest::deep_tiles);
  REQUIRE(chosen(128 * sms - 1, 256) == Fastest::shallow_tiles);
  REQUIRE(chosen(128 * sms, 257) == Fastest::shallow_tiles);
  REQUIRE(chosen(128 * sms, 128 * 50) == Fastest::wide_tiles);
}

TEST_CASE("the sum of shares does not depend on who comes last", "[past_cublas]") {
  const int M = 70, N = 90, K = 50;
  const tilewise::DeviceBuffer<float> A(tilewise::random_vector(M * K, 1)), B(tilewise::random_vector(K * N, 2));
  tilewise::DeviceBuffer<float> C(M * N);
  const Kernel kernel = shared_out<32, 32, 8, 4, 4, 1, 2, 3, 2>();
  std::vector<float> once;
  for (int run = 0; run < 5; ++run) {
    C.poison();
    REQUIRE(kernel(A.data(), B.data(), C.data(), M, N, K) == cudaSuccess);
    if (once.empty()) once = C.to_host();
    REQUIRE(C.to_host() == once);
  }
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("copies and loads past the library are those that the page promises", "[counts]") {
  const int n = 128, depth = 64;
  const double words = double(n) * depth;  // of A, and of B
  const tilewise::DeviceBuffer<float> A(tilewise::random_vector(n * depth, 1)),
      B(tilewise::random_vector(depth * n, 2));
  tilewise::DeviceBuffer<float> C(n * n), workspace(prepared_words(B.data(), n, n, depth));
  Operands at;
  REQUIRE(prepare(A.data(), B.data(), n, n, depth, workspace.data(), nullptr, at) == cudaSuccess);
  const auto kernel = warp_tiles<128, 128, 16, 16, 8, 2, 2, 3, 8>;
  const tilewise::Counts counts =
      tilewise::count([&] {
        kernel<<<1, 128, tile_bytes(128, 128, 16, 3)>>>(at.At, at.lda, at.B, at.ldb, C.data(), n, n, depth);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      }).value();
  // 16 bytes a copy; the last k-tile of 16 rows is copied once for each of the three stages that are then on their way
  CHECK(counts.async_copies == 2 * (words + 2 * 16 * n) / 4 / 32);
  CHECK(counts.shared_stores == 0);
  CHECK(counts.async_copy_wavefronts == 0);  // of 16 bytes: none
  // Per step of k and thread 16 + 8 words by loads of 16 bytes, and those of one step more, ahead of the first
  CHECK(counts.shared_loads == (depth + 1) * 4 * 6);
}

#endif

TEST_CASE("the template of the wrong kernels that share tiles is right without a mistake", "[mutants]") {
  const Verdict verdict = check_mutant(share_mutants::launch<share_mutants::Bug::none>);
  INFO(verdict.text);
  REQUIRE(verdict.right());
}

TEST_CASE("every wrong kernel that shares tiles is rejected, and for its own mistake", "[mutants]") {
  for (const share_mutants::Mutant& mutant : share_mutants::mutants) {
    const bool by_luck = *mutant.finding != '\0';
    Verdict verdict;
    for (const MatmulShape& shape : mutant_shapes()) {  // one shape that shows the mistake is enough
      const Verdict one = check_matmul(mutant.launch, shape, 7);
      verdict.faults |= one.faults;
      if (!one.right()) verdict.text += shape.text() + ": " + one.text + "\n";
      if (verdict.has(mutant.fault) && verdict.text.find(mutant.finding) != std::string::npos) break;
    }
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
    if (by_luck && !tilewise::is_simulated()) {
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
