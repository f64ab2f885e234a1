// The grader's half of the homework of chapter 04: inputs, expected results, and the results of common mistakes. Words
// are moved and nothing is computed: every result must be equal, not close.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;

/// `rows` x `cols` words, each what word(row, col) says.
template <class Word>
std::vector<double> matrix(int rows, int cols, Word word) {
  std::vector<double> m;
  m.reserve(std::size_t(rows) * std::size_t(cols));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m.push_back(double{word(i, j)});
  return m;
}

/// Random words, and some that only a move keeps as they are: -0, infinity, one that is not normalised, a signalling NaN.
std::vector<float> words(std::size_t size, std::uint64_t seed) {
  std::vector<float> values = tilewise::random_vector(size, seed);
  if (size >= 30) {
    values[size / 2] = -0.0f;
    values[size / 3] = std::numeric_limits<float>::infinity();
    values[size / 5] = std::numeric_limits<float>::denorm_min();
    values[size / 7] = std::bit_cast<float>(0x7f9dec0du);
  }
  return values;
}

/// "row 33 is in the ragged last tile (rows 32 to 34)", for tiles of 32.
std::string part(const char* what, int i, int n) {
  const int tile = 32, first = i / tile * tile, last = std::min(first + tile, n) - 1;
  return fmt::format("{} {} is in {} ({}s {} to {})", what, i,
                     last - first + 1 < tile ? "the ragged last tile"
                     : first == 0            ? "the first tile"
                                             : fmt::format("tile {}", i / tile),
                     what, first, last);
}

class Rotate final : public Task {
 public:
  Rotate() : Task("04_transpose", "rotate") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1];
    const std::vector<float> values = words(std::size_t(rows) * std::size_t(cols), seed);
    if (only_inputs()) return {.buffers = {input("A", rows, cols, values), output<float>("B", cols, rows, {})}};
    // Word (i, j) of A; where there is none, that of a kernel that counts on in memory, or nothing.
    const auto a = [&](int i, int j) {
      const std::int64_t at = std::int64_t{i} * cols + j;
      return at >= 0 && at < std::int64_t(values.size()) ? values[std::size_t(at)] : 0.0f;
    };
    const auto b = [&](auto word) { return matrix(cols, rows, word); };
    Problem p;
    p.buffers = {input("A", rows, cols, values),
                 output<float>("B", cols, rows, b([&](int r, int c) { return a(rows - 1 - c, r); }))};
    p.hypotheses.push_back({"B is the transpose of A: no row is reversed", b([&](int r, int c) { return a(c, r); })});
    p.hypotheses.push_back({"A is turned counter-clockwise", b([&](int r, int c) { return a(c, cols - 1 - r); })});
    p.hypotheses.push_back({"A is mirrored at the other diagonal: the rows and the columns are both reversed",
                            b([&](int r, int c) { return a(rows - 1 - c, cols - 1 - r); })});
    p.hypotheses.push_back({"the words of A are copied as they lie in memory", b([&](int r, int c) {
                              return values[std::size_t(r) * std::size_t(rows) + std::size_t(c)];
                            })});
    if (rows > 1) {  // into the next row of B, or nowhere
      const char* one = "all words are one place too far to the right: the last index of a row is its length less one";
      p.hypotheses.push_back({one, b([&](int r, int c) {
                                return c > 0 ? a(rows - c, r) : r > 0 ? a(0, r - 1) : NAN;
                              })});
      p.hypotheses.push_back({one, b([&](int r, int c) { return c > 0 ? a(rows - c, r) : NAN; })});
    }
    if (rows != cols) {  // to the place that this column would have, if B had one
      std::vector<double> b_of_cols(values.size(), NAN);
      for (int i = 0; i < std::min(rows, cols); ++i)
        for (int j = 0; j < cols; ++j) {
          const std::size_t at = std::size_t(j) * std::size_t(rows) + std::size_t(cols - 1 - i);
          if (at < b_of_cols.size()) b_of_cols[at] = double{a(i, j)};
        }
      p.hypotheses.push_back({"row i of A goes to column cols - 1 - i: how many columns has B?", std::move(b_of_cols)});
    }
    for (int tile : {32, 16, 8, 64}) {
      if (rows > tile && rows % tile == 0)
        p.hypotheses.push_back({fmt::format("each tile of {} is turned, but stays where the transpose has it", tile),
                                b([&](int r, int c) { return a(c / tile * tile + tile - 1 - c % tile, r); })});
    }
    return p;
  }

  std::string where(const Place& at) const override {
    const int rows = at.sizes[0], cols = at.sizes[1], i = rows - 1 - at.col, j = at.row;
    return fmt::format("it should be A[{}][{}]; {}, {}, for tiles of 32 x 32 of A", i, j, part("row", i, rows),
                       part("column", j, cols));
  }
};

