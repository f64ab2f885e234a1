// From planes to pixels.
// expect: nhwc_to_nchw visible the transpose is the wrong way round
// points: nhwc_to_nchw 6..15
#include "homework.cuh"

__global__ void planes(const float* in, float* out, int images, int pixels, int channels) {
  const int k = blockIdx.x * 256 + threadIdx.x;
  if (k >= images * pixels * channels) return;
  const int p = k % pixels, c = k / pixels % channels, b = k / pixels / channels;
  out[(b * pixels + p) * channels + c] = in[(b * channels + c) * pixels + p];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  planes<<<(images * pixels * channels + 255) / 256, 256, 0, stream>>>(in, out, images, pixels, channels);
  return cudaGetLastError();
}
