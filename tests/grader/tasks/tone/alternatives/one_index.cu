// One running number for all pixels, a functor, __saturatef.
#include "homework.cuh"

struct Tone {
  float gain, offset;
  __device__ float operator()(float p) const { return __saturatef(fmaf(gain, p, offset)); }
};

template <typename F>
__global__ void apply(const float* __restrict__ from, float* __restrict__ to, unsigned pixels, F f) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += stride) to[i] = f(from[i]);
}

cudaError_t launch_tone(const float* in, float* out, int rows, int cols, float gain, float offset, cudaStream_t stream) {
  const unsigned pixels = unsigned(rows) * unsigned(cols);
  apply<<<min((pixels + 255) / 256, 65536u), 256, 0, stream>>>(in, out, pixels, Tone{gain, offset});
  return cudaGetLastError();
}
