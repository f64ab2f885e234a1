// expect: row_dots efficiency neighbouring threads are
// points: row_dots 90..97
// Right, but a thread walks along a row alone: neighbours are a row apart.
#include "homework.cuh"

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int lane = 0, row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;  // a whole warp
  const float* a = A + size_t(row) * cols;
  float sum = 0.0f;
  if (cols % 4 == 0) {
    for (int c = 4 * lane; c < cols; c += 4) {
      const float4 p = *reinterpret_cast<const float4*>(a + c), q = *reinterpret_cast<const float4*>(x + c);
      sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  } else {
    for (int c = lane; c < cols; c += 1) sum += a[c] * x[c];
  }
  y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  row_dots<<<(rows + 127) / 128, 128, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}
