// The page's tile of 32 x 32: of three channels, 29 lanes of 32 have nothing to load.
// expect: nhwc_to_nchw efficiency 3 of its 32 columns
// points: nhwc_to_nchw 77..85
#include "homework.cuh"

__global__ void planes(const float* in, float* out, int pixels, int channels) {
  __shared__ float tile[32][33];
  const int p0 = blockIdx.x * 32, c0 = blockIdx.y * 32, x = threadIdx.x;
  in += blockIdx.z * pixels * channels;
  out += blockIdx.z * pixels * channels;
  for (int i = threadIdx.y; i < 32; i += 8)
    if (p0 + i < pixels && c0 + x < channels) tile[i][x] = in[(p0 + i) * channels + c0 + x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8)
    if (c0 + i < channels && p0 + x < pixels) out[(c0 + i) * pixels + p0 + x] = tile[x][i];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  const dim3 blocks((pixels + 31) / 32, (channels + 31) / 32, images);
  planes<<<blocks, dim3(32, 8), 0, stream>>>(in, out, pixels, channels);
  return cudaGetLastError();
}
