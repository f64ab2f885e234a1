// expect: scale_rows findings misaligned
// points: scale_rows 5..85
// 16 bytes at a time, also where rows do not begin at a multiple of 16 bytes.
#include "homework.cuh"

__global__ void scale(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || 4 * col >= cols) return;
  const float4 x = *reinterpret_cast<const float4*>(X + row * ldx + 4 * col);
  const float f = s[row], v[4] = {f * x.x, f * x.y, f * x.z, f * x.w};
  for (int i = 0; i < 4 && 4 * col + i < cols; ++i) Y[row * cols + 4 * col + i] = v[i];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  scale<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
