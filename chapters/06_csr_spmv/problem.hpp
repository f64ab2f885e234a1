// What lesson 06 works on: one matrix on the device, x, y, and what must come out. Plumbing; the
// lesson is in csr_spmv.cuh.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "csr_spmv.cuh"
#include "tilewise/csr.hpp"
#include "tilewise/cusparse.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/lesson.hpp"

/// Computes y = A x for the structure of one matrix: values, x, y, stream.
template <class T>
using Spmv = std::function<cudaError_t(const T*, const T*, T*, cudaStream_t)>;

/// Where the nonzeros of a generated matrix are. Made once, for values of both types.
class Structure {
 public:
  template <class T>
  tilewise::Csr<T> with_values(const tilewise::MatrixSpec& spec) {
    if (row_ptr_.empty()) return tilewise::generate_csr<T>(spec);
    const auto rows = static_cast<std::int32_t>(row_ptr_.size() - 1);
    std::vector<T> values =
        tilewise::random_values<T>(col_index_.size(), spec.seed + 1, spec.values);
    return {rows, rows, std::move(row_ptr_), std::move(col_index_), std::move(values)};
  }
  /// Takes it back from a matrix that is no longer needed.
  template <class T>
  void keep(tilewise::Csr<T>& matrix) {
    row_ptr_ = std::move(matrix.row_ptr);
    col_index_ = std::move(matrix.col_index);
  }

 private:
  std::vector<std::int32_t> row_ptr_, col_index_;
};

/// A matrix, twice: with the values asked for, and with small integers. Rounding hides mistakes in
/// long rows, since the bound grows with their length; sums of small integers are exact, and one
/// nonzero too few shows.
template <class T>
class Problem {
 public:
  /// Keeps nothing of `matrix`, and leaves other values in it.
  Problem(std::string name, tilewise::Csr<T>& matrix, const tilewise::Options& options)
      : rows(matrix.rows),
        cols(matrix.cols),
        nnz(static_cast<int>(matrix.nnz())),
        minimal_traffic(matrix.minimal_traffic()),
        row_ptr(matrix.row_ptr),
        col_index(matrix.col_index),
        values(matrix.values),
        y(static_cast<std::size_t>(rows)),
        name_(std::move(name)),
        host_y_(static_cast<std::size_t>(rows)),
        plan_memory_(spmv_plan_bytes<T>(rows, nnz)) {
    const std::vector<T> host_x = tilewise::random_values<T>(static_cast<std::size_t>(cols),
                                                             options.seed() + 2, options.data());
    x = tilewise::DeviceBuffer<T>(host_x);
    make_plan();
    if (tilewise::sampled_blocks() != 0) return;  // nothing is checked
    reference_.emplace(matrix, host_x);

    tilewise::fill_with_signs<T>(matrix.values, options.seed() + 3);
    const std::vector<T> integers = tilewise::random_values<T>(
        static_cast<std::size_t>(cols), options.seed() + 4, tilewise::Distribution::integers);
    exact_.emplace(matrix, integers);
    if (tilewise::spmv_is_exact(*exact_)) {
      exact_values_ = tilewise::DeviceBuffer<T>(matrix.values);
      exact_x_ = tilewise::DeviceBuffer<T>(integers);
    }
  }

  /// The preprocessing of launch_spmv(), once more.
  void make_plan() {
    CUDA_CHECK(launch_spmv_plan(rows, cols, nnz, row_ptr.data(), col_index.data(),
                                plan_memory_.data(), &plan));
  }
  /// Its two halves. They start kernels, and do not wait.
  void find_cuts(cudaStream_t stream) {
    CUDA_CHECK(launch_spmv_cuts(rows, nnz, row_ptr.data(), plan, stream));
  }
  void measure_rows(cudaStream_t stream) {
    CUDA_CHECK(launch_spmv_row_stats(rows, row_ptr.data(), col_index.data(), plan, stream));
  }
  std::size_t plan_bytes() const { return plan_memory_.bytes(); }

