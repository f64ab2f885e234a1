// Reads of textures, reads and writes of surfaces. What they cost is not counted; what is wrong with them is found.
#pragma once

#include <type_traits>

#include "texture_types.h"
#include "tilewise_sim/texture.hpp"
#include "vector_types.h"

namespace tilewise::sim::texture {

/// An element's type as channels.
template <class T>
struct Element {
  using Channel = T;
  static constexpr int channels = 1;
  static T of(const T* c) { return c[0]; }
};
#define TILEWISE_ELEMENT(name, channel)                                      \
  template <>                                                                \
  struct Element<name##1> {                                                  \
    using Channel = channel;                                                 \
    static name##1 of(const channel* c) { return {c[0]}; }                   \
  };                                                                         \
  template <>                                                                \
  struct Element<name##2> {                                                  \
    using Channel = channel;                                                 \
    static name##2 of(const channel* c) { return {c[0], c[1]}; }             \
  };                                                                         \
  template <>                                                                \
  struct Element<name##4> {                                                  \
    using Channel = channel;                                                 \
    static name##4 of(const channel* c) { return {c[0], c[1], c[2], c[3]}; } \
  }
TILEWISE_ELEMENT(char, signed char);
TILEWISE_ELEMENT(uchar, unsigned char);
TILEWISE_ELEMENT(short, short);
TILEWISE_ELEMENT(ushort, unsigned short);
TILEWISE_ELEMENT(int, int);
TILEWISE_ELEMENT(uint, unsigned);
TILEWISE_ELEMENT(float, float);
#undef TILEWISE_ELEMENT

template <class T>
T element(const Texel& texel) {
  using Channel = typename Element<T>::Channel;
  Channel channels[4];
  for (int i = 0; i < 4; ++i) {
    if constexpr (std::is_floating_point_v<Channel>)
      channels[i] = __builtin_bit_cast(float, texel.channel[i]);
    else
      channels[i] = static_cast<Channel>(texel.channel[i]);
  }
  return Element<T>::of(channels);
}

/// What the functions of surfaces take or give, moved without being counted.
template <class T>
TILEWISE_INLINE T surface_read(const void* place) {
  T value{};
  if (place != nullptr) raw_copy(&value, place, sizeof(T));
  return value;
}

}  // namespace tilewise::sim::texture

// ---------------------------------------------------------------- textures
// Each also in the older form, which writes to its first argument.
#define TILEWISE_TEXTURE(name, parameters, call)                                                          \
  template <class T>                                                                                      \
  TILEWISE_INLINE T name parameters {                                                                     \
    return ::tilewise::sim::texture::element<T>(call);                                                    \
  }                                                                                                       \
  template <class T, class... Rest>                                                                       \
  TILEWISE_INLINE std::enable_if_t<!std::is_void_v<T>> name(T* to, cudaTextureObject_t t, Rest... rest) { \
    *to = name<T>(t, rest...);                                                                            \
  }                                                                                                       \
  static_assert(true)
#define TILEWISE_FETCH(shape, x, y, z, layer) \
  ::tilewise::sim::texture::fetch(t, ::tilewise::sim::texture::Shape::shape, x, y, z, layer)

TILEWISE_TEXTURE(tex1Dfetch, (cudaTextureObject_t t, int x), ::tilewise::sim::texture::fetch_linear(t, x));
TILEWISE_TEXTURE(tex1D, (cudaTextureObject_t t, float x), TILEWISE_FETCH(one, x, 0, 0, -1));
TILEWISE_TEXTURE(tex2D, (cudaTextureObject_t t, float x, float y), TILEWISE_FETCH(two, x, y, 0, -1));
TILEWISE_TEXTURE(tex3D, (cudaTextureObject_t t, float x, float y, float z), TILEWISE_FETCH(three, x, y, z, -1));
TILEWISE_TEXTURE(tex1DLayered, (cudaTextureObject_t t, float x, int layer),
                 TILEWISE_FETCH(one, x, 0, 0, layer & 0x7fffffff));
TILEWISE_TEXTURE(tex2DLayered, (cudaTextureObject_t t, float x, float y, int layer),
                 TILEWISE_FETCH(two, x, y, 0, layer & 0x7fffffff));
TILEWISE_TEXTURE(texCubemap, (cudaTextureObject_t t, float x, float y, float z), TILEWISE_FETCH(cubemap, x, y, z, -1));
#undef TILEWISE_TEXTURE
#undef TILEWISE_FETCH

// ---------------------------------------------------------------- surfaces
namespace tilewise::sim::texture {
template <class T>
TILEWISE_INLINE void surface_write(const T& value, void* place) {
  if (place != nullptr) raw_copy(place, &value, sizeof(T));
}
}  // namespace tilewise::sim::texture

#define TILEWISE_PLACE(shape, y, z, writes) \
  ::tilewise::sim::texture::surface_place(s, ::tilewise::sim::texture::Shape::shape, x, y, z, sizeof(T), mode, writes)

template <class T>
TILEWISE_INLINE T surf1Dread(cudaSurfaceObject_t s, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return ::tilewise::sim::texture::surface_read<T>(TILEWISE_PLACE(one, 0, 0, false));
}
template <class T>
TILEWISE_INLINE T surf2Dread(cudaSurfaceObject_t s, int x, int y, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return ::tilewise::sim::texture::surface_read<T>(TILEWISE_PLACE(two, y, 0, false));
}
template <class T>
TILEWISE_INLINE T surf3Dread(cudaSurfaceObject_t s, int x, int y, int z,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return ::tilewise::sim::texture::surface_read<T>(TILEWISE_PLACE(three, y, z, false));
}
template <class T>
TILEWISE_INLINE T surf2DLayeredread(cudaSurfaceObject_t s, int x, int y, int layer,
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return ::tilewise::sim::texture::surface_read<T>(TILEWISE_PLACE(three, y, layer, false));
}
// The older forms, which write to their first argument.
template <class T>
TILEWISE_INLINE void surf1Dread(T* to, cudaSurfaceObject_t s, int x,
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  *to = surf1Dread<T>(s, x, mode);
}
template <class T>
TILEWISE_INLINE void surf2Dread(T* to, cudaSurfaceObject_t s, int x, int y,
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  *to = surf2Dread<T>(s, x, y, mode);
}
template <class T>
TILEWISE_INLINE void surf3Dread(T* to, cudaSurfaceObject_t s, int x, int y, int z,
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  *to = surf3Dread<T>(s, x, y, z, mode);
}
template <class T>
TILEWISE_INLINE void surf1Dwrite(T value, cudaSurfaceObject_t s, int x,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  ::tilewise::sim::texture::surface_write(value, TILEWISE_PLACE(one, 0, 0, true));
}
template <class T>
TILEWISE_INLINE void surf2Dwrite(T value, cudaSurfaceObject_t s, int x, int y,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  ::tilewise::sim::texture::surface_write(value, TILEWISE_PLACE(two, y, 0, true));
}
template <class T>
TILEWISE_INLINE void surf3Dwrite(T value, cudaSurfaceObject_t s, int x, int y, int z,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  ::tilewise::sim::texture::surface_write(value, TILEWISE_PLACE(three, y, z, true));
}
template <class T>
TILEWISE_INLINE void surf2DLayeredwrite(T value, cudaSurfaceObject_t s, int x, int y, int layer,
                                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  ::tilewise::sim::texture::surface_write(value, TILEWISE_PLACE(three, y, layer, true));
}
#undef TILEWISE_PLACE
