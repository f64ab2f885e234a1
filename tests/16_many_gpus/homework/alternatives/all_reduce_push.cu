// Each device sends to the next one, which tells when its room for it is free again.
#include "homework.cuh"

constexpr int MOST = 8;  // devices

__global__ void add(const float* more, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += more[i];
}

cudaError_t launch_all_reduce(float* const* x, float* const* work, int n, int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  cudaEvent_t sent[MOST] = {}, added[MOST] = {};
  const int p = devices;
  for (int d = 0; d < p && error == cudaSuccess; ++d) {
    error = cudaSetDevice(d);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&sent[d], cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&added[d], cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(added[d], streams[d]);
  }
  for (int s = 0; s < 2 * (p - 1) && error == cudaSuccess; ++s) {
    const bool adds = s < p - 1;
    const auto begin = [&](int d, int behind) { return int(size_t((d - s + 2 * p) % p + behind) * n / p); };
    // Device d sends part d - s; in the second half these are the finished ones, one further on.
    const int shift = adds ? 0 : p;
    for (int d = 0; d < p && error == cudaSuccess; ++d) {
      const int next = (d + 1) % p, from = begin(d + shift, 0), to = begin(d + shift, 1);
      error = cudaStreamWaitEvent(streams[d], added[next], 0);
      if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(adds ? work[next] : x[next] + from, next, x[d] + from, d,
                                    sizeof(float) * (to - from), streams[d]);
      if (error == cudaSuccess) error = cudaEventRecord(sent[d], streams[d]);
    }
    for (int d = 0; d < p && error == cudaSuccess; ++d) {
      const int before = (d + p - 1) % p, from = begin(before + shift, 0), to = begin(before + shift, 1);
      error = cudaStreamWaitEvent(streams[d], sent[before], 0);
      if (error == cudaSuccess) error = cudaSetDevice(d);
      if (error == cudaSuccess && adds && from < to) {
        add<<<(to - from + 255) / 256, 256, 0, streams[d]>>>(work[d], x[d] + from, to - from);
        error = cudaGetLastError();
      }
      if (error == cudaSuccess) error = cudaEventRecord(added[d], streams[d]);
    }
  }
  for (const auto& events : {sent, added})
    for (int d = 0; d < MOST; ++d)
      if (events[d] != nullptr) cudaEventDestroy(events[d]);
  return error;
}
