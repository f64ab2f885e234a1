// A small vector class with operators, as everybody has one.
#include "homework.cuh"

struct alignas(16) vec4 {
  float x, y, z, w;
};
__device__ inline vec4 operator*(float s, vec4 v) { return {s * v.x, s * v.y, s * v.z, s * v.w}; }
__device__ inline vec4 operator+(vec4 a, vec4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ inline float operator*(vec4 a, vec4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

template <bool Wide>
__device__ vec4 load(const float* row, int c, int cols) {
  if constexpr (Wide) {
    return c < cols ? *reinterpret_cast<const vec4*>(row + c) : vec4{0, 0, 0, 0};
  } else {
    return {c < cols ? row[c] : 0, c + 1 < cols ? row[c + 1] : 0, c + 2 < cols ? row[c + 2] : 0,
            c + 3 < cols ? row[c + 3] : 0};
  }
}

template <bool Wide>
__device__ void store(float* row, int c, int cols, vec4 v) {
  if constexpr (Wide) {
    if (c < cols) *reinterpret_cast<vec4*>(row + c) = v;
  } else {
    if (c < cols) row[c] = v.x;
    if (c + 1 < cols) row[c + 1] = v.y;
    if (c + 2 < cols) row[c + 2] = v.z;
    if (c + 3 < cols) row[c + 3] = v.w;
  }
}

__global__ void __launch_bounds__(128) row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* a = A + size_t(row) * cols;
  float sum = 0;
  if (cols % 4 == 0) {
    const vec4* av = reinterpret_cast<const vec4*>(a);
    const vec4* xv = reinterpret_cast<const vec4*>(x);
    for (int q = lane; q < cols / 4; q += 32) sum += av[q] * xv[q];
  } else {
    for (int c = lane; c < cols; c += 32) sum += a[c] * x[c];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  row_dots<<<(rows + 3) / 4, 128, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}

template <bool Wide>
__global__ void __launch_bounds__(256) gram(const float* A, float* G, int N, int K) {
  __shared__ vec4 left[16][16], right[16][16];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
  vec4 sum[4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    if (k0 + ty < K) {
      const float* row = A + size_t(k0 + ty) * N;
      left[ty][tx] = load<Wide>(row, i0 + 4 * tx, N);
      right[ty][tx] = load<Wide>(row, j0 + 4 * tx, N);
    } else {
      left[ty][tx] = right[ty][tx] = {};
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const vec4 a = left[k][ty];
      sum[0] = sum[0] + a.x * right[k][tx];
      sum[1] = sum[1] + a.y * right[k][tx];
      sum[2] = sum[2] + a.z * right[k][tx];
      sum[3] = sum[3] + a.w * right[k][tx];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    if (i0 + 4 * ty + i < N) store<Wide>(G + size_t(i0 + 4 * ty + i) * N, j0 + 4 * tx, N, sum[i]);
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  const dim3 grid((N + 63) / 64, (N + 63) / 64);
  if (N % 4 == 0)
    gram<true><<<grid, 256, 0, stream>>>(A, G, N, K);
  else
    gram<false><<<grid, 256, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
