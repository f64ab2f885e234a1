// The grader's half of the homework of chapter 01: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "grader/product.hpp"
#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;

constexpr double kUntouched = std::numeric_limits<double>::quiet_NaN();  // outputs are filled with NaN before

/// "row 33: the ragged last block of 32 rows (32 to 34)"
std::string block_of(const std::string& what, int i, int n, int size) {
  const int first = i / size * size, last = std::min(first + size, n) - 1;
  const bool ragged = last - first + 1 < size;
  return fmt::format("{} {}: {} of {} {}s ({} to {})", what, i,
                     ragged       ? "the ragged last block"
                     : first == 0 ? "the first block"
                                  : fmt::format("block {}", i / size),
                     size, what, first, last);
}

class ScaleRows final : public Task {
 public:
  ScaleRows() : Task("01_naive_matmul", "scale_rows") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1], ldx = cols + sizes[2];
    auto X = tilewise::random_vector(Index(rows) * Index(ldx), 2 * seed),
         s = tilewise::random_vector(Index(rows), 2 * seed + 1);
    // A row whose factor is 0 becomes 0, and what lies between the rows is to be left alone.
    for (int i = 2; i < rows; i += 5) s[Index(i)] = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = cols; j < ldx; ++j) X[Index(i) * Index(ldx) + Index(j)] = std::numeric_limits<float>::quiet_NaN();
    if (only_inputs())
      return {.buffers = {input("X", rows, ldx, X), input("s", 1, rows, s), output<float>("Y", rows, cols, {})}};
    // y(i, j) for all i and j
    const auto all = [&](auto y) {
      std::vector<double> values;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) values.push_back(y(Index(i), Index(j)));
      return values;
    };
    const Index ld = Index(ldx), width = Index(cols);
    Problem p;
    const auto expected = all([&](Index i, Index j) { return double{s[i]} * double{X[i * ld + j]}; });
    // One rounding of a product below 1. (Not of this product: mistakes' products are larger, and are to be
    // recognised.)
    const std::vector<double> bound(expected.size(), tilewise::error_bound(1, 1));
    p.buffers = {input("X", rows, ldx, X), input("s", 1, rows, s), output<float>("Y", rows, cols, expected, bound)};
    p.hypotheses.push_back({"the rows of X follow each other without a gap: they are ldx words apart, not cols",
                            all([&](Index i, Index j) { return double{s[i]} * double{X[i * width + j]}; })});
    if (cols <= rows)
      p.hypotheses.push_back({"column j is multiplied by s[j]: row i is to be multiplied by s[i]",
                              all([&](Index i, Index j) { return double{s[j]} * double{X[i * ld + j]}; })});
    p.hypotheses.push_back(
        {"X is only copied, without its factor", all([&](Index i, Index j) { return double{X[i * ld + j]}; })});
    p.hypotheses.push_back({"the word of X is never fetched: x stays 0", all([](Index, Index) { return 0.0; })});
    for (double v : {0.0, expected[0]})
      p.hypotheses.push_back({"all threads store the first element: `row` and `col` stay 0",
                              all([&](Index i, Index j) { return i + j == 0 ? v : kUntouched; })});
    for (const auto& [wide, high] : {std::pair{32, 8}, {32, 32}, {16, 16}, {32, 4}}) {
      const auto covered = [&](const std::string& mistake, int to_row, int to_col) {
        if (to_row >= rows && to_col >= cols) return;
        p.hypotheses.push_back({mistake, all([&](Index i, Index j) {
                                  return int(i) < to_row && int(j) < to_col ? expected[i * width + j] : kUntouched;
                                })});
      };
      const auto up = [](int n, int to) { return (n + to - 1) / to; };
      covered(fmt::format("only the first block of {} x {} threads has work: how many blocks are there?", wide, high),
              high, wide);
      covered(fmt::format("the grid is rounded down: what is left of the last {} columns and {} rows is missing", wide,
                          high),
              rows / high * high, cols / wide * wide);
      covered(
          fmt::format("the blocks of the grid are exchanged: those that cover the rows, {} at a time, are in x", wide),
          up(cols, high) * high, up(rows, wide) * wide);
    }
    p.least_flops = double(rows) * cols;
    p.least_load_bytes = 4.0 * (double(rows) * cols + rows);  // not what lies between the rows of X
    return p;
  }

  std::string where(const Place& at) const override {
    const int rows = at.sizes[0], cols = at.sizes[1];
    return fmt::format("{}; {}", block_of("row", at.row, rows, 8), block_of("column", at.col, cols, 32));
  }
};

