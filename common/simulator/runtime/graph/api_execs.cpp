// Graphs that can be launched: made, changed, launched.
#include <cstddef>

#include "cuda_runtime_api.h"
#include "runtime/api.hpp"
#include "runtime/graph/actions.hpp"
#include "runtime/graph/execs.hpp"
#include "tilewise_sim/report.hpp"

using namespace tilewise::sim;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return api([=] { return graph::instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error, char* log,
                                 size_t bytes) {
  return api([=] {
    if (error != nullptr) *error = nullptr;
    if (log != nullptr && bytes != 0) *log = '\0';
    return graph::instantiate(exec, graph);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return api([=] { return graph::instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return api([=] { return graph::owns(graph::state().execs, exec) ? on_stream(stream) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (!graph::owns(graph::state().execs, exec)) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    if (graph::is_captured(stream)) unsupported("a graph that is launched in a stream that is being captured");
    check_demanded_stream("this graph", "it is the last argument of cudaGraphLaunch", stream, site);
    if (const cudaError_t error = graph::begin_without_memory(*exec, stream, site)) return error;
    ++host_work_so_far().launches;
    return graph::launch(*exec, stream);
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (!graph::owns(graph::state().execs, exec) || parameters == nullptr) return cudaErrorInvalidValue;
    for (auto& compiled : exec->nodes) {
      if (compiled.origin != node || compiled.type != cudaGraphNodeTypeKernel) continue;
      if (parameter_sizes_of(compiled.what) == nullptr)
        unsupported("new arguments for a launch that was captured (capture it again, and call cudaGraphExecUpdate)");
      if (const cudaError_t error = graph::kernel_action(*parameters, site, compiled.action)) return error;
      compiled.what = parameters->func;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, cudaGraphNodeTypeMemcpy, [=](auto& compiled) {
      if (!graph::may_become(*compiled.copy, *parameters)) return cudaErrorInvalidValue;
      const cudaError_t error = graph::copy_action(*parameters, site, compiled.action);
      if (error == cudaSuccess) compiled.copy = *parameters;
      return error;
    });
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = graph::in_one_run(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(exec, node, &parameters);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, cudaGraphNodeTypeMemset,
                          [=](auto& compiled) { return graph::fill_action(*parameters, site, compiled.action); });
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, cudaGraphNodeTypeHost,
                          [=](auto& compiled) { return graph::host_action(*parameters, compiled.action); });
  });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, child)) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, cudaGraphNodeTypeGraph,
                          [=](auto& compiled) { return graph::child_action(*child, compiled.action); });
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled) {
  return api([=] {
    const cudaGraphNodeType type = graph::graph_of(node) ? node->type : cudaGraphNodeTypeEmpty;
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy && type != cudaGraphNodeTypeMemset)
      return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, type, [=](auto& compiled) {
      compiled.enabled = enabled != 0;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled) {
  return api([=] {
    if (enabled == nullptr || graph::graph_of(node) == nullptr) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, node->type, [=](auto& compiled) {
      *enabled = compiled.enabled;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error,
                                cudaGraphExecUpdateResult* result) {
  return api([=] {
    if (!graph::owns(graph::state().execs, exec) || !graph::owns(graph::state().graphs, graph))
      return cudaErrorInvalidValue;
    cudaGraphNode_t culprit = nullptr;
    const cudaGraphExecUpdateResult how = graph::update(*exec, *graph, culprit);
    if (error != nullptr) *error = culprit;
    if (result != nullptr) *result = how;
    return how == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  cudaGraphExecUpdateResult how = cudaGraphExecUpdateError;
  cudaGraphNode_t culprit = nullptr;
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &culprit, &how);
  if (info != nullptr) *info = {how, culprit, nullptr};
  return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return api([=] {
    if (!graph::owns(graph::state().execs, exec)) return cudaErrorInvalidValue;
    graph::destroy_chains(*exec);
    std::erase_if(graph::state().execs, [=](const auto& owner) { return owner.get() == exec; });
    return cudaSuccess;
  });
}
