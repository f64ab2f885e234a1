// Pointers to device memory, which host code follows by way of references that ask the simulator.
#ifndef TILEWISE_THRUST_POINTER
#define TILEWISE_THRUST_POINTER

#include <thrust/detail/pointer.h>
#include <thrust/detail/reference.h>
#include <thrust/system/cpp/pointer.h>
#include <thrust/system/cuda/detail/execution_policy.h>

#include <type_traits>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {

template <typename T>
using pointer = thrust::pointer<T, tag, thrust::tagged_reference<T, tag>>;
template <typename T>
using universal_pointer = thrust::pointer<T, tag, typename std::add_lvalue_reference<T>::type>;
template <typename T>
using reference = thrust::tagged_reference<T, tag>;

}  // namespace cuda
}  // namespace system

namespace cuda {
using thrust::system::cuda::pointer;
using thrust::system::cuda::reference;
using thrust::system::cuda::universal_pointer;
}  // namespace cuda
THRUST_NAMESPACE_END

#endif
