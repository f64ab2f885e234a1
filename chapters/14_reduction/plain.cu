// The sum of n floats in one launch, whose last block finishes: the whole program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "reduction.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const int n = 100003, blocks = 12, threads = 512;  // ragged: the last 3 elements fill no float4
  std::vector<float> x(n);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& value : x) value = number(random);

  float *dx, *of_block, *dtotal;  // the numbers, a sum of each block, and the sum of all
  unsigned* tickets;
  CHECK(cudaMalloc(&dx, n * sizeof(float)));
  CHECK(cudaMalloc(&of_block, blocks * sizeof(float)));
  CHECK(cudaMalloc(&dtotal, sizeof(float)));
  CHECK(cudaMalloc(&tickets, sizeof(unsigned)));
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dtotal, 0xff, sizeof(float)));   // NaN: a sum that nobody writes is found
  CHECK(cudaMemset(tickets, 0, sizeof(unsigned)));  // once: the kernel leaves 0 behind

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    sum_one_launch<threads><<<blocks, threads>>>(n, dx, of_block, tickets, dtotal);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0, total = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(&total, dtotal, sizeof(float), cudaMemcpyDeviceToHost));

  double sum = 0, magnitude = 0;
  for (const float value : x) sum += value, magnitude += std::abs(value);
  // no element passes through more than 40 additions; NaN is wrong, too
  const double bound = 40 * 0x1p-24 * magnitude;
  const int wrong = std::abs(total - sum) <= bound ? 0 : 1;
  std::printf("%s: %d wrong elements; %.6f, bound %.1g; %.3f ms\n", wrong == 0 ? "right" : "WRONG",
              wrong, total, bound, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (float* p : {dx, of_block, dtotal}) CHECK(cudaFree(p));
  CHECK(cudaFree(tickets));
  return wrong == 0 ? 0 : 1;
}
