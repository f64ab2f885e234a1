// Right, but Bs is not padded: 32-way conflicts.
// expect: matmul_a_bt efficiency bank conflict
// points: matmul_a_bt 88..96
#include "homework.cuh"

// Now k runs along the rows of both matrices. To load coalesced, lanes must lie along k; to use Bs without conflicts,
// lanes must lie along j. So one of the two goes through a tile whose rows are one word longer than they need to be:
// then the words Bs[0][k], Bs[1][k], ... lie in different banks.
__global__ void matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int TILE = 32;
  __shared__ float As[TILE][TILE];  // As[i][k] = A[row0 + i][k0 + k]
  __shared__ float Bs[TILE][TILE];  // Bs[j][k] = B[col0 + j][k0 + k]
  const int tx = threadIdx.x;       // 0 .. 31
  const int ty = threadIdx.y;       // 0 .. 15: rows ty and ty + 16 of the tile are this thread's
  const int row0 = blockIdx.y * TILE;
  const int col0 = blockIdx.x * TILE;
  float upper = 0.0f, lower = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    for (int i = ty; i < TILE; i += 16) {
      As[i][tx] = row0 + i < M && k0 + tx < K ? A[(row0 + i) * K + k0 + tx] : 0.0f;
      Bs[i][tx] = col0 + i < N && k0 + tx < K ? B[(col0 + i) * K + k0 + tx] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      const float b = Bs[tx][k];  // read once, used twice
      upper += As[ty][k] * b;
      lower += As[ty + 16][k] * b;
    }
    __syncthreads();
  }
  if (row0 + ty < M && col0 + tx < N) C[(row0 + ty) * N + col0 + tx] = upper;
  if (row0 + ty + 16 < M && col0 + tx < N) C[(row0 + ty + 16) * N + col0 + tx] = lower;
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  const dim3 blocks((N + 31) / 32, (M + 31) / 32);
  matmul_a_bt<<<blocks, dim3(32, 16), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
