// The grader's half of the homework of chapter 06: matrices, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Matrix {
  Ints row_ptr{0}, col_index;
  Floats values;

  int nnz() const { return row_ptr.back(); }
  int length(int row) const { return row_ptr[at(row + 1)] - row_ptr[at(row)]; }
  double value(int e) const { return double{values[at(e)]}; }
  int col(int e) const { return col_index[at(e)]; }
};

/// Uneven lengths: a sixth of the rows has none, a twelfth four times the mean, the others up to twice the mean.
int random_length(tilewise::Random& random, int mean) {
  const auto kind = random.below(12);
  const int uneven = static_cast<int>(random.below(2 * static_cast<std::uint64_t>(mean) + 1));
  return kind < 2 ? 0 : kind == 2 ? 4 * mean : uneven;
}

/// `count` different numbers from low to high, the latter not included, in random order; fewer if there are no more.
Ints sample(tilewise::Random& random, int low, int high, int count) {
  Ints all(at(std::max(0, high - low)));
  std::iota(all.begin(), all.end(), low);
  count = std::min(count, static_cast<int>(all.size()));
  for (int i = 0; i < count; ++i) std::swap(all[at(i)], all[at(i) + random.below(all.size() - at(i))]);
  all.resize(at(count));
  return all;
}

void add_row(Matrix& m, tilewise::Random& random, const Ints& columns) {
  for (int col : columns) {
    m.col_index.push_back(col);
    const float v = random.uniform();
    m.values.push_back(v < 0 ? -0.5f + 0.5f * v : 0.5f + 0.5f * v);  // 0.5 to 1: one taken for another shows
  }
  m.row_ptr.push_back(static_cast<int>(m.col_index.size()));
}

std::vector<Buffer> csr_buffers(const Matrix& m) {
  return {input("row_ptr", 1, static_cast<int>(m.row_ptr.size()), m.row_ptr),
          input("col_index", 1, m.nnz(), m.col_index), input("values", 1, m.nnz(), m.values)};
}

const Ints& ints(const Problem& p, int buffer) { return std::get<Ints>(p.buffers[at(buffer)].values); }

std::string row_text(const Place& place) {
  const int row = place.output.rows == 1 ? place.col : place.row;
  const Ints& row_ptr = ints(place.problem, 0);
  const int first = row_ptr[at(row)], last = row_ptr[at(row + 1)], rows = static_cast<int>(row_ptr.size()) - 1;
  std::string text =
      first == last ? fmt::format("row {} is empty: row_ptr[{}] and row_ptr[{}] are both {}", row, row, row + 1, first)
      : last - first == 1 ? fmt::format("row {} has one nonzero, number {}", row, first)
                          : fmt::format("row {} has {} nonzeros, number {} to {}", row, last - first, first, last - 1);
  if (row == rows - 1) text += "; it is the last row";
  return text;
}

// ------------------------------------------------------------------------------------------------ x_new

