// The comparison itself: what is wrong must never pass.
#include "tilewise/compare.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "catch.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

using namespace tilewise;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// C = A B in float, adding the products first to last or last to first.
std::vector<float> multiply(const std::vector<float>& A, const std::vector<float>& B, MatmulShape s,
                            bool backwards = false) {
  std::vector<float> C(s.m * s.n);
  for (std::size_t i = 0; i < s.m; ++i) {
    for (std::size_t j = 0; j < s.n; ++j) {
      float sum = 0;
      for (std::size_t l = 0; l < s.k; ++l) {
        const std::size_t at = backwards ? s.k - 1 - l : l;
        sum += A[i * s.k + at] * B[at * s.n + j];
      }
      C[i * s.n + j] = sum;
    }
  }
  return C;
}

struct Case {
  MatmulShape shape;
  std::vector<float> A, B, C;
  explicit Case(MatmulShape s, Distribution d = Distribution::uniform)
      : shape(s), A(random_vector(s.m * s.k, 1, d)), B(random_vector(s.k * s.n, 2, d)), C(multiply(A, B, s)) {}
  MatmulReference reference(ReferenceOptions options = {}) const { return {A, B, shape, options}; }
};

}  // namespace

TEST_CASE("gamma is k u / (1 - k u), and infinite where that says nothing") {
  CHECK(tilewise::gamma(0, 0x1p-24) == 0);
  CHECK(tilewise::gamma(1, 0x1p-24) == Approx(0x1p-24).epsilon(1e-6));
  CHECK(tilewise::gamma(1000, 0x1p-24) == Approx(5.96082e-5).epsilon(1e-5));
  CHECK(tilewise::gamma(std::size_t{1} << 24, 0x1p-24) == kInf);
}

TEST_CASE("storing a sum rounds the sum, not its terms") {
  const Arithmetic half{.accumulate = 0x1p-23, .output = 0x1p-11, .tiny = 0};
  const double computed = error_bound(100, 50.0, {.accumulate = 0x1p-23, .tiny = 0});
  CHECK(error_bound(100, 50.0, 0.0, half) == Approx(computed).epsilon(1e-3));
  CHECK(error_bound(100, 50.0, -3.0, half) == Approx(computed + 3 * 0x1p-11).epsilon(1e-3));
  CHECK(error_bound(100, 50.0, -3.0, half) < error_bound(100, 50.0, half) / 10);
  CHECK(error_bound(100, 50.0, 3.0, Arithmetic::fp32()) == error_bound(100, 50.0, Arithmetic::fp32()));
  CHECK(error_bound(100, kInf, kInf, Arithmetic::fp32()) == kInf);
  CHECK(error_bound(0, 0, 0, half) == 0);
}

TEST_CASE("a forgotten product is seen in a narrow result, too") {
  const MatmulShape shape{5, 7, 1000};
  const Case c(shape);
  Arithmetic bfloat16 = Arithmetic::narrow_inputs();
  bfloat16.output = 0x1p-8;
  const MatmulReference reference = c.reference({.arithmetic = bfloat16});
  CHECK(reference.check(c.C).ok);
  std::vector<float> wrong = c.C;
  std::size_t least = 0;  // of the sums, the one that leaves the least room
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (std::abs(wrong[i]) < std::abs(wrong[least])) least = i;
  wrong[least] -= 0.5f;  // a product that is smaller than most
  CHECK_FALSE(reference.check(wrong).ok);
}

TEST_CASE("one element: NaN and infinity") {
  CHECK(element_ok(1.0, 1.0, 0));
  CHECK_FALSE(element_ok(kNan, 1.0, 1e300));
  CHECK_FALSE(element_ok(kNan, 0.0, kInf));
  CHECK_FALSE(element_ok(kInf, 1.0, 1.0));
  CHECK_FALSE(element_ok(-kInf, 1.0, 1.0));
  CHECK(element_ok(kNan, kNan, 0));
  CHECK_FALSE(element_ok(1.0, kNan, kInf));
  CHECK(element_ok(kInf, kInf, 0));
  CHECK(element_ok(-kInf, -kInf, 0));
  CHECK_FALSE(element_ok(kInf, -kInf, kInf));
  CHECK_FALSE(element_ok(1e30, kInf, kInf));
  CHECK_FALSE(element_ok(kNan, kInf, kInf));
  SECTION("a float sum beyond the largest float is infinity") {
    CHECK(element_ok(kInf, 4e38, 1e30));
    CHECK_FALSE(element_ok(-kInf, 4e38, 1e30));
    CHECK_FALSE(element_ok(kInf, 3e38, 1e30));
  }
}

