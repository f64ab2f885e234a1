#include "model/tensor_product.hpp"

#include <bit>
#include <cmath>
#include <cstring>
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

float value_of(Element element, const void* x, unsigned i) {
  if (element == Element::f16) return Half::value_of(static_cast<const std::uint16_t*>(x)[i]);
  if (element == Element::bf16) return Bfloat16::value_of(static_cast<const std::uint16_t*>(x)[i]);
  const float value = static_cast<const float*>(x)[i];
  return element == Element::tf32 ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffffe000u) : value;
}

void gather(const Fragment& f, const OfLanes<const void*>& lanes, float* matrix) {
  const Places& places = places_of(f);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < places.elements; ++i)
      matrix[places.index[lane][i]] = value_of(f.element, lanes.x[lane], i);
}

void scatter(const Fragment& f, const float* matrix, const OfLanes<void*>& lanes) {
  const Places& places = places_of(f);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < places.elements; ++i) {
      const float value = matrix[places.index[lane][i]];
      if (f.element == Element::f16)
        static_cast<std::uint16_t*>(lanes.x[lane])[i] = Half::rounded(value);
      else
        static_cast<float*>(lanes.x[lane])[i] = std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value;
    }
}

}  // namespace

void multiply(const tensor::Product& p, const OfLanes<void*>& d, const OfLanes<const void*>& a,
              const OfLanes<const void*>& b, const OfLanes<const void*>& c) {
  float left[kMostElements], right[kMostElements], sum[kMostElements];
  gather({Part::a, p.m, p.n, p.k, p.input}, a, left);
  gather({Part::b, p.m, p.n, p.k, p.input}, b, right);
  gather({Part::accumulator, p.m, p.n, p.k, p.c}, c, sum);
  for (unsigned row = 0; row < p.m; ++row)
    for (unsigned k = 0; k < p.k; ++k) {
      const double factor = left[row * p.k + k];
      for (unsigned column = 0; column < p.n; ++column) {
        float& s = sum[row * p.n + column];
        s = static_cast<float>(s + factor * right[k * p.n + column]);  // the product is exact in a double
      }
    }
  scatter({Part::accumulator, p.m, p.n, p.k, p.d}, sum, d);
}

}  // namespace tilewise::sim::model
