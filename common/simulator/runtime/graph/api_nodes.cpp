// Nodes that a program adds, and their dependencies.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/devices.hpp"
#include "cuda_runtime_api.h"
#include "runtime/api.hpp"
#include "runtime/graph/actions.hpp"
#include "runtime/graph/execs.hpp"

using namespace tilewise::sim;

namespace {

/// Adds a node that does what `make_action(parameters, action)` makes of its parameters.
template <class Kept, class MakeAction>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                cudaGraphNodeType type, const Kept* parameters, MakeAction make_action) {
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    graph::Action action;
    if (const cudaError_t error = make_action(*parameters, action)) return error;
    return graph::new_node(node, graph, after, count, type, nullptr, std::move(action), *parameters);
  });
}

cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     const cudaMemcpy3DParms* parameters, void* site) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, parameters,
             [=](const auto& p, graph::Action& action) { return graph::copy_action(p, site, action); });
}

}  // namespace

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    graph::Action action;
    graph::Parameters kept;
    if (const cudaError_t error = graph::kernel_action(*parameters, site, action, &kept)) return error;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeKernel, parameters->func, std::move(action),
                           std::move(kept));
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add_copy(node, graph, after, count, parameters, TILEWISE_CALLER);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = graph::in_one_run(to, from, bytes, kind);
  return add_copy(node, graph, after, count, &parameters, TILEWISE_CALLER);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return add(node, graph, after, count, cudaGraphNodeTypeMemset, parameters,
             [=](const auto& p, graph::Action& action) { return graph::fill_action(p, site, action); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add(node, graph, after, count, cudaGraphNodeTypeHost, parameters,
             [](const auto& p, graph::Action& action) { return graph::host_action(p, action); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, cudaMemAllocNodeParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr || parameters->bytesize == 0) return cudaErrorInvalidValue;
    const cudaMemPoolProps& props = parameters->poolProps;
    if (props.allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (props.handleTypes != cudaMemHandleTypeNone) unsupported("memory of graphs shared between processes");
    if (props.location.type != cudaMemLocationTypeDevice) unsupported("memory of graphs on the host");
    if (props.location.id < 0 || props.location.id >= device_count()) return cudaErrorInvalidDevice;
    if (parameters->accessDescCount != 0) unsupported("accessDescs of cudaGraphAddMemAllocNode");
    graph::Action action;
    void* pointer = nullptr;
    cudaError_t error = graph::allocation_action(parameters->bytesize, props.location.id, site, pointer, action);
    if (error != cudaSuccess) return error;
    parameters->dptr = pointer;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeMemAlloc, pointer, std::move(action),
                           *parameters);
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    size_t count, void* pointer) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph) || !graph::may_free(*graph, pointer)) return cudaErrorInvalidValue;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeMemFree, pointer,
                           graph::free_action(pointer, site));
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return api([=] { return graph::new_node(node, graph, after, count, cudaGraphNodeTypeEmpty, nullptr, {}); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, child) || child == graph) return cudaErrorInvalidValue;
    if (graph::has_memory_nodes(*child)) return cudaErrorNotSupported;
    graph::Action action;
    if (const cudaError_t error = graph::child_action(*child, action)) return error;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeGraph, nullptr, std::move(action), child);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph) || (count != 0 && (from == nullptr || to == nullptr)))
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!graph::owns(graph->nodes, from[i]) || !graph::owns(graph->nodes, to[i])) return cudaErrorInvalidValue;
    // One edge leads from a node to another, or none.
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (from[i] == from[j] && to[i] == to[j]) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (std::count(to[i]->after.begin(), to[i]->after.end(), from[i]) != 0) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edges, size_t count) {
  if (edges != nullptr) unsupported("the data of a graph's edges");
  return cudaGraphAddDependencies(graph, from, to, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        size_t count) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph) || (count != 0 && (from == nullptr || to == nullptr)))
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!graph::owns(graph->nodes, to[i]) || std::erase(to[i]->after, from[i]) == 0) return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* edges, size_t count) {
  if (edges != nullptr) unsupported("the data of a graph's edges");
  return cudaGraphRemoveDependencies(graph, from, to, count);
}
