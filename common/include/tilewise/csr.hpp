/// @file
/// Sparse matrices in CSR on the host: made by generators or read from Matrix Market files, checked, and multiplied in
/// higher precision for reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace tilewise {

/// A sparse matrix, row by row: the entries of row r are those from row_ptr[r] up to row_ptr[r + 1]. Columns need not
/// be sorted within a row, and may repeat; everything made by this file has them sorted and different.
template <class T>
struct Csr {
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  std::vector<std::int32_t> row_ptr{0};  ///< rows + 1 positions; row_ptr[0] is 0, row_ptr[rows] is nnz()
  std::vector<std::int32_t> col_index;   ///< nnz() columns, from 0
  std::vector<T> values;                 ///< nnz() values

  std::size_t nnz() const { return col_index.size(); }
  std::size_t row_length(std::size_t row) const { return static_cast<std::size_t>(row_ptr[row + 1] - row_ptr[row]); }
  double mean_row_length() const { return rows > 0 ? static_cast<double>(nnz()) / rows : 0; }
  std::size_t longest_row() const;
  std::size_t empty_rows() const;

  /// What y = A x must move at the least: values, columns and row pointers, x once, y once. Bytes.
  double minimal_traffic() const {
    return static_cast<double>(nnz()) * (sizeof(T) + 4) + 4.0 * (rows + 1.0) +
           static_cast<double>(sizeof(T)) * (static_cast<double>(rows) + cols);
  }
  bool operator==(const Csr&) const = default;
};

/// "" if `matrix` is a CSR matrix, else what is wrong with it, with the place: "row_ptr[3] is 7, less than row_ptr[2]".
template <class T>
std::string why_not_valid(const Csr<T>& matrix);

/// Kinds of matrices that generate_csr() makes. All are square.
enum class MatrixKind {
  stencil2d,   ///< 5-point stencil on a square grid: every point and its 4 neighbours; fewer at the rim
  stencil3d7,  ///< 7-point stencil on a cube: every point and its 6 neighbours
  stencil3d,   ///< 27-point stencil on a cube: every point and all around it
  banded,      ///< all columns within nnz_per_row / 2 of the diagonal
  uniform,     ///< nnz_per_row random columns in every row
  rmat,        ///< R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004; 0.57 0.19 0.19 0.05): few rows and columns hold much
  zipf,        ///< the k-th longest row has 1/k of the longest one's entries (rows shuffled), random columns
  dense_row,   ///< as uniform, but the middle row is full
  empty_rows   ///< 7 rows of 8, chosen at random, are empty; the others have nnz_per_row random columns
};

/// Throws std::invalid_argument for other names than matrix_kind_names().
MatrixKind matrix_kind_from(std::string_view name);
std::string to_string(MatrixKind kind);
std::vector<std::string> matrix_kind_names();

/// A matrix to generate.
struct MatrixSpec {
  MatrixKind kind = MatrixKind::stencil2d;
  /// Rows and columns, at least 1. Stencils take the largest square or cube that has no more points.
  std::int64_t rows = 1;
  std::int64_t nnz_per_row =
      16;                  ///< at least 1; not for stencils, which know theirs; more than `rows` counts as `rows`
  std::uint64_t seed = 1;  ///< of columns and values
  Distribution values = Distribution::uniform;
};

/// Makes a matrix; the same bits on every platform. Computed on all cores. Throws std::length_error when it would have
/// more than kMostEntries, std::invalid_argument for sizes below 1.
template <class T>
Csr<T> generate_csr(const MatrixSpec& spec);

/// A matrix of given row lengths (each at most `cols`), columns random and sorted, values by seed.
template <class T>
Csr<T> csr_of_lengths(std::span<const std::int32_t> lengths, std::int32_t cols, std::uint64_t seed,
                      Distribution values = Distribution::uniform);

/// `size` values of a distribution. Doubles have 53 random bits where the distribution is uniform, floats 24.
template <class T>
std::vector<T> random_values(std::size_t size, std::uint64_t seed, Distribution distribution = Distribution::uniform);

/// Writes -1 or 1 into every element, by seed.
template <class T>
void fill_with_signs(std::span<T> values, std::uint64_t seed);

/// Positions are 32-bit. Kernels that step past the end of a row by up to 2^16 entries then still cannot overflow.
inline constexpr std::int64_t kMostEntries = (std::int64_t{1} << 31) - (1 << 16);
/// Rows, and columns.
inline constexpr std::int64_t kMostRows = kMostEntries;

/// A Matrix Market file that cannot be read. what(): "file.mtx:12: column 9 is outside 1..8".
class MatrixMarketError : public std::runtime_error {
 public:
  MatrixMarketError(const std::string& file, std::size_t line, const std::string& reason);
  std::size_t line() const { return line_; }  ///< from 1; 0 when it is about the file as a whole

 private:
  std::size_t line_;
};

/// Reads a Matrix Market file (https://math.nist.gov/MatrixMarket/formats.html): `coordinate` format; `real`, `integer`
/// or `pattern` (every value 1); `general`, `symmetric` or `skew-symmetric` (whose other half is added). Entries for
/// the same place are summed, in the order of the file. Columns come out sorted. Throws MatrixMarketError for anything
/// else: what is no number, NaN, infinity or out of T's range; indices outside the matrix; too few or too many entries;
/// entries above the diagonal of a symmetric matrix; sizes that 32-bit positions cannot hold.
template <class T>
Csr<T> read_matrix_market(const std::string& path);

/// The same from memory; `name` stands for the file in messages.
template <class T>
Csr<T> parse_matrix_market(std::string_view text, const std::string& name = "text");

/// The matrix as a Matrix Market file: coordinate, real, general; values with all their digits.
template <class T>
std::string matrix_market_text(const Csr<T>& matrix);

/// The reference of y = A x: FP64 for floats, long double for doubles, and for each row the error that rounding may
/// cause at most: error_bound(row length, sum of |a||x|).
template <class T>
class SpmvReference {
 public:
  /// Computed on all cores. Throws std::length_error unless x has as many elements as A has columns.
  SpmvReference(const Csr<T>& A, std::span<const T> x);

  /// Compares a result element by element; y[row] is shown as row `row`, column 0.
  Comparison check(std::span<const T> y) const;
  /// The same with no error allowed at all: for integers whose sums are exact, see spmv_is_exact().
  Comparison check_exact(std::span<const T> y) const;

  const std::vector<double>& expected() const { return expected_; }
  const std::vector<double>& bound() const { return bound_; }
  /// The largest sum of |a||x| of a row.
  double largest_magnitude() const { return largest_magnitude_; }

 private:
  std::vector<double> expected_, bound_;
  double largest_magnitude_ = 0;
};

/// True if every sum in y = A x is exact in type T in whatever order it is added: A and x hold integers (not checked)
/// and no row's sum of |a||x| is above 2^24 (float) or 2^53 (double). Then check_exact() is the sharpest check there
/// is.
template <class T>
bool spmv_is_exact(const SpmvReference<T>& reference) {
  return reference.largest_magnitude() <= (sizeof(T) == 4 ? 0x1p24 : 0x1p53);
}

}  // namespace tilewise
