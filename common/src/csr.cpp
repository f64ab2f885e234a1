#include "tilewise/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "parallel.hpp"
#include "tilewise/table.hpp"

namespace tilewise {
namespace {

constexpr std::size_t kPanel = 1 << 14;
constexpr std::size_t kFewRows = 1 << 10;  // where a few rows may hold a large part of all entries

// The bits that Random(start) gives after `index` others.
std::uint64_t bits_at(std::uint64_t start, std::uint64_t index) { return Random::at(start, index).bits(); }

struct KindName {
  MatrixKind kind;
  const char* name;
};
constexpr KindName kKinds[] = {{MatrixKind::stencil2d, "stencil2d"},
                               {MatrixKind::stencil3d7, "stencil3d7"},
                               {MatrixKind::stencil3d, "stencil3d"},
                               {MatrixKind::banded, "banded"},
                               {MatrixKind::uniform, "uniform"},
                               {MatrixKind::rmat, "rmat"},
                               {MatrixKind::zipf, "zipf"},
                               {MatrixKind::dense_row, "dense_row"},
                               {MatrixKind::empty_rows, "empty_rows"}};

template <class T>
T uniform_value(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11) - (std::int64_t{1} << 52)) * 0x1p-52;
  else
    return static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) * 0x1p-23f;
}

