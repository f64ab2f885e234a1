// Is a product of matrices of T right, where T is __half, __nv_bfloat16 or float in one of tensor cores' arithmetics? The one function that every
// right kernel of lesson 13 must pass and every wrong kernel must fail.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../chapters/13_tensor_cores/problem.hpp"
#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/device.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

/// A matrix of T in the middle of a larger allocation, as GuardedMatrix is one of floats. `margin` is what lies beside it.
template <class T>
class GuardedOperand {
 public:
  /// Elements before and after, enough for 128 rows that don't belong to a matrix of up to 256 columns.
  static constexpr std::size_t kMargin = std::size_t{1} << 15;

  GuardedOperand(const std::vector<T>& values, T margin) : host_(values.size() + 2 * kMargin, margin), device_(host_) {
    if (values.empty()) return;
    std::memcpy(host_.data() + kMargin, values.data(), values.size() * sizeof(T));
    device_.upload(host_);
  }

  T* data() { return device_.data() + kMargin; }

  /// The matrix as it is on the device now, without margins.
  std::vector<T> values() const {
    const std::vector<T> now = device_.to_host();
    return {now.begin() + kMargin, now.end() - kMargin};
  }
  /// True if not one bit of the margins has changed.
  bool margins_intact() const {
    const std::vector<T> now = device_.to_host();
    const std::size_t end = now.size() - kMargin;
    return same(now, 0, kMargin) && same(now, end, now.size());
  }
  /// True if not one bit has changed, margins included.
  bool intact() const { return same(device_.to_host(), 0, host_.size()); }

 private:
  bool same(const std::vector<T>& now, std::size_t begin, std::size_t end) const {
    return std::memcmp(now.data() + begin, host_.data() + begin, (end - begin) * sizeof(T)) == 0;
  }

  std::vector<T> host_;
  tilewise::DeviceBuffer<T> device_;
};

/// A NaN of T; all of its bits are ones.
template <class T>
T poison() {
  T value;
  std::memset(static_cast<void*>(&value), 0xff, sizeof(T));
  return value;
}

template <class T>
std::vector<T> narrowed(const std::vector<float>& values) {
  std::vector<T> narrow(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) narrow[i] = T(values[i]);
  return narrow;
}
template <class T>
std::vector<float> widened(const std::vector<T>& values) {
  std::vector<float> wide(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) wide[i] = static_cast<float>(values[i]);
  return wide;
}

/// Random numbers that T holds. Half ends at 65504: there the exponents of `wide` are a quarter of what they are elsewhere, -5..5.
template <class T>
std::vector<float> random_operand(std::size_t size, std::uint64_t seed, tilewise::Distribution distribution) {
  std::vector<float> values = tilewise::random_vector(size, seed, distribution);
  if constexpr (!std::is_same_v<T, float>) {
    for (float& value : values) {
      if (std::is_same_v<T, __half> && distribution == tilewise::Distribution::wide) {
        int exponent = 0;
        const float mantissa = std::frexp(value, &exponent);
        value = std::ldexp(mantissa, exponent / 4);
      }
      value = static_cast<float>(T(value));
    }
  }
  return values;
}

/// 1 or -1. Sums of up to 1000 such products are whole numbers below 256, which half, bfloat16, TF32 and float hold: nothing is rounded anywhere.
inline std::vector<float> random_signs(std::size_t size, std::uint64_t seed) {
  std::vector<float> values = tilewise::random_vector(size, seed, tilewise::Distribution::integers);
  for (float& value : values) value = value < 0 ? -1.0f : 1.0f;
  return values;
}

/// Operands, as floats that T can hold, and what their product must be. Not copied: the exact check keeps spans of a and b.
template <class T>
struct ProductCase {
  tilewise::MatmulShape shape;
  std::vector<float> a, b;
  tilewise::MatmulReference reference;
  std::optional<tilewise::ExactMatmulCheck>
      exact;  ///< of sums that nothing rounds: every element, without any tolerance

  ProductCase(const tilewise::MatmulShape& shape, std::vector<float> a_values, std::vector<float> b_values,
              const tilewise::Arithmetic& arithmetic, bool is_exact = false)
      : shape(shape),
        a(std::move(a_values)),
        b(std::move(b_values)),
        reference(a, b, shape, {.arithmetic = arithmetic}) {
    if (is_exact) exact.emplace(a, b, shape);
  }
  ProductCase(const ProductCase&) = delete;
};

