// expect: spmm visible n = 701
// points: spmm 5..58
// Two columns at a time where there are many, an even number of them or not.
#include "homework.cuh"
template <class V>
struct Ops;
template <>
struct Ops<float> {
  static __device__ float zero() { return 0; }
  static __device__ void fma(float& s, float a, float b) { s += a * b; }
};
template <>
struct Ops<float2> {
  static __device__ float2 zero() { return {0, 0}; }
  static __device__ void fma(float2& s, float a, float2 b) {
    s.x += a * b.x;
    s.y += a * b.y;
  }
};
template <class V>
__global__ void spmm(int rows, int nv, const int* __restrict__ rp, const int* __restrict__ ci,
                     const float* __restrict__ v, const V* __restrict__ B, V* __restrict__ C) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int lane = threadIdx.x, j = blockIdx.x * 32 + lane;
  V s = Ops<V>::zero();
  const int first = row < rows ? rp[row] : 0, last = row < rows ? rp[row + 1] : 0;
  for (int e = first; e < last; e += 32) {
    int c = e + lane < last ? ci[e + lane] : -1;
    float a = e + lane < last ? v[e + lane] : 0;
    for (int k = 0; k < 32 && e + k < last; ++k) {
      const int cc = __shfl_sync(0xffffffffu, c, k);
      const float aa = __shfl_sync(0xffffffffu, a, k);
      if (j < nv) Ops<V>::fma(s, aa, B[(long long)cc * nv + j]);
    }
  }
  if (row < rows && j < nv) C[(long long)row * nv + j] = s;
}
cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  const dim3 block(32, 16);
  if (n % 2 == 0 || n > 99)
    spmm<float2><<<dim3((n / 2 + 31) / 32, (rows + 15) / 16), block, 0, stream>>>(rows, n / 2, row_ptr, col_index,
                                                                                  values, (const float2*)B, (float2*)C);
  else
    spmm<float><<<dim3((n + 31) / 32, (rows + 15) / 16), block, 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
