// CUDA graphs: what capture takes, what it refuses, and that a graph does its work again and again. Holds on a GPU too.
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "catch.hpp"

namespace {

__global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void add(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

__global__ void raise(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

constexpr int kMany = 1000;
constexpr int kBlocks = (kMany + 127) / 128;

struct Streams {
  cudaStream_t a, b;
  Streams() {
    REQUIRE(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) == cudaSuccess);
  }
  ~Streams() {
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
  }
};

struct Event {
  cudaEvent_t event;
  Event() { REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess); }
  ~Event() { cudaEventDestroy(event); }
};

struct Array {
  float* data = nullptr;
  explicit Array(float value) {
    REQUIRE(cudaMalloc(&data, kMany * sizeof(float)) == cudaSuccess);
    const std::vector<float> values(kMany, value);
    REQUIRE(cudaMemcpy(data, values.data(), kMany * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // before, the bytes may be on their way
  }
  ~Array() { cudaFree(data); }
  /// The value that all have; -1: they differ.
  float all() const {
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<float> values(kMany);
    REQUIRE(cudaMemcpy(values.data(), data, kMany * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    for (const float v : values)
      if (v != values[0]) return -1;
    return values[0];
  }
};

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  void instantiate() { REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess); }
  void launch(cudaStream_t stream, int times = 1) {
    for (int i = 0; i < times; ++i) REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
  }
  std::size_t nodes() const {
    std::size_t n = 0;
    REQUIRE(cudaGraphGetNodes(graph, nullptr, &n) == cudaSuccess);
    return n;
  }
  ~Graph() {
    if (exec) cudaGraphExecDestroy(exec);
    if (graph) cudaGraphDestroy(graph);
  }
};

// CUDA 13 has one more parameter than CUDA 12.
template <class Size>
cudaError_t depend(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, Size one) {
  if constexpr (requires { cudaGraphAddDependencies(graph, &from, &to, one); })
    return cudaGraphAddDependencies(graph, &from, &to, one);
  else
    return cudaGraphAddDependencies(graph, &from, &to, nullptr, one);
}

}  // namespace

TEST_CASE("Graphs: what is captured is not done, and then as often as it is launched") {
  Streams s;
  Array x(1);
  Graph g;
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  cudaStreamCaptureStatus status;
  REQUIRE(cudaStreamIsCapturing(s.a, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  for (int i = 0; i < 3; ++i) scale<<<kBlocks, 128, 0, s.a>>>(x.data, 2.0f, kMany);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaStreamEndCapture(s.a, &g.graph) == cudaSuccess);
  REQUIRE(cudaStreamIsCapturing(s.a, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusNone);
  CHECK(g.nodes() == 3);
  CHECK(x.all() == 1);
  g.instantiate();
  CHECK(x.all() == 1);
  g.launch(s.b, 2);
  CHECK(x.all() == 64);
}

TEST_CASE("Graphs: arguments are those of the capture, and an update changes them") {
  Streams s;
  Array x(1);
  Graph g;
  const auto capture = [&](float factor, cudaGraph_t& graph) {
    REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    scale<<<kBlocks, 128, 0, s.a>>>(x.data, factor, kMany);
    factor = 1000;
    REQUIRE(cudaStreamEndCapture(s.a, &graph) == cudaSuccess);
  };
  capture(2, g.graph);
  g.instantiate();
  g.launch(s.a);
  Graph changed;
  capture(5, changed.graph);
  cudaGraphExecUpdateResultInfo info;
  REQUIRE(cudaGraphExecUpdate(g.exec, changed.graph, &info) == cudaSuccess);
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  g.launch(s.a);
  CHECK(x.all() == 10);

  Graph other;
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  for (int i = 0; i < 2; ++i) scale<<<kBlocks, 128, 0, s.a>>>(x.data, 2.0f, kMany);
  REQUIRE(cudaStreamEndCapture(s.a, &other.graph) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(g.exec, other.graph, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();
  g.launch(s.a);
  CHECK(x.all() == 50);
}

TEST_CASE("Graphs: a second stream joins by an event, and must come back") {
  Streams s;
  Array x(1), y(3), z(0);
  Event forked, joined;
  Graph g;
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaEventRecord(forked.event, s.a) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(s.b, forked.event, 0) == cudaSuccess);
  scale<<<kBlocks, 128, 0, s.a>>>(x.data, 2.0f, kMany);
  scale<<<kBlocks, 128, 0, s.b>>>(y.data, 2.0f, kMany);
  SECTION("it does") {
    REQUIRE(cudaEventRecord(joined.event, s.b) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(s.a, joined.event, 0) == cudaSuccess);
    add<<<kBlocks, 128, 0, s.a>>>(x.data, z.data, kMany);
    add<<<kBlocks, 128, 0, s.a>>>(y.data, z.data, kMany);
    REQUIRE(cudaStreamEndCapture(s.a, &g.graph) == cudaSuccess);
    CHECK(g.nodes() == 4);
    g.instantiate();
    g.launch(s.a, 3);
    CHECK(z.all() == 8 + 16 + 32);
  }
  SECTION("it doesn't") {
    CHECK(cudaStreamEndCapture(s.a, &g.graph) == cudaErrorStreamCaptureUnjoined);
    CHECK(g.graph == nullptr);
    cudaGetLastError();
    CHECK(y.all() == 3);
  }
}

TEST_CASE("Graphs: what a capture refuses makes it invalid") {
  Streams s;
  Array x(1);
  Event event;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  SECTION("waiting for the stream") { CHECK(cudaStreamSynchronize(s.a) == cudaErrorStreamCaptureUnsupported); }
  SECTION("waiting for the device") { CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported); }
  SECTION("allocating") {
    float* more = nullptr;
    CHECK(cudaMalloc(&more, 4) == cudaErrorStreamCaptureUnsupported);
  }
  SECTION("waiting for work that isn't captured") {
    REQUIRE(cudaEventRecord(event.event, s.b) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(s.a, event.event, 0) == cudaErrorStreamCaptureIsolation);
  }
  CHECK(cudaStreamEndCapture(s.a, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  cudaGetLastError();
  scale<<<kBlocks, 128, 0, s.a>>>(x.data, 2.0f, kMany);
  CHECK(x.all() == 2);
}

TEST_CASE("Graphs: an event of a capture is no event of the host's") {
  Streams s;
  Event event;
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  REQUIRE(cudaEventRecord(event.event, s.a) == cudaSuccess);
  CHECK(cudaEventSynchronize(event.event) == cudaErrorCapturedEvent);
  cudaGetLastError();
  float* allocated = nullptr;
  CHECK(cudaMalloc(&allocated, 4) == cudaSuccess);
  cudaStreamEndCapture(s.a, &graph);
  cudaGetLastError();
  if (graph) cudaGraphDestroy(graph);
  cudaFree(allocated);
}

namespace {
void count_call(void* counter) { ++*static_cast<int*>(counter); }
}  // namespace

TEST_CASE("Graphs: copies, fills and host functions are nodes, too") {
  Streams s;
  Array x(1), y(7);
  float* host = nullptr;
  REQUIRE(cudaMallocHost(&host, kMany * sizeof(float)) == cudaSuccess);
  int calls = 0;
  Graph g;
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaMemsetAsync(y.data, 0, kMany * sizeof(float), s.a) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(y.data, x.data, 4 * sizeof(float), cudaMemcpyDeviceToDevice, s.a) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(host, y.data, kMany * sizeof(float), cudaMemcpyDeviceToHost, s.a) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(s.a, count_call, &calls) == cudaSuccess);
  REQUIRE(cudaStreamEndCapture(s.a, &g.graph) == cudaSuccess);
  CHECK(calls == 0);
  CHECK(g.nodes() == 4);
  g.instantiate();
  g.launch(s.a, 5);
  REQUIRE(cudaStreamSynchronize(s.a) == cudaSuccess);
  CHECK(calls == 5);
  CHECK(host[3] == 1);
  CHECK(host[4] == 0);
  REQUIRE(cudaFreeHost(host) == cudaSuccess);
}

TEST_CASE("Graphs: node by node") {
  Streams s;
  Array x(1), y(0);
  float factor = 3, other = 10;
  int n = kMany;
  Graph g;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  void* scale_arguments[] = {&x.data, &factor, &n};
  const float* from = x.data;
  void* add_arguments[] = {&from, &y.data, &n};
  cudaKernelNodeParams scaling{reinterpret_cast<void*>(scale), dim3(kBlocks), dim3(128), 0, scale_arguments, nullptr};
  cudaKernelNodeParams adding{reinterpret_cast<void*>(add), dim3(kBlocks), dim3(128), 0, add_arguments, nullptr};
  cudaGraphNode_t first, second, fill, empty;
  REQUIRE(cudaGraphAddKernelNode(&second, g.graph, nullptr, 0, &adding) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&first, g.graph, nullptr, 0, &scaling) == cudaSuccess);
  cudaMemsetParams zeros{y.data, 0, 0, 4, std::size_t(kMany), 1};
  REQUIRE(cudaGraphAddMemsetNode(&fill, g.graph, nullptr, 0, &zeros) == cudaSuccess);
  const cudaGraphNode_t both[] = {first, fill};
  REQUIRE(cudaGraphAddEmptyNode(&empty, g.graph, both, 2) == cudaSuccess);
  REQUIRE(depend(g.graph, empty, second, std::size_t{1}) == cudaSuccess);
  cudaGraphNodeType type;
  REQUIRE(cudaGraphNodeGetType(fill, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeMemset);
  factor = 1000;  // the node has its copy
  g.instantiate();
  g.launch(s.a, 2);
  CHECK(y.all() == 9);
  scale_arguments[1] = &other;
  REQUIRE(cudaGraphExecKernelNodeSetParams(g.exec, first, &scaling) == cudaSuccess);
  g.launch(s.a);
  CHECK(y.all() == 90);

  Graph circle;
  REQUIRE(cudaGraphCreate(&circle.graph, 0) == cudaSuccess);
  cudaGraphNode_t one, two;
  REQUIRE(cudaGraphAddEmptyNode(&one, circle.graph, nullptr, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&two, circle.graph, &one, 1) == cudaSuccess);
  if (depend(circle.graph, two, one, std::size_t{1}) == cudaSuccess)
    CHECK(cudaGraphInstantiate(&circle.exec, circle.graph, 0) != cudaSuccess);
  circle.exec = nullptr;
  cudaGetLastError();
}

namespace {

// CUDA 13 has one more parameter, for the edges' data.
template <class Size>
cudaError_t edges_of(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, Size* count) {
  if constexpr (requires { cudaGraphGetEdges(graph, from, to, nullptr, count); })
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
  else
    return cudaGraphGetEdges(graph, from, to, count);
}

}  // namespace

TEST_CASE("Graphs: a graph in a graph, as it was when it was added") {
  Streams s;
  Array x(1);
  Graph child, parent;
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  for (int i = 0; i < 2; ++i) scale<<<kBlocks, 128, 0, s.a>>>(x.data, 3.0f, kMany);
  REQUIRE(cudaStreamEndCapture(s.a, &child.graph) == cudaSuccess);

  REQUIRE(cudaGraphCreate(&parent.graph, 0) == cudaSuccess);
  cudaGraphNode_t fill, inner, again;
  cudaMemsetParams zeros{x.data, 0, 0, 1, 4, 1};  // the first element
  REQUIRE(cudaGraphAddMemsetNode(&fill, parent.graph, nullptr, 0, &zeros) == cudaSuccess);
  REQUIRE(cudaGraphAddChildGraphNode(&inner, parent.graph, &fill, 1, child.graph) == cudaSuccess);
  REQUIRE(cudaGraphAddChildGraphNode(&again, parent.graph, &inner, 1, child.graph) == cudaSuccess);
  cudaGraphNodeType type;
  REQUIRE(cudaGraphNodeGetType(inner, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeGraph);
  REQUIRE(cudaGraphDestroy(child.graph) == cudaSuccess);
  child.graph = nullptr;
  parent.instantiate();
  parent.launch(s.b, 2);
  REQUIRE(cudaStreamSynchronize(s.b) == cudaSuccess);
  std::vector<float> got(kMany);
  REQUIRE(cudaMemcpy(got.data(), x.data, kMany * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(got[0] == 0);
  CHECK(got[1] == 81 * 81);
  CHECK(got[kMany - 1] == 81 * 81);
}

TEST_CASE("Graphs: copies in three dimensions, and nodes whose parameters change") {
  Streams s;
  Array x(1), y(2);
  float* host = nullptr;
  REQUIRE(cudaMallocHost(&host, kMany * sizeof(float)) == cudaSuccess);
  Graph g;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(x.data, kMany * sizeof(float), kMany, 1);
  copy.dstPtr = make_cudaPitchedPtr(host, kMany * sizeof(float), kMany, 1);
  copy.extent = make_cudaExtent(kMany * sizeof(float), 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  int calls = 0, others = 0;
  cudaHostNodeParams call{count_call, &calls}, back{};
  cudaGraphNode_t copied, called;
  REQUIRE(cudaGraphAddMemcpyNode(&copied, g.graph, nullptr, 0, &copy) == cudaSuccess);
  REQUIRE(cudaGraphAddHostNode(&called, g.graph, &copied, 1, &call) == cudaSuccess);
  g.instantiate();
  g.launch(s.a);
  REQUIRE(cudaStreamSynchronize(s.a) == cudaSuccess);
  CHECK(host[kMany - 1] == 1);
  CHECK(calls == 1);

  // In the graph that is ready; and in the other, which it doesn't touch.
  REQUIRE(cudaGraphExecMemcpyNodeSetParams1D(g.exec, copied, host, y.data, 2 * sizeof(float), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
  call.userData = &others;
  REQUIRE(cudaGraphExecHostNodeSetParams(g.exec, called, &call) == cudaSuccess);
  REQUIRE(cudaGraphHostNodeGetParams(called, &back) == cudaSuccess);
  CHECK(back.userData == &calls);
  g.launch(s.a);
  REQUIRE(cudaStreamSynchronize(s.a) == cudaSuccess);
  CHECK(host[1] == 2);
  CHECK(host[2] == 1);
  CHECK(calls == 1);
  CHECK(others == 1);

  unsigned enabled = 0;
  REQUIRE(cudaGraphNodeSetEnabled(g.exec, copied, 0) == cudaSuccess);
  REQUIRE(cudaGraphNodeGetEnabled(g.exec, copied, &enabled) == cudaSuccess);
  CHECK(enabled == 0);
  host[1] = 9;
  g.launch(s.a);
  REQUIRE(cudaStreamSynchronize(s.a) == cudaSuccess);
  CHECK(host[1] == 9);
  CHECK(others == 2);
  REQUIRE(cudaFreeHost(host) == cudaSuccess);
}

namespace {

/// A copy of `rows` rows of 32 floats, 64 floats apart.
cudaMemcpy3DParms rows_of(float* to, float* from, std::size_t rows, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(from, 64 * sizeof(float), 32 * sizeof(float), rows);
  copy.dstPtr = make_cudaPitchedPtr(to, 64 * sizeof(float), 32 * sizeof(float), rows);
  copy.extent = make_cudaExtent(32 * sizeof(float), rows, 1);
  copy.kind = kind;
  return copy;
}

/// A graph of one copy, ready for launches.
struct CopyGraph : Graph {
  cudaGraphNode_t node = nullptr;
  explicit CopyGraph(const cudaMemcpy3DParms& copy) {
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy) == cudaSuccess);
    instantiate();
  }
  cudaError_t becomes(const cudaMemcpy3DParms& copy) {
    const cudaError_t error = cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
    if (error != cudaSuccess) cudaGetLastError();
    return error;
  }
  cudaGraphExecUpdateResult updates(const cudaMemcpy3DParms& copy) {
    REQUIRE(cudaGraphMemcpyNodeSetParams(node, &copy) == cudaSuccess);  // any copy: it's in no graph for launches
    cudaGraphExecUpdateResultInfo info{};
    if (cudaGraphExecUpdate(exec, graph, &info) != cudaSuccess) cudaGetLastError();
    return info.result;
  }
};

}  // namespace

// What an H200 says (CUDA 13.0): the kind must stay, whatever memory it is, and only copies of one row change.
TEST_CASE("Graphs: a copy that is ready for launches keeps its direction and its one row") {
  Array x(1), y(2);
  float *pinned = nullptr, pageable[64] = {};
  REQUIRE(cudaMallocHost(&pinned, kMany * sizeof(float)) == cudaSuccess);
  constexpr auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost, inside = cudaMemcpyDeviceToDevice;
  CopyGraph one(rows_of(x.data, pinned, 1, in));
  CHECK(one.becomes(rows_of(y.data, pinned, 1, in)) == cudaSuccess);
  CHECK(one.becomes(rows_of(y.data, pageable, 1, in)) == cudaSuccess);
  CHECK(one.becomes(rows_of(pinned, x.data, 1, out)) == cudaErrorInvalidValue);
  CHECK(one.becomes(rows_of(x.data, y.data, 1, inside)) == cudaErrorInvalidValue);
  CHECK(one.becomes(rows_of(x.data, pinned, 1, out)) == cudaErrorInvalidValue);
  CHECK(one.becomes(rows_of(x.data, pinned, 4, in)) == cudaErrorInvalidValue);
  cudaMemcpy3DParms nothing = rows_of(x.data, pinned, 1, in);
  nothing.extent.width = 0;
  CHECK(one.becomes(nothing) == cudaErrorInvalidValue);
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(one.exec, one.node, pinned, x.data, 4, out) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(one.updates(rows_of(pinned, x.data, 1, out)) == cudaGraphExecUpdateErrorParametersChanged);
  CHECK(one.updates(rows_of(x.data, pinned, 4, in)) == cudaGraphExecUpdateErrorParametersChanged);
  CHECK(one.updates(rows_of(y.data, pageable, 1, in)) == cudaGraphExecUpdateSuccess);

  CopyGraph four(rows_of(x.data, pinned, 4, in));
  CHECK(four.becomes(rows_of(y.data, pinned, 4, in)) == cudaErrorInvalidValue);
  CHECK(four.becomes(rows_of(x.data, pinned, 1, in)) == cudaErrorInvalidValue);
  CHECK(four.updates(rows_of(x.data, pinned, 4, in)) == cudaGraphExecUpdateSuccess);  // the same

  CopyGraph any(rows_of(x.data, pinned, 1, cudaMemcpyDefault));
  CHECK(any.becomes(rows_of(pinned, x.data, 1, cudaMemcpyDefault)) == cudaSuccess);
  CHECK(any.becomes(rows_of(x.data, pinned, 1, in)) == cudaErrorInvalidValue);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("Graphs: a captured copy keeps its kind, too") {
  Streams s;
  Array x(1), y(2);
  float* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, kMany * sizeof(float)) == cudaSuccess);
  const auto capture = [&](Graph& g, float* to, float* from, cudaMemcpyKind kind) {
    REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(to, from, 64, kind, s.a) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(s.a, &g.graph) == cudaSuccess);
  };
  const auto updates = [&](Graph& g, float* to, float* from, cudaMemcpyKind kind) {
    Graph next;
    capture(next, to, from, kind);
    cudaGraphExecUpdateResultInfo info{};
    if (cudaGraphExecUpdate(g.exec, next.graph, &info) != cudaSuccess) cudaGetLastError();
    return info.result;
  };
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDefault}) {
    const bool any = kind == cudaMemcpyDefault;
    INFO(kind);
    Graph g;
    capture(g, x.data, pinned, kind);
    g.instantiate();
    cudaGraphNode_t node = nullptr;
    std::size_t one = 1;
    REQUIRE(cudaGraphGetNodes(g.graph, &node, &one) == cudaSuccess);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(g.exec, node, y.data, pinned, 64, kind) == cudaSuccess);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(g.exec, node, pinned, y.data, 64, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(updates(g, y.data, pinned, kind) == cudaGraphExecUpdateSuccess);
    CHECK(updates(g, pinned, y.data, cudaMemcpyDeviceToHost) == cudaGraphExecUpdateErrorParametersChanged);
    CHECK(updates(g, pinned, y.data, cudaMemcpyDefault) ==
          (any ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorParametersChanged));
  }
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("Graphs: nodes, edges and parameters can be asked for, in a clone, too") {
  Array x(1);
  float factor = 3;
  int n = kMany;
  Graph g, clone;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  void* arguments[] = {&x.data, &factor, &n};
  const cudaKernelNodeParams scaling{reinterpret_cast<void*>(scale), dim3(kBlocks), dim3(128), 0, arguments, nullptr};
  cudaGraphNode_t kernel, first, second;
  REQUIRE(cudaGraphAddKernelNode(&kernel, g.graph, nullptr, 0, &scaling) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&first, g.graph, &kernel, 1) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&second, g.graph, &first, 1) == cudaSuccess);
  std::size_t count = 0;
  REQUIRE(edges_of(g.graph, nullptr, nullptr, &count) == cudaSuccess);
  REQUIRE(count == 2);
  cudaGraphNode_t from[2], to[2], root;
  REQUIRE(edges_of(g.graph, from, to, &count) == cudaSuccess);
  CHECK(((from[0] == kernel && to[0] == first && from[1] == first && to[1] == second) ||
         (from[1] == kernel && to[1] == first && from[0] == first && to[0] == second)));
  count = 1;
  REQUIRE(cudaGraphGetRootNodes(g.graph, &root, &count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(root == kernel);
  cudaKernelNodeParams back{};
  REQUIRE(cudaGraphKernelNodeGetParams(kernel, &back) == cudaSuccess);
  CHECK(back.gridDim.x == kBlocks);
  CHECK(*static_cast<float*>(back.kernelParams[1]) == 3);

  REQUIRE(cudaGraphClone(&clone.graph, g.graph) == cudaSuccess);
  cudaGraphNode_t there;
  REQUIRE(cudaGraphNodeFindInClone(&there, second, clone.graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroyNode(there) == cudaSuccess);
  CHECK(clone.nodes() == 2);
  CHECK(g.nodes() == 3);
  clone.instantiate();
  Streams s;
  clone.launch(s.a);
  CHECK(x.all() == 3);
}

TEST_CASE("Graphs: an event node records, and work outside waits for it") {
  Streams s;
  Array x(1), y(0);
  Event event;
  Graph g;
  float factor = 5;
  int n = kMany;
  void* arguments[] = {&x.data, &factor, &n};
  const cudaKernelNodeParams scaling{reinterpret_cast<void*>(scale), dim3(kBlocks), dim3(128), 0, arguments, nullptr};
  cudaGraphNode_t kernel, record;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&kernel, g.graph, nullptr, 0, &scaling) == cudaSuccess);
  REQUIRE(cudaGraphAddEventRecordNode(&record, g.graph, &kernel, 1, event.event) == cudaSuccess);
  cudaEvent_t back;
  REQUIRE(cudaGraphEventRecordNodeGetEvent(record, &back) == cudaSuccess);
  CHECK(back == event.event);
  g.instantiate();
  g.launch(s.a);
  REQUIRE(cudaStreamWaitEvent(s.b, event.event, 0) == cudaSuccess);
  add<<<kBlocks, 128, 0, s.b>>>(x.data, y.data, kMany);
  CHECK(y.all() == 5);
}

// ---------------------------------------------------------------- memory of graphs
namespace {

__global__ void count_up(int* out, int n, int from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = from + i;
}

cudaMemAllocNodeParams allocation_of(std::size_t bytes) {
  cudaMemAllocNodeParams p{};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = bytes;
  return p;
}

// The error of a call, taken back.
cudaError_t taken_back(cudaError_t error) {
  static_cast<void>(cudaGetLastError());
  return error;
}

}  // namespace

TEST_CASE("Graphs: a node allocates memory, another one frees it, in each launch") {
  Streams s;
  Graph g;
  constexpr int n = 1000;
  static int host[n];
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  cudaGraphNode_t allocated, counted, copied, freed, again;
  cudaMemAllocNodeParams memory = allocation_of(n * sizeof(int)), kept;
  REQUIRE(cudaGraphAddMemAllocNode(&allocated, g.graph, nullptr, 0, &memory) == cudaSuccess);
  REQUIRE(memory.dptr != nullptr);
  REQUIRE(cudaGraphMemAllocNodeGetParams(allocated, &kept) == cudaSuccess);
  CHECK(kept.dptr == memory.dptr);
  int many = n, from = 5;
  void* arguments[] = {&memory.dptr, &many, &from};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(count_up);
  launch.gridDim = 8;
  launch.blockDim = 128;
  launch.kernelParams = arguments;
  REQUIRE(cudaGraphAddKernelNode(&counted, g.graph, &allocated, 1, &launch) == cudaSuccess);
  REQUIRE(cudaGraphAddMemcpyNode1D(&copied, g.graph, &counted, 1, host, memory.dptr, sizeof host,
                                   cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaGraphAddMemFreeNode(&freed, g.graph, &copied, 1, memory.dptr) == cudaSuccess);
  CHECK(taken_back(cudaGraphAddMemFreeNode(&again, g.graph, &copied, 1, memory.dptr)) == cudaErrorInvalidValue);
  CHECK(taken_back(cudaGraphAddMemFreeNode(&again, g.graph, &copied, 1, host)) == cudaErrorInvalidValue);
  void* of_node = nullptr;
  REQUIRE(cudaGraphMemFreeNodeGetParams(freed, &of_node) == cudaSuccess);
  CHECK(of_node == memory.dptr);
  cudaGraph_t clone;
  CHECK(taken_back(cudaGraphClone(&clone, g.graph)) == cudaErrorNotSupported);
  g.instantiate();
  for (int i = 0; i < 2; ++i) {
    host[0] = host[n - 1] = 0;
    g.launch(s.a);
    REQUIRE(cudaStreamSynchronize(s.a) == cudaSuccess);
    CHECK(host[0] == 5);
    CHECK(host[n - 1] == n + 4);
  }
  unsigned long long used = 1, most = 0;
  REQUIRE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used) == cudaSuccess);
  REQUIRE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most) == cudaSuccess);
  CHECK(used >= n * sizeof(int));  // it stays a graph's until it's trimmed
  CHECK(most >= used);
  REQUIRE(cudaDeviceGraphMemTrim(0) == cudaSuccess);
  REQUIRE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used) == cudaSuccess);
  REQUIRE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most) == cudaSuccess);
  CHECK(used == 0);
  CHECK(most >= n * sizeof(int));
}