/// C = A B for matrices that lie in memory in one way or another.
class Matmul : public Task {
 public:
  using Task::Task;

 protected:
  /// Words from one row to the next, and from one column to the next.
  struct Layout {
    int row, col;
    Index at(int i, int j) const { return Index(i) * Index(row) + Index(j) * Index(col); }
  };
  static Layout by_rows(int, int cols) { return {cols, 1}; }
  static Layout by_columns(int rows, int) { return {1, rows}; }

  struct Product {
    int M, N, K;
    std::vector<float> A, B;

    Product(const Sizes& sizes, std::uint64_t seed)
        : M(sizes[0]),
          N(sizes[1]),
          K(sizes[2]),
          A(tilewise::random_vector(Index(M) * Index(K), 2 * seed)),
          B(tilewise::random_vector(Index(K) * Index(N), 2 * seed + 1)) {}

    /// All words of C, for these layouts, summed over those k for which counts(k); of |values| if `magnitude`.
    template <class Counts>
    std::vector<double> operator()(Layout a, Layout b, Layout c, Counts counts, bool magnitude = false) const {
      std::vector<double> C(Index(M) * Index(N));
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
          double sum = 0;
          for (int k = 0; k < K; ++k) {
            if (!counts(k)) continue;
            const double term = double{A[a.at(i, k)]} * double{B[b.at(k, j)]};
            sum += magnitude ? std::abs(term) : term;
          }
          C[c.at(i, j)] = sum;
        }
      return C;
    }
  };

  static bool every(int) { return true; }

  /// The problem with its expected result and the mistakes that are possible in any layout.
  static Problem problem(const Product& product, Layout a, Layout b, Layout c) {
    const auto [M, N, K] = std::tuple{product.M, product.N, product.K};
    Problem p;
    std::vector<double> bound;
    for (double m : product(a, b, c, every, true)) bound.push_back(tilewise::error_bound(Index(K), m));
    const auto expected = product(a, b, c, every);
    p.buffers = {input("A", M, K, product.A), input("B", K, N, product.B), output<float>("C", M, N, expected, bound)};
    if (K > 1) {
      const int last = K - 1;
      p.hypotheses.push_back({"the last k is missing", product(a, b, c, [=](int k) { return k < last; })});
      p.hypotheses.push_back({"k = 0 is missing", product(a, b, c, [](int k) { return k > 0; })});
      p.hypotheses.push_back({"only the last k counts: is the sum set, not added to?",
                              product(a, b, c, [=](int k) { return k == last; })});
    }
    p.hypotheses.push_back({"nothing is added to the sums", std::vector<double>(expected.size())});
    p.least_flops = double(M) * N * K;
    return p;
  }

  static std::string guess_of(const Sizes& sizes, const Problem& p, const Buffer& out, const Values& got,
                              bool by_columns) {
    const auto matrix = [&](std::size_t i) -> const std::vector<float>& {
      return std::get<std::vector<float>>(p.buffers[i].values);
    };
    const Layout c = by_columns ? Matmul::by_columns(sizes[0], sizes[1]) : by_rows(sizes[0], sizes[1]);
    return what_was_summed({sizes[0], sizes[1], sizes[2], by_columns, !by_columns, by_columns}, matrix(0), matrix(1),
                           out.expected, 2 * *std::max_element(out.bound.begin(), out.bound.end()),
                           std::get<std::vector<float>>(got), [=](int i, int j) { return c.at(i, j); });
  }

  static Problem inputs(const Product& p) {
    return {.buffers = {input("A", p.M, p.K, p.A), input("B", p.K, p.N, p.B), output<float>("C", p.M, p.N, {})}};
  }

  /// Only `rows` x `cols` elements are computed.
  static Hypothesis corner(const Problem& p, Layout c, int rows, int cols, std::string mistake) {
    const Buffer& out = p.buffers.back();
    Hypothesis h{std::move(mistake), out.expected};
    for (int i = 0; i < out.rows; ++i)
      for (int j = 0; j < out.cols; ++j)
        if (i >= rows || j >= cols) h.values[c.at(i, j)] = kUntouched;
    return h;
  }
};

