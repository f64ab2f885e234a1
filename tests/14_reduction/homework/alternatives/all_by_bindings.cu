// Members of a vector in memory, by structured bindings.
// A union for the four floats of a load; atomics on the results, after a kernel that sets them.
#include "homework.cuh"

#include <cfloat>
#include <cmath>
#include <cstring>

#define FULL 0xffffffffu

union Quad {
  float4 v;
  float f[4];
};

__device__ void atomic_min(float* p, float f) {
  if (f >= 0)
    atomicMin(reinterpret_cast<int*>(p), __float_as_int(f));
  else
    atomicMax(reinterpret_cast<unsigned int*>(p), __float_as_uint(f));
}
__device__ void atomic_max(float* p, float f) {
  if (f >= 0)
    atomicMax(reinterpret_cast<int*>(p), __float_as_int(f));
  else
    atomicMin(reinterpret_cast<unsigned int*>(p), __float_as_uint(f));
}

__global__ void clear(float* range, int* count) {
  range[0] = HUGE_VALF;
  range[1] = -HUGE_VALF;
  count[0] = 0;
}

__global__ void scan(const float* x, int n, float* range, int* count) {
  __shared__ float lo_of[8], hi_of[8];
  __shared__ int many_of[8];
  float lo = HUGE_VALF, hi = -HUGE_VALF;
  int many = 0;
  const auto take = [&](float f) {
    lo = fminf(lo, f), hi = fmaxf(hi, f), many += f == f;  // fminf() leaves a NaN out
  };
  const int misaligned = static_cast<int>(reinterpret_cast<size_t>(x) / 4 % 4);
  const int head = min(n, (4 - misaligned) % 4);
  const int quads = (n - head) / 4;
  const float4* const q = reinterpret_cast<const float4*>(x + head);
  const int id = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int i = id; i < quads; i += all) {
    const auto& [a, b, c, d] = q[i];
    take(a), take(b), take(c), take(d);
  }
  if (id < head) take(x[id]);
  if (id < n - head - 4 * quads) take(x[head + 4 * quads + id]);

  for (int offset = 16; offset > 0; offset >>= 1) {
    lo = fminf(lo, __shfl_down_sync(FULL, lo, offset));
    hi = fmaxf(hi, __shfl_down_sync(FULL, hi, offset));
    many += __shfl_down_sync(FULL, many, offset);
  }
  if (threadIdx.x % 32 == 0) {
    lo_of[threadIdx.x / 32] = lo;
    hi_of[threadIdx.x / 32] = hi;
    many_of[threadIdx.x / 32] = many;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) lo = fminf(lo, lo_of[w]), hi = fmaxf(hi, hi_of[w]), many += many_of[w];
    if (many == 0) return;
    atomic_min(&range[0], lo);
    atomic_max(&range[1], hi);
    atomicAdd(count, many);
  }
}

cudaError_t launch_min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                                 int* arrived, cudaStream_t stream) {
  clear<<<1, 1, 0, stream>>>(range, count);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess || n == 0) return error;
  int blocks = n / 1024 + 1;
  if (blocks > 512) blocks = 512;
  scan<<<blocks, 256, 0, stream>>>(x, n, range, count);
  return cudaGetLastError();
}

// Two words of a row for each lane at a time; the sum is in double, for good measure.
struct ExpSum {
  float top, sum;
};
__device__ ExpSum plus(const ExpSum& a, const ExpSum& b) {
  if (a.top < b.top) return plus(b, a);
  if (b.sum == 0.0f) return a;
  ExpSum c = a;
  c.sum += b.sum * expf(b.top - a.top);
  return c;
}
__global__ void lse(const float* A, float* L, int M, int N, int lanes) {
  const int rows = blockDim.x / lanes;  // of a block
  const int lane = threadIdx.x % lanes;
  const size_t row = (size_t)blockIdx.x * rows + threadIdx.x / lanes;
  ExpSum s = {-HUGE_VALF, 0.0f};
  if (row < M)
    for (int j = lane; j < N; j += lanes) {
      const float a = A[row * N + j];
      if (a > -HUGE_VALF) s = plus(s, ExpSum{a, 1.0f});
    }
  for (int d = lanes / 2; d > 0; d >>= 1) {
    ExpSum o;
    o.top = __shfl_down_sync(FULL, s.top, d, lanes);
    o.sum = __shfl_down_sync(FULL, s.sum, d, lanes);
    s = plus(s, o);
  }
  if (row < M && lane == 0) L[row] = s.sum == 0.0f ? -HUGE_VALF : logf(s.sum) + s.top;
}
__global__ void lse_long(const float* A, float* L, int N) {
  __shared__ ExpSum all[512];
  const int t = threadIdx.x;
  ExpSum s = {-HUGE_VALF, 0.0f};
  for (int j = t; j < N; j += 512) {
    const float a = A[(size_t)blockIdx.x * N + j];
    if (a > -HUGE_VALF) s = plus(s, ExpSum{a, 1.0f});
  }
  all[t] = s;
  __syncthreads();
  for (int half = 256; half > 0; half /= 2) {
    if (t < half) all[t] = plus(all[t], all[t + half]);
    __syncthreads();
  }
  if (t == 0) L[blockIdx.x] = all[0].sum == 0.0f ? -HUGE_VALF : logf(all[0].sum) + all[0].top;
}
cudaError_t launch_row_log_sum_exp(const float* A, float* L, int M, int N, cudaStream_t stream) {
  if (N > 2000) {
    lse_long<<<M, 512, 0, stream>>>(A, L, N);
  } else {
    int lanes = 1;
    while (lanes < 32 && lanes * 4 < N) lanes *= 2;
    const int rows = 256 / lanes;
    lse<<<(M - 1) / rows + 1, 256, 0, stream>>>(A, L, M, N, lanes);
  }
  return cudaGetLastError();
}
