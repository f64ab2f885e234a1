// The graph is made node by node.
#include "homework.cuh"

__global__ void step(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = from[i > 0 ? i - 1 : n - 1], right = from[i < n - 1 ? i + 1 : 0];
  to[i] = left ^ (from[i] | right);
}

constexpr int CAPTURED = 32;

cudaError_t launch_step(const int* from, int* to, int n, cudaStream_t stream) {
  step<<<(n + 255) / 256, 256, 0, stream>>>(from, to, n);
  return cudaGetLastError();
}

// A chain of CAPTURED steps, from `a` to `b` and back again and again.
cudaError_t make(int* a, int* b, int n, cudaGraphExec_t* ready) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t last = nullptr;
  cudaError_t error = cudaGraphCreate(&graph, 0);
  for (int s = 0; s < CAPTURED && error == cudaSuccess; ++s) {
    const int *from = s % 2 == 0 ? a : b, *to = s % 2 == 0 ? b : a;
    void* arguments[] = {&from, &to, &n};  // copied when the node is made
    cudaKernelNodeParams parameters = {};
    parameters.func = reinterpret_cast<void*>(step);
    parameters.gridDim = dim3((n + 255) / 256);
    parameters.blockDim = dim3(256);
    parameters.kernelParams = arguments;
    const cudaGraphNode_t before = last;
    error = cudaGraphAddKernelNode(&last, graph, s > 0 ? &before : nullptr, s > 0 ? 1 : 0, &parameters);
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(ready, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  return error;
}

cudaError_t launch_rule_30(const int* from, int* to, int* work, int n, int steps, cudaStream_t stream) {
  // The state is in `a` after the first step, and alternates: after the last one it must be in `to`.
  int* a = steps % 2 == 1 ? to : work;
  int* b = steps % 2 == 1 ? work : to;
  cudaError_t error = cudaSuccess;
  error = launch_step(from, a, n, stream);
  int left = steps - 1;
  if (left >= 2 * CAPTURED) {  // once, a graph isn't worth its making
    cudaGraphExec_t graph = nullptr;
    if (error == cudaSuccess) error = make(a, b, n, &graph);
    for (; left >= CAPTURED && error == cudaSuccess; left -= CAPTURED) error = cudaGraphLaunch(graph, stream);
    if (graph != nullptr) cudaGraphExecDestroy(graph);  // its launches are done all the same
  }
  for (int s = 0; s < left && error == cudaSuccess; ++s)
    error = s % 2 == 0 ? launch_step(a, b, n, stream) : launch_step(b, a, n, stream);
  return error;
}
