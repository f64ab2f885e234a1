// One small launch of each chapter's kernels, for compilers_test.cpp: what is counted and found must not depend on the
// compiler. A new chapter adds a function, or a file. Results are not looked at here; they are checked in each
// chapter's tests.
#include <cstdio>
#include <cstdlib>

#include "00_your_gpu/your_gpu.cuh"
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

void gpu() {
  const auto words = reinterpret_cast<const unsigned*>(a);
  const auto sums = reinterpret_cast<unsigned*>(c);
  long long* cycles = nullptr;
  unsigned long long* places = nullptr;  // first where the walk is, then a ring: each link leads to the next but one
  unsigned ring[65] = {};
  unsigned* offsets = nullptr;
  unsigned long long host[66] = {};
  right(cudaMalloc(&cycles, sizeof(*cycles)));
  right(cudaMalloc(&places, sizeof(host)));
  right(cudaMalloc(&offsets, 2 * sizeof(ring)));
  for (unsigned i = 0; i < 65; ++i) {
    ring[i] = 4 * ((i + 2) % 65);
    host[1 + i] = reinterpret_cast<unsigned long long>(places + 1 + (i + 2) % 65);
  }
  host[0] = host[1];
  right(cudaMemcpy(places, host, sizeof(host), cudaMemcpyHostToDevice));
  right(cudaMemcpy(offsets, ring, sizeof(ring), cudaMemcpyHostToDevice));
  right(cudaMemcpy(offsets + 65, ring, sizeof(ring), cudaMemcpyHostToDevice));
  right(launch_five_memories(reinterpret_cast<const float*>(ring), a, c, 700, 96));
  right(launch_fma_latency(32, -0.5f, 1.0f, 40, c, cycles));
  right(launch_chase_global(places, 10, 100, cycles));
  right(launch_chase_shared(offsets, 65, 32, offsets + 65, 50, cycles));
  right(launch_chase_constant(offsets, 65, 32, offsets + 65, 50, cycles));
  right(launch_chase_local(offsets, 65, 32, offsets + 65, 50, cycles));
  right(launch_fma_chains<4>(2, 96, -0.5f, 1.0f, 20, c));
  right(launch_sum_words<4>(2, 96, words, 9999, sums));
  right(launch_sum_l2(2, 96, words, 9996, 2, sums));
  right(launch_sum_shared(2, 96, words, 20, sums));
  right(launch_sum_l1(2, 96, words, 20, sums));
  right(launch_copy_words(words, sums, 9999));
  right(launch_vector_add(a, b, c, 9999));
  right(launch_vector_add_clocked(a, b, c, 77, cycles));
  right(launch_fma_per_element(a, c, 9999, 20, -0.5f, 1.0f));
  right(cudaDeviceSynchronize());
  right(cudaFree(cycles));
  right(cudaFree(places));
  right(cudaFree(offsets));
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
  right(launch_copy_kept(a, c, 71, 67));
  right(launch_transpose_naive_read(a, c, 71, 67));
  right(launch_transpose_naive_write(a, c, 71, 67));
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
  gpu();
  matmul();
  padding();
  transpose();
  right(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c}) right(cudaFree(matrix));
}
