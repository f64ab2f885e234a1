// The grader's half of the homework of chapter 07: inputs, expected results, the results of common mistakes, and what
// the contract asks of the handle and the stream.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What calls.cu looks at is the same for all tasks of the chapter.
class LibraryTask : public Task {
 public:
  explicit LibraryTask(std::string name) : Task("07_cublas_sgemm", std::move(name)) {}

  std::string rule(int number) const override {
    switch (number) {
      case 1:
        return "the library's work went to another stream than the one that was given: cublasSetStream tells a handle";
      case 2:
        return "afterwards the handle that was given is not on the stream that was given: was another handle used?";
      case 3:
        return "the handle that was given is gone: it is not yours to destroy";
      case 4:
        return "the handle's math mode was changed and not put back";
      case 5:
        return "the handle's pointer mode was changed and not put back";
      case 6:
        return "the library was called with another handle than the one that was given";
      case 7:
        return "the function waited for its work: who calls it has other things to do meanwhile, and waits when the "
               "result is needed";
      default:
        if (number < 100) return Task::rule(number);
        return number < 200 ? "the function returned " + status(number - 100)
                            : "a call of cuBLAS was in vain, and the function returned CUBLAS_STATUS_SUCCESS. The call "
                              "returned " +
                                  status(number - 200);
    }
  }

  static std::string status(int number) {
    switch (number) {
      case 1:
        return "CUBLAS_STATUS_NOT_INITIALIZED: not a handle";
      case 3:
        return "CUBLAS_STATUS_ALLOC_FAILED";
      case 7:
        return "CUBLAS_STATUS_INVALID_VALUE: a size or a leading dimension that cannot be. A leading dimension is at "
               "least as large as a column is long, of the matrix as cuBLAS sees it stored";
      case 13:
        return "CUBLAS_STATUS_EXECUTION_FAILED: a launch failed, or a matrix does not fit into its memory (see the "
               "findings)";
      case 15:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
      default:
        return fmt::format("the status {} of cuBLAS", number);
    }
  }

  bool told_of_failure(int, int broken) const override { return broken == 113; }
};

// ------------------------------------------------------------------------------------------------ Y = X W^T + bias

class Linear final : public LibraryTask {
 public:
  Linear() : LibraryTask("linear") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], in = sizes[1], out = sizes[2];
    const Floats X = tilewise::random_vector(at(rows) * at(in), 3 * seed),
                 W = tilewise::random_vector(at(out) * at(in), 3 * seed + 1),
                 bias = tilewise::random_vector(at(out), 3 * seed + 2);
    if (only_inputs())
      return {.buffers = {input("X", rows, in, X), input("W", out, in, W), input("bias", 1, out, bias),
                          output<float>("Y", rows, out, {})}};
    // X W^T, where x(i, k) and w(j, k) say which words are multiplied.
    const auto product = [&](auto x, auto w, bool magnitude = false) {
      Doubles y;
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < out; ++j) {
          double sum = 0;
          for (int k = 0; k < in; ++k) {
            const double term = double{X[x(i, k)]} * double{W[w(j, k)]};
            sum += magnitude ? std::abs(term) : term;
          }
          y.push_back(sum);
        }
      }
      return y;
    };
    const auto x_rows = [&](int i, int k) { return at(i) * at(in) + at(k); };
    const auto w_rows = [&](int j, int k) { return at(j) * at(in) + at(k); };
    const auto with_bias = [&](Doubles y, double factor = 1) {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * double{bias[i % at(out)]};
      return y;
    };
    const Doubles plain = product(x_rows, w_rows), expected = with_bias(plain);
    Doubles bound = product(x_rows, w_rows, true);
    for (std::size_t i = 0; i < bound.size(); ++i)
      bound[i] = tilewise::error_bound(at(in) + 2, bound[i] + std::abs(double{bias[i % at(out)]}));
    Problem p;
    p.buffers = {input("X", rows, in, X), input("W", out, in, W), input("bias", 1, out, bias),
                 output<float>("Y", rows, out, expected, bound)};
    const auto mistake = [&](const char* text, Doubles values) { p.hypotheses.push_back({text, std::move(values)}); };
    mistake("only the bias is there: is the product missing?", with_bias(Doubles(expected.size())));
    mistake("the bias is missing: with beta = 0 the product replaces what is in Y", plain);
    mistake("the bias is in it twice", with_bias(plain, 2));
    const auto w_columns = [&](int j, int k) { return at(k) * at(out) + at(j); };
    const auto x_columns = [&](int i, int k) { return at(k) * at(rows) + at(i); };
    mistake("W is not transposed: its words are read as a matrix of in x out", with_bias(product(x_rows, w_columns)));
    mistake("X is read by columns: its words are read as the transpose of a matrix of in x rows",
            with_bias(product(x_columns, w_rows)));
    mistake("X is read by columns, and W is not transposed", with_bias(product(x_columns, w_columns)));
    for (const Doubles& y : {plain, product(x_columns, w_columns)}) {
      Doubles turned(y.size());
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < out; ++j) turned[at(j) * at(rows) + at(i)] = y[at(i) * at(out) + at(j)];
      mistake("the product is stored by columns: the operands are not exchanged", with_bias(turned));
      mistake("the product is stored by columns: the operands are not exchanged; and the bias is missing", turned);
    }
    p.least_flops = double(rows) * in * out;
    return p;
  }

  std::string where(const Place&) const override { return ""; }
};

