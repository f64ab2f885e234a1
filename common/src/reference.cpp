#include "tilewise/reference.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "parallel.hpp"
#include "tilewise/random.hpp"
#include "tilewise/table.hpp"

namespace tilewise {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatMatrix = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

FloatMatrix view(std::span<const float> values, std::size_t rows, std::size_t cols) {
  return {values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols)};
}

// Products in FP64 and their magnitudes, for some rows and columns of C: C[rows, cols].
struct Part {
  std::vector<std::size_t> rows, cols;
  Matrix expected, magnitude;  // rows.size() x cols.size()
};

void compute(Part& part, const FloatMatrix& A, const FloatMatrix& B) {
  const auto rows = static_cast<Eigen::Index>(part.rows.size());
  const auto cols = static_cast<Eigen::Index>(part.cols.size());
  part.expected.resize(rows, cols);
  part.magnitude.resize(rows, cols);
  // Panels of the longer side, so that few rows of a wide C use all cores too.
  const bool by_rows = rows >= cols;
  Matrix whole =
      by_rows ? Matrix(B(Eigen::all, part.cols).cast<double>()) : Matrix(A(part.rows, Eigen::all).cast<double>());
  const Matrix whole_abs = whole.cwiseAbs();
  parallel_panels(by_rows ? rows : cols, 64, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Eigen::Index>(begin), count = static_cast<Eigen::Index>(end - begin);
    const auto& list = by_rows ? part.rows : part.cols;
    const std::vector<std::size_t> chosen(list.begin() + first, list.begin() + first + count);
    if (by_rows) {
      const Matrix panel = A(chosen, Eigen::all).cast<double>();
      part.expected.middleRows(first, count).noalias() = panel * whole;
      part.magnitude.middleRows(first, count).noalias() = panel.cwiseAbs() * whole_abs;
    } else {
      const Matrix panel = B(Eigen::all, chosen).cast<double>();
      part.expected.middleCols(first, count).noalias() = whole * panel;
      part.magnitude.middleCols(first, count).noalias() = whole_abs * panel.cwiseAbs();
    }
  });
}

std::vector<std::size_t> everything(std::size_t size) {
  std::vector<std::size_t> list(size);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

// `wanted` different numbers below `size`, sorted, 0 and size - 1 among them.
std::vector<std::size_t> sample(std::size_t size, std::size_t wanted, Random& random) {
  if (size <= wanted) return everything(size);
  std::vector<std::size_t> list{0, size - 1};
  while (list.size() < std::max<std::size_t>(wanted, 2)) {
    const std::size_t next = random.below(size);
    if (std::find(list.begin(), list.end(), next) == list.end()) list.push_back(next);
  }
  std::sort(list.begin(), list.end());
  return list;
}

void expect_size(std::size_t got, std::size_t wanted, const char* name) {
  if (got != wanted) throw std::length_error(fmt::format("matrix {} has {} elements, {} wanted", name, got, wanted));
}

// Takes over `part` compared at other rows and columns, and adds its findings to `all`.
void merge(Comparison& all, Comparison part, const std::vector<std::size_t>& rows,
           const std::vector<std::size_t>& cols) {
  for (Element* element : {&part.worst, &part.first_wrong}) {
    if (part.checked == 0) break;
    element->row = rows[element->row];
    element->col = cols[element->col];
  }
  const auto ratio = [](const Element& e) { return e.bound > 0 ? e.error / e.bound : (e.error > 0 ? HUGE_VAL : 0); };
  const bool take_worst =
      all.checked == 0 || (all.ok && !part.ok) || (all.ok == part.ok && ratio(part.worst) > ratio(all.worst));
  if (take_worst && part.checked > 0) all.worst = part.worst;
  if (part.wrong > 0 && all.wrong == 0) all.first_wrong = part.first_wrong;
  if (part.max_error > all.max_error || all.checked == 0) {
    all.max_error = part.max_error;
    all.bound_at_max = part.bound_at_max;
  }
  all.checked += part.checked;
  all.wrong += part.wrong;
  all.ok = all.ok && part.ok;
}

}  // namespace

