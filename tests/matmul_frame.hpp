// What the tests of every lesson's matrix products ask for, in the same words: lessons 02, 09, 10 and 11 call these from their test
// cases, each with its own kernels.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "../chapters/01_naive_matmul/naive_matmul.cuh"
#include "catch.hpp"
#include "check_matmul.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

struct MatmulKernel {
  std::string name;
  MatmulLaunch launch;
};

/// Right on all these shapes. `skip`: combinations that take long and prove nothing.
inline void require_right(
    const std::vector<MatmulKernel>& kernels, const std::vector<tilewise::MatmulShape>& shapes,
    const std::function<bool(const MatmulKernel&, const tilewise::MatmulShape&)>& skip = [](auto&, auto&) {
      return false;
    }) {
  for (const tilewise::MatmulShape& shape : shapes) {
    const auto a = tilewise::random_vector(shape.m * shape.k, 1);
    const auto b = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(a, b, shape);
    for (const MatmulKernel& kernel : kernels) {
      if (skip(kernel, shape)) continue;
      const Verdict verdict = check_matmul(kernel.launch, shape, a, b, reference);
      INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == shape.m * shape.n);
    }
  }
}

/// Right on each kind of data, with each of the seeds.
inline void require_right_on_all_data(const std::vector<MatmulKernel>& kernels,
                                      const std::vector<tilewise::MatmulShape>& shapes,
                                      const std::vector<std::uint64_t>& seeds) {
  using tilewise::Distribution;
  for (const Distribution distribution :
       {Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers}) {
    for (const MatmulKernel& kernel : kernels) {
      for (const tilewise::MatmulShape& shape : shapes) {
        for (const std::uint64_t seed : seeds) {
          const Verdict verdict = check_matmul(kernel.launch, shape, seed, distribution);
          INFO(kernel.name << ", " << shape.text() << ", seed " << seed << ", " << tilewise::to_string(distribution)
                           << ": " << verdict.text);
          REQUIRE(verdict.right());
          if (distribution == Distribution::integers) REQUIRE(verdict.comparison.max_error == 0);  // nothing to round
        }
      }
    }
  }
}

/// Not one bit differs from the naive kernel's result: every kernel adds the products in the order of k, and what a tile adds
/// beyond the edge is zero.
inline void require_bits_of_naive(const std::vector<MatmulKernel>& kernels, const tilewise::MatmulShape& shape) {
  const int M = static_cast<int>(shape.m), N = static_cast<int>(shape.n), K = static_cast<int>(shape.k);
  const tilewise::DeviceBuffer<float> A(tilewise::random_vector(shape.m * shape.k, 1));
  const tilewise::DeviceBuffer<float> B(tilewise::random_vector(shape.k * shape.n, 2));
  tilewise::DeviceBuffer<float> C(shape.m * shape.n);
  C.poison();
  REQUIRE(launch_naive_matmul(A.data(), B.data(), C.data(), M, N, K, 16) == cudaSuccess);
  const std::vector<float> naive = C.to_host();
  for (const MatmulKernel& kernel : kernels) {
    C.poison();
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), M, N, K) == cudaSuccess);
    INFO(kernel.name << ", " << shape.text());
    REQUIRE(C.to_host() == naive);
  }
}