class MatmulByColumns final : public Matmul {
 public:
  MatmulByColumns() : Matmul("01_naive_matmul", "matmul_by_columns") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const Product product(sizes, seed);
    if (only_inputs()) return inputs(product);
    const auto [M, N, K] = std::tuple{product.M, product.N, product.K};
    const Layout a = by_columns(M, K), b = by_columns(K, N), c = by_columns(M, N);
    const Layout a_rows = by_rows(M, K), b_rows = by_rows(K, N), c_rows = by_rows(M, N);
    Problem p = problem(product, a, b, c);
    for (Buffer& buffer : p.buffers) buffer.by_columns = true;
    const auto wrong = [&](const char* mistake, Layout la, Layout lb, Layout lc) {
      p.hypotheses.push_back({mistake, product(la, lb, lc, every)});
    };
    wrong("all three matrices are taken to be row-major", a_rows, b_rows, c_rows);
    wrong("C is stored row-major: its element (i, j) belongs at [i + j * M]", a, b, c_rows);
    wrong("A is read as if it were row-major: its element (i, k) is at [i + k * M]", a_rows, b, c);
    wrong("B is read as if it were row-major: its element (k, j) is at [k + j * K]", a, b_rows, c);
    wrong("A and B are read as if they were row-major", a_rows, b_rows, c);
    if (N < K) wrong("the columns of B are taken to be N words apart: they have K", a, {1, N}, c);
    if (K < M) wrong("the columns of A are taken to be K words apart: they have M", {1, K}, b, c);
    for (int side : {32, 16}) {
      const int high = side == 32 ? 8 : 16;
      if (M % side != 0 || N % high != 0)
        p.hypotheses.push_back(corner(p, c, M / side * side, N / high * high,
                                      fmt::format("the grid is rounded down, for blocks of {} x {}", side, high)));
    }
    return p;
  }

  std::string guess(const Sizes& sizes, const Problem& p, const Buffer& out, const Values& got) const override {
    return guess_of(sizes, p, out, got, true);
  }

  std::string where(const Place& at) const override {
    const int M = at.sizes[0], N = at.sizes[1];
    return fmt::format("{}; column {} of {} begins at word {}", block_of("row", at.row, M, 32), at.col, N, at.col * M);
  }
};

