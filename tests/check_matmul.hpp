// Is a matmul kernel right on one shape? The one function that every right kernel must pass and every wrong kernel
// must fail.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "guarded_memory.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

/// Launches a matmul kernel: A, B, C, M, N, K. Returns what the launch returned.
using MatmulLaunch = std::function<cudaError_t(const float*, const float*, float*, int, int, int)>;

/// Runs the kernel on A (M x K) and B (K x N) with C (M x N) poisoned, and looks at everything it may have done.
/// `reference` may be shared by several calls on the same data.
inline Verdict check_matmul(const MatmulLaunch& launch, tilewise::MatmulShape shape, std::span<const float> a,
                            std::span<const float> b, const tilewise::MatmulReference& reference) {
  Verdict verdict;
  NewFindings findings;
  GuardedMatrix A(a), B(b);
  // C's margins hold a number, so that a NaN that was read beside A and written beside C is seen.
  GuardedMatrix C(std::vector<float>(shape.m * shape.n, GuardedMatrix::canary()), -1.2345678e33f);

  cudaError_t status = launch(A.data(), B.data(), C.data(), static_cast<int>(shape.m), static_cast<int>(shape.n),
                              static_cast<int>(shape.k));
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    cudaGetLastError();
    verdict.add(Fault::launch_failed, cudaGetErrorString(status));
    return verdict;
  }

  verdict.comparison = reference.check(C.values());
  if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
  if (!C.margins_intact()) verdict.add(Fault::outside_written, "memory around C was written");
  if (!A.intact()) verdict.add(Fault::input_changed, "A was changed");
  if (!B.intact()) verdict.add(Fault::input_changed, "B was changed");
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  return verdict;
}

/// The same with random data of one seed.
inline Verdict check_matmul(const MatmulLaunch& launch, tilewise::MatmulShape shape, std::uint64_t seed,
                            tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  const std::vector<float> a = tilewise::random_vector(shape.m * shape.k, 2 * seed, distribution);
  const std::vector<float> b = tilewise::random_vector(shape.k * shape.n, 2 * seed + 1, distribution);
  return check_matmul(launch, shape, a, b, tilewise::MatmulReference(a, b, shape));
}

/// Shapes that between them meet every edge of blocks of 1 to 32: single elements, rows and columns, primes, K
/// smaller than a tile, one more and one less than a tile, all three different, and no remainder at all.
inline const std::vector<tilewise::MatmulShape>& matmul_shapes() {
  // clang-format off
  static const std::vector<tilewise::MatmulShape> shapes = {
      // one or a few elements
      {1, 1, 1}, {1, 1, 2}, {1, 1, 33}, {1, 1, 257}, {2, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 2, 5}, {1, 2, 3},
      // a row, a column, an outer product, a dot product
      {1, 65, 17}, {65, 1, 17}, {33, 1, 100}, {1, 33, 100}, {33, 1, 1000}, {47, 53, 1}, {100, 1, 1}, {1, 100, 1},
      // K smaller than a tile, M and N larger
      {40, 40, 3}, {33, 65, 7}, {64, 32, 5}, {35, 70, 15}, {50, 34, 31},
      // around the edge of a tile
      {7, 8, 9}, {8, 9, 7}, {9, 7, 8}, {15, 16, 17}, {16, 17, 15}, {17, 15, 16}, {31, 32, 33}, {32, 33, 31},
      {33, 31, 32}, {63, 64, 65}, {65, 63, 64},
      // primes
      {2, 3, 5}, {11, 13, 17}, {19, 23, 29}, {37, 41, 43}, {67, 61, 59}, {97, 89, 83}, {5, 101, 37}, {101, 5, 73},
      // flat and tall
      {4, 96, 50}, {96, 4, 50}, {12, 20, 120}, {3, 77, 96},
      // no remainder
      {8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {64, 32, 96}, {32, 96, 64}, {96, 64, 32},
  };
  // clang-format on
  return shapes;
}

/// Shapes on which one wrong kernel at least must fail. All ragged, none square.
inline const std::vector<tilewise::MatmulShape>& mutant_shapes() {
  static const std::vector<tilewise::MatmulShape> shapes = {{37, 41, 43}, {20, 50, 35}, {50, 20, 70}, {70, 34, 20}};
  return shapes;
}

/// Runs a wrong kernel on all mutant shapes and unites what was found.
inline Verdict check_mutant(const MatmulLaunch& launch) {
  Verdict all;
  for (const tilewise::MatmulShape& shape : mutant_shapes()) {
    const Verdict one = check_matmul(launch, shape, 7);
    all.faults |= one.faults;
    if (!one.right()) all.text += shape.text() + ": " + one.text + "\n";
  }
  return all;
}
