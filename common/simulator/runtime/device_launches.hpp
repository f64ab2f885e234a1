// Launches that kernels make (dynamic parallelism, as CUDA 12 and later have it: a kernel can't wait for what it launches).
//
// A launch in a kernel is noted, and done when the launch that asked for it has ended: first those of ordinary streams and fire-and-forget
// ones, each with all that it launches itself, then tail launches. That's one of the orders that a GPU may take.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver_types.h"
#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

struct DeviceLaunch {
  LaunchConfig config;
  void (*thread)(void*);
  std::shared_ptr<void> context;  ///< the arguments' bytes
  const void* site;
  const void* parent;  ///< the kernel that asks for it
  unsigned depth;      ///< 1 for what a kernel launches that the host has launched
  bool tail;
};

/// The running thread launches a kernel: the same parameters as launch_erased()'s.
void launch_in_kernel(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes,
                      const void* site);

/// What the launch that has ended has asked for, the first to be done last. `depth` was its own.
std::vector<DeviceLaunch> take_device_launches();

/// How deep the launch lies that begins now: 0, if the host has launched it.
void set_launch_depth(unsigned depth);

/// The error of the running thread's last launch, which has its own; and forgets it.
cudaError_t device_error(bool forget);

/// Streams of the running launch.
cudaError_t create_device_stream(cudaStream_t* stream, unsigned flags);
cudaError_t destroy_device_stream(cudaStream_t stream);

}  // namespace tilewise::sim
