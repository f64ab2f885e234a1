// What lesson 03 works on: a random matrix and the running sums of its rows. Plumbing; the lesson
// is in padded_tiles.cuh.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "padded_tiles.cuh"
#include "tilewise/compare.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/options.hpp"
#include "tilewise/random.hpp"

/// The matrices of one shape: on the device, and on the host what must come out.
///
/// Every kernel adds in the same order, so all results have the same bits: those of a float loop on
/// the host, which is compared with an FP64 reference element by element, once. A result with other
/// bits is compared with the reference itself.
class RunningSums {
 public:
  RunningSums(int rows, int cols, std::vector<float> values)
      : rows(rows),
        cols(cols),
        in(values),
        out(values.size()),
        in_order_(values.size()),
        got_(values.size()) {
    const std::size_t width = cols;
    expected_.resize(values.size());
    bound_.resize(values.size());
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      float in_float = 0;
      double sum = 0, magnitude = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const float value = values[r * width + c];
        in_order_[r * width + c] = in_float += value;
        expected_[r * width + c] = sum += value;
        bound_[r * width + c] =
            tilewise::error_bound(c + 1, magnitude += std::abs(static_cast<double>(value)));
      }
    }
    of_the_host_ = compare(in_order_);
  }

  /// The output now, element by element.
  tilewise::Comparison check() {
    out.download(got_);
    const bool same_bits = std::memcmp(got_.data(), in_order_.data(), out.bytes()) == 0;
    return same_bits ? of_the_host_ : compare(got_);
  }

  /// Bytes that any kernel must move: each word is read once and written once.
  std::size_t bytes() const { return 2 * in.bytes(); }

  const int rows, cols;
  tilewise::DeviceBuffer<float> in, out;

 private:
  tilewise::Comparison compare(const std::vector<float>& result) const {
    tilewise::Comparison comparison = tilewise::compare(result, expected_, bound_, rows, cols);
    comparison.method = "all elements";
    return comparison;
  }

  std::vector<double> expected_, bound_;
  std::vector<float> in_order_, got_;
  tilewise::Comparison of_the_host_;
};

/// Input and output of window_sums(). The inputs are small integers, so that sums are exact in
/// FP32, in any order.
template <class T>
class WindowSums {
 public:
  WindowSums(int stride, int rounds, int blocks, int threads, std::uint64_t seed)
      : stride(stride),
        rounds(rounds),
        blocks(blocks),
        threads(threads),
        words_(tilewise::random_vector(window_sums_elements(stride) * kWords, seed,
                                       tilewise::Distribution::integers)),
        in_(words_),
        out(static_cast<std::size_t>(blocks) * threads) {}

  const T* in() const { return reinterpret_cast<const T*>(in_.data()); }

  tilewise::Comparison check() const {
    std::vector<double> expected(out.size());
    for (std::size_t t = 0; t < expected.size(); ++t)
      for (std::size_t w = 0; w < 32 * kWords; ++w)
        expected[t] += rounds * double{words_[t % 32 * stride * kWords + w]};
    tilewise::Comparison comparison =
        tilewise::compare(out.to_host(), expected, {}, blocks, threads);
    comparison.method = "windows exactly, of integers";
    return comparison;
  }

  /// Bytes that the lanes ask shared memory for.
  double bytes() const { return 32.0 * rounds * sizeof(T) * static_cast<double>(out.size()); }

  const int stride, rounds, blocks, threads;

 private:
  static constexpr std::size_t kWords = sizeof(T) / sizeof(float);
  std::vector<float> words_;
  tilewise::DeviceBuffer<float> in_;

 public:
  tilewise::DeviceBuffer<float> out;
};
