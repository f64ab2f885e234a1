// What a graph remembers
//
// Goal: add_all() launches one graph three times, to add 1, 10 and 100 to x. It adds 1 each time.
// Make it add what it's told to.
#include "tilewise/puzzle.hpp"

__global__ void add(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

cudaGraph_t captured(float* x, float by, int n, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  add<<<(n + 255) / 256, 256, 0, stream>>>(x, by, n);
  cudaStreamEndCapture(stream, &graph);
  return graph;
}

void add_all(float* x, int n, cudaStream_t stream) {
  float by = 1;
  const cudaGraph_t graph = captured(x, by, n, stream);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  for (int i = 0; i < 3; ++i, by *= 10) {
    cudaGraphLaunch(ready, stream);
  }
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 300}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> x("x", in);
    cudaStream_t stream;
    puzzle::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    puzzle::check(cudaDeviceSynchronize());
    add_all(x.data(), n, stream);
    const auto more = [&](std::size_t i) { return in[i] + 111; };
    puzzle::expect("x", "n = " + std::to_string(n), x.host(), more);
    puzzle::check(cudaStreamDestroy(stream));
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 5
// Hint: When a launch is captured, the graph copies its arguments. What `by` becomes later, it
// never sees.
// Hint: cudaGraphExecUpdate(ready, other, &result) gives `ready` the arguments of another graph
// with the same launches; `result` is a cudaGraphExecUpdateResultInfo.
// Hint: Before cudaGraphLaunch: const cudaGraph_t next = captured(x, by, n, stream);
// cudaGraphExecUpdateResultInfo result; cudaGraphExecUpdate(ready, next, &result);
// cudaGraphDestroy(next);
// Notice: Updating is cheaper than instantiating once more, which would be right, too: lesson 15's
// table has both, graph_updated and graph_made_anew. To change one kernel's arguments there is
// cudaGraphExecKernelNodeSetParams.
