// The capture of streams.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/devices.hpp"
#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "runtime/api.hpp"
#include "runtime/graph/actions.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::graph {

namespace {

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

bool takes_copy(cudaStream_t stream, const cudaMemcpy3DParms& copy, Action action, cudaError_t& error) {
  if (!takes(stream, cudaGraphNodeTypeMemcpy, nullptr, std::move(action), error)) return false;
  if (error == cudaSuccess) state().streams.at(stream).second.back()->copy = copy;
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

}  // namespace tilewise::sim::graph

using namespace tilewise::sim;

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
