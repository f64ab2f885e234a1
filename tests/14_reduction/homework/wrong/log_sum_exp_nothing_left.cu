// expect: row_log_sum_exp visible a row that is all -infinity gives a NaN
// points: row_log_sum_exp 11..22
// The largest of the row first: where that is -infinity, each difference is a NaN.
#include "homework.cuh"

// A warp for each row.
__global__ void row_log_sum_exp(const float* A, float* L, int M, int N) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  const float* a = A + size_t(row) * N;
  float top = -INFINITY, sum = 0.0f;
  for (int j = lane; j < N; j += 32) top = fmaxf(top, a[j]);
  for (int distance = 16; distance > 0; distance /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, distance));
  for (int j = lane; j < N; j += 32) sum += expf(a[j] - top);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (lane == 0) L[row] = top + logf(sum);
}

cudaError_t launch_row_log_sum_exp(const float* A, float* L, int M, int N, cudaStream_t stream) {
  row_log_sum_exp<<<M / 8 + (M % 8 > 0), 256, 0, stream>>>(A, L, M, N);
  return cudaGetLastError();
}
