// The grader's half of the homework of chapter 02: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/product.hpp"
#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;

class MovingSum final : public Task {
 public:
  MovingSum() : Task("02_tiled_matmul", "moving_sum") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0];
    Problem p;
    const std::vector<float> x = tilewise::random_vector(static_cast<std::size_t>(n), seed);
    if (only_inputs()) return {.buffers = {input("x", 1, n, x), output<float>("y", 1, n, {})}};
    // The sum over the neighbours that `counts` lets in.
    const auto sum = [&](auto counts) {
      std::vector<double> y(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) {
        for (int j = i - 2; j <= i + 2; ++j)
          if (j >= 0 && j < n && counts(i, j)) y[static_cast<std::size_t>(i)] += double{x[static_cast<std::size_t>(j)]};
      }
      return y;
    };
    std::vector<double> bound;
    for (int i = 0; i < n; ++i) {
      double magnitude = 0;
      for (int j = std::max(0, i - 2); j <= std::min(n - 1, i + 2); ++j)
        magnitude += std::abs(double{x[static_cast<std::size_t>(j)]});
      bound.push_back(tilewise::error_bound(5, magnitude));
    }
    p.buffers = {input("x", 1, n, x), output<float>("y", 1, n, sum([](int, int) { return true; }), bound)};
    for (int span : {128, 256, 64, 32}) {
      const std::string blocks = fmt::format("in blocks of {}", span);
      p.hypotheses.push_back({fmt::format("the halo to the left is missing ({})", blocks),
                              sum([=](int i, int j) { return j >= i / span * span; })});
      p.hypotheses.push_back({fmt::format("the halo to the right is missing ({})", blocks),
                              sum([=](int i, int j) { return j / span <= i / span; })});
      p.hypotheses.push_back({fmt::format("the halo is missing on both sides ({})", blocks),
                              sum([=](int i, int j) { return j / span == i / span; })});
    }
    p.hypotheses.push_back(
        {"only three neighbours are summed, not five", sum([](int i, int j) { return std::abs(i - j) <= 1; })});
    p.hypotheses.push_back({"the element itself is left out", sum([](int i, int j) { return i != j; })});
    p.least_flops = n;
    return p;
  }

  std::string where(const Place& at) const override {
    const int i = at.col, first = i / 128 * 128, n = at.sizes[0];
    const std::string block =
        fmt::format("block {} of 128 (elements {} to {})", i / 128, first, std::min(first + 128, n) - 1);
    if (i - first < 2 && first > 0)
      return fmt::format("the {} element of {}: it needs words of the block before", i == first ? "first" : "second",
                         block);
    if (i < 2) return "at the very start of x: what lies before it counts as 0";
    if (i >= n - 2) return "at the very end of x: what lies beyond it counts as 0";
    if (i - first >= 126)
      return fmt::format("the {} element of {}: it needs words of the block after",
                         i - first == 127 ? "last" : "last but one", block);
    return "inside " + block;
  }
};

