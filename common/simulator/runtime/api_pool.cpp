// Pools of the memory that cudaMallocAsync gives. They keep nothing: what is freed goes back at once. What they say to have reserved is
// what a pool would that grows and shrinks in steps of 32 MiB.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/memory.hpp"
#include "cuda_runtime_api.h"

struct CUmemPoolHandle_st {
  int device;
  bool destroyed = false;  // its memory stays until it is freed
  std::uint64_t threshold = 0;
  int reuse[3] = {1, 1, 1};
  std::uint64_t reserved = 0, most_reserved = 0, used = 0, most_used = 0;
  bool open_to[tilewise::sim::kMostDevices] = {};  // cudaMemPoolSetAccess

  void reserve() {
    reserved = std::max<std::uint64_t>(reserved, tilewise::sim::round_up(used, kStep));
    most_reserved = std::max(most_reserved, reserved);
  }
  /// Gives back what it need not keep.
  void keep(std::uint64_t bytes) {
    reserved = std::max<std::uint64_t>(tilewise::sim::round_up(used, kStep), std::min(reserved, bytes / kStep * kStep));
  }

 private:
  static constexpr std::uint64_t kStep = 32 << 20;
};

namespace tilewise::sim {
namespace {

// Never destroyed: programs use pools in destructors of their own static objects.
struct Pools {
  CUmemPoolHandle_st defaults[kMostDevices];
  CUmemPoolHandle_st graphs[kMostDevices];  // what graphs allocate; kept until cudaDeviceGraphMemTrim
  cudaMemPool_t current[kMostDevices];
  std::vector<std::unique_ptr<CUmemPoolHandle_st>> made;
  Pools() {
    for (int i = 0; i < kMostDevices; ++i) defaults[i].device = graphs[i].device = i, current[i] = &defaults[i];
  }
};

Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

bool is_pool(cudaMemPool_t pool) {
  const auto is_it = [=](const auto& owner) { return owner.get() == pool && !owner->destroyed; };
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

/// What the pool has reserved or uses. The most so far can be set to 0: then it begins anew.
cudaError_t amount(CUmemPoolHandle_st& pool, cudaMemPoolAttr which, void* value, bool set) {
  const bool reserved = which == cudaMemPoolAttrReservedMemCurrent || which == cudaMemPoolAttrReservedMemHigh;
  const bool most = which == cudaMemPoolAttrReservedMemHigh || which == cudaMemPoolAttrUsedMemHigh;
  std::uint64_t now = reserved ? pool.reserved : pool.used, &high = reserved ? pool.most_reserved : pool.most_used,
                given;
  memory::host_uses(value, sizeof given);
  if (!set) return std::memcpy(value, most ? &high : &now, sizeof given), cudaSuccess;
  std::memcpy(&given, value, sizeof given);
  if (!most || given != 0) return cudaErrorInvalidValue;
  high = now;
  return cudaSuccess;
}

/// Copies an attribute from `value` to the pool, or back.
cudaError_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value, bool set) {
  return api([=] {
    if (!is_pool(pool) || value == nullptr) return cudaErrorInvalidValue;
    if (which < cudaMemPoolReuseFollowEventDependencies || which > cudaMemPoolAttrUsedMemHigh)
      return cudaErrorInvalidValue;
    if (which > cudaMemPoolAttrReleaseThreshold) return amount(*pool, which, value, set);
    const bool is_threshold = which == cudaMemPoolAttrReleaseThreshold;
    void* const kept = is_threshold ? static_cast<void*>(&pool->threshold) : &pool->reuse[which - 1];
    const std::size_t bytes = is_threshold ? sizeof pool->threshold : sizeof pool->reuse[0];
    memory::host_uses(value, bytes);
    std::memcpy(set ? kept : value, set ? value : kept, bytes);
    return cudaSuccess;
  });
}

}  // namespace

cudaMemPool_t pool_of_graphs(int device) { return &pools().graphs[device]; }
cudaMemPool_t pool_of_device(int device) { return pools().current[device]; }
int device_of(cudaMemPool_t pool) { return pool->device; }

void take_from_pool(cudaMemPool_t pool, void* pointer, std::size_t bytes) {
  memory::set_pool(pointer, pool, pool->open_to);
  pool->used += bytes;
  pool->most_used = std::max(pool->most_used, pool->used);
  pool->reserve();
}

void give_to_pool(cudaMemPool_t pool, std::size_t bytes) { pool->used -= bytes; }

void release_what_pools_keep() {
  for (int i = 0; i < device_count(); ++i) pools().defaults[i].keep(pools().defaults[i].threshold);
  for (const auto& pool : pools().made) pool->keep(pool->threshold);
}

void forget_pools(int device) {
  pools().defaults[device] = pools().graphs[device] = {device};
  pools().current[device] = &pools().defaults[device];
  for (const auto& pool : pools().made)
    if (pool->device == device) pool->destroyed = true;
}

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
    if (at == made.end() || (*at)->destroyed) return cudaErrorInvalidValue;
    cudaMemPool_t& current = pools().current[pool->device];
    if (current == pool) current = &pools().defaults[pool->device];
    (*at)->destroyed = true;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return attribute(pool, which, value, true);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return attribute(pool, which, value, false);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  return api([=] {
    if (!is_pool(pool)) return cudaErrorInvalidValue;
    pool->keep(bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  return api([=] {
    if (!is_pool(pool) || (list == nullptr && count != 0)) return cudaErrorInvalidValue;
    for (const cudaMemAccessDesc* one = list; one != list + count; ++one) {
      if (one->location.type == cudaMemLocationTypeHost) unsupported("cudaMemPoolSetAccess for the host");
      if (one->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (!is_device(one->location.id)) return cudaErrorInvalidDevice;
      if (one->flags == cudaMemAccessFlagsProtRead) unsupported("cudaMemPoolSetAccess with access for reading only");
      if (one->flags != cudaMemAccessFlagsProtNone && one->flags != cudaMemAccessFlagsProtReadWrite)
        return cudaErrorInvalidValue;
      // A device's access to its own memory can't be taken from it.
      if (one->location.id == pool->device && one->flags == cudaMemAccessFlagsProtNone) return cudaErrorInvalidDevice;
    }
    for (const cudaMemAccessDesc* one = list; one != list + count; ++one)
      pool->open_to[one->location.id] = one->flags == cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return api([=] {
    if (!is_pool(pool) || flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type == cudaMemLocationTypeHost) unsupported("cudaMemPoolGetAccess for the host");
    if (location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (!is_device(location->id)) return cudaErrorInvalidDevice;
    memory::host_uses(flags, sizeof *flags);
    const bool open = location->id == pool->device || pool->open_to[location->id];
    *flags = open ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (!is_pool(pool)) return cudaErrorInvalidValue;
    return malloc_in_stream("cudaMallocFromPoolAsync", pointer, bytes, stream, site, pool);
  });
}

// ---------------------------------------------------------------- what graphs have allocated

namespace {

cudaError_t graphs_amount(int device, cudaGraphMemAttributeType which, void* value, bool set) {
  return api([=] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (value == nullptr || which < cudaGraphMemAttrUsedMemCurrent || which > cudaGraphMemAttrReservedMemHigh)
      return cudaErrorInvalidValue;
    // What graphs have freed counts as used until it is trimmed, as on an H100.
    constexpr cudaMemPoolAttr kOfPools[] = {cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrReservedMemHigh,
                                            cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrReservedMemHigh};
    return amount(*pool_of_graphs(device), kOfPools[which], value, set);
  });
}

}  // namespace

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType which, void* value) {
  return graphs_amount(device, which, value, false);
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType which, void* value) {
  return graphs_amount(device, which, value, true);
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return api([=] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    pool_of_graphs(device)->keep(0);
    return cudaSuccess;
  });
}
