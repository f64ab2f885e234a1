// What lesson 07's calls work on, and their rows. Plumbing; the lesson is in cublas_sgemm.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cublas_sgemm.cuh"
#include "tilewise/cublas.hpp"
#include "tilewise/lesson.hpp"

/// A product of m x n x k with everything that a call can take, FP64 results and bounds beside it.
class Calls {
 public:
  /// `sides` are m, n and k; small enough for plain FP64 loops.
  Calls(const std::vector<std::int64_t>& sides, const tilewise::Options& options)
      : Calls(static_cast<int>(sides[0]), static_cast<int>(sides[1]), static_cast<int>(sides[2]),
              options) {}

  Calls(int m, int n, int k, const tilewise::Options& options)
      : m_(m),
        n_(n),
        k_(k),
        A_(tilewise::random_vector(std::size_t(m) * k, options.seed(), options.data())),
        B_(tilewise::random_vector(std::size_t(k) * n, options.seed() + 1, options.data())),
        C_(tilewise::random_vector(std::size_t(m) * n, options.seed() + 2, options.data())),
        product_(C_.size()),
        magnitude_(C_.size()) {
    for (int i = 0; i < m; ++i) {
      for (int l = 0; l < k; ++l) {
        const double a = A_[std::size_t(i) * k + l];
        for (int j = 0; j < n; ++j) {
          const double p = a * B_[std::size_t(l) * n + j];
          product_[std::size_t(i) * n + j] += p;
          magnitude_[std::size_t(i) * n + j] += std::abs(p);
        }
      }
    }
  }

  /// C = alpha op(A) op(B) + beta C, with `gap` unused words at the end of every row.
  tilewise::Variant gemm(const tilewise::CublasHandle& handle, cublasOperation_t op_a,
                         cublasOperation_t op_b, int gap, float alpha, float beta) {
    input_.clear();
    const int lda = add_input(A_, m_, k_, op_a, gap), ldb = add_input(B_, k_, n_, op_b, gap),
              ldc = n_ + gap;
    std::vector<double> expected(C_.size()), bound(C_.size());
    for (std::size_t i = 0; i < C_.size(); ++i) {
      const double old = beta == 0 ? 0 : double(beta) * C_[i];
      expected[i] = alpha * product_[i] + old;
      // The sum, times alpha, plus beta times what was there: two roundings more, and one of the
      // result.
      const double all = std::abs(alpha) * magnitude_[i] + std::abs(old);
      bound[i] = std::abs(alpha) * tilewise::error_bound(k_, magnitude_[i]) +
                 (beta == 0 && alpha == 1 ? 0 : 3 * 0x1p-24 * all);
    }
    char scalars[32];
    std::snprintf(scalars, sizeof(scalars), "%g, %g", alpha, beta);
    tilewise::Variant v =
        variant("sgemm_row_major",
                tilewise::MatmulShape{std::size_t(m_), std::size_t(n_), std::size_t(k_)}.text(),
                {letters(op_a) + " " + letters(op_b), std::to_string(gap), scalars});
    expect(m_, n_, ldc, expected, bound, C_, beta);
    v.baseline = op_a == CUBLAS_OP_N && op_b == CUBLAS_OP_N && gap == 0 && beta == 0;
    if (beta != 0) v.recheck = nullptr;  // every call makes another C of the last
    v.work = 2.0 * m_ * n_ * k_;
    v.launch = [=, this, &handle](cudaStream_t stream) {
      CUBLAS_CHECK(cublasSetStream(handle, stream));
      CUBLAS_CHECK(sgemm_row_major(handle, op_a, op_b, m_, n_, k_, alpha, input(0), lda, input(1),
                                   ldb, beta, output_.data(), ldc));
    };
    return v;
  }

 private:
  static std::string letters(cublasOperation_t op) {
    return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C";
  }
  static std::string text(int rows, int cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  }
  const float* input(std::size_t i) const { return input_[i].data(); }

