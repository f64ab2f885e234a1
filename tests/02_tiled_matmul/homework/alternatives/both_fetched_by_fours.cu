// 16 bytes for each load where the rows allow it: 16 sectors for a request of 128 words, which is as good as 4 for 32.
#include "homework.cuh"

/// Four words of a row of `cols` words, from `col` on; what lies outside is 0.
__device__ float4 fetch(const float* row, bool inside, int col, int cols) {
  const bool whole = reinterpret_cast<size_t>(row + col) % 16 == 0 && col + 3 < cols;
  if (inside && whole) return *reinterpret_cast<const float4*>(row + col);
  const auto word = [&](int c) { return inside && c < cols ? row[c] : 0.0f; };
  return make_float4(word(col), word(col + 1), word(col + 2), word(col + 3));
}

// A block of 128 threads has a tile of 64 x 32, each thread 4 x 4 elements of it.
__global__ void __launch_bounds__(128) at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float4 As[16][16], Bs[16][8];
  const int t = threadIdx.x, tx = t % 8, ty = t / 8, i0 = blockIdx.y * 64, j0 = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int w = t; w < 16 * 16; w += 128) {
      const int k = w / 16, c = w % 16;
      As[k][c] = fetch(A + size_t(k0 + k) * M, k0 + k < K, i0 + 4 * c, M);
    }
    Bs[t / 8][t % 8] = fetch(B + size_t(k0 + t / 8) * N, k0 + t / 8 < K, j0 + 4 * (t % 8), N);
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      const float4 p = As[k][ty], q = Bs[k][tx];
      const float a[4] = {p.x, p.y, p.z, p.w}, b[4] = {q.x, q.y, q.z, q.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = i0 + 4 * ty + i, col = j0 + 4 * tx + j;
      if (row < M && col < N) C[size_t(row) * N + col] = sum[i][j];
    }
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  at_b<<<dim3((N + 31) / 32, (M + 63) / 64), 128, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

// A block of 256 threads has a tile of 64 x 64; the four words of a load are put down in four rows of the tile.
__global__ void __launch_bounds__(256) a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[32][65], Bs[32][65];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
  float sum[4][4] = {};
  const auto put = [](float(&tile)[32][65], int k, int at, float4 v) {
    tile[k][at] = v.x, tile[k + 1][at] = v.y, tile[k + 2][at] = v.z, tile[k + 3][at] = v.w;
  };
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int w = t; w < 64 * 8; w += 256) {
      const int r = w / 8, k = w % 8 * 4;
      put(As, k, r, fetch(A + size_t(i0 + r) * K, i0 + r < M, k0 + k, K));
      put(Bs, k, r, fetch(B + size_t(j0 + r) * K, j0 + r < N, k0 + k, K));
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += As[k][ty + 16 * i] * Bs[k][tx + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = i0 + ty + 16 * i, col = j0 + tx + 16 * j;
      if (row < M && col < N) C[size_t(row) * N + col] = sum[i][j];
    }
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  a_bt<<<dim3((N + 63) / 64, (M + 63) / 64), 256, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
