// Chapter 12: both tiles by wide copies, warp tiles, shared-out tiles and slices. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "12_past_cublas/past_cublas.cuh"

namespace {

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

}  // namespace

int main() {
  constexpr int kWords = 1 << 13;
  static float words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = static_cast<float>(i % 251) - 125.0f;
  float *a, *b, *c, *workspace;
  for (float** matrix : {&a, &b, &c}) {
    right(cudaMalloc(matrix, sizeof(words)));
    right(cudaMemcpy(*matrix, words, sizeof(words), cudaMemcpyHostToDevice));
  }
  right(cudaMalloc(&workspace, std::size_t{1} << 20));
  right((launch_wide_copies<32, 32, 8, 4, 4, 3>(a, b, c, 71, 67, 19, workspace)));
  right((launch_warp_tiles<32, 32, 8, 4, 4, 1, 2, 3, 2>(a, b, c, 71, 67, 19, workspace)));
  right((launch_past_cublas<32, 32, 8, 4, 4, 1, 2, 3, 2>(a, b, c, 71, 68, 20, workspace)));
  right((launch_sliced_tiles<32, 32, 16, 4, 4, 1, 2, 2, 3>(a, b, c, 71, 67, 19, workspace)));
  right(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c, workspace}) right(cudaFree(matrix));
}
