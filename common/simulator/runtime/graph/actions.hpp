// What a node does. Where parameters don't make sense, an error; where only the simulator doesn't know them, unsupported().
#pragma once

#include <cstddef>

#include "runtime/graph/structures.hpp"

namespace tilewise::sim::graph {

/// A launch that can be repeated.
Action launch_action(LaunchConfig config, void (*thread)(void*), const void* context, std::size_t bytes,
                     const void* site);

/// `kept`: gets the parameters with copies of the kernel's arguments.
cudaError_t kernel_action(const cudaKernelNodeParams& parameters, const void* site, Action& action,
                          Parameters* kept = nullptr);
cudaError_t copy_action(const cudaMemcpy3DParms& parameters, void* site, Action& action);
cudaError_t fill_action(const cudaMemsetParams& parameters, void* site, Action& action);
cudaError_t host_action(const cudaHostNodeParams& parameters, Action& action);

/// A copy of bytes in one run, as one in three dimensions: that is what cudaGraphMemcpyNodeGetParams shows of it, too.
cudaMemcpy3DParms in_one_run(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

/// A node that allocates; its address is known at once.
cudaError_t allocation_action(std::size_t bytes, int device, void* site, void*& pointer, Action& action);
Action free_action(void* pointer, void* site);

/// Records an event, or waits for it, in the stream of the node's chain.
Action event_action(cudaEvent_t event, cudaGraphNodeType type);

}  // namespace tilewise::sim::graph
