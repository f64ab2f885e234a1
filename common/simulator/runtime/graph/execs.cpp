#include "runtime/graph/execs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/devices.hpp"
#include "base/memory.hpp"
#include "model/order.hpp"
#include "runtime/api.hpp"

namespace tilewise::sim::graph {

namespace {

/// A graph that allocates has one address for each allocation, and so can be ready for launches once at a time.
bool is_instantiated(const CUgraph_st& graph) {
  const auto has_it = [&](const auto& exec) {
    return std::any_of(exec->nodes.begin(), exec->nodes.end(), [&](const CUgraphExec_st::Node& compiled) {
      return compiled.type == cudaGraphNodeTypeMemAlloc &&
             std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
               return node->type == cudaGraphNodeTypeMemAlloc && node->what == compiled.what;
             });
    });
  };
  return std::any_of(state().execs.begin(), state().execs.end(), has_it);
}

/// The graph's nodes in an order that its dependencies allow, as early as they were added; fewer where they go round in a circle.
Nodes in_order(const CUgraph_st& graph) {
  Nodes ordered;
  const auto done = [&](const CUgraphNode_st* n) {
    return std::find(ordered.begin(), ordered.end(), n) != ordered.end();
  };
  bool in_their_order = true;  // nearly always; then nothing is to be searched
  std::unordered_map<const CUgraphNode_st*, std::size_t> place;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const CUgraphNode_st* before : graph.nodes[i]->after) in_their_order &= place.count(before) != 0;
    place[graph.nodes[i].get()] = i;
  }
  if (in_their_order) {
    for (const auto& node : graph.nodes) ordered.push_back(node.get());
    return ordered;
  }
  for (bool found = true; found && ordered.size() < graph.nodes.size();) {
    found = false;
    for (const auto& node : graph.nodes) {
      if (done(node.get()) || !std::all_of(node->after.begin(), node->after.end(), done)) continue;
      ordered.push_back(node.get());
      found = true;
    }
  }
  return ordered;
}

/// The copy that the node is, however it was made; none if it's another.
std::optional<cudaMemcpy3DParms> copy_of(const CUgraphNode_st& node) {
  const auto* added = std::get_if<cudaMemcpy3DParms>(&node.parameters);
  return added != nullptr ? std::optional(*added) : node.copy;
}

/// Fills in what is to be done. Each node goes on with the chain of a node before it, if no other has.
cudaError_t compile(CUgraphExec_st& exec, const CUgraph_st& graph) {
  const Nodes ordered = in_order(graph);
  if (ordered.size() != graph.nodes.size()) return cudaErrorInvalidValue;
  exec.nodes.clear();
  std::unordered_map<const CUgraphNode_st*, std::size_t> place;
  std::vector<std::size_t> last;  // of each chain
  std::vector<int> devices;
  for (const CUgraphNode_st* node : ordered) {
    CUgraphExec_st::Node compiled{node, node->type,  node->what,   node->action,
                                  {},   last.size(), node->device, copy_of(*node)};
    for (const CUgraphNode_st* before : node->after) {
      const std::size_t at = place.at(before);
      compiled.after.push_back(at);
      if (last[exec.nodes[at].chain] == at && exec.nodes[at].device == node->device)
        compiled.chain = exec.nodes[at].chain;
    }
    place[node] = exec.nodes.size();
    if (compiled.chain == last.size()) last.push_back(0), devices.push_back(node->device);
    last[compiled.chain] = exec.nodes.size();
    exec.nodes.push_back(std::move(compiled));
  }
  for (std::size_t i = 0; i < last.size(); ++i) {
    const OnDevice here(devices[i]);
    if (i == exec.chains.size())
      exec.chains.emplace_back();
    else if (device_of(exec.chains[i]) == devices[i])
      continue;
    else
      cudaStreamDestroy(exec.chains[i]);
    cudaStreamCreateWithFlags(&exec.chains[i], cudaStreamNonBlocking);
    order::does_nodes_of(order_of(exec.chains[i]), &exec);
  }
  return cudaSuccess;
}

bool is_one_row(const cudaMemcpy3DParms& copy) {
  return copy.extent.width != 0 && copy.extent.height == 1 && copy.extent.depth == 1;
}

bool is_same_copy(const cudaMemcpy3DParms& was, const cudaMemcpy3DParms& now) {
  return std::memcmp(&was, &now, offsetof(cudaMemcpy3DParms, kind)) == 0 && was.kind == now.kind;
}

}  // namespace

