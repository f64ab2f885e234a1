// CSR matrices: what is refused, what the generators make, and a reference that is right to the last bound.
#include "tilewise/csr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace tilewise;

namespace {

// 2 0 3
// 0 0 0
// 0 5 0
Csr<double> small() { return {3, 3, {0, 2, 2, 3}, {0, 2, 1}, {2, 3, 5}}; }

std::vector<MatrixKind> all_kinds() {
  std::vector<MatrixKind> kinds;
  for (const std::string& name : matrix_kind_names()) kinds.push_back(matrix_kind_from(name));
  return kinds;
}

bool is_stencil(MatrixKind kind) {
  return kind == MatrixKind::stencil2d || kind == MatrixKind::stencil3d7 || kind == MatrixKind::stencil3d;
}

// The matrix as rows x cols numbers.
template <class T>
std::vector<double> dense(const Csr<T>& m) {
  std::vector<double> all(static_cast<std::size_t>(m.rows) * m.cols);
  for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row)
    for (int e = m.row_ptr[row]; e < m.row_ptr[row + 1]; ++e) all[row * m.cols + m.col_index[e]] += m.values[e];
  return all;
}

}  // namespace

TEST_CASE("a CSR matrix knows its rows", "[csr]") {
  const Csr<double> m = small();
  REQUIRE(why_not_valid(m) == "");
  REQUIRE(m.nnz() == 3);
  REQUIRE(m.row_length(0) == 2);
  REQUIRE(m.row_length(1) == 0);
  REQUIRE(m.longest_row() == 2);
  REQUIRE(m.empty_rows() == 1);
  REQUIRE(m.mean_row_length() == 1.0);
  REQUIRE(m.minimal_traffic() == 3 * 12 + 4 * 4 + 8 * 6);
  REQUIRE(why_not_valid(Csr<float>{}) == "");
  REQUIRE(why_not_valid(Csr<float>{2, 0, {0, 0, 0}, {}, {}}) == "");
}

TEST_CASE("what is no CSR matrix is said, with the place", "[csr]") {
  Csr<double> m = small();
  SECTION("negative size") {
    m.rows = -1;
    REQUIRE(why_not_valid(m) == "-1 x 3 is no size");
  }
  SECTION("row_ptr of the wrong length") {
    m.row_ptr.pop_back();
    REQUIRE(why_not_valid(m) == "row_ptr has 3 elements, rows + 1 = 4 wanted");
  }
  SECTION("begins elsewhere") {
    m.row_ptr[0] = 1;
    REQUIRE(why_not_valid(m) == "row_ptr[0] is 1, not 0");
  }
  SECTION("goes back") {
    m.row_ptr[1] = 3;
    REQUIRE(why_not_valid(m) == "row_ptr[2] is 2, less than row_ptr[1], 3");
  }
  SECTION("ends elsewhere") {
    m.row_ptr[3] = 4;
    REQUIRE(why_not_valid(m) == "row_ptr[3] is 4, but there are 3 entries");
  }
  SECTION("more values than columns") {
    m.values.push_back(1);
    REQUIRE(why_not_valid(m) == "4 values, but 3 columns");
  }
  SECTION("column too large") {
    m.col_index[1] = 3;
    REQUIRE(why_not_valid(m) == "col_index[1] is 3, outside 0..2");
  }
  SECTION("column negative") {
    m.col_index[2] = -1;
    REQUIRE(why_not_valid(m) == "col_index[2] is -1, outside 0..2");
  }
}

TEST_CASE("names of kinds go both ways", "[csr]") {
  REQUIRE(matrix_kind_names().size() == 9);
  for (const std::string& name : matrix_kind_names()) REQUIRE(to_string(matrix_kind_from(name)) == name);
  REQUIRE_THROWS_AS(matrix_kind_from("stencil"), std::invalid_argument);
}