struct MatmulReference::Data {
  MatmulShape shape;
  Arithmetic arithmetic;
  std::vector<Part> parts;
  std::vector<double> row_norms, col_norms;  // of A's rows and B's columns; only when not all elements are compared
  std::string method;
};

MatmulReference::MatmulReference(std::span<const float> A, std::span<const float> B, MatmulShape shape,
                                 const ReferenceOptions& options)
    : data_(std::make_unique<Data>()) {
  expect_size(A.size(), shape.m * shape.k, "A");
  expect_size(B.size(), shape.k * shape.n, "B");
  data_->shape = shape;
  data_->arithmetic = options.arithmetic;
  const FloatMatrix a = view(A, shape.m, shape.k), b = view(B, shape.k, shape.n);

  constexpr double kMaxElements = 0x1p27;  // of C with full reference: 2 GiB of host memory
  const double elements = static_cast<double>(shape.m) * static_cast<double>(shape.n);
  if (shape.flops() / 2 <= options.full_limit && elements <= kMaxElements) {
    data_->parts.push_back({everything(shape.m), everything(shape.n), {}, {}});
    data_->method = "all elements";
  } else {
    Random random(options.seed);
    const auto rows = sample(shape.m, options.sampled_rows, random);
    const auto cols = sample(shape.n, options.sampled_columns, random);
    data_->method = fmt::format("{} rows, {} columns", rows.size(), cols.size());
    data_->parts.push_back({rows, everything(shape.n), {}, {}});
    data_->parts.push_back({everything(shape.m), cols, {}, {}});
    data_->row_norms.resize(shape.m);
    data_->col_norms.resize(shape.n);
    for (std::size_t i = 0; i < shape.m; ++i) data_->row_norms[i] = a.row(i).cast<double>().norm();
    for (std::size_t l = 0; l < shape.k; ++l)  // row by row: B is row-major
      for (std::size_t j = 0; j < shape.n; ++j) data_->col_norms[j] += double(b(l, j)) * double(b(l, j));
    for (double& norm : data_->col_norms) norm = std::sqrt(norm);
  }
  for (Part& part : data_->parts) {
    compute(part, a, b);
    // From here on `magnitude` holds the bound.
    for (Eigen::Index i = 0; i < part.magnitude.size(); ++i)
      part.magnitude.data()[i] =
          error_bound(shape.k, part.magnitude.data()[i], part.expected.data()[i], data_->arithmetic);
  }
}

Comparison MatmulReference::check(std::span<const float> C) const {
  const auto& [m, n, k] = data_->shape;
  expect_size(C.size(), m * n, "C");
  Comparison all;
  for (const Part& part : data_->parts) {
    const std::size_t rows = part.rows.size(), cols = part.cols.size();
    const std::span<const double> expected(part.expected.data(), rows * cols);
    const std::span<const double> bound(part.magnitude.data(), rows * cols);
    if (rows == m && cols == n) {
      merge(all, compare(C, expected, bound, m, n), part.rows, part.cols);
    } else {
      std::vector<float> some(rows * cols);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) some[i * cols + j] = C[part.rows[i] * n + part.cols[j]];
      merge(all, compare(some, expected, bound, rows, cols), part.rows, part.cols);
    }
  }
  if (!data_->row_norms.empty() && all.ok) {
    // |c_ij| <= |a_i| |b_j| (1 + what rounding adds), or the element was never computed.
    const double grow = 1 + error_bound(k, 1, data_->arithmetic);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double most = data_->row_norms[i] * data_->col_norms[j] * grow;
        const double got = C[i * n + j];
        if (std::abs(got) <= most) continue;
        // Not finite inputs have no finite norm, and nothing can be said about their products here.
        if (!std::isfinite(most)) continue;
        if (all.wrong++ == 0) {
          all.first_wrong = {i, j, got, 0, std::abs(got), most};
          all.worst = all.first_wrong;
          all.failure = "larger than |A||B| allows";
        }
      }
    }
    all.ok = all.wrong == 0;
  }
  all.method = data_->method;
  return all;
}

const std::string& MatmulReference::method() const { return data_->method; }