bool may_become(const cudaMemcpy3DParms& was, const cudaMemcpy3DParms& now) {
  return is_one_row(was) && is_one_row(now) && was.kind == now.kind;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  if (exec == nullptr || !owns(state().graphs, graph)) return cudaErrorInvalidValue;
  if (is_instantiated(*graph)) return cudaErrorNotSupported;
  auto made = std::make_unique<CUgraphExec_st>();
  made->frees_before = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  if (const cudaError_t error = compile(*made, *graph)) return error;
  memory::host_uses(exec, sizeof *exec);
  *exec = made.get();
  state().execs.push_back(std::move(made));
  return cudaSuccess;
}

cudaError_t begin_without_memory(const CUgraphExec_st& exec, cudaStream_t stream, void* site) {
  for (const auto& node : exec.nodes) {
    if (node.type != cudaGraphNodeTypeMemAlloc || !memory::find(node.what)->live) continue;
    if (!exec.frees_before) return cudaErrorInvalidValue;
    if (const cudaError_t error = free_in_stream("cudaGraphLaunch", const_cast<void*>(node.what), stream, site))
      return error;
  }
  return cudaSuccess;
}

cudaError_t launch(const CUgraphExec_st& exec, cudaStream_t stream) {
  const order::Clock begin = order::record(order_of(stream));
  std::vector<order::Clock> ends;
  for (const auto& node : exec.nodes) {
    const cudaStream_t chain = exec.chains[node.chain];
    order::wait(order_of(chain), begin);
    for (const std::size_t before : node.after) order::wait(order_of(chain), ends[before]);
    state().launching = true;
    const OnDevice here(node.device);
    const cudaError_t error = node.action && node.enabled ? node.action(chain) : cudaSuccess;
    state().launching = false;
    if (error != cudaSuccess) return error;
    ends.push_back(order::record(order_of(chain)));
  }
  for (const order::Clock& end : ends) order::wait(order_of(stream), end);
  order::ask_for(order_of(stream));
  return cudaSuccess;
}

cudaGraphExecUpdateResult update(CUgraphExec_st& exec, const CUgraph_st& graph, cudaGraphNode_t& culprit) {
  culprit = nullptr;
  CUgraphExec_st changed;
  changed.chains = exec.chains;
  const Nodes ordered = in_order(graph);
  if (ordered.size() != exec.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < ordered.size(); ++i)
    if (ordered[i]->device != exec.nodes[i].device) return cudaGraphExecUpdateErrorParametersChanged;
  if (compile(changed, graph) != cudaSuccess) return cudaGraphExecUpdateError;
  exec.chains = changed.chains;
  for (const cudaStream_t chain : exec.chains) order::does_nodes_of(order_of(chain), &exec);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    culprit = ordered[i];
    if (changed.nodes[i].after != exec.nodes[i].after) return cudaGraphExecUpdateErrorTopologyChanged;
    if (changed.nodes[i].type != exec.nodes[i].type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    // A node may get another kernel, but memory keeps its address.
    if (changed.nodes[i].type != cudaGraphNodeTypeKernel && changed.nodes[i].what != exec.nodes[i].what)
      return cudaGraphExecUpdateErrorParametersChanged;
    const auto& copy = changed.nodes[i].copy;
    if (copy && !is_same_copy(*exec.nodes[i].copy, *copy) && !may_become(*exec.nodes[i].copy, *copy))
      return cudaGraphExecUpdateErrorParametersChanged;
  }
  culprit = nullptr;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    exec.nodes[i].what = changed.nodes[i].what;
    exec.nodes[i].action = std::move(changed.nodes[i].action);
    exec.nodes[i].copy = changed.nodes[i].copy;
  }
  return cudaGraphExecUpdateSuccess;
}

void destroy_chains(const CUgraphExec_st& exec) {
  for (const cudaStream_t chain : exec.chains) cudaStreamDestroy(chain);
}

cudaError_t child_action(const CUgraph_st& child, Action& action) {
  const std::shared_ptr<CUgraphExec_st> exec(new CUgraphExec_st, [](CUgraphExec_st* done) {
    destroy_chains(*done);
    delete done;
  });
  if (const cudaError_t error = compile(*exec, child)) return error;
  action = [exec](cudaStream_t stream) { return launch(*exec, stream); };
  return cudaSuccess;
}

}  // namespace tilewise::sim::graph