/// C (M x N), the sum over k of a(i, k) b(k, j).
class Matmul final : public Task {
 public:
  Matmul(std::string name, bool transposed_a, bool transposed_b)
      : Task("02_tiled_matmul", std::move(name)), transposed_a_(transposed_a), transposed_b_(transposed_b) {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int M = sizes[0], N = sizes[1], K = sizes[2];
    Problem p;
    const int a_rows = transposed_a_ ? K : M, a_cols = transposed_a_ ? M : K;
    const int b_rows = transposed_b_ ? N : K, b_cols = transposed_b_ ? K : N;
    const auto A = tilewise::random_vector(std::size_t(a_rows) * std::size_t(a_cols), 2 * seed),
               B = tilewise::random_vector(std::size_t(b_rows) * std::size_t(b_cols), 2 * seed + 1);
    if (only_inputs())
      return {.buffers = {input("A", a_rows, a_cols, A), input("B", b_rows, b_cols, B), output<float>("C", M, N, {})}};
    const auto element = [](const std::vector<float>& v, int row, int col, int cols) {
      return double{v[std::size_t(row) * std::size_t(cols) + std::size_t(col)]};
    };
    // The product with A and B turned round or not, over 0 <= k < K for which counts(k); |values| if `magnitude`.
    const auto product = [&](bool ta, bool tb, bool magnitude, auto counts) {
      std::vector<double> c;
      for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
          double sum = 0;
          for (int k = 0; k < K; ++k) {
            if (!counts(k)) continue;
            const double a = ta ? element(A, k, i, M) : element(A, i, k, K);
            const double b = tb ? element(B, j, k, K) : element(B, k, j, N);
            sum += magnitude ? std::abs(a * b) : a * b;
          }
          c.push_back(sum);
        }
      }
      return c;
    };
    const auto all = [](int) { return true; };
    const bool ta = transposed_a_, tb = transposed_b_;
    const std::vector<double> expected = product(ta, tb, false, all);
    std::vector<double> bound;
    for (double m : product(ta, tb, true, all)) bound.push_back(tilewise::error_bound(std::size_t(K), m));
    p.buffers = {input("A", a_rows, a_cols, A), input("B", b_rows, b_cols, B),
                 output<float>("C", M, N, expected, bound)};
    for (int tile : {32, 16, 8, 64}) {
      if (K % tile != 0 && K > tile)
        p.hypotheses.push_back(
            {fmt::format(
                 "the ragged last tile of k is missing: k from {} to {} is not in the sums (a loop over K / {} tiles?)",
                 K / tile * tile, K - 1, tile),
             product(ta, tb, false, [=](int k) { return k < K / tile * tile; })});
      if (K > tile) {
        p.hypotheses.push_back({fmt::format("only the first {} of k are in the sums: the first tile", tile),
                                product(ta, tb, false, [=](int k) { return k < tile; })});
        p.hypotheses.push_back(
            {fmt::format("only the last tile of k is in the sums, from k = {} on: is the sum set to 0 in every tile?",
                         (K - 1) / tile * tile),
             product(ta, tb, false, [=](int k) { return k >= (K - 1) / tile * tile; })});
      }
    }
    if (K > 1) {
      p.hypotheses.push_back({"the last k is missing", product(ta, tb, false, [=](int k) { return k < K - 1; })});
      p.hypotheses.push_back({"k = 0 is missing", product(ta, tb, false, [](int k) { return k > 0; })});
    }
    // These are as the kernel would read them only where the matrices are square.
    if (M == K)
      p.hypotheses.push_back(
          {ta ? "this is A B, not A^T B: A is read by rows" : "this is A^T B^T: A is read by columns",
           product(!ta, tb, false, all)});
    if (N == K)
      p.hypotheses.push_back(
          {tb ? "this is A B, not A B^T: B is read by columns" : "this is A^T B^T: B is read by rows",
           product(ta, !tb, false, all)});
    if (M == N) {
      Hypothesis turned{"this is C^T: rows and columns of the result are exchanged", {}};
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) turned.values.push_back(expected[std::size_t(j) * std::size_t(N) + std::size_t(i)]);
      p.hypotheses.push_back(std::move(turned));
    }
    p.hypotheses.push_back({"nothing is added to the sums: the loop over the tiles of k does not run",
                            std::vector<double>(expected.size())});
    Hypothesis twice{"every sum is twice what it should be", expected};
    for (double& v : twice.values) v *= 2;
    p.hypotheses.push_back(std::move(twice));
    p.least_flops = double(M) * N * K;
    return p;
  }

  std::string guess(const Sizes& sizes, const Problem& p, const Buffer& out, const Values& got) const override {
    const auto matrix = [&](std::size_t i) -> const std::vector<float>& {
      return std::get<std::vector<float>>(p.buffers[i].values);
    };
    const auto N = std::size_t(sizes[1]);
    return what_was_summed({sizes[0], sizes[1], sizes[2], transposed_a_, !transposed_b_, false}, matrix(0), matrix(1),
                           out.expected, 2 * *std::max_element(out.bound.begin(), out.bound.end()),
                           std::get<std::vector<float>>(got),
                           [=](int i, int j) { return std::size_t(i) * N + std::size_t(j); });
  }

  std::string where(const Place& at) const override {
    const Sizes& sizes = at.sizes;
    const auto part = [](const char* what, int i, int n) {
      const int tile = 32, first = i / tile * tile, last = std::min(first + tile, n) - 1;
      const bool ragged = last - first + 1 < tile;
      return fmt::format("{} {} is in {} ({}s {} to {})", what, i,
                         ragged       ? "the ragged last tile"
                         : first == 0 ? "the first tile"
                                      : fmt::format("tile {}", i / tile),
                         what, first, last);
    };
    std::string text = part("row", at.row, sizes[0]) + ", " + part("column", at.col, sizes[1]) + ", for tiles of 32";
    if (sizes[2] % 32 != 0) text += fmt::format("; the last tile along k has {} of 32", sizes[2] % 32);
    return text;
  }

 private:
  bool transposed_a_, transposed_b_;
};

const MovingSum moving_sum;
const Matmul at_b("matmul_at_b", true, false), a_bt("matmul_a_bt", false, true);

}  // namespace
