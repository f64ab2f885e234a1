// The homework of chapter 09, solved.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// The nearest level of each sample. The levels are in shared memory already; each thread has eight samples, so that it
// can compare all of them with a level that it has loaded once.

constexpr int THREADS = 128;
constexpr int EACH = 8;  // samples of a thread

__global__ void nearest_level(const float* x, const float* levels, int* index, int n, int count) {
  __shared__ float level[MOST_LEVELS];
  for (int l = threadIdx.x; l < count; l += THREADS) level[l] = levels[l];
  __syncthreads();
  const int first = blockIdx.x * THREADS * EACH + threadIdx.x;  // a thread's samples lie THREADS apart
  float sample[EACH], least[EACH];
  int nearest[EACH];
  for (int s = 0; s < EACH; ++s) {
    const int i = first + s * THREADS;
    sample[s] = i < n ? x[i] : 0.0f;
    least[s] = INFINITY;
    nearest[s] = -1;  // stays for NaN, which is not less than anything
  }
  for (int l = 0; l < count; ++l) {
    const float value = level[l];  // one load for eight comparisons
    for (int s = 0; s < EACH; ++s) {
      const float distance = fabsf(sample[s] - value);
      if (distance < least[s]) {
        least[s] = distance;
        nearest[s] = l;
      }
    }
  }
  for (int s = 0; s < EACH; ++s)
    if (first + s * THREADS < n) index[first + s * THREADS] = nearest[s];
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream) {
  const int blocks = (n + THREADS * EACH - 1) / (THREADS * EACH);
  nearest_level<<<blocks, THREADS, 0, stream>>>(x, levels, index, n, count);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// The cheapest trips with one change, several of them for each thread. You choose tiles and rectangles.

constexpr int TILE = 32, DEPTH = 8, STEP = 8;  // a thread's rows and columns lie STEP apart: 4 x 4 trips

// A product in which + stands for the multiplication and the minimum for the sum. What lies outside of A and B must not
// win, so infinity stands in for it. Neighbouring lanes fetch along k and store one below the other: the pad of four
// puts these words into different banks.
__global__ void cheapest(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[DEPTH][TILE + 4];  // As[k][i] = A[row0 + i][k0 + k]
  __shared__ float Bs[DEPTH][TILE];      // Bs[k][j] = B[k0 + k][col0 + j]
  const int t = threadIdx.x, tx = t % STEP, ty = t / STEP;  // 8 x 8 threads
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float least[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) least[i][j] = INFINITY;
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    for (int i = 0; i < 4; ++i) {
      const int row = row0 + ty + i * STEP, k = k0 + tx;
      As[tx][ty + i * STEP] = row < M && k < K ? A[size_t(row) * K + k] : INFINITY;
    }
    for (int k = t / TILE; k < DEPTH; k += 64 / TILE) {
      const int col = col0 + t % TILE;
      Bs[k][t % TILE] = k0 + k < K && col < N ? B[size_t(k0 + k) * N + col] : INFINITY;
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      float a[4], b[4];  // eight loads for sixteen trips
      for (int i = 0; i < 4; ++i) a[i] = As[k][ty + i * STEP];
      for (int j = 0; j < 4; ++j) b[j] = Bs[k][tx + j * STEP];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) least[i][j] = fminf(least[i][j], a[i] + b[j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + i * STEP, col = col0 + tx + j * STEP;
      if (row < M && col < N) C[size_t(row) * N + col] = least[i][j];
    }
}

cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  cheapest<<<blocks, 64, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
