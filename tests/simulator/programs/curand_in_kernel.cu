// Pi by Monte Carlo: each thread has its own state of XORWOW, draws points of the unit square, and counts those inside.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>

__global__ void prepare(curandState* states, int threads, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < threads) curand_init(seed, i, 0, &states[i]);
}

__global__ void throw_darts(curandState* states, int threads, int each, unsigned int* inside) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  curandState state = states[i];  // in registers while it is used
  unsigned int hits = 0;
  for (int k = 0; k < each; ++k) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    if (x * x + y * y <= 1.0f) ++hits;
  }
  states[i] = state;
  atomicAdd(inside, hits);
}

int main() {
  const int threads = 509, each = 100, rounds = 2;
  curandState* states;
  unsigned int *inside, counted[rounds];
  cudaMalloc(&states, threads * sizeof(curandState));
  cudaMalloc(&inside, rounds * sizeof *inside);
  cudaMemset(inside, 0, rounds * sizeof *inside);
  prepare<<<(threads + 127) / 128, 128>>>(states, threads, 20240229ull);
  for (int r = 0; r < rounds; ++r) throw_darts<<<(threads + 127) / 128, 128>>>(states, threads, each, inside + r);
  cudaMemcpy(counted, inside, sizeof counted, cudaMemcpyDeviceToHost);
  cudaFree(states);
  cudaFree(inside);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (const unsigned int hits : counted)
    wrong += std::fabs(4.0 * hits / (threads * each) - 3.14159265) > 0.05;  // seven times its standard deviation
  wrong += counted[0] == counted[1];  // the second round goes on where the first one ended
  std::puts(wrong ? "wrong" : "right");
}
