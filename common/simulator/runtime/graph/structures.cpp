#include "runtime/graph/structures.hpp"

#include <cstdint>

#include "base/devices.hpp"
#include "runtime/api.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::graph {

State& state() {
  static auto* s = new State;  // never destroyed: programs destroy graphs in destructors of their own static objects
  return *s;
}

CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, const void* what, Nodes after, Action action,
                         int device) {
  graph.nodes.push_back(
      std::make_unique<CUgraphNode_st>(CUgraphNode_st{type, what, std::move(action), std::move(after), device}));
  return graph.nodes.back().get();
}

cudaError_t new_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                     cudaGraphNodeType type, const void* what, Action action, Parameters parameters) {
  if (node == nullptr || !owns(state().graphs, graph) || (count != 0 && after == nullptr)) return cudaErrorInvalidValue;
  const Nodes before(after, after + count);
  for (const CUgraphNode_st* n : before)
    if (!owns(graph->nodes, n) || std::count(before.begin(), before.end(), n) != 1) return cudaErrorInvalidValue;
  if (type == cudaGraphNodeTypeKernel) ++host_work_so_far().launches;
  *node = add_node(*graph, type, what, before, std::move(action), current_device());
  (*node)->parameters = std::move(parameters);
  return cudaSuccess;
}

CUgraph_st* graph_of(const CUgraphNode_st* node) {
  for (const auto& graph : state().graphs)
    if (owns(graph->nodes, node)) return graph.get();
  return nullptr;
}

bool may_free(const CUgraph_st& graph, const void* pointer) {
  const memory::Allocation* const found = memory::find(pointer);
  const bool is_of_graph = found != nullptr && found->kept && found->begin == reinterpret_cast<std::uintptr_t>(pointer);
  return is_of_graph && std::none_of(graph.nodes.begin(), graph.nodes.end(), [=](const auto& node) {
           return node->type == cudaGraphNodeTypeMemFree && node->what == pointer;
         });
}

bool has_memory_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree;
  });
}

std::size_t live() { return state().graphs.size() + state().execs.size(); }

void forget_all(int device) {
  State& s = state();
  const auto is_there = [=](const auto& node) { return node->device == device; };
  const auto touches = [=](const CUgraph_st& graph) {
    return !several_devices() || std::any_of(graph.nodes.begin(), graph.nodes.end(), is_there);
  };
  const auto is_over = [&](const Capture& capture) {
    return touches(*capture.graph) || !is_stream(capture.origin) || device_of(capture.origin) == device;
  };
  std::erase_if(s.streams, [&](const auto& entry) { return is_over(*entry.second.first); });
  std::erase_if(s.events, [&](const auto& entry) { return is_over(*entry.second.first); });
  std::erase_if(s.captures, [&](const auto& capture) { return is_over(*capture); });
  std::erase_if(s.graphs, [&](const auto& graph) { return touches(*graph); });
  std::erase_if(s.execs, [&](const auto& exec) {
    const bool over = !several_devices() || std::any_of(exec->nodes.begin(), exec->nodes.end(),
                                                        [=](const auto& node) { return node.device == device; });
    for (std::size_t i = 0; over && several_devices() && i < exec->chains.size(); ++i) {
      const OnDevice there(device_of(exec->chains[i]));
      cudaStreamDestroy(exec->chains[i]);
    }
    return over;
  });
}

}  // namespace tilewise::sim::graph
