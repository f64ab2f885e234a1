// Chapter 11: tiles fetched ahead, by hand and by asynchronous copies. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "11_async_copies/async_copies.cuh"

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
  float *a, *b, *c;
  for (float** matrix : {&a, &b, &c}) {
    right(cudaMalloc(matrix, sizeof(words)));
    right(cudaMemcpy(*matrix, words, sizeof(words), cudaMemcpyHostToDevice));
  }
  right((launch_double_buffered_tiles<128, 128, 8, 8, 8>(a, b, c, 71, 67, 19)));
  right((launch_double_buffered_tiles<32, 32, 8, 4, 4>(a, b, c, 40, 36, 20)));
  right((launch_async_tiles<128, 128, 16, 8, 8, 3>(a, b, c, 71, 67, 19)));
  right((launch_async_tiles<32, 32, 8, 4, 4, 4>(a, b, c, 40, 36, 20)));
  right(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c}) right(cudaFree(matrix));
}