class TransposeInPlace final : public Task {
 public:
  TransposeInPlace() : Task("04_transpose", "transpose_in_place") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0];
    const std::vector<float> values = words(std::size_t(n) * std::size_t(n), seed);
    if (only_inputs()) return {.buffers = {in_place("A", n, n, values, {})}};
    const auto a = [&](int i, int j) { return values[std::size_t(i) * std::size_t(n) + std::size_t(j)]; };
    Problem p;
    p.buffers = {in_place("A", n, n, values, matrix(n, n, [&](int i, int j) { return a(j, i); }))};
    const auto mistake = [&](std::string what, auto word) {
      p.hypotheses.push_back({std::move(what), matrix(n, n, word)});
    };
    mistake(
        "nothing changes places, or every pair changes places twice: by the thread of A[i][j] and by that of A[j][i]?",
        a);
    for (int tile : {32, 16, 8, 64, 1}) {
      const auto above = [=](int i, int j) { return i / tile < j / tile; };
      const auto diagonal = [=](int i, int j) { return i / tile == j / tile; };
      const std::string tiles = tile == 1 ? "single words" : fmt::format("tiles of {}", tile);
      mistake(fmt::format("what lies below the diagonal is overwritten before it has been read ({})", tiles),
              [=](int i, int j) { return above(i, j) ? a(i, j) : a(j, i); });
      mistake(fmt::format("what lies above the diagonal is overwritten before it has been read ({})", tiles),
              [=](int i, int j) { return above(i, j) || diagonal(i, j) ? a(j, i) : a(i, j); });
      if (tile == 1) continue;
      mistake(fmt::format("the {} on the diagonal stay as they are", tiles),
              [=](int i, int j) { return diagonal(i, j) ? a(i, j) : a(j, i); });
      mistake(fmt::format(
                  "only the {} on the diagonal are transposed; the others stay, or change places twice: which block "
                  "swaps the tiles (r, c) and (c, r)?",
                  tiles),
              [=](int i, int j) { return diagonal(i, j) ? a(j, i) : a(i, j); });
      const int whole = n / tile * tile;
      if (whole < n && whole > 0)
        mistake(fmt::format("the ragged edge stays as it is: rows and columns from {} on (n / {} tiles?)", whole, tile),
                [=](int i, int j) { return i < whole && j < whole ? a(j, i) : a(i, j); });
      if (n % tile == 0 && n > tile)
        mistake(fmt::format("{} change places, and inside of them no word does", tiles),
                [=](int i, int j) { return a(j / tile * tile + i % tile, i / tile * tile + j % tile); });
    }
    return p;
  }

  std::string where(const Place& at) const override {
    const int n = at.sizes[0], i = at.row, j = at.col;
    return fmt::format("it should be what A[{}][{}] was; {}, {}, for tiles of 32: {} the diagonal", j, i,
                       part("row", i, n), part("column", j, n),
                       i / 32 == j / 32  ? "a tile on"
                       : i / 32 < j / 32 ? "a tile above"
                                         : "a tile below");
  }
};

class NhwcToNchw final : public Task {
 public:
  NhwcToNchw() : Task("04_transpose", "nhwc_to_nchw") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int images = sizes[0], pixels = sizes[1], channels = sizes[2];
    const std::vector<float> values = words(std::size_t(images) * std::size_t(pixels) * std::size_t(channels), seed);
    if (only_inputs())
      return {.buffers = {input("in", images * pixels, channels, values),
                          output<float>("out", images * channels, pixels, {})}};
    const auto in = [&](int b, int p, int c) {
      return values[(std::size_t(b) * std::size_t(pixels) + std::size_t(p)) * std::size_t(channels) + std::size_t(c)];
    };
    // Plane c of image b is row b * channels + c of the output.
    const auto out = [&](auto word) {
      return matrix(images * channels, pixels, [&](int row, int p) { return word(row / channels, row % channels, p); });
    };
    Problem p;
    p.buffers = {
        input("in", images * pixels, channels, values),
        output<float>("out", images * channels, pixels, out([&](int b, int c, int i) { return in(b, i, c); }))};
    p.hypotheses.push_back(
        {"the words are copied as they lie in memory", std::vector<double>(values.begin(), values.end())});
    if (images > 1) {
      p.hypotheses.push_back({"image 0 is done and no other",
                              out([&](int b, int c, int i) { return b == 0 ? double{in(b, i, c)} : NAN; })});
      p.hypotheses.push_back({"every image of the result comes from image 0: where does image 1 begin in `in`?",
                              out([&](int, int c, int i) { return in(0, i, c); })});
      // Treated as one image of so many pixels: planes of all images in a row.
      p.hypotheses.push_back(
          {"all images are taken for one: planes of images * pixels words", out([&](int b, int c, int i) {
             const int at = (b * channels + c) * pixels + i, plane = images * pixels;
             return in(at % plane / pixels, at % plane % pixels, at / plane);
           })});
    }
    if (channels > 1)
      p.hypotheses.push_back({"the channels come in the opposite order",
                              out([&](int b, int c, int i) { return in(b, i, channels - 1 - c); })});
    // `in` read as if it were images x channels x pixels, and turned into what it is.
    p.hypotheses.push_back(
        {"the transpose is the wrong way round: from planes to pixels", out([&](int b, int c, int i) {
           const int at = c * pixels + i, from = at % channels * pixels + at / channels;
           return in(b, from / channels, from % channels);
         })});
    return p;
  }

  std::string where(const Place& at) const override {
    const int pixels = at.sizes[1], channels = at.sizes[2], b = at.row / channels, c = at.row % channels;
    std::string text =
        fmt::format("plane {} of image {}, pixel {}: it should be in[{}][{}][{}]", c, b, at.col, b, at.col, c);
    if (at.col / 32 == pixels / 32 && pixels % 32 != 0)
      text += fmt::format("; the image has {} pixels, so its last group of 32 is not full", pixels);
    if (c >= 32) text += "; its channel is above 31";
    return text;
  }
};

const Rotate rotate;
const TransposeInPlace transpose_in_place;
const NhwcToNchw nhwc_to_nchw;

}  // namespace
