// Graphs and the capture of streams. A graph's nodes are done one after another, in an order that its dependencies allow; that no
// other order would give another result is the business of order.hpp: each chain of nodes has a stream of its own.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "graph.hpp"
#include "model/order.hpp"
#include "tilewise_sim/report.hpp"

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
    bool enabled = true;
  };
  std::vector<Node> nodes;           // in an order that the dependencies allow
  std::vector<cudaStream_t> chains;  // a stream for each
  bool frees_before = false;         // cudaGraphInstantiateFlagAutoFreeOnLaunch
};

namespace tilewise::sim::graph {

namespace {

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

State& state() {
  static auto* s = new State;  // never destroyed: programs destroy graphs in destructors of their own static objects
  return *s;
}

template <class Object>
bool owns(const std::vector<std::unique_ptr<Object>>& owners, const Object* object) {
  return object && std::any_of(owners.begin(), owners.end(), [=](const auto& owner) { return owner.get() == object; });
}

CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, const void* what, Nodes after, Action action,
                         int device) {
  graph.nodes.push_back(
      std::make_unique<CUgraphNode_st>(CUgraphNode_st{type, what, std::move(action), std::move(after), device}));
  return graph.nodes.back().get();
}

cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.valid = false;
  return error;
}

template <class Which>
cudaError_t invalidate_all(Which which, cudaError_t error) {
  bool any = false;
  for (const auto& capture : state().captures)
    if (which(*capture)) any = true, capture->valid = false;
  return any ? error : cudaSuccess;
}

// Work in the default stream would wait for captured streams of its device that wait for it.
cudaError_t forbid_default_stream() {
  bool any = false;
  for (auto& [stream, member] : state().streams)
    if (is_blocking(stream) && device_of(stream) == current_device()) any = true, member.first->valid = false;
  return any ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

/// A launch that can be repeated.
Action launch_action(LaunchConfig config, void (*thread)(void*), const void* context, std::size_t bytes,
                     const void* site) {
  std::shared_ptr<void> copy(::operator new (bytes, std::align_val_t{64}),
                             [](void* p) { ::operator delete (p, std::align_val_t{64}); });
  std::memcpy(copy.get(), context, bytes);
  return [config, thread, copy, bytes, site](cudaStream_t stream) mutable {
    config.stream = stream;
    return run_launch(config, thread, copy.get(), {static_cast<const char*>(copy.get()), bytes}, site);
  };
}

cudaError_t kernel_action(const cudaKernelNodeParams& parameters, const void* site, Action& action,
                          Parameters* kept = nullptr) {
  if (parameters.func == nullptr) return cudaErrorInvalidDeviceFunction;
  const std::size_t* sizes = parameter_sizes_of(parameters.func);
  if (sizes == nullptr) unsupported("a graph's kernel node for a template kernel (capture a launch of it instead)");
  if (*sizes != 0 && parameters.kernelParams == nullptr) return cudaErrorInvalidValue;
  auto call = std::make_shared<KernelCall>(KernelCall{parameters.func, {}, {}, parameters});
  for (std::size_t i = 0; sizes[i] != 0; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(parameters.kernelParams[i]);
    call->arguments.emplace_back(bytes, bytes + sizes[i]);
  }
  for (auto& argument : call->arguments) call->pointers.push_back(argument.data());
  call->parameters.kernelParams = call->pointers.data();
  const LaunchConfig config(parameters.gridDim, parameters.blockDim, parameters.sharedMemBytes);
  if (const cudaError_t error = check_launch_config(config)) return error;
  action = [call, config, site](cudaStream_t stream) {
    std::vector<void*> pointers = call->pointers;
    LaunchConfig here = config;
    here.stream = stream;
    return run_kernel(call->kernel, here, pointers.data(), site);
  };
  if (kept != nullptr) *kept = call;
  return cudaSuccess;
}

cudaError_t copy_action(const cudaMemcpy3DParms& parameters, void* site, Action& action) {
  const cudaMemcpy3DParms p = parameters;
  if ((p.srcArray != nullptr) == (p.srcPtr.ptr != nullptr) || (p.dstArray != nullptr) == (p.dstPtr.ptr != nullptr))
    return cudaErrorInvalidValue;
  action = [=](cudaStream_t stream) { return copy_3d({"a graph's copy", site, stream, true}, p); };
  return cudaSuccess;
}

/// A copy of bytes in one run, as one in three dimensions: that is what cudaGraphMemcpyNodeGetParams shows of it, too.
cudaMemcpy3DParms in_one_run(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  p.extent = make_cudaExtent(bytes, 1, 1);
  p.kind = kind;
  return p;
}

cudaError_t fill_action(const cudaMemsetParams& parameters, void* site, Action& action) {
  const cudaMemsetParams p = parameters;
  // Wider elements would need a fill that repeats their bytes; those of which all bytes are alike do not.
  const unsigned byte = p.value & 0xFFu;
  const unsigned repeated = p.elementSize == 4 ? byte * 0x01010101u : p.elementSize == 2 ? byte * 0x0101u : byte;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  if (repeated != p.value) unsupported("a graph's fill with elements whose bytes differ");
  action = [=](cudaStream_t stream) {
    return fill({"a graph's fill", site, stream, true}, p.dst, p.pitch, static_cast<int>(byte), p.width * p.elementSize,
                p.height);
  };
  return cudaSuccess;
}

cudaError_t host_action(const cudaHostNodeParams& parameters, Action& action) {
  const cudaHostNodeParams p = parameters;
  if (p.fn == nullptr) return cudaErrorInvalidValue;
  action = [=](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p.fn, p.userData); };
  return cudaSuccess;
}

