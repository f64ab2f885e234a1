#include "tilewise/random.hpp"

#include <cmath>
#include <stdexcept>

#include "parallel.hpp"

namespace tilewise {
namespace {

struct Name {
  Distribution distribution;
  const char* name;
};
constexpr Name kNames[] = {{Distribution::uniform, "uniform"},
                           {Distribution::wide, "wide"},
                           {Distribution::cancel, "cancel"},
                           {Distribution::integers, "integers"}};

// +-(1 + mantissa) 2^exponent, every part drawn from its own bits.
float wide(Random& random) {
  const std::uint64_t bits = random.bits();
  const float mantissa = 1.0f + static_cast<float>(bits >> 41) * 0x1p-23f;  // 23 bits: [1, 2)
  const int exponent = static_cast<int>((bits & 0xFFFF) % 41) - 20;
  return std::ldexp((bits & 0x10000) ? -mantissa : mantissa, exponent);
}

float integer(Random& random) {
  const int value = static_cast<int>(random.bits() >> 61);  // 0..7
  return static_cast<float>(value < 4 ? value - 4 : value - 3);
}

}  // namespace

Distribution distribution_from(std::string_view name) {
  for (const Name& known : kNames)
    if (name == known.name) return known.distribution;
  throw std::invalid_argument("no distribution is called '" + std::string(name) + "'");
}

std::string to_string(Distribution distribution) {
  for (const Name& known : kNames)
    if (distribution == known.distribution) return known.name;
  return "?";
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const Name& known : kNames) names.emplace_back(known.name);
  return names;
}

std::vector<float> random_vector(std::size_t size, std::uint64_t seed, Distribution distribution) {
  // The seed itself goes through the generator, so that seeds 1 and 2 do not give shifted copies of one sequence.
  const std::uint64_t start = Random(seed).bits();
  std::vector<float> values = zeros<float>(size);
  // Each value takes one number of the sequence, so a panel can begin with its own. Panels are even: pairs stay whole.
  parallel_panels(size, std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
    Random random = Random::at(start, begin);
    switch (distribution) {
      case Distribution::uniform:
        for (std::size_t i = begin; i < end; ++i) values[i] = random.uniform();
        break;
      case Distribution::wide:
        for (std::size_t i = begin; i < end; ++i) values[i] = wide(random);
        break;
      case Distribution::cancel:
        for (std::size_t i = begin; i < end; ++i)
          values[i] = i % 2 == 0 ? random.uniform() : -values[i - 1] * (1.0f + 0x1p-20f * random.uniform());
        break;
      case Distribution::integers:
        for (std::size_t i = begin; i < end; ++i) values[i] = integer(random);
        break;
    }
  });
  return values;
}

}  // namespace tilewise
