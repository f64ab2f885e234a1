// Pools of the memory that cudaMallocAsync gives. They keep nothing: what is freed goes back at once, and attributes are only kept.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "api.hpp"
#include "cuda_runtime_api.h"
#include "devices.hpp"
#include "memory.hpp"

struct CUmemPoolHandle_st {
  int device;
  std::uint64_t threshold = 0;
  int reuse[3] = {1, 1, 1};
};

namespace tilewise::sim {
namespace {

// Never destroyed: programs use pools in destructors of their own static objects.
struct Pools {
  CUmemPoolHandle_st defaults[kMostDevices];
  cudaMemPool_t current[kMostDevices];
  std::vector<std::unique_ptr<CUmemPoolHandle_st>> made;
  Pools() {
    for (int i = 0; i < kMostDevices; ++i) defaults[i].device = i, current[i] = &defaults[i];
  }
};

Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

bool is_pool(cudaMemPool_t pool) {
  const auto is_it = [=](const auto& owner) { return owner.get() == pool; };
  return (pool >= pools().defaults && pool < pools().defaults + kMostDevices) ||
         std::any_of(pools().made.begin(), pools().made.end(), is_it);
}

cudaError_t give_pool(cudaMemPool_t* pool, int device, bool current) {
  return api([=] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = current ? pools().current[device] : &pools().defaults[device];
    return cudaSuccess;
  });
}

/// Copies an attribute from `value` to the pool, or back.
cudaError_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value, bool set) {
  return api([=] {
    if (!is_pool(pool) || value == nullptr) return cudaErrorInvalidValue;
    if (which < cudaMemPoolReuseFollowEventDependencies || which > cudaMemPoolAttrUsedMemHigh)
      return cudaErrorInvalidValue;
    if (which > cudaMemPoolAttrReleaseThreshold)
      unsupported("what cudaMemPoolGetAttribute says of memory that a pool has reserved or uses");
    const bool is_threshold = which == cudaMemPoolAttrReleaseThreshold;
    void* const kept = is_threshold ? static_cast<void*>(&pool->threshold) : &pool->reuse[which - 1];
    const std::size_t bytes = is_threshold ? sizeof pool->threshold : sizeof pool->reuse[0];
    memory::host_uses(value, bytes);
    std::memcpy(set ? kept : value, set ? value : kept, bytes);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace tilewise::sim

using namespace tilewise::sim;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) { return give_pool(pool, device, false); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return give_pool(pool, device, true); }

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api([=] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (!is_pool(pool) || pool->device != device) return cudaErrorInvalidValue;
    pools().current[device] = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  return api([=] {
    if (pool == nullptr || props == nullptr || props->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (props->handleTypes != cudaMemHandleTypeNone) unsupported("memory pools shared between processes");
    if (props->location.type != cudaMemLocationTypeDevice) unsupported("memory pools of the host");
    if (!is_device(props->location.id)) return cudaErrorInvalidDevice;
    pools().made.push_back(std::make_unique<CUmemPoolHandle_st>(CUmemPoolHandle_st{props->location.id}));
    *pool = pools().made.back().get();
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api([=] {
    auto& made = pools().made;
    const auto at = std::find_if(made.begin(), made.end(), [=](const auto& owner) { return owner.get() == pool; });
    if (at == made.end()) return cudaErrorInvalidValue;
    cudaMemPool_t& current = pools().current[pool->device];
    if (current == pool) current = &pools().defaults[pool->device];
    made.erase(at);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return attribute(pool, which, value, true);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return attribute(pool, which, value, false);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return api([=] { return is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (!is_pool(pool)) return cudaErrorInvalidValue;
    return malloc_in_stream("cudaMallocFromPoolAsync", pointer, bytes, stream, site, pool->device);
  });
}