/// A node that allocates; its address is known at once.
cudaError_t allocation_action(std::size_t bytes, int device, void* site, void*& pointer, Action& action) {
  const OnDevice there(device);
  pointer = reserve_for_graph(bytes);
  if (pointer == nullptr) return cudaErrorMemoryAllocation;
  const std::shared_ptr<NodeMemory> memory(new NodeMemory{pointer, bytes});
  action = [=](cudaStream_t stream) { return allocate_for_graph(memory->pointer, memory->bytes, stream, site); };
  return cudaSuccess;
}

/// Memory of some graph that no node of this one frees yet.
bool may_free(const CUgraph_st& graph, const void* pointer) {
  const memory::Allocation* const found = memory::find(pointer);
  const bool is_of_graph = found != nullptr && found->kept && found->begin == reinterpret_cast<std::uintptr_t>(pointer);
  return is_of_graph && std::none_of(graph.nodes.begin(), graph.nodes.end(), [=](const auto& node) {
           return node->type == cudaGraphNodeTypeMemFree && node->what == pointer;
         });
}

Action free_action(void* pointer, void* site) {
  return [=](cudaStream_t stream) { return free_in_stream("a graph's free", pointer, stream, site); };
}

bool has_memory_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree;
  });
}

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

/// What the last launch has allocated must be free again, or is freed now.
cudaError_t begin_without_memory(const CUgraphExec_st& exec, cudaStream_t stream, void* site) {
  for (const auto& node : exec.nodes) {
    if (node.type != cudaGraphNodeTypeMemAlloc || !memory::find(node.what)->live) continue;
    if (!exec.frees_before) return cudaErrorInvalidValue;
    if (const cudaError_t error = free_in_stream("cudaGraphLaunch", const_cast<void*>(node.what), stream, site))
      return error;
  }
  return cudaSuccess;
}

// ---------------------------------------------------------------- building and running

