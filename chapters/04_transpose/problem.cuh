// What lesson 04 works on: a random matrix, and what must become of it. Plumbing; the lesson is in
// transpose.cuh.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/options.hpp"
#include "tilewise/pinned_buffer.hpp"
#include "tilewise/random.hpp"

/// What a kernel must leave: the transpose, the input itself, or the input's tiles of 64 x 64 where
/// a transpose has them, their words in the old order.
enum class Result { transposed, copied, moved };

/// Where in `in` (rows x cols) word i of `out` comes from.
__host__ __device__ inline size_t source_of(size_t i, size_t rows, size_t cols, Result result) {
  if (result == Result::copied) return i;
  const size_t r = i / rows, c = i % rows;  // `out` has rows words per row
  if (result == Result::transposed) return c * cols + r;
  return (c / 64 * 64 + r % 64) * cols + r / 64 * 64 + c % 64;
}

/// Word i of random_vector(size, seed), by itself: the generator's state after i steps is start + i
/// times a constant.
__host__ __device__ inline float random_word(std::uint64_t start, std::uint64_t i) {
  std::uint64_t z = start + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<float>(static_cast<std::int64_t>(z >> 40) - (1 << 23)) * 0x1p-23f;
}

__global__ void fill_words(float* words, size_t count, std::uint64_t start) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) words[i] = random_word(start, i);
}

/// What is wrong with an output.
struct Wrong {
  unsigned long long count = 0;
  unsigned long long first = ~0ull;  ///< index of the first wrong word
};

__global__ void find_wrong(const float* out, size_t rows, size_t cols, Result result,
                           std::uint64_t start, Wrong* wrong) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  const float expected = random_word(start, source_of(i, rows, cols, result));
  if (__float_as_uint(out[i]) == __float_as_uint(expected)) return;
  atomicAdd(&wrong->count, 1ull);
  atomicMin(&wrong->first, static_cast<unsigned long long>(i));
}

/// A random matrix that never leaves the device: its words, and those of every result, can be
/// computed one by one. With a gigabyte per matrix the host would need a minute for what the device
/// does in milliseconds.
class DeviceMatrix {
 public:
  DeviceMatrix(size_t rows, size_t cols, std::uint64_t seed)
      : rows_(rows),
        cols_(cols),
        start_(tilewise::Random(seed).bits()),
        words_(rows * cols),
        wrong_(1) {
    if (words_.size() == 0) return;
    fill_words<<<blocks(), 256>>>(words_.data(), words_.size(), start_);
    CUDA_CHECK(cudaGetLastError());
  }

  const float* data() const { return words_.data(); }
  size_t size() const { return words_.size(); }

  /// Every word of `out` (on the device, size() words) must be the very one that `result` says.
  tilewise::Comparison check(const float* out, Result result) {
    tilewise::Comparison comparison;
    comparison.method = "every element, exactly";
    comparison.checked = size();
    if (size() == 0) return comparison;
    wrong_.upload(std::vector<Wrong>(1));
    find_wrong<<<blocks(), 256>>>(out, rows_, cols_, result, start_, wrong_.data());
    CUDA_CHECK(cudaGetLastError());
    const Wrong wrong = wrong_.to_host()[0];
    comparison.wrong = wrong.count;
    comparison.ok = wrong.count == 0;
    if (comparison.ok) return comparison;
    float got;
    CUDA_CHECK(cudaMemcpy(&got, out + wrong.first, sizeof got, cudaMemcpyDeviceToHost));
    const size_t width = result == Result::copied ? cols_ : rows_;
    comparison.first_wrong = {wrong.first / width,
                              wrong.first % width,
                              got,
                              random_word(start_, source_of(wrong.first, rows_, cols_, result)),
                              0,
                              0};
    return comparison;
  }

 private:
  unsigned blocks() const { return static_cast<unsigned>((size() + 255) / 256); }

  size_t rows_, cols_;
  std::uint64_t start_;
  tilewise::DeviceBuffer<float> words_;
  tilewise::DeviceBuffer<Wrong> wrong_;
};

/// The matrices of one shape. The input is made and the results are checked by the host; those of
/// more than kCheckedByHost words, where the data is random_vector()'s default, by the device.
class Problem {
 public:
  static constexpr size_t kCheckedByHost = size_t{1} << 24;

  Problem(int rows, int cols, const tilewise::Options& options) : rows(rows), cols(cols) {
    const size_t words = static_cast<size_t>(rows) * cols;
    out = tilewise::DeviceBuffer<float>(words);
    if (tilewise::sampled_blocks() != 0) {  // nothing is checked
      uploaded_ = tilewise::DeviceBuffer<float>(words);
      return;
    }
    if (words > kCheckedByHost && options.data() == tilewise::Distribution::uniform) {
      on_device_.emplace(rows, cols, options.seed());
      return;
    }
    original_ = tilewise::random_vector(words, options.seed(), options.data());
    uploaded_ = tilewise::DeviceBuffer<float>(original_);
    got_.emplace(words);
  }

  const float* in() const { return on_device_ ? on_device_->data() : uploaded_.data(); }
  size_t bytes() const { return out.bytes(); }

  /// Every element must be the very one: nothing is computed, so there is nothing to round.
  tilewise::Comparison check(Result result) {
    if (on_device_) return on_device_->check(out.data(), result);
    out.download(got_->span());
    const bool copied = result == Result::copied;
    tilewise::Comparison comparison = tilewise::compare_exact(
        got_->span(), expected(result), copied ? rows : cols, copied ? cols : rows);
    comparison.method = "every element, exactly";
    return comparison;
  }

  int rows, cols;
  tilewise::DeviceBuffer<float> out;

 private:
  const std::vector<float>& expected(Result result) {
    if (result == Result::copied) return original_;
    std::vector<float>& words = result == Result::moved ? moved_ : transposed_;
    if (!words.empty()) return words;
    words.resize(original_.size());
    const size_t height = rows, width = cols, piece = 64;  // in pieces that fit in the cache
    for (size_t r0 = 0; r0 < height; r0 += piece) {
      for (size_t i = 0; i < width; ++i) {
        const size_t row = result == Result::moved ? i / piece * piece : i;
        for (size_t r = r0; r < std::min(height, r0 + piece); ++r) {
          const size_t to = result == Result::moved ? (row + r % piece) * height + r0 + i % piece
                                                    : i * height + r;
          words[to] = original_[r * width + i];
        }
      }
    }
    return words;
  }

  std::optional<DeviceMatrix> on_device_;
  std::vector<float> original_, transposed_, moved_;
  tilewise::DeviceBuffer<float> uploaded_;
  std::optional<tilewise::PinnedBuffer<float>> got_;
};
