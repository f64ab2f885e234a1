// expect: heat visible an event recorded in a stream of another device
// points: heat 4..20
// All events are made on one device, and an event can only be recorded in a stream of its own device.
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
  cudaEvent_t done[MOST] = {};
  const size_t row = sizeof(float) * width;
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming);
  }
  for (int s = 0; s < steps && error == cudaSuccess; ++s) {
    float* const* const next = (steps - s) % 2 == 1 ? to : work;
    for (int d = 0; d < devices && error == cudaSuccess; ++d) error = cudaEventRecord(done[d], streams[d]);
    for (int d = 0; d < devices && error == cudaSuccess; ++d) {
      const int rows = (d + 1) * height / devices - d * height / devices;
      const bool top = d == 0, bottom = d == devices - 1;
      error = cudaSetDevice(d);
      if (!top && error == cudaSuccess) {
        const int others = d * height / devices - (d - 1) * height / devices;
        error = cudaStreamWaitEvent(streams[d], done[d - 1], 0);
        if (error == cudaSuccess)
          error = cudaMemcpyPeerAsync(from[d], d, from[d - 1] + size_t(others) * width, d - 1, row, streams[d]);
      }
      if (!bottom && error == cudaSuccess) {
        error = cudaStreamWaitEvent(streams[d], done[d + 1], 0);
        if (error == cudaSuccess)
          error =
              cudaMemcpyPeerAsync(from[d] + size_t(rows + 1) * width, d, from[d + 1] + width, d + 1, row, streams[d]);
      }
      if (error != cudaSuccess) break;
      const size_t points = size_t(rows) * width;
      heat<<<unsigned((points + 255) / 256), 256, 0, streams[d]>>>(from[d], next[d], rows, width, 0, rows, top, bottom);
      error = cudaGetLastError();
    }
    from = next;
  }
  for (int d = 0; d < devices && error == cudaSuccess; ++d) error = cudaEventRecord(done[d], streams[d]);
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    if (d > 0) error = cudaStreamWaitEvent(streams[d], done[d - 1], 0);
    if (error == cudaSuccess && d < devices - 1) error = cudaStreamWaitEvent(streams[d], done[d + 1], 0);
  }
  for (cudaEvent_t event : done)
    if (event != nullptr) cudaEventDestroy(event);
  return error;
}
