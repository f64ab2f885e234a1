// Graphs: made, copied, looked at.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "runtime/api.hpp"
#include "runtime/graph/structures.hpp"

namespace tilewise::sim::graph {

namespace {

/// Some of a graph's nodes, as CUDA lists them: as many as there is room for, and how many that were.
cudaError_t list(const Nodes& found, cudaGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  memory::host_uses(count, sizeof *count);
  const std::size_t wanted = *count, have = found.size();
  if (nodes != nullptr) {
    memory::host_uses(nodes, wanted * sizeof *nodes);
    for (std::size_t i = 0; i < wanted; ++i) nodes[i] = i < have ? found[i] : nullptr;
  }
  *count = nodes == nullptr ? have : std::min(wanted, have);
  return cudaSuccess;
}

}  // namespace

}  // namespace tilewise::sim::graph

using namespace tilewise::sim;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return api([=] {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    memory::host_uses(graph, sizeof *graph);
    graph::state().graphs.push_back(std::make_unique<CUgraph_st>());
    *graph = graph::state().graphs.back().get();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph)) return cudaErrorInvalidValue;
    std::erase_if(graph::state().graphs, [=](const auto& owner) { return owner.get() == graph; });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return api([=] {
    if (clone == nullptr || !graph::owns(graph::state().graphs, original)) return cudaErrorInvalidValue;
    if (graph::has_memory_nodes(*original)) return cudaErrorNotSupported;
    auto made = std::make_unique<CUgraph_st>();
    std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> copies;
    for (const auto& node : original->nodes) {
      CUgraphNode_st* const copy = graph::add_node(*made, node->type, node->what, {}, node->action, node->device);
      copy->parameters = node->parameters;
      copy->copy = node->copy;
      copy->cloned_from = node.get();
      copies[node.get()] = copy;
    }
    for (const auto& node : original->nodes)
      for (const CUgraphNode_st* before : node->after) copies[node.get()]->after.push_back(copies[before]);
    *clone = made.get();
    graph::state().graphs.push_back(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph)) return cudaErrorInvalidValue;
    graph::Nodes all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return graph::list(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph)) return cudaErrorInvalidValue;
    graph::Nodes roots;
    for (const auto& node : graph->nodes)
      if (node->after.empty()) roots.push_back(node.get());
    return graph::list(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph) || count == nullptr || (from == nullptr) != (to == nullptr))
      return cudaErrorInvalidValue;
    graph::Nodes froms, tos;
    for (const auto& node : graph->nodes)
      for (CUgraphNode_st* before : node->after) froms.push_back(before), tos.push_back(node.get());
    size_t room = *count;
    if (const cudaError_t error = graph::list(froms, from, count)) return error;
    return graph::list(tos, to, &room);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return api([=] { return graph::graph_of(node) ? graph::list(node->after, nodes, count) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return api([=] {
    const CUgraph_st* const graph = graph::graph_of(node);
    if (graph == nullptr) return cudaErrorInvalidValue;
    graph::Nodes dependent;
    for (const auto& other : graph->nodes)
      if (std::find(other->after.begin(), other->after.end(), node) != other->after.end())
        dependent.push_back(other.get());
    return graph::list(dependent, nodes, count);
  });
}

// The same as CUDA 13 has them: with the edges' data, of which there is none.
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                              size_t* count) {
  const cudaError_t error = cudaGraphGetEdges(graph, from, to, count);
  if (edges != nullptr && error == cudaSuccess) std::fill_n(edges, *count, cudaGraphEdgeData{});
  return error;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                         size_t* count) {
  const cudaError_t error = cudaGraphNodeGetDependencies(node, nodes, count);
  if (edges != nullptr && error == cudaSuccess) std::fill_n(edges, *count, cudaGraphEdgeData{});
  return error;
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                           size_t* count) {
  const cudaError_t error = cudaGraphNodeGetDependentNodes(node, nodes, count);
  if (edges != nullptr && error == cudaSuccess) std::fill_n(edges, *count, cudaGraphEdgeData{});
  return error;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return api([=] {
    if (node == nullptr || !graph::owns(graph::state().graphs, clone)) return cudaErrorInvalidValue;
    for (const auto& copy : clone->nodes)
      if (copy->cloned_from == original) return *node = copy.get(), cudaSuccess;
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return api([=] {
    CUgraph_st* const graph = graph::graph_of(node);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree) return cudaErrorNotSupported;
    for (const auto& other : graph->nodes) std::erase(other->after, node);
    std::erase_if(graph->nodes, [=](const auto& owner) { return owner.get() == node; });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return api([=] {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    memory::host_uses(type, sizeof *type);
    *type = node->type;
    return cudaSuccess;
  });
}
