// One solution of the homework of chapter 02. `make solution-02` prints it.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Four lines of this kernel are missing. It compiles.

constexpr int SPAN = 128;  // outputs of a block, one for each of its threads
constexpr int HALO = 2;    // further words that it needs on either side

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[SPAN + 2 * HALO];  // s[HALO + t] = x[first + t]
  const int t = threadIdx.x;
  const int first = blockIdx.x * SPAN;  // this block's first output
  s[HALO + t] = first + t < n ? x[first + t] : 0.0f;
  // The first threads have a second job. On the left only the array's start can be missing, on the right only its end.
  if (t < HALO) s[t] = first > 0 ? x[first - HALO + t] : 0.0f;
  if (t < HALO) s[HALO + SPAN + t] = first + SPAN + t < n ? x[first + SPAN + t] : 0.0f;
  __syncthreads();  // a thread reads words that its neighbours wrote

  float sum = 0.0f;
  for (int d = 0; d <= 2 * HALO; ++d) sum += s[t + d];
  if (first + t < n)
    y[first + t] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + SPAN - 1) / SPAN, SPAN, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// C = A^T B. Tile sizes and the shape of the block are yours to choose.

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
    As[ty][tx] = k0 + ty < K && row0 + tx < M ? A[(k0 + ty) * M + row0 + tx] : 0.0f;
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

// ---------------------------------------------------------------------------------------------- 3. stretch
// C = A B^T, with at least two elements of C for each thread.

// Now k runs along the rows of both matrices. To load coalesced, lanes must lie along k; to use Bs without conflicts,
// lanes must lie along j. So one of the two goes through a tile whose rows are one word longer than they need to be:
// then the words Bs[0][k], Bs[1][k], ... lie in different banks.
__global__ void matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int TILE = 32;
  __shared__ float As[TILE][TILE];      // As[i][k] = A[row0 + i][k0 + k]
  __shared__ float Bs[TILE][TILE + 1];  // Bs[j][k] = B[col0 + j][k0 + k]
  const int tx = threadIdx.x;           // 0 .. 31
  const int ty = threadIdx.y;           // 0 .. 15: rows ty and ty + 16 of the tile are this thread's
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
