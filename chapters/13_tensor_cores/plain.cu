// C = A * B in half, on tensor cores, with CUDA's own functions for them (WMMA) and tiles in shared
// memory: the whole program.
//   nvcc plain.cu -arch=native -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tensor_cores.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  // Ragged: no multiples of the tile. N and K are multiples of 8, so that rows begin at multiples
  // of 16 bytes.
  const int M = 200, N = 152, K = 168;
  std::vector<__half> A(M * K), B(K * N), C(M * N);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (__half& a : A) a = __half(number(random));
  for (__half& b : B) b = __half(number(random));

  __half *dA, *dB, *dC;  // the same three on the device
  CHECK(cudaMalloc(&dA, A.size() * sizeof(__half)));
  CHECK(cudaMalloc(&dB, B.size() * sizeof(__half)));
  CHECK(cudaMalloc(&dC, C.size() * sizeof(__half)));
  CHECK(cudaMemcpy(dA, A.data(), A.size() * sizeof(__half), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dB, B.data(), B.size() * sizeof(__half), cudaMemcpyHostToDevice));
  // all NaN: an element that no thread writes is found
  CHECK(cudaMemset(dC, 0xff, C.size() * sizeof(__half)));

  const auto kernel = wmma_tiles<__half, 3>;  // three stages
  const dim3 blocks((N + 127) / 128, (M + 127) / 128);
  // `bytes` of shared memory: more than the 48 KB that need no asking
  const int threads = 256, bytes = wmma_tiles_bytes(3);
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    kernel<<<blocks, threads, bytes>>>(dA, dB, dC, M, N, K);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(C.data(), dC, C.size() * sizeof(__half), cudaMemcpyDeviceToHost));

  int wrong = 0;  // among every 7th element, computed again in double
  for (size_t i = 0; i < C.size(); i += 7) {
    double sum = 0, magnitude = 0;
    for (int k = 0; k < K; ++k) {
      const double product =
          double(__half2float(A[i / N * K + k])) * __half2float(B[k * N + i % N]);
      sum += product;
      magnitude += std::abs(product);
    }
    // K sums in float, which tensor cores may cut, and one rounding to half, to 11 bits; NaN is
    // wrong, too
    if (!(std::abs(__half2float(C[i]) - sum) <= K * 0x1p-23 * magnitude + 0x1p-11 * std::abs(sum)))
      ++wrong;
  }
  std::printf("%s: %d wrong elements; %.3f ms\n", wrong == 0 ? "right" : "WRONG", wrong, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (__half* p : {dA, dB, dC}) CHECK(cudaFree(p));
  return wrong == 0 ? 0 : 1;
}
