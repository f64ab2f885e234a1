// Kernels as objects: attributes, occupancy, launching through a pointer.
#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/memory.hpp"
#include "base/occupancy.hpp"
#include "base/registers.hpp"
#include "base/symbols.hpp"
#include "cuda_runtime_api.h"
#include "graph.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {

namespace {

/// What cudaFuncSetAttribute and cudaFuncSetCacheConfig have set on one device.
struct KernelSettings {
  bool shared_set = false;
  std::size_t dynamic_shared = 0;
  int carveout = cudaSharedmemCarveoutDefault;
  cudaFuncCache cache = cudaFuncCachePreferNone;  // the older way to say so; a carve-out goes before it
};

/// `numRegs` where nobody knows: programs divide by it. So few limit nothing on any card, as the occupancy calls say, too.
constexpr int kRegistersOfAnyKernel = 32;

/// What is known about one kernel.
struct KnownKernel {
  void (*invoke)(void (*kernel)(), void** args) = nullptr;  // null: the pointer was never announced
  const std::size_t* sizes = nullptr;                       // of its parameters, up to a 0
  std::array<KernelSettings, kMostDevices> settings = {};
  unsigned max_threads = 0;       // of __launch_bounds__; 0 until the kernel has run, or none
  std::size_t static_shared = 0;  // as recorded; else of what its code mentions, and what its runs have met
  int registers = 0;              // 0: unknown
  int local = 0;                  // bytes per thread, as recorded
  bool looked_up = false;         // in the record of registers and static shared memory

  KernelSettings& here() { return settings[static_cast<std::size_t>(current_device())]; }
  const KernelSettings& here() const { return settings[static_cast<std::size_t>(current_device())]; }
};

std::unordered_map<const void*, KnownKernel>& kernels() {
  static auto* kernels = new std::unordered_map<const void*, KnownKernel>;  // used before main and after it
  return *kernels;
}

/// The kernel with what was recorded of it.
KnownKernel& recorded_kernel(const void* kernel) {
  KnownKernel& known = kernels()[kernel];
  if (!known.looked_up) {
    known.looked_up = true;
    const KernelResources resources = recorded_resources(device(), kernel);
    known.registers = resources.registers;
    known.local = resources.local;
    const bool is_recorded = resources.registers != 0;
    known.static_shared =
        std::max(known.static_shared, is_recorded ? resources.static_shared : static_shared_of(kernel));
  }
  return known;
}

std::size_t dynamic_limit(const KnownKernel& kernel) {
  if (kernel.here().shared_set) return kernel.here().dynamic_shared;
  const std::size_t most = device().shared_per_block;
  return kernel.static_shared < most ? most - kernel.static_shared : 0;
}

int threads_limit(const KnownKernel& kernel) {
  const int most = threads_with_registers(device(), kernel.registers);
  return kernel.max_threads ? std::min<int>(kernel.max_threads, most) : most;
}

/// What the kernel's settings mean in per cent of an SM's shared memory; -1: no preference.
int effective_carveout(const KnownKernel& kernel) {
  const KernelSettings& set = kernel.here();
  if (set.carveout != cudaSharedmemCarveoutDefault) return set.carveout;
  if (set.cache == cudaFuncCachePreferL1) return cudaSharedmemCarveoutMaxL1;
  if (set.cache == cudaFuncCachePreferShared) return cudaSharedmemCarveoutMaxShared;
  if (set.cache == cudaFuncCachePreferEqual) return 50;
  return cudaSharedmemCarveoutDefault;
}

/// Blocks of the kernel that an SM holds, as the API counts them: none beyond what the kernel may have.
int resident_blocks(const KnownKernel& kernel, int threads, std::size_t dynamic_shared) {
  if (dynamic_shared > dynamic_limit(kernel)) return 0;
  return occupancy(device(), kernel.registers, kernel.static_shared + dynamic_shared, threads,
                   effective_carveout(kernel))
      .blocks;
}

std::uint64_t blocks_of(dim3 grid) { return std::uint64_t{grid.x} * grid.y * grid.z; }

struct Thread {
  void (*invoke)(void (*kernel)(), void** args);
  void (*kernel)();
  void** args;
};

}  // namespace

