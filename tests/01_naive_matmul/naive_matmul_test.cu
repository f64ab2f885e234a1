// Chapter 01: both naive kernels on every kind of shape, and the wrong kernels that the same check must reject.
#include "naive_matmul.cuh"

#include <limits>
#include <string>
#include <vector>

#include "01_naive_matmul/mutants/mutants.cuh"
#include "catch.hpp"
#include "check_matmul.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

namespace {

/// What CUDA answers to a block that is too large: CUDA 13 changed it.
constexpr cudaError_t kBlockTooLarge = CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

using tilewise::Distribution;
using tilewise::MatmulShape;

struct Kernel {
  const char* name;
  cudaError_t (*launch)(const float*, const float*, float*, int, int, int, int block, cudaStream_t);
  void (*kernel)(const float*, const float*, float*, int, int, int);
};

const Kernel kernels[] = {
    {"naive_matmul", launch_naive_matmul, naive_matmul},
    {"naive_matmul_row_on_x", launch_naive_matmul_row_on_x, naive_matmul_row_on_x},
};

MatmulLaunch in_blocks_of(const Kernel& kernel, int block) {
  return [=](const float* A, const float* B, float* C, int M, int N, int K) {
    return kernel.launch(A, B, C, M, N, K, block, nullptr);
  };
}

}  // namespace

TEST_CASE("naive kernels are right on every shape", "[naive]") {
  for (const MatmulShape& shape : matmul_shapes()) {
    const auto a = tilewise::random_vector(shape.m * shape.k, 1);
    const auto b = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(a, b, shape);
    for (const Kernel& kernel : kernels) {
      for (int block : {1, 3, 8, 16, 32}) {
        if (block == 1 && shape.m * shape.n > 4096) continue;  // one thread per block: slow, and nothing new
        const Verdict verdict = check_matmul(in_blocks_of(kernel, block), shape, a, b, reference);
        INFO(kernel.name << ", block " << block << ", " << shape.text() << ": " << verdict.text);
        REQUIRE(verdict.right());
        REQUIRE(verdict.comparison.checked == shape.m * shape.n);
      }
    }
  }
}

TEST_CASE("naive kernels are right on all kinds of data", "[naive]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : kernels) {
    for (std::uint64_t seed : {3, 4, 5, 6}) {
      const Verdict verdict = check_matmul(in_blocks_of(kernel, 16), {45, 39, 58}, seed, distribution);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
      if (distribution == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
    }
  }
}

