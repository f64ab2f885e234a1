// Chapter 10, in a file of its own: 16-byte accesses. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "10_wide_loads/wide_loads.cuh"

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
  right((launch_wide_fetches<128, 128, 16, 8, 8>(a, b, c, 71, 68, 20)));
  right((launch_wide_fetches<128, 128, 16, 8, 8>(a, b, c, 71, 67, 19)));
  right((launch_wide_loads<128, 128, 16, 8, 8>(a, b, c, 71, 68, 20)));
  right((launch_wide_loads<128, 128, 16, 8, 8>(a, b, c, 71, 67, 19)));
  right((launch_wide_stores<128, 128, 16, 8, 8>(a, b, c, 71, 68, 20)));
  right((launch_wide_stores<128, 128, 16, 8, 8>(a, b, c, 71, 67, 19)));
  right(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c}) right(cudaFree(matrix));
}
