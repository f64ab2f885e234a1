// How many blocks does an SM really hold? CUDA's answer is for the carve-out that was asked for;
// the driver may give more. This program asks, and then counts: each block adds itself to its SM's
// number when it begins and takes itself off when it ends.
//   nvcc -std=c++20 -arch=native resident.cu -o resident && ./resident
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "padded_tiles.cuh"

#define CHECK(call)                                                      \
  do {                                                                   \
    if (const cudaError_t error = (call); error != cudaSuccess) {        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(error));                           \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

/// A block of one warp with the shared memory of running_sums_padded(), which stays for a while.
/// `now` and `most` have an element for each SM.
__global__ void __launch_bounds__(32) stay(int* now, int* most) {
  __shared__ float tile[32][33];
  tile[threadIdx.x][0] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  atomicMax(&most[sm], atomicAdd(&now[sm], 1) + 1);
  for (const long long begin = clock64(); clock64() - begin < 40000;) {
  }
  atomicSub(&now[sm], static_cast<int>(tile[0][0]));
}

int main() {
  constexpr int rows = 131072, cols = 256, kMostSms = 1024;
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  float *in, *out;
  int *now, *most;
  CHECK(cudaMalloc(&in, sizeof(float) * rows * cols));
  CHECK(cudaMalloc(&out, sizeof(float) * rows * cols));
  CHECK(cudaMalloc(&now, sizeof(int) * kMostSms));
  CHECK(cudaMalloc(&most, sizeof(int) * kMostSms));
  CHECK(cudaMemset(in, 0, sizeof(float) * rows * cols));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));

  std::printf(
      "%s, blocks of one warp with 4,224 bytes of shared memory and some that they do not use\n",
      device.name);
  std::printf("carve-out %%   unused bytes   blocks per SM: asked   counted   running sums, ms\n");
  const struct {
    int carveout, unused;
  } cases[] = {{100, 0}, {50, 0},     {25, 0},      {10, 0},      {5, 0},
               {0, 0},   {100, 4096}, {100, 12160}, {100, 14208}, {100, 28544}};
  for (const auto& c : cases) {
    const void* kernels[] = {reinterpret_cast<const void*>(running_sums_padded),
                             reinterpret_cast<const void*>(stay)};
    for (const void* kernel : kernels) {
      CHECK(
          cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, c.carveout));
      CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, c.unused));
    }
    int asked = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&asked, running_sums_padded, 32, c.unused));

    CHECK(cudaMemset(now, 0, sizeof(int) * kMostSms));
    CHECK(cudaMemset(most, 0, sizeof(int) * kMostSms));
    stay<<<64 * device.multiProcessorCount, 32, c.unused>>>(now, most);
    CHECK(cudaGetLastError());
    std::vector<int> counted(kMostSms);
    CHECK(cudaMemcpy(counted.data(), most, sizeof(int) * kMostSms, cudaMemcpyDeviceToHost));

    std::vector<float> times;
    for (int i = 0; i < 25; ++i) {
      CHECK(cudaEventRecord(begin));
      CHECK(launch_running_sums(running_sums_padded, in, out, rows, cols, nullptr, c.unused));
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      float ms = 0;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      if (i >= 5) times.push_back(ms);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    std::printf("%11d   %12d   %20d   %7d   %16.4f\n", c.carveout, c.unused, asked,
                *std::max_element(counted.begin(), counted.end()), times[times.size() / 2]);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  for (void* memory : {static_cast<void*>(in), static_cast<void*>(out), static_cast<void*>(now),
                       static_cast<void*>(most)}) {
    CHECK(cudaFree(memory));
  }
  return 0;
}
