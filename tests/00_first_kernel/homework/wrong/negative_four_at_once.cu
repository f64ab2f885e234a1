// Four pixels at once, wherever the picture begins.
// expect: negative findings misaligned
// points: negative 5..80
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    const float4 v = *reinterpret_cast<const float4*>(in + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(1 - v.x, 1 - v.y, 1 - v.z, 1 - v.w);
  } else {
    for (int k = i; k < n; ++k) out[k] = 1 - in[k];
  }
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<(n + 1023) / 1024, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