TEST_CASE("the block of threads need not be square", "[naive]") {
  const MatmulShape shape{37, 70, 41};
  for (const Kernel& kernel : kernels) {
    for (const dim3 block : {dim3(32, 8), dim3(8, 32), dim3(64, 1), dim3(1, 64), dim3(5, 7), dim3(256, 4)}) {
      // More blocks than needed in either direction: those outside must do nothing.
      const dim3 grid((70 + block.x - 1) / block.x + 1, (70 + block.y - 1) / block.y + 1);
      const auto launch = [&](const float* A, const float* B, float* C, int M, int N, int K) {
        kernel.kernel<<<grid, block>>>(A, B, C, M, N, K);
        return cudaGetLastError();
      };
      const Verdict verdict = check_matmul(launch, shape, 8);
      INFO(kernel.name << ", block " << block.x << " x " << block.y << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("what is not a number stays in its row and column", "[naive]") {
  const MatmulShape shape{21, 35, 19};
  auto a = tilewise::random_vector(shape.m * shape.k, 1);
  auto b = tilewise::random_vector(shape.k * shape.n, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < shape.k; ++k) a[20 * shape.k + k] = nan;  // the last row of A
  a[4 * shape.k + 18] = inf;                                            // the last word of row 4
  for (std::size_t k = 0; k < shape.k; ++k) b[k * shape.n + 34] = nan;  // the last column of B
  const tilewise::MatmulReference reference(a, b, shape);
  for (const Kernel& kernel : kernels) {
    const Verdict verdict = check_matmul(in_blocks_of(kernel, 16), shape, a, b, reference);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("an empty matrix is no error, and a sum of no terms is zero", "[naive]") {
  for (const Kernel& kernel : kernels) {
    for (const MatmulShape& shape : {MatmulShape{0, 5, 7}, MatmulShape{5, 0, 7}, MatmulShape{0, 0, 0}}) {
      const Verdict verdict = check_matmul(in_blocks_of(kernel, 16), shape, 1);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
    const GuardedMatrix A(std::vector<float>{}), B(std::vector<float>{});
    GuardedMatrix C(std::vector<float>(5 * 7, GuardedMatrix::canary()));
    REQUIRE(kernel.launch(nullptr, nullptr, C.data(), 5, 7, 0, 16, nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(C.values() == std::vector<float>(5 * 7, 0.0f));
    REQUIRE(C.margins_intact());
  }
}

TEST_CASE("what cannot be launched is refused, and C is left alone", "[naive]") {
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    const auto launch = [&](int M, int N, int K, int block) {
      return kernel.launch(A.data(), B.data(), C.data(), M, N, K, block, nullptr);
    };
    REQUIRE(launch(-1, 4, 4, 16) == cudaErrorInvalidValue);
    REQUIRE(launch(4, -1, 4, 16) == cudaErrorInvalidValue);
    REQUIRE(launch(4, 4, -1, 16) == cudaErrorInvalidValue);
    REQUIRE(launch(4, 4, (1 << 30) + 1, 16) == cudaErrorInvalidValue);
    REQUIRE(launch(4, 4, 4, 0) == cudaErrorInvalidValue);
    REQUIRE(launch(4, 4, 4, -16) == cudaErrorInvalidValue);
    REQUIRE(launch(4, 4, 4, 64) == kBlockTooLarge);  // 4,096 threads in a block
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
    REQUIRE(C.intact());
  }
}

TEST_CASE("naive kernels run on the stream they are given", "[naive]") {
  const tilewise::Stream stream;
  for (const Kernel& kernel : kernels) {
    const auto launch = [&](const float* A, const float* B, float* C, int M, int N, int K) {
      const cudaError_t status = kernel.launch(A, B, C, M, N, K, 16, stream.get());
      return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
    };
    REQUIRE(check_matmul(launch, {33, 20, 47}, 1).right());
  }
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("the counts are those that the page explains", "[counts]") {
  struct Promise {
    const Kernel& kernel;
    int block;
    double sectors_per_request;  // of A and of B together, per two requests: see the page's table
  };
  const Promise promises[] = {
      {kernels[0], 8, (4 + 1) / 2.0}, {kernels[0], 16, (2 + 2) / 2.0},  {kernels[0], 32, (1 + 4) / 2.0},
      {kernels[1], 8, (8 + 1) / 2.0}, {kernels[1], 16, (16 + 1) / 2.0}, {kernels[1], 32, (32 + 1) / 2.0},
  };
  constexpr std::size_t M = 64, N = 128, K = 96;
  const tilewise::DeviceBuffer<float> A(tilewise::random_vector(M * K, 1)), B(tilewise::random_vector(K * N, 2));
  tilewise::DeviceBuffer<float> C(M * N);
  for (const Promise& promise : promises) {
    INFO(promise.kernel.name << ", block " << promise.block);
    const tilewise::Counts counts =
        tilewise::count([&] {
          REQUIRE(promise.kernel.launch(A.data(), B.data(), C.data(), M, N, K, promise.block, nullptr) == cudaSuccess);
          REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        }).value();
    CHECK(counts.global_load_requests == 2 * M * N * K / 32);
    CHECK(counts.global_load_bytes == 2 * M * N * K * 4);
    CHECK(counts.sectors_per_load() == promise.sectors_per_request);
    CHECK(counts.dram_bytes_at_least == 4 * (M * K + K * N + M * N));  // A, B and C once, whatever is requested
    CHECK(counts.shared_loads == 0);
  }
}

#endif

TEST_CASE("every wrong naive kernel is rejected, and for its own mistake", "[mutants]") {
  for (const naive_mutants::Mutant& mutant : naive_mutants::mutants) {
    const auto launch = [&](const float* A, const float* B, float* C, int M, int N, int K) {
      const dim3 block(16, 16);
      const dim3 grid((N + 15) / 16, (M + 15) / 16);
      mutant.kernel<<<grid, block>>>(naive_mutants::Problem{A, B, C, M, N, K});
      return cudaGetLastError();
    };
    const Verdict verdict = check_mutant(launch);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK(verdict.has(mutant.fault));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
    if (mutant.wrong < 0) continue;
    const Verdict counted = check_matmul(launch, naive_mutants::kShape, 1);
    INFO(mutant.name << ": " << counted.text);
    CHECK(counted.comparison.wrong == static_cast<std::size_t>(mutant.wrong));
  }
}

TEST_CASE("the customary tolerance of 0.01 N would let a wrong kernel pass", "[mutants][tolerance]") {
  const auto launch = [](const float* A, const float* B, float* C, int M, int N, int K) {
    naive_mutants::one_slightly_off<<<dim3(4, 4), dim3(16, 16)>>>(naive_mutants::Problem{A, B, C, M, N, K});
    return cudaGetLastError();
  };
  const Verdict verdict = check_matmul(launch, {64, 64, 64}, 1);
  REQUIRE(verdict.has(Fault::wrong_value));
  REQUIRE(verdict.comparison.wrong == 1);
  REQUIRE(verdict.comparison.first_wrong.row == 32);
  REQUIRE(verdict.comparison.first_wrong.col == 32);
  REQUIRE(verdict.comparison.max_error < 0.01 * 64);  // "fine" by the customary rule ...
  REQUIRE(verdict.comparison.max_error > 10 * verdict.comparison.first_wrong.bound);  // ... and far from right
}
