// A thread per word of `in`: it loads in order, and stores to three planes at once.
// expect: nhwc_to_nchw efficiency the planes are 768 sectors
// points: nhwc_to_nchw 83..91
#include "homework.cuh"

__global__ void planes(const float* in, float* out, int images, int pixels, int channels) {
  const int k = blockIdx.x * 256 + threadIdx.x;
  if (k >= images * pixels * channels) return;
  const int c = k % channels, p = k / channels % pixels, b = k / channels / pixels;
  out[(b * channels + c) * pixels + p] = in[(b * pixels + p) * channels + c];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  planes<<<(images * pixels * channels + 255) / 256, 256, 0, stream>>>(in, out, images, pixels, channels);
  return cudaGetLastError();
}
