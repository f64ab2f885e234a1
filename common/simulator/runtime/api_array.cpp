// CUDA arrays, and allocations, copies and fills in three dimensions.
#include <algorithm>
#include <vector>

#include "api.hpp"
#include "arrays.hpp"
#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "graph.hpp"
#include "model/order.hpp"

namespace tilewise::sim {

namespace {

constexpr std::size_t kRowAlignment = 512;  // of cudaMalloc3D

std::vector<cudaArray*>& arrays() {
  static auto* all = for_ever<std::vector<cudaArray*>>();
  return *all;
}

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags,
                       void* site) {
  constexpr unsigned kKnown = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
  if (array == nullptr || format == nullptr || extent.width == 0) return cudaErrorInvalidValue;
  if (!is_format(*format)) return cudaErrorInvalidChannelDescriptor;
  if ((flags & ~kKnown) != 0 || (extent.height == 0 && extent.depth != 0 && (flags & cudaArrayLayered) == 0))
    return cudaErrorInvalidValue;
  if ((flags & cudaArrayCubemap) != 0 && (extent.width != extent.height || extent.depth % 6 != 0))
    return cudaErrorInvalidValue;
  if (const cudaError_t error = graph::forbid_allocating()) return error;
  cudaArray made{nullptr, *format, extent, flags};
  made.memory =
      static_cast<char*>(memory::allocate(made.row_bytes() * made.rows() * made.slices(), memory::Kind::device, site));
  if (made.memory == nullptr) return cudaErrorMemoryAllocation;
  arrays().push_back(new cudaArray(made));
  *array = arrays().back();
  return cudaSuccess;
}

/// Part of an array, in bytes and rows of its first slice: where it begins; null when it isn't all inside.
char* part(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  if (!is_array(array) || x + width > array->row_bytes() || y + height > array->rows()) return nullptr;
  return array->memory + y * array->row_bytes() + x;
}

/// One side of a copy in three dimensions.
struct Side {
  char* begin = nullptr;
  std::size_t pitch = 0;  ///< bytes from row to row
  std::size_t slice = 0;  ///< and from slice to slice
};

Side side_of(cudaArray_const_t array, const cudaPos& at, const cudaPitchedPtr& pointer, std::size_t element) {
  Side side;
  if (array != nullptr) {
    side = {array->memory, array->row_bytes(), array->row_bytes() * array->rows()};
  } else {
    side = {static_cast<char*>(pointer.ptr), pointer.pitch, pointer.pitch * pointer.ysize};
  }
  if (side.begin != nullptr) side.begin += at.z * side.slice + at.y * side.pitch + at.x * element;
  return side;
}

/// Whether the array, if there is one, holds what is copied.
bool holds(cudaArray_const_t array, const cudaPos& at, const cudaExtent& extent) {
  if (array == nullptr) return true;
  return is_array(array) && at.x + extent.width <= array->extent.width && at.y + extent.height <= array->rows() &&
         at.z + extent.depth <= array->slices();
}

}  // namespace

