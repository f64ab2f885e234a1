// A thread per word of the result: it stores in order, and loads every third word.
// expect: nhwc_to_nchw efficiency one channel of 32 pixels touches 12
// points: nhwc_to_nchw 81..89
#include "homework.cuh"

__global__ void planes(const float* in, float* out, int images, int pixels, int channels) {
  const int k = blockIdx.x * 256 + threadIdx.x;
  if (k >= images * pixels * channels) return;
  const int p = k % pixels, c = k / pixels % channels, b = k / pixels / channels;
  out[(b * channels + c) * pixels + p] = in[(b * pixels + p) * channels + c];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  planes<<<(images * pixels * channels + 255) / 256, 256, 0, stream>>>(in, out, images, pixels, channels);
  return cudaGetLastError();
}
