// 16 bytes at a time where all rows begin at a multiple of 16 bytes, single words elsewhere.
#include "homework.cuh"

__global__ void scale_words(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < cols) Y[row * cols + col] = s[row] * X[row * ldx + col];
}

__global__ void scale_fours(const float4* X, int ldx, const float* s, float4* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  const float4 x = X[row * ldx + col];
  const float f = s[row];
  Y[row * cols + col] = make_float4(f * x.x, f * x.y, f * x.z, f * x.w);
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 threads(16, 16);
  const auto blocks = [&](int words) { return dim3((words + 15) / 16, (rows + 15) / 16); };
  const bool begins_there = (reinterpret_cast<size_t>(X) | reinterpret_cast<size_t>(Y)) % 16 == 0;
  if (begins_there && ldx % 4 == 0 && cols % 4 == 0)
    scale_fours<<<blocks(cols / 4), threads, 0, stream>>>(reinterpret_cast<const float4*>(X), ldx / 4, s,
                                                          reinterpret_cast<float4*>(Y), rows, cols / 4);
  else
    scale_words<<<blocks(cols), threads, 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
