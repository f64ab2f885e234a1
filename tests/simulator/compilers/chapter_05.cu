// Chapter 05, in a file of its own. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "05_coalescing/coalescing.cuh"

namespace {

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

}  // namespace

int main() {
  constexpr size_t kWords = 1 << 14, kCount = 1003;
  static float words[kWords];
  for (size_t i = 0; i < kWords; ++i) words[i] = static_cast<float>(i % 251) - 125.0f;
  float *a, *c;
  for (float** array : {&a, &c}) {
    right(cudaMalloc(array, sizeof(words)));
    right(cudaMemcpy(*array, words, sizeof(words), cudaMemcpyHostToDevice));
  }
  unsigned* index;
  right(cudaMalloc(&index, kCount * sizeof(unsigned)));
  right(cudaMemset(index, 0, kCount * sizeof(unsigned)));

  right(launch_copy_one_word(a, c, kCount));
  right(launch_copy_one_word(reinterpret_cast<const char*>(a), reinterpret_cast<char*>(c), kCount));
  right(launch_copy_four_vectors(a, c, kCount));
  right(launch_strided_read(a, c, kCount, 3));
  right(launch_strided_write(reinterpret_cast<const double*>(a), reinterpret_cast<double*>(c), kCount, 2));
  right(launch_strided_copy(a, c, kCount, 5));
  right(launch_shifted_read(a, c, kCount, 7));
  right(launch_shifted_write(a, c, kCount, 7));
  right(launch_particles_aos(reinterpret_cast<const Particle*>(a), reinterpret_cast<Particle*>(c), 203, 0.5f));
  right(launch_particles_soa(a, c, 203, 0.5f));
  right(launch_particles_float4(reinterpret_cast<const Particle*>(a), reinterpret_cast<Particle*>(c), 203, 0.5f));
  right(launch_particles_shared(reinterpret_cast<const Particle*>(a), reinterpret_cast<Particle*>(c), 203, 0.5f));
  right(launch_row_sums_thread(a, c, 41, 67));
  right(launch_row_sums_warp(a, c, 41, 67));
  right(launch_column_sums_thread(a, c, 41, 67));
  right(launch_column_sums_block(a, c, 41, 67));
  right(launch_gather(a, index, c, kCount));
  right(cudaDeviceSynchronize());
  right(cudaFree(a));
  right(cudaFree(c));
  right(cudaFree(index));
}