cudaError_t new_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                     cudaGraphNodeType type, const void* what, Action action, Parameters parameters = {}) {
  if (node == nullptr || !owns(state().graphs, graph) || (count != 0 && after == nullptr)) return cudaErrorInvalidValue;
  const Nodes before(after, after + count);
  for (const CUgraphNode_st* n : before)
    if (!owns(graph->nodes, n)) return cudaErrorInvalidValue;
  if (type == cudaGraphNodeTypeKernel) ++host_work_so_far().launches;
  *node = add_node(*graph, type, what, before, std::move(action), current_device());
  (*node)->parameters = std::move(parameters);
  return cudaSuccess;
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

/// Fills in what is to be done. Each node goes on with the chain of a node before it, if no other has.
cudaError_t compile(CUgraphExec_st& exec, const CUgraph_st& graph) {
  const Nodes ordered = in_order(graph);
  if (ordered.size() != graph.nodes.size()) return cudaErrorInvalidValue;
  exec.nodes.clear();
  std::unordered_map<const CUgraphNode_st*, std::size_t> place;
  std::vector<std::size_t> last;  // of each chain
  std::vector<int> devices;
  for (const CUgraphNode_st* node : ordered) {
    CUgraphExec_st::Node compiled{node, node->type, node->what, node->action, {}, last.size(), node->device};
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
  }
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0) {
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

void destroy_chains(const CUgraphExec_st& exec) {
  for (const cudaStream_t chain : exec.chains) cudaStreamDestroy(chain);
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

/// A graph as a node: as it is now, whatever becomes of it.
cudaError_t child_action(const CUgraph_st& child, Action& action) {
  const std::shared_ptr<CUgraphExec_st> exec(new CUgraphExec_st, [](CUgraphExec_st* done) {
    destroy_chains(*done);
    delete done;
  });
  if (const cudaError_t error = compile(*exec, child)) return error;
  action = [exec](cudaStream_t stream) { return launch(*exec, stream); };
  return cudaSuccess;
}

/// The parameters of a node of that type; null where it isn't one, or where the node was captured.
template <class Kept>
Kept* kept_of(cudaGraphNode_t node, cudaGraphNodeType type, const char* captured) {
  if (node == nullptr || node->type != type) return nullptr;
  if (std::holds_alternative<std::monostate>(node->parameters)) unsupported(captured);
  return std::get_if<Kept>(&node->parameters);
}

/// Does `change(compiled node)` to what the node of that type has become in a graph that can be launched.
template <class Change>
cudaError_t in_exec(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, Change change) {
  if (!owns(state().execs, exec)) return cudaErrorInvalidValue;
  for (auto& compiled : exec->nodes)
    if (compiled.origin == node && compiled.type == type) return change(compiled);
  return cudaErrorInvalidValue;
}

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

/// The graph that a node is in; null where it is in none.
CUgraph_st* graph_of(const CUgraphNode_st* node) {
  for (const auto& graph : state().graphs)
    if (owns(graph->nodes, node)) return graph.get();
  return nullptr;
}

cudaGraphExecUpdateResult update(CUgraphExec_st& exec, const CUgraph_st& graph) {
  CUgraphExec_st changed;
  changed.chains = exec.chains;
  const Nodes ordered = in_order(graph);
  if (ordered.size() != exec.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < ordered.size(); ++i)
    if (ordered[i]->device != exec.nodes[i].device) return cudaGraphExecUpdateErrorParametersChanged;
  if (compile(changed, graph) != cudaSuccess) return cudaGraphExecUpdateError;
  exec.chains = changed.chains;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (changed.nodes[i].after != exec.nodes[i].after) return cudaGraphExecUpdateErrorTopologyChanged;
    if (changed.nodes[i].type != exec.nodes[i].type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (changed.nodes[i].what != exec.nodes[i].what) return cudaGraphExecUpdateErrorFunctionChanged;
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) exec.nodes[i].action = std::move(changed.nodes[i].action);
  return cudaGraphExecUpdateSuccess;
}

}  // namespace

bool capturing() { return !state().captures.empty(); }

bool launching() { return state().launching; }

bool is_captured(cudaStream_t stream) { return capturing() && state().streams.count(stream) != 0; }

bool takes(cudaStream_t stream, cudaGraphNodeType type, const void* what, Action action, cudaError_t& error) {
  State& s = state();
  error = cudaSuccess;
  if (is_legacy(stream)) return (error = forbid_default_stream()) != cudaSuccess;
  const auto member = s.streams.find(stream);
  if (member == s.streams.end()) return false;
  auto& [capture, last] = member->second;
  if (!capture->valid) {
    error = cudaErrorStreamCaptureInvalidated;
    return true;
  }
  if (type == cudaGraphNodeTypeKernel) ++host_work_so_far().launches;
  last = {add_node(*capture->graph, type, what, last, std::move(action), device_of(stream))};
  return true;
}

bool takes_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes, const void* site,
                  cudaError_t& error) {
  if (!is_captured(config.stream)) return takes(config.stream, cudaGraphNodeTypeKernel, nullptr, {}, error);
  if (bytes == 0)
    unsupported("the capture of a launch whose kernel is a variable, or one of whose arguments has a constructor");
  return takes(config.stream, cudaGraphNodeTypeKernel, reinterpret_cast<const void*>(thread),
               launch_action(config, thread, context, bytes, site), error);
}

cudaError_t takes_kernel(const cudaKernelNodeParams& parameters, cudaStream_t stream, const void* site) {
  Action action;
  cudaError_t error = kernel_action(parameters, site, action);
  if (error == cudaSuccess) takes(stream, cudaGraphNodeTypeKernel, parameters.func, std::move(action), error);
  return error;
}

cudaError_t takes_allocation(void** pointer, std::size_t bytes, cudaStream_t stream, void* site) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  memory::host_uses(pointer, sizeof *pointer);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  Action action;
  void* reserved = nullptr;
  cudaError_t error = allocation_action(bytes, device_of(stream), site, reserved, action);
  if (error == cudaSuccess) takes(stream, cudaGraphNodeTypeMemAlloc, reserved, std::move(action), error);
  if (error == cudaSuccess) *pointer = reserved;
  return error;
}

