// A block takes all of 16 rows into its shared memory, which grows with the rows' length.
// expect: running_sums_turned visible no kernel was launched
// points: running_sums_turned 5..44
#include "homework.cuh"

__global__ void turned(const float* in, float* out, int rows, int cols, int pitch) {
  extern __shared__ float s[];
  const int t = threadIdx.x, r0 = blockIdx.x * 16;
  for (int r = 0; r < 16; ++r)
    for (int c = t; c < cols; c += 32) s[r * pitch + c] = r0 + r < rows ? in[size_t(r0 + r) * cols + c] : 0.0f;
  __syncthreads();
  if (t >= 16 || r0 + t >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) out[size_t(c) * rows + r0 + t] = sum += s[t * pitch + c];
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const int pitch = cols + 1;
  const cudaError_t allowed = cudaFuncSetAttribute(turned, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
  if (allowed != cudaSuccess) return allowed;
  if (size_t(16) * pitch * sizeof(float) > 232448) return cudaSuccess;
  turned<<<(rows + 15) / 16, 32, 16 * pitch * sizeof(float), stream>>>(in, out, rows, cols, pitch);
  return cudaGetLastError();
}
