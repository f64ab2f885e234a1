// The parameters of nodes: read, and changed for the launches that follow.
#include <cstring>
#include <utility>
#include <variant>

#include "cuda_runtime_api.h"
#include "runtime/api.hpp"
#include "runtime/graph/actions.hpp"

using namespace tilewise::sim;

namespace {

/// Gives `take` what a node of that type was made with. Where it was captured, that is not known.
template <class Kept, class Take>
cudaError_t read_parameters(cudaGraphNode_t node, cudaGraphNodeType type, const void* out, Take take) {
  return api([=] {
    if (node == nullptr || node->type != type || out == nullptr) return cudaErrorInvalidValue;
    if (std::holds_alternative<std::monostate>(node->parameters))
      unsupported("the parameters of a node that was captured");
    const auto* kept = std::get_if<Kept>(&node->parameters);
    return kept == nullptr ? cudaErrorInvalidValue : take(*kept);
  });
}

template <class Kept>
cudaError_t copy_parameters(cudaGraphNode_t node, cudaGraphNodeType type, Kept* out) {
  return read_parameters<Kept>(node, type, out, [=](const Kept& kept) { return *out = kept, cudaSuccess; });
}

/// A node of that type does what `make_action(parameters, action)` makes of the new parameters.
template <class Kept, class MakeAction>
cudaError_t change(cudaGraphNode_t node, cudaGraphNodeType type, const Kept* parameters, MakeAction make_action) {
  return api([=] {
    if (node == nullptr || parameters == nullptr || node->type != type) return cudaErrorInvalidValue;
    if (const cudaError_t error = make_action(*parameters, node->action)) return error;
    node->parameters = *parameters;
    return cudaSuccess;
  });
}

cudaError_t change_copy(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters, void* site) {
  return change(node, cudaGraphNodeTypeMemcpy, parameters,
                [=](const auto& p, graph::Action& action) { return graph::copy_action(p, site, action); });
}

}  // namespace

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return read_parameters<graph::SharedCall>(node, cudaGraphNodeTypeKernel, parameters,
                                            [=](const graph::SharedCall& call) {
                                              *parameters = call->parameters;
                                              return cudaSuccess;
                                            });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return copy_parameters(node, cudaGraphNodeTypeMemcpy, parameters);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return copy_parameters(node, cudaGraphNodeTypeMemset, parameters);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return copy_parameters(node, cudaGraphNodeTypeHost, parameters);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  return copy_parameters(node, cudaGraphNodeTypeMemAlloc, parameters);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return api([=] {
    if (node == nullptr || pointer == nullptr || node->type != cudaGraphNodeTypeMemFree) return cudaErrorInvalidValue;
    std::memcpy(pointer, &node->what, sizeof node->what);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
  return read_parameters<cudaGraph_t>(node, cudaGraphNodeTypeGraph, child, [=](cudaGraph_t kept) {
    if (!graph::owns(graph::state().graphs, kept)) unsupported("the graph of a node, after it has been destroyed");
    *child = kept;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (node == nullptr || parameters == nullptr || node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    if (const cudaError_t error = graph::kernel_action(*parameters, site, node->action, &node->parameters))
      return error;
    node->what = parameters->func;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return change_copy(node, parameters, TILEWISE_CALLER);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = graph::in_one_run(to, from, bytes, kind);
  return change_copy(node, &parameters, TILEWISE_CALLER);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return change(node, cudaGraphNodeTypeMemset, parameters,
                [=](const auto& p, graph::Action& action) { return graph::fill_action(p, site, action); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return change(node, cudaGraphNodeTypeHost, parameters,
                [](const auto& p, graph::Action& action) { return graph::host_action(p, action); });
}
