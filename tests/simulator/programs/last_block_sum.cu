// One launch adds up everything: the block that ends last, by a counter after a fence, adds the blocks' sums.
#include <cstdio>
#include <vector>

__device__ unsigned int blocks_done = 0;

__global__ void sum_all(const int* in, int n, volatile int* sums, int* result) {
  __shared__ int part[256];
  __shared__ bool last;
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += in[i];
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = part[0];
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += sums[b];
    *result = all;
  }
}

int main() {
  const int n = 20011, blocks = 9;
  std::vector<int> in(n);
  int expected = 0, got[2];
  for (int i = 0; i < n; ++i) expected += in[i] = i % 100 - 20;
  int *a, *sums, *result;
  cudaMalloc(&a, n * sizeof(int)), cudaMalloc(&sums, blocks * sizeof(int)), cudaMalloc(&result, 2 * sizeof(int));
  cudaMemcpy(a, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int again = 0; again < 2; ++again) sum_all<<<blocks, 256>>>(a, n, sums, result + again);
  cudaMemcpy(got, result, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(a), cudaFree(sums), cudaFree(result);
  std::puts(got[0] == expected && got[1] == expected ? "right" : "wrong");
}