class MatmulCoarsened final : public Matmul {
 public:
  MatmulCoarsened() : Matmul("01_naive_matmul", "matmul_coarsened") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const Product product(sizes, seed);
    if (only_inputs()) return inputs(product);
    const auto [M, N, K] = std::tuple{product.M, product.N, product.K};
    const Layout a = by_rows(M, K), b = by_rows(K, N), c = by_rows(M, N);
    Problem p = problem(product, a, b, c);
    const std::vector<double> expected = p.buffers.back().expected;
    p.hypotheses.push_back({"C is stored column-major", product(a, b, by_columns(M, N), every)});
    if (M % 4 != 0)
      p.hypotheses.push_back(
          corner(p, c, M / 4 * 4, N, "the last rows belong to threads that do not have four, and these do nothing"));
    if (N % 4 != 0)
      p.hypotheses.push_back(
          corner(p, c, M, N / 4 * 4, "the last columns belong to threads that do not have four, and these do nothing"));
    for (int rows : {32, 64, 16})
      if (M % rows != 0)
        p.hypotheses.push_back(
            corner(p, c, M / rows * rows, N, fmt::format("the grid is rounded down, for blocks of {} rows", rows)));
    Hypothesis row_total{
        "all four elements of a thread, side by side in a row, hold the sum of the four: each needs a sum of its own",
        expected};
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        double& sum = row_total.values[c.at(i, j)] = 0;
        for (int other = j / 4 * 4; other < std::min(N, j / 4 * 4 + 4); ++other) sum += expected[c.at(i, other)];
      }
    p.hypotheses.push_back(std::move(row_total));
    for (int apart : {1, 8, 16, 4, 32}) {
      // Row r is element e of thread t, when the rows of a thread are `apart`.
      Hypothesis one{"the four sums of a thread run into one another: set them to 0 one by one", expected};
      Hypothesis total{
          fmt::format(
              "all four elements of a thread, {} rows apart, hold the sum of the four: each needs a sum of its own",
              apart),
          expected};
      Hypothesis first{"only the first of a thread's four elements is stored", expected};
      for (int r = 0; r < M; ++r) {
        const int e = r / apart % 4;
        for (int j = 0; j < N; ++j) {
          if (e > 0) one.values[c.at(r, j)] += one.values[c.at(r - apart, j)];
          if (e > 0) first.values[c.at(r, j)] = kUntouched;
          double& sum = total.values[c.at(r, j)] = 0;
          for (int other = r - e * apart; other <= r + (3 - e) * apart; other += apart)
            if (other < M) sum += expected[c.at(other, j)];
        }
      }
      p.hypotheses.push_back(std::move(one));
      p.hypotheses.push_back(std::move(first));
      p.hypotheses.push_back(std::move(total));
      if (apart == 1) continue;
      // The rows of a thread follow each other in one place and are `apart` in another.
      Hypothesis stored{
          fmt::format("a row of C is the sum for another row: the rows of a thread follow each other while "
                      "it sums, and are {} apart when it stores",
                      apart),
          expected};
      Hypothesis summed{fmt::format("a row of C is the sum for another row: the rows of a thread are {} apart while it "
                                    "sums, and follow each other when it stores",
                                    apart),
                        expected};
      for (int r = 0; r < M; ++r) {
        const int base = r / (4 * apart) * 4 * apart, u = r - base;
        const int following = base + u % apart * 4 + u / apart, spread = base + u % 4 * apart + u / 4;
        for (int j = 0; j < N; ++j) {
          stored.values[c.at(r, j)] = following < M ? expected[c.at(following, j)] : 0;
          summed.values[c.at(r, j)] = spread < M ? expected[c.at(spread, j)] : 0;
        }
      }
      p.hypotheses.push_back(std::move(stored));
      p.hypotheses.push_back(std::move(summed));
    }
    return p;
  }

  std::string guess(const Sizes& sizes, const Problem& p, const Buffer& out, const Values& got) const override {
    return guess_of(sizes, p, out, got, false);
  }

  std::string where(const Place& at) const override {
    const int M = at.sizes[0], N = at.sizes[1], fours = at.row / 4 * 4;
    return fmt::format(
        "{}; {}{}", block_of("row", at.row, M, 32), block_of("column", at.col, N, 32),
        M - fours < 4 ? fmt::format("; of four rows from {} on there are only {}", fours, M - fours) : "");
  }
};

const ScaleRows scale_rows;
const MatmulByColumns matmul_by_columns;
const MatmulCoarsened matmul_coarsened;

}  // namespace