bool register_kernel_erased(const void* kernel, void (*invoke)(void (*kernel)(), void** args),
                            const std::size_t* sizes) {
  kernels()[kernel].invoke = invoke;
  kernels()[kernel].sizes = sizes;
  return true;
}

const std::size_t* parameter_sizes_of(const void* kernel) {
  const auto found = kernels().find(kernel);
  return found == kernels().end() ? nullptr : found->second.sizes;
}

int preferred_carveout(const void* kernel) {
  const auto found = kernels().find(kernel);
  return found == kernels().end() ? cudaSharedmemCarveoutDefault : effective_carveout(found->second);
}

std::size_t max_dynamic_shared(const void* kernel) {
  if (kernel != nullptr) {
    const auto found = kernels().find(kernel);
    return dynamic_limit(found == kernels().end() ? KnownKernel{} : found->second);
  }
  std::size_t most = device().shared_per_block;
  for (const auto& [pointer, known] : kernels()) most = std::max(most, dynamic_limit(known));
  return most;
}

void note_kernel(const void* kernel, unsigned max_threads, std::size_t static_shared) {
  KnownKernel& known = kernels()[kernel];
  known.max_threads = max_threads;
  known.static_shared = std::max(known.static_shared, static_shared);  // a run may have ended before it met all of it
}

bool knows_registers(const void* kernel) { return recorded_kernel(kernel).registers != 0; }

bool is_resident_at_once(const void* kernel, const LaunchConfig& config) {
  const auto threads = static_cast<int>(blocks_of(config.block));
  const int per_multiprocessor = resident_blocks(recorded_kernel(kernel), threads, config.shared);
  return blocks_of(config.grid) <= static_cast<std::uint64_t>(per_multiprocessor * device().multiprocessors);
}

void forget_kernel_settings(int device) {
  for (auto& [pointer, kernel] : kernels()) kernel.settings[static_cast<std::size_t>(device)] = {};
}

// As CUDA documents it: sizes are tried from the largest downwards in steps of a warp, and more threads per SM win.
cudaError_t best_block_size(int* grid, int* block, const void* kernel, size_t (*shared)(void* context, int threads),
                            void* context, int limit) {
  return api([=] {
    if (grid == nullptr || block == nullptr || limit < 0) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const Device& card = device();
    const KnownKernel& known = recorded_kernel(kernel);
    const int most = limit == 0 ? threads_limit(known) : std::min(limit, threads_limit(known));
    int best_threads = 0, best_blocks = 0, best_size = 0;
    int size = most;
    for (int aligned = (most + card.warp_size - 1) / card.warp_size * card.warp_size; aligned > 0;
         aligned -= card.warp_size) {
      size = std::min(most, aligned);
      const int blocks = resident_blocks(known, size, shared(context, size));
      if (size * blocks <= best_threads) continue;
      best_threads = size * blocks;
      best_blocks = blocks;
      best_size = size;
      if (best_threads == card.max_threads_per_multiprocessor) break;
    }
    *grid = best_blocks * card.multiprocessors;
    *block = best_size;
    return cudaSuccess;
  });
}