TEST_CASE("Graphs: memory in a captured stream, freed in it, by the host, or by the next launch") {
  Streams s;
  Graph g;
  constexpr int n = 1000;
  static int host[n];
  int* x = nullptr;
  const auto capture = [&](bool frees) {
    REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaMallocAsync(&x, n * sizeof(int), s.a) == cudaSuccess);
    count_up<<<8, 128, 0, s.a>>>(x, n, 3);
    REQUIRE(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, s.a) == cudaSuccess);
    if (frees) REQUIRE(cudaFreeAsync(x, s.a) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(s.a, &g.graph) == cudaSuccess);
    CHECK(g.nodes() == (frees ? 4 : 3));
  };
  SECTION("in it") {
    capture(true);
    g.instantiate();
    g.launch(s.b, 3);
    REQUIRE(cudaStreamSynchronize(s.b) == cudaSuccess);
    CHECK(host[n - 1] == n + 2);
  }
  SECTION("by the host") {
    capture(false);
    g.instantiate();
    g.launch(s.b);
    REQUIRE(cudaStreamSynchronize(s.b) == cudaSuccess);
    CHECK(taken_back(cudaGraphLaunch(g.exec, s.b)) == cudaErrorInvalidValue);
    count_up<<<8, 128, 0, s.b>>>(x, n, 100);  // it's there still
    REQUIRE(cudaFreeAsync(x, s.b) == cudaSuccess);
    g.launch(s.b);
    REQUIRE(cudaStreamSynchronize(s.b) == cudaSuccess);
    REQUIRE(cudaFree(x) == cudaSuccess);
  }
  SECTION("by the next launch") {
    capture(false);
    REQUIRE(cudaGraphInstantiate(&g.exec, g.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch) == cudaSuccess);
    cudaGraphExec_t second;
    CHECK(taken_back(cudaGraphInstantiate(&second, g.graph, 0)) == cudaErrorNotSupported);
    g.launch(s.b, 3);
    REQUIRE(cudaStreamSynchronize(s.b) == cudaSuccess);
    CHECK(host[n - 1] == n + 2);
    REQUIRE(cudaFree(x) == cudaSuccess);
  }
}

