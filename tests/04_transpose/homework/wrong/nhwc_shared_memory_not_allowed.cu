// expect: nhwc_to_nchw visible unless cudaFuncSetAttribute allows the kernel more
// points: nhwc_to_nchw 42..48
// 64 pixels of 256 channels are more than 48 KiB.
#include "homework.cuh"

__global__ void planes(const float* in, float* out, int pixels, int channels) {
  extern __shared__ float s[];
  const int P = 64;
  int p0 = blockIdx.x * P;
  int count = min(P, pixels - p0);
  in += ((size_t)blockIdx.y * pixels + p0) * channels;
  out += (size_t)blockIdx.y * pixels * channels + p0;
  int pitch = channels | 1;
  for (int k = threadIdx.x; k < count * channels; k += blockDim.x) s[(k / channels) * pitch + k % channels] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < P * channels; k += blockDim.x) {
    int p = k % P, c = k / P;
    if (p < count) out[(size_t)c * pixels + p] = s[p * pitch + c];
  }
}
cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  size_t bytes = 64 * (channels | 1) * sizeof(float);
  planes<<<dim3((pixels + 63) / 64, images), 128, bytes, stream>>>(in, out, pixels, channels);
  return cudaGetLastError();
}