cudaError_t run_kernel(const void* kernel, const LaunchConfig& config, void** arguments, const void* site) {
  const auto found = kernels().find(kernel);
  if (found == kernels().end() || found->second.invoke == nullptr) {
    unsupported("cudaLaunchKernel of a template kernel through a void pointer (pass the kernel itself)");
  }
  Thread thread{found->second.invoke, reinterpret_cast<void (*)()>(const_cast<void*>(kernel)), arguments};
  const auto run = [](void* context) {
    const Thread& thread = *static_cast<Thread*>(context);
    thread.invoke(thread.kernel, thread.args);
  };
  std::string known(reinterpret_cast<const char*>(&kernel), sizeof kernel);
  for (std::size_t i = 0; found->second.sizes[i] != 0; ++i)
    known.append(static_cast<const char*>(arguments[i]), found->second.sizes[i]);
  return run_launch(config, run, &thread, known, site);
}

}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- attributes

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return api([=] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    KnownKernel& known = recorded_kernel(kernel);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const std::size_t most = device().shared_per_block_optin - known.static_shared;
      if (value < 0 || static_cast<std::size_t>(value) > most) return cudaErrorInvalidValue;
      known.here().shared_set = true;
      known.here().dynamic_shared = static_cast<std::size_t>(value);
      return cudaSuccess;
    }
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) return cudaErrorInvalidValue;
      known.here().carveout = value;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  tilewise::sim::memory::host_uses(attributes, sizeof *attributes);
  return api([=] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const KnownKernel& known = recorded_kernel(kernel);
    *attributes = {};
    attributes->sharedSizeBytes = known.static_shared;
    attributes->maxThreadsPerBlock = threads_limit(known);
    attributes->numRegs = known.registers != 0 ? known.registers : kRegistersOfAnyKernel;
    attributes->localSizeBytes = static_cast<std::size_t>(known.local);
    attributes->ptxVersion = attributes->binaryVersion = 10 * device().major + device().minor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_limit(known));
    attributes->preferredShmemCarveout = known.here().carveout;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  tilewise::sim::memory::host_uses(name, sizeof *name);
  return api([=] {
    if (name == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
    const char* const known = mangled_name(kernel);
    if (known == nullptr) return cudaErrorInvalidDeviceFunction;
    *name = known;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config) {
  return api([=] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const bool known = config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
    if (!known) return cudaErrorInvalidValue;
    recorded_kernel(kernel).here().cache = config;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config) {
  return api([=] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const bool known = config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// ---------------------------------------------------------------- launching

namespace {

cudaError_t launch(const void* kernel, const LaunchConfig& config, void** args, void* site) {
  if (kernel == nullptr) return set_error(cudaErrorInvalidDeviceFunction);
  const DeviceLock lock(device_mutex());
  if (graph::is_captured(config.stream)) {
    if (config.cooperative) unsupported("the capture of a cooperative launch");
    cudaKernelNodeParams parameters{
        const_cast<void*>(kernel), config.grid, config.block, static_cast<unsigned>(config.shared), args, nullptr};
    return set_error(graph::takes_kernel(parameters, config.stream, site));
  }
  return run_kernel(kernel, config, args, site);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared,
                             cudaStream_t stream) {
  return launch(kernel, LaunchConfig(grid, block, shared, stream), args, TILEWISE_CALLER);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** args) {
  void* const site = TILEWISE_CALLER;
  if (config == nullptr) return set_error(cudaErrorInvalidValue);
  if (config->numAttrs != 0 && config->attrs == nullptr) return set_error(cudaErrorInvalidValue);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (const cudaError_t error = check_attribute(attribute.id, attribute.val)) return set_error(error);
  }
  return launch(kernel, LaunchConfig(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream), args,
                site);
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                        cudaStream_t stream) {
  LaunchConfig config(grid, block, shared, stream);
  config.cooperative = true;
  return launch(kernel, config, args, TILEWISE_CALLER);
}

// ---------------------------------------------------------------- occupancy

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                                   size_t shared, unsigned int flags) {
  tilewise::sim::memory::host_uses(blocks, sizeof *blocks);
  return api([=] {
    if (blocks == nullptr || threads <= 0 || (flags & ~cudaOccupancyDisableCachingOverride)) {
      return cudaErrorInvalidValue;
    }
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *blocks = resident_blocks(recorded_kernel(kernel), threads, shared);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, cudaOccupancyDefault);
}

// As an H200 answers: an equal share of the SM's shared memory, in which the reserved part of each block is not
// taken off.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks, int threads) {
  tilewise::sim::memory::host_uses(bytes, sizeof *bytes);
  return api([=] {
    if (bytes == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const Device& card = device();
    const KnownKernel& known = recorded_kernel(kernel);
    if (blocks > resident_blocks(known, threads, 0)) return cudaErrorInvalidValue;
    const std::size_t share =
        card.shared_per_multiprocessor / blocks / card.shared_granularity * card.shared_granularity;
    *bytes = std::min(share - std::min(share, known.static_shared), dynamic_limit(known));
    return cudaSuccess;
  });
}
