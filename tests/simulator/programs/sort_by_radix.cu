// A radix sort of keys and values, four bits a pass from the lowest: counts of each block, their prefix sums, scatter.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

constexpr int kThreads = 256, kWarps = kThreads / 32, kDigits = 16;

__global__ void count(const uint32_t* keys, int n, int shift, int* counts) {
  __shared__ int of_block[kDigits];
  if (threadIdx.x < kDigits) of_block[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&of_block[keys[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = of_block[threadIdx.x];
}

__global__ void prefix(int* counts, int length) {  // by one warp
  int before = 0;
  for (int begin = 0; begin < length; begin += 32) {
    const int i = begin + threadIdx.x, mine = i < length ? counts[i] : 0;
    int sum = mine;
    for (int step = 1, other; step < 32; step *= 2)
      if (other = __shfl_up_sync(~0u, sum, step); threadIdx.x >= step) sum += other;
    if (i < length) counts[i] = before + sum - mine;
    before += __shfl_sync(~0u, sum, 31);
  }
}

__global__ void scatter(const uint32_t* keys, const int* values, int n, int shift, const int* places,
                        uint32_t* keys_out, int* values_out) {
  __shared__ int of_warps[kWarps][kDigits];
  const int i = blockIdx.x * kThreads + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int digit = i < n ? keys[i] >> shift & 15 : kDigits;
  const unsigned same = __match_any_sync(~0u, digit);
  const int rank = __popc(same & ((1u << lane) - 1));
  if (lane < kDigits) of_warps[warp][lane] = 0;
  __syncwarp();
  if (rank == 0 && i < n) of_warps[warp][digit] = __popc(same);
  __syncthreads();
  if (i >= n) return;
  int to = places[digit * gridDim.x + blockIdx.x] + rank;
  for (int w = 0; w < warp; ++w) to += of_warps[w][digit];
  keys_out[to] = keys[i], values_out[to] = values[i];
}

int main() {
  const int n = 10007, blocks = (n + kThreads - 1) / kThreads;
  std::vector<std::pair<uint32_t, int>> wanted;
  uint32_t *keys, *other_keys;
  int *values, *other_values, *counts;
  cudaMallocManaged(&keys, n * sizeof *keys), cudaMallocManaged(&other_keys, n * sizeof *keys);
  cudaMallocManaged(&values, n * sizeof(int)), cudaMallocManaged(&other_values, n * sizeof(int));
  cudaMalloc(&counts, kDigits * blocks * sizeof(int));
  for (int i = 0; i < n; ++i)  // most keys come several times
    wanted.emplace_back(keys[i] = i % 3003 * 0x9e3779b1u, values[i] = i);
  for (int shift = 0; shift < 32; shift += 4) {
    count<<<blocks, kThreads>>>(keys, n, shift, counts);
    prefix<<<1, 32>>>(counts, kDigits * blocks);
    scatter<<<blocks, kThreads>>>(keys, values, n, shift, counts, other_keys, other_values);
    std::swap(keys, other_keys), std::swap(values, other_values);
  }
  std::sort(wanted.begin(), wanted.end());  // as stable as the passes are: values come in their first order
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < n; ++i) wrong += keys[i] != wanted[i].first || values[i] != wanted[i].second;
  for (void* p : {(void*)keys, (void*)other_keys, (void*)values, (void*)other_values, (void*)counts}) cudaFree(p);
  std::puts(wrong ? "wrong" : "right");
}
