// Is a matmul kernel right on one shape? The one function that every right kernel must pass and every wrong kernel
// must fail.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

#ifdef TILEWISE_SIMULATOR
#include "../../common/simulator/runtime/findings.hpp"
#endif

/// What can be wrong with a kernel; several at once.
enum class Fault : unsigned {
  none = 0,
  launch_failed = 1,    ///< the launch, or the kernel while it ran, gave a CUDA error
  wrong_value = 2,      ///< an element of C beyond its rounding bound, not finite, or never written
  outside_written = 4,  ///< memory in front of or behind C was changed
  input_changed = 8,    ///< A or B was changed
  finding = 16          ///< the simulator saw a race, an uninitialised read, an access out of bounds ...
};

/// All faults of one kernel on one shape, and what to print.
struct Verdict {
  unsigned faults = 0;
  std::string text;
  tilewise::Comparison comparison;

  bool right() const { return faults == 0; }
  bool has(Fault fault) const { return (faults & static_cast<unsigned>(fault)) != 0; }
  void add(Fault fault, const std::string& why) {
    faults |= static_cast<unsigned>(fault);
    text += (text.empty() ? "" : "; ") + why;
  }
};

/// A matrix in the middle of a larger allocation, so that what a kernel does outside of it lands in memory that we
/// own, and shows. The margins hold NaN: a word read from there spoils the result.
class GuardedMatrix {
 public:
  /// Elements in front and behind. Enough for a block of 32 x 32 that ignores the edges of a matrix up to 128 wide.
  static constexpr std::size_t kMargin = std::size_t{1} << 15;

  explicit GuardedMatrix(std::span<const float> values, float margin = canary())
      : size_(values.size() + 2 * kMargin), host_(new float[size_]), device_(size_) {
    const std::vector<float>& beside = margin_of(margin);
    std::memcpy(host_.get(), beside.data(), kMarginBytes);
    if (!values.empty()) std::memcpy(host_.get() + kMargin, values.data(), values.size_bytes());
    std::memcpy(host_.get() + size_ - kMargin, beside.data(), kMarginBytes);
    device_.upload({host_.get(), size_});
  }

  float* data() { return device_.data() + kMargin; }

  /// The matrix as it is on the device now, without margins.
  std::vector<float> values() const {
    const auto all = now();
    return {all.get() + kMargin, all.get() + size_ - kMargin};
  }

  /// True if not one bit of the margins has changed.
  bool margins_intact() const {
    const auto all = now();
    const std::size_t end = size_ - kMargin;
    return std::memcmp(all.get(), host_.get(), kMarginBytes) == 0 &&
           std::memcmp(all.get() + end, host_.get() + end, kMarginBytes) == 0;
  }

  /// True if not one bit has changed, margins included.
  bool intact() const { return std::memcmp(now().get(), host_.get(), size_ * sizeof(float)) == 0; }

  /// A NaN with a signature, which a processor may hand on to what is computed from it.
  static float canary() { return std::bit_cast<float>(std::uint32_t{0x7fc0cafe}); }

 private:
  static constexpr std::size_t kMarginBytes = kMargin * sizeof(float);

  // Margins are larger than most matrices, and tests make thousands: they are filled once, and copied and compared by the
  // library's functions, since simcc shows every access of a loop to the simulator, in host code, too.
  static const std::vector<float>& margin_of(float value) {
    static std::map<std::uint32_t, std::vector<float>> margins;
    auto [margin, is_new] = margins.try_emplace(std::bit_cast<std::uint32_t>(value));
    if (is_new) margin->second.assign(kMargin, value);
    return margin->second;
  }

  std::unique_ptr<float[]> now() const {
    std::unique_ptr<float[]> all(new float[size_]);
    device_.download({all.get(), size_});
    return all;
  }

  std::size_t size_;
  std::unique_ptr<float[]> host_;
  tilewise::DeviceBuffer<float> device_;
};

/// Launches a matmul kernel: A, B, C, M, N, K. Returns what the launch returned.
using MatmulLaunch = std::function<cudaError_t(const float*, const float*, float*, int, int, int)>;

/// What the simulator found since this object was made: "race-shared at ...; ...". Takes the findings back, so that
/// the program is not failed for what a test expected. On a GPU there are none.
class NewFindings {
 public:
#ifdef TILEWISE_SIMULATOR
  std::string take() {
    std::string text;
    for (std::size_t i = before_; i < tilewise::sim::findings().size(); ++i)
      text +=
          (text.empty() ? "" : "; ") + tilewise::sim::findings()[i].code + ": " + tilewise::sim::findings()[i].message;
    tilewise::sim::forget_findings(before_);
    return text;
  }

 private:
  std::size_t before_ = tilewise::sim::findings().size();
#else
  std::string take() { return {}; }
#endif
};

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
