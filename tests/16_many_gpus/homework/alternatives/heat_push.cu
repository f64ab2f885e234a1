// Each device sends its outer rows, where the others fetch them.
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

// First row of device d's share.
int begins(int d, int height, int devices) { return d * height / devices; }

cudaError_t launch_rows(const float* from, float* to, int d, int height, int width, int devices, int first, int last,
                        cudaStream_t stream) {
  const int rows = begins(d + 1, height, devices) - begins(d, height, devices);
  if (first >= last) return cudaSuccess;
  const size_t points = size_t(last - first) * width;
  heat<<<unsigned((points + 255) / 256), 256, 0, stream>>>(from, to, rows, width, first, last, d == 0,
                                                           d == devices - 1);
  return cudaGetLastError();
}

// Device d gives its first row and its last one to its neighbours.
cudaError_t push(float* const* a, int d, int height, int width, int devices, cudaStream_t stream) {
  const int rows = begins(d + 1, height, devices) - begins(d, height, devices);
  const size_t bytes = sizeof(float) * width;
  cudaError_t error = cudaSuccess;
  if (d > 0) {
    const int others = begins(d, height, devices) - begins(d - 1, height, devices);
    error = cudaMemcpyPeerAsync(a[d - 1] + size_t(others + 1) * width, d - 1, a[d] + width, d, bytes, stream);
  }
  if (error == cudaSuccess && d < devices - 1)
    error = cudaMemcpyPeerAsync(a[d + 1], d + 1, a[d] + size_t(rows) * width, d, bytes, stream);
  return error;
}

cudaError_t launch_heat(float* const* from, float* const* to, float* const* work, int height, int width, int steps,
                        int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  cudaStream_t edge[MOST] = {};
  cudaEvent_t pushed[MOST] = {}, inner[MOST] = {};
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    error = cudaSetDevice(d);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&edge[d], cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&pushed[d], cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&inner[d], cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(inner[d], streams[d]);
  }
  const auto neighbours_wait = [&](cudaStream_t stream, int d, const cudaEvent_t* events) {
    for (int other = max(d - 1, 0); other < min(d + 2, devices) && error == cudaSuccess; ++other)
      error = cudaStreamWaitEvent(stream, events[other], 0);
  };
  // The neighbours' arrays are the caller's until then.
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    neighbours_wait(edge[d], d, inner);
    if (error == cudaSuccess) error = push(from, d, height, width, devices, edge[d]);
    if (error == cudaSuccess) error = cudaEventRecord(pushed[d], edge[d]);
  }
  for (int s = 0; s < steps && error == cudaSuccess; ++s) {
    float* const* const next = (steps - s) % 2 == 1 ? to : work;
    for (int d = 0; d < devices && error == cudaSuccess; ++d) {
      const int rows = begins(d + 1, height, devices) - begins(d, height, devices);
      error = cudaSetDevice(d);
      neighbours_wait(edge[d], d, pushed);
      if (error == cudaSuccess) error = cudaStreamWaitEvent(edge[d], inner[d], 0);
      if (error == cudaSuccess) error = cudaStreamWaitEvent(streams[d], pushed[d], 0);
      if (error == cudaSuccess) error = launch_rows(from[d], next[d], d, height, width, devices, 0, 1, edge[d]);
      if (error == cudaSuccess)
        error = launch_rows(from[d], next[d], d, height, width, devices, max(rows - 1, 1), rows, edge[d]);
      if (error == cudaSuccess)
        error = launch_rows(from[d], next[d], d, height, width, devices, 1, rows - 1, streams[d]);
    }
    for (int d = 0; d < devices && error == cudaSuccess; ++d) {
      if (s + 1 < steps) error = push(next, d, height, width, devices, edge[d]);
      if (error == cudaSuccess) error = cudaEventRecord(pushed[d], edge[d]);
      if (error == cudaSuccess) error = cudaEventRecord(inner[d], streams[d]);
    }
    from = next;
  }
  for (int d = 0; d < devices; ++d) neighbours_wait(streams[d], d, pushed);
  for (int d = 0; d < devices; ++d) {
    if (edge[d] != nullptr) cudaStreamDestroy(edge[d]);
    if (pushed[d] != nullptr) cudaEventDestroy(pushed[d]);
    if (inner[d] != nullptr) cudaEventDestroy(inner[d]);
  }
  return error;
}
