// What lesson 14 works on: n numbers on the device, twice, and what must come out. Plumbing; the
// lesson is in reduction.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reduction.cuh"
#include "tilewise/lesson.hpp"

/// Arrays that a reduction reads, on the device. `scratch` is all zero before its first use and
/// belongs to one kernel.
struct Inputs {
  size_t n = 0;
  const float* x = nullptr;
  const float* y = nullptr;
};

/// What the exact sum of some terms is, and what the sum of their magnitudes.
struct ExactSum {
  double sum = 0, magnitude = 0;

  void add(double term) {  // Neumaier's: what is rounded off is kept apart
    const double next = sum + term;
    lost_ += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
    magnitude += std::abs(term);
  }
  void finish() { sum += lost_; }

 private:
  double lost_ = 0;
};

/// The results that two arrays must give.
struct Expected {
  ExactSum sum, dot;
  float maximum = -INFINITY;
  long long index = -1;

  Expected() = default;
  Expected(const std::vector<float>& x, const std::vector<float>& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      sum.add(x[i]);
      dot.add(double(x[i]) * y[i]);  // exact: 48 bits
      if (index < 0 || x[i] > maximum) {
        maximum = x[i];
        index = static_cast<long long>(i);
      }
    }
    sum.finish();
    dot.finish();
  }
};

/// Judges one result. `additions`: how many roundings the unluckiest element may pass through
/// (infinity: nobody knows).
using Judge = std::function<tilewise::Comparison(const void* result, const Expected&, bool exact)>;

inline tilewise::Comparison judge_sum(double got, const ExactSum& expected, double additions,
                                      double roundoff, bool exact) {
  const tilewise::Arithmetic arithmetic{.accumulate = roundoff};
  const double bound =
      exact || expected.magnitude == 0  // nothing to round, whatever the number of additions
          ? 0
          : tilewise::error_bound(static_cast<size_t>(std::min(additions, 0x1p60)) + 1,
                                  expected.magnitude, arithmetic);
  const double result[] = {got}, wanted[] = {expected.sum}, bounds[] = {bound};
  return tilewise::compare(std::span<const double>(result), wanted, bounds, 1, 1);
}

/// n numbers as asked for, and once more as small integers, whose sums have no rounding: one
/// element too few shows.
class Numbers {
 public:
  Numbers(size_t n, const tilewise::Options& options)
      : n_(n), shape_(tilewise::with_commas(n) + " floats") {
    fill(x_, y_, expected_, n, options.seed(), options.data());
    fill(whole_x_, whole_y_, whole_expected_, n, options.seed() + 2,
         tilewise::Distribution::integers);
  }

  /// "" if there is memory for n numbers, else why not.
  static std::string why_not(size_t n) {
    if (!reduction_fits(n)) return "more blocks of 256 than a grid holds";
    const double bytes = 16.0 * static_cast<double>(n);
    if (bytes > static_cast<double>(tilewise::free_device_memory()))
      return "needs " + tilewise::bytes_text(bytes) + " of device memory";
    return "";
  }

  size_t n() const { return n_; }
  const std::string& shape() const { return shape_; }
  Inputs inputs() const { return {n_, x_.data(), y_.data()}; }
  /// The bytes that the row made last has written; waits for it.
  std::vector<unsigned char> last_result() const { return last_result_(); }

  /// A row of the table: `launch` writes one Result; `judge` says whether it is right. `arrays`:
  /// how many are read.
  template <class Result>
  tilewise::Variant row(const std::string& kernel, int arrays,
                        std::function<cudaError_t(const Inputs&, Result*, cudaStream_t)> launch,
                        Judge judge) const {
    auto out = std::make_shared<tilewise::DeviceBuffer<Result>>(1);
    last_result_ = [=] {
      std::vector<unsigned char> bytes(sizeof(Result));
      CUDA_CHECK(cudaMemcpy(bytes.data(), out->data(), sizeof(Result), cudaMemcpyDeviceToHost));
      return bytes;
    };
    const auto check = [=, this](const Expected& expected, bool exact) {
      return judge(out->to_host().data(), expected, exact);
    };
    tilewise::Variant v;
    v.kernel = kernel;
    v.shape = shape_;
    v.launch = [=, this](cudaStream_t stream) {
      CUDA_CHECK(launch(inputs(), out->data(), stream));
    };
    v.poison = [=] { CUDA_CHECK(cudaMemset(out->data(), 0xff, sizeof(Result))); };
    v.check = [=, this] {
      const tilewise::Comparison comparison = check(expected_, false);
      if (!comparison.ok) return comparison;
      CUDA_CHECK(cudaMemset(out->data(), 0xff, sizeof(Result)));
      tilewise::run_unwatched([&] {
        CUDA_CHECK(launch({n_, whole_x_.data(), whole_y_.data()}, out->data(), nullptr));
      });
      CUDA_CHECK(cudaDeviceSynchronize());
      const tilewise::Comparison exact = check(whole_expected_, true);
      return exact.ok ? comparison : exact;
    };
    v.recheck = [=, this] { return check(expected_, false); };
    v.work = static_cast<double>(n_) * sizeof(float) * arrays;
    v.working_set = static_cast<size_t>(v.work);
    return v;
  }

 private:
  static void fill(tilewise::DeviceBuffer<float>& x, tilewise::DeviceBuffer<float>& y,
                   Expected& expected, size_t n, std::uint64_t seed,
                   tilewise::Distribution distribution) {
    const std::vector<float> host_x = tilewise::random_vector(n, seed, distribution);
    const std::vector<float> host_y = tilewise::random_vector(n, seed + 1, distribution);
    expected = Expected(host_x, host_y);
    x = tilewise::DeviceBuffer<float>(host_x);
    y = tilewise::DeviceBuffer<float>(host_y);
  }

  size_t n_;
  std::string shape_;
  tilewise::DeviceBuffer<float> x_, y_, whole_x_, whole_y_;
  Expected expected_, whole_expected_;
  mutable std::function<std::vector<unsigned char>()> last_result_;
};

/// Scratch memory, all zero, for launches that come one after the other.
class Scratch {
 public:
  Scratch() : bytes_(2 * reduction_scratch_bytes()) {
    CUDA_CHECK(cudaMemset(bytes_.data(), 0, bytes_.bytes()));
  }
  void* sums() const { return bytes_.data(); }
  void* flags() const { return bytes_.data() + reduction_scratch_bytes(); }

 private:
  mutable tilewise::DeviceBuffer<unsigned char> bytes_;
};
