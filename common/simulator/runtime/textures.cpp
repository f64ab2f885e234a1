// Textures and surfaces: what a kernel reads of them, by the rules of the CUDA C++ Programming Guide, "Texture Fetching".
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "api.hpp"
#include "arrays.hpp"
#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/observer.hpp"
#include "tilewise_sim/texture.hpp"

namespace tilewise::sim {

namespace {

using texture::Shape;
using texture::Texel;

/// What a texture or surface shows: elements in up to three dimensions.
struct Shown {
  char* begin = nullptr;
  cudaChannelFormatDesc format{};
  long width = 0, height = 1, depth = 1;
  std::size_t pitch = 0, slice = 0;

  int channels() const { return 1 + (format.y != 0) + (format.z != 0) + (format.w != 0); }
  std::size_t element_bytes() const { return static_cast<std::size_t>(format.x / 8 * channels()); }
};

struct Texture {
  cudaResourceDesc resource{};
  cudaTextureDesc desc{};
  Shown shown;
  bool live = false;
};

/// Objects by their numbers, which begin at 1.
struct Objects {
  std::vector<Texture> textures, surfaces;
};
Objects& objects() {
  static auto* all = for_ever<Objects>();
  return *all;
}
std::vector<Texture>& textures() { return objects().textures; }
std::vector<Texture>& surfaces() { return objects().surfaces; }

Texture* known(std::vector<Texture>& all, unsigned long long number) {
  return number - 1 < all.size() && all[number - 1].live ? &all[number - 1] : nullptr;
}

/// The object that a kernel uses, which ends here if there is none.
Texture& used(std::vector<Texture>& all, unsigned long long number, const char* what, const void* site) {
  if (current_lane == nullptr) unsupported("a texture or surface in host code");
  if (Texture* found = known(all, number)) return *found;
  end_launch_for("no-texture",
                 std::string("there is no such ") + what + (number - 1 < all.size() ? ": it was destroyed" : ""),
                 *current_lane, site, cudaErrorIllegalAddress);
}

bool show(const cudaResourceDesc& resource, Shown& shown) {
  if (resource.resType == cudaResourceTypeArray) {
    const cudaArray_const_t array = resource.res.array.array;
    if (!is_array(array)) return false;
    shown = {array->memory,
             array->format,
             static_cast<long>(array->extent.width),
             static_cast<long>(array->rows()),
             static_cast<long>(array->slices()),
             array->row_bytes(),
             array->row_bytes() * array->rows()};
    return true;
  }
  if (resource.resType == cudaResourceTypeLinear) {
    const auto& linear = resource.res.linear;
    shown = {static_cast<char*>(linear.devPtr), linear.desc};
    if (!is_format(linear.desc) || linear.devPtr == nullptr) return false;
    shown.width = static_cast<long>(linear.sizeInBytes / shown.element_bytes());
    return true;
  }
  if (resource.resType != cudaResourceTypePitch2D) return false;
  const auto& rows = resource.res.pitch2D;
  shown = {static_cast<char*>(rows.devPtr), rows.desc, static_cast<long>(rows.width),
           static_cast<long>(rows.height),  1,         rows.pitchInBytes};
  constexpr std::uintptr_t kTextureAlignment = 512, kPitchAlignment = 32;
  return is_format(rows.desc) && rows.devPtr != nullptr && rows.pitchInBytes % kPitchAlignment == 0 &&
         reinterpret_cast<std::uintptr_t>(rows.devPtr) % kTextureAlignment == 0 &&
         rows.pitchInBytes >= rows.width * shown.element_bytes();
}

template <class Object>
cudaError_t add(std::vector<Texture>& all, Object* object, Texture made) {
  made.live = true;
  all.push_back(made);
  *object = all.size();
  return cudaSuccess;
}

// ---------------------------------------------------------------- one element

/// Looks at the access as at a load or store of the thread's, which is checked and not counted. `lane`: null when it isn't observed.
void look(Lane* lane, const void* address, std::size_t bytes, bool writes, const void* site) {
  if (lane != nullptr)
    observer::look(*lane, address, bytes, writes ? observer::Access::store : observer::Access::load, site);
}

float half_as_float(unsigned bits) {
  const float magnitude = (bits & 0x7C00) == 0
                              ? std::ldexp(static_cast<float>(bits & 0x3FF), -24)
                              : std::ldexp(static_cast<float>(0x400 | (bits & 0x3FF)), int(bits >> 10 & 31) - 25);
  const float value = (bits & 0x7C00) != 0x7C00 ? magnitude : (bits & 0x3FF) != 0 ? NAN : INFINITY;
  return (bits & 0x8000) != 0 ? -value : value;
}

/// One channel, as the bits of a float or of a whole number.
unsigned channel(const cudaChannelFormatDesc& format, const char* at, bool normalized) {
  unsigned bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(format.x / 8));
  if (format.f == cudaChannelFormatKindFloat)
    return format.x == 32 ? bits : __builtin_bit_cast(unsigned, half_as_float(bits));
  const bool is_signed = format.f == cudaChannelFormatKindSigned;
  const int unused = 32 - format.x;
  const int number = static_cast<int>(bits << unused) >> unused;
  if (!normalized) return is_signed ? static_cast<unsigned>(number) : bits;
  const float most = static_cast<float>((1u << (format.x - is_signed)) - 1);
  const float value = is_signed ? std::max(static_cast<float>(number) / most, -1.0f) : static_cast<float>(bits) / most;
  return __builtin_bit_cast(unsigned, value);
}

/// An index after the address mode; -1: outside, where the border is.
long address(long i, long n, cudaTextureAddressMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case cudaAddressModeClamp:
      return i < 0 ? 0 : n - 1;
    case cudaAddressModeWrap:
      return (i % n + n) % n;
    case cudaAddressModeMirror: {
      const long m = (i % (2 * n) + 2 * n) % (2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    default:
      return -1;
  }
}

/// A texture on its way through a fetch: where, and by which modes.
struct Fetch {
  Lane* const lane = observed_lane;
  const Unobserved guard{};
  const Texture& texture;
  const void* site;
  bool floats;  ///< the channels are floats, not whole numbers
  cudaTextureAddressMode modes[3];

  Fetch(const Texture& t, const void* from) : texture(t), site(from) {
    floats = t.shown.format.f == cudaChannelFormatKindFloat || t.desc.readMode == cudaReadModeNormalizedFloat;
    for (int i = 0; i < 3; ++i) {
      modes[i] = t.desc.addressMode[i];
      const bool repeats = modes[i] == cudaAddressModeWrap || modes[i] == cudaAddressModeMirror;
      if (repeats && !t.desc.normalizedCoords) modes[i] = cudaAddressModeClamp;
    }
  }

  Texel border() const {
    Texel texel{};
    for (int i = 0; i < 4 && floats; ++i) texel.channel[i] = __builtin_bit_cast(unsigned, texture.desc.borderColor[i]);
    return texel;
  }

  Texel at(long x, long y, long z) const {
    const Shown& s = texture.shown;
    x = address(x, s.width, modes[0]), y = address(y, s.height, modes[1]), z = address(z, s.depth, modes[2]);
    return x < 0 || y < 0 || z < 0 ? border() : inside(x, y, z);
  }

  Texel inside(long x, long y, long z) const {
    const Shown& s = texture.shown;
    const char* const place = s.begin + static_cast<std::size_t>(z) * s.slice + static_cast<std::size_t>(y) * s.pitch +
                              static_cast<std::size_t>(x) * s.element_bytes();
    look(lane, place, s.element_bytes(), false, site);
    Texel texel{};
    for (int i = 0; i < s.channels(); ++i)
      texel.channel[i] =
          channel(s.format, place + i * s.format.x / 8, texture.desc.readMode == cudaReadModeNormalizedFloat);
    return texel;
  }
};

/// Where linear filtering reads in one dimension: two neighbours, and the second one's weight in 1/256. Measured on an H100, as are the
/// weights of several dimensions, which it rounds to as many bits: in one and two dimensions 2 of 24,576 results of floats differ, in three
/// 56 of 12,288.
struct Between {
  long first;
  int weight;

  explicit Between(float x) {
    const auto fixed = static_cast<long>(std::floor((static_cast<double>(x) - 0.5) * 256 + 0.5));
    first = fixed >> 8;
    weight = static_cast<int>(fixed & 255);
  }
};

constexpr int rounded(int product) { return (product + 128) >> 8; }

/// The weights of eight neighbours, in 1/256: bit 0 of an index is right, bit 1 below, bit 2 behind.
struct Weights {
  int of[8];

  Weights(int x, int y, int z) {
    const int both = rounded(x * z);
    const int above[4] = {256 - x - z + both, x - both, z - both, both};  // right is bit 0, behind bit 1
    for (int n = 0; n < 4; ++n) {
      const int at = (n & 1) | (n & 2) << 1;
      const bool right = n & 1;  // a half goes to the right
      of[at | 2] = (above[n] * y + 127 + right) >> 8;
      of[at] = above[n] - of[at | 2];
    }
  }
};

/// The weighted mean of up to eight neighbours. A layer isn't filtered: its weight is 0.
Texel filtered(const Fetch& fetch, Between x, Between y, Between z) {
  const Weights weights(x.weight, y.weight, z.weight);
  double sums[4] = {};
  for (int n = 0; n < 8; ++n) {
    if (weights.of[n] == 0) continue;
    const Texel texel = fetch.at(x.first + (n & 1), y.first + (n >> 1 & 1), z.first + (n >> 2));
    for (int i = 0; i < 4; ++i) sums[i] += weights.of[n] * double{__builtin_bit_cast(float, texel.channel[i])};
  }
  Texel result;
  for (int i = 0; i < 4; ++i) result.channel[i] = __builtin_bit_cast(unsigned, static_cast<float>(sums[i] / 256));
  return result;
}

/// A direction as a face of a cube and a place on it, from 0 to 1.
struct OnCube {
  int face;
  float u, v;

  OnCube(float x, float y, float z) {
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    float s, t, most;
    if (ax >= ay && ax >= az)
      face = x < 0, most = ax, s = x < 0 ? z : -z, t = -y;
    else if (ay >= az)
      face = 2 + (y < 0), most = ay, s = x, t = y < 0 ? -z : z;
    else
      face = 4 + (z < 0), most = az, s = z < 0 ? -x : x, t = -y;
    u = (s / most + 1) / 2, v = (t / most + 1) / 2;
  }
};

}  // namespace

namespace texture {

Texel fetch(unsigned long long number, Shape shape, float x, float y, float z, int layer) {
  const void* const site = TILEWISE_CALLER;
  const Texture& t = used(textures(), number, "texture", site);
  Fetch fetch(t, site);
  const Shown& s = t.shown;
  if (shape == Shape::cubemap) {
    const OnCube place(x, y, z);
    layer = place.face, x = place.u, y = place.v, z = 0;
  }
  if (t.desc.normalizedCoords || shape == Shape::cubemap) {
    x *= static_cast<float>(s.width), y *= static_cast<float>(s.height), z *= static_cast<float>(s.depth);
  }
  if (layer >= 0)
    z = static_cast<float>(std::min<long>(layer, s.depth - 1));  // a negative one is the last, as on an H100
  if (shape == Shape::one) y = 0;
  if (shape != Shape::three) fetch.modes[2] = cudaAddressModeClamp;
  if (t.desc.filterMode == cudaFilterModePoint) {
    const auto whole = [](float v) { return static_cast<long>(std::floor(v)); };
    return fetch.at(whole(x), whole(y), whole(z));
  }
  // One dimension is filtered as two at y = 0, where half of the weight lies on a border, as on an H100.
  return filtered(fetch, Between(x), Between(y), Between(shape == Shape::three ? z : z + 0.5f));
}

Texel fetch_linear(unsigned long long number, int index) {
  const void* const site = TILEWISE_CALLER;
  const Texture& t = used(textures(), number, "texture", site);
  return index < 0 || index >= t.shown.width ? Texel{} : Fetch(t, site).inside(index, 0, 0);
}

void* surface_place(unsigned long long number, Shape shape, int x, int y, int z, unsigned bytes, int mode,
                    bool writes) {
  const void* const site = TILEWISE_CALLER;
  const Shown& s = used(surfaces(), number, "surface", site).shown;
  long at = x / static_cast<long>(bytes), row = shape == Shape::one ? 0 : y, plane = shape == Shape::three ? z : 0;
  const long width = static_cast<long>(s.pitch / bytes);
  const bool outside = x < 0 || at >= width || row < 0 || row >= s.height || plane < 0 || plane >= s.depth;
  if (outside && mode == cudaBoundaryModeZero) return nullptr;
  if (outside && mode == cudaBoundaryModeClamp) {
    at = std::clamp(at, 0l, width - 1), row = std::clamp(row, 0l, s.height - 1),
    plane = std::clamp(plane, 0l, s.depth - 1);
  } else if (outside) {
    std::string message = "this thread " + std::string(writes ? "writes" : "reads") + " byte " + std::to_string(x) +
                          " of row " + std::to_string(row) + " of a surface of " + std::to_string(s.height) +
                          " rows of " + std::to_string(s.pitch) + " bytes; its x counts bytes";
    end_launch_for("out-of-bounds", std::move(message), *current_lane, site, cudaErrorIllegalAddress);
  }
  char* const place = s.begin + static_cast<std::size_t>(plane) * s.slice + static_cast<std::size_t>(row) * s.pitch +
                      static_cast<std::size_t>(outside ? at * bytes : x);
  Lane* const lane = observed_lane;
  const Unobserved guard;
  look(lane, place, bytes, writes, site);
  return place;
}

}  // namespace texture

namespace {

bool filters_numbers(const Shown& shown, const cudaTextureDesc& desc) {
  return desc.filterMode == cudaFilterModeLinear && desc.readMode == cudaReadModeElementType &&
         shown.format.f != cudaChannelFormatKindFloat;
}

cudaError_t create_texture(cudaTextureObject_t* texture, const cudaResourceDesc* resource, const cudaTextureDesc* desc,
                           const cudaResourceViewDesc* view) {
  if (texture == nullptr || resource == nullptr || desc == nullptr) return cudaErrorInvalidValue;
  if (view != nullptr) unsupported("a view of a texture's resource (cudaResourceViewDesc)");
  if (desc->sRGB != 0) unsupported("a texture in sRGB");
  Texture made{*resource, *desc, {}, true};
  if (!show(*resource, made.shown)) return cudaErrorInvalidValue;
  if (filters_numbers(made.shown, *desc)) return cudaErrorInvalidFilterSetting;
  if (desc->readMode == cudaReadModeNormalizedFloat && made.shown.format.x == 32 &&
      made.shown.format.f != cudaChannelFormatKindFloat)
    return cudaErrorInvalidNormSetting;
  return add(textures(), texture, made);
}

cudaError_t destroy(std::vector<Texture>& all, unsigned long long number) {
  Texture* const found = known(all, number);
  if (found == nullptr) return cudaErrorInvalidValue;
  found->live = false;
  return cudaSuccess;
}

}  // namespace

}  // namespace tilewise::sim

using namespace tilewise::sim;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* desc, const cudaResourceViewDesc* view) {
  ++memory::changes;
  return api([=] { return create_texture(texture, resource, desc, view); });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  ++memory::changes;
  return api([=] { return destroy(textures(), texture); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  return api([=] {
    const Texture* found = known(textures(), texture);
    if (found == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    *resource = found->resource;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* desc, cudaTextureObject_t texture) {
  return api([=] {
    const Texture* found = known(textures(), texture);
    if (found == nullptr || desc == nullptr) return cudaErrorInvalidValue;
    *desc = found->desc;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  ++memory::changes;
  return api([=] {
    Texture made;
    if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    if (!show(*resource, made.shown) || (resource->res.array.array->flags & cudaArraySurfaceLoadStore) == 0)
      return cudaErrorInvalidValue;
    return add(surfaces(), surface, made);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  ++memory::changes;
  return api([=] { return destroy(surfaces(), surface); });
}
