// expect: running_sums_turned efficiency 32-way bank conflict
// points: running_sums_turned 5..96
// Right, with rows of 32 words.
#include "homework.cuh"

__global__ void turned(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][32];
  const int lane = threadIdx.x, r0 = blockIdx.x * 32;
  float sum = 0.0f;
  for (int c0 = 0; c0 < cols; c0 += 32) {
    for (int i = 0; i < 32; ++i)
      tile[i][lane] = r0 + i < rows && c0 + lane < cols ? in[(r0 + i) * cols + c0 + lane] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      sum += tile[lane][j];
      if (r0 + lane < rows && c0 + j < cols) out[(c0 + j) * rows + r0 + lane] = sum;
    }
    __syncthreads();
  }
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  turned<<<(rows + 31) / 32, 32, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
