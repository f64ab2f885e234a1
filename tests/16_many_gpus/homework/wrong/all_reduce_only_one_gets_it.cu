// expect: all_reduce visible nothing is added
// points: all_reduce 4..20
// Device 0 has the sums in the end, and nobody else.
#include "homework.cuh"

constexpr int MOST = 8;  // devices

__global__ void add(const float* more, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += more[i];
}

cudaError_t launch_all_reduce(float* const* x, float* const* work, int n, int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  cudaEvent_t done[MOST] = {};
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    error = cudaSetDevice(d);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(done[d], streams[d]);
  }
  if (error == cudaSuccess) error = cudaSetDevice(0);
  for (int d = 1; d < devices && n > 0 && error == cudaSuccess; ++d) {
    error = cudaStreamWaitEvent(streams[0], done[d], 0);
    if (error == cudaSuccess) error = cudaMemcpyPeerAsync(work[0], 0, x[d], d, sizeof(float) * n, streams[0]);
    if (error != cudaSuccess) break;
    add<<<(n + 255) / 256, 256, 0, streams[0]>>>(work[0], x[0], n);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) error = cudaEventRecord(done[0], streams[0]);
  for (int d = 1; d < devices && error == cudaSuccess; ++d) {
    error = cudaStreamWaitEvent(streams[d], done[0], 0);
    if (error == cudaSuccess) error = cudaEventRecord(done[d], streams[d]);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(streams[0], done[d], 0);
  }
  for (cudaEvent_t event : done)
    if (event != nullptr) cudaEventDestroy(event);
  return error;
}