/// What is not a number stays in its row and column. A tile that reached over the end of a row of A, or below B, would carry
/// it into other elements. At least 7 rows.
inline void require_nan_stays(const std::vector<MatmulKernel>& kernels, const tilewise::MatmulShape& shape) {
  auto a = tilewise::random_vector(shape.m * shape.k, 1);
  auto b = tilewise::random_vector(shape.k * shape.n, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t k = 0; k < shape.k; ++k) {
    a[5 * shape.k + k] = nan;              // one row in the middle of A,
    a[(shape.m - 1) * shape.k + k] = nan;  // the last, which may stand for those outside,
    b[(k + 1) * shape.n - 1] = nan;        // and the last column of B
  }
  a[5 * shape.k - 1] = std::numeric_limits<float>::infinity();  // the last word of the row before
  const tilewise::MatmulReference reference(a, b, shape);
  for (const MatmulKernel& kernel : kernels) {
    const Verdict verdict = check_matmul(kernel.launch, shape, a, b, reference);
    INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

/// An empty matrix is no error, and a sum of no products is zero, in rows of each of these lengths.
inline void require_empty_is_no_error(const std::vector<MatmulKernel>& kernels, const std::vector<int>& columns = {7}) {
  for (const MatmulKernel& kernel : kernels) {
    INFO(kernel.name);
    for (const tilewise::MatmulShape& shape : {tilewise::MatmulShape{0, 5, 7}, {5, 0, 7}, {0, 0, 0}})
      REQUIRE(check_matmul(kernel.launch, shape, 1).right());
    for (const int N : columns) {
      GuardedMatrix C(std::vector<float>(5 * N, GuardedMatrix::canary()));
      REQUIRE(kernel.launch(nullptr, nullptr, C.data(), 5, N, 0) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      REQUIRE(C.values() == std::vector<float>(5 * N, 0.0f));
      REQUIRE(C.margins_intact());
    }
  }
}

/// Sizes that cannot be are refused, C is left alone, and no error stays behind. `more`: further shapes to be refused.
inline void require_refusals(const std::vector<MatmulKernel>& kernels, const std::vector<int3>& more = {}) {
  GuardedMatrix A(std::vector<float>(16, 1.0f)), B(std::vector<float>(16, 1.0f)), C(std::vector<float>(16, 3.0f));
  std::vector<int3> shapes = {{-1, 4, 4}, {4, -1, 4}, {4, 4, -1}, {4, 4, (1 << 30) + 1}};
  shapes.insert(shapes.end(), more.begin(), more.end());
  for (const MatmulKernel& kernel : kernels) {
    for (const int3& shape : shapes) {
      INFO(kernel.name << ", " << shape.x << " x " << shape.y << " x " << shape.z);
      REQUIRE(kernel.launch(A.data(), B.data(), C.data(), shape.x, shape.y, shape.z) == cudaErrorInvalidValue);
    }
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(C.intact());
}

/// A wrong kernel for tiles of that many rows and columns of C.
inline MatmulLaunch launch_in_tiles(void (*kernel)(const float*, const float*, float*, int, int, int), int tile,
                                    dim3 block) {
  return [=](const float* A, const float* B, float* C, int M, int N, int K) {
    kernel<<<dim3((N + tile - 1) / tile, (M + tile - 1) / tile), block>>>(A, B, C, M, N, K);
    return cudaGetLastError();
  };
}

/// Each of the wrong kernels is rejected, and for its own mistake: with its fault, and where it names a finding with that one.
/// Those depend on timing or on old words, and a GPU may be lucky. `launch_of` makes a launch of a mutant.
template <class Mutants, class LaunchOf>
void check_rejected(const Mutants& mutants, LaunchOf launch_of,
                    const std::vector<tilewise::MatmulShape>& shapes = mutant_shapes()) {
  for (const auto& mutant : mutants) {
    const std::string finding = mutant.finding;
    Verdict verdict;
    for (const tilewise::MatmulShape& shape : shapes) {  // one shape that shows the mistake is enough
      const Verdict one = check_matmul(launch_of(mutant), shape, 7);
      verdict.faults |= one.faults;
      if (!one.right()) verdict.text += shape.text() + ": " + one.text + "\n";
      if (verdict.has(mutant.fault) && verdict.text.find(finding) != std::string::npos) break;
    }
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
    if (!finding.empty() && !tilewise::is_simulated()) {
      // On a GPU the warps may happen to run in a harmless order, and copies to be there in time; compute-sanitizer is the
      // judge there, and the simulator makes copies as late as it may.
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(finding) != std::string::npos);
  }
}

#ifdef TILEWISE_SIMULATOR

/// What one launch is counted to do.
inline tilewise::Counts counts_of(const MatmulKernel& kernel, const tilewise::MatmulShape& shape) {
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

#endif