class Jacobi final : public Task {
 public:
  Jacobi() : Task("06_csr_spmv", "jacobi_step") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0];
    tilewise::Random random(seed);
    Matrix m;
    for (int row = 0; row < rows; ++row) {
      Ints columns = sample(random, std::max(0, row - 64), std::min(rows, row + 64), random_length(random, sizes[1]));
      // In a large matrix some columns are far from the diagonal: x_new there is stored by other blocks.
      for (std::size_t i = 0; i < columns.size() && rows > 1024; ++i) {
        const int far = static_cast<int>(random.below(static_cast<std::uint64_t>(rows)));
        if (random.below(4) == 0 && std::find(columns.begin(), columns.end(), far) == columns.end()) columns[i] = far;
      }
      std::erase(columns, row);
      columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(random.below(columns.size() + 1)), row);
      add_row(m, random, columns);
      for (int e = m.row_ptr[at(row)]; e < m.row_ptr[at(row + 1)]; ++e)  // far from 0
        if (m.col(e) == row) m.values[at(e)] += m.values[at(e)] > 0 ? 1.0f : -1.0f;
    }
    const Floats b = tilewise::random_vector(at(rows), 3 * seed + 1),
                 x = tilewise::random_vector(at(rows), 3 * seed + 2);

    if (only_inputs()) {
      Problem p{.buffers = csr_buffers(m)};
      p.buffers.push_back(input("b", 1, rows, b));
      p.buffers.push_back(input("x", 1, rows, x));
      p.buffers.push_back(output<float>("x_new", 1, rows, {}));
      return p;
    }

    // x_new with the nonzeros that `counts` lets into the sum, and the e-th nonzero that `divisor` names (-1: none).
    const auto step = [&](auto counts, auto divisor, double sign = -1) {
      Doubles y;
      for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int e = m.row_ptr[at(row)]; e < m.row_ptr[at(row + 1)]; ++e)
          if (counts(row, e)) sum += m.value(e) * double{x[at(m.col(e))]};
        const int d = divisor(row);
        y.push_back((double{b[at(row)]} + sign * sum) / (d < 0 ? 1 : m.value(d)));
      }
      return y;
    };
    const auto first = [&](int row) { return m.row_ptr[at(row)]; };
    const auto last = [&](int row) { return m.row_ptr[at(row + 1)] - 1; };
    const auto diagonal = [&](int row) {
      int e = first(row);
      while (m.col(e) != row) ++e;
      return e;
    };
    const auto none = [](int) { return -1; };
    const auto off = [&](int row, int e) { return m.col(e) != row; };
    const auto all = [](int, int) { return true; };

    const Doubles expected = step(off, diagonal);
    Doubles bound;
    for (int row = 0; row < rows; ++row) {
      // The diagonal's term is in: x + (b - A x) / d is right, too.
      double magnitude = std::abs(double{b[at(row)]});
      for (int e = first(row); e <= last(row); ++e) magnitude += std::abs(m.value(e) * double{x[at(m.col(e))]});
      const std::size_t terms = at(m.length(row)) + 3;
      bound.push_back(tilewise::error_bound(terms, magnitude) / std::abs(m.value(diagonal(row))) +
                      0x1p-22 * (std::abs(expected[at(row)]) + std::abs(double{x[at(row)]})));
    }
    Problem p;
    p.buffers = csr_buffers(m);
    p.buffers.push_back(input("b", 1, rows, b));
    p.buffers.push_back(input("x", 1, rows, x));
    p.buffers.push_back(output<float>("x_new", 1, rows, expected, bound));
    const auto mistake = [&](const char* text, Doubles values) { p.hypotheses.push_back({text, std::move(values)}); };
    mistake("no nonzero is looked at: x_new is b. Where does a row begin, and where does it end?",
            step([](int, int) { return false; }, none));
    mistake("the diagonal element is in the sum, too", step(all, diagonal));
    mistake("the diagonal element is in the sum, too, and nothing is divided by it", step(all, none));
    mistake("the result is not divided by the diagonal element", step(off, none));
    mistake("the sum is added to b, not subtracted", step(off, diagonal, +1));
    mistake("nothing is summed: x_new is b / diagonal", step([](int, int) { return false; }, diagonal));
    mistake("the first nonzero of each row is taken for the diagonal element; it may be anywhere",
            step([&](int row, int e) { return e != first(row); }, first));
    mistake("the first nonzero of each row is taken for the divisor; the diagonal element may be anywhere",
            step(off, first));
    mistake("the last nonzero of each row is taken for the diagonal element; it may be anywhere",
            step([&](int row, int e) { return e != last(row); }, last));
    // e is the number of a nonzero, not a column; a diagonal element that is not met leaves the divisor at 1.
    const auto number_is_row = [&](int row) { return first(row) <= row && row <= last(row) ? row : -1; };
    mistake(
        "the nonzero whose *number* is the row's is taken for the diagonal element: e counts nonzeros, col_index[e] "
        "says in which column one stands",
        step([&](int row, int e) { return e != row; }, number_is_row));
    mistake("the last nonzero of each row is missing",
            step([&](int row, int e) { return off(row, e) && e < last(row); },
                 [&](int row) {
                   const int d = diagonal(row);
                   return d < last(row) ? d : -1;
                 }));
    mistake("the first nonzero of each row is missing",
            step([&](int row, int e) { return off(row, e) && e > first(row); },
                 [&](int row) {
                   const int d = diagonal(row);
                   return d > first(row) ? d : -1;
                 }));
    mistake("of each row, only what comes before the diagonal element is summed",
            step([&](int row, int e) { return e < diagonal(row); }, diagonal));
    mistake("of each row, only what comes after the diagonal element is summed",
            step([&](int row, int e) { return e > diagonal(row); }, diagonal));
    {
      Doubles by_row;
      for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int e = first(row); e <= last(row); ++e)
          if (m.col(e) != row) sum += m.value(e) * double{x[at(row)]};
        by_row.push_back((double{b[at(row)]} - sum) / m.value(diagonal(row)));
      }
      mistake("every nonzero is multiplied by x[row]: it needs the x of its column", by_row);
    }
    p.least_flops = m.nnz() - rows;
    p.least_load_bytes = 4.0 * m.nnz();
    return p;
  }

  std::string where(const Place& place) const override {
    const Ints &row_ptr = ints(place.problem, 0), &col_index = ints(place.problem, 1);
    int e = row_ptr[at(place.col)];
    while (col_index[at(e)] != place.col) ++e;
    return row_text(place) + fmt::format("; its diagonal element is number {}", e);
  }
};

