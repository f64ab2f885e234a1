// A copy, a float4 per thread: the whole program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "coalescing.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const size_t count = 250001;  // float4, that is 16 bytes each; ragged: no multiple of 256
  std::vector<float> in(4 * count), out(4 * count);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& x : in) x = number(random);

  float *d_in, *d_out;  // the same two on the device
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_out, out.size() * sizeof(float)));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  // all NaN: an element that no thread writes is found
  CHECK(cudaMemset(d_out, 0xff, out.size() * sizeof(float)));

  const unsigned threads = 256, blocks = (count + 255) / 256;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    copy_one_word<<<blocks, threads>>>(reinterpret_cast<float4*>(d_in),
                                       reinterpret_cast<float4*>(d_out), count);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;  // among all floats: nothing is computed, so they are the same bits
  for (size_t i = 0; i < in.size(); ++i) {
    if (out[i] != in[i]) ++wrong;
  }
  std::printf("%s: %d wrong elements; %.3f ms\n", wrong == 0 ? "right" : "WRONG", wrong, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (float* p : {d_in, d_out}) CHECK(cudaFree(p));
  return wrong == 0 ? 0 : 1;
}