// Makes row_ptr from lengths: length(row) is called once for each row, on all cores.
template <class Length>
std::vector<std::int32_t> row_pointers(std::int64_t rows, const Length& length) {
  const auto size = static_cast<std::size_t>(rows);
  std::vector<std::int32_t> pointers = zeros<std::int32_t>(size + 1);
  std::vector<std::int64_t> begins((size + kPanel - 1) / kPanel + 1);  // of panels; at first their lengths
  parallel_panels(size, kPanel, [&](std::size_t begin, std::size_t end) {
    std::int64_t sum = 0;
    for (std::size_t row = begin; row < end; ++row) {
      const std::int64_t own = length(static_cast<std::int64_t>(row));
      pointers[row + 1] = static_cast<std::int32_t>(own);
      sum += own;
    }
    begins[begin / kPanel + 1] = sum;
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  if (begins.back() > kMostEntries)
    throw std::length_error(fmt::format("a matrix of {} rows with more than {} entries: positions are 32-bit",
                                        with_commas(rows), with_commas(kMostEntries)));
  parallel_panels(size, kPanel, [&](std::size_t begin, std::size_t end) {
    auto at = static_cast<std::int32_t>(begins[begin / kPanel]);
    for (std::size_t row = begin; row < end; ++row) at = pointers[row + 1] += at;
  });
  return pointers;
}

// Fills the columns of all rows; columns(row, first, length) writes `length` columns to `first`.
template <class T, class Columns>
void fill_columns(Csr<T>& matrix, const Columns& columns) {
  matrix.col_index = zeros<std::int32_t>(static_cast<std::size_t>(matrix.row_ptr.back()));
  parallel_panels(static_cast<std::size_t>(matrix.rows), kFewRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      columns(row, matrix.col_index.data() + matrix.row_ptr[row], matrix.row_length(row));
  });
}

// One random column in each of `length` equal parts of the row: sorted, all different.
void random_columns(std::int32_t* to, std::size_t length, std::uint64_t cols, std::uint64_t start,
                    std::uint64_t first) {
  for (std::size_t j = 0; j < length; ++j) {
    const std::uint64_t low = j * cols / length, high = (j + 1) * cols / length;
    to[j] = static_cast<std::int32_t>(low + bits_at(start, first + j) % (high - low));
  }
}

// The largest side with side^dimensions <= points.
std::int64_t grid_side(std::int64_t points, int dimensions) {
  auto side = static_cast<std::int64_t>(std::pow(static_cast<double>(points), 1.0 / dimensions)) + 1;
  const auto volume = [&] { return dimensions == 2 ? side * side : side * side * side; };
  while (side > 1 && volume() > points) --side;
  return side;
}

template <class T>
Csr<T> stencil(MatrixKind kind, std::int64_t points) {
  const int dimensions = kind == MatrixKind::stencil2d ? 2 : 3;
  const bool corners = kind == MatrixKind::stencil3d;
  const std::int64_t n = grid_side(points, dimensions);
  const std::int64_t depth = dimensions == 2 ? 1 : n;
  Csr<T> matrix;
  matrix.rows = matrix.cols = static_cast<std::int32_t>(n * n * depth);
  // Calls use(column) for the neighbours of a point that exist, in ascending order.
  const auto neighbours = [=](std::int64_t row, const auto& use) {
    const std::int64_t x = row % n, y = row / n % n, z = row / (n * n);
    for (std::int64_t k = std::max<std::int64_t>(z - 1, 0); k <= std::min(z + 1, depth - 1); ++k)
      for (std::int64_t j = std::max<std::int64_t>(y - 1, 0); j <= std::min(y + 1, n - 1); ++j)
        for (std::int64_t i = std::max<std::int64_t>(x - 1, 0); i <= std::min(x + 1, n - 1); ++i)
          if (corners || (i != x) + (j != y) + (k != z) <= 1) use((k * n + j) * n + i);
  };
  matrix.row_ptr = row_pointers(matrix.rows, [&](std::int64_t row) {
    const std::int64_t x = row % n, y = row / n % n, z = row / (n * n);
    const std::int64_t wide = 1 + (x > 0) + (x + 1 < n), high = 1 + (y > 0) + (y + 1 < n);
    const std::int64_t deep = 1 + (z > 0) + (z + 1 < depth);
    return corners ? wide * high * deep : wide + high + deep - 2;
  });
  fill_columns(matrix, [&](std::size_t row, std::int32_t* to, std::size_t) {
    neighbours(static_cast<std::int64_t>(row), [&](std::int64_t col) { *to++ = static_cast<std::int32_t>(col); });
  });
  return matrix;
}

// Edge number `index` of an R-MAT graph: at every level a quadrant, 16 random bits each. The vertices are those below
// n.
std::uint64_t rmat_edge(std::uint64_t start, std::uint64_t index, std::uint64_t n) {
  const int levels = std::bit_width(n - 1);
  constexpr std::uint64_t a = 37356, ab = 49807, abc = 62259;  // 0.57, 0.76 and 0.95 of 65536
  for (std::uint64_t attempt = 0;; ++attempt) {
    Random random(bits_at(start, index) + attempt);
    std::uint64_t row = 0, col = 0, bits = 0;
    for (int level = 0; level < levels; ++level) {
      if (level % 4 == 0) bits = random.bits();
      const std::uint64_t dice = bits & 0xFFFF;
      bits >>= 16;
      row = 2 * row + (dice >= ab);
      col = 2 * col + ((dice >= a && dice < ab) || dice >= abc);
    }
    if (row < n && col < n) return row << 32 | col;
  }
}

template <class T>
Csr<T> rmat(std::int64_t rows, std::int64_t edges, std::uint64_t seed) {
  if (edges > kMostEntries)
    throw std::length_error(fmt::format("an R-MAT graph of {} edges: positions are 32-bit", with_commas(edges)));
  const std::uint64_t start = Random(seed).bits();
  // Row by row, in two passes over the edges: how many has each row, and which. In which order the cores put them down
  // does not matter, since they are sorted afterwards.
  const auto size = static_cast<std::size_t>(edges);
  std::vector<std::uint64_t> edge = zeros<std::uint64_t>(size);
  std::vector<std::int32_t> next = zeros<std::int32_t>(static_cast<std::size_t>(rows));
  parallel_panels(size, kPanel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      edge[i] = rmat_edge(start, i, static_cast<std::uint64_t>(rows));
      __atomic_fetch_add(&next[edge[i] >> 32], 1, __ATOMIC_RELAXED);
    }
  });
  Csr<T> all;  // with repeated edges
  all.rows = all.cols = static_cast<std::int32_t>(rows);
  all.row_ptr = row_pointers(rows, [&](std::int64_t row) { return next[static_cast<std::size_t>(row)]; });
  std::copy(all.row_ptr.begin(), all.row_ptr.end() - 1, next.begin());
  all.col_index = zeros<std::int32_t>(size);
  parallel_panels(size, kPanel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      all.col_index[__atomic_fetch_add(&next[edge[i] >> 32], 1, __ATOMIC_RELAXED)] =
          static_cast<std::int32_t>(edge[i] & 0xFFFFFFFF);
  });
  edge = {};
  // Each edge once.
  std::vector<std::int32_t> length = std::move(next);
  parallel_panels(length.size(), kFewRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto first = all.col_index.begin() + all.row_ptr[row], last = all.col_index.begin() + all.row_ptr[row + 1];
      std::sort(first, last);
      length[row] = static_cast<std::int32_t>(std::unique(first, last) - first);
    }
  });
  Csr<T> matrix;
  matrix.rows = matrix.cols = all.rows;
  matrix.row_ptr = row_pointers(rows, [&](std::int64_t row) { return length[static_cast<std::size_t>(row)]; });
  fill_columns(matrix, [&](std::size_t row, std::int32_t* to, std::size_t count) {
    std::copy_n(all.col_index.begin() + all.row_ptr[row], count, to);
  });
  return matrix;
}