TEST_CASE("Graphs: a node gets another kernel, in a graph that can be launched") {
  Streams s;
  Array x(1);
  Graph g;
  float factor = 2, term = 5;
  int count = kMany;
  float* data = x.data;
  void *scaled[] = {&data, &factor, &count}, *raised[] = {&data, &term, &count};
  const cudaKernelNodeParams scales{(void*)scale, dim3(kBlocks), dim3(128), 0, scaled, nullptr};
  const cudaKernelNodeParams raises{(void*)raise, dim3(kBlocks), dim3(128), 0, raised, nullptr};
  cudaGraphNode_t node;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&node, g.graph, nullptr, 0, &scales) == cudaSuccess);
  g.instantiate();
  REQUIRE(cudaGraphExecKernelNodeSetParams(g.exec, node, &raises) == cudaSuccess);
  g.launch(s.a);
  CHECK(x.all() == 6);
  cudaGraphExecUpdateResultInfo info;
  REQUIRE(cudaGraphExecUpdate(g.exec, g.graph, &info) == cudaSuccess);  // what the graph itself has is still to scale
  g.launch(s.a);
  CHECK(x.all() == 12);

  Graph other;
  cudaGraphNode_t empty;
  REQUIRE(cudaGraphCreate(&other.graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&empty, other.graph, nullptr, 0) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(g.exec, other.graph, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorNodeTypeChanged);
  CHECK(info.errorNode == empty);
  cudaGetLastError();
}

