// One block, whose threads go through the whole picture: 131 multiprocessors of an H200 have nothing to do.
// expect: mirror efficiency few-blocks
// points: mirror 5..60
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  for (int y = 0; y < height; ++y)
    for (int x = threadIdx.x; x < width; x += blockDim.x)
      out[size_t(y) * width + x] = in[size_t(y) * width + width - 1 - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  mirror<<<1, 1024, 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
