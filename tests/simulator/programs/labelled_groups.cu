// Threads of a warp with the same label form a group, and one of them asks for places for all of them by one atomic.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void to_bins(const int* values, int n, int bins, int capacity, int* sizes, int* content) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int bin = values[i] % bins;
  const auto mine = cg::labeled_partition(cg::coalesced_threads(), bin);
  int first = 0;
  if (mine.thread_rank() == 0) first = atomicAdd(&sizes[bin], static_cast<int>(mine.size()));
  first = mine.shfl(first, 0);
  content[bin * capacity + first + mine.thread_rank()] = values[i];
}

__global__ void count_odd(const int* values, int n, int* odd) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] % 2 != 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(odd, static_cast<int>(active.num_threads()));
  }
}

int main() {
  const int n = 1009, bins = 7, capacity = n;
  std::vector<int> values(n), sizes(bins + 1), content(bins * capacity);
  std::vector<std::vector<int>> wanted(bins);
  int wanted_odd = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = i * i % 3001;
    wanted[values[i] % bins].push_back(values[i]);
    wanted_odd += values[i] % 2;
  }
  int *dvalues, *dsizes, *dcontent;  // after the sizes of the bins: how many are odd
  cudaMalloc(&dvalues, n * sizeof(int));
  cudaMalloc(&dsizes, (bins + 1) * sizeof(int));
  cudaMalloc(&dcontent, content.size() * sizeof(int));
  cudaMemcpy(dvalues, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(dsizes, 0, (bins + 1) * sizeof(int));
  cudaMemset(dcontent, 0, content.size() * sizeof(int));
  to_bins<<<(n + 191) / 192, 192>>>(dvalues, n, bins, capacity, dsizes, dcontent);
  count_odd<<<(n + 191) / 192, 192>>>(dvalues, n, dsizes + bins);
  cudaMemcpy(sizes.data(), dsizes, sizes.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(content.data(), dcontent, content.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (int* p : {dvalues, dsizes, dcontent}) cudaFree(p);
  bool right = sizes[bins] == wanted_odd;
  for (int b = 0; b < bins && right; ++b) {
    std::vector<int> got(content.begin() + b * capacity, content.begin() + b * capacity + sizes[b]);
    std::sort(got.begin(), got.end());
    std::sort(wanted[b].begin(), wanted[b].end());
    right = got == wanted[b];
  }
  std::puts(right ? "right" : "wrong");
}
