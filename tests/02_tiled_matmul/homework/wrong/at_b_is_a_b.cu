// The lesson's kernel: A is not turned round.
// expect: matmul_at_b visible this is A B, not A^T B
// expect: matmul_at_b efficiency right
// points: matmul_at_b 5..10
#include "homework.cuh"

// A column of A^T is a row of A: both tiles are loaded row by row, and nothing needs to be turned round. What changes
// is how As is read: thread (tx, ty) wants the words As[k][ty], one below the other, and a whole row of threads wants
// the same one: a broadcast.
template <int TILE>
__global__ void matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];  // As[k][i] = A[k0 + k][row0 + i]
  __shared__ float Bs[TILE][TILE];  // Bs[k][j] = B[k0 + k][col0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row0 = blockIdx.y * TILE;  // of C; of A it is a column
  const int col0 = blockIdx.x * TILE;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    As[tx][ty] = row0 + ty < M && k0 + tx < K ? A[(row0 + ty) * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && col0 + tx < N ? B[(k0 + ty) * N + col0 + tx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[k][ty] * Bs[k][tx];
    __syncthreads();
  }
  if (row0 + ty < M && col0 + tx < N) C[(row0 + ty) * N + col0 + tx] = sum;
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  constexpr int TILE = 32;
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  matmul_at_b<TILE><<<blocks, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
