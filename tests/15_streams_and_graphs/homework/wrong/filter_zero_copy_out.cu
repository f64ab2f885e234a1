// expect: filter efficiency let no kernel write to the host by itself
// points: filter 59..61
// Chunks are copied in, in three streams; kernels write the result to the host's memory by themselves.
#include "homework.cuh"

// out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4 for `count` elements. in[-1] and in[count] are there, but where the
// array begins or ends.
__global__ void filter(const float* in, float* out, int count, bool begins, bool ends) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float left = in[i > 0 || !begins ? i - 1 : i], right = in[i < count - 1 || !ends ? i + 1 : i];
  out[i] = (left + 2 * in[i] + right) / 4;
}

cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room, cudaStream_t stream) {
  constexpr int kStreams = 3;
  const int each = room / kStreams - 2;
  cudaStream_t streams[kStreams];
  cudaEvent_t begin, end;
  cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&end, cudaEventDisableTiming);
  cudaEventRecord(begin, stream);
  for (cudaStream_t& s : streams) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamWaitEvent(s, begin);
  }
  cudaError_t error = cudaSuccess;
  for (int at = 0, c = 0; at < n && error == cudaSuccess; at += each, ++c) {
    const int count = min(each, n - at);
    const bool begins = at == 0, ends = at + count == n;
    const int first = begins ? 0 : -1, words = count - first + (ends ? 0 : 1);
    float* const place = device + (c % kStreams) * (each + 2) + 1;
    cudaMemcpyAsync(place + first, in + at + first, sizeof(float) * words, cudaMemcpyHostToDevice,
                    streams[c % kStreams]);
    filter<<<(count + 255) / 256, 256, 0, streams[c % kStreams]>>>(place, out + at, count, begins, ends);
    error = cudaGetLastError();
  }
  for (const cudaStream_t s : streams) {
    cudaEventRecord(end, s);
    cudaStreamWaitEvent(stream, end);
    cudaStreamDestroy(s);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return error;
}
