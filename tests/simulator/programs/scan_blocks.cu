// An exclusive scan of many blocks: each block its part in dynamic shared memory, then the blocks' sums, then both added.
#include <cstdio>
#include <numeric>
#include <vector>

template <int kBlock>
__global__ void scan_block(const int* in, int* out, int* sums, int n) {
  extern __shared__ int part[];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    const int left = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += left;
    __syncthreads();
  }
  if (i < n) out[i] = threadIdx.x == 0 ? 0 : part[threadIdx.x - 1];
  if (sums && threadIdx.x == kBlock - 1) sums[blockIdx.x] = part[threadIdx.x];
}
__global__ void add_sums(int* out, const int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}

int main() {
  constexpr int n = 10000, block = 128, blocks = (n + block - 1) / block;
  std::vector<int> in(n), expected(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i % 7 - 2;
  std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0);
  int *a, *b, *sums, *scanned;
  cudaMalloc(&a, n * sizeof(int)), cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int)), cudaMalloc(&scanned, blocks * sizeof(int));
  cudaMemcpy(a, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan_block<block><<<blocks, block, block * sizeof(int)>>>(a, b, sums, n);
  scan_block<block><<<1, block, block * sizeof(int)>>>(sums, scanned, nullptr, blocks);
  add_sums<<<blocks, block>>>(b, scanned, n);
  cudaMemcpy(out.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int* p : {a, b, sums, scanned}) cudaFree(p);
  std::puts(out == expected ? "right" : "wrong");
}
