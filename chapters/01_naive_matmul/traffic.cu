// Launches each naive kernel once per size and block, for a profiler to look at: common/scripts/record-traffic.sh asks
// Nsight Compute what L1, L2 and DRAM had to move. On the simulator: make sim FILE=chapters/01_naive_matmul/traffic.cu
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "naive_matmul.cuh"

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {64};
  for (const int n : sizes) {
    if (n < 1 || n > 16384) {
      std::fprintf(stderr, "usage: traffic N... (1 to 16384)\n");
      return 2;
    }
    const size_t words = static_cast<size_t>(n) * n;
    const std::vector<float> ones(words, 1.0f);
    float *A = nullptr, *B = nullptr, *C = nullptr;
    cudaError_t status = cudaMalloc(&A, sizeof(float) * words);
    if (status == cudaSuccess) status = cudaMalloc(&B, sizeof(float) * words);
    if (status == cudaSuccess) status = cudaMalloc(&C, sizeof(float) * words);
    if (status == cudaSuccess) status = cudaMemcpy(A, ones.data(), sizeof(float) * words, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) status = cudaMemcpy(B, ones.data(), sizeof(float) * words, cudaMemcpyHostToDevice);
    for (const int block : {8, 16, 32}) {
      if (status == cudaSuccess) status = launch_naive_matmul(A, B, C, n, n, n, block);
      std::printf("naive_matmul %d %d\n", n, block);
    }
    for (const int block : {8, 16, 32}) {
      if (status == cudaSuccess) status = launch_naive_matmul_row_on_x(A, B, C, n, n, n, block);
      std::printf("naive_matmul_row_on_x %d %d\n", n, block);
    }
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    cudaFree(A), cudaFree(B), cudaFree(C);
    if (status != cudaSuccess) {
      std::fprintf(stderr, "traffic: %s\n", cudaGetErrorString(status));
      return 1;
    }
  }
}