  double mean_row() const { return rows > 0 ? static_cast<double>(nnz) / rows : 0; }
  /// The kernel that launch_spmv() takes.
  std::string chosen() const {
    return spmv_is_regular(rows, nnz, plan.stats)
               ? "spmv_unrolled<" + std::to_string(spmv_lanes(mean_row(), kSpmvDepth)) + ">"
               : "spmv_balanced";
  }
  /// "stencil2d: rows of 5.0 nonzeros, the longest 5; 100% near the next: launch_spmv() takes
  /// spmv_unrolled<1>."
  std::string choice() const {
    return name_ + ": rows of " + tilewise::fixed(mean_row(), 1) + " nonzeros, the longest " +
           tilewise::with_commas(static_cast<std::uint64_t>(plan.stats.longest_row)) + "; " +
           tilewise::fixed(rows > 0 ? 100.0 * plan.stats.near_rows / rows : 0, 0) +
           "% near the next: launch_spmv() takes " + chosen() + ".";
  }
  const std::string& name() const { return name_; }
  static std::string type() { return std::is_same_v<T, float> ? "float" : "double"; }
  std::string shape() const { return std::to_string(rows) + " x " + std::to_string(cols); }

  /// A product with this matrix by a launch function; what stands before `rows` in its parameters
  /// comes last here.
  template <class Launch, class... First>
  Spmv<T> product(Launch launch, First... first) const {
    return [=, this](const T* a, const T* b, T* c, cudaStream_t stream) {
      return launch(first..., rows, cols, nnz, row_ptr.data(), col_index.data(), a, b, c, stream);
    };
  }

  Spmv<T> balanced() const {
    return [=, this](const T* a, const T* b, T* c, cudaStream_t stream) {
      return launch_spmv_balanced(rows, cols, nnz, row_ptr.data(), col_index.data(), a, b, c, plan,
                                  stream);
    };
  }

  /// "" if a matrix of that kind can be made and multiplied here, else why not.
  static std::string why_not(const std::string& kind, std::int64_t rows, std::int64_t nnz_per_row) {
    const double n = static_cast<double>(rows);
    const double nnz =
        n * (kind == "stencil3d" ? 27.0 : std::min(n, static_cast<double>(nnz_per_row) + 1));
    if (nnz > static_cast<double>(tilewise::kMostEntries))
      return "more nonzeros than 32-bit positions hold: " + tilewise::significant(nnz);
    if (tilewise::is_simulated() && tilewise::sampled_blocks() == 0 && nnz > 0x1p25)
      return "too much for the simulator, which takes 2^25 nonzeros without --sample";
    const double bytes = nnz * (4.1 + 2 * sizeof(T)) + n * (4 + 3 * sizeof(T));
    if (bytes > static_cast<double>(tilewise::free_device_memory()))
      return "needs " + tilewise::bytes_text(bytes) + " of device memory";
    return "";
  }

  /// How many lanes of a warp take part in a load, on average, from the bytes that they ask for:
  /// each nonzero's value and its element of x are sizeof(T), cuts 16, and the others, columns and
  /// positions, 4. (spmv_join()'s pieces are counted with the others, which makes a lane too many
  /// of each double. They are one or two a tile.)
  double lanes_at_work(const std::string& kernel, const tilewise::Counts& counts) const {
    const bool has_tiles =
        kernel == "spmv_balanced";  // each thread loads two cuts, and spmv_join()'s threads one
    const double cuts =
        has_tiles ? plan.tiles * (2.0 * kSpmvThreads + (plan.stats.longest_row > kSpmvShort)) : 0;
    const double numbers = 2.0 * nnz;
    const double others = static_cast<double>(counts.global_load_bytes) - sizeof(T) * numbers -
                          sizeof(SpmvCut) * cuts;
    return (others / 4 + numbers + cuts) / static_cast<double>(counts.global_load_requests);
  }

  /// A row of the lesson's table. Poisons y, checks the values asked for and the integers.
  tilewise::Variant variant(const std::string& kernel, const Spmv<T>& spmv,
                            const std::string& cache, bool baseline) {
    tilewise::Variant v;
    v.baseline = baseline;
    v.kernel = kernel;
    v.shape = shape();
    v.extra = {name(), type()};
    v.launch = [=, this](cudaStream_t stream) {
      CUDA_CHECK(spmv(values.data(), x.data(), y.data(), stream));
    };
    v.poison = [this] { y.poison(); };
    v.check = [=, this] { return check(spmv); };
    v.recheck = [this] { return reference_->check(host_y()); };
    v.work = minimal_traffic;
    v.working_set = working_set(cache);
    return v;
  }
  /// The timer flushes L2 before each call when the working set may be in it: 1 byte is always
  /// flushed, 0 never.
  std::size_t working_set(const std::string& cache) const {
    return cache == "cold" ? 1 : cache == "warm" ? 0 : static_cast<std::size_t>(minimal_traffic);
  }

