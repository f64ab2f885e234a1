// Single elements of device memory, and pieces of it.
#ifndef TILEWISE_THRUST_GET_VALUE
#define TILEWISE_THRUST_GET_VALUE

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/system/cuda/detail/execution_policy.h>
#include <thrust/system/cuda/error.h>

#include <cstddef>
#include <utility>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace detail {

void throw_error(int error) { throw thrust::system_error(error, thrust::cuda_category()); }

// Single elements, by way of a device_reference. The policy may be a null reference.
template <typename Derived, typename Pointer>
typename thrust::iterator_value<Pointer>::type get_value(execution_policy<Derived>&, Pointer from) {
  const Running running;
  return *thrust::raw_pointer_cast(from);
}

template <typename Derived, typename To, typename From>
void assign_value(execution_policy<Derived>&, To to, From from) {
  const Running running;
  *thrust::raw_pointer_cast(to) = *thrust::raw_pointer_cast(from);
}

template <typename Derived, typename One, typename Other>
void iter_swap(execution_policy<Derived>&, One one, Other other) {
  const Running running;
  using std::swap;
  swap(*thrust::raw_pointer_cast(one), *thrust::raw_pointer_cast(other));
}

template <typename Derived>
void* malloc(execution_policy<Derived>&, std::size_t bytes) {
  return ::tilewise::sim::allocate_for_algorithms(bytes);
}

template <typename Derived, typename Pointer>
void free(execution_policy<Derived>&, Pointer pointer) {
  ::tilewise::sim::free_of_algorithms(thrust::raw_pointer_cast(pointer));
}

}  // namespace detail
}  // namespace cuda
}  // namespace system
THRUST_NAMESPACE_END

#endif
