// A graph built node by node, with a smaller one in it: three rounds of smoothing between two rows, and their largest change.
// What each round changes was computed by hand.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const cudaError_t error = (call);                                               \
    if (error != cudaSuccess) {                                                     \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));    \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

constexpr int n = 300;

__global__ void smooth(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = i > 0 ? from[i - 1] : from[i], right = i + 1 < n ? from[i + 1] : from[i];
  to[i] = (left + from[i] + right) / 3.0f;
}

__global__ void largest_change(const float* a, const float* b, int* largest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(largest, __float_as_int(fabsf(a[i] - b[i])));  // not negative, so integers compare alike
}

struct Report {
  int round = 0;
  int* largest = nullptr;
  bool right = true;
};

void print_round(void* data) {
  Report& report = *static_cast<Report*>(data);
  float value;
  static_assert(sizeof value == sizeof *report.largest);
  __builtin_memcpy(&value, report.largest, sizeof value);
  constexpr float kWanted[] = {24.0f, 4.0f, 8.0f / 3.0f};
  report.right = report.right && std::fabs(value - kWanted[report.round]) < 1e-4f;
  std::printf("round %d: largest change %.3f\n", ++report.round, value);
}

int main() {
  float *a, *b;
  int *largest, *on_host;
  CHECK(cudaMalloc(&a, n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * sizeof(float)));
  CHECK(cudaMalloc(&largest, sizeof(int)));
  CHECK(cudaMallocHost(&on_host, sizeof(int)));
  std::vector<float> start(n, 0.0f);
  start[n / 2] = 36.0f;
  CHECK(cudaMemcpy(a, start.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  // Smooth from a to b, and back to a, where only the second step is looked at.
  cudaGraph_t step, whole;
  CHECK(cudaGraphCreate(&step, 0));
  CHECK(cudaGraphCreate(&whole, 0));
  void* arguments[] = {&a, &b};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(smooth);
  kernel.gridDim = dim3((n + 127) / 128);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  cudaGraphNode_t smoothing, clear, inner, compare, back, report_node;
  CHECK(cudaGraphAddKernelNode(&smoothing, step, nullptr, 0, &kernel));

  cudaMemsetParams zero{};
  zero.dst = largest;
  zero.elementSize = 4;
  zero.width = 1;
  zero.height = 1;
  CHECK(cudaGraphAddMemsetNode(&clear, whole, nullptr, 0, &zero));
  CHECK(cudaGraphAddChildGraphNode(&inner, whole, &clear, 1, step));
  void* compared[] = {&a, &b, &largest};
  kernel.func = reinterpret_cast<void*>(largest_change);
  kernel.kernelParams = compared;
  CHECK(cudaGraphAddKernelNode(&compare, whole, &inner, 1, &kernel));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(largest, sizeof(int), 1, 1);
  copy.dstPtr = make_cudaPitchedPtr(on_host, sizeof(int), 1, 1);
  copy.extent = make_cudaExtent(sizeof(int), 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaGraphAddMemcpyNode(&back, whole, &compare, 1, &copy));
  Report report{0, on_host};
  cudaHostNodeParams say{print_round, &report};
  CHECK(cudaGraphAddHostNode(&report_node, whole, &back, 1, &say));

  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(whole, nullptr, &nodes));
  std::printf("nodes %zu, edges %zu\n", nodes, nodes - 1);

  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, whole, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int round = 0; round < 3; ++round) {
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaMemcpyAsync(a, b, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(whole));
  CHECK(cudaGraphDestroy(step));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(largest));
  CHECK(cudaFreeHost(on_host));
  std::puts(report.round == 3 && report.right ? "right" : "wrong");
}
