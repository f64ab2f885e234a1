// The same seed gives the same bits everywhere: fixed values.
#include "tilewise/random.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "catch.hpp"

using namespace tilewise;

TEST_CASE("SplitMix64 gives the published sequence") {
  Random random(1234567);
  CHECK(random.bits() == 6457827717110365317u);
  CHECK(random.bits() == 3203168211198807973u);
  CHECK(random.bits() == 9817491932198370423u);
  CHECK(random.bits() == 4593380528125082431u);
  CHECK(random.bits() == 16408922859458223821u);
}

TEST_CASE("uniform floats come from the top 24 bits") {
  Random bits(42), values(42);
  for (int i = 0; i < 1000; ++i) {
    const double expected = static_cast<double>(bits.bits() >> 40) / 8388608.0 - 1.0;
    CHECK(values.uniform() == expected);
  }
}

TEST_CASE("a vector depends on its seed, and nothing else") {
  const auto data = GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  const std::vector<float> first = random_vector(1000, 7, data);
  CHECK(first == random_vector(1000, 7, data));
  CHECK(first != random_vector(1000, 8, data));
  const std::vector<float> longer = random_vector(2000, 7, data);
  CHECK(std::equal(first.begin(), first.end(), longer.begin()));
  for (float value : first) CHECK(std::isfinite(value));
}

TEST_CASE("a place of the sequence at once is the place that steps lead to, and so are long vectors") {
  constexpr std::size_t size = 40000;  // several panels of the cores'
  const std::vector<float> values = random_vector(size, 7), pairs = random_vector(size, 7, Distribution::cancel);
  Random steps(Random(7).bits());
  const std::uint64_t start = Random(7).bits();
  for (std::size_t i = 0; i < size; ++i) {
    REQUIRE(Random::at(start, i).uniform() == values[i]);
    REQUIRE(steps.uniform() == values[i]);
    if (i % 2 == 1) REQUIRE(std::abs(pairs[i] + pairs[i - 1]) <= 0x1p-19 * std::abs(pairs[i]));
  }
}

TEST_CASE("neighbouring seeds do not give shifted sequences") {
  const std::vector<float> a = random_vector(100, 1), b = random_vector(100, 2);
  for (int shift = 0; shift < 10; ++shift) CHECK_FALSE(std::equal(a.begin() + shift, a.end(), b.begin()));
}

TEST_CASE("uniform values fill [-1, 1)") {
  const std::vector<float> values = random_vector(100000, 5);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  CHECK(*low >= -1.0f);
  CHECK(*low < -0.999f);
  CHECK(*high < 1.0f);
  CHECK(*high > 0.999f);
  double sum = 0;
  for (float value : values) sum += value;
  CHECK(std::abs(sum / 100000) < 0.01);  // 5 standard deviations
}

TEST_CASE("the other distributions are what they say") {
  std::vector<float> wide = random_vector(10000, 5, Distribution::wide);
  const auto [low, high] =
      std::minmax_element(wide.begin(), wide.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
  CHECK(std::abs(*low) < 0x1p-19f);
  CHECK(std::abs(*high) > 0x1p19f);
  const std::vector<float> cancel = random_vector(1000, 5, Distribution::cancel);
  for (std::size_t i = 0; i < cancel.size(); i += 2)
    CHECK(std::abs(cancel[i] + cancel[i + 1]) <= 0x1p-19f * std::abs(cancel[i]));
  std::vector<int> seen(9);
  for (float value : random_vector(10000, 5, Distribution::integers)) {
    REQUIRE(value == std::trunc(value));
    REQUIRE(std::abs(value) <= 4);
    ++seen[static_cast<std::size_t>(value + 4)];
  }
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK((seen[i] > 1000) == (i != 4));
}

TEST_CASE("names of distributions") {
  for (const std::string& name : distribution_names()) CHECK(to_string(distribution_from(name)) == name);
  CHECK_THROWS_AS(distribution_from("normal"), std::invalid_argument);
}