cudaError_t takes_free(void* pointer, cudaStream_t stream, void* site) {
  Capture& capture = *state().streams.at(stream).first;
  if (pointer == nullptr) return cudaSuccess;
  if (!may_free(*capture.graph, pointer)) return invalidate(capture, cudaErrorInvalidValue);
  cudaError_t error;
  takes(stream, cudaGraphNodeTypeMemFree, pointer, free_action(pointer, site), error);
  return error;
}

cudaError_t forbid_waiting() {
  return invalidate_all([](const Capture&) { return true; }, cudaErrorStreamCaptureUnsupported);
}

cudaError_t forbid_allocating() {
  if (state().launching) return cudaSuccess;  // a node of a graph may
  return invalidate_all([](const Capture& c) { return c.mode == cudaStreamCaptureModeGlobal; },
                        cudaErrorStreamCaptureUnsupported);
}

cudaError_t forbid_waiting(cudaStream_t stream) {
  if (is_legacy(stream)) return forbid_default_stream();
  const auto member = state().streams.find(stream);
  return member == state().streams.end() ? cudaSuccess
                                         : invalidate(*member->second.first, cudaErrorStreamCaptureUnsupported);
}

cudaError_t forbid_waiting(cudaEvent_t event) {
  const auto found = state().events.find(event);
  return found == state().events.end() ? cudaSuccess : cudaErrorCapturedEvent;
}

bool takes_record(cudaEvent_t event, cudaStream_t stream, cudaError_t& error) {
  State& s = state();
  error = cudaSuccess;
  s.events.erase(event);
  if (is_legacy(stream)) return (error = forbid_default_stream()) != cudaSuccess;
  const auto member = s.streams.find(stream);
  if (member == s.streams.end()) return false;
  s.events[event] = member->second;
  return true;
}

