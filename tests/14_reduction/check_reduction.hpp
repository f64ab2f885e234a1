// Is a sum right? The one function that every right kernel of lesson 14 must pass and every wrong kernel must fail.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "problem.hpp"
#include "tilewise/random.hpp"

/// Adds n floats at x into *total: (n, x, scratch, total). The scratch memory is all zero before the first call.
using SumLaunch = std::function<cudaError_t(std::size_t, const float*, const Scratch&, float*)>;

/// Sizes around those of warps, blocks, vectors and grids.
inline std::vector<std::size_t> sum_sizes() {
  return {0,   1,   2,    3,    4,    5,    7,    31,   32,   33,    127,   128,   129,   255,
          256, 257, 1000, 1023, 1024, 4095, 4096, 4097, 5003, 16384, 32767, 32768, 32769, 65537};
}

/// Runs the kernel three times on integers, whose sum is exact, in the middle of a larger array that is NaN elsewhere; then on other numbers
/// of another length with the same scratch memory; then once more on the first. `offset`: floats from a multiple of 256 bytes to x.
inline Verdict check_sum(const SumLaunch& launch, const Scratch& scratch, std::size_t n, std::size_t offset = 0) {
  constexpr std::size_t kMargin = 64;
  Verdict verdict;
  NewFindings findings;
  const auto run = [&](std::size_t count, std::uint64_t seed) {
    if (verdict.has(Fault::launch_failed)) return;  // the device answers every call with that error
    const std::vector<float> numbers = tilewise::random_vector(count, seed, tilewise::Distribution::integers);
    double expected = 0;
    for (const float x : numbers) expected += x;
    std::vector<float> around(count + offset + 2 * kMargin, NAN);
    std::copy(numbers.begin(), numbers.end(), around.begin() + kMargin + offset);
    const tilewise::DeviceBuffer<float> x(around);
    tilewise::DeviceBuffer<float> total(3);
    total.poison();
    cudaError_t status = launch(count, x.data() + kMargin + offset, scratch, total.data() + 1);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
      cudaGetLastError();
      verdict.add(Fault::launch_failed, cudaGetErrorString(status));
      return;
    }
    const std::vector<float> got = total.to_host();
    if (got[1] != expected)
      verdict.add(Fault::wrong_value,
                  std::to_string(count) + " elements: " + std::to_string(got[1]) + " for " + std::to_string(expected));
    if (!std::isnan(got[0]) || !std::isnan(got[2]))
      verdict.add(Fault::outside_written, "memory around the result was written");
    const std::vector<float> after = x.to_host();
    if (std::memcmp(after.data(), around.data(), around.size() * sizeof(float)) != 0)
      verdict.add(Fault::input_changed, "x was changed");
  };
  for (int i = 0; i < 3; ++i) run(n, 1);
  run(n / 2 + 1, 2);
  run(n, 1);
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  return verdict;
}
