// expect: filter efficiency times as long
// points: filter 59..61
// All in the stream of the caller: right, and one after the other.
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

cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room, cudaStream_t stream) {
  const int each = (room - 2) / 2;
  cudaError_t error = cudaSuccess;
  for (int at = 0; at < n && error == cudaSuccess; at += each)
    error = chunk(in, out, n, at, min(each, n - at), device, device + each + 2, stream);
  return error;
}
