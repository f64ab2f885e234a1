// expect: heat findings error-ignored
// points: heat 74..76
// Nobody asks whether the launches went well.
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

// What a device needs besides the caller's stream, in which its inner rows are computed.
struct Device {
  int rows = 0;
  bool top = false, bottom = false;
  cudaStream_t outer = nullptr;                            // for its halo, and its first row and its last one
  cudaEvent_t inner_done = nullptr, outer_done = nullptr;  // of the last step
};

cudaError_t launch_rows(const float* from, float* to, const Device& d, int width, int first, int last,
                        cudaStream_t stream) {
  if (first >= last) return cudaSuccess;
  const size_t points = size_t(last - first) * width;
  heat<<<unsigned((points + 255) / 256), 256, 0, stream>>>(from, to, d.rows, width, first, last, d.top, d.bottom);
  return cudaSuccess;
}

// Both streams of device d, in one step: each goes on where all that it needs is there.
cudaError_t step(float* const* from, float* const* to, const Device* all, int d, int width, cudaStream_t inner) {
  const Device& my = all[d];
  const size_t row = sizeof(float) * width;
  cudaError_t error = cudaSetDevice(d);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(inner, my.outer_done, 0);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(my.outer, my.inner_done, 0);
  if (!my.top) {
    const float* const last = from[d - 1] + size_t(all[d - 1].rows) * width;
    if (error == cudaSuccess) error = cudaStreamWaitEvent(my.outer, all[d - 1].outer_done, 0);
    if (error == cudaSuccess) error = cudaMemcpyPeerAsync(from[d], d, last, d - 1, row, my.outer);
  }
  if (!my.bottom) {
    float* const behind = from[d] + size_t(my.rows + 1) * width;
    if (error == cudaSuccess) error = cudaStreamWaitEvent(my.outer, all[d + 1].outer_done, 0);
    if (error == cudaSuccess) error = cudaMemcpyPeerAsync(behind, d, from[d + 1] + width, d + 1, row, my.outer);
  }
  if (error == cudaSuccess) error = launch_rows(from[d], to[d], my, width, 0, 1, my.outer);
  if (error == cudaSuccess && my.rows > 1)
    error = launch_rows(from[d], to[d], my, width, my.rows - 1, my.rows, my.outer);
  if (error == cudaSuccess) error = launch_rows(from[d], to[d], my, width, 1, my.rows - 1, inner);
  return error;
}

cudaError_t launch_heat(float* const* from, float* const* to, float* const* work, int height, int width, int steps,
                        int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  Device all[MOST];
  for (int d = 0; d < devices; ++d) {
    Device& my = all[d];
    my.rows = (d + 1) * height / devices - d * height / devices;
    my.top = d == 0;
    my.bottom = d == devices - 1;
    if (error == cudaSuccess) error = cudaSetDevice(d);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&my.outer, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&my.inner_done, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&my.outer_done, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(my.inner_done, streams[d]);  // what the caller has done
    if (error == cudaSuccess) error = cudaEventRecord(my.outer_done, streams[d]);
  }
  for (int s = 0; s < steps && error == cudaSuccess; ++s) {
    float* const* const next = (steps - s) % 2 == 1 ? to : work;  // the last step writes to
    for (int d = 0; d < devices && error == cudaSuccess; ++d) error = step(from, next, all, d, width, streams[d]);
    for (int d = 0; d < devices && error == cudaSuccess; ++d) {
      error = cudaEventRecord(all[d].inner_done, streams[d]);
      if (error == cudaSuccess) error = cudaEventRecord(all[d].outer_done, all[d].outer);
    }
    from = next;
  }
  for (int d = 0; d < devices; ++d)  // neighbours read this device's rows, too
    for (int other = max(d - 1, 0); other <= min(d + 1, devices - 1); ++other) {
      if (all[other].outer_done == nullptr) continue;
      const cudaError_t joined = cudaStreamWaitEvent(streams[d], all[other].outer_done, 0);
      if (error == cudaSuccess) error = joined;
    }
  for (const Device& my : all) {  // what they have been given is done all the same
    if (my.outer != nullptr) cudaStreamDestroy(my.outer);
    if (my.inner_done != nullptr) cudaEventDestroy(my.inner_done);
    if (my.outer_done != nullptr) cudaEventDestroy(my.outer_done);
  }
  return error;
}
