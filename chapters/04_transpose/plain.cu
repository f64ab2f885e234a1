// A transpose through padded tiles: the whole program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "transpose.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const int rows = 700, cols = 501;  // ragged: no multiples of the tile
  std::vector<float> in(rows * cols), out(rows * cols);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& x : in) x = number(random);

  float *d_in, *d_out;  // the same two on the device
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_out, out.size() * sizeof(float)));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  // all NaN: an element that no thread writes is found
  CHECK(cudaMemset(d_out, 0xff, out.size() * sizeof(float)));

  // a block per tile of `in`
  const dim3 threads(32, 32), blocks((cols + 31) / 32, (rows + 31) / 32);
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    transpose_padded<32><<<blocks, threads>>>(d_in, d_out, rows, cols);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;  // among all elements: nothing is computed, so they are the same bits
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      if (out[c * rows + r] != in[r * cols + c]) ++wrong;
    }
  }
  std::printf("%s: %d wrong elements; %.3f ms\n", wrong == 0 ? "right" : "WRONG", wrong, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (float* p : {d_in, d_out}) CHECK(cudaFree(p));
  return wrong == 0 ? 0 : 1;
}
