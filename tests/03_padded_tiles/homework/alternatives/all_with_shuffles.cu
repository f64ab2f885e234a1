// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第三章作业。
#include "homework.cuh"

// 异或：记录 i 的第 j 个字
__device__ __forceinline__ int place(int i, int j) { return i * 8 + (j ^ (i >> 2 & 7)); }

// 每个 warp 有自己的 256 个字，warp 之间不需要 __syncthreads
__global__ void record_sums(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[4][256];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int first = (blockIdx.x * 4 + warp) * 32; first < n; first += gridDim.x * 128) {
    float* s = tile[warp];
    const float* from = x + (size_t)first * 8;
    const int left = min(n - first, 32);
    for (int w = lane; w < left * 8; w += 32) s[place(w >> 3, w & 7)] = from[w];
    __syncwarp();
    float a = 0, b = 0;
    if (lane < left) {
      for (int j = 0; j < 8; j += 2) {
        a += s[place(lane, j)];
        b += s[place(lane, j + 1)];
      }
      y[first + lane] = a + b;
    }
    __syncwarp();
  }
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  int g = n / 128 + (n % 128 != 0);
  record_sums<<<g > 8192 ? 8192 : g, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}

// 两个 warp，64 行；瓦片是 64 x 32
__global__ void running_sums_turned(const float* in, float* out, int rows, int cols) {
  struct Tile {
    float w[64][32];
    __device__ float& operator()(int r, int c) { return w[r][c ^ (r & 31)]; }
  };
  __shared__ Tile tile;
  const int t = threadIdx.x, r0 = blockIdx.x * 64, lane = t & 31, half = t >> 5;
  double error = 0;  // Kahan 补偿不需要，这里用 double
  for (int c0 = 0; c0 < cols; c0 += 32) {
    for (int r = half; r < 64; r += 2)
      if (r0 + r < rows && c0 + lane < cols) tile(r, lane) = in[size_t(r0 + r) * cols + (c0 + lane)];
    __syncthreads();
    if (r0 + t < rows) {
      const int left = cols - c0 < 32 ? cols - c0 : 32;
      float* o = out + size_t(c0) * rows + (r0 + t);
      for (int j = 0; j < left; ++j, o += rows) *o = float(error += tile(t, j));
    }
    __syncthreads();
  }
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  running_sums_turned<<<(rows + 63) / 64, 64, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

// 不用共享内存：lane 拥有键 lane 和 lane + 32，所有的键值对用 shuffle 传给每个 lane
__global__ void sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols) {
  const unsigned lane = threadIdx.x;
  for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < rows; row += gridDim.x * blockDim.y) {
    float low = 0, high = 0;
    for (int c0 = 0; c0 < cols; c0 += 32) {
      const bool ok = c0 + lane < cols;
      const int key = ok ? keys[size_t(row) * cols + c0 + lane] : -1;
      const float value = ok ? values[size_t(row) * cols + c0 + lane] : 0;
      for (int from = 0; from < 32; ++from) {
        const int k = __shfl_sync(0xffffffff, key, from);
        const float v = __shfl_sync(0xffffffff, value, from);
        if (k == lane) low += v;
        if (k == lane + 32) high += v;
      }
    }
    sums[size_t(row) * 64 + lane] = low;
    sums[size_t(row) * 64 + 32 + lane] = high;
  }
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols, cudaStream_t stream) {
  sums_by_key<<<(rows + 3) / 4, dim3(32, 4), 0, stream>>>(keys, values, sums, rows, cols);
  return cudaGetLastError();
}
