// One solution of the homework of chapter 15. `make solution-15` prints it.
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

constexpr int STREAMS = 3;  // one chunk comes, one is worked on, one goes

// Elements [at, at + count): to the device with a neighbour at either end, filtered, and back.
cudaError_t chunk(const float* in, float* out, int n, int at, int count, float* device_in, float* device_out,
                  cudaStream_t stream) {
  const bool begins = at == 0, ends = at + count == n;
  const int first = begins ? 0 : -1, words = count - first + (ends ? 0 : 1);
  cudaError_t error =
      cudaMemcpyAsync(device_in + 1 + first, in + at + first, sizeof(float) * words, cudaMemcpyHostToDevice, stream);
  if (error != cudaSuccess) return error;
  filter<<<(count + 255) / 256, 256, 0, stream>>>(device_in + 1, device_out, count, begins, ends);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(out + at, device_out, sizeof(float) * count, cudaMemcpyDeviceToHost, stream);
}

cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const int share = room / STREAMS, each = (share - 2) / 2;  // a stream's part of `device`: each + 2 in, and each out
  cudaStream_t streams[STREAMS] = {};
  cudaEvent_t event = nullptr;
  cudaError_t error = cudaSuccess;
  error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(event, stream);
  for (cudaStream_t& s : streams) {
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(s, event, 0);
  }
  for (int at = 0, c = 0; at < n && error == cudaSuccess; at += each, ++c) {
    float* const mine = device + c % STREAMS * share;
    error = chunk(in, out, n, at, min(each, n - at), mine, mine + each + 2, streams[c % STREAMS]);
  }
  for (cudaStream_t s : streams) {
    if (s == nullptr) continue;
    cudaError_t joined = cudaEventRecord(event, s);
    if (joined == cudaSuccess) joined = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess) error = joined;
    cudaStreamDestroy(s);  // what it has been given is done all the same
  }
  if (event != nullptr) cudaEventDestroy(event);
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
  if (captured != nullptr) cudaGraphDestroy(captured);
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
