// Is a picture brightened right? The one function that every right kernel must pass and every wrong one must fail.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "guarded_run.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

/// Launches a kernel: in, out, width, height. Returns what the launch returned.
using BrightenLaunch = std::function<cudaError_t(const float*, float*, int, int)>;

/// Runs the kernel between canaries on `picture` (width x height, row by row) and compares every pixel exactly: both
/// machines round a square root correctly. NaN must become NaN.
inline Verdict check_brighten(const BrightenLaunch& launch, const std::vector<float>& picture, int width, int height) {
  std::vector<float> expected(picture.size());
  for (std::size_t i = 0; i < picture.size(); ++i) expected[i] = std::sqrt(picture[i]);
  return guarded_run([&](const float* in, float* out) { return launch(in, out, width, height); }, picture,
                     picture.size(),
                     [&](Verdict& verdict, const std::vector<float>& got) {
                       verdict.comparison = tilewise::compare_exact(got, expected, height, width);
                       if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
                     });
}

/// A random picture: light is not negative.
inline std::vector<float> random_picture(std::size_t pixels, std::uint64_t seed) {
  std::vector<float> picture = tilewise::random_vector(pixels, seed);
  for (float& pixel : picture) pixel = std::fabs(pixel);
  return picture;
}

inline Verdict check_brighten(const BrightenLaunch& launch, int width, int height) {
  return check_brighten(launch, random_picture(static_cast<std::size_t>(width) * height, 5), width, height);
}

/// Pictures on which each wrong kernel must fail at least once: ragged both ways, a row, and whole blocks.
inline Verdict check_brighten_mutant(const BrightenLaunch& launch) {
  Verdict all;
  for (const auto& [width, height] : {MatrixShape{44, 14}, {257, 1}, {33, 9}, {7, 61}, {64, 16}}) {
    const Verdict one = check_brighten(launch, width, height);
    all.faults |= one.faults;
    if (!one.right()) all.text += text_of({width, height}) + ": " + one.text + "\n";
  }
  return all;
}