TEST_CASE("every generator makes a valid matrix at every size, sorted, without repeated columns", "[csr]") {
  for (const MatrixKind kind : all_kinds()) {
    for (std::int64_t rows : {1, 2, 3, 5, 8, 27, 31, 64, 100, 1000}) {
      for (std::int64_t per_row : {1, 2, 7, 16, 2000}) {
        INFO(to_string(kind) << ", " << rows << " rows, " << per_row << " per row");
        const Csr<float> m = generate_csr<float>({kind, rows, per_row, 3, Distribution::uniform});
        REQUIRE(why_not_valid(m) == "");
        REQUIRE(m.rows == m.cols);
        if (!is_stencil(kind)) REQUIRE(m.rows == rows);
        bool sorted = true;
        for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row)
          for (int e = m.row_ptr[row] + 1; e < m.row_ptr[row + 1]; ++e)
            sorted = sorted && m.col_index[e - 1] < m.col_index[e];
        REQUIRE(sorted);
      }
    }
  }
}

TEST_CASE("a seed gives the same matrix again, another seed another one", "[csr]") {
  for (const MatrixKind kind : all_kinds()) {
    INFO(to_string(kind));
    const MatrixSpec spec{kind, 500, 9, 11, Distribution::uniform};
    MatrixSpec other = spec;
    other.seed = 12;
    REQUIRE(generate_csr<double>(spec) == generate_csr<double>(spec));
    REQUIRE_FALSE(generate_csr<double>(spec).values == generate_csr<double>(other).values);
    // Single precision has the same places.
    REQUIRE(generate_csr<float>(spec).col_index == generate_csr<double>(spec).col_index);
  }
  REQUIRE_FALSE(generate_csr<float>({MatrixKind::uniform, 500, 9, 1, {}}).col_index ==
                generate_csr<float>({MatrixKind::uniform, 500, 9, 2, {}}).col_index);
}

TEST_CASE("R-MAT and uniform matrices are the same bits everywhere", "[csr]") {
  // Written down once; another platform, compiler or number of cores must agree.
  const auto sum = [](const Csr<float>& m) {
    std::uint64_t hash = 1469598103934665603u;
    for (const std::int32_t v : m.row_ptr) hash = (hash ^ static_cast<std::uint32_t>(v)) * 1099511628211u;
    for (const std::int32_t v : m.col_index) hash = (hash ^ static_cast<std::uint32_t>(v)) * 1099511628211u;
    return hash;
  };
  CHECK(sum(generate_csr<float>({MatrixKind::rmat, 50000, 8, 1, {}})) == 0xdf7d2870f5b19d00u);
  CHECK(sum(generate_csr<float>({MatrixKind::uniform, 50000, 8, 1, {}})) == 0xb06e506910c26b6au);
  CHECK(sum(generate_csr<float>({MatrixKind::zipf, 50000, 8, 1, {}})) == 0x9e3a4c1c9e5a6490u);
}

TEST_CASE("stencils have their neighbours, and no others", "[csr]") {
  for (const auto& [kind, side, dimensions, corners] : {std::tuple{MatrixKind::stencil2d, 4, 2, false},
                                                        {MatrixKind::stencil3d7, 3, 3, false},
                                                        {MatrixKind::stencil3d, 4, 3, true}}) {
    const int depth = dimensions == 3 ? side : 1, points = side * side * depth;
    const Csr<float> m = generate_csr<float>({kind, points + side, 1, 1, {}});  // rounded down to the grid
    REQUIRE(m.rows == points);
    std::set<std::pair<int, int>> has;
    for (int row = 0; row < points; ++row)
      for (int e = m.row_ptr[row]; e < m.row_ptr[row + 1]; ++e) has.insert({row, m.col_index[e]});
    for (int a = 0; a < points; ++a) {
      for (int b = 0; b < points; ++b) {
        const int dx = std::abs(a % side - b % side), dy = std::abs(a / side % side - b / side % side),
                  dz = std::abs(a / side / side - b / side / side);
        const bool near = corners ? std::max({dx, dy, dz}) <= 1 : dx + dy + dz <= 1;
        REQUIRE(has.count({a, b}) == static_cast<std::size_t>(near));
      }
    }
  }
  REQUIRE(generate_csr<float>({MatrixKind::stencil3d, 64, 1, 1, {}}).longest_row() == 27);
  REQUIRE(generate_csr<float>({MatrixKind::stencil3d, 63, 1, 1, {}}).rows == 27);
  REQUIRE(generate_csr<float>({MatrixKind::stencil2d, 99, 1, 1, {}}).rows == 81);
}

