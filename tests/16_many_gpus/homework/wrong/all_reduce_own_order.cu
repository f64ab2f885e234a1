// expect: all_reduce visible the same bits
// points: all_reduce 4..30
// quick: yes
// In slices, each device gets the numbers of all others, and adds them in an order of its own.
#include "homework.cuh"

constexpr int MOST = 8;  // devices

__global__ void add(const float* more, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += more[i];
}

cudaError_t launch_all_reduce(float* const* x, float* const* work, int n, int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  cudaEvent_t done[MOST] = {};
  const int p = devices;
  for (int d = 0; d < p && error == cudaSuccess; ++d) {
    error = cudaSetDevice(d);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming);
  }
  const auto all_wait = [&] {
    for (int d = 0; d < p && error == cudaSuccess; ++d) error = cudaEventRecord(done[d], streams[d]);
    for (int d = 0; d < p && error == cudaSuccess; ++d)
      for (int other = 0; other < p && error == cudaSuccess; ++other)
        error = cudaStreamWaitEvent(streams[d], done[other], 0);
  };
  for (int at = 0, each = 0; at < n && p > 1 && error == cudaSuccess; at += each) {
    each = max(1, min(n / (p - 1), n - at));
    const int slots = min(p - 1, n / each);  // that fit into work
    for (int first = 1; first < p; first += slots) {
      all_wait();
      for (int d = 0; d < p && error == cudaSuccess; ++d) {
        error = cudaSetDevice(d);
        for (int k = first; k < min(p, first + slots) && error == cudaSuccess; ++k)
          error = cudaMemcpyPeerAsync(work[d] + (k - first) * each, d, x[(d + k) % p] + at, (d + k) % p,
                                      sizeof(float) * each, streams[d]);
      }
      all_wait();
      for (int d = 0; d < p && error == cudaSuccess; ++d) {
        error = cudaSetDevice(d);
        for (int k = first; k < min(p, first + slots) && error == cudaSuccess; ++k) {
          add<<<(each + 255) / 256, 256, 0, streams[d]>>>(work[d] + (k - first) * each, x[d] + at, each);
          error = cudaGetLastError();
        }
      }
    }
  }
  all_wait();
  for (cudaEvent_t event : done)
    if (event != nullptr) cudaEventDestroy(event);
  return error;
}