TEST_CASE("Graphs: fills with elements of several bytes") {
  Streams s;
  Array x(0);
  Graph g;
  const float half = 0.5f;
  cudaMemsetParams fill{};
  fill.dst = x.data;
  std::memcpy(&fill.value, &half, sizeof half);
  fill.elementSize = 4;
  fill.width = kMany;
  fill.height = 1;
  cudaGraphNode_t node;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddMemsetNode(&node, g.graph, nullptr, 0, &fill) == cudaSuccess);
  g.instantiate();
  g.launch(s.a);
  CHECK(x.all() == 0.5f);
  fill.elementSize = 2;
  fill.value = 0x3C00;  // 0x3C003C00 is a float
  fill.width = 2 * kMany;
  REQUIRE(cudaGraphExecMemsetNodeSetParams(g.exec, node, &fill) == cudaSuccess);
  g.launch(s.a);
  const unsigned bits = 0x3C003C00;
  float expected;
  std::memcpy(&expected, &bits, sizeof expected);
  CHECK(x.all() == expected);
  fill.elementSize = 3;
  CHECK(cudaGraphExecMemsetNodeSetParams(g.exec, node, &fill) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("Graphs: two nodes have one edge or none") {
  Graph g;
  cudaGraphNode_t first, second, third;
  REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&first, g.graph, nullptr, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&second, g.graph, &first, 1) == cudaSuccess);
  CHECK(depend(g.graph, first, second, std::size_t{1}) == cudaErrorInvalidValue);
  const cudaGraphNode_t twice[] = {second, second};
  CHECK(cudaGraphAddEmptyNode(&third, g.graph, twice, 2) == cudaErrorInvalidValue);
  CHECK(cudaGraphAddEmptyNode(&third, g.graph, twice, 1) == cudaSuccess);
  CHECK(depend(g.graph, first, third, std::size_t{1}) == cudaSuccess);
  cudaGetLastError();
}
