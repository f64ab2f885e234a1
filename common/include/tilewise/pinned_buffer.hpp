/// @file
/// Host memory that the device reads and writes without a detour: large results come back several times as fast.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

#include "tilewise/cuda_check.hpp"

namespace tilewise {

/// `size` elements of page-locked host memory, not initialised. Errors throw CudaError.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit PinnedBuffer(std::size_t size) : size_(size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    if (size > 0) CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { cudaFreeHost(data_); }  // a destructor must not throw

  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace tilewise
