// CUDA arrays: device memory whose rows lie close together. On a GPU its order is the hardware's secret; here nobody can see it either.
#pragma once

#include <cstddef>

#include "texture_types.h"

struct cudaArray {
  char* memory;
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as the program gave it: a height or depth of 0 means that there is no such dimension
  unsigned flags;

  std::size_t element_bytes() const { return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8; }
  std::size_t row_bytes() const { return extent.width * element_bytes(); }
  std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
};

namespace tilewise::sim {

/// Whether the array was made by cudaMallocArray or cudaMalloc3DArray and not freed.
bool is_array(cudaArray_const_t array);

/// Whether these are the channels of an element that a texture can have.
bool is_format(const cudaChannelFormatDesc& format);

}  // namespace tilewise::sim
