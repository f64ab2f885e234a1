// Allocators of device memory.
#ifndef TILEWISE_THRUST_MEMORY
#define TILEWISE_THRUST_MEMORY

#include <thrust/memory.h>
#include <thrust/mr/allocator.h>
#include <thrust/system/cpp/memory.h>
#include <thrust/system/cuda/memory_resource.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {

inline pointer<void> malloc(std::size_t bytes) {
  return pointer<void>(::tilewise::sim::allocate_for_algorithms(bytes));
}
template <typename T>
pointer<T> malloc(std::size_t elements) {
  return pointer<T>(static_cast<T*>(::tilewise::sim::allocate_for_algorithms(elements * sizeof(T))));
}
inline void free(pointer<void> memory) { ::tilewise::sim::free_of_algorithms(memory.get()); }

template <typename T>
using allocator = thrust::mr::stateless_resource_allocator<T, memory_resource>;
template <typename T>
using universal_allocator = thrust::mr::stateless_resource_allocator<T, universal_memory_resource>;
template <typename T>
using universal_host_pinned_allocator =
    thrust::mr::stateless_resource_allocator<T, universal_host_pinned_memory_resource>;

}  // namespace cuda
}  // namespace system

namespace cuda {
using thrust::system::cuda::allocator;
using thrust::system::cuda::free;
using thrust::system::cuda::malloc;
using thrust::system::cuda::universal_allocator;
using thrust::system::cuda::universal_host_pinned_allocator;
}  // namespace cuda
THRUST_NAMESPACE_END

#endif