  /// Stores op^-1(matrix) with a gap of NaN at the end of every row; returns the leading dimension.
  int add_input(const std::vector<float>& matrix, int rows, int cols, cublasOperation_t op,
                int gap) {
    const int stored_rows = op == CUBLAS_OP_N ? rows : cols,
              stored_cols = op == CUBLAS_OP_N ? cols : rows;
    const int ld = stored_cols + gap;
    std::vector<float> words(std::size_t(stored_rows) * ld, NAN);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        words[op == CUBLAS_OP_N ? std::size_t(i) * ld + j : std::size_t(j) * ld + i] =
            matrix[std::size_t(i) * cols + j];
    input_.emplace_back(words);
    return ld;
  }

  tilewise::Variant variant(const char* kernel, const std::string& shape,
                            const std::vector<std::string>& extra) {
    tilewise::Variant v;
    v.kernel = kernel;
    v.shape = shape;
    v.extra = extra;
    v.poison = [this] { output_.upload(before_); };
    v.check = [this] { return check(); };
    v.recheck = v.check;
    return v;
  }

  /// What must come out: rows x cols, `ld` words from row to row. `before` is what is in it before;
  /// NaN where beta is 0.
  void expect(int rows, int cols, int ld, std::vector<double> expected, std::vector<double> bound,
              const std::vector<float>& before, float beta) {
    rows_ = rows, cols_ = cols, ld_ = ld;
    expected_ = std::move(expected);
    bound_ = std::move(bound);
    before_.assign(std::size_t(rows) * ld, NAN);
    for (int i = 0; i < rows && beta != 0; ++i)
      for (int j = 0; j < cols; ++j)
        before_[std::size_t(i) * ld + j] = before[std::size_t(i) * cols + j];
    output_ = tilewise::DeviceBuffer<float>(before_.size());
  }

  tilewise::Comparison check() {
    const std::vector<float> words = output_.to_host();
    std::vector<float> got;
    bool gaps_intact = true;
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < ld_; ++j) {
        const float word = words[std::size_t(i) * ld_ + j];
        if (j < cols_) got.push_back(word);
        if (j >= cols_ && !std::isnan(word)) gaps_intact = false;
      }
    }
    tilewise::Comparison comparison = tilewise::compare(got, expected_, bound_, rows_, cols_);
    comparison.method = "all elements";
    if (!gaps_intact) {
      comparison.ok = false;
      comparison.failure = "words between the rows were written";
    }
    return comparison;
  }

  int m_, n_, k_;
  std::vector<float> A_, B_, C_;
  std::vector<double> product_, magnitude_;  // FP64: A B and |A| |B|
  std::vector<tilewise::DeviceBuffer<float>> input_;
  tilewise::DeviceBuffer<float> output_;
  int rows_ = 0, cols_ = 0, ld_ = 0;
  std::vector<double> expected_, bound_;
  std::vector<float> before_;
};

/// What uses each word once, a dot product and a matrix times a vector. They are judged as a copy
/// is: by bytes.
class Vectors {
 public:
  Vectors(std::int64_t rows, std::int64_t cols, const tilewise::Options& options)
      : rows_(static_cast<int>(rows)),
        cols_(static_cast<int>(cols)),
        A_(tilewise::random_vector(std::size_t(rows) * cols, options.seed(), options.data())),
        x_(tilewise::random_vector(std::max(rows, cols), 77)),
        device_A_(A_),
        device_x_(x_),
        out_(A_.size()) {}

  /// Their rows. The copy is no call of cuBLAS: the simulator has nothing to show for it.
  void run(tilewise::Lesson& lesson, const tilewise::CublasHandle& handle) {
    tilewise::LessonStyle style{
        .figure = tilewise::Figure::bytes, .baseline_name = "copy", .show_tile = false};
    style.counts = false;
    style.in_turns = true;
    style.extra = {{"op", "A", 3}};
    lesson.begin_part("vectors", "each word is used once: bytes instead of FLOP", style);
    lesson.begin_group();
    if (!tilewise::is_simulated()) lesson.run(copy());
    lesson.run(dot(handle));
    lesson.run(gemv(handle, CUBLAS_OP_N));
    lesson.run(gemv(handle, CUBLAS_OP_T));
  }

