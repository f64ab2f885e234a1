// A picture made brighter, a thread per pixel: the whole program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "first_kernel.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  // pixels, 0 black and 1 white; no multiple of 256, so the last block has threads to spare
  const int n = 1000 * 667;
  std::vector<float> in(n), out(n);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> brightness(0, 1);
  for (float& pixel : in) pixel = brightness(random);

  float *d_in, *d_out;  // the same two on the device
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_out, out.size() * sizeof(float)));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  // all NaN: a pixel that no thread writes is found
  CHECK(cudaMemset(d_out, 0xff, out.size() * sizeof(float)));

  const int threads = 256, blocks = (n + threads - 1) / threads;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    brighten<<<blocks, threads>>>(d_in, d_out, n);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

  // How many pixels are wrong? Both machines round a square root correctly, so all bits are equal.
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    if (out[i] != std::sqrt(in[i])) ++wrong;
  }
  std::printf("%s: %d wrong pixels; %.3f ms\n", wrong == 0 ? "right" : "WRONG", wrong, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (float* p : {d_in, d_out}) CHECK(cudaFree(p));
  return wrong == 0 ? 0 : 1;
}
