// The policies of thrust::cuda: thrust::device, thrust::cuda::par and par.on(stream).
#ifndef TILEWISE_THRUST_EXECUTION_POLICY
#define TILEWISE_THRUST_EXECUTION_POLICY

#include <thrust/detail/config.h>
#include <thrust/detail/execution_policy.h>
#include <thrust/iterator/detail/any_system_tag.h>
#include <thrust/system/cpp/detail/execution_policy.h>

struct CUstream_st;

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace detail {

struct tag;
template <typename>
struct execution_policy;

template <>
struct execution_policy<tag> : thrust::execution_policy<tag> {};
struct tag : execution_policy<tag> {};

template <typename Derived>
struct execution_policy : thrust::execution_policy<Derived> {
  using tag_type = tag;
  operator tag() const { return tag(); }
};

/// The stream that an algorithm's work goes to.
template <typename Derived>
CUstream_st* stream_of(const execution_policy<Derived>&) {
  return nullptr;
}

// What works on the host's memory and the device's, such as a copy, is the device's.
template <typename Here, typename There>
Here& select_system(execution_policy<Here>& here, thrust::system::cpp::detail::execution_policy<There>&) {
  return thrust::detail::derived_cast(here);
}
template <typename There, typename Here>
Here& select_system(thrust::system::cpp::detail::execution_policy<There>&, execution_policy<Here>& here) {
  return thrust::detail::derived_cast(here);
}

}  // namespace detail

using detail::execution_policy;
using detail::tag;

}  // namespace cuda
}  // namespace system

namespace cuda {
using thrust::system::cuda::execution_policy;
using thrust::system::cuda::tag;
}  // namespace cuda
THRUST_NAMESPACE_END

#include <thrust/system/cuda/detail/algorithms.h>

#endif
