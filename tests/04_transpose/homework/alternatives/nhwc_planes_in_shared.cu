// Planes in shared memory, 11 banks apart for three channels; channels in groups of 8; a thread keeps its pixel.
#include "homework.cuh"

constexpr int P = 128;       // pixels of a block
constexpr int ROW = P + 11;  // words between planes: 3 x 11 words fill the banks once
constexpr int GROUP = 8;     // channels at a time

__global__ void planes(const float* in, float* out, int pixels, int channels) {
  __shared__ float s[GROUP][ROW];
  const int t = threadIdx.x, p0 = blockIdx.x * P;
  const size_t image = size_t(blockIdx.y) * pixels * channels;
  for (int c0 = 0; c0 < channels; c0 += GROUP) {
    const int width = min(GROUP, channels - c0);
    for (int k = t; k < P * width; k += P) {
      const int p = k / width, c = k % width;
      if (p0 + p < pixels) s[c][p] = in[image + size_t(p0 + p) * channels + c0 + c];
    }
    __syncthreads();
    if (p0 + t < pixels)
      for (int c = 0; c < width; ++c) out[image + size_t(c0 + c) * pixels + p0 + t] = s[c][t];
    __syncthreads();
  }
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  planes<<<dim3((pixels + P - 1) / P, images), P, 0, stream>>>(in, out, pixels, channels);
  return cudaGetLastError();
}
