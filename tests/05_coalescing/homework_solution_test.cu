// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

TEST_CASE("homework, solution: a x + y", "[homework]") {
  for (const int n : {1, 2, 127, 128, 129, 511, 512, 513, 1023, 1025, 4000}) {
    INFO("n = " << n);
    const std::vector<float> x = tilewise::random_vector(std::size_t(n), 1), y = tilewise::random_vector(x.size(), 2);
    const float a = 1.75f;
    GuardedMatrix dx(x), dy(y), dz(std::vector<float>(x.size(), NAN));
    REQUIRE(launch_axpy(a, dx.data(), dy.data(), dz.data(), n) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> expected, bound;
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected.push_back(double{a} * double{x[i]} + double{y[i]});
      bound.push_back(tilewise::error_bound(2, std::abs(double{a} * double{x[i]}) + std::abs(double{y[i]})));
    }
    CHECK(tilewise::compare(dz.values(), expected, bound, 1, x.size()).ok);
    CHECK(dz.margins_intact());
    CHECK(dx.intact());
    CHECK(dy.intact());
  }
}

TEST_CASE("homework, solution: half the height and half the width", "[homework]") {
  struct Shape {
    int rows, cols;
  };
  for (const auto& [rows, cols] : {Shape{1, 1},
                                   {1, 9},
                                   {9, 1},
                                   {2, 2},
                                   {3, 3},
                                   {2, 63},
                                   {2, 64},
                                   {2, 65},
                                   {17, 66},
                                   {16, 130},
                                   {33, 127},
                                   {34, 129},
                                   {5, 301},
                                   {40, 191}}) {
    INFO("rows = " << rows << ", cols = " << cols);
    const auto C = std::size_t(cols), oR = std::size_t(rows / 2), oC = std::size_t(cols / 2);
    const std::vector<float> in = tilewise::random_vector(std::size_t(rows) * C, 3);
    GuardedMatrix from(in), to(std::vector<float>(oR * oC, NAN));
    REQUIRE(launch_halve(from.data(), to.data(), rows, cols) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> expected, bound;
    for (std::size_t i = 0; i < oR; ++i)
      for (std::size_t j = 0; j < oC; ++j) {
        double sum = 0, magnitude = 0;
        for (std::size_t k :
             {2 * i * C + 2 * j, 2 * i * C + 2 * j + 1, (2 * i + 1) * C + 2 * j, (2 * i + 1) * C + 2 * j + 1}) {
          sum += double{in[k]};
          magnitude += std::abs(double{in[k]});
        }
        expected.push_back(sum / 4);
        bound.push_back(tilewise::error_bound(4, magnitude) / 4);
      }
    CHECK(tilewise::compare(to.values(), expected, bound, oR, oC).ok);
    CHECK(to.margins_intact());
    CHECK(from.intact());
  }
}

TEST_CASE("homework, solution: a copy between places that are not aligned alike", "[homework]") {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 127, 128, 129, 130, 131, 132, 1023, 1024, 1025, 2060}) {
    for (int from_at = 0; from_at < 4; ++from_at) {
      for (int to_at = 0; to_at < 4; ++to_at) {
        INFO("n = " << n << ", from_at = " << from_at << ", to_at = " << to_at);
        const std::vector<float> x = tilewise::random_vector(std::size_t(from_at + n), 4);
        const std::vector<float> y = tilewise::random_vector(std::size_t(to_at + n + 5), 5);
        GuardedMatrix dx(x), dy(y);  // multiples of 16 bytes begin both
        REQUIRE(launch_copy_part(dx.data() + from_at, dy.data() + to_at, n) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<float> expected = y;
        std::copy(x.begin() + from_at, x.end(), expected.begin() + to_at);
        CHECK(dy.values() == expected);
        CHECK(dy.margins_intact());
        CHECK(dx.intact());
      }
    }
  }
}