TEST_CASE("generators make the row lengths that they promise", "[csr]") {
  const auto make = [](MatrixKind kind) { return generate_csr<float>({kind, 4000, 10, 5, {}}); };
  const Csr<float> uniform = make(MatrixKind::uniform);
  REQUIRE(uniform.nnz() == 40000);
  REQUIRE(uniform.longest_row() == 10);
  const Csr<float> banded = make(MatrixKind::banded);
  REQUIRE(banded.longest_row() == 11);
  REQUIRE(banded.row_length(0) == 6);
  const Csr<float> dense_row = make(MatrixKind::dense_row);
  REQUIRE(dense_row.row_length(2000) == 4000);
  REQUIRE(dense_row.row_length(1999) == 10);
  REQUIRE(dense_row.nnz() == 3999 * 10 + 4000);
  const Csr<float> empty = make(MatrixKind::empty_rows);
  REQUIRE(empty.empty_rows() > 3300);
  REQUIRE(empty.empty_rows() < 3700);
  REQUIRE(empty.longest_row() == 10);
  const Csr<float> zipf = make(MatrixKind::zipf);
  std::vector<std::size_t> lengths;
  for (int row = 0; row < 4000; ++row) lengths.push_back(zipf.row_length(row));
  std::sort(lengths.rbegin(), lengths.rend());
  REQUIRE(lengths[0] == 4000);  // would be 4,509
  for (std::size_t k : {2, 9, 99, 999})
    REQUIRE(std::abs(static_cast<double>(lengths[k]) - 4509.0 / (static_cast<double>(k) + 1)) <= 1.5);
  const Csr<float> rmat = make(MatrixKind::rmat);
  REQUIRE(rmat.nnz() > 20000);
  REQUIRE(rmat.nnz() < 40000);            // repeated edges are one
  REQUIRE(rmat.longest_row() > 30 * 10);  // hubs
  REQUIRE(rmat.empty_rows() > 400);
}

TEST_CASE("random columns are spread over the whole row", "[csr]") {
  const Csr<float> m = generate_csr<float>({MatrixKind::uniform, 20000, 4, 9, {}});
  std::vector<int> quarter(4);
  for (const std::int32_t col : m.col_index) ++quarter[static_cast<std::size_t>(col / 5000)];
  for (const int count : quarter) REQUIRE(count == 20000);
  const std::set<std::int32_t> different(m.col_index.begin(), m.col_index.end());
  REQUIRE(different.size() > 19000);
}

