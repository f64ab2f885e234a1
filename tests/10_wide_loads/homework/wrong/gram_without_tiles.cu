// expect: gram efficiency requests of loads
// points: gram 5..60
// Right, but with no tile: each element reads its columns from global memory.
#include "homework.cuh"

constexpr int TILE = 32, DEPTH = 8;

/// Four neighbours of a row of A, zero where there is none.
__device__ float4 four(const float* row, int first, int words) {
  if (words % 4 == 0)
    return first < words ? *reinterpret_cast<const float4*>(row + first) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  return make_float4(first < words ? row[first] : 0.0f, first + 1 < words ? row[first + 1] : 0.0f,
                     first + 2 < words ? row[first + 2] : 0.0f, first + 3 < words ? row[first + 3] : 0.0f);
}

__global__ void gram(const float* A, float* G, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
  if (col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[size_t(k) * N + row] * A[size_t(k) * N + col];
  G[size_t(row) * N + col] = sum;
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  gram<<<dim3((N + 31) / 32, N), 32, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
