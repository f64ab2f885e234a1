// Dot product, one POSIX-style worker per GPU, in the manner of older samples: plan structs, per-thread cudaSetDevice, a
// final sum on the host. Every worker has its own copy of the __device__ counter.
#include <cstdio>
#include <thread>
#include <vector>
#include "cuda_runtime.h"

typedef struct {
  int gpu, count;
  const float *h_x, *h_y;
  double partial;
  unsigned blocks_seen;
  cudaError_t status;
} Plan;

__device__ unsigned blocksDone = 0;

static __global__ void dotKernel(const float *x, const float *y, int n, double *sums) {
  __shared__ double cache[256];
  double t = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) t += (double)x[i] * y[i];
  cache[threadIdx.x] = t;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = cache[0];
    atomicAdd(&blocksDone, 1u);
  }
}

static cudaError_t work(Plan *p) {
  cudaError_t e;
  const int blocks = 7 + p->gpu;
  float *x, *y;
  double *sums, h_sums[64];
  if ((e = cudaSetDevice(p->gpu))) return e;
  if ((e = cudaMalloc((void **)&x, p->count * sizeof(float)))) return e;
  if ((e = cudaMalloc((void **)&y, p->count * sizeof(float)))) return e;
  if ((e = cudaMalloc((void **)&sums, blocks * sizeof(double)))) return e;
  if ((e = cudaMemcpy(x, p->h_x, p->count * sizeof(float), cudaMemcpyHostToDevice))) return e;
  if ((e = cudaMemcpy(y, p->h_y, p->count * sizeof(float), cudaMemcpyHostToDevice))) return e;
  dotKernel<<<blocks, 256>>>(x, y, p->count, sums);
  if ((e = cudaGetLastError())) return e;
  if ((e = cudaMemcpy(h_sums, sums, blocks * sizeof(double), cudaMemcpyDeviceToHost))) return e;
  if ((e = cudaMemcpyFromSymbol(&p->blocks_seen, blocksDone, sizeof(unsigned)))) return e;
  p->partial = 0;
  for (int i = 0; i < blocks; i++) p->partial += h_sums[i];
  cudaFree(x);
  cudaFree(y);
  cudaFree(sums);
  return cudaSuccess;
}

int main(void) {
  const int n = 20011;
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  std::vector<float> x(n), y(n);
  double expected = 0;
  for (int i = 0; i < n; i++) {
    x[i] = (float)(i % 13);
    y[i] = (float)(i % 7) - 3;
    expected += (double)x[i] * y[i];
  }
  std::vector<Plan> plan(gpus);
  std::vector<std::thread> workers;
  for (int g = 0, at = 0; g < gpus; g++) {
    const int count = n / gpus + (g < n % gpus);
    plan[g] = Plan{g, count, &x[at], &y[at], 0, 0, cudaSuccess};
    at += count;
  }
  for (int g = 0; g < gpus; g++) workers.emplace_back([&plan, g] { plan[g].status = work(&plan[g]); });
  for (auto &w : workers) w.join();

  double sum = 0;
  int failed = 0;
  for (int g = 0; g < gpus; g++) {
    sum += plan[g].partial;
    failed += plan[g].status != cudaSuccess || plan[g].blocks_seen != 7u + g;
  }
  printf("%d workers: %s\n", gpus, sum == expected && !failed ? "PASSED" : "FAILED");
  return sum == expected && !failed ? 0 : 1;
}
