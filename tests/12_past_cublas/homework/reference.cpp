// The grader's half of the homework of chapter 12: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;
using Doubles = std::vector<double>;

constexpr double kUntouched = std::numeric_limits<double>::quiet_NaN();  // outputs are filled with NaN before
constexpr int kTile = 32;

int tiles(int size) { return (size + kTile - 1) / kTile; }

// ------------------------------------------------------------------------------------------------ S = A A^T

class Similarities final : public Task {
 public:
  Similarities() : Task("12_past_cublas", "similarities") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int N = sizes[0], K = sizes[1];
    const auto A = tilewise::random_vector(Index(N) * Index(K), seed);
    if (only_inputs()) return {.buffers = {input("A", N, K, A), output<float>("S", N, N, {})}};
    const auto word = [&](int i, int k) { return double{A[Index(i) * Index(K) + Index(k)]}; };
    // The sums over the k that count; of |products| if `magnitude`.
    const auto product = [&](bool magnitude, auto counts) {
      Doubles s;
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
          double sum = 0;
          for (int k = 0; k < K; ++k)
            if (counts(k)) sum += magnitude ? std::abs(word(i, k) * word(j, k)) : word(i, k) * word(j, k);
          s.push_back(sum);
        }
      }
      return s;
    };
    const auto all = [](int) { return true; };
    const Doubles expected = product(false, all);
    Doubles bound;
    for (double m : product(true, all)) bound.push_back(tilewise::error_bound(Index(K), m));
    Problem p;
    p.buffers = {input("A", N, K, A), output<float>("S", N, N, expected, bound)};

    // What is there where only some elements are written.
    const auto written = [&](auto is) {
      Doubles s = expected;
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
          if (!is(i, j)) s[Index(i) * Index(N) + Index(j)] = kUntouched;
      return s;
    };
    const auto tile = [](int i) { return i / kTile; };
    const auto add = [&](const char* mistake, auto is) { p.hypotheses.push_back({mistake, written(is)}); };
    add("only tile (0, 0) is computed: is it the only one, or do all blocks take it?",
        [=](int i, int j) { return tile(i) + tile(j) == 0; });
    add("tiles above the diagonal are not written: each tile that is computed has a mirrored one",
        [=](int i, int j) { return tile(i) >= tile(j); });
    add("tiles below the diagonal are not written: each tile that is computed has a mirrored one",
        [=](int i, int j) { return tile(i) <= tile(j); });
    add("elements above the diagonal are not written: each element (i, j) is also (j, i)",
        [](int i, int j) { return i >= j; });
    add("elements below the diagonal are not written: each element (i, j) is also (j, i)",
        [](int i, int j) { return i <= j; });
    add("the tiles on the diagonal are not computed: row r has r + 1 tiles, in columns 0 to r",
        [=](int i, int j) { return tile(i) != tile(j); });
    const int last = tiles(N) - 1;
    if (N % kTile != 0)
      add("the ragged last row and column of tiles are missing: N / 32 is rounded down",
          [=](int i, int j) { return tile(i) < last && tile(j) < last; });
    add("the last row of tiles is missing, and with it the last column: are there too few blocks, or does a row end "
        "one tile early?",
        [=](int i, int j) { return tile(i) < last && tile(j) < last; });
    // Numbers that are read as those of a square with as many columns as S has tiles.
    const int blocks = tiles(N) * (tiles(N) + 1) / 2;
    add("the numbers of blocks are taken for those of a whole square of tiles, row by row: but row r of this triangle "
        "has r + 1 tiles",
        [=](int i, int j) {
          return tile(i) * (last + 1) + tile(j) < blocks || tile(j) * (last + 1) + tile(i) < blocks;
        });
    add("the numbers of blocks are taken for those of a whole square of tiles, row by row: but row r of this triangle "
        "has r + 1 tiles",
        [=](int i, int j) { return tile(i) * (last + 1) + tile(j) < blocks; });
    // The mirrored tile with the tile's own rows and columns.
    Hypothesis unturned{
        "the mirrored tile is stored as it is, not transposed: element (i, j) of a tile belongs at "
        "(j, i) there",
        expected};
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) {
        if (tile(i) >= tile(j)) continue;
        const int from_row = tile(j) * kTile + i % kTile, from_col = tile(i) * kTile + j % kTile;
        unturned.values[Index(i) * Index(N) + Index(j)] =
            from_row < N ? expected[Index(from_row) * Index(N) + Index(from_col)] : 0.0;
      }
    }
    p.hypotheses.push_back(std::move(unturned));
    p.least_flops = double(N) * N * K / 2;  // S is symmetric
    p.flops = 2.0 * N * N * K;
    return p;
  }

  std::string where(const Place& at) const override {
    const int row = at.row / kTile, col = at.col / kTile, last = tiles(at.sizes[0]) - 1;
    const std::string ragged = at.sizes[0] % kTile != 0 && (row == last || col == last)
                                   ? fmt::format("; the last tiles have {} of 32 rows or columns", at.sizes[0] % kTile)
                                   : "";
    if (row < col)
      return fmt::format("it lies in tile ({}, {}), above the diagonal: the mirrored tile of number {}, ({}, {}){}",
                         row, col, col * (col + 1) / 2 + row, col, row, ragged);
    return fmt::format("it lies in tile ({}, {}), number {} of 0 to {}{}", row, col, row * (row + 1) / 2 + col,
                       (last + 1) * (last + 2) / 2 - 1, ragged);
  }
};

