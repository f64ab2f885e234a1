// The last block loads a full share, from past the end of `in`.
// expect: nhwc_to_nchw findings out-of-bounds
// points: nhwc_to_nchw 5..13
#include "homework.cuh"

// The pixels of a block are one run of memory: it is read from front to end, whatever the number of channels. Each
// plane gets a run of `share` words. Lanes pick up words that are `pitch` apart: an odd pitch takes all banks in turn.
__global__ void nhwc_to_nchw(const float* in,  // images x pixels x channels
                             float* out,       // images x channels x pixels
                             int pixels, int channels, int share) {
  extern __shared__ float s[];  // s[p * pitch + c] = in[image][p0 + p][c]
  const int pitch = channels | 1;
  const int p0 = blockIdx.x * share;
  const int count = min(share, pixels - p0);  // the last block has fewer
  const int image = blockIdx.y * pixels * channels;

  const float* from = in + image + p0 * channels;
  for (int k = threadIdx.x; k < share * channels; k += blockDim.x) s[k / channels * pitch + k % channels] = from[k];
  __syncthreads();
  float* to = out + image + p0;
  for (int k = threadIdx.x; k < count * channels; k += blockDim.x)
    to[k / count * pixels + k % count] = s[k % count * pitch + k / count];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream) {
  const int share = channels <= 16 ? 256 : 4096 / channels;  // pixels of a block: about 4,096 words at most
  const int blocks = (pixels + share - 1) / share;
  const size_t shared = sizeof(float) * share * (channels | 1);
  nhwc_to_nchw<<<dim3(blocks, images), 256, shared, stream>>>(in, out, pixels, channels, share);
  return cudaGetLastError();
}