// ------------------------------------------------------------------------------------------------ half of A

class Symmetric final : public Task {
 public:
  Symmetric() : Task("06_csr_spmv", "symmetric_spmv") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0];
    tilewise::Random random(seed);
    Matrix m;
    for (int row = 0; row < rows; ++row) {
      Ints columns = sample(random, std::max(0, row - 64), row, random_length(random, sizes[1]));
      if (random.below(4) != 0 && (sizes[1] > 0 || rows % 2 == 1))  // an even number of rows, on average empty: all are
        columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(random.below(columns.size() + 1)), row);
      add_row(m, random, columns);
    }
    const Floats x = tilewise::random_vector(at(rows), 3 * seed + 1);

    if (only_inputs()) {
      Problem p{.buffers = csr_buffers(m), .scalars = {double(m.nnz())}};
      p.buffers.push_back(input("x", 1, rows, x));
      p.buffers.push_back(output<float>("y", 1, rows, {}));
      return p;
    }

    // y with each nonzero as often as `below` says in its own row, and as `above` says in the row of its column.
    const auto product = [&](auto below, auto above, bool magnitude = false) {
      Doubles y(at(rows));
      for (int row = 0; row < rows; ++row) {
        for (int e = m.row_ptr[at(row)]; e < m.row_ptr[at(row + 1)]; ++e) {
          const int col = m.col(e);
          const double here = m.value(e) * double{x[at(col)]}, there = m.value(e) * double{x[at(row)]};
          y[at(row)] += below(row, e) * (magnitude ? std::abs(here) : here);
          y[at(col)] += above(row, e) * (magnitude ? std::abs(there) : there);
        }
      }
      return y;
    };
    const auto off = [&](int row, int e) { return m.col(e) != row ? 1.0 : 0.0; };
    const auto on = [&](int row, int e) { return m.col(e) == row ? 1.0 : 0.0; };
    const auto one = [](int, int) { return 1.0; };
    const auto none = [](int, int) { return 0.0; };

    std::vector<int> terms(at(rows));
    for (int row = 0; row < rows; ++row) {
      for (int e = m.row_ptr[at(row)]; e < m.row_ptr[at(row + 1)]; ++e) {
        ++terms[at(row)];
        if (m.col(e) != row) ++terms[at(m.col(e))];
      }
    }
    const Doubles magnitude = product(one, off, true);
    Doubles bound;
    for (int row = 0; row < rows; ++row) bound.push_back(tilewise::error_bound(at(terms[at(row)]), magnitude[at(row)]));

    Problem p;
    p.scalars = {double(m.nnz())};
    p.buffers = csr_buffers(m);
    p.buffers.push_back(input("x", 1, rows, x));
    p.buffers.push_back(output<float>("y", 1, rows, product(one, off), bound));
    const auto mistake = [&](const char* text, Doubles values) { p.hypotheses.push_back({text, std::move(values)}); };
    const auto last = [&](int row, int e) { return e == m.row_ptr[at(row + 1)] - 1 ? 1.0 : 0.0; };
    const auto first = [&](int row, int e) { return e == m.row_ptr[at(row)] ? 1.0 : 0.0; };
    mistake("only the stored half is multiplied: each a_ij below the diagonal stands for a_ji, too",
            product(one, none));
    mistake("the diagonal elements are added twice: each stands for itself only", product(one, one));
    mistake("only the half that is not stored is multiplied", product(on, off));
    mistake("only the half that is not stored is multiplied", product(none, one));
    mistake("the diagonal elements are missing", product(off, off));
    mistake("only the diagonal elements are multiplied", product(on, none));
    mistake("every nonzero is added twice in its own row, and not in the row of its column",
            product([&](int row, int e) { return 1.0 + off(row, e); }, none));
    mistake("the last nonzero of each row is missing",
            product([&](int row, int e) { return 1.0 - last(row, e); },
                    [&](int row, int e) { return off(row, e) * (1.0 - last(row, e)); }));
    mistake("the first nonzero of each row is missing",
            product([&](int row, int e) { return 1.0 - first(row, e); },
                    [&](int row, int e) { return off(row, e) * (1.0 - first(row, e)); }));
    mistake(
        "the last nonzero of each row is taken for the diagonal element, which stands for itself only; it may be "
        "anywhere",
        product(one, [&](int row, int e) { return 1.0 - last(row, e); }));
    mistake(
        "the first nonzero of each row is taken for the diagonal element, which stands for itself only; it may be "
        "anywhere",
        product(one, [&](int row, int e) { return 1.0 - first(row, e); }));
    mistake("the upper half is subtracted: A is symmetric, not skew",
            product(one, [&](int row, int e) { return -off(row, e); }));
    Doubles same_x(at(rows)), other_x(at(rows)), swapped(at(rows));  // which x goes with which row?
    for (int row = 0; row < rows; ++row) {
      for (int e = m.row_ptr[at(row)]; e < m.row_ptr[at(row + 1)]; ++e) {
        const int col = m.col(e);
        const double x_row = double{x[at(row)]}, x_col = double{x[at(col)]};
        same_x[at(row)] += m.value(e) * x_col, other_x[at(row)] += m.value(e) * x_row;
        swapped[at(row)] += m.value(e) * x_row;
        if (col == row) continue;
        same_x[at(col)] += m.value(e) * x_col, other_x[at(col)] += m.value(e) * x_row;
        swapped[at(col)] += m.value(e) * x_col;
      }
    }
    mistake("a_ij and a_ji are both multiplied by x[col]: what goes to row col needs x[row]", same_x);
    mistake("a_ij and a_ji are both multiplied by x[row]: what goes to row row needs x[col]", other_x);
    mistake("the two x are exchanged: what goes to row row needs x[col], what goes to row col needs x[row]", swapped);
    Doubles twice = product(one, off);
    for (double& v : twice) v *= 2;
    mistake("every sum is twice what it should be", twice);
    p.least_flops = m.nnz();
    p.least_load_bytes = 8.0 * m.nnz();
    return p;
  }

  std::string where(const Place& place) const override {
    const int row = place.col;
    const Ints& col_index = ints(place.problem, 1);
    const auto in_column = std::count(col_index.begin(), col_index.end(), row);
    const int first = ints(place.problem, 0)[at(row)], last = ints(place.problem, 0)[at(row + 1)];
    const bool diagonal = std::count(col_index.begin() + first, col_index.begin() + last, row) > 0;
    return row_text(place) + fmt::format("; its diagonal element is {}, and {} of other rows stand in column {}",
                                         diagonal ? "one of them" : "not stored", in_column - diagonal, row);
  }
};

