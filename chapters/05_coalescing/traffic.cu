// Launches the kernels of this chapter once each, for Nsight Compute;
// common/scripts/record/record-dram.sh compiles and runs it. Prints a line for each launch, in
// order: kernel|what is special|words that it moves.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "coalescing.cuh"

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

void launched(cudaError_t status, const char* kernel, const char* what, size_t value,
              size_t words) {
  check(status, kernel);
  std::printf("%s|%s %zu|%zu\n", kernel, what, value, words);
}

}  // namespace

int main() {
  const size_t n = size_t{1} << 27;  // words; 512 MiB, many times what fits into L2
  float *in = nullptr, *out = nullptr;
  unsigned* index = nullptr;
  check(cudaMalloc(&in, (n + 64) * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&out, (n + 64) * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&index, n / 4 * sizeof(unsigned)), "cudaMalloc");
  check(cudaMemset(in, 1, (n + 64) * sizeof(float)), "cudaMemset");

  for (size_t s : {1, 2, 4, 8, 16, 32, 64})
    launched(launch_strided_read(in, out, n / s, s), "strided_read<float>", "stride", s, n / s);
  for (size_t s : {1, 2, 4, 8, 16, 32, 64})
    launched(launch_strided_write(in, out, n / s, s), "strided_write<float>", "stride", s, n / s);
  for (size_t o : {0, 1, 8})
    launched(launch_shifted_read(in, out, n, o), "shifted_read<float>", "offset", o, n);
  for (size_t o : {0, 1, 8})
    launched(launch_shifted_write(in, out, n, o), "shifted_write<float>", "offset", o, n);

  const size_t count = n / 8;
  auto* from = reinterpret_cast<Particle*>(in);
  auto* to = reinterpret_cast<Particle*>(out);
  launched(launch_particles_aos(from, to, count, 0.01f), "particles_aos", "particles:", count, n);
  launched(launch_particles_soa(in, out, count, 0.01f), "particles_soa", "particles:", count, n);
  launched(launch_particles_float4(from, to, count, 0.01f), "particles_float4", "particles:", count,
           n);
  launched(launch_particles_shared(from, to, count, 0.01f), "particles_shared", "particles:", count,
           n);

  const int side = 8192;
  const size_t words = static_cast<size_t>(side) * side;
  launched(launch_row_sums_thread(in, out, side, side), "row_sums_thread", "side", side, words);
  launched(launch_row_sums_warp(in, out, side, side), "row_sums_warp", "side", side, words);
  launched(launch_column_sums_thread(in, out, side, side), "column_sums_thread", "side", side,
           words);
  launched(launch_column_sums_block(in, out, side, side), "column_sums_block", "side", side, words);

  const size_t m = n / 4;
  std::mt19937 random(1);
  for (size_t block : {size_t{1}, size_t{32}, size_t{1024}, m}) {
    std::vector<unsigned> order(m);
    std::iota(order.begin(), order.end(), 0u);
    for (size_t begin = 0; begin < m; begin += block)
      for (size_t left = block; left > 1; --left)
        std::swap(order[begin + left - 1], order[begin + random() % left]);
    check(cudaMemcpy(index, order.data(), m * sizeof(unsigned), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    launched(launch_gather(in, index, out, m), "gather", "shuffled in", block, m);
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return 0;
}
