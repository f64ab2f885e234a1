// Graphs in graphs are not among what the homework may call.
// expect: rule_30 compiles refused: it calls cudaGraphAddChildGraphNode
// points: rule_30 0..0
#include "homework.cuh"

cudaError_t twice(cudaGraph_t all, cudaGraph_t steps) {
  cudaGraphNode_t first, second;
  cudaError_t error =
      cudaGraphAddChildGraphNode(&first, all, nullptr, 0, steps);
  if (error == cudaSuccess) error = cudaGraphAddChildGraphNode(&second, all, &first, 1, steps);
  return error;
}
