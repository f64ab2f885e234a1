// What older programs call the allocator of a host_vector in pinned memory.
#ifndef TILEWISE_THRUST_PINNED_ALLOCATOR
#define TILEWISE_THRUST_PINNED_ALLOCATOR

#include <cuda_runtime_api.h>
#include <thrust/detail/config.h>
#include <thrust/system/detail/bad_alloc.h>

#include <cstddef>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace experimental {

template <typename T>
struct pinned_allocator {
  using value_type = T;

  pinned_allocator() = default;
  template <typename U>
  pinned_allocator(const pinned_allocator<U>&) {}

  T* allocate(std::size_t elements) {
    void* memory = nullptr;
    if (const cudaError_t error = cudaMallocHost(&memory, elements * sizeof(T)))
      throw thrust::system::detail::bad_alloc(cudaGetErrorString(error));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { cudaFreeHost(memory); }

  bool operator==(const pinned_allocator&) const { return true; }
};

}  // namespace experimental
}  // namespace cuda
}  // namespace system

namespace cuda {
namespace experimental = thrust::system::cuda::experimental;
}  // namespace cuda
THRUST_NAMESPACE_END

#endif