template <class T, class Length>
Csr<T> of_lengths(std::int64_t rows, std::int64_t cols, std::uint64_t seed, const Length& length) {
  Csr<T> matrix;
  matrix.rows = static_cast<std::int32_t>(rows);
  matrix.cols = static_cast<std::int32_t>(cols);
  matrix.row_ptr = row_pointers(rows, length);
  const std::uint64_t start = Random(seed).bits();
  fill_columns(matrix, [&](std::size_t row, std::int32_t* to, std::size_t count) {
    random_columns(to, count, static_cast<std::uint64_t>(cols), start, static_cast<std::uint64_t>(matrix.row_ptr[row]));
  });
  return matrix;
}

// A number without a common factor with n, so that row -> row * step % n meets every number below n once.
std::int64_t shuffling_step(std::int64_t n) {
  auto step = static_cast<std::int64_t>(static_cast<double>(n) * 0.6180339887498949) | 1;
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

template <class T>
Csr<T> zipf(const MatrixSpec& spec) {
  const std::int64_t n = spec.rows, step = shuffling_step(n);
  double harmonic = 0;  // by additions alone, which every platform rounds alike
  for (std::int64_t k = n; k >= 1; --k) harmonic += 1.0 / static_cast<double>(k);
  const double longest = static_cast<double>(n) * static_cast<double>(spec.nnz_per_row) / harmonic;
  return of_lengths<T>(n, n, spec.seed, [=](std::int64_t row) {
    const std::int64_t rank = row * step % n;
    return std::min(n, static_cast<std::int64_t>(longest / static_cast<double>(rank + 1)));
  });
}

template <class T>
Csr<T> structure(const MatrixSpec& spec) {
  const std::int64_t n = spec.rows, k = std::min(spec.nnz_per_row, n);
  switch (spec.kind) {
    case MatrixKind::stencil2d:
    case MatrixKind::stencil3d7:
    case MatrixKind::stencil3d:
      return stencil<T>(spec.kind, n);
    case MatrixKind::banded: {
      const std::int64_t half = k / 2;
      const auto first = [=](std::int64_t row) { return std::max<std::int64_t>(0, row - half); };
      Csr<T> matrix;
      matrix.rows = matrix.cols = static_cast<std::int32_t>(n);
      matrix.row_ptr = row_pointers(n, [&](std::int64_t row) { return std::min(n - 1, row + half) - first(row) + 1; });
      fill_columns(matrix, [&](std::size_t row, std::int32_t* to, std::size_t count) {
        std::iota(to, to + count, static_cast<std::int32_t>(first(static_cast<std::int64_t>(row))));
      });
      return matrix;
    }
    case MatrixKind::uniform:
      return of_lengths<T>(n, n, spec.seed, [=](std::int64_t) { return k; });
    case MatrixKind::rmat:
      return rmat<T>(n, n * k, spec.seed);
    case MatrixKind::zipf:
      return zipf<T>(spec);
    case MatrixKind::dense_row:
      return of_lengths<T>(n, n, spec.seed, [=](std::int64_t row) { return row == n / 2 ? n : k; });
    case MatrixKind::empty_rows: {
      const std::uint64_t start = Random(spec.seed ^ 0x9E3779B97F4A7C15u).bits();
      return of_lengths<T>(n, n, spec.seed, [=](std::int64_t row) {
        return bits_at(start, static_cast<std::uint64_t>(row)) % 8 == 0 ? k : 0;
      });
    }
  }
  throw std::invalid_argument("an unknown kind of matrix");
}

}  // namespace

