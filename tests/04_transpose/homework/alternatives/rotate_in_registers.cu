// A warp turns 32 x 32 words in registers, by shuffles: no shared memory.
#include "homework.cuh"

__global__ void rot(const float* A, float* B, int rows, int cols) {
  const int lane = threadIdx.x;
  const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
  float v[32];
  for (int i = 0; i < 32; ++i)
    v[i] = (r0 + i < rows && c0 + lane < cols) ? A[(size_t)(r0 + i) * cols + c0 + lane] : 0.f;
#pragma unroll
  for (int m = 16; m >= 1; m >>= 1) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      if (i & m) continue;
      bool up = lane & m;
      float send = up ? v[i] : v[i | m];
      float got = __shfl_xor_sync(0xffffffffu, send, m);
      if (up)
        v[i] = got;
      else
        v[i | m] = got;
    }
  }
  for (int j = 0; j < 32; ++j)
    if (c0 + j < cols && r0 + lane < rows) B[(size_t)(c0 + j) * rows + (rows - 1 - (r0 + lane))] = v[j];
}
cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rot<<<dim3((cols + 31) / 32, (rows + 31) / 32), 32, 0, stream>>>(A, B, rows, cols);
  return cudaPeekAtLastError();
}
