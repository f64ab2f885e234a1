// expect: row_log_sum_exp visible the last 4 elements of each row are missing, after the last full 32
// points: row_log_sum_exp 10..21
// Whole rounds of the threads of a row only.
#include "homework.cuh"

// The sum of exp(a - top) of some elements a of a row; top is the largest of them.
struct ExpSum {
  float top, sum;
};

__device__ ExpSum join(ExpSum a, ExpSum b) {
  const float top = fmaxf(a.top, b.top);
  if (top == -INFINITY) return {top, 0.0f};  // -infinity less itself would be a NaN
  return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top)};
}

__device__ ExpSum joined(ExpSum a, float x) {  // the same with {x, 1}, and one expf() in place of two
  if (x == -INFINITY) return a;
  if (x <= a.top) return {a.top, a.sum + expf(x - a.top)};
  return {x, a.sum * expf(a.top - x) + 1.0f};
}

// PER_ROW threads have a row: 32 or 256, which is a whole block. Neighbours have neighbouring elements.
template <int PER_ROW>
__global__ void row_log_sum_exp(const float* A, float* L, int M, int N) {
  __shared__ ExpSum of_warp[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.x * (256 / PER_ROW) + threadIdx.x / PER_ROW;
  if (row >= M) return;  // whole warps, and no block that has a barrier
  const float* a = A + size_t(row) * N;

  ExpSum mine = {-INFINITY, 0.0f};
  for (int j = threadIdx.x % PER_ROW; j < N / PER_ROW * PER_ROW; j += PER_ROW) mine = joined(mine, a[j]);
  for (int distance = 16; distance > 0; distance /= 2)
    mine = join(mine, {__shfl_down_sync(0xffffffff, mine.top, distance),
                       __shfl_down_sync(0xffffffff, mine.sum, distance)});
  if (PER_ROW > 32) {
    if (lane == 0) of_warp[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 1; w < 8; ++w) mine = join(mine, of_warp[w]);
  }
  if (threadIdx.x % PER_ROW == 0) L[row] = mine.top + logf(mine.sum);
}

cudaError_t launch_row_log_sum_exp(const float* A, float* L, int M, int N, cudaStream_t stream) {
  if (N <= 2048)
    row_log_sum_exp<32><<<M / 8 + (M % 8 > 0), 256, 0, stream>>>(A, L, M, N);
  else
    row_log_sum_exp<256><<<M, 256, 0, stream>>>(A, L, M, N);
  return cudaGetLastError();
}