// ------------------------------------------------------------------------------------------------ sliced layer

class SlicedLayer final : public Task {
 public:
  SlicedLayer() : Task("12_past_cublas", "sliced_layer") {}

  bool same_bits() const override { return true; }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int M = sizes[0], N = sizes[1], K = sizes[2], slices = sizes[3];
    const auto X = tilewise::random_vector(Index(M) * Index(K), 3 * seed),
               W = tilewise::random_vector(Index(K) * Index(N), 3 * seed + 1),
               bias = tilewise::random_vector(Index(N), 3 * seed + 2);
    const std::vector<std::int32_t> zeros(Index(tiles(M)) * Index(tiles(N)));
    Problem p;
    p.buffers = {input("X", M, K, X),
                 input("W", K, N, W),
                 input("bias", 1, N, bias),
                 output<float>("Y", M, N, {}),
                 scratch<float>("parts", slices, M * N),
                 in_place("arrived", 1, int(zeros.size()), zeros, {})};
    Buffer &Y = p.buffers[3], &arrived = p.buffers[5];
    if (only_inputs()) return p;
    arrived.expected.assign(zeros.begin(), zeros.end());

    // For each element, its sum over k from `begin` to before `end`; of |products| if `magnitude`.
    const auto product = [&](int begin, int end, bool magnitude = false) {
      Doubles sums;
      for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
          double sum = 0;
          for (int k = begin; k < end; ++k) {
            const double term = double{X[Index(i) * Index(K) + Index(k)]} * double{W[Index(k) * Index(N) + Index(j)]};
            sum += magnitude ? std::abs(term) : term;
          }
          sums.push_back(sum);
        }
      }
      return sums;
    };
    // f(sum, bias) for each element.
    const auto layer = [&](Doubles sums, auto f) {
      for (Index e = 0; e < sums.size(); ++e) sums[e] = f(sums[e], double{bias[e % Index(N)]});
      return sums;
    };
    const auto right = [](double sum, double b) { return std::max(0.0, sum + b); };
    const Doubles all = product(0, K);
    Y.expected = layer(all, right);
    Y.bound = layer(product(0, K, true), [&](double magnitude, double b) {
      return tilewise::error_bound(Index(K) + Index(slices) + 1, magnitude + std::abs(b));
    });
    p.least_flops = double(M) * N * K;
    p.least_load_bytes = 4.0 * (double(M) * K + double(K) * N + N);  // the counters may be touched by atomics alone
    p.least_store_bytes = 4.0 * M * N;

    const auto add = [&](std::string mistake, Doubles values) {
      p.hypotheses.push_back({std::move(mistake), std::move(values), "Y"});
    };
    add("the bias is missing", layer(all, [](double sum, double) { return std::max(0.0, sum); }));
    add("max(0, ...) is missing: negative sums stay as they are",
        layer(all, [](double sum, double b) { return sum + b; }));
    add("max(0, ...) comes before the bias, not after it",
        layer(all, [](double sum, double b) { return std::max(0.0, sum) + b; }));
    add("nothing is added to the sums: there is only the bias", layer(Doubles(all.size()), right));
    // Only the tile that comes last, in either order of the blocks.
    for (const bool first : {false, true}) {
      Doubles alone = Y.expected;
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j)
          if (first ? i >= kTile || j >= kTile : i / kTile < tiles(M) - 1 || j / kTile < tiles(N) - 1)
            alone[Index(i) * Index(N) + Index(j)] = kUntouched;
      add("only the tile whose block comes last of all is stored: each tile has a counter of its own",
          std::move(alone));
    }
    if (slices == 1) return p;
    add("each slice adds the bias: it belongs to the sum of all",
        layer(all, [&](double sum, double b) { return std::max(0.0, sum + slices * b); }));
    if (K >= slices && K % slices != 0)
      add(fmt::format("the last k are missing, from {} on: slices of K / slices = {} leave a remainder",
                      K / slices * slices, K / slices),
          layer(product(0, K / slices * slices), right));
    // Two ways to cut K: evenly, and so that only the last slices may be shorter.
    const int whole = (K + slices - 1) / slices;
    const auto even = [&](int s) { return int(std::int64_t{K} * s / slices); };
    const auto rounded_up = [&](int s) { return std::min(K, whole * s); };
    const auto add_cut = [&](auto begin) {
      std::vector<Doubles> part;
      for (int s = 0; s < slices; ++s) part.push_back(product(begin(s), begin(s + 1)));
      Doubles overlapping(all.size()), each(all.size()), without_last = all, without_first = all;
      for (int s = 0; s < slices; ++s)
        for (Index e = 0; e < all.size(); ++e) each[e] += std::max(0.0, part[Index(s)][e]);
      for (Index e = 0; e < all.size(); ++e) {
        without_last[e] -= part.back()[e];
        without_first[e] -= part.front()[e];
      }
      for (int s = 0; s < slices; ++s) {
        const int up_to = begin(s) + tiles(begin(s + 1) - begin(s)) * kTile;
        const Doubles longer = product(begin(s), std::min(K, up_to));
        for (Index e = 0; e < all.size(); ++e) overlapping[e] += longer[e];
      }
      add("the last tile of a slice has the k of the next slice, too: a slice ends before a tile of 32 does",
          layer(overlapping, right));
      add("max(0, ...) is applied to the sum of each slice: it belongs to the sum of all", layer(each, right));
      for (const int s : {slices - 1, 0})
        add(fmt::format("only slice {} counts, with k from {} to {}: does the last block store the sum of its own?", s,
                        begin(s), begin(s + 1) - 1),
            layer(part[Index(s)], right));
      add("the last slice is missing", layer(without_last, right));
      add("slice 0 is missing", layer(without_first, right));
    };
    add_cut(even);
    if (K % slices != 0) add_cut(rounded_up);
    return p;
  }

  std::string where(const Place& at) const override {
    const int N = at.sizes[1], K = at.sizes[2], slices = at.sizes[3];
    if (at.output.name == "arrived")
      return fmt::format(
          "it counts for tile ({}, {}) of Y; all counters must be 0 again when the work is done, or the "
          "next call counts on from there",
          at.col / tiles(N), at.col % tiles(N));
    return fmt::format("it lies in tile ({}, {}), where {} {}", at.row / kTile, at.col / kTile,
                       slices == 1 ? "one block sums all of" : fmt::format("{} blocks share", slices),
                       K == 0            ? "no k at all: the sum is 0"
                       : K % slices == 0 ? fmt::format("{} k, {} each", K, K / slices)
                                         : fmt::format("{} k, {} or {} each", K, K / slices, K / slices + 1));
  }
};

const Similarities similarities;
const SlicedLayer sliced_layer;

}  // namespace
