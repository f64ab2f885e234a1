// Vectors in device memory, and in managed memory.
#ifndef TILEWISE_THRUST_VECTOR
#define TILEWISE_THRUST_VECTOR

#include <thrust/detail/vector_base.h>
#include <thrust/system/cpp/vector.h>
#include <thrust/system/cuda/memory.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {

template <typename T, typename Allocator = allocator<T>>
using vector = thrust::detail::vector_base<T, Allocator>;
template <typename T, typename Allocator = universal_allocator<T>>
using universal_vector = thrust::detail::vector_base<T, Allocator>;
template <typename T>
using universal_host_pinned_vector = thrust::detail::vector_base<T, universal_host_pinned_allocator<T>>;

}  // namespace cuda
}  // namespace system

namespace cuda {
using thrust::system::cuda::universal_host_pinned_vector;
using thrust::system::cuda::universal_vector;
using thrust::system::cuda::vector;
}  // namespace cuda
THRUST_NAMESPACE_END

#endif