// ------------------------------------------------------------------------------------------------ sparse times dense

class Spmm final : public Task {
 public:
  Spmm() : Task("06_csr_spmv", "spmm") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1], n = sizes[2];
    tilewise::Random random(seed);
    Matrix m;
    for (int row = 0; row < rows; ++row) add_row(m, random, sample(random, 0, cols, random_length(random, sizes[3])));
    const Floats B = tilewise::random_vector(at(cols) * at(n), 3 * seed + 1);

    if (only_inputs()) {
      Problem p{.buffers = csr_buffers(m), .scalars = {double(m.nnz())}};
      p.buffers.push_back(input("B", cols, n, B));
      p.buffers.push_back(output<float>("C", rows, n, {}));
      return p;
    }

    // C with the nonzeros up to end(row) for which counts(row, e), where word(e, j) is where in B the factor for column
    // j is read.
    const auto product_to = [&](auto end, auto counts, auto word, bool magnitude = false) {
      Doubles c(at(rows) * at(n));
      for (int row = 0; row < rows; ++row) {
        for (int e = m.row_ptr[at(row)]; e < end(row); ++e) {
          if (!counts(row, e)) continue;
          for (int j = 0; j < n; ++j) {
            const double term = m.value(e) * double{B[word(row, e, j)]};
            c[at(row) * at(n) + at(j)] += magnitude ? std::abs(term) : term;
          }
        }
      }
      return c;
    };
    const auto product = [&](auto counts, auto word, bool magnitude = false) {
      return product_to([&](int row) { return m.row_ptr[at(row + 1)]; }, counts, word, magnitude);
    };
    const auto all = [](int, int) { return true; };
    const auto right = [&](int, int e, int j) { return at(m.col(e)) * at(n) + at(j); };
    const auto begin = [&](int row) { return m.row_ptr[at(row)]; };

    const Doubles expected = product(all, right), magnitude = product(all, right, true);
    Doubles bound;
    for (int row = 0; row < rows; ++row)
      for (int j = 0; j < n; ++j)
        bound.push_back(tilewise::error_bound(at(m.length(row)), magnitude[at(row) * at(n) + at(j)]));
    Problem p;
    p.scalars = {double(m.nnz())};
    p.buffers = csr_buffers(m);
    p.buffers.push_back(input("B", cols, n, B));
    p.buffers.push_back(output<float>("C", rows, n, expected, bound));
    const auto mistake = [&](std::string text, Doubles values) {
      p.hypotheses.push_back({std::move(text), std::move(values)});
    };
    mistake("B is read by columns: element (k, j) of a row-major B is at [k * n + j]",
            product(all, [&](int, int e, int j) { return at(j) * at(cols) + at(m.col(e)); }));
    {
      Doubles turned(expected.size());
      for (int row = 0; row < rows; ++row)
        for (int j = 0; j < n; ++j) turned[at(j) * at(rows) + at(row)] = expected[at(row) * at(n) + at(j)];
      mistake("C is stored by columns: element (i, j) of a row-major C is at [i * n + j]", turned);
    }
    if (rows <= cols)
      mistake("a nonzero is multiplied by the row of B that has the number of A's row: it needs the one of its column",
              product(all, [&](int row, int, int j) { return at(row) * at(n) + at(j); }));
    for (int chunk : {32, 64, 16, 8}) {
      mistake(fmt::format("only the first {} nonzeros of each row are in the sums", chunk),
              product([&](int row, int e) { return e < begin(row) + chunk; }, right));
      mistake(fmt::format("the nonzeros of a row after the last full {} are missing", chunk),
              product([&](int row, int e) { return e < begin(row) + m.length(row) / chunk * chunk; }, right));
    }
    for (int chunk : {32, 8})
      mistake(
          fmt::format("every row is summed in full {0}s: the nonzeros that fill up its last {0} are those of the rows "
                      "after it",
                      chunk),
          product_to(
              [&](int row) { return std::min(m.nnz(), begin(row) + (m.length(row) + chunk - 1) / chunk * chunk); }, all,
              right));
    mistake("the last nonzero of each row is missing",
            product([&](int row, int e) { return e < begin(row + 1) - 1; }, right));
    mistake("the first nonzero of each row is missing", product([&](int row, int e) { return e > begin(row); }, right));
    mistake("nothing is summed", Doubles(expected.size()));
    {
      Doubles running(expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        running[i] = expected[i] + (i >= at(n) ? running[i - at(n)] : 0);
      mistake("the sum is not set to 0 before the next row", running);
    }
    Doubles twice = expected;
    for (double& v : twice) v *= 2;
    mistake("every sum is twice what it should be", twice);
    p.least_flops = double(m.nnz()) * n;
    p.least_load_bytes = 8.0 * m.nnz();
    return p;
  }

  std::string where(const Place& place) const override {
    std::string text = row_text(place);
    const int n = place.sizes[2];
    if (n > 32)
      text += fmt::format("; column {} is in the {} 32 columns", place.col,
                          place.col < 32                   ? "first"
                          : place.col / 32 == (n - 1) / 32 ? "last, perhaps not full,"
                                                           : "middle");
    else if (n < 32)
      text += fmt::format("; there are {} columns, fewer than lanes of a warp", n);
    return text;
  }
};

const Jacobi jacobi;
const Symmetric symmetric;
const Spmm spmm;

}  // namespace
