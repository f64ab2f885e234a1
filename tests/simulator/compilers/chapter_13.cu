// Chapter 13: WMMA from global memory and from tiles, in half and bfloat16. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "13_tensor_cores/tensor_cores.cuh"

namespace {

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
void both() {
  constexpr int kNumbers = 1 << 14;
  static T numbers[kNumbers];
  for (int i = 0; i < kNumbers; ++i) numbers[i] = T(static_cast<float>(i % 251) - 125.0f);
  T *a, *b, *c;
  for (T** matrix : {&a, &b, &c}) {
    right(cudaMalloc(matrix, sizeof(numbers)));
    right(cudaMemcpy(*matrix, numbers, sizeof(numbers), cudaMemcpyHostToDevice));
  }
  right(launch_wmma_from_global(a, b, c, 48, 80, 32));
  right(launch_wmma_tiles<T, 3>(a, b, c, 71, 136, 40));
  right(launch_wmma_tiles<T, 2>(a, b, c, 5, 8, 72));
  right(cudaDeviceSynchronize());
  for (T* matrix : {a, b, c}) right(cudaFree(matrix));
}

}  // namespace

int main() {
  both<__half>();
  both<__nv_bfloat16>();
}