template <class T>
ProductCase<T> random_case(const tilewise::MatmulShape& shape, std::uint64_t seed,
                           const tilewise::Arithmetic& arithmetic,
                           tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  return {shape, random_operand<T>(shape.m * shape.k, 2 * seed, distribution),
          random_operand<T>(shape.k * shape.n, 2 * seed + 1, distribution), arithmetic};
}

template <class T>
ProductCase<T> case_of_signs(const tilewise::MatmulShape& shape, std::uint64_t seed,
                             const tilewise::Arithmetic& arithmetic) {
  return {shape, random_signs(shape.m * shape.k, 2 * seed), random_signs(shape.k * shape.n, 2 * seed + 1), arithmetic,
          true};
}

/// What is not a number stays in its row and column: a tile that reached over the end of a row of A, or below B, would carry it into other elements. At
/// least 7 rows. `infinity`: the last number of A's row 4 is infinite.
template <class T>
ProductCase<T> case_with_nan(const tilewise::MatmulShape& shape, const tilewise::Arithmetic& arithmetic,
                             bool infinity) {
  std::vector<float> a = random_operand<T>(shape.m * shape.k, 1, tilewise::Distribution::uniform);
  std::vector<float> b = random_operand<T>(shape.k * shape.n, 2, tilewise::Distribution::uniform);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t k = 0; k < shape.k; ++k) {
    a[5 * shape.k + k] = nan;              // one row in the middle of A,
    a[(shape.m - 1) * shape.k + k] = nan;  // the last, which may stand for those outside,
    b[(k + 1) * shape.n - 1] = nan;        // and the last column of B
  }
  if (infinity) a[5 * shape.k - 1] = std::numeric_limits<float>::infinity();
  return {shape, std::move(a), std::move(b), arithmetic};
}

/// Launches a kernel: A, B, C, M, N, K. Returns what the launch returned.
template <class T>
using ProductLaunch = std::function<cudaError_t(const T*, const T*, T*, int, int, int)>;

template <class T>
struct ProductKernel {
  std::string name;
  ProductLaunch<T> launch;
  tilewise::Arithmetic arithmetic;
};

/// Runs the kernel with C poisoned, and looks at everything it may have done.
template <class T>
Verdict check_product(const ProductLaunch<T>& launch, const ProductCase<T>& product) {
  const tilewise::MatmulShape& shape = product.shape;
  Verdict verdict;
  NewFindings findings;
  GuardedOperand<T> A(narrowed<T>(product.a), poison<T>()), B(narrowed<T>(product.b), poison<T>());
  // C's margins hold a number, so that a NaN that was read beside A and written beside C is seen.
  GuardedOperand<T> C(std::vector<T>(shape.m * shape.n, poison<T>()), T(-12345.0f));

  cudaError_t status = launch(A.data(), B.data(), C.data(), static_cast<int>(shape.m), static_cast<int>(shape.n),
                              static_cast<int>(shape.k));
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    cudaGetLastError();
    verdict.add(Fault::launch_failed, cudaGetErrorString(status));
    if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
    return verdict;
  }

  const std::vector<float> c = widened(C.values());
  verdict.comparison = product.reference.check(c);
  if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
  if (product.exact) {
    const tilewise::Comparison exact = product.exact->check(c);
    if (!exact.ok) verdict.add(Fault::wrong_value, exact.text());
  }
  if (!C.margins_intact()) verdict.add(Fault::outside_written, "memory around C was written");
  if (!A.intact()) verdict.add(Fault::input_changed, "A was changed");
  if (!B.intact()) verdict.add(Fault::input_changed, "B was changed");
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  return verdict;
}

/// Right on this shape with random numbers, and exactly right with signs.
template <class T>
void require_right_product(const std::vector<ProductKernel<T>>& kernels, const tilewise::MatmulShape& shape) {
  for (const ProductKernel<T>& kernel : kernels) {
    const Verdict verdict = check_product(kernel.launch, random_case<T>(shape, 1, kernel.arithmetic));
    INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
    const Verdict of_signs = check_product(kernel.launch, case_of_signs<T>(shape, 2, kernel.arithmetic));
    INFO("of 1 and -1: " << of_signs.text);
    REQUIRE(of_signs.right());
  }
}

