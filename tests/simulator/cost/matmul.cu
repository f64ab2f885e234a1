// One launch of a matrix multiplication, for common/scripts/record/measure-simulator.sh: matmul naive|tiled N
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "../../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "../../../chapters/02_tiled_matmul/tiled_matmul.cuh"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: matmul naive|tiled N\n");
    return 2;
  }
  const bool tiled = std::strcmp(argv[1], "tiled") == 0;
  const int n = std::atoi(argv[2]);
  std::vector<float> a(static_cast<std::size_t>(n) * n), c(a.size());
  std::mt19937 random(1);
  for (float& x : a) x = static_cast<float>(random()) * 0x1p-32f;

  float *A = nullptr, *C = nullptr;
  const std::size_t bytes = a.size() * sizeof(float);
  if (cudaMalloc(&A, bytes) != cudaSuccess || cudaMalloc(&C, bytes) != cudaSuccess) return 1;
  cudaMemcpy(A, a.data(), bytes, cudaMemcpyHostToDevice);
  const cudaError_t error =
      tiled ? launch_tiled_matmul<32>(A, A, C, n, n, n) : launch_naive_matmul(A, A, C, n, n, n, 16);
  if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(c.data(), C, bytes, cudaMemcpyDeviceToHost);
  cudaFree(A);
  cudaFree(C);

  // No time counts for a wrong result: one row of A * A against doubles.
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += double(a[k]) * a[static_cast<std::size_t>(k) * n + j];
    if (!(std::abs(c[j] - sum) <= 1e-4 * sum)) return 1;
  }
  return 0;
}
