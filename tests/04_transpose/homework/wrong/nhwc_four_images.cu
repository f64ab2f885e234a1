// expect: nhwc_to_nchw visible elements are wrong
// points: nhwc_to_nchw 42..48
// The grid has four images at most, and the loop over the others does not go on by the grid.
#include "homework.cuh"

__global__ void planes(const float* in, float* out, int images, int pixels, int channels) {
  __shared__ float run[32 * 257];
  for (int b = blockIdx.y; b < images; b += 1 << 20) {
    const std::size_t image = std::size_t(b) * pixels * channels;
    const int p0 = blockIdx.x * 32, count = pixels - p0 < 32 ? pixels - p0 : 32;
    const int pitch = channels % 2 ? channels : channels + 1;
    for (int k = threadIdx.x; k < count * channels; k += blockDim.x) {
      const int p = k / channels, c = k - p * channels;
      run[p * pitch + c] = in[image + std::size_t(p0) * channels + k];
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int c = threadIdx.x / 32; c < channels; c += blockDim.x / 32)
      if (lane < count) out[image + std::size_t(c) * pixels + p0 + lane] = run[lane * pitch + c];
    __syncthreads();
  }
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  planes<<<dim3((pixels + 31) / 32, images < 4 ? images : 4), 96, 0, stream>>>(in, out, images, pixels, channels);
  return cudaGetLastError();
}
