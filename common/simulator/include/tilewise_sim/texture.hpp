// What <tilewise_device/texture.hpp> calls: a texture's or a surface's element, implemented in runtime/textures.cpp.
#pragma once

#include "tilewise_sim/device.hpp"

namespace tilewise::sim::texture {

enum class Shape : unsigned { one, two, three, cubemap };

/// The four channels of what a texture gives: floats, or whole numbers, as their bits.
struct Texel {
  unsigned channel[4];
};

/// At these coordinates, which may lie between elements. `layer`: of a layered texture, else -1.
TILEWISE_DISTINCT Texel fetch(unsigned long long texture, Shape shape, float x, float y, float z, int layer);
/// Of linear memory.
TILEWISE_DISTINCT Texel fetch_linear(unsigned long long texture, int index);

/// Where the surface's bytes begin that lie `x` bytes from the left, for a read or write of `bytes`; null where they lie outside and are
/// to be left out. `mode` is a cudaSurfaceBoundaryMode.
TILEWISE_DISTINCT void* surface_place(unsigned long long surface, Shape shape, int x, int y, int z, unsigned bytes,
                                      int mode, bool writes);

}  // namespace tilewise::sim::texture