TEST_CASE("sizes that cannot be are refused", "[csr]") {
  REQUIRE_THROWS_AS(generate_csr<float>({MatrixKind::uniform, 0, 1, 1, {}}), std::invalid_argument);
  REQUIRE_THROWS_AS(generate_csr<float>({MatrixKind::uniform, 10, 0, 1, {}}), std::invalid_argument);
  REQUIRE_THROWS_AS(generate_csr<float>({MatrixKind::uniform, std::int64_t{1} << 31, 1, 1, {}}), std::length_error);
  REQUIRE_THROWS_AS(generate_csr<float>({MatrixKind::uniform, 1 << 20, 1 << 20, 1, {}}), std::length_error);
  REQUIRE_THROWS_AS(generate_csr<float>({MatrixKind::rmat, 1 << 28, 16, 1, {}}), std::length_error);
  const std::vector<std::int32_t> too_long = {1, 6}, negative = {1, -1};
  REQUIRE_THROWS_AS(csr_of_lengths<float>(too_long, 5, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(csr_of_lengths<float>(negative, 5, 1), std::invalid_argument);
}

TEST_CASE("a matrix of given row lengths, wider than high", "[csr]") {
  const std::vector<std::int32_t> lengths = {0, 7, 1, 0, 50, 3};
  const Csr<double> m = csr_of_lengths<double>(lengths, 50, 4);
  REQUIRE(why_not_valid(m) == "");
  REQUIRE(m.rows == 6);
  REQUIRE(m.cols == 50);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    REQUIRE(m.row_length(row) == static_cast<std::size_t>(lengths[row]));
}

TEST_CASE("random values: the floats of random_vector(), doubles with more bits", "[csr]") {
  REQUIRE(random_values<float>(50000, 7) == random_vector(50000, 7));
  REQUIRE(random_values<float>(100, 7, Distribution::wide) == random_vector(100, 7, Distribution::wide));
  const std::vector<double> doubles = random_values<double>(50000, 7);
  const std::vector<float> floats = random_vector(50000, 7);
  int longer = 0;
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    REQUIRE(std::abs(doubles[i] - static_cast<double>(floats[i])) <= 0x1p-22);
    longer += doubles[i] != static_cast<double>(floats[i]);
  }
  REQUIRE(longer > 49000);
  const double mean = std::accumulate(doubles.begin(), doubles.end(), 0.0) / 50000;
  REQUIRE(std::abs(mean) < 0.02);
}

TEMPLATE_TEST_CASE("signs are -1 and 1, half of each, by seed", "[csr]", float, double) {
  std::vector<TestType> signs(50001), shorter(17000), others(50001);
  fill_with_signs<TestType>(signs, 3);
  fill_with_signs<TestType>(shorter, 3);
  fill_with_signs<TestType>(others, 4);
  const auto negative = std::count(signs.begin(), signs.end(), TestType(-1));
  REQUIRE(negative + std::count(signs.begin(), signs.end(), TestType(1)) == 50001);
  REQUIRE(std::abs(negative - 25000.5) < 600);  // five standard deviations
  REQUIRE(std::equal(shorter.begin(), shorter.end(), signs.begin()));
  REQUIRE(signs != others);
}

TEMPLATE_TEST_CASE("the reference is the product, computed as a dense matrix", "[csr]", float, double) {
  for (const MatrixKind kind : all_kinds()) {
    const Csr<TestType> m = generate_csr<TestType>({kind, 70, 6, 2, Distribution::uniform});
    const std::vector<TestType> x = random_values<TestType>(static_cast<std::size_t>(m.cols), 3);
    const SpmvReference<TestType> reference(m, x);
    const std::vector<double> all = dense(m);
    std::vector<TestType> y;
    double largest = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row) {
      double sum = 0, magnitude = 0;
      for (std::size_t col = 0; col < static_cast<std::size_t>(m.cols); ++col) {
        sum += all[row * m.cols + col] * static_cast<double>(x[col]);
        magnitude += std::abs(all[row * m.cols + col] * static_cast<double>(x[col]));
      }
      largest = std::max(largest, magnitude);
      REQUIRE(std::abs(reference.expected()[row] - sum) <= 1e-13);
      REQUIRE(reference.bound()[row] >= 0);
      REQUIRE((reference.bound()[row] == 0) == (m.row_length(row) == 0));
      y.push_back(static_cast<TestType>(sum));
    }
    INFO(to_string(kind));
    REQUIRE(std::abs(reference.largest_magnitude() - largest) <= 1e-12);
    REQUIRE(reference.check(y).ok);
    REQUIRE(reference.check(y).checked == static_cast<std::size_t>(m.rows));
  }
}

