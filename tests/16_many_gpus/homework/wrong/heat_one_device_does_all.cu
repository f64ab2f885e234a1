// expect: heat efficiency devices that take turns
// points: heat 59..61
// All rows are brought to device 0, which computes them all, and sends them back.
#include "homework.cuh"

// A step for rows first, first + 1, ..., last - 1 of the `rows` rows that a device has; row 0 comes after the room for
// a row of the neighbour's. top, bottom: the plate ends before row 0, or after the last row.
__global__ void heat(const float* from, float* to, int rows, int width, int first, int last, bool top, bool bottom) {
  const size_t point = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int row = first + int(point / width), col = int(point % width);
  if (row >= last) return;
  const size_t i = size_t(row + 1) * width + col;
  const float above = from[top && row == 0 ? i : i - width], below = from[bottom && row == rows - 1 ? i : i + width];
  const float left = from[col == 0 ? i : i - 1], right = from[col == width - 1 ? i : i + 1];
  to[i] = (above + below + left + right + 4 * from[i]) / 8;
}

constexpr int MOST = 8;  // devices

cudaError_t launch_heat(float* const* from, float* const* to, float* const* work, int height, int width, int steps,
                        int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  // Two arrays of all rows on device 0.
  float* all[2] = {};
  cudaEvent_t done[MOST] = {};
  const size_t row = sizeof(float) * width;
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    error = cudaSetDevice(d);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(done[d], streams[d]);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(streams[0], done[d], 0);
  }
  if (error == cudaSuccess) error = cudaSetDevice(0);
  for (float*& array : all)
    if (error == cudaSuccess) error = cudaMallocAsync(&array, row * (height + 2), streams[0]);
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    const size_t first = d * height / devices, rows = (d + 1) * height / devices - first;
    error = cudaMemcpyPeerAsync(all[0] + (first + 1) * width, 0, from[d] + width, d, row * rows, streams[0]);
  }
  for (int s = 0; s < steps && error == cudaSuccess; ++s) {
    const size_t points = size_t(height) * width;
    heat<<<unsigned((points + 255) / 256), 256, 0, streams[0]>>>(all[s % 2], all[1 - s % 2], height, width, 0, height,
                                                                 true, true);
    error = cudaGetLastError();
  }
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    const size_t first = d * height / devices, rows = (d + 1) * height / devices - first;
    error = cudaMemcpyPeerAsync(to[d] + width, d, all[steps % 2] + (first + 1) * width, 0, row * rows, streams[0]);
  }
  if (error == cudaSuccess) error = cudaEventRecord(done[0], streams[0]);
  for (int d = 1; d < devices && error == cudaSuccess; ++d) error = cudaStreamWaitEvent(streams[d], done[0], 0);
  for (float* array : all)
    if (array != nullptr) cudaFreeAsync(array, streams[0]);
  for (cudaEvent_t event : done)
    if (event != nullptr) cudaEventDestroy(event);
  static_cast<void>(work);
  return error;
}
