// The homework's solution, on this machine (a GPU, too): right on many sizes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include "00_first_kernel/check_brighten.hpp"
#include "catch.hpp"

namespace {

/// Whether `launch` makes of a random picture what expected(picture, x, y) says, exactly.
template <class Launch, class Expected>
Verdict check_picture(int width, int height, const Launch& launch, const Expected& expected) {
  const std::vector<float> picture = random_picture(static_cast<std::size_t>(width) * height, 7);
  return guarded_run(launch, picture, picture.size(), [&](Verdict& verdict, const std::vector<float>& got) {
    std::vector<float> wanted;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) wanted.push_back(expected(picture, x, y));
    verdict.comparison = tilewise::compare_exact(got, wanted, height, width);
    if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
  });
}

}  // namespace

TEST_CASE("homework, solution: the negative", "[homework]") {
  for (const int n : {1, 31, 255, 256, 257, 616, 100003}) {
    const auto launch = [&](const float* in, float* out) { return launch_negative(in, out, n); };
    const Verdict verdict =
        check_picture(n, 1, launch, [](const std::vector<float>& p, int x, int) { return 1.0f - p[x]; });
    INFO(n << ": " << verdict.text);
    CHECK(verdict.right());
  }
}

TEST_CASE("homework, solution: the mirror", "[homework]") {
  for (const auto& [w, h] : {MatrixShape{1, 1}, {2, 1}, {44, 14}, {64, 16}, {33, 9}, {1, 100}, {301, 203}}) {
    const int width = w, height = h;
    const auto launch = [&](const float* in, float* out) { return launch_mirror(in, out, width, height); };
    const Verdict verdict = check_picture(width, height, launch, [&](const std::vector<float>& p, int x, int y) {
      return p[static_cast<std::size_t>(y) * width + width - 1 - x];
    });
    INFO(width << " x " << height << ": " << verdict.text);
    CHECK(verdict.right());
  }
}
