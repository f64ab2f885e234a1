// expect: rule_30 findings leak
// points: rule_30 79..81
// The captured graph is never destroyed.
#include "homework.cuh"

__global__ void step(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = from[i > 0 ? i - 1 : n - 1], right = from[i < n - 1 ? i + 1 : 0];
  to[i] = left ^ (from[i] | right);
}

constexpr int CAPTURED = 32;  // steps in a graph: even, so that each launch begins where the last one has stopped

cudaError_t launch_step(const int* from, int* to, int n, cudaStream_t stream) {
  step<<<(n + 255) / 256, 256, 0, stream>>>(from, to, n);
  return cudaGetLastError();
}

// CAPTURED steps, from `a` to `b` and back again and again.
cudaError_t capture(int* a, int* b, int n, cudaGraphExec_t* graph) {
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (error == cudaSuccess) {
    for (int s = 0; s < CAPTURED && error == cudaSuccess; ++s)
      error = s % 2 == 0 ? launch_step(a, b, n, stream) : launch_step(b, a, n, stream);
    const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
    if (error == cudaSuccess) error = ended;
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(graph, captured, 0);
  cudaStreamDestroy(stream);
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
    if (error == cudaSuccess) error = capture(a, b, n, &graph);
    for (; left >= CAPTURED && error == cudaSuccess; left -= CAPTURED) error = cudaGraphLaunch(graph, stream);
    if (graph != nullptr) cudaGraphExecDestroy(graph);  // its launches are done all the same
  }
  for (int s = 0; s < left && error == cudaSuccess; ++s)
    error = s % 2 == 0 ? launch_step(a, b, n, stream) : launch_step(b, a, n, stream);
  return error;
}