TEST_CASE("one element: at the edges of its bound") {
  CHECK(element_ok(1.25, 1.0, 0.25));
  CHECK(element_ok(0.75, 1.0, 0.25));
  CHECK_FALSE(element_ok(std::nextafter(1.25, 2.0), 1.0, 0.25));
  CHECK_FALSE(element_ok(std::nextafter(0.75, 0.0), 1.0, 0.25));
  CHECK_FALSE(element_ok(std::nextafter(1.0, 2.0), 1.0, 0));
}

TEST_CASE("one wrong element in a million is found and named") {
  const std::size_t rows = 1000, cols = 1000;
  std::vector<float> got = random_vector(rows * cols, 3);
  const std::vector<double> expected(got.begin(), got.end());
  const std::vector<double> bound(rows * cols, 1e-6);
  REQUIRE(compare(got, expected, bound, rows, cols).ok);
  const std::size_t at = 777 * cols + 123;
  const float value =
      GENERATE(0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  got[at] = value == 0 ? got[at] + 1e-5f : value;
  const Comparison result = compare(got, expected, bound, rows, cols);
  CHECK_FALSE(result.ok);
  CHECK(result.wrong == 1);
  CHECK(result.checked == rows * cols);
  CHECK(result.first_wrong.row == 777);
  CHECK(result.first_wrong.col == 123);
  CHECK(result.worst.row == 777);
  CHECK(result.worst.col == 123);
  CHECK(result.text().find("row 777, column 123") != std::string::npos);
}

TEST_CASE("wrong elements far from each other: all are counted, the first is named, and the worst") {
  const std::size_t rows = 1000, cols = 777;
  const std::vector<double> expected(rows * cols, 1.0), bound(rows * cols, 0.25);
  std::vector<float> got(rows * cols, 1.0f);
  for (const std::size_t row : {700, 300, 999}) got[row * cols + 5] = row == 700 ? 9.0f : 3.0f;
  got[20] = 1.125f;  // right
  const Comparison result = compare(got, expected, bound, rows, cols);
  CHECK(result.wrong == 3);
  CHECK(result.first_wrong.row == 300);
  CHECK(result.first_wrong.col == 5);
  CHECK(result.worst.row == 700);
  CHECK(result.max_error == 8.0);
  got[300 * cols + 5] = 9.0f;  // of equals the first
  CHECK(compare(got, expected, bound, rows, cols).worst.row == 300);
}

TEST_CASE("the worst element is the one nearest to its bound, the largest error is given with its own") {
  const std::vector<float> got = {1.0f, 102.0f, 3.5f};
  const std::vector<double> expected = {1.0, 100.0, 3.0}, bound = {1.0, 10.0, 0.625};
  const Comparison result = compare(got, expected, bound, 1, 3);
  CHECK(result.ok);
  CHECK(result.worst.col == 2);
  CHECK(result.max_error == 2.0);
  CHECK(result.bound_at_max == 10.0);
}

TEST_CASE("sizes that do not agree are refused") {
  const std::vector<float> got(6);
  const std::vector<double> expected(6), few(5);
  CHECK_THROWS_AS(compare(got, expected, {}, 2, 2), std::length_error);
  CHECK_THROWS_AS(compare(got, few, {}, 2, 3), std::length_error);
  CHECK_THROWS_AS(compare(got, expected, few, 2, 3), std::length_error);
}

TEST_CASE("data that is only moved must be the same") {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6};
  CHECK(compare_exact(from, from, 2, 3).ok);
  std::vector<float> to = from;
  to[4] = std::nextafter(5.0f, 6.0f);
  const Comparison result = compare_exact(to, from, 2, 3);
  CHECK_FALSE(result.ok);
  CHECK(result.first_wrong.row == 1);
  CHECK(result.first_wrong.col == 1);
}

TEST_CASE("right products pass, in either order of summation, for every kind of input") {
  const auto data = GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  const Case c({37, 29, 301}, data);
  const MatmulReference reference = c.reference();
  CHECK(reference.check(c.C).ok);
  CHECK(reference.check(multiply(c.A, c.B, c.shape, true)).ok);
}

TEST_CASE("the bound holds without being slack by orders of magnitude") {
  const Case c({64, 64, 64});
  const Comparison result = c.reference().check(c.C);
  CHECK(result.max_error > 0);
  CHECK(result.max_error < result.bound_at_max);
  CHECK(result.bound_at_max < 1e-3);
}