MatmulReference::~MatmulReference() = default;
MatmulReference::MatmulReference(MatmulReference&&) noexcept = default;
MatmulReference& MatmulReference::operator=(MatmulReference&&) noexcept = default;

ExactMatmulCheck::ExactMatmulCheck(std::span<const float> A, std::span<const float> B, MatmulShape shape,
                                   std::uint64_t seed)
    : A_(A), B_(B), shape_(shape) {
  expect_size(A.size(), shape.m * shape.k, "A");
  expect_size(B.size(), shape.k * shape.n, "B");
  const auto small_integer = [](float v) { return std::abs(v) <= 4 && v == std::trunc(v); };
  if (shape.k > kMaxK || shape.n > (std::size_t{1} << 17) || !std::all_of(A.begin(), A.end(), small_integer) ||
      !std::all_of(B.begin(), B.end(), small_integer))
    throw std::invalid_argument("an exact check needs integers in -4..4, k up to 2^20 and n up to 2^17");
  Random random(seed);
  x_.resize(shape.n * 2);
  for (double& x : x_) x = static_cast<double>(random.below(0x10001)) - 0x8000;
  std::vector<double> y(shape.k * 2, 0.0);  // B x
  for (std::size_t l = 0; l < shape.k; ++l) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      y[2 * l] += B[l * shape.n + j] * x_[2 * j];
      y[2 * l + 1] += B[l * shape.n + j] * x_[2 * j + 1];
    }
  }
  // Every sum here and in check() must stay below 2^53 to be exact in FP64.
  double largest = 0;
  for (double value : y) largest = std::max(largest, std::abs(value));
  if (largest * 4 * static_cast<double>(shape.k) >= 0x1p53 ||
      16.0 * static_cast<double>(shape.k) * 0x1p15 * static_cast<double>(shape.n) >= 0x1p53)
    throw std::invalid_argument("an exact check of this shape would round in FP64");
  expected_.assign(shape.m * 2, 0.0);
  parallel_panels(shape.m, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t l = 0; l < shape.k; ++l) {
        expected_[2 * i] += A[i * shape.k + l] * y[2 * l];
        expected_[2 * i + 1] += A[i * shape.k + l] * y[2 * l + 1];
      }
    }
  });
}

Comparison ExactMatmulCheck::check(std::span<const float> C) const {
  const std::size_t m = shape_.m, n = shape_.n, k = shape_.k;  // clang 14 cannot capture structured bindings
  expect_size(C.size(), m * n, "C");
  std::vector<char> bad(m, 0);
  parallel_panels(m, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double first = 0, second = 0;
      bool integers = true;  // with them, no sum below rounds
      for (std::size_t j = 0; j < n; ++j) {
        const float c = C[i * n + j];
        integers = integers && c == std::trunc(c) && std::abs(c) <= 16.0f * static_cast<float>(k);
        first += C[i * n + j] * x_[2 * j];
        second += C[i * n + j] * x_[2 * j + 1];
      }
      bad[i] = !(integers && first == expected_[2 * i] && second == expected_[2 * i + 1]);  // true for NaN
    }
  });
  Comparison all;
  constexpr std::size_t kRowsToExplain = 16;
  const std::size_t bad_rows = std::count(bad.begin(), bad.end(), 1);
  std::size_t explained = 0;
  for (std::size_t i = 0; i < m && explained < kRowsToExplain; ++i) {
    if (!bad[i]) continue;
    ++explained;
    std::vector<double> row(n, 0.0);
    for (std::size_t l = 0; l < k; ++l)
      for (std::size_t j = 0; j < n; ++j) row[j] += static_cast<double>(A_[i * k + l]) * B_[l * n + j];
    merge(all, compare(C.subspan(i * n, n), row, {}, 1, n), {i}, everything(n));
  }
  all.checked = m * n;
  all.ok = bad_rows == 0;
  all.method = "integers, all elements";
  if (bad_rows > 0) all.failure = fmt::format("integer inputs, {} wrong rows", with_commas(bad_rows));
  return all;
}

}  // namespace tilewise
