// The distance from the start of the array in bytes: four times the index, more than an int can hold from 2 GiB on.
// expect: scale_rows findings large-sizes
// expect: scale_rows findings scale_bytes_in_an_int.cu:11
// points: scale_rows 60..85
#include "homework.cuh"

__global__ void scale(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || col >= cols) return;
  const int from = (row * ldx + col) * int(sizeof(float)), to = (row * cols + col) * int(sizeof(float));
  *(float*)((char*)Y + to) = s[row] * *(const float*)((const char*)X + from);
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  scale<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