  /// The driver's copy of A: every word is read once and written once.
  tilewise::Variant copy() {
    tilewise::Variant v = variant("cudaMemcpyAsync", "-", 2 * A_.size());
    v.baseline = true;
    v.launch = [this](cudaStream_t stream) {
      CUDA_CHECK(cudaMemcpyAsync(out_.data(), device_A_.data(), device_A_.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
    };
    v.check = v.recheck = [this] {
      tilewise::Comparison comparison = tilewise::compare_exact(out_.to_host(), A_, rows_, cols_);
      comparison.method = "all elements";
      return comparison;
    };
    return v;
  }

  /// x . y into device memory, where x is the first half of A's words and y the second.
  tilewise::Variant dot(const tilewise::CublasHandle& handle) {
    const int n = static_cast<int>(A_.size() / 2);
    std::vector<double> sum(1), magnitude(1);
    for (int i = 0; i < n; ++i) {
      const double p = double(A_[i]) * A_[n + i];
      sum[0] += p;
      magnitude[0] += std::abs(p);
    }
    tilewise::Variant v = variant("dot_to_device", "-", 2 * std::size_t(n));
    expect(v, sum, magnitude, n);
    v.shape = "n = " + tilewise::with_commas(n);
    v.launch = [this, &handle, n](cudaStream_t stream) {
      CUBLAS_CHECK(cublasSetStream(handle, stream));
      CUBLAS_CHECK(dot_to_device(handle, device_A_.data(), device_A_.data() + n, n, out_.data()));
    };
    return v;
  }

  /// y = op(A) x.
  tilewise::Variant gemv(const tilewise::CublasHandle& handle, cublasOperation_t op) {
    const bool plain = op == CUBLAS_OP_N;
    const int in = plain ? cols_ : rows_, out = plain ? rows_ : cols_;
    std::vector<double> y(out), magnitude(out);
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < cols_; ++j) {
        const double p = double(A_[std::size_t(i) * cols_ + j]) * x_[plain ? j : i];
        y[plain ? i : j] += p;
        magnitude[plain ? i : j] += std::abs(p);
      }
    }
    tilewise::Variant v = variant("sgemv_row_major", plain ? "N" : "T", A_.size() + in + out);
    expect(v, y, magnitude, in);
    v.launch = [this, &handle, op](cudaStream_t stream) {
      CUBLAS_CHECK(cublasSetStream(handle, stream));
      CUBLAS_CHECK(sgemv_row_major(handle, op, rows_, cols_, 1.0f, device_A_.data(), cols_,
                                   device_x_.data(), 0.0f, out_.data()));
    };
    return v;
  }

 private:
  /// A row whose call moves `words` words. All write into the same output, which has room for a
  /// copy of A.
  tilewise::Variant variant(const char* kernel, const char* op, std::size_t words) {
    tilewise::Variant v;
    v.kernel = kernel;
    v.shape = std::to_string(rows_) + " x " + std::to_string(cols_);
    v.extra = {op};
    v.work = 4.0 * static_cast<double>(words);
    v.working_set = 4 * words;
    v.poison = [this] { out_.poison(); };
    return v;
  }

  /// `terms` are added for each result, and their sizes are `magnitude`.
  void expect(tilewise::Variant& v, const std::vector<double>& results,
              const std::vector<double>& magnitude, int terms) {
    std::vector<double> bound;
    for (const double size : magnitude) bound.push_back(tilewise::error_bound(terms, size));
    v.check = v.recheck = [this, results, bound] {
      std::vector<float> got(results.size());
      CUDA_CHECK(
          cudaMemcpy(got.data(), out_.data(), got.size() * sizeof(float), cudaMemcpyDeviceToHost));
      tilewise::Comparison comparison =
          tilewise::compare(std::span<const float>(got), results, bound, results.size(), 1);
      comparison.method = "all elements";
      return comparison;
    };
  }

  int rows_, cols_;
  std::vector<float> A_, x_;
  tilewise::DeviceBuffer<float> device_A_, device_x_, out_;
};

