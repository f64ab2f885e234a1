// Tensor cores: fragments in loops, of all formats, from global and shared memory. See compilers_test.cpp.
#include <mma.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace nvcuda;

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

constexpr int kTile = 16;

// C = A B, tiles of 16 x 16 by one warp each, from global memory.
template <class T>
__global__ void from_global(const T* a, const T* b, float* c, int n) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kTile, column = blockIdx.x * kTile;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += kTile) {
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, T, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + k * n + column, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = 0.5f * sum.x[i] + 1.0f;
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// The same through shared memory, two products for each load.
template <class T>
__global__ void from_shared(const T* a, const T* b, float* c, int n) {
  constexpr int kRow = 2 * kTile + 8;
  __shared__ __align__(32) T as[2 * kTile * kRow], bs[2 * kTile * kRow];
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 2 * kTile, column = blockIdx.x * 2 * kTile;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum[2];
  for (auto& s : sum) wmma::fill_fragment(s, 0.0f);
  for (int k = 0; k < n; k += 2 * kTile) {
    for (int i = threadIdx.x; i < 4 * kTile * kTile; i += blockDim.x) {
      as[i / 32 * kRow + i % 32] = a[(row + i / 32) * n + k + i % 32];
      bs[i / 32 * kRow + i % 32] = b[(k + i / 32) * n + column + i % 32];
    }
    __syncthreads();
    for (int kk = 0; kk < 2 * kTile; kk += kTile) {
      wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, T, wmma::row_major> fa;
      wmma::load_matrix_sync(fa, as + warp * kTile * kRow + kk, kRow);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, T, wmma::row_major> fb;
        wmma::load_matrix_sync(fb, bs + kk * kRow + j * kTile, kRow);
        wmma::mma_sync(sum[j], fa, fb, sum[j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 2; ++j)
    wmma::store_matrix_sync(c + (row + warp * kTile) * n + column + j * kTile, sum[j], n, wmma::mem_col_major);
}

__global__ void tf32(const float* a, const float* b, float* c, int n) {
  wmma::fragment<wmma::accumulator, kTile, kTile, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 8) {
    wmma::fragment<wmma::matrix_a, kTile, kTile, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, kTile, kTile, 8, wmma::precision::tf32, wmma::col_major> fb;
    wmma::load_matrix_sync(fa, a + k, n);
    wmma::load_matrix_sync(fb, b + k, n);
    for (float& x : fa.x) x = wmma::__float_to_tf32(x);
    for (float& x : fb.x) x = wmma::__float_to_tf32(x);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
}

// The instructions of inline PTX: tiles that are copied ahead, ldmatrix, mma.sync.
__global__ void by_ptx(const __nv_bfloat16* a, float* c, int n) {
  constexpr int kRow = 24;
  __shared__ __align__(16) __nv_bfloat16 s[2][16 * kRow];
  const auto address = [](const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); };
  const auto fetch = [&](int tile) {
    const int row = threadIdx.x / 2, column = threadIdx.x % 2 * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(address(&s[tile % 2][row * kRow + column])),
                 "l"(a + row * n + tile * 16 + column));
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  };
  float d[4] = {};
  fetch(0);
  for (int tile = 0; tile < n / 16; ++tile) {
    asm volatile("cp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    if (tile + 1 < n / 16) fetch(tile + 1);
    unsigned r[4], q[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address(&s[tile % 2][threadIdx.x % 16 * kRow + threadIdx.x / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(q[0]), "=r"(q[1])
                 : "r"(address(&s[tile % 2][threadIdx.x % 16 * kRow])));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(q[0]), "r"(q[1]));
  }
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = d[i];
}

template <class T>
T* numbers(int count) {
  static T all[64 * 64];
  for (int i = 0; i < count; ++i) all[i] = T(static_cast<float>(i % 13) - 6.0f);
  T* p;
  right(cudaMalloc(&p, static_cast<std::size_t>(count) * sizeof(T)));
  right(cudaMemcpy(p, all, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <class T>
void both(int n, float* c) {
  T *a = numbers<T>(n * n), *b = numbers<T>(n * n);
  from_global<<<dim3(4, 2), dim3(32, 2)>>>(a, b, c, n);
  right(cudaGetLastError());
  from_shared<<<dim3(2, 2), 64>>>(a, b, c, n);
  right(cudaGetLastError());
  right(cudaFree(a));
  right(cudaFree(b));
}

}  // namespace

int main() {
  constexpr int n = 64;
  float *c = numbers<float>(n * n), *a = numbers<float>(n * n);
  both<__half>(n, c);
  both<__nv_bfloat16>(n, c);
  tf32<<<1, 32>>>(a, a + 2 * n, c, n);
  right(cudaGetLastError());
  auto* halves = numbers<__nv_bfloat16>(n * n);
  by_ptx<<<1, 32>>>(halves, c, n);
  right(cudaDeviceSynchronize());
  right(cudaFree(halves));
  right(cudaFree(a));
  right(cudaFree(c));
}
