#include "model/tensor_product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/fragments.hpp"
#include "tilewise_device/half_format.hpp"

namespace tilewise::sim::model {

using half_detail::Bfloat16;
using half_detail::Half;
using tensor::Element;
using tensor::Fragment;
using tensor::Part;

namespace {

constexpr unsigned kMostElements = 32 * 16;  // of a matrix

// Where the distinct elements of all lanes lie.
struct Places {
  Fragment fragment{};
  unsigned elements = 0;  // of a lane
  std::uint16_t index[kLanes][16];
};

// Computed once for each fragment.
const Places& places_of(const Fragment& f) {
  static auto& known = *new std::vector<std::pair<Fragment, Places*>>;
  for (const auto& [fragment, places] : known)
    if (fragment == f) return *places;
  auto* places = new Places{f, elements_of(f) / copies_of(f), {}};
  const unsigned columns = f.part == Part::a ? f.k : f.n;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < places->elements; ++i) {
      const Place p = place_of(f, lane, i);
      places->index[lane][i] = static_cast<std::uint16_t>(p.row * columns + p.column);
    }
  known.emplace_back(f, places);
  return *places;
}

// An element as a number that the product is computed with: float, int or double.
template <class Number>
Number value_of(Element element, const void* x, unsigned i) {
  if constexpr (std::is_same_v<Number, double>) return static_cast<const double*>(x)[i];
  if constexpr (std::is_same_v<Number, std::int32_t>) {
    if (element == Element::s8) return static_cast<const std::int8_t*>(x)[i];
    if (element == Element::u8) return static_cast<const std::uint8_t*>(x)[i];
    return static_cast<const std::int32_t*>(x)[i];
  }
  if (element == Element::f16) return Half::value_of(static_cast<const std::uint16_t*>(x)[i]);
  if (element == Element::bf16) return Bfloat16::value_of(static_cast<const std::uint16_t*>(x)[i]);
  const float value = static_cast<const float*>(x)[i];
  return element == Element::tf32 ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffffe000u) : value;
}

template <class Number>
void gather(const Fragment& f, const OfLanes<const void*>& lanes, Number* matrix) {
  const Places& places = places_of(f);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < places.elements; ++i)
      matrix[places.index[lane][i]] = value_of<Number>(f.element, lanes.x[lane], i);
}

template <class Number>
void scatter(const Fragment& f, const Number* matrix, const OfLanes<void*>& lanes) {
  const Places& places = places_of(f);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < places.elements; ++i) {
      const Number value = matrix[places.index[lane][i]];
      if constexpr (!std::is_same_v<Number, float>)
        static_cast<Number*>(lanes.x[lane])[i] = value;
      else if (f.element == Element::f16)
        static_cast<std::uint16_t*>(lanes.x[lane])[i] = Half::rounded(value);
      else
        static_cast<float*>(lanes.x[lane])[i] = std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value;
    }
}

// s + a b
float sum_of(float s, float a, float b, bool) {
  return static_cast<float>(s + static_cast<double>(a) * b);  // the product is exact in a double
}
double sum_of(double s, double a, double b, bool) { return std::fma(a, b, s); }
std::int32_t sum_of(std::int32_t s, std::int32_t a, std::int32_t b, bool saturates) {
  const std::int64_t sum = s + std::int64_t{a} * b;
  using Limits = std::numeric_limits<std::int32_t>;
  if (!saturates) return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
}

template <class Number>
void multiply_as(const tensor::Product& p, const OfLanes<void*>& d, const OfLanes<const void*>& a,
                 const OfLanes<const void*>& b, const OfLanes<const void*>& c) {
  Number left[kMostElements], right[kMostElements], sum[kMostElements];
  gather({Part::a, p.m, p.n, p.k, p.input}, a, left);
  gather({Part::b, p.m, p.n, p.k, p.input}, b, right);
  gather({Part::accumulator, p.m, p.n, p.k, p.c}, c, sum);
  for (unsigned row = 0; row < p.m; ++row)
    for (unsigned k = 0; k < p.k; ++k) {
      const Number factor = left[row * p.k + k];
      for (unsigned column = 0; column < p.n; ++column) {
        Number& s = sum[row * p.n + column];
        s = sum_of(s, factor, right[k * p.n + column], p.saturates);
      }
    }
  scatter({Part::accumulator, p.m, p.n, p.k, p.d}, sum, d);
}

}  // namespace

void multiply(const tensor::Product& p, const OfLanes<void*>& d, const OfLanes<const void*>& a,
              const OfLanes<const void*>& b, const OfLanes<const void*>& c) {
  if (p.input == Element::s8 || p.input == Element::u8)
    multiply_as<std::int32_t>(p, d, a, b, c);
  else if (p.input == Element::f64)
    multiply_as<double>(p, d, a, b, c);
  else
    multiply_as<float>(p, d, a, b, c);
}

}  // namespace tilewise::sim::model