  const int rows, cols, nnz;
  const double minimal_traffic;  ///< bytes: the matrix, x and y, each once
  tilewise::DeviceBuffer<int> row_ptr, col_index;
  tilewise::DeviceBuffer<T> values, x, y;
  SpmvPlan<T> plan;

 private:
  tilewise::Comparison check(const Spmv<T>& spmv) {
    tilewise::Comparison comparison = reference_->check(host_y());
    if (!comparison.ok || exact_x_.size() == 0) return comparison;
    y.poison();
    tilewise::run_unwatched(
        [&] { CUDA_CHECK(spmv(exact_values_.data(), exact_x_.data(), y.data(), nullptr)); });
    CUDA_CHECK(cudaDeviceSynchronize());
    const tilewise::Comparison exact = exact_->check_exact(host_y());
    if (!exact.ok) return exact;
    comparison.method = "all elements, and once more with small integers, exactly";
    return comparison;
  }

  const std::vector<T>& host_y() {
    y.download(host_y_);
    return host_y_;
  }

  std::string name_;
  // kept, since to get memory from the operating system takes longer than to download
  std::vector<T> host_y_;
  std::optional<tilewise::SpmvReference<T>> reference_, exact_;
  tilewise::DeviceBuffer<T> exact_values_, exact_x_;
  tilewise::DeviceBuffer<unsigned char> plan_memory_;
};

/// What the lesson's own options say.
struct Choices {
  std::vector<std::string> kinds = {"stencil3d", "stencil2d", "rmat",      "zipf",
                                    "dense_row", "uniform",   "empty_rows"};
  std::vector<std::string> types = {"float"};
  std::vector<std::int64_t> rows, lanes;
  std::int64_t nnz_per_row = 16;
  std::string file, cache = "auto";
};

/// Calls run(problem) for each matrix and type asked for; matrices that do not fit become SKIP
/// rows.
template <class Run>
void for_each_matrix(tilewise::Lesson& lesson, const tilewise::Options& options,
                     const Choices& choices, Run run) {
  const auto from_file = [&](auto number) {
    using T = decltype(number);
    try {
      lesson.begin_group();
      tilewise::Csr<T> matrix = tilewise::read_matrix_market<T>(choices.file);
      Problem<T> problem(choices.file.substr(choices.file.find_last_of('/') + 1), matrix, options);
      run(problem);
    } catch (const tilewise::MatrixMarketError& error) {
      options.refuse(std::string("--matrix ") + error.what());
    }
  };
  const auto generated = [&](auto number, const tilewise::MatrixSpec& spec, Structure& structure) {
    using T = decltype(number);
    lesson.begin_group();
    const std::string kind = tilewise::to_string(spec.kind);
    if (const std::string why = Problem<T>::why_not(kind, spec.rows, spec.nnz_per_row);
        !why.empty())
      return lesson.skip(std::to_string(spec.rows) + " x " + std::to_string(spec.rows), kind, 0,
                         why);
    tilewise::Csr<T> matrix = structure.with_values<T>(spec);
    Problem<T> problem(kind, matrix, options);
    run(problem);
    structure.keep(matrix);
  };
  const std::vector<std::string>& kinds = choices.kinds;
  const std::vector<std::int64_t>& rows = choices.rows;
  for (std::size_t i = 0; i < (choices.file.empty() ? std::max(kinds.size(), rows.size()) : 1);
       ++i) {
    Structure structure;
    for (const std::string& type : choices.types) {
      if (!choices.file.empty()) {
        type == "float" ? from_file(float()) : from_file(double());
        continue;
      }
      const tilewise::MatrixSpec spec{tilewise::matrix_kind_from(kinds[kinds.size() == 1 ? 0 : i]),
                                      rows[rows.size() == 1 ? 0 : i], choices.nnz_per_row,
                                      options.seed(), options.data()};
      type == "float" ? generated(float(), spec, structure) : generated(double(), spec, structure);
    }
  }
}

