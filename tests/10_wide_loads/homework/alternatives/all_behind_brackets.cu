// Vectors that a view returns by reference, and members of vectors in shared memory.
#include "homework.cuh"

class Row {
 public:
  __device__ Row(const float* p) : p_(reinterpret_cast<const float4*>(p)) {}
  __device__ const float4& operator[](int q) const { return p_[q]; }
 private:
  const float4* p_;
};

__global__ void row_dots_wide(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  const Row a(A + row * cols), b(x);
  for (int q = lane; q < cols / 4; q += 32)
    sum += a[q].x * b[q].x + a[q].y * b[q].y + a[q].z * b[q].z + a[q].w * b[q].w;
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) y[row] = sum;
}

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = lane; c < cols; c += 32) sum += A[row * cols + c] * x[c];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (cols % 4 == 0)
    row_dots_wide<<<(rows + 7) / 8, 256, 0, stream>>>(A, x, y, rows, cols);
  else
    row_dots<<<(rows + 7) / 8, 256, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}

template <bool WIDE>
__device__ float4 four(const float* A, int N, int K, int k, int col) {
  if (k >= K) return make_float4(0, 0, 0, 0);
  if (WIDE) {
    if (col >= N) return make_float4(0, 0, 0, 0);
    return *reinterpret_cast<const float4*>(&A[k * N + col]);
  }
  float4 v;
  v.x = col < N ? A[k * N + col] : 0.0f;
  v.y = col + 1 < N ? A[k * N + col + 1] : 0.0f;
  v.z = col + 2 < N ? A[k * N + col + 2] : 0.0f;
  v.w = col + 3 < N ? A[k * N + col + 3] : 0.0f;
  return v;
}

template <bool WIDE>
__global__ void gram(const float* A, float* G, int N, int K) {
  __shared__ float4 left[16][16];   // 16 rows of A, 64 columns
  __shared__ float4 right[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    left[ty][tx] = four<WIDE>(A, N, K, k0 + ty, i0 + 4 * tx);
    right[ty][tx] = four<WIDE>(A, N, K, k0 + ty, j0 + 4 * tx);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float a[4] = {left[k][ty].x, left[k][ty].y, left[k][ty].z, left[k][ty].w};
      const float b[4] = {right[k][tx].x, right[k][tx].y, right[k][tx].z, right[k][tx].w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = i0 + 4 * ty + i;
    if (row >= N) break;
    if (WIDE) {
      if (j0 + 4 * tx < N)
        *reinterpret_cast<float4*>(&G[row * N + j0 + 4 * tx]) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (j0 + 4 * tx + j < N) G[row * N + j0 + 4 * tx + j] = sum[i][j];
    }
  }
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  const dim3 grid((N + 63) / 64, (N + 63) / 64), block(16, 16);
  if (N % 4 == 0)
    gram<true><<<grid, block, 0, stream>>>(A, G, N, K);
  else
    gram<false><<<grid, block, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
