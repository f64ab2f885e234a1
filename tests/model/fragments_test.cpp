// Fragments of tensor cores: that a warp holds each element, and that its accesses reach each of them.
#include "model/fragments.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "model/warp_instruction.hpp"

namespace {

using namespace tilewise::sim::model;
using tilewise::sim::tensor::Element;
using tilewise::sim::tensor::Fragment;
using tilewise::sim::tensor::Part;

std::vector<Fragment> all_fragments() {
  std::vector<Fragment> all;
  for (const auto& [m, n, k] :
       {std::array{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8}, {16, 8, 16}, {16, 8, 8}, {8, 8, 4}}) {
    const auto add = [&, m = m, n = n, k = k](Part part, Element element) {
      all.push_back(
          {part, static_cast<std::uint8_t>(m), static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(k), element});
    };
    for (const Part part : {Part::a, Part::b}) {
      if (k == 4) {
        add(part, Element::f64);
      } else if (k == 8) {
        add(part, Element::tf32);
      } else {
        add(part, Element::f16);
        add(part, Element::bf16);
        add(part, Element::s8);
        add(part, Element::u8);
      }
    }
    if (k == 4) {
      add(Part::accumulator, Element::f64);
      continue;
    }
    add(Part::accumulator, Element::s32);
    add(Part::accumulator, Element::f32);
    add(Part::accumulator, Element::f16);
  }
  return all;
}

std::pair<unsigned, unsigned> size_of(const Fragment& f) {
  if (f.part == Part::a) return {f.m, f.k};
  if (f.part == Part::b) return {f.k, f.n};
  return {f.m, f.n};
}

}  // namespace

TEST_CASE("Fragments: the lanes of a warp hold each element, as often as there are copies", "[wmma]") {
  for (const Fragment& f : all_fragments()) {
    const auto [rows, columns] = size_of(f);
    INFO(static_cast<int>(f.part) << ", " << rows << " x " << columns << ", " << static_cast<int>(f.element));
    std::map<std::pair<unsigned, unsigned>, unsigned> held;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < elements_of(f); ++i) {
        const Place p = place_of(f, lane, i);
        REQUIRE(p.row < rows);
        REQUIRE(p.column < columns);
        ++held[{p.row, p.column}];
      }
    CHECK(held.size() == rows * columns);
    for (const auto& [place, times] : held) CHECK(times == copies_of(f));
  }
}

TEST_CASE("Fragments: the accesses of a warp reach each element once, in both layouts", "[wmma]") {
  for (const Fragment& f : all_fragments()) {
    const auto [rows, columns] = size_of(f);
    for (const bool column_major : {false, true})
      for (const bool in_shared : {false, true}) {
        INFO(static_cast<int>(f.part) << ", " << rows << " x " << columns << ", " << static_cast<int>(f.element)
                                      << ", column-major " << column_major << ", shared " << in_shared);
        std::map<std::pair<unsigned, unsigned>, unsigned> reached;
        for (const FragmentAccess& access : accesses_of(f, column_major, in_shared))
          for (unsigned lane = 0; lane < kLanes; ++lane) {
            if (!(access.mask >> lane & 1u)) continue;
            for (unsigned i = 0; i < access.bytes / bytes_of(f.element); ++i)
              ++reached[{access.at[lane].outer, access.at[lane].inner + i}];
          }
        const auto outer = column_major ? columns : rows, inner = column_major ? rows : columns;
        CHECK(reached.size() == rows * columns);
        for (const auto& [at, times] : reached) {
          CHECK(times == 1);
          CHECK(at.first < outer);
          CHECK(at.second < inner);
        }
      }
  }
}

TEST_CASE("Fragments: ldmatrix takes a pass for each 8 x 8 matrix, and more where its rows share banks", "[wmma]") {
  const auto passes = [](std::uint64_t row_bytes, std::uint32_t mask = ~0u) {
    std::uint64_t address[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) address[lane] = lane % 8 * row_bytes + lane / 8 * 16;
    return matrix_load_wavefronts({mask, 16, address});
  };
  CHECK(passes(16) == 4);
  CHECK(passes(80) == 4);
  CHECK(passes(144) == 4);
  CHECK(passes(64) == 4 * 4);
  CHECK(passes(128) == 4 * 8);
  CHECK(passes(256) == 4 * 8);
  CHECK(passes(128, 0xFFFFu) == 2 * 8);
  CHECK(passes(0) == 4);
  const std::uint64_t any[kLanes] = {};
  CHECK(ideal_matrix_load_wavefronts({~0u, 16, any}) == 4);
  CHECK(ideal_matrix_load_wavefronts({0xFFu, 16, any}) == 1);
}
