// A warp for each tile, with 32 sums per lane; blocks of 32 x 32, a volatile pointer to the parts, and Kahan's sum.
#include "homework.cuh"

__global__ void triangle(const float* A, float* S, int N, int K) {
  // One warp has a tile of 32 x 32, a row of it per lane: all through shared memory, 32 threads in a block.
  __shared__ float a[32][33], b[32][33];
  int row = 0;
  while ((row + 1) * (row + 2) / 2 <= blockIdx.x) ++row;
  const int col = blockIdx.x - row * (row + 1) / 2, lane = threadIdx.x;
  float s[32];
#pragma unroll
  for (int j = 0; j < 32; ++j) s[j] = 0;
  for (int k0 = 0; k0 < K; k0 += 32) {
    __syncwarp();
    for (int i = 0; i < 32; ++i) {
      a[i][lane] = row * 32 + i < N && k0 + lane < K ? A[size_t(row * 32 + i) * K + k0 + lane] : 0;
      b[i][lane] = row == col ? a[i][lane] : col * 32 + i < N && k0 + lane < K ? A[size_t(col * 32 + i) * K + k0 + lane] : 0;
    }
    __syncwarp();
    for (int k = 0; k < 32; ++k) {
      const float mine = a[lane][k];
#pragma unroll
      for (int j = 0; j < 32; ++j) s[j] = fmaf(mine, b[j][k], s[j]);
    }
  }
  __syncwarp();
#pragma unroll
  for (int j = 0; j < 32; ++j) a[lane][j] = s[j];  // a[i][j]: row i, column j of the tile
  __syncwarp();
  for (int i = 0; i < 32; ++i) {
    const int r = row * 32 + i, c = col * 32 + lane, r2 = col * 32 + i, c2 = row * 32 + lane;
    if (r < N && c < N) S[size_t(r) * N + c] = a[i][lane];
    if (row != col && r2 < N && c2 < N) S[size_t(r2) * N + c2] = a[lane][i];
  }
}

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  const int n = (N + 31) / 32;
  triangle<<<n * (n + 1) / 2, 32, 0, stream>>>(A, S, N, K);
  return cudaGetLastError();
}

__global__ void __launch_bounds__(1024) layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K, float* parts, int* arrived) {
  __shared__ float xs[32][32], ws[32][32];
  __shared__ unsigned turn;
  const int tx = threadIdx.x, ty = threadIdx.y, slices = gridDim.x;
  const int r = blockIdx.z * 32 + ty, c = blockIdx.y * 32 + tx;
  const long long from = (long long)K * blockIdx.x / slices, to = (long long)K * (blockIdx.x + 1) / slices;
  float y = 0;
  for (long long k0 = from; k0 < to; k0 += 32) {
    xs[ty][tx] = r < M && k0 + tx < to ? X[r * (long long)K + k0 + tx] : 0;
    ws[ty][tx] = c < N && k0 + ty < to ? W[(k0 + ty) * N + c] : 0;
    __syncthreads();
    for (int k = 0; k < 32; ++k) y += xs[ty][k] * ws[k][tx];
    __syncthreads();
  }
  volatile float* p = parts + (size_t)r * N + c;
  const size_t plane = (size_t)M * N;
  const bool mine = r < M && c < N;
  if (mine) p[blockIdx.x * plane] = y;
  __threadfence();
  __syncthreads();
  if (tx == 0 && ty == 0) turn = atomicAdd((unsigned*)arrived + blockIdx.z * gridDim.y + blockIdx.y, 1u);
  __syncthreads();
  if (turn != slices - 1) return;
  __threadfence();
  if (mine) {
    // Kahan's sum, always from slice 0 on
    float sum = bias[c], lost = 0;
    for (int s = 0; s < slices; ++s) {
      const float add = p[s * plane] - lost, next = sum + add;
      lost = (next - sum) - add;
      sum = next;
    }
    Y[(size_t)r * N + c] = sum > 0 ? sum : 0.0f;
  }
  if (tx + ty == 0) arrived[blockIdx.z * gridDim.y + blockIdx.y] = 0;
}

cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                                int slices, float* parts, int* arrived, cudaStream_t stream) {
  layer<<<dim3(slices, (N + 31) / 32, (M + 31) / 32), dim3(32, 32), 0, stream>>>(X, W, bias, Y, M, N, K, parts, arrived);
  return cudaGetLastError();
}
