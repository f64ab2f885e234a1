// The caller's streams compute, the outer rows first, and a stream of each device copies.
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

struct Device {
  int rows = 0;
  cudaStream_t copies = nullptr;
  cudaEvent_t brought = nullptr, outer = nullptr;  // its neighbours' rows are there; its outer rows are computed
};

struct Team {
  int devices, width;
  Device all[MOST];

  cudaError_t make(int height, const cudaStream_t* streams) {
    for (int d = 0; d < devices; ++d) {
      Device& my = all[d];
      my.rows = (d + 1) * height / devices - d * height / devices;
      cudaError_t error = cudaSetDevice(d);
      if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&my.copies, cudaStreamNonBlocking);
      if (error == cudaSuccess) error = cudaEventCreateWithFlags(&my.brought, cudaEventDisableTiming);
      if (error == cudaSuccess) error = cudaEventCreateWithFlags(&my.outer, cudaEventDisableTiming);
      if (error == cudaSuccess) error = cudaEventRecord(my.outer, streams[d]);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }

  // The rows before and after those of device d.
  cudaError_t bring(int d, float* const* from) {
    const Device& my = all[d];
    const size_t row = sizeof(float) * width;
    cudaError_t error = cudaStreamWaitEvent(my.copies, my.outer, 0);
    for (int other = d - 1; other <= d + 1; other += 2) {
      if (other < 0 || other == devices) continue;
      const size_t there = other < d ? size_t(all[other].rows) * width : width;
      const size_t here = other < d ? 0 : size_t(my.rows + 1) * width;
      if (error == cudaSuccess) error = cudaStreamWaitEvent(my.copies, all[other].outer, 0);
      if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(from[d] + here, d, from[other] + there, other, row, my.copies);
    }
    return error == cudaSuccess ? cudaEventRecord(my.brought, my.copies) : error;
  }

  cudaError_t compute(int d, const float* from, float* to, int first, int last, cudaStream_t stream) {
    if (first >= last) return cudaSuccess;
    cudaError_t error = cudaSetDevice(d);
    if (error != cudaSuccess) return error;
    const size_t blocks = (size_t(last - first) * width + 127) / 128;
    heat<<<unsigned(blocks), 128, 0, stream>>>(from, to, all[d].rows, width, first, last, d == 0, d == devices - 1);
    return cudaGetLastError();
  }

  ~Team() {
    for (const Device& my : all) {
      if (my.copies != nullptr) cudaStreamDestroy(my.copies);
      if (my.brought != nullptr) cudaEventDestroy(my.brought);
      if (my.outer != nullptr) cudaEventDestroy(my.outer);
    }
  }
};

cudaError_t launch_heat(float* const* from, float* const* to, float* const* work, int height, int width, int steps,
                        int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  Team team{devices, width, {}};
  error = team.make(height, streams);
  for (int s = 0; s < steps && error == cudaSuccess; ++s) {
    float* const* const next = (steps - s) % 2 == 1 ? to : work;
    for (int d = 0; d < devices && error == cudaSuccess; ++d) error = team.bring(d, from);
    for (int d = 0; d < devices && error == cudaSuccess; ++d) {
      const int rows = team.all[d].rows;
      error = cudaStreamWaitEvent(streams[d], team.all[d].brought, 0);
      if (error == cudaSuccess) error = team.compute(d, from[d], next[d], 0, 1, streams[d]);
      if (error == cudaSuccess) error = team.compute(d, from[d], next[d], max(rows - 1, 1), rows, streams[d]);
      if (error == cudaSuccess) error = cudaEventRecord(team.all[d].outer, streams[d]);
      if (error == cudaSuccess) error = team.compute(d, from[d], next[d], 1, rows - 1, streams[d]);
    }
    from = next;
  }
  for (int d = 0; d < devices && error == cudaSuccess; ++d)
    for (int other = max(d - 1, 0); other < min(d + 2, devices) && error == cudaSuccess; ++other)
      error = cudaStreamWaitEvent(streams[d], team.all[other].outer, 0);
  return error;
}
