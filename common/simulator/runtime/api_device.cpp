// The device: what it is, its settings, waiting for it, resetting it.
#include <array>
#include <cstdio>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "graph.hpp"

namespace tilewise::sim {

namespace {

constexpr unsigned kDeviceFlags = cudaDeviceMask;

struct Settings {
  unsigned flags = cudaDeviceScheduleAuto;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  // By cudaLimit: stack, printf, heap, depth of nested waits (gone with dynamic parallelism 2), pending launches, L2
  // granularity, persisting L2.
  std::array<std::size_t, 7> limits = {1024, 8650752, 8388608, 0, 2048, 64, 0};
};

Settings all_settings[kMostDevices];
Settings& settings() { return all_settings[current_device()]; }

}  // namespace

std::size_t device_limit(cudaLimit limit) { return settings().limits[limit]; }

namespace {

cudaError_t check_device(int device) {
  return device >= 0 && device < device_count() ? cudaSuccess : cudaErrorInvalidDevice;
}

/// What the peer functions say of `peer`, seen from the current device.
cudaError_t check_peer(int peer) {
  if (const cudaError_t error = check_device(peer)) return error;
  return peer == current_device() ? cudaErrorPeerAccessUnsupported : cudaSuccess;
}

/// Value of an attribute, or -1 where the simulator has none.
int attribute(const Device& card, const cudaDeviceProp& prop, int attr) {
  // clang-format off
  switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock: return card.max_threads_per_block;
    case cudaDevAttrMaxBlockDimX: return card.max_block[0];
    case cudaDevAttrMaxBlockDimY: return card.max_block[1];
    case cudaDevAttrMaxBlockDimZ: return card.max_block[2];
    case cudaDevAttrMaxGridDimX: return card.max_grid[0];
    case cudaDevAttrMaxGridDimY: return card.max_grid[1];
    case cudaDevAttrMaxGridDimZ: return card.max_grid[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(card.shared_per_block);
    case cudaDevAttrTotalConstantMemory: return static_cast<int>(prop.totalConstMem);
    case cudaDevAttrWarpSize: return card.warp_size;
    case cudaDevAttrMaxPitch: return static_cast<int>(prop.memPitch);
    case cudaDevAttrMaxRegistersPerBlock: return card.registers;
    case cudaDevAttrClockRate: return card.clock_khz;
    case cudaDevAttrTextureAlignment: return static_cast<int>(prop.textureAlignment);
    case cudaDevAttrGpuOverlap: return prop.deviceOverlap;
    case cudaDevAttrMultiProcessorCount: return card.multiprocessors;
    case cudaDevAttrKernelExecTimeout: return prop.kernelExecTimeoutEnabled;
    case cudaDevAttrIntegrated: return prop.integrated;
    case cudaDevAttrCanMapHostMemory: return prop.canMapHostMemory;
    case cudaDevAttrComputeMode: return prop.computeMode;
    case cudaDevAttrConcurrentKernels: return prop.concurrentKernels;
    case cudaDevAttrEccEnabled: return prop.ECCEnabled;
    case cudaDevAttrPciBusId: return prop.pciBusID;
    case cudaDevAttrPciDeviceId: return prop.pciDeviceID;
    case cudaDevAttrPciDomainId: return prop.pciDomainID;
    case cudaDevAttrTccDriver: return prop.tccDriver;
    case cudaDevAttrMemoryClockRate: return card.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth: return card.memory_bus_bits;
    case cudaDevAttrL2CacheSize: return static_cast<int>(card.l2);
    case cudaDevAttrMaxThreadsPerMultiProcessor: return card.max_threads_per_multiprocessor;
    case cudaDevAttrAsyncEngineCount: return card.async_engines;
    case cudaDevAttrUnifiedAddressing: return prop.unifiedAddressing;
    case cudaDevAttrTexturePitchAlignment: return static_cast<int>(prop.texturePitchAlignment);
    case cudaDevAttrComputeCapabilityMajor: return card.major;
    case cudaDevAttrComputeCapabilityMinor: return card.minor;
    case cudaDevAttrStreamPrioritiesSupported: return prop.streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported: return prop.globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported: return prop.localL1CacheSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return static_cast<int>(card.shared_per_multiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return card.registers;
    case cudaDevAttrManagedMemory: return prop.managedMemory;
    case cudaDevAttrIsMultiGpuBoard: return prop.isMultiGpuBoard;
    case cudaDevAttrMultiGpuBoardGroupID: return prop.multiGpuBoardGroupID;
    case cudaDevAttrHostNativeAtomicSupported: return prop.hostNativeAtomicSupported;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return card.fp32_to_fp64;
    case cudaDevAttrPageableMemoryAccess: return prop.pageableMemoryAccess;
    case cudaDevAttrConcurrentManagedAccess: return prop.concurrentManagedAccess;
    case cudaDevAttrComputePreemptionSupported: return prop.computePreemptionSupported;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return prop.canUseHostPointerForRegisteredMem;
    case cudaDevAttrCooperativeLaunch: return prop.cooperativeLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(card.shared_per_block_optin);
    case cudaDevAttrCanFlushRemoteWrites: return 0;
    case cudaDevAttrHostRegisterSupported: return prop.hostRegisterSupported;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables: return prop.pageableMemoryAccessUsesHostPageTables;
    case cudaDevAttrDirectManagedMemAccessFromHost: return prop.directManagedMemAccessFromHost;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return card.max_blocks_per_multiprocessor;
    case cudaDevAttrMaxPersistingL2CacheSize: return prop.persistingL2CacheMaxSize;
    case cudaDevAttrMaxAccessPolicyWindowSize: return prop.accessPolicyMaxWindowSize;
    case cudaDevAttrReservedSharedMemoryPerBlock: return static_cast<int>(card.reserved_shared);
    case cudaDevAttrHostRegisterReadOnlySupported: return prop.hostRegisterReadOnlySupported;
    case cudaDevAttrMemoryPoolsSupported: return prop.memoryPoolsSupported;
    case cudaDevAttrGPUDirectRDMASupported: return prop.gpuDirectRDMASupported;
    case cudaDevAttrClusterLaunch: return prop.clusterLaunch;
    default: return -1;
  }
  // clang-format on
}

}  // namespace

}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- which device

cudaError_t cudaGetDeviceCount(int* count) {
  tilewise::sim::memory::host_uses(count, sizeof *count);
  if (count == nullptr) return set_error(cudaErrorInvalidValue);
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  tilewise::sim::memory::host_uses(device, sizeof *device);
  if (device == nullptr) return set_error(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t error = check_device(device)) return set_error(error);
  set_current_device(device);
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return set_error(check_device(device)); }

cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (devices == nullptr && count > 0) return set_error(cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i) {
    if (const cudaError_t error = check_device(devices[i])) return set_error(error);
  }
  return cudaSuccess;
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  if (device == nullptr || prop == nullptr) return set_error(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  tilewise::sim::memory::host_uses(prop, sizeof *prop);
  if (prop == nullptr) return set_error(cudaErrorInvalidValue);
  if (const cudaError_t error = check_device(device)) return set_error(error);
  *prop = device_properties(tilewise::sim::device(), device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  tilewise::sim::memory::host_uses(value, sizeof *value);
  if (value == nullptr) return set_error(cudaErrorInvalidValue);
  if (const cudaError_t error = check_device(device)) return set_error(error);
  const Device& card = tilewise::sim::device();
  const int found = attribute(card, device_properties(card, device), attr);
  if (found < 0) return set_error(cudaErrorInvalidValue);
  *value = found;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr) return set_error(cudaErrorInvalidValue);
  if (const cudaError_t error = check_device(device)) return set_error(error);
  if (length < static_cast<int>(sizeof "0000:00:00.0")) return set_error(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  tilewise::sim::memory::host_uses(device, sizeof *device);
  if (device == nullptr || id == nullptr) return set_error(cudaErrorInvalidValue);
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) return set_error(cudaErrorInvalidValue);
  if (domain != 0 || slot != 0 || function != 0) return set_error(cudaErrorInvalidDevice);
  if (const cudaError_t error = check_device(static_cast<int>(bus))) return set_error(error);
  *device = static_cast<int>(bus);
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return set_error(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

// ---------------------------------------------------------------- several GPUs: each can reach each other one's memory

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  tilewise::sim::memory::host_uses(can, sizeof *can);
  if (can == nullptr) return set_error(cudaErrorInvalidValue);
  if (check_device(device) || check_device(peer)) return set_error(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return api([=] {
    if (const cudaError_t error = check_peer(peer)) return error;
    if (flags != 0) return cudaErrorInvalidValue;
    if (may_access(current_device(), peer)) return cudaErrorPeerAccessAlreadyEnabled;
    set_peer_access(current_device(), peer, true);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api([=] {
    if (const cudaError_t error = check_device(peer)) return error;
    if (peer == current_device() || !may_access(current_device(), peer)) return cudaErrorPeerAccessNotEnabled;
    set_peer_access(current_device(), peer, false);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  tilewise::sim::memory::host_uses(value, sizeof *value);
  if (value == nullptr) return set_error(cudaErrorInvalidValue);
  if (check_device(device) || check_device(peer) || device == peer) return set_error(cudaErrorInvalidDevice);
  if (attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrCudaArrayAccessSupported)
    return set_error(cudaErrorInvalidValue);
  *value = attribute != cudaDevP2PAttrPerformanceRank;
  return cudaSuccess;
}

// ---------------------------------------------------------------- settings

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  if (flags & ~kDeviceFlags) return set_error(cudaErrorInvalidValue);
  settings().flags = flags;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  if (flags == nullptr) return set_error(cudaErrorInvalidValue);
  *flags = settings().flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return api([=] {
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize) return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    settings().limits[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return api([=] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize) return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    *value = settings().limits[limit];
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api([=] {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    settings().cache = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return api([=] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = settings().cache;
    return cudaSuccess;
  });
}

// Since compute capability 5 banks are 4 bytes wide, whatever is asked for.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  const bool known = config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
  return api([=] { return known ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return api([=] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

// ---------------------------------------------------------------- waiting and resetting

cudaError_t cudaDeviceSynchronize() {
  return api([] {
    note_wait();
    if (const cudaError_t error = graph::forbid_waiting()) return error;
    order::host_waits_for_device(current_device());
    release_what_pools_keep();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  const DeviceLock lock(device_mutex());
  const int device = current_device();
  order::reset(device);
  graph::forget_all(device);
  memory::release_all(device);
  forget_pools(device);
  destroy_streams(device);
  forget_kernel_settings(device);
  forget_peer_access(device);
  settings() = Settings{};
  clear_errors();
  return cudaSuccess;
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
