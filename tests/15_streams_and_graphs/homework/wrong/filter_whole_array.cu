// expect: filter efficiency allocations
// points: filter 59..61
// Device memory for all of in and out.
#include "homework.cuh"

// out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4 for `count` elements. in[-1] and in[count] are there, but where the
// array begins or ends.
__global__ void filter(const float* in, float* out, int count, bool begins, bool ends) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float left = in[i > 0 || !begins ? i - 1 : i], right = in[i < count - 1 || !ends ? i + 1 : i];
  out[i] = (left + 2 * in[i] + right) / 4;
}

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

cudaError_t launch_filter(const float* in, float* out, int n, float*, int, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  float *device_in = nullptr, *device_out = nullptr;
  cudaError_t error = cudaMalloc(&device_in, sizeof(float) * (size_t(n) + 2));
  if (error == cudaSuccess) error = cudaMalloc(&device_out, sizeof(float) * n);
  if (error == cudaSuccess) error = chunk(in, out, n, 0, n, device_in, device_out, stream);
  cudaFree(device_in);
  cudaFree(device_out);
  return error;
}
