// CUDA graphs: work that is described once, by capturing streams or node by node, and asked for as a whole, again and again.
#pragma once

#include <cstddef>
#include <functional>

#include "driver_types.h"
#include "tilewise_sim/device.hpp"

namespace tilewise::sim::graph {

/// What a node does, in the stream that it is given.
using Action = std::function<cudaError_t(cudaStream_t stream)>;

/// Whether any stream is being captured: asked before the rest, since mostly none is.
bool capturing();
bool is_captured(cudaStream_t stream);
/// Whether a graph's nodes are being done, in streams that the program does not know.
bool launching();

/// Work is asked for in a stream while streams are being captured. True: it has become a node, or is refused; `error` says which.
/// False: it is to be done now. `what` tells nodes of one type apart, for updates: the kernel.
bool takes(cudaStream_t stream, cudaGraphNodeType type, const void* what, Action action, cudaError_t& error);

/// The same for a copy.
bool takes_copy(cudaStream_t stream, const cudaMemcpy3DParms& copy, Action action, cudaError_t& error);

/// The same for a launch: `thread` and `context` are launch_erased()'s. `site` is where it is launched.
bool takes_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes, const void* site,
                  cudaError_t& error);

/// The same for cudaLaunchKernel, in a stream that is being captured.
cudaError_t takes_kernel(const cudaKernelNodeParams& parameters, cudaStream_t stream, const void* site);

/// The same for cudaMallocAsync and cudaFreeAsync, in a stream that is being captured.
cudaError_t takes_allocation(void** pointer, std::size_t bytes, cudaStream_t stream, void* site);
cudaError_t takes_free(void* pointer, cudaStream_t stream, void* site);

/// Calls that no capture allows, such as waiting for the device, and those that ThreadLocal and Relaxed captures do, such as
/// allocating: an error if one is going on.
cudaError_t forbid_waiting();
cudaError_t forbid_allocating();
/// The same for a wait for this stream, or this event.
cudaError_t forbid_waiting(cudaStream_t stream);
cudaError_t forbid_waiting(cudaEvent_t event);

/// An event is recorded in a stream; a stream waits for it. True as above.
bool takes_record(cudaEvent_t event, cudaStream_t stream, cudaError_t& error);
bool takes_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t& error);

std::size_t live();           ///< graphs, and graphs that can be launched
void forget_all(int device);  ///< that work on the device, for cudaDeviceReset

}  // namespace tilewise::sim::graph
