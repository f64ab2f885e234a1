// 1,024 threads, an element each; the counter is put back by an atomic.
#include "homework.cuh"

__global__ void sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                             float* parts, int* arrived) {
  __shared__ float Xs[32][32], Ws[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  const int slices = gridDim.z, slice = blockIdx.z;
  const int begin = int(1ll * K * slice / slices), end = int(1ll * K * (slice + 1) / slices);
  const bool inside = row < M && col < N;
  float sum = 0;
  for (int k0 = begin; k0 < end; k0 += 32) {
    Xs[ty][tx] = row < M && k0 + tx < end ? X[size_t(row) * K + k0 + tx] : 0;
    Ws[ty][tx] = col < N && k0 + ty < end ? W[size_t(k0 + ty) * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += Xs[ty][k] * Ws[k][tx];
    __syncthreads();
  }
  float* part = parts + size_t(row) * N + col;
  const size_t step = size_t(M) * N;
  if (inside) part[slice * step] = sum;
  __threadfence();
  int* counter = arrived + blockIdx.x + gridDim.x * blockIdx.y;
  __syncthreads();
  if (!__syncthreads_or(tx + ty == 0 && atomicAdd(counter, 1) == slices - 1)) return;
  __threadfence();
  if (tx + ty == 0) atomicExch(counter, 0);
  if (!inside) return;
  sum = bias[col];
  for (int s = 0; s < slices; ++s) sum += __ldcg(part + s * step);
  Y[size_t(row) * N + col] = sum > 0 ? sum : 0;
}

cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                                int slices, float* parts, int* arrived, cudaStream_t stream) {
  sliced_layer<<<dim3((N + 31) / 32, (M + 31) / 32, slices), dim3(32, 32), 0, stream>>>(X, W, bias, Y, M, N, K, parts,
                                                                                        arrived);
  return cudaGetLastError();
}
