// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第五章：向量化与对齐。
#include "homework.cuh"

// 只添加三行
constexpr int BLOCKS = 4;
constexpr int THREADS = 128;
__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  const int t = blockIdx.x * THREADS + threadIdx.x;
  const int share = n / (BLOCKS * THREADS);
  int first = t * share;
  int end = first + share;
  int step = 1;
  first = t;
  end = n;
  step = BLOCKS * THREADS;
  for (int i = first; i < end; i += step) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<BLOCKS, THREADS, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}

// 每个线程把两列的和放进寄存器，用 xor shuffle 与邻居相加；偶数 lane 写出
__global__ void halve(const float* in, float* out, int rows, int cols) {
  const int w = cols / 2;
  for (int i = blockIdx.y; i < rows / 2; i += gridDim.y) {
    const float* r = in + 2ull * i * cols;
    for (int c0 = blockIdx.x * blockDim.x; c0 < 2 * w; c0 += gridDim.x * blockDim.x) {
      const int c = c0 + threadIdx.x;
      float v = 0;
      if (c < 2 * w) v = r[c] + r[c + cols];
      v += __shfl_xor_sync(0xffffffffu, v, 1);
      if (c < 2 * w && !(c & 1)) out[size_t(i) * w + c / 2] = v * 0.25f;
    }
  }
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const int w = cols / 2, h = rows / 2;
  if (!w || !h) return cudaSuccess;
  halve<<<dim3((2 * w + 127) / 128, h), 128, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

// 每个线程写 to 的一个 16 字节；需要的两个 from 的 16 字节中，后一个从下一个 lane 得到，lane 31 自己读
__global__ void copy_part(const float* __restrict__ from, float* __restrict__ to, int head, int quads, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, lane = t & 31;
  if (t < head) to[t] = from[t];
  const int tail = head + 4 * quads;
  if (t < n - tail) to[tail + t] = from[tail + t];
  const float* f = from + head;
  const int shift = (size_t)f >> 2 & 3;
  f -= shift;
  const int words = n - head + shift;  // 从 f 开始可读的字数
  float v[8] = {0};
  if (4 * t + 4 <= words) {
    const float4 q = ((const float4*)f)[t];
    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
  } else {
    for (int e = 0; e < 3; ++e)
      if (4 * t + e < words) v[e] = f[4 * t + e];
  }
#pragma unroll
  for (int e = 0; e < 3; ++e) v[4 + e] = __shfl_down_sync(0xffffffff, v[e], 1);
  if (lane == 31 && shift)
    for (int e = 0; e < shift; ++e)
      if (4 * (t + 1) + e < words) v[4 + e] = f[4 * (t + 1) + e];
  if (t < quads) {
    float4 q;
    switch (shift) {
      case 0: q = make_float4(v[0], v[1], v[2], v[3]); break;
      case 1: q = make_float4(v[1], v[2], v[3], v[4]); break;
      case 2: q = make_float4(v[2], v[3], v[4], v[5]); break;
      default: q = make_float4(v[3], v[4], v[5], v[6]);
    }
    ((float4*)(to + head))[t] = q;
  }
}

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  int head = (4 - ((size_t)to >> 2 & 3)) & 3;
  head = head < n ? head : n;
  const int quads = (n - head) >> 2;
  copy_part<<<quads / 256 + 1, 256, 0, stream>>>(from, to, head, quads, n);
  return cudaGetLastError();
}
