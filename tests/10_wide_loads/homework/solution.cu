// The homework of chapter 10, solved.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// y = A x: a warp for each row, and four words per load wherever rows allow it.

// If cols is a multiple of four, all rows begin at multiples of 16 bytes, and a row ends with a whole group of four. If
// not, most rows begin between two such addresses, and the warp takes them word by word.
__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;  // a whole warp
  const float* a = A + size_t(row) * cols;
  float sum = 0.0f;
  if (cols % 4 == 0) {
    for (int c = 4 * lane; c < cols; c += 128) {
      const float4 p = *reinterpret_cast<const float4*>(a + c), q = *reinterpret_cast<const float4*>(x + c);
      sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  } else {
    for (int c = lane; c < cols; c += 32) sum += a[c] * x[c];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  row_dots<<<(rows + 3) / 4, 128, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// G = A^T A, with 4 x 4 elements of G for each thread.

constexpr int TILE = 32, DEPTH = 8;

/// Four neighbours of a row of A, zero where there is none.
__device__ float4 four(const float* row, int first, int words) {
  if (words % 4 == 0)
    return first < words ? *reinterpret_cast<const float4*>(row + first) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  return make_float4(first < words ? row[first] : 0.0f, first + 1 < words ? row[first + 1] : 0.0f,
                     first + 2 < words ? row[first + 2] : 0.0f, first + 3 < words ? row[first + 3] : 0.0f);
}

// k runs down the columns of A, so a row of A is a row of both tiles as it comes: nothing has to be transposed on the
// way. 64 threads fetch four words of each tile, and each has 4 x 4 elements, from two loads per step of k.
__global__ void gram(const float* A, float* G, int N, int K) {
  __shared__ alignas(16) float Is[DEPTH][TILE];  // Is[k][i] = A[k0 + k][row0 + i]
  __shared__ alignas(16) float Js[DEPTH][TILE];  // Js[k][j] = A[k0 + k][col0 + j]
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int k = k0 + ty;
    const float* row = A + size_t(k) * N;
    const float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 is = k < K ? four(row, row0 + 4 * tx, N) : none;
    const float4 js = k < K ? four(row, col0 + 4 * tx, N) : none;
    *reinterpret_cast<float4*>(&Is[ty][4 * tx]) = is;
    *reinterpret_cast<float4*>(&Js[ty][4 * tx]) = js;
    __syncthreads();
    for (int step = 0; step < DEPTH; ++step) {
      const float4 a = *reinterpret_cast<const float4*>(&Is[step][4 * ty]);
      const float4 b = *reinterpret_cast<const float4*>(&Js[step][4 * tx]);
      const float as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += as[i] * bs[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + 4 * ty + i, col = col0 + 4 * tx + j;
      if (row < N && col < N) G[size_t(row) * N + col] = sum[i][j];
    }
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  const dim3 blocks((N + TILE - 1) / TILE, (N + TILE - 1) / TILE);
  gram<<<blocks, 64, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
