// Graphs that can be launched. Their nodes are done one after another, in an order that the dependencies allow; that no other order
// would give another result is the business of order.hpp: each chain of nodes has a stream of its own.
#pragma once

#include "runtime/graph/structures.hpp"

namespace tilewise::sim::graph {

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0);

/// What the last launch has allocated must be free again, or is freed now.
cudaError_t begin_without_memory(const CUgraphExec_st& exec, cudaStream_t stream, void* site);
cudaError_t launch(const CUgraphExec_st& exec, cudaStream_t stream);

/// Its nodes do from now on what the graph's do, if they are of the same types in the same order. `culprit`: the first node of the graph that is
/// not, or null.
cudaGraphExecUpdateResult update(CUgraphExec_st& exec, const CUgraph_st& graph, cudaGraphNode_t& culprit);
/// Whether a copy that is ready for launches may become this one. Both have one row, and are of one kind: an H200 refuses all else
/// (1,296 pairs of memory, CUDA 13.0; captured copies, too), and takes any memory that this kind of copy may have.
bool may_become(const cudaMemcpy3DParms& was, const cudaMemcpy3DParms& now);
void destroy_chains(const CUgraphExec_st& exec);

/// A graph as a node: as it is now, whatever becomes of it.
cudaError_t child_action(const CUgraph_st& child, Action& action);

/// Does `change(compiled node)` to what the node of that type has become in a graph that can be launched.
template <class Change>
cudaError_t in_exec(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, Change change) {
  if (!owns(state().execs, exec)) return cudaErrorInvalidValue;
  for (auto& compiled : exec->nodes)
    if (compiled.origin == node && compiled.type == type) return change(compiled);
  return cudaErrorInvalidValue;
}

}  // namespace tilewise::sim::graph