/// Runs spmv_wrong() on a diagonal matrix, and on the same with two columns exchanged. A sentence
/// with what came out.
inline std::string wrong_kernel_by_luck(std::uint64_t seed) {
  const int n = 1000;
  std::vector<std::int32_t> lengths(n, 1);
  tilewise::Csr<float> A = tilewise::csr_of_lengths<float>(lengths, n, seed);
  const std::vector<float> host_x = tilewise::random_values<float>(n, seed + 2);
  const tilewise::DeviceBuffer<int> row_ptr(A.row_ptr);
  const tilewise::DeviceBuffer<float> values(A.values), x(host_x);
  const auto wrong_rows = [&] {
    const tilewise::DeviceBuffer<int> col_index(A.col_index);
    tilewise::DeviceBuffer<float> y(n);
    y.poison();
    CUDA_CHECK(launch_spmv_wrong(n, n, n, row_ptr.data(), col_index.data(), values.data(), x.data(),
                                 y.data()));
    return std::to_string(tilewise::SpmvReference<float>(A, host_x).check(y.to_host()).wrong);
  };
  for (int i = 0; i < n; ++i) A.col_index[i] = i;
  const std::string diagonal = wrong_rows();
  std::swap(A.col_index[0], A.col_index[n / 2]);
  return "spmv_wrong on a diagonal matrix of 1000 rows: " + diagonal +
         " rows wrong; with two columns exchanged: " + wrong_rows() + ".";
}

/// cuSPARSE's product with one matrix, after its own preprocessing or without. Keeps one
/// description for each array of values.
template <class T>
class CusparseSpmv {
 public:
  CusparseSpmv(Problem<T>& problem, cusparseSpMVAlg_t algorithm, bool preprocessed = true)
      : problem_(problem), algorithm_(algorithm), preprocessed_(preprocessed) {}

  cudaError_t operator()(const T* values, const T* x, T* y, cudaStream_t stream) {
    if (!matrix_ || values != values_) {
      describe(values, x, y);
      buffer_ = tilewise::DeviceBuffer<unsigned char>(ask_for_bytes());
      if (preprocessed_) preprocess();
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    handle_.set_stream(stream);
    CUSPARSE_CHECK(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, *matrix_, *x_,
                                &zero_, *y_, tilewise::cuda_data_type<T>(), algorithm_,
                                buffer_.data()));
    return cudaSuccess;
  }

  /// Times cusparseSpMV_bufferSize() and cusparseSpMV_preprocess(), each time with a matrix that
  /// cuSPARSE has not seen.
  tilewise::Timing preprocess_time(const tilewise::TimerOptions& rules) {
    const auto both = [this] {
      ask_for_bytes();
      preprocess();
    };
    return tilewise::measure_elapsed(
        both, [this] { describe(problem_.values.data(), problem_.x.data(), problem_.y.data()); },
        rules);
  }
  /// Of the buffer that cuSPARSE has asked for, with preprocessing and without.
  std::size_t buffer_bytes() const { return buffer_.bytes(); }

 private:
  void describe(const T* values, const T* x, T* y) {
    const Problem<T>& p = problem_;
    matrix_.emplace(p.rows, p.cols, p.nnz, p.row_ptr.data(), p.col_index.data(), values);
    x_.emplace(p.cols, x);
    y_.emplace(p.rows, y);
    values_ = values;
    handle_.set_stream(nullptr);
  }

  std::size_t ask_for_bytes() {
    std::size_t bytes = 0;
    CUSPARSE_CHECK(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_,
                                           *matrix_, *x_, &zero_, *y_,
                                           tilewise::cuda_data_type<T>(), algorithm_, &bytes));
    return bytes;
  }

  void preprocess() {
    CUSPARSE_CHECK(cusparseSpMV_preprocess(
        handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, *matrix_, *x_, &zero_, *y_,
        tilewise::cuda_data_type<T>(), algorithm_, buffer_.data()));
  }

  Problem<T>& problem_;
  cusparseSpMVAlg_t algorithm_;
  bool preprocessed_;
  tilewise::CusparseHandle handle_;
  std::optional<tilewise::CusparseCsr> matrix_;
  std::optional<tilewise::CusparseVector> x_, y_;
  const T* values_ = nullptr;
  tilewise::DeviceBuffer<unsigned char> buffer_;
  T one_ = 1, zero_ = 0;
};
