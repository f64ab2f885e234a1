// What vectors get their memory from: cudaMalloc, cudaMallocManaged and cudaMallocHost.
#ifndef TILEWISE_THRUST_MEMORY_RESOURCE
#define TILEWISE_THRUST_MEMORY_RESOURCE

#include <cuda_runtime_api.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/memory_resource.h>
#include <thrust/system/cuda/error.h>
#include <thrust/system/cuda/pointer.h>
#include <thrust/system/detail/bad_alloc.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace detail {

inline cudaError_t get_managed(void** memory, std::size_t bytes) {
  return cudaMallocManaged(memory, bytes, cudaMemAttachGlobal);
}
inline cudaError_t get_pinned(void** memory, std::size_t bytes) { return cudaMallocHost(memory, bytes); }
inline cudaError_t get_device(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }

template <cudaError_t (*get)(void**, std::size_t), cudaError_t (*give_back)(void*), typename Pointer>
class resource final : public thrust::mr::memory_resource<Pointer> {
 public:
  Pointer do_allocate(std::size_t bytes, std::size_t) override {
    void* memory = nullptr;
    if (const cudaError_t error = get(&memory, bytes)) {
      cudaGetLastError();  // the exception says it
      throw thrust::system::detail::bad_alloc(cudaGetErrorString(error));
    }
    return Pointer(memory);
  }
  void do_deallocate(Pointer memory, std::size_t, std::size_t) override { give_back(thrust::raw_pointer_cast(memory)); }
};

}  // namespace detail

using memory_resource = detail::resource<detail::get_device, cudaFree, pointer<void>>;
using universal_memory_resource = detail::resource<detail::get_managed, cudaFree, universal_pointer<void>>;
using universal_host_pinned_memory_resource =
    detail::resource<detail::get_pinned, cudaFreeHost, universal_pointer<void>>;

}  // namespace cuda
}  // namespace system

namespace cuda {
using thrust::system::cuda::memory_resource;
using thrust::system::cuda::universal_host_pinned_memory_resource;
using thrust::system::cuda::universal_memory_resource;
}  // namespace cuda
THRUST_NAMESPACE_END

#endif
