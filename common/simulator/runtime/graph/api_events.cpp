// Nodes that record an event or wait for one.
#include <cstddef>
#include <variant>

#include "cuda_runtime_api.h"
#include "runtime/api.hpp"
#include "runtime/graph/actions.hpp"
#include "runtime/graph/execs.hpp"

using namespace tilewise::sim;

namespace {

cudaError_t add_event_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                           cudaEvent_t event, cudaGraphNodeType type) {
  return api([=] {
    if (event == nullptr) return cudaErrorInvalidValue;
    return graph::new_node(node, graph, after, count, type, nullptr, graph::event_action(event, type), event);
  });
}

cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event, cudaGraphNodeType type) {
  return api([=] {
    if (node == nullptr || event == nullptr || node->type != type) return cudaErrorInvalidValue;
    node->action = graph::event_action(event, type);
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
      compiled.action = graph::event_action(event, type);
      return cudaSuccess;
    });
  });
}

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
