// A stream's work captured once, and launched again and again as a graph.
#include <cstdio>

__global__ void add(float* x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  const int n = 700;
  float *x, back[n];
  cudaMalloc(&x, sizeof back);
  cudaMemset(x, 0, sizeof back);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<3, 256, 0, stream>>>(x, 1, n);
  twice<<<3, 256, 0, stream>>>(x, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 5; ++i) cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (float value : back) wrong += value != 62;  // 2 (v + 1), five times from 0
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(x);
  std::puts(wrong ? "wrong" : "right");
}
