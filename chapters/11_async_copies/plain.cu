// C = A * B, the next tile on its way by asynchronous copies while one is multiplied: the whole
// program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "async_copies.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const int M = 200, N = 150, K = 161;  // ragged: no multiples of the tile
  std::vector<float> A(M * K), B(K * N), C(M * N);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& a : A) a = number(random);
  for (float& b : B) b = number(random);

  float *dA, *dB, *dC;  // the same three on the device
  CHECK(cudaMalloc(&dA, A.size() * sizeof(float)));
  CHECK(cudaMalloc(&dB, B.size() * sizeof(float)));
  CHECK(cudaMalloc(&dC, C.size() * sizeof(float)));
  CHECK(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));
  // all NaN: an element that no thread writes is found
  CHECK(cudaMemset(dC, 0xff, C.size() * sizeof(float)));

  // a block per tile of C
  const dim3 threads(128 / 8 * (128 / 8)), blocks((N + 127) / 128, (M + 127) / 128);
  const int bytes = async_tiles_bytes(128, 128, 16, 2);  // of shared memory: two stages
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    async_tiles<128, 128, 16, 8, 8, 2, 1><<<blocks, threads, bytes>>>(dA, dB, dC, M, N, K);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;  // among every 7th element, computed again in double
  for (size_t i = 0; i < C.size(); i += 7) {
    double sum = 0;
    for (int k = 0; k < K; ++k) sum += double(A[i / N * K + k]) * B[k * N + i % N];
    // K roundings of sums below K; NaN is wrong, too
    if (!(std::abs(C[i] - sum) <= FLT_EPSILON * K * K)) ++wrong;
  }
  std::printf("%s: %d wrong elements; %.3f ms\n", wrong == 0 ? "right" : "WRONG", wrong, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (float* p : {dA, dB, dC}) CHECK(cudaFree(p));
  return wrong == 0 ? 0 : 1;
}
