// The grader's half of the homework of chapter 00: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "grader/task.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;

constexpr double kUntouched = std::numeric_limits<double>::quiet_NaN();  // outputs are filled with NaN before

/// Random light: 0 to 1.
std::vector<float> picture(Index pixels, std::uint64_t seed) {
  std::vector<float> values = tilewise::random_vector(pixels, seed);
  for (float& value : values) value = std::fabs(value);
  return values;
}

class Negative final : public Task {
 public:
  Negative() : Task("00_first_kernel", "negative") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0];
    const std::vector<float> in = picture(Index(n), seed);
    if (only_inputs()) return {.buffers = {input("in", 1, n, in), output<float>("out", 1, n, {})}};
    // out[i] for all i
    const auto all = [&](auto pixel) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(pixel(i));
      return values;
    };
    const auto expected = all([&](int i) { return 1.0f - in[Index(i)]; });  // one rounding, the same on any machine
    Problem p;
    p.buffers = {input("in", 1, n, in), output<float>("out", 1, n, expected)};
    p.hypotheses.push_back({"the picture is only copied", all([&](int i) { return in[Index(i)]; })});
    p.hypotheses.push_back({"it is brightened, as in the lesson: the negative of p is 1 - p",
                            all([&](int i) { return std::sqrt(in[Index(i)]); })});
    p.hypotheses.push_back({"all threads store the first pixel: `i` stays 0",
                            all([&](int i) { return i == 0 ? expected[0] : kUntouched; })});
    const auto covered = [&](const std::string& mistake, int end) {
      if (end < n)
        p.hypotheses.push_back({mistake, all([&](int i) { return i < end ? expected[Index(i)] : kUntouched; })});
    };
    covered(
        "only the first 256 pixels have a thread that works: how many blocks are there, and does each know its number?",
        256);
    covered("the number of blocks is rounded down: the pixels of the last, incomplete block are missing",
            n / 256 * 256);
    covered("the last pixel is missing: the guard sends its thread away, too", n - 1);
    p.least_flops = n;
    return p;
  }

  std::string where(const Place& at) const override {
    const int n = at.sizes[0], first = at.col / 256 * 256;
    return fmt::format("pixel {} of {}: thread {} of block {}, if blocks have 256 threads{}", at.col, n, at.col - first,
                       at.col / 256,
                       n - first < 256 ? "; it is the last block, and not all of its threads have a pixel" : "");
  }
};

class Mirror final : public Task {
 public:
  Mirror() : Task("00_first_kernel", "mirror") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int width = sizes[0], height = sizes[1];
    const std::vector<float> in = picture(Index(width) * Index(height), seed);
    if (only_inputs()) return {.buffers = {input("in", height, width, in), output<float>("out", height, width, {})}};
    const auto at = [&](int x, int y) { return double{in[Index(y) * Index(width) + Index(x)]}; };
    // out(x, y) for all x and y
    const auto all = [&](auto pixel) {
      std::vector<double> values;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) values.push_back(pixel(x, y));
      return values;
    };
    const auto expected = all([&](int x, int y) { return at(width - 1 - x, y); });
    Problem p;
    p.buffers = {input("in", height, width, in), output<float>("out", height, width, expected)};
    p.hypotheses.push_back({"the picture is only copied", all(at)});
    p.hypotheses.push_back({"it is upside down: each row is to be mirrored, and to stay where it is",
                            all([&](int x, int y) { return at(x, height - 1 - y); })});
    p.hypotheses.push_back({"it is upside down as well: each row is to stay where it is",
                            all([&](int x, int y) { return at(width - 1 - x, height - 1 - y); })});
    p.hypotheses.push_back({"only the left half is mirrored, onto the right one",
                            all([&](int x, int y) { return at(x < width - width / 2 ? x : width - 1 - x, y); })});
    for (const auto& [wide, high] : {std::pair{32, 8}, {32, 32}, {16, 16}}) {
      const auto covered = [&](const std::string& mistake, int to_x, int to_y) {
        if (to_x >= width && to_y >= height) return;
        p.hypotheses.push_back(
            {mistake, all([&](int x, int y) { return x < to_x && y < to_y ? at(width - 1 - x, y) : kUntouched; })});
      };
      const auto up = [](int n, int to) { return (n + to - 1) / to * to; };
      const std::string block = fmt::format("{} x {}", wide, high);
      covered("the grid is rounded down, for blocks of " + block + ": the incomplete blocks at the edges are missing",
              width / wide * wide, height / high * high);
      covered("only the first block of " + block +
                  " threads works: how many blocks are there, and does each know its number?",
              wide, high);
      covered("x and y of the grid are exchanged, for blocks of " + block + ": x is to cover the width",
              up(height, wide), up(width, high));
    }
    return p;
  }

  std::string where(const Place& at) const override {
    return fmt::format("x = {} of {}, y = {} of {}; it is to be pixel ({}, {}) of in", at.col, at.sizes[0], at.row,
                       at.sizes[1], at.sizes[0] - 1 - at.col, at.row);
  }
};

const Negative negative;
const Mirror mirror;

}  // namespace