/// Right on each kind of data, with each of the seeds.
template <class T>
void require_right_product_on_all_data(const std::vector<ProductKernel<T>>& kernels, const tilewise::MatmulShape& shape,
                                       const std::vector<std::uint64_t>& seeds) {
  using tilewise::Distribution;
  for (const Distribution distribution :
       {Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers}) {
    for (const ProductKernel<T>& kernel : kernels) {
      for (const std::uint64_t seed : seeds) {
        const Verdict verdict =
            check_product(kernel.launch, random_case<T>(shape, seed, kernel.arithmetic, distribution));
        INFO(kernel.name << ", " << shape.text() << ", seed " << seed << ", " << tilewise::to_string(distribution)
                         << ": " << verdict.text);
        REQUIRE(verdict.right());
      }
    }
  }
}

/// M or N of 0 is no error and C isn't touched; a sum of no products is zero.
template <class T>
void require_empty_product_is_no_error(const std::vector<ProductKernel<T>>& kernels, int M, int N) {
  for (const ProductKernel<T>& kernel : kernels) {
    INFO(kernel.name);
    for (const tilewise::MatmulShape& shape : {tilewise::MatmulShape{0, 16, 16}, {16, 0, 16}, {0, 0, 0}})
      REQUIRE(check_product(kernel.launch, random_case<T>(shape, 1, kernel.arithmetic)).right());
    GuardedOperand<T> C(std::vector<T>(std::size_t(M) * N, poison<T>()), T(3.0f));
    REQUIRE(kernel.launch(nullptr, nullptr, C.data(), M, N, 0) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(widened(C.values()) == std::vector<float>(std::size_t(M) * N, 0.0f));
    REQUIRE(C.margins_intact());
  }
}

/// A launch that a kernel must refuse: elements by which A, B and C begin later than they should, and sizes.
struct Refusal {
  int a, b, c, M, N, K;
};

/// Refused, C is left alone, and no error stays behind.
template <class T>
void require_product_refusals(const std::vector<ProductKernel<T>>& kernels, const std::vector<Refusal>& refusals) {
  GuardedOperand<T> A(std::vector<T>(2048, T(1.0f)), T(1.0f)), B(std::vector<T>(2048, T(1.0f)), T(1.0f)),
      C(std::vector<T>(2048, T(3.0f)), T(3.0f));
  for (const ProductKernel<T>& kernel : kernels) {
    for (const auto& [a, b, c, M, N, K] : refusals) {
      INFO(kernel.name << ", " << M << " x " << N << " x " << K << ", offsets " << a << ", " << b << ", " << c);
      REQUIRE(kernel.launch(A.data() + a, B.data() + b, C.data() + c, M, N, K) == cudaErrorInvalidValue);
    }
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(C.intact());
}

/// A wrong kernel.
template <class T>
struct ProductMutant {
  const char* name;
  ProductLaunch<T> launch;
  Fault fault;  ///< what check_product() must find, among other things
  const char* finding =
      "";  ///< of missing order: what the simulator calls it. A GPU may be lucky, the simulator never is
};

/// Each is rejected, and for its own mistake, on one of these shapes at least.
template <class T>
void check_product_mutants_rejected(const std::vector<ProductMutant<T>>& mutants,
                                    const std::vector<tilewise::MatmulShape>& shapes,
                                    const tilewise::Arithmetic& arithmetic) {
  for (const ProductMutant<T>& mutant : mutants) {
    const std::string finding = mutant.finding;
    Verdict verdict;
    const auto add = [&](const Verdict& one) {
      verdict.faults |= one.faults;
      if (!one.right()) verdict.text += one.text + "\n";
      return verdict.has(mutant.fault) && verdict.text.find(finding) != std::string::npos;
    };
    for (const tilewise::MatmulShape& shape : shapes) {
      if (add(check_product(mutant.launch, random_case<T>(shape, 7, arithmetic)))) break;
      if (add(check_product(mutant.launch, case_of_signs<T>(shape, 7, arithmetic)))) break;
    }
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
    if (!finding.empty() && !tilewise::is_simulated()) {
      // On a GPU the warps may happen to run in a harmless order, and copies to be there in time.
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(finding) != std::string::npos);
  }
}
