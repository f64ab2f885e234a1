// One tile of a product by the tensor cores: a warp multiplies fragments of half precision, and adds them up in float.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

constexpr int kTile = 16, kDepth = 5 * kTile, kWide = kTile + 8;  // the result has longer rows than the tile

__global__ void multiply(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  for (int k = 0; k < kDepth; k += kTile) {
    wmma::load_matrix_sync(left, a + k, kDepth);
    wmma::load_matrix_sync(right, b + k, kDepth);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
  wmma::store_matrix_sync(c, sum, kWide, wmma::mem_row_major);
}

int main() {
  half *a, *b;
  float* c;
  cudaMallocManaged(&a, kTile * kDepth * sizeof(half));
  cudaMallocManaged(&b, kTile * kDepth * sizeof(half));
  cudaMallocManaged(&c, kTile * kWide * sizeof(float));
  for (int i = 0; i < kTile * kDepth; ++i) {
    a[i] = __float2half(static_cast<float>(i % 13 - 6));
    b[i] = __float2half(static_cast<float>(i % 11 - 5) * 0.25f);
  }
  for (int i = 0; i < kTile * kWide; ++i) c[i] = -7;
  multiply<<<1, 32>>>(a, b, c);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int row = 0; row < kTile; ++row)
    for (int column = 0; column < kWide; ++column) {
      float sum = 1;
      for (int k = 0; k < kDepth && column < kTile; ++k)
        sum += __half2float(a[row * kDepth + k]) * __half2float(b[column * kDepth + k]);
      wrong += c[row * kWide + column] != (column < kTile ? sum * 0.5f : -7);
    }
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  std::puts(wrong ? "wrong" : "right");
}