/// C = A B, n x n x n, under the handle's math modes, each judged by the bound of its own
/// arithmetic.
class MathModes {
 public:
  MathModes(int n, const tilewise::Options& options)
      : n_(n),
        A_(tilewise::random_vector(std::size_t(n) * n, options.seed(), options.data())),
        B_(tilewise::random_vector(std::size_t(n) * n, options.seed() + 1, options.data())),
        fp32_(A_, B_, shape()),
        tf32_(A_, B_, shape(), {.arithmetic = tilewise::Arithmetic::tf32()}),
        device_A_(A_),
        device_B_(B_),
        C_(A_.size()) {}

  tilewise::Variant run(const tilewise::CublasHandle& handle, const char* name, cublasMath_t mode) {
    const bool tf32 = mode == CUBLAS_TF32_TENSOR_OP_MATH;
    tilewise::Variant v;
    v.kernel = name;
    v.shape = shape().text();
    v.baseline = mode == CUBLAS_DEFAULT_MATH;
    v.work = shape().flops();
    v.working_set = static_cast<std::size_t>(shape().matrix_bytes());
    v.poison = [this] { C_.poison(); };
    v.check = [this, tf32] { return (tf32 ? tf32_ : fp32_).check(C_.to_host()); };
    v.recheck = v.check;
    v.launch = [this, &handle, mode](cudaStream_t stream) {
      CUBLAS_CHECK(cublasSetMathMode(handle, mode));
      CUBLAS_CHECK(launch_cublas_sgemm(handle, device_A_.data(), device_B_.data(), C_.data(), n_,
                                       n_, n_, stream));
      CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    };
    return v;
  }

  /// What is in C now, judged by FP32's bound.
  tilewise::Comparison by_fp32() const { return fp32_.check(C_.to_host()); }

 private:
  tilewise::MatmulShape shape() const {
    return {std::size_t(n_), std::size_t(n_), std::size_t(n_)};
  }

  int n_;
  std::vector<float> A_, B_;
  tilewise::MatmulReference fp32_, tf32_;
  tilewise::DeviceBuffer<float> device_A_, device_B_, C_;
};

/// `count` products of n x n x n: what a call costs besides its work.
class SmallProducts {
 public:
  SmallProducts(int n, int count, const tilewise::Options& options)
      : n_(n),
        count_(count),
        A_(tilewise::random_vector(words(), options.seed(), options.data())),
        B_(tilewise::random_vector(words(), options.seed() + 1, options.data())),
        device_A_(A_),
        device_B_(B_),
        C_(words()) {
    for (int i = 0; i < count; ++i)
      references_.emplace_back(
          std::span(A_).subspan(i * size(), size()), std::span(B_).subspan(i * size(), size()),
          tilewise::MatmulShape{std::size_t(n), std::size_t(n), std::size_t(n)});
  }

  const float* A(int i) const { return device_A_.data() + i * size(); }
  const float* B(int i) const { return device_B_.data() + i * size(); }
  float* C(int i) { return C_.data() + i * size(); }
  int n() const { return n_; }
  int count() const { return count_; }

  tilewise::Variant run(const char* name, bool baseline, std::function<void(cudaStream_t)> launch) {
    tilewise::Variant v;
    v.kernel = name;
    v.shape = std::to_string(count_) + " of " +
              tilewise::MatmulShape{std::size_t(n_), std::size_t(n_), std::size_t(n_)}.text();
    v.baseline = baseline;
    v.work = 2.0 * n_ * n_ * n_ * count_;
    v.poison = [this] { C_.poison(); };
    v.check = [this] { return check(); };
    v.recheck = v.check;
    v.launch = std::move(launch);
    return v;
  }

 private:
  std::size_t size() const { return std::size_t(n_) * n_; }
  std::size_t words() const { return size() * count_; }

  tilewise::Comparison check() {
    const std::vector<float> all = C_.to_host();
    tilewise::Comparison worst;
    for (int i = 0; i < count_; ++i) {
      tilewise::Comparison one = references_[i].check(std::span(all).subspan(i * size(), size()));
      one.checked += worst.checked;
      if (!one.ok || one.max_error >= worst.max_error) worst = one;
      if (!one.ok) break;
    }
    return worst;
  }

  int n_, count_;
  std::vector<float> A_, B_;
  std::vector<tilewise::MatmulReference> references_;
  tilewise::DeviceBuffer<float> device_A_, device_B_, C_;
};
