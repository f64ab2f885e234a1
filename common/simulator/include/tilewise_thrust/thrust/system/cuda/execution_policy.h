// thrust::cuda::par.
#ifndef TILEWISE_THRUST_PAR
#define TILEWISE_THRUST_PAR

#include <thrust/system/cpp/execution_policy.h>
#include <thrust/system/cuda/detail/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace detail {

struct on_stream : execution_policy<on_stream> {
  explicit on_stream(CUstream_st* the_stream) : stream(the_stream) {}
  CUstream_st* stream;
};
inline CUstream_st* stream_of(const on_stream& policy) { return policy.stream; }

/// With an allocator for temporary memory, which isn't asked: algorithms here have theirs from the host.
struct par_t : execution_policy<par_t> {
  constexpr par_t() = default;
  template <typename Allocator>
  const par_t& operator()(Allocator&&) const {
    return *this;
  }
  on_stream on(CUstream_st* stream) const { return on_stream(stream); }
};

}  // namespace detail

THRUST_INLINE_CONSTANT detail::par_t par;
THRUST_INLINE_CONSTANT detail::par_t par_nosync;

}  // namespace cuda
}  // namespace system

namespace cuda {
using thrust::system::cuda::par;
using thrust::system::cuda::par_nosync;
}  // namespace cuda
THRUST_NAMESPACE_END

#endif