// ------------------------------------------------------------------------------------------------ the heads of a layer

class HeadScores final : public LibraryTask {
 public:
  HeadScores() : LibraryTask("head_scores") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int heads = sizes[0], queries = sizes[1], keys = sizes[2], d = sizes[3];
    const Floats Q = tilewise::random_vector(at(queries) * at(heads) * at(d), 2 * seed),
                 K = tilewise::random_vector(at(keys) * at(d), 2 * seed + 1);
    if (only_inputs())
      return {.buffers = {input("Q", queries, heads * d, Q), input("K", keys, d, K),
                          output<float>("S", heads * queries, keys, {})}};
    const double scale = 1 / std::sqrt(double(d));
    // S, where q(h, i, c) and k(j, c) say which words are multiplied.
    const auto scores = [&](auto q, auto k, double factor, bool magnitude = false) {
      Doubles s;
      for (int h = 0; h < heads; ++h) {
        for (int i = 0; i < queries; ++i) {
          for (int j = 0; j < keys; ++j) {
            double sum = 0;
            for (int c = 0; c < d; ++c) {
              const double term = double{Q[q(h, i, c)]} * double{K[k(j, c)]};
              sum += magnitude ? std::abs(term) : term;
            }
            s.push_back(factor * sum);
          }
        }
      }
      return s;
    };
    const auto q_right = [&](int h, int i, int c) { return (at(i) * at(heads) + at(h)) * at(d) + at(c); };
    const auto k_right = [&](int j, int c) { return at(j) * at(d) + at(c); };
    const Doubles expected = scores(q_right, k_right, scale);
    Doubles bound = scores(q_right, k_right, scale, true);
    for (double& b : bound) b = tilewise::error_bound(at(d) + 3, b);  // the factor and its rounding are in it
    Problem p;
    p.buffers = {input("Q", queries, heads * d, Q), input("K", keys, d, K),
                 output<float>("S", heads * queries, keys, expected, bound)};
    const auto mistake = [&](const char* text, Doubles values) { p.hypotheses.push_back({text, std::move(values)}); };
    const auto q_apart = [&](int h, int i, int c) { return (at(h) * at(queries) + at(i)) * at(d) + at(c); };
    const auto k_columns = [&](int j, int c) { return at(c) * at(keys) + at(j); };
    mistake("the scores are not divided by the square root of d", scores(q_right, k_right, 1));
    mistake("the scores are divided by d, not by its square root", scores(q_right, k_right, 1.0 / d));
    mistake("the scores are multiplied by the square root of d, not divided", scores(q_right, k_right, 1 / scale));
    mistake(
        "row r of S comes from the r-th group of d words of Q: but in Q the heads of a query lie side by side, and in "
        "S "
        "all queries of a head come first",
        scores(q_apart, k_right, scale));
    mistake(
        "from one row of Q_h to the next it is taken to be d words: in Q there are the words of all heads between them",
        scores([&](int h, int i, int c) { return at(h + i) * at(d) + at(c); }, k_right, scale));
    mistake("all heads get the scores of head 0: is the stride of Q 0?",
            scores([&](int, int i, int c) { return q_right(0, i, c); }, k_right, scale));
    mistake("K is read by columns: its words are read as a matrix of d x keys", scores(q_right, k_columns, scale));
    {
      Doubles mixed(expected.size()), turned(expected.size());
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < queries; ++i)
          for (int j = 0; j < keys; ++j)
            mixed[(at(i) * at(heads) + at(h)) * at(keys) + at(j)] =
                expected[(at(h) * at(queries) + at(i)) * at(keys) + at(j)];
      mistake("S has the heads of a query one after the other, as Q has: all queries of a head come first in it",
              mixed);
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < queries; ++i)
          for (int j = 0; j < keys; ++j)
            turned[(at(h) * at(keys) + at(j)) * at(queries) + at(i)] =
                expected[(at(h) * at(queries) + at(i)) * at(keys) + at(j)];
      mistake("each head's scores are stored by columns, a row for each key: the operands are not exchanged", turned);
    }
    p.least_flops = double(heads) * queries * keys * d;
    return p;
  }

  std::string where(const Place& place) const override {
    const int queries = place.sizes[1], head = place.row / queries;
    return fmt::format("row {} of S is query {} of head {}", place.row, place.row % queries, head);
  }
};

// ------------------------------------------------------------------------------------------------ distances

