// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第十一章：异步拷贝。信号匹配与均值滤波。
#include "homework.cuh"

#include <cuda_pipeline.h>

// 每个线程两个位置：块大小 64，一次 256 个模式字
__global__ void match(const float* signal, const float* pattern, float* score, int positions, int length) {
  constexpr int P = 256, T = 64, W = P + 2 * T;
  __shared__ float xs[2][W], ps[2][P];
  const int t = threadIdx.x, first = blockIdx.x * 2 * T, last = positions + length - 2;
  float s0 = 0, s1 = 0;
  const int pieces = 1 + (length - 1) / P;
  for (int p = -1; p < pieces; ++p) {
    if (p >= 0) {
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    if (p + 1 < pieces) {
      const int q = p + 1, b = q & 1;
      for (int w = t; w < P; w += T) {
        const int i = q * P + w;
        __pipeline_memcpy_async(&ps[b][w], &pattern[min(i, length - 1)], 4, i < length ? 0 : 4);
      }
      for (int w = t; w < W; w += T) {
        const int i = first + q * P + w;
        __pipeline_memcpy_async(&xs[b][w], &signal[min(i, last)], 4, i <= last ? 0 : 4);
      }
      __pipeline_commit();
    }
    if (p < 0) continue;
    const float *x = xs[p & 1] + t, *m = ps[p & 1];
#pragma unroll 8
    for (int i = 0; i < P; ++i) {
      s0 += m[i] * x[i];
      s1 += m[i] * x[i + T];
    }
  }
  if (first + t < positions) score[first + t] = s0;
  if (first + t + T < positions) score[first + t + T] = s1;
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length, cudaStream_t stream) {
  match<<<(positions + 127) / 128, 64, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}

// 动态共享内存的环，8 行；每个线程负责一列；边缘的两个字由前两个线程搬
__global__ void blur(const float* in, float* out, int rows, int cols, int strip) {
  extern __shared__ float ring[];  // 8 x (blockDim.x + 2)
  const int pitch = blockDim.x + 2, t = threadIdx.x, c = blockIdx.x * blockDim.x + t;
  const int top = blockIdx.y * strip, bottom = min(top + strip, rows);
  auto copy = [=](int r, int w) {
    const int col = (int)(blockIdx.x * blockDim.x) + w - 1;
    const bool ok = r >= 0 && r < rows && col >= 0 && col < cols;
    __pipeline_memcpy_async(ring + ((r + 8) & 7) * pitch + w, in + (ok ? (size_t)r * cols + col : 0), 4, ok ? 0 : 4);
  };
  auto fetch = [=](int r) {
    if (r <= bottom) {
      copy(r, t + 1);
      if (t == 0) copy(r, 0);
      if (t == 1) copy(r, pitch - 1);
    }
    __pipeline_commit();
  };
  for (int r = top - 1; r <= top + 4; ++r) fetch(r);
  for (int r = top; r < bottom; ++r) {
    __pipeline_wait_prior(3);
    __syncthreads();
    fetch(r + 5);
    const float *a = ring + ((r + 7) & 7) * pitch + t, *b = ring + (r & 7) * pitch + t, *d = ring + ((r + 1) & 7) * pitch + t;
    const float sum = a[0] + a[1] + a[2] + b[0] + b[1] + b[2] + d[0] + d[1] + d[2];
    if (c < cols) out[(size_t)r * cols + c] = sum / 9.0f;
  }
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const int threads = 128, strip = 64;
  blur<<<dim3((cols + threads - 1) / threads, (rows + strip - 1) / strip), threads, 8 * (threads + 2) * sizeof(float), stream>>>(in, out, rows, cols, strip);
  return cudaGetLastError();
}
