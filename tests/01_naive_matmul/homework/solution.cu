// One solution of the homework of chapter 01. `make solution-01` prints it.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Six lines of this kernel and of its launch are missing. It compiles.

constexpr int WIDE = 32;  // threads of a block in x
constexpr int HIGH = 8;   // and in y

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  int row = 0;
  int col = 0;
  row = blockIdx.y * HIGH + threadIdx.y;
  col = blockIdx.x * WIDE + threadIdx.x;  // neighbouring threads on neighbouring words of a row

  if (row >= rows || col >= cols) return;

  float x = 0.0f;
  x = X[row * ldx + col];  // X's rows are ldx words apart, Y's are cols

  Y[row * cols + col] = s[row] * x;
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  dim3 blocks(1, 1);
  blocks.x = (cols + WIDE - 1) / WIDE;
  blocks.y = (rows + HIGH - 1) / HIGH;

  scale_rows<<<blocks, dim3(WIDE, HIGH), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// C = A B, everything column-major, one thread per element of C.

// Neighbours in memory are now neighbours in a column, so the *row* belongs on threadIdx.x: a warp reads 32 neighbours
// of a column of A, and one word of B. It is the lesson's kernel read from right to left: by rows, the same words are
// B^T A^T = C^T.
__global__ void matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row + k * M] * B[k + col * K];
  C[row + col * M] = sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  const dim3 threads(32, 8);
  const dim3 blocks((M + threads.x - 1) / threads.x, (N + threads.y - 1) / threads.y);
  matmul_by_columns<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// C = A B, everything row-major, four elements of C for each thread.

// Four elements of one column: the word of B is the same for all four, and each of the four words of A is the same for
// all lanes of a warp. Five requests for four multiply-adds instead of eight, 4 + 4 sectors instead of 20. Four
// elements of one row would need as many requests, but 16 + 1 sectors.
__global__ void matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * 4;  // this thread's rows: row0 to row0 + 3
  if (row0 >= M || col >= N) return;
  int row[4];
  for (int i = 0; i < 4; ++i) row[i] = row0 + i < M ? row0 + i : M - 1;  // past the edge: read what is there
  float sum[4] = {};
  for (int k = 0; k < K; ++k) {
    const float b = B[k * N + col];  // read once, used four times
    for (int i = 0; i < 4; ++i) sum[i] += A[row[i] * K + k] * b;
  }
  for (int i = 0; i < 4; ++i)
    if (row0 + i < M) C[(row0 + i) * N + col] = sum[i];  // and store only what exists
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  const dim3 threads(32, 8);
  const dim3 blocks((N + 31) / 32, (M + 31) / 32);  // 8 threads of 4 rows each
  matmul_coarsened<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
