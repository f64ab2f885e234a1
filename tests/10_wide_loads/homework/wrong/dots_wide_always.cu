// expect: row_dots findings misaligned
// points: row_dots 30..53
// 16-byte loads whatever cols is: the second row begins where such a load may not.
#include "homework.cuh"

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;  // a whole warp
  const float* a = A + size_t(row) * cols;
  float sum = 0.0f;
  if (true) {
    for (int c = 4 * lane; c < cols; c += 128) {
      const float4 p = *reinterpret_cast<const float4*>(a + c), q = *reinterpret_cast<const float4*>(x + c);
      sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  } else {
    for (int c = lane; c < cols; c += 32) sum += a[c] * x[c];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  row_dots<<<(rows + 3) / 4, 128, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}
