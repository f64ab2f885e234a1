// expect: filter efficiency let no kernel fetch them
// points: filter 59..61
// The kernel reads and writes the host's memory by itself.
#include "homework.cuh"

// out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4 for `count` elements. in[-1] and in[count] are there, but where the
// array begins or ends.
__global__ void filter(const float* in, float* out, int count, bool begins, bool ends) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float left = in[i > 0 || !begins ? i - 1 : i], right = in[i < count - 1 || !ends ? i + 1 : i];
  out[i] = (left + 2 * in[i] + right) / 4;
}

cudaError_t launch_filter(const float* in, float* out, int n, float*, int, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  filter<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n, true, true);
  return cudaGetLastError();
}
