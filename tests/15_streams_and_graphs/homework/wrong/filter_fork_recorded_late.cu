// expect: filter findings race-streams
// points: filter 74..76
// The event is recorded after the waits for it: these wait for nothing.
#include "homework.cuh"

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
  for (cudaStream_t& s : streams) {
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(s, event, 0);
  }
  if (error == cudaSuccess) error = cudaEventRecord(event, stream);
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
