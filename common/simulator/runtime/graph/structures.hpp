// What graphs are made of: nodes, graphs, graphs that can be launched, captures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "runtime/graph.hpp"

namespace tilewise::sim::graph {

/// A kernel by its pointer, with copies of its arguments.
struct KernelCall {
  const void* kernel;
  std::vector<std::vector<unsigned char>> arguments;
  std::vector<void*> pointers;  // to them
  cudaKernelNodeParams parameters;
};

using SharedCall = std::shared_ptr<KernelCall>;

/// What a node was made with, where the program gave it: what cudaGraphKernelNodeGetParams and its kin give back.
using Parameters = std::variant<std::monostate, SharedCall, cudaMemcpy3DParms, cudaMemsetParams, cudaHostNodeParams,
                                cudaEvent_t, cudaGraph_t, cudaMemAllocNodeParams>;

/// Memory that a node allocates: its addresses are kept as long as a graph has the node. What is allocated then stays so until it is freed.
struct NodeMemory {
  void* pointer;
  std::size_t bytes;
  ~NodeMemory() { memory::keep_addresses(pointer, false); }
};

}  // namespace tilewise::sim::graph

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  const void* what = nullptr;
  tilewise::sim::graph::Action action;
  std::vector<CUgraphNode_st*> after;
  int device = 0;  // where it is done
  tilewise::sim::graph::Parameters parameters = {};
  std::optional<cudaMemcpy3DParms> copy = {};  // a captured one; what a program adds has it in its parameters
  const CUgraphNode_st* cloned_from = nullptr;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  struct Node {
    const CUgraphNode_st* origin;
    cudaGraphNodeType type;
    const void* what;
    tilewise::sim::graph::Action action;
    std::vector<std::size_t> after;
    std::size_t chain;
    int device;
    std::optional<cudaMemcpy3DParms> copy;  // what it does, if it's one
    bool enabled = true;
  };
  std::vector<Node> nodes;           // in an order that the dependencies allow
  std::vector<cudaStream_t> chains;  // a stream for each
  bool frees_before = false;         // cudaGraphInstantiateFlagAutoFreeOnLaunch
};

namespace tilewise::sim::graph {

using Nodes = std::vector<CUgraphNode_st*>;

// One capture: of the stream where it began, and of those that have waited for its events.
struct Capture {
  cudaStream_t origin;
  cudaStreamCaptureMode mode;
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  bool valid = true;
};

struct State {
  std::vector<std::unique_ptr<Capture>> captures;
  std::unordered_map<cudaStream_t, std::pair<Capture*, Nodes>> streams;  // and what their next node comes after
  std::unordered_map<cudaEvent_t, std::pair<Capture*, Nodes>> events;
  std::vector<std::unique_ptr<CUgraph_st>> graphs;
  std::vector<std::unique_ptr<CUgraphExec_st>> execs;
  bool launching = false;
};

State& state();

template <class Object>
bool owns(const std::vector<std::unique_ptr<Object>>& owners, const Object* object) {
  return object && std::any_of(owners.begin(), owners.end(), [=](const auto& owner) { return owner.get() == object; });
}

/// A node more in the graph, after those.
CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, const void* what, Nodes after, Action action,
                         int device);

/// The same for a program, which gives the nodes before it as a list; an error where one of them isn't of this graph.
cudaError_t new_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                     cudaGraphNodeType type, const void* what, Action action, Parameters parameters = {});

/// The graph that a node is in; null where it is in none.
CUgraph_st* graph_of(const CUgraphNode_st* node);

/// Memory of some graph that no node of this one frees yet.
bool may_free(const CUgraph_st& graph, const void* pointer);
bool has_memory_nodes(const CUgraph_st& graph);

}  // namespace tilewise::sim::graph