TEMPLATE_TEST_CASE("the reference rejects what is wrong", "[csr]", float, double) {
  const Csr<TestType> m = generate_csr<TestType>({MatrixKind::empty_rows, 60, 6, 2, Distribution::uniform});
  const std::vector<TestType> x = random_values<TestType>(60, 3);
  const SpmvReference<TestType> reference(m, x);
  std::vector<TestType> y(reference.expected().begin(), reference.expected().end());
  REQUIRE(reference.check(y).ok);
  std::size_t full = 0, empty = 0;
  while (m.row_length(full) == 0) ++full;
  while (m.row_length(empty) != 0) ++empty;
  const TestType u = std::numeric_limits<TestType>::epsilon();
  SECTION("one row beyond its bound") {
    y[full] += static_cast<TestType>(2.5 * reference.bound()[full]);
    REQUIRE(reference.check(y).wrong == 1);
    REQUIRE(reference.check(y).first_wrong.row == full);
  }
  SECTION("not written") {
    y[full] = std::numeric_limits<TestType>::quiet_NaN();
    REQUIRE_FALSE(reference.check(y).ok);
  }
  SECTION("an empty row not written") {
    y[empty] = std::numeric_limits<TestType>::quiet_NaN();
    REQUIRE(reference.check(y).first_wrong.row == empty);
  }
  SECTION("an empty row that is not 0") {
    y[empty] = std::numeric_limits<TestType>::denorm_min();
    REQUIRE(reference.check(y).first_wrong.row == empty);
  }
  SECTION("one row short") {
    y.pop_back();
    REQUIRE_THROWS_AS(reference.check(y), std::length_error);
  }
  SECTION("a last bit is no mistake, but is one for exact sums") {
    y[full] *= 1 + u;
    REQUIRE(reference.check(y).ok);
    REQUIRE_FALSE(reference.check_exact(y).ok);
  }
}

TEST_CASE("sums of integers are exact up to 2^24", "[csr]") {
  const Csr<float> m = generate_csr<float>({MatrixKind::dense_row, 3000, 5, 1, Distribution::integers});
  const std::vector<float> x = random_values<float>(3000, 2, Distribution::integers);
  const SpmvReference<float> reference(m, x);
  REQUIRE(spmv_is_exact(reference));
  REQUIRE(reference.largest_magnitude() <= 16 * 3000);
  std::vector<float> y;
  for (std::size_t row = 0; row < 3000; ++row) {  // backwards, in single precision
    float sum = 0;
    for (int e = m.row_ptr[row + 1] - 1; e >= m.row_ptr[row]; --e) sum += m.values[e] * x[m.col_index[e]];
    y.push_back(sum);
  }
  REQUIRE(reference.check_exact(y).ok);
  y[1500] += 1;  // one unit in a row of 3,000
  REQUIRE(reference.check_exact(y).first_wrong.row == 1500);
  const Csr<float> large{1, 2, {0, 2}, {0, 1}, {0x1p23f, 0x1p23f}};
  REQUIRE(spmv_is_exact(SpmvReference<float>(large, std::vector<float>{1, 1})));
  REQUIRE_FALSE(spmv_is_exact(SpmvReference<float>(large, std::vector<float>{1, 2})));
}

TEST_CASE("x must have an element for every column", "[csr]") {
  REQUIRE_THROWS_AS(SpmvReference<double>(small(), std::vector<double>(2)), std::length_error);
}

TEST_CASE("a matrix without rows, and one without columns", "[csr]") {
  const SpmvReference<float> none(Csr<float>{0, 5, {0}, {}, {}}, std::vector<float>(5));
  REQUIRE(none.check({}).ok);
  const SpmvReference<float> narrow(Csr<float>{2, 0, {0, 0, 0}, {}, {}}, std::vector<float>{});
  REQUIRE(narrow.check(std::vector<float>{0, 0}).ok);
  REQUIRE_FALSE(narrow.check(std::vector<float>{0, 1}).ok);
}
