// What lesson 13's kernels work on: A, B and C in one of the types that tensor cores take.
// Plumbing; the lesson is in the .cuh files.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tilewise/lesson.hpp"

/// A is m x k, B is k x n, C is m x n, all row-major, of type T: __half, __nv_bfloat16 or float.
template <class T>
struct ProductProblem {
  const T* A = nullptr;
  const T* B = nullptr;
  T* C = nullptr;
  int m = 0, n = 0, k = 0;
  cudaStream_t stream = nullptr;
};

/// 16-bit numbers, exact products, sums in float that the tensor cores may cut, and one rounding to
/// T at the end.
template <class T>
tilewise::Arithmetic narrow_arithmetic() {
  tilewise::Arithmetic arithmetic = tilewise::Arithmetic::narrow_inputs();
  arithmetic.output = std::is_same_v<T, __half> ? 0x1p-11 : 0x1p-8;
  return arithmetic;
}

/// Floats as a sum of two TF32 numbers. What is lost of a product is less than 3 * 2^-20 of it: the
/// product of the low parts, and what TF32 cuts of each low part. That is as if each input were
/// rounded to 2^-19.
inline tilewise::Arithmetic split_arithmetic() {
  return {.input = 0x1p-19, .accumulate = 0x1p-23, .tiny = 0x1p-126};
}

/// What the tensor cores could do with inputs of 16 or 32 bits (TF32), GFLOP/s: multiply-adds per
/// SM and clock (CUDA's programming guide, arithmetic throughput; NVIDIA's white papers of these
/// generations). Infinity where the lesson knows no figure.
inline double peak_gflops(int bits) {
  const tilewise::Device& d = tilewise::device();
  const int per_clock = d.simulated || (bits == 32 && d.major < 8) ? 0
                        : d.major == 9                             ? 2048
                        : d.major == 8 && d.minor == 0             ? 1024
                        : d.major == 7                             ? 512
                                                                   : 0;  // of 16 bits
  if (per_clock == 0) return std::numeric_limits<double>::infinity();
  return 2.0 * d.sms * per_clock * (bits == 16 ? 1 : 0.5) * d.sm_clock_mhz * 1e-3;
}

/// The operands of one shape: as floats on the host, which T can hold, and as T on the device; and
/// what C must be.
template <class T>
class Product {
 public:
  using Problem = ProductProblem<T>;

  /// Is there device memory for the three matrices, and once more for workspaces? Otherwise a SKIP
  /// row says so.
  static bool begin(tilewise::Lesson& lesson, const tilewise::MatmulShape& shape) {
    const double needed = shape.matrix_bytes() / sizeof(float) * sizeof(T) * 2;
    if (needed < static_cast<double>(tilewise::free_device_memory())) return true;
    lesson.skip(shape.text(), "all", 0, "the matrices do not fit in device memory");
    return false;
  }

  Product(const tilewise::MatmulShape& shape, const tilewise::Options& options,
          const tilewise::Arithmetic& arithmetic)
      : shape_(shape),
        a_(rounded(tilewise::random_vector(shape.m * shape.k, options.seed(), options.data()))),
        b_(rounded(tilewise::random_vector(shape.k * shape.n, options.seed() + 1, options.data()))),
        reference_(a_, b_, shape, {.arithmetic = arithmetic}),
        A_(narrowed(a_)),
        B_(narrowed(b_)),
        C_(shape.m * shape.n) {}

  const tilewise::MatmulShape& shape() const { return shape_; }
  Problem problem(cudaStream_t stream = nullptr) {
    return {A_.data(), B_.data(), C_.data(), int(shape_.m), int(shape_.n), int(shape_.k), stream};
  }

  /// A row: `launch` starts the product on the problem's stream.
  tilewise::Variant row(std::string kernel, std::function<void(const Problem&)> launch) {
    tilewise::Variant v;
    v.kernel = std::move(kernel);
    v.shape = shape_.text();
    v.work = shape_.flops();
    v.working_set = A_.bytes() + B_.bytes() + C_.bytes();
    v.poison = [this] { C_.poison(); };
    v.check = v.recheck = [this] { return reference_.check(widened(C_.to_host())); };
    v.launch = [this, launch = std::move(launch)](cudaStream_t stream) { launch(problem(stream)); };
    return v;
  }

 private:
  static std::vector<float> rounded(std::vector<float> values) {
    if constexpr (!std::is_same_v<T, float>)
      for (float& value : values) value = static_cast<float>(T(value));
    return values;
  }
  static std::vector<T> narrowed(const std::vector<float>& values) {
    std::vector<T> narrow(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) narrow[i] = T(values[i]);
    return narrow;
  }
  static std::vector<float> widened(const std::vector<T>& values) {
    std::vector<float> wide(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) wide[i] = static_cast<float>(values[i]);
    return wide;
  }

  tilewise::MatmulShape shape_;
  std::vector<float> a_, b_;
  tilewise::MatmulReference reference_;
  tilewise::DeviceBuffer<T> A_, B_, C_;
};
