// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <cmath>
#include <vector>

#include "04_transpose/check_transpose.hpp"
#include "catch.hpp"

namespace {

/// Launches with `in` and `out` between canaries; what the launch leaves in `out`.
template <class Launch>
std::vector<float> moved(const std::vector<float>& values, Launch launch) {
  GuardedMatrix in(values), out(std::vector<float>(values.size(), GuardedMatrix::canary()));
  REQUIRE(launch(in.data(), out.data()) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(in.intact());
  CHECK(out.margins_intact());
  return out.values();
}

bool equal(const std::vector<float>& got, const std::vector<float>& expected, std::size_t rows, std::size_t cols) {
  return tilewise::compare_exact(got, expected, rows, cols).ok;
}

}  // namespace

TEST_CASE("homework, solution: a quarter turn", "[homework]") {
  for (const auto& [rows, cols] : {TransposeShape{1, 1},
                                   {32, 32},
                                   {33, 31},
                                   {31, 65},
                                   {1, 100},
                                   {100, 1},
                                   {7, 40},
                                   {64, 96},
                                   {96, 63},
                                   {129, 130}}) {
    INFO("rows = " << rows << ", cols = " << cols);
    const auto R = std::size_t(rows), C = std::size_t(cols);
    const std::vector<float> a = tilewise::random_vector(R * C, 1);
    std::vector<float> expected(a.size());
    for (std::size_t i = 0; i < R; ++i)
      for (std::size_t j = 0; j < C; ++j) expected[j * R + R - 1 - i] = a[i * C + j];
    const auto got =
        moved(a, [&, rows = rows, cols = cols](const float* A, float* B) { return launch_rotate(A, B, rows, cols); });
    CHECK(equal(got, expected, C, R));
  }
}

TEST_CASE("homework, solution: a transpose in place", "[homework]") {
  for (const int n : {1, 2, 31, 32, 33, 63, 64, 65, 100, 128, 131}) {
    INFO("n = " << n);
    const auto N = std::size_t(n);
    const std::vector<float> values = tilewise::random_vector(N * N, 2);
    GuardedMatrix a(values);
    REQUIRE(launch_transpose_in_place(a.data(), n) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(equal(a.values(), transposed(values, n, n), N, N));
    CHECK(a.margins_intact());
  }
}

TEST_CASE("homework, solution: pixels to planes", "[homework]") {
  struct Shape {
    int images, pixels, channels;
  };
  for (const auto& [images, pixels, channels] : {Shape{1, 1, 1},
                                                 {1, 32, 32},
                                                 {2, 256, 3},
                                                 {3, 257, 3},
                                                 {2, 100, 4},
                                                 {2, 300, 1},
                                                 {1, 33, 40},
                                                 {2, 17, 255},
                                                 {1, 40, 256},
                                                 {5, 511, 2}}) {
    INFO("images = " << images << ", pixels = " << pixels << ", channels = " << channels);
    const auto B = std::size_t(images), P = std::size_t(pixels), C = std::size_t(channels);
    const std::vector<float> in = tilewise::random_vector(B * P * C, 3);
    std::vector<float> expected(in.size());
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t p = 0; p < P; ++p)
        for (std::size_t c = 0; c < C; ++c) expected[(b * C + c) * P + p] = in[(b * P + p) * C + c];
    const auto got =
        moved(in, [&, images = images, pixels = pixels, channels = channels](const float* from, float* to) {
          return launch_nhwc_to_nchw(from, to, images, pixels, channels);
        });
    CHECK(equal(got, expected, B * C, P));
  }
}
