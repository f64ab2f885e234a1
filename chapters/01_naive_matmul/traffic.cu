// Launches each naive kernel once per size and block, for a profiler to look at:
// common/scripts/record/record-traffic.sh asks Nsight Compute what L1, L2 and DRAM had to move. A
// size is N, or N:K for M = N and another K. On the simulator:
//   make sim FILE=chapters/01_naive_matmul/traffic.cu ARGS="64 64:65"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "naive_matmul.cuh"

int main(int argc, char** argv) {
  struct Size {
    int n = 64, k = 64;
  };
  std::vector<Size> sizes;
  for (int i = 1; i < argc; ++i) {
    const char* k = std::strchr(argv[i], ':');
    sizes.push_back({std::atoi(argv[i]), std::atoi(k ? k + 1 : argv[i])});
  }
  if (sizes.empty()) sizes = {Size{}};
  for (const auto& [n, k] : sizes) {
    if (n < 1 || n > 16384 || k < 1 || k > 16384) {
      std::fprintf(stderr, "usage: traffic N[:K]... (1 to 16384)\n");
      return 2;
    }
    const size_t words = static_cast<size_t>(n) * (n > k ? n : k);
    const std::vector<float> ones(words, 1.0f);
    float *A = nullptr, *B = nullptr, *C = nullptr;
    cudaError_t status = cudaMalloc(&A, sizeof(float) * words);
    if (status == cudaSuccess) status = cudaMalloc(&B, sizeof(float) * words);
    if (status == cudaSuccess) status = cudaMalloc(&C, sizeof(float) * words);
    if (status == cudaSuccess)
      status = cudaMemcpy(A, ones.data(), sizeof(float) * words, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
      status = cudaMemcpy(B, ones.data(), sizeof(float) * words, cudaMemcpyHostToDevice);
    for (const int block : {8, 16, 32}) {
      if (status == cudaSuccess) status = launch_naive_matmul(A, B, C, n, n, k, block);
      std::printf("naive_matmul %d %d %d\n", n, block, k);
    }
    for (const int block : {8, 16, 32}) {
      if (status == cudaSuccess) status = launch_naive_matmul_row_on_x(A, B, C, n, n, k, block);
      std::printf("naive_matmul_row_on_x %d %d %d\n", n, block, k);
    }
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    cudaFree(A), cudaFree(B), cudaFree(C);
    if (status != cudaSuccess) {
      std::fprintf(stderr, "traffic: %s\n", cudaGetErrorString(status));
      return 1;
    }
  }
}