bool takes_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t& error) {
  State& s = state();
  error = cudaSuccess;
  const auto member = s.streams.find(stream);
  const auto found = s.events.find(event);
  if (found == s.events.end()) {
    if (member == s.streams.end()) return is_legacy(stream) && (error = forbid_default_stream()) != cudaSuccess;
    error = invalidate(*member->second.first, cudaErrorStreamCaptureIsolation);
    return true;
  }
  const auto& [capture, nodes] = found->second;
  if (is_legacy(stream)) {
    error = invalidate(*capture, cudaErrorStreamCaptureImplicit);
  } else if (member == s.streams.end()) {
    s.streams[stream] = {capture, nodes};
  } else if (member->second.first != capture) {
    error = invalidate(*capture, cudaErrorStreamCaptureMerge);
  } else {
    Nodes& last = member->second.second;
    for (CUgraphNode_st* node : nodes)
      if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
  return true;
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

using namespace tilewise::sim;

// ---------------------------------------------------------------- capture

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api([=] {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    if (graph::is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
    if (graph::is_captured(stream)) return cudaErrorIllegalState;
    graph::state().captures.push_back(std::make_unique<graph::Capture>(graph::Capture{stream, mode}));
    graph::state().streams[stream] = {graph::state().captures.back().get(), {}};
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return api([=] {
    graph::State& s = graph::state();
    if (graph == nullptr) return cudaErrorInvalidValue;
    memory::host_uses(graph, sizeof *graph);
    *graph = nullptr;
    const auto member = s.streams.find(stream);
    if (member == s.streams.end()) return cudaErrorIllegalState;
    graph::Capture* const capture = member->second.first;
    if (capture->origin != stream) return graph::invalidate(*capture, cudaErrorStreamCaptureUnmatched);
    // All that the capture holds must come before the origin's end.
    std::vector<const CUgraphNode_st*> joined(member->second.second.begin(), member->second.second.end());
    for (std::size_t i = 0; i < joined.size(); ++i)
      for (const CUgraphNode_st* before : joined[i]->after)
        if (std::find(joined.begin(), joined.end(), before) == joined.end()) joined.push_back(before);
    const bool unjoined = joined.size() != capture->graph->nodes.size();
    const bool valid = capture->valid;
    std::unique_ptr<CUgraph_st> made = std::move(capture->graph);
    std::erase_if(s.streams, [=](const auto& entry) { return entry.second.first == capture; });
    std::erase_if(s.events, [=](const auto& entry) { return entry.second.first == capture; });
    std::erase_if(s.captures, [=](const auto& owner) { return owner.get() == capture; });
    if (!valid) return cudaErrorStreamCaptureInvalidated;
    if (unjoined) return cudaErrorStreamCaptureUnjoined;
    *graph = made.get();
    s.graphs.push_back(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return api([=] {
    if (status == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    const auto member = graph::state().streams.find(stream);
    *status = member == graph::state().streams.end() ? cudaStreamCaptureStatusNone
              : member->second.first->valid          ? cudaStreamCaptureStatusActive
                                                     : cudaStreamCaptureStatusInvalidated;
    return cudaSuccess;
  });
}

// ---------------------------------------------------------------- graphs node by node

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

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaMemcpy3DParms parameters = graph::in_one_run(to, from, bytes, kind);
    graph::Action action;
    if (const cudaError_t error = graph::copy_action(parameters, site, action)) return error;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, nullptr, std::move(action), parameters);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    graph::Action action;
    if (const cudaError_t error = graph::fill_action(*parameters, site, action)) return error;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeMemset, nullptr, std::move(action), *parameters);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return api([=] {
    if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
    graph::Action action;
    if (const cudaError_t error = graph::host_action(*parameters, action)) return error;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeHost, nullptr, std::move(action), *parameters);
  });
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

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  return api([=] {
    if (!graph::owns(graph::state().graphs, graph) || (count != 0 && (from == nullptr || to == nullptr)))
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!graph::owns(graph->nodes, from[i]) || !graph::owns(graph->nodes, to[i])) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edges, size_t count) {
  if (edges != nullptr) unsupported("the data of a graph's edges");
  return cudaGraphAddDependencies(graph, from, to, count);
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

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    graph::Action action;
    if (const cudaError_t error = graph::copy_action(*parameters, site, action)) return error;
    return graph::new_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, nullptr, std::move(action), *parameters);
  });
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

namespace {

/// Records an event, or waits for it, in the stream of the node's chain.
graph::Action event_action(cudaEvent_t event, cudaGraphNodeType type) {
  if (type == cudaGraphNodeTypeEventRecord) return [=](cudaStream_t stream) { return cudaEventRecord(event, stream); };
  return [=](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); };
}

cudaError_t add_event_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                           cudaEvent_t event, cudaGraphNodeType type) {
  return api([=] {
    if (event == nullptr) return cudaErrorInvalidValue;
    return graph::new_node(node, graph, after, count, type, nullptr, event_action(event, type), event);
  });
}

cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event, cudaGraphNodeType type) {
  return api([=] {
    if (node == nullptr || event == nullptr || node->type != type) return cudaErrorInvalidValue;
    node->action = event_action(event, type);
    node->parameters = event;
    return cudaSuccess;
  });
}

cudaError_t event_of(cudaGraphNode_t node, cudaEvent_t* event, cudaGraphNodeType type) {
  return api([=] {
    if (node == nullptr || event == nullptr || node->type != type) return cudaErrorInvalidValue;
    *event = std::get<cudaEvent_t>(node->parameters);
    return cudaSuccess;
  });
}

cudaError_t set_event_in(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event, cudaGraphNodeType type) {
  return api([=] {
    if (event == nullptr) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, type, [=](auto& compiled) {
      compiled.action = event_action(event, type);
      return cudaSuccess;
    });
  });
}