cudaError_t copy_3d(const CopyCall& call, const cudaMemcpy3DParms& p) {
  if ((p.srcArray != nullptr) == (p.srcPtr.ptr != nullptr) || (p.dstArray != nullptr) == (p.dstPtr.ptr != nullptr))
    return cudaErrorInvalidValue;
  const cudaExtent& extent = p.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (!holds(p.srcArray, p.srcPos, extent) || !holds(p.dstArray, p.dstPos, extent)) return cudaErrorInvalidValue;
  const std::size_t element = p.srcArray ? p.srcArray->element_bytes() : p.dstArray ? p.dstArray->element_bytes() : 1;
  if (p.srcArray && p.dstArray && p.dstArray->element_bytes() != element) return cudaErrorInvalidValue;
  const Side from = side_of(p.srcArray, p.srcPos, p.srcPtr, element);
  const Side to = side_of(p.dstArray, p.dstPos, p.dstPtr, element);
  const std::size_t width = extent.width * element;
  if (from.slice == extent.height * from.pitch && to.slice == extent.height * to.pitch)  // no gap between slices
    return copy_rows(call, to.begin, to.pitch, from.begin, from.pitch, width, extent.height * extent.depth, p.kind);
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const cudaError_t error = copy_rows(call, to.begin + z * to.slice, to.pitch, from.begin + z * from.slice,
                                        from.pitch, width, extent.height, p.kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

namespace {

cudaError_t fill_3d(const CopyCall& call, const cudaPitchedPtr& to, int value, const cudaExtent& extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const slice = static_cast<char*>(to.ptr) + z * to.pitch * to.ysize;
    if (const cudaError_t error = fill(call, slice, to.pitch, value, extent.width, extent.height)) return error;
  }
  return cudaSuccess;
}

cudaError_t to_array(const CopyCall& call, cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                     std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  char* const place = part(to, x, y, width, height);
  if (place == nullptr) return cudaErrorInvalidValue;
  return copy_rows(call, place, to->row_bytes(), from, pitch, width, height, kind);
}

cudaError_t from_array(const CopyCall& call, void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                       std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const char* const place = part(from, x, y, width, height);
  if (place == nullptr) return cudaErrorInvalidValue;
  return copy_rows(call, to, pitch, place, from->row_bytes(), width, height, kind);
}

/// So many bytes of an array from there on, over the ends of rows: what the deprecated copies take.
char* bytes_of(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t bytes) {
  if (!is_array(array)) return nullptr;
  const std::size_t begin = y * array->row_bytes() + x;
  return begin + bytes <= array->row_bytes() * array->rows() ? array->memory + begin : nullptr;
}

}  // namespace

bool is_array(cudaArray_const_t array) { return std::find(arrays().begin(), arrays().end(), array) != arrays().end(); }

bool is_format(const cudaChannelFormatDesc& format) {
  const int bits = format.x;
  if (bits != 8 && bits != 16 && bits != 32) return false;
  if (format.f == cudaChannelFormatKindFloat ? bits == 8 : format.f > cudaChannelFormatKindFloat) return false;
  const bool two = format.y == bits, four = two && format.z == bits && format.w == bits;
  return four || ((two || format.y == 0) && format.z == 0 && format.w == 0);
}

}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- allocating

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned int flags) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return make_array(array, format, {width, height, 0}, flags, site); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return make_array(array, format, extent, flags, site); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (array == nullptr) return cudaSuccess;
    if (!is_array(array)) return cudaErrorInvalidValue;
    order::host_waits_for_device(memory::find(array->memory)->device);
    memory::release(array->memory, site);
    arrays().erase(std::find(arrays().begin(), arrays().end(), array));
    delete array;
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  return api([=] {
    if (!is_array(array)) return cudaErrorInvalidResourceHandle;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return api([=] {
    if (format == nullptr || !is_array(array)) return cudaErrorInvalidValue;
    *format = array->format;
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = graph::forbid_allocating()) return error;
    const std::size_t pitch = round_up(extent.width, kRowAlignment);
    const std::size_t bytes = product(product(pitch, extent.height), extent.depth);
    if (bytes == kTooMany) return cudaErrorMemoryAllocation;
    *pointer = {nullptr, pitch, extent.width, extent.height};
    if (bytes == 0) return cudaSuccess;
    pointer->ptr = memory::allocate(bytes, memory::Kind::device, site);
    return pointer->ptr ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

// ---------------------------------------------------------------- copying and filling

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return parameters ? copy_3d({"cudaMemcpy3D", site}, *parameters) : cudaErrorInvalidValue; });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = on_stream(stream);
    return error ? error : copy_3d({"cudaMemcpy3DAsync", site, stream, true}, *parameters);
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return fill_3d({"cudaMemset3D", site}, to, value, extent); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error : fill_3d({"cudaMemset3DAsync", site, stream, true}, to, value, extent);
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return to_array({"cudaMemcpy2DToArray", site}, to, x, y, from, pitch, width, height, kind); });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error
               ? error
               : to_array({"cudaMemcpy2DToArrayAsync", site, stream, true}, to, x, y, from, pitch, width, height, kind);
  });
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return from_array({"cudaMemcpy2DFromArray", site}, to, pitch, from, x, y, width, height, kind); });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error
                 : from_array({"cudaMemcpy2DFromArrayAsync", site, stream, true}, to, pitch, from, x, y, width, height,
                              kind);
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t fromX,
                                     size_t fromY, size_t width, size_t height, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const char* const place = part(from, fromX, fromY, width, height);
    if (place == nullptr) return cudaErrorInvalidValue;
    return to_array({"cudaMemcpy2DArrayToArray", site}, to, x, y, place, from->row_bytes(), width, height, kind);
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    char* const place = bytes_of(to, x, y, bytes);
    return place ? copy({"cudaMemcpyToArray", site}, place, from, bytes, kind) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const char* const place = bytes_of(from, x, y, bytes);
    return place ? copy({"cudaMemcpyFromArray", site}, to, place, bytes, kind) : cudaErrorInvalidValue;
  });
}
