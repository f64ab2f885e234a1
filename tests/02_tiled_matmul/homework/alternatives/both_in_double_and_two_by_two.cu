// Sums in double, tiles in a loop over the grid; 2 x 2 elements per thread.
#include "homework.cuh"

__global__ void at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float as[32][32], bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int ti = blockIdx.y; ti * 32 < M; ti += gridDim.y)
    for (int tj = blockIdx.x; tj * 32 < N; tj += gridDim.x) {
      double c = 0;
      for (int k0 = 0; k0 < K; k0 += 32) {
        const int k = k0 + ty, i = ti * 32 + tx, j = tj * 32 + tx;
        as[ty][tx] = k < K && i < M ? A[k * size_t(M) + i] : 0;
        bs[ty][tx] = k < K && j < N ? B[k * size_t(N) + j] : 0;
        __syncthreads();
        const int left = min(32, K - k0);
        for (int e = 0; e < left; ++e) c += double(as[e][ty]) * bs[e][tx];
        __syncthreads();
      }
      if (ti * 32 + ty < M && tj * 32 + tx < N) C[(ti * 32 + ty) * size_t(N) + tj * 32 + tx] = float(c);
    }
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  at_b<<<dim3(min((N + 31) / 32, 64), min((M + 31) / 32, 64)), dim3(32, 32), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

// a thread has 2 x 2 elements; the tile of 32 x 16 is stored by columns for both matrices
__global__ void a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float as[32][33], bs[32][33];  // [k][row]
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, tx = t % 16, ty = t / 16;
  const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float2 top = {0, 0}, bottom = {0, 0};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int r = warp; r < 32; r += 8) {
      const int k = k0 + lane;
      as[lane][r] = k < K && i0 + r < M ? A[size_t(i0 + r) * K + k] : 0;
      bs[lane][r] = k < K && j0 + r < N ? B[size_t(j0 + r) * K + k] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      const float a0 = as[k][ty], a1 = as[k][ty + 16], b0 = bs[k][tx], b1 = bs[k][tx + 16];
      top.x += a0 * b0, top.y += a0 * b1, bottom.x += a1 * b0, bottom.y += a1 * b1;
    }
    __syncthreads();
  }
  auto put = [&](int i, int j, float v) { if (i < M && j < N) C[size_t(i) * N + j] = v; };
  put(i0 + ty, j0 + tx, top.x), put(i0 + ty, j0 + tx + 16, top.y);
  put(i0 + ty + 16, j0 + tx, bottom.x), put(i0 + ty + 16, j0 + tx + 16, bottom.y);
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  a_bt<<<dim3((N + 31) / 32, (M + 31) / 32), 256, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
