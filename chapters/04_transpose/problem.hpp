// What lesson 04 works on: a random matrix and its transpose. Plumbing; the lesson is in transpose.cuh.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/options.hpp"
#include "tilewise/pinned_buffer.hpp"
#include "tilewise/random.hpp"

/// The matrices of one shape: on the device, and on the host what must come out.
struct Problem {
  Problem(int rows, int cols, const tilewise::Options& options)
      : rows(rows),
        cols(cols),
        original(tilewise::random_vector(static_cast<std::size_t>(rows) * cols, options.seed(), options.data())),
        transposed(original.size()),
        got(original.size()),
        in(original),
        out(original.size()) {
    const std::size_t height = rows, width = cols, piece = 64;  // in pieces that fit in the cache
    for (std::size_t r0 = 0; r0 < height; r0 += piece)
      for (std::size_t c = 0; c < width; ++c)
        for (std::size_t r = r0; r < std::min(height, r0 + piece); ++r)
          transposed[c * height + r] = original[r * width + c];
  }

  /// Every element must be the very one: nothing is computed, so there is nothing to round.
  tilewise::Comparison check(const std::vector<float>& expected, int height, int width) {
    out.download(got.span());
    tilewise::Comparison comparison = tilewise::compare_exact(got.span(), expected, height, width);
    comparison.method = "every element, exactly";
    return comparison;
  }

  /// What move_tiles() must leave: the tiles of 64 x 64 as a transpose has them, their words in the old order.
  const std::vector<float>& tiles_moved() {
    if (!moved.empty()) return moved;
    moved.resize(original.size());
    const std::size_t height = rows, width = cols, tile = 64;
    for (std::size_t r = 0; r < height; ++r)
      for (std::size_t c = 0; c < width; ++c)
        moved[(c / tile * tile + r % tile) * height + r / tile * tile + c % tile] = original[r * width + c];
    return moved;
  }

  int rows, cols;
  std::vector<float> original, transposed, moved;
  tilewise::PinnedBuffer<float> got;
  tilewise::DeviceBuffer<float> in, out;
};
