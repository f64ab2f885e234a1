// Homework of chapter 15. `make homework-15` grades this file; `make homework-15 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. core
// A filter over an array that doesn't fit into the device's memory.

// out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4 for `count` elements. in[-1] and in[count] are there, but where the
// array begins or ends.
__global__ void filter(const float* in, float* out, int count, bool begins, bool ends) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float left = in[i > 0 || !begins ? i - 1 : i], right = in[i < count - 1 || !ends ? i + 1 : i];
  out[i] = (left + 2 * in[i] + right) / 4;
}

cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  // TODO (about 38 lines): how large is a chunk? Then streams that follow `stream`, the chunks, and back to `stream`
  return error;
}

// ---------------------------------------------------------------------------------------------- 2. stretch
// Many small steps, launched as a graph.

__global__ void step(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = from[i > 0 ? i - 1 : n - 1], right = from[i < n - 1 ? i + 1 : 0];
  to[i] = left ^ (from[i] | right);
}

cudaError_t launch_rule_30(const int* from, int* to, int* work, int n, int steps, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  // TODO (about 39 lines): some steps as a graph, launched again and again, and what is left over
  return error;
}