class Distances final : public LibraryTask {
 public:
  Distances() : LibraryTask("distances") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int m = sizes[0], n = sizes[1], d = sizes[2];
    const Floats A = tilewise::random_vector(at(m) * at(d), 2 * seed);
    Floats B = tilewise::random_vector(at(n) * at(d), 2 * seed + 1);
    tilewise::Random random(seed);
    for (int j = 0; j < n; ++j) {  // a third of B's points are in A, too, and a quarter are close to one of A's
      const auto kind = random.below(12);
      if (kind > 6) continue;
      const int i = static_cast<int>(random.below(static_cast<std::uint64_t>(m)));
      for (int k = 0; k < d; ++k)
        B[at(j) * at(d) + at(k)] = A[at(i) * at(d) + at(k)] + (kind < 4 ? 0.0f : 0x1p-5f * random.uniform());
    }
    if (only_inputs())
      return {.buffers = {input("A", m, d, A), input("B", n, d, B), output<float>("D", m, n, {}),
                          scratch<float>("workspace", 1, m + n)}};
    const auto a = [&](int i, int k) { return double{A[at(i) * at(d) + at(k)]}; };
    const auto b = [&](int j, int k) { return double{B[at(j) * at(d) + at(k)]}; };
    Doubles norm_a(at(m)), norm_b(at(n));
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < d; ++k) norm_a[at(i)] += a(i, k) * a(i, k);
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < d; ++k) norm_b[at(j)] += b(j, k) * b(j, k);
    struct Terms {
      double exact = 0, dot = 0, columns = 0, magnitude = 0;  // columns: the product with B's words read by columns
    };
    const auto terms = [&](int i, int j) {
      Terms t;
      for (int k = 0; k < d; ++k) {
        const double difference = a(i, k) - b(j, k);
        t.exact += difference * difference;
        t.dot += a(i, k) * b(j, k);
        t.columns += a(i, k) * double{B[at(k) * at(n) + at(j)]};
        t.magnitude += std::abs(a(i, k) * b(j, k));
      }
      return t;
    };
    const auto root = [](double v) { return std::sqrt(std::max(0.0, v)); };
    Doubles expected, bound, squared, one_dot, plus_dot, no_a, no_b, exchanged, by_columns, turned(at(m) * at(n));
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const Terms t = terms(i, j);
        const double na = norm_a[at(i)], nb = norm_b[at(j)];
        // The error of the three sums is under the root: where nothing but it is left, the root of it is.
        const double e = tilewise::error_bound(at(d) + 3, na + nb + 2 * t.magnitude);
        expected.push_back(std::sqrt(t.exact));
        bound.push_back(std::max(root(t.exact + e) - root(t.exact), root(t.exact) - root(t.exact - e)) +
                        0x1p-22 * std::sqrt(t.exact + e));
        squared.push_back(t.exact);
        one_dot.push_back(root(na + nb - t.dot));
        plus_dot.push_back(root(na + nb + 2 * t.dot));
        no_a.push_back(root(nb - 2 * t.dot));
        no_b.push_back(root(na - 2 * t.dot));
        exchanged.push_back(root(norm_a[at(j % m)] + norm_b[at(i % n)] - 2 * t.dot));
        by_columns.push_back(root(na + nb - 2 * t.columns));
        turned[at(j) * at(m) + at(i)] = std::sqrt(t.exact);
      }
    }
    Problem p;
    p.buffers = {input("A", m, d, A), input("B", n, d, B), output<float>("D", m, n, expected, bound),
                 scratch<float>("workspace", 1, m + n)};
    const auto mistake = [&](const char* text, Doubles values) { p.hypotheses.push_back({text, std::move(values)}); };
    mistake("the root is missing: these are the squares of the distances", squared);
    mistake("a_i . b_j is subtracted once, not twice", one_dot);
    mistake("2 a_i . b_j is added, not subtracted", plus_dot);
    mistake("|a_i|^2 is missing", no_a);
    mistake("|b_j|^2 is missing", no_b);
    mistake("the norms are exchanged: row i of D needs |a_i|^2, column j needs |b_j|^2", exchanged);
    mistake("B is read by columns: its words are read as a matrix of d x n", by_columns);
    mistake("D is stored by columns: the operands are not exchanged", turned);
    if (d > 32) {
      Doubles first_32;  // norms of the first 32 words only
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          double sum = -2 * terms(i, j).dot;
          for (int k = 0; k < 32; ++k) sum += a(i, k) * a(i, k) + b(j, k) * b(j, k);
          first_32.push_back(root(sum));
        }
      }
      mistake("only the first 32 words of each point are in the norms", first_32);
    }
    p.least_flops = double(m) * n * d;
    return p;
  }

  std::string where(const Place& place) const override {
    if (place.output.expected[at(place.row) * at(place.sizes[1]) + at(place.col)] == 0)
      return fmt::format(
          "point {} of A and point {} of B are the same: |a|^2 + |b|^2 - 2 a . b is a rounding error, which may be "
          "negative",
          place.row, place.col);
    return "";
  }
};

const Linear linear;
const HeadScores head_scores;
const Distances distances;

}  // namespace
