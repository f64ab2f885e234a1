// One small launch of each chapter's kernels, for compilers_test.cpp: what is counted and found must not depend on the
// compiler. A new chapter adds a function, or a file. Results are not looked at here; they are checked in each
// chapter's tests.
#include <cstdio>
#include <cstdlib>

#include "00_first_kernel/first_kernel.cuh"
#include "01_naive_matmul/naive_matmul.cuh"
#include "02_tiled_matmul/tiled_matmul.cuh"
#include "03_padded_tiles/padded_tiles.cuh"
#include "04_transpose/transpose.cuh"

namespace {

constexpr int kWords = 1 << 14;
float *a, *b, *c;

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

void brighten() {
  right(launch_brighten_one_thread(a, c, 67));
  right(launch_brighten(a, c, 616, 100));
  right(launch_brighten_2d(a, c, 44, 14, dim3(32, 8)));
}

void matmul() {
  right(launch_naive_matmul(a, b, c, 37, 41, 19, 16));
  right(launch_naive_matmul_row_on_x(a, b, c, 37, 41, 19, 16));
  right(launch_tiled_matmul<16>(a, b, c, 37, 41, 19));
  right(launch_tiled_matmul<32>(a, b, c, 37, 41, 19));
  right(launch_tiled_matmul_dynamic(a, b, c, 37, 41, 19, 12));
}

void padding() {
  for (const RunningSumsKernel kernel :
       {running_sums_direct, running_sums_tile, running_sums_extra_row, running_sums_padded, running_sums_transposed,
        running_sums_swizzled, running_sums_wide<float2, 34>, running_sums_wide<float4, 36>, running_sums_narrow<17>,
        running_sums_narrow_padded, running_sums_narrow_swizzled})
    right(launch_running_sums(kernel, a, c, 41, 67));
  right(launch_window_sums(a, c, 3, 2, 2, 64));
  right(launch_window_sums(reinterpret_cast<const double*>(a), c, 2, 1, 1, 32));
  right((launch_tiled_matmul_padded<16, 1>(a, b, c, 37, 41, 19)));
}

void transpose() {
  right(launch_copy_matrix(a, c, 71, 67));
  right(launch_copy_vectorised(a, c, 71, 67));
  right(launch_copy_evict_last(a, c, 71, 67));
  right(launch_transpose_strided_write(a, c, 71, 67));
  right(launch_transpose_strided_read(a, c, 71, 67));
  right(launch_transpose_tile<16>(a, c, 71, 67));
  right(launch_transpose_padded<16>(a, c, 71, 67));
  right(launch_transpose_swizzled<32>(a, c, 71, 67));
  right(launch_transpose_coarsened(a, c, 71, 67));
  right(launch_transpose_vectorised<>(a, c, 72, 68));
  right(launch_transpose_vectorised<TileOrder::columns, true>(a, c, 72, 68));
  right(launch_move_tiles(a, c, 64, 128));
  right(launch_transpose_ragged(a, c, 71, 67));
}

}  // namespace

int main() {
  static float words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = static_cast<float>(i % 251) - 125.0f;
  for (float** matrix : {&a, &b, &c}) {
    right(cudaMalloc(matrix, sizeof(words)));
    right(cudaMemcpy(*matrix, words, sizeof(words), cudaMemcpyHostToDevice));
  }
  brighten();
  matmul();
  padding();
  transpose();
  right(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c}) right(cudaFree(matrix));
}
