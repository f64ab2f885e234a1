// CUDA's error state, and the checks that a launch has to pass before it starts.
#pragma once

#include <cstddef>

#include "driver_types.h"
#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

/// Records an error as the thread's last one and returns it; success leaves the last error alone.
cudaError_t set_error(cudaError_t error);

/// An error that ruined the current device: every later call there returns it, until cudaDeviceReset.
cudaError_t set_sticky(cudaError_t error);

/// The error that ruined the current device, or cudaSuccess.
cudaError_t sticky_error();
/// Whether any device is ruined.
bool any_sticky_error();

struct HostWork;

/// Host code waits, for waits().
void note_wait();
/// What host_work() gives, but for the waits.
HostWork& host_work_so_far();

/// Forgets both kinds, on the current device; part of cudaDeviceReset.
void clear_errors();

/// What CUDA says of the launch configuration as far as it can be judged without knowing the kernel: sizes of block
/// and grid, and dynamic shared memory beyond what any kernel was allowed. The result is not recorded.
cudaError_t check_launch_config(const LaunchConfig& config);

/// The rest, once the kernel has been entered: its own limit of threads (0: none), and of shared memory.
/// `kernel` is the first address of its code.
cudaError_t check_kernel_limits(const void* kernel, const LaunchConfig& config, unsigned max_threads,
                                std::size_t static_shared);

/// Bytes of dynamic shared memory that cudaFuncSetAttribute allowed the kernel, else the default of a block. Null: the
/// most that any kernel was allowed.
std::size_t max_dynamic_shared(const void* kernel);

/// Per cent of an SM's shared memory that the kernel was told to prefer; -1: no preference.
int preferred_carveout(const void* kernel);

/// What a launch found out about a kernel, for cudaFuncGetAttributes and the occupancy calls.
void note_kernel(const void* kernel, unsigned max_threads, std::size_t static_shared);

/// Whether the device can hold all blocks of a launch of the kernel at a time, by what is known of the kernel.
bool is_resident_at_once(const void* kernel, const LaunchConfig& config);

}  // namespace tilewise::sim
