// Temporary memory of algorithms: in host code the host's, in a kernel (thrust::seq) the device's heap.
#ifndef TILEWISE_THRUST_SEQUENTIAL_MALLOC
#define TILEWISE_THRUST_SEQUENTIAL_MALLOC

#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>
#include <tilewise_sim/device.hpp>

#include <cstddef>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace detail {
namespace sequential {

template <typename Derived>
void* malloc(execution_policy<Derived>&, std::size_t bytes) {
  return ::tilewise::sim::heap_allocate(bytes);
}

template <typename Derived, typename Pointer>
void free(execution_policy<Derived>&, Pointer pointer) {
  ::tilewise::sim::heap_free(thrust::raw_pointer_cast(pointer));
}

}  // namespace sequential
}  // namespace detail
}  // namespace system
THRUST_NAMESPACE_END

#endif
