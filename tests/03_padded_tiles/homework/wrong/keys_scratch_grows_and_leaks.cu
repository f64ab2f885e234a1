// Scratch memory is kept and grows with what is asked for, but what it was before is not freed.
// expect: sums_by_key findings leak
// points: sums_by_key 60..85
#include "homework.cuh"

__global__ void halves(const int* keys, const float* values, float* parts, int cols) {
  extern __shared__ float mine[];
  const int lane = threadIdx.x, half = blockIdx.y, middle = (cols / 2 + 31) / 32 * 32;
  const size_t at = size_t(blockIdx.x) * cols;
  for (int w = lane; w < 64 * 32; w += 32) mine[w] = 0.0f;
  for (int c = half * middle + lane; c < (half ? cols : min(cols, middle)); c += 32)
    mine[32 * keys[at + c] + lane] += values[at + c];
  __syncthreads();
  for (int b = lane; b < 64; b += 32) {
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += mine[32 * b + (b + i) % 32];
    parts[(size_t(blockIdx.x) * 2 + half) * 64 + b] = sum;
  }
}

__global__ void together(const float* parts, float* sums) {
  const size_t at = size_t(blockIdx.x) * 64 + threadIdx.x;
  sums[at] = parts[2 * blockIdx.x * 64 + threadIdx.x] + parts[(2 * blockIdx.x + 1) * 64 + threadIdx.x];
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols,
                               cudaStream_t stream) {
  static float* parts = nullptr;
  static int parts_of = 0;
  if (rows > parts_of)
    if (const cudaError_t error = cudaMalloc(&parts, size_t(rows) * 128 * sizeof(float))) return error;
  parts_of = rows > parts_of ? rows : parts_of;
  halves<<<dim3(rows, 2), 32, 64 * 32 * sizeof(float), stream>>>(keys, values, parts, cols);
  together<<<rows, 64, 0, stream>>>(parts, sums);
  return cudaGetLastError();
}