constexpr const char* kCaptured = "the parameters of a node that was captured";

}  // namespace

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        size_t count, cudaEvent_t event) {
  return add_event_node(node, graph, after, count, event, cudaGraphNodeTypeEventRecord);
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) {
  return add_event_node(node, graph, after, count, event, cudaGraphNodeTypeWaitEvent);
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(node, event, cudaGraphNodeTypeEventRecord);
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(node, event, cudaGraphNodeTypeWaitEvent);
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of(node, event, cudaGraphNodeTypeEventRecord);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of(node, event, cudaGraphNodeTypeWaitEvent);
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return set_event_in(exec, node, event, cudaGraphNodeTypeEventRecord);
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return set_event_in(exec, node, event, cudaGraphNodeTypeWaitEvent);
}

// ---------------------------------------------------------------- parameters of nodes

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return api([=] {
    const auto* kept = graph::kept_of<graph::SharedCall>(node, cudaGraphNodeTypeKernel, kCaptured);
    if (kept == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = (*kept)->parameters;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return api([=] {
    const auto* kept = graph::kept_of<cudaMemcpy3DParms>(node, cudaGraphNodeTypeMemcpy, kCaptured);
    if (kept == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = *kept;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return api([=] {
    const auto* kept = graph::kept_of<cudaMemsetParams>(node, cudaGraphNodeTypeMemset, kCaptured);
    if (kept == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = *kept;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return api([=] {
    const auto* kept = graph::kept_of<cudaHostNodeParams>(node, cudaGraphNodeTypeHost, kCaptured);
    if (kept == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = *kept;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  return api([=] {
    const auto* kept = graph::kept_of<cudaMemAllocNodeParams>(node, cudaGraphNodeTypeMemAlloc, kCaptured);
    if (kept == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = *kept;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return api([=] {
    if (node == nullptr || pointer == nullptr || node->type != cudaGraphNodeTypeMemFree) return cudaErrorInvalidValue;
    std::memcpy(pointer, &node->what, sizeof node->what);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
  return api([=] {
    const auto* kept = graph::kept_of<cudaGraph_t>(node, cudaGraphNodeTypeGraph, kCaptured);
    if (kept == nullptr || child == nullptr) return cudaErrorInvalidValue;
    if (!graph::owns(graph::state().graphs, *kept)) unsupported("the graph of a node, after it has been destroyed");
    *child = *kept;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (node == nullptr || parameters == nullptr || node->type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
    if (const cudaError_t error = graph::copy_action(*parameters, site, node->action)) return error;
    node->parameters = *parameters;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = graph::in_one_run(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &parameters);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (node == nullptr || parameters == nullptr || node->type != cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    if (const cudaError_t error = graph::fill_action(*parameters, site, node->action)) return error;
    node->parameters = *parameters;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return api([=] {
    if (node == nullptr || parameters == nullptr || node->type != cudaGraphNodeTypeHost) return cudaErrorInvalidValue;
    if (const cudaError_t error = graph::host_action(*parameters, node->action)) return error;
    node->parameters = *parameters;
    return cudaSuccess;
  });
}

// ---------------------------------------------------------------- graphs that can be launched

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
      if (compiled.what != parameters->func) return cudaErrorInvalidValue;
      return graph::kernel_action(*parameters, site, compiled.action);
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    return graph::in_exec(exec, node, cudaGraphNodeTypeMemcpy,
                          [=](auto& compiled) { return graph::copy_action(*parameters, site, compiled.action); });
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
    const cudaGraphExecUpdateResult how = graph::update(*exec, *graph);
    if (error != nullptr) *error = nullptr;
    if (result != nullptr) *result = how;
    return how == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  cudaGraphExecUpdateResult how = cudaGraphExecUpdateError;
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, nullptr, &how);
  if (info != nullptr) *info = {how, nullptr, nullptr};
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