TEST_CASE("wrong products fail") {
  Case c({33, 35, 70});
  const MatmulReference reference = c.reference();
  REQUIRE(reference.check(c.C).ok);
  std::vector<float> wrong = c.C;
  SECTION("nothing was written: every element is poison") {
    wrong.assign(wrong.size(), std::bit_cast<float>(0xFFFFFFFFu));
    CHECK(reference.check(wrong).wrong == wrong.size());
  }
  SECTION("zeros") {
    wrong.assign(wrong.size(), 0.0f);
    CHECK_FALSE(reference.check(wrong).ok);
  }
  SECTION("one product forgotten in one element") {
    wrong[5 * 35 + 7] -= c.A[5 * 70 + 69] * c.B[69 * 35 + 7];
    const Comparison result = reference.check(wrong);
    CHECK(result.wrong == 1);
    CHECK(result.first_wrong.row == 5);
    CHECK(result.first_wrong.col == 7);
  }
  SECTION("transposed") {
    const Case square({40, 40, 40});
    std::vector<float> transposed(1600);
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t j = 0; j < 40; ++j) transposed[j * 40 + i] = square.C[i * 40 + j];
    CHECK(square.reference().check(square.C).ok);
    CHECK_FALSE(square.reference().check(transposed).ok);
  }
}

TEST_CASE("degenerate products") {
  SECTION("k = 0: all zeros, exactly") {
    const Case c({3, 4, 0});
    CHECK(c.reference().check(std::vector<float>(12, 0.0f)).ok);
    CHECK_FALSE(c.reference().check(std::vector<float>(12, 1e-45f)).ok);
  }
  SECTION("no rows") {
    const Case c({0, 4, 5});
    CHECK(c.reference().check(std::vector<float>{}).ok);
  }
  SECTION("1 x 1 x 1") {
    const Case c({1, 1, 1});
    CHECK(c.reference().check(c.C).ok);
  }
}

TEST_CASE("an infinite input makes infinite and NaN elements, and only those") {
  Case c({4, 5, 6});
  c.A[2 * 6 + 3] = std::numeric_limits<float>::infinity();
  const MatmulReference reference = c.reference();
  const std::vector<float> right = multiply(c.A, c.B, c.shape);
  CHECK(reference.check(right).ok);
  CHECK_FALSE(reference.check(c.C).ok);  // as if the infinity had not been there
}

TEST_CASE("a sampled reference still sees every element that was not written") {
  const Case c({150, 170, 40});
  const MatmulReference reference = c.reference({.full_limit = 1, .sampled_rows = 8, .sampled_columns = 8});
  CHECK(reference.method() == "8 rows, 8 columns");
  REQUIRE(reference.check(c.C).ok);
  CHECK(reference.check(c.C).checked == 8 * 170 + 150 * 8);
  for (const std::size_t at : {std::size_t{0}, std::size_t{77 * 170 + 99}, c.C.size() - 1}) {
    std::vector<float> wrong = c.C;
    wrong[at] = std::bit_cast<float>(0xFFFFFFFFu);
    const Comparison result = reference.check(wrong);
    CHECK_FALSE(result.ok);
    CHECK(result.wrong >= 1);
    CHECK(result.first_wrong.row == at / 170);
    CHECK(result.first_wrong.col == at % 170);
  }
}

TEST_CASE("an exact check with integers sees one forgotten product anywhere") {
  const Case c({61, 67, 900}, Distribution::integers);
  const ExactMatmulCheck exact(c.A, c.B, c.shape, 9);
  REQUIRE(exact.check(c.C).ok);
  REQUIRE(exact.check(multiply(c.A, c.B, c.shape, true)).ok);
  Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<float> wrong = c.C;
    const std::size_t row = random.below(61), col = random.below(67), l = random.below(900);
    wrong[row * 67 + col] -= c.A[row * 900 + l] * c.B[l * 67 + col];
    const Comparison result = exact.check(wrong);
    CHECK_FALSE(result.ok);
    CHECK(result.wrong == 1);
    CHECK(result.first_wrong.row == row);
    CHECK(result.first_wrong.col == col);
  }
  SECTION("two errors that cancel in the row's sum") {
    std::vector<float> wrong = c.C;
    wrong[3] += 5;
    wrong[9] -= 5;
    CHECK(exact.check(wrong).wrong == 2);
  }
  SECTION("poison and fractions") {
    std::vector<float> wrong = c.C;
    wrong[100] = std::bit_cast<float>(0xFFFFFFFFu);
    CHECK_FALSE(exact.check(wrong).ok);
    wrong[100] = c.C[100] + 0.5f;
    CHECK_FALSE(exact.check(wrong).ok);
  }
  SECTION("inputs that would round are refused") {
    std::vector<float> A = c.A;
    A[0] = 0.5f;
    CHECK_THROWS_AS(ExactMatmulCheck(A, c.B, c.shape), std::invalid_argument);
    A[0] = 5;
    CHECK_THROWS_AS(ExactMatmulCheck(A, c.B, c.shape), std::invalid_argument);
  }
}
