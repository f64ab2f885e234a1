// Chapter 08, the kernels that measure what the machine can do. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "08_roofline/roofline.cuh"

namespace {

constexpr int kWords = 1 << 14;
float *a, *b, *c;

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

void machine() {
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

}  // namespace

int main() {
  static float words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = static_cast<float>(i % 251) - 125.0f;
  for (float** matrix : {&a, &b, &c}) {
    right(cudaMalloc(matrix, sizeof(words)));
    right(cudaMemcpy(*matrix, words, sizeof(words), cudaMemcpyHostToDevice));
  }
  machine();
  right(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c}) right(cudaFree(matrix));
}
