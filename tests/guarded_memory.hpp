// What the tests of all lessons look for around a kernel: memory beside its arrays, findings, and what is wrong with it in one word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/device_buffer.hpp"

#ifdef TILEWISE_SIMULATOR
#include "../common/simulator/base/findings.hpp"
#include "../common/simulator/runtime/end_of_program.hpp"
#endif

/// What can be wrong with a kernel; several at once.
enum class Fault : unsigned {
  none = 0,
  launch_failed = 1,    ///< the launch, or the kernel while it ran, gave a CUDA error
  wrong_value = 2,      ///< an element of C beyond its rounding bound, not finite, or never written
  outside_written = 4,  ///< memory before or after C was changed
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
  /// Elements before and after. Enough for a block of 32 x 32 that ignores the edges of a matrix up to 128 wide.
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
    tilewise::sim::launch_error_seen();
    return text;
  }

 private:
  std::size_t before_ = tilewise::sim::findings().size();
#else
  std::string take() { return {}; }
#endif
};