template <class T>
std::size_t Csr<T>::longest_row() const {
  std::size_t longest = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) longest = std::max(longest, row_length(row));
  return longest;
}

template <class T>
std::size_t Csr<T>::empty_rows() const {
  std::size_t empty = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) empty += row_length(row) == 0;
  return empty;
}

template <class T>
std::string why_not_valid(const Csr<T>& m) {
  if (m.rows < 0 || m.cols < 0) return fmt::format("{} x {} is no size", m.rows, m.cols);
  if (m.row_ptr.size() != static_cast<std::size_t>(m.rows) + 1)
    return fmt::format("row_ptr has {} elements, rows + 1 = {} wanted", m.row_ptr.size(), std::int64_t{m.rows} + 1);
  if (m.values.size() != m.col_index.size())
    return fmt::format("{} values, but {} columns", m.values.size(), m.col_index.size());
  if (static_cast<std::int64_t>(m.nnz()) > kMostEntries)
    return fmt::format("{} entries: positions are 32-bit", with_commas(m.nnz()));
  if (m.row_ptr[0] != 0) return fmt::format("row_ptr[0] is {}, not 0", m.row_ptr[0]);
  for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row)
    if (m.row_ptr[row + 1] < m.row_ptr[row])
      return fmt::format("row_ptr[{}] is {}, less than row_ptr[{}], {}", row + 1, m.row_ptr[row + 1], row,
                         m.row_ptr[row]);
  if (static_cast<std::size_t>(m.row_ptr.back()) != m.nnz())
    return fmt::format("row_ptr[{}] is {}, but there are {} entries", m.rows, m.row_ptr.back(), m.nnz());
  for (std::size_t e = 0; e < m.nnz(); ++e)
    if (m.col_index[e] < 0 || m.col_index[e] >= m.cols)
      return fmt::format("col_index[{}] is {}, outside 0..{}", e, m.col_index[e], std::int64_t{m.cols} - 1);
  return "";
}

MatrixKind matrix_kind_from(std::string_view name) {
  for (const KindName& known : kKinds)
    if (name == known.name) return known.kind;
  throw std::invalid_argument("no kind of matrix is called '" + std::string(name) + "'");
}

std::string to_string(MatrixKind kind) {
  for (const KindName& known : kKinds)
    if (kind == known.kind) return known.name;
  return "?";
}

std::vector<std::string> matrix_kind_names() {
  std::vector<std::string> names;
  for (const KindName& known : kKinds) names.emplace_back(known.name);
  return names;
}

template <class T>
std::vector<T> random_values(std::size_t size, std::uint64_t seed, Distribution distribution) {
  if (distribution != Distribution::uniform) {
    std::vector<float> values = random_vector(size, seed, distribution);
    if constexpr (std::is_same_v<T, float>)
      return values;
    else
      return {values.begin(), values.end()};
  }
  const std::uint64_t start = Random(seed).bits();  // random_vector()'s sequence, any place of which is known at once
  std::vector<T> values = zeros<T>(size);
  parallel_panels(size, kPanel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] = uniform_value<T>(bits_at(start, i));
  });
  return values;
}

