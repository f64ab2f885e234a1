// A CUDA graph made of what a function launches.
#pragma once

#include <cuda_runtime.h>

#include "tilewise/cuda_check.hpp"

// [graph]
/// What `work(stream)` launches, as a graph: captured once, launched as often as you like.
class Graph {
 public:
  template <class Work>
  explicit Graph(Work work) : graph_(captured(work)) {
    CUDA_CHECK(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  void launch(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(ready_, stream)); }
  // [graph]

  // [update]
  /// The same launches with other arguments. Throws if `work` launches something else.
  template <class Work>
  void update(Work work) const {
    const cudaGraph_t other = captured(work);
    cudaGraphExecUpdateResultInfo result;
    const cudaError_t status = cudaGraphExecUpdate(ready_, other, &result);
    CUDA_CHECK(cudaGraphDestroy(other));
    CUDA_CHECK(status);
  }
  // [update]

  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }

 private:
  /// While a stream is captured, what goes into it is written down and not done.
  // [captured]
  template <class Work>
  static cudaGraph_t captured(Work work) {
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work(stream);
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
    return graph;
  }
  // [captured]

  cudaGraph_t graph_;
  cudaGraphExec_t ready_ = nullptr;
};