template <class T>
void fill_with_signs(std::span<T> values, std::uint64_t seed) {
  const std::uint64_t start = Random(seed).bits();
  parallel_panels(values.size(), kPanel, [&](std::size_t begin, std::size_t end) {  // kPanel is a multiple of 64
    std::uint64_t bits = 0;
    for (std::size_t i = begin; i < end; ++i, bits >>= 1) {
      if (i % 64 == 0) bits = bits_at(start, i / 64);
      values[i] = bits % 2 == 0 ? T(-1) : T(1);
    }
  });
}

template <class T>
Csr<T> generate_csr(const MatrixSpec& spec) {
  if (spec.rows < 1 || spec.nnz_per_row < 1)
    throw std::invalid_argument(fmt::format("a matrix of {} rows with {} entries each", spec.rows, spec.nnz_per_row));
  if (spec.rows > kMostRows)
    throw std::length_error(fmt::format("a matrix of {} rows: indices are 32-bit", with_commas(spec.rows)));
  Csr<T> matrix = structure<T>(spec);
  matrix.values = random_values<T>(matrix.nnz(), spec.seed + 1, spec.values);
  return matrix;
}

template <class T>
Csr<T> csr_of_lengths(std::span<const std::int32_t> lengths, std::int32_t cols, std::uint64_t seed,
                      Distribution values) {
  for (const std::int32_t length : lengths)
    if (length < 0 || length > cols)
      throw std::invalid_argument(fmt::format("a row of {} entries in {} columns", length, cols));
  Csr<T> matrix = of_lengths<T>(static_cast<std::int64_t>(lengths.size()), cols, seed,
                                [&](std::int64_t row) { return lengths[static_cast<std::size_t>(row)]; });
  matrix.values = random_values<T>(matrix.nnz(), seed + 1, values);
  return matrix;
}

template <class T>
SpmvReference<T>::SpmvReference(const Csr<T>& A, std::span<const T> x) {
  if (x.size() != static_cast<std::size_t>(A.cols))
    throw std::length_error(fmt::format("x has {} elements, {} wanted", x.size(), A.cols));
  using Sum = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  const Arithmetic arithmetic = std::is_same_v<T, double> ? Arithmetic::fp64() : Arithmetic::fp32();
  expected_ = zeros<double>(static_cast<std::size_t>(A.rows));
  bound_ = zeros<double>(expected_.size());
  std::vector<double> largest((expected_.size() + kPanel - 1) / kPanel);
  parallel_panels(expected_.size(), kPanel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      Sum sum = 0;
      double magnitude = 0;
      for (std::int32_t e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
        const Sum product = static_cast<Sum>(A.values[e]) * static_cast<Sum>(x[A.col_index[e]]);
        sum += product;
        magnitude += std::abs(static_cast<double>(product));
      }
      expected_[row] = static_cast<double>(sum);
      bound_[row] = error_bound(A.row_length(row), magnitude, arithmetic);
      largest[begin / kPanel] = std::max(largest[begin / kPanel], magnitude);
    }
  });
  for (const double magnitude : largest) largest_magnitude_ = std::max(largest_magnitude_, magnitude);
}

template <class T>
Comparison SpmvReference<T>::check(std::span<const T> y) const {
  return compare(y, expected_, bound_, expected_.size(), 1);
}

template <class T>
Comparison SpmvReference<T>::check_exact(std::span<const T> y) const {
  Comparison comparison = compare(y, expected_, {}, expected_.size(), 1);
  comparison.method = "all elements, exactly, with integers";
  return comparison;
}

#define TILEWISE_FOR(T)                                                                                     \
  template struct Csr<T>;                                                                                   \
  template std::string why_not_valid(const Csr<T>&);                                                        \
  template std::vector<T> random_values(std::size_t, std::uint64_t, Distribution);                          \
  template void fill_with_signs(std::span<T>, std::uint64_t);                                               \
  template Csr<T> generate_csr(const MatrixSpec&);                                                          \
  template Csr<T> csr_of_lengths(std::span<const std::int32_t>, std::int32_t, std::uint64_t, Distribution); \
  template class SpmvReference<T>;
TILEWISE_FOR(float)
TILEWISE_FOR(double)

}  // namespace tilewise
