// Sums and prefix sums of a block by its tiles: one block walks over a long array, and carries the sum so far along.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

template <int kThreads>
__global__ void running_sums(const int* in, int* out, int* ends, int n) {
  constexpr int kTiles = kThreads / 32;
  __shared__ int totals[kTiles], most[kTiles];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  const int t = static_cast<int>(block.thread_rank()), number = t / 32;
  int carried = 0, largest = 0;
  for (int begin = 0; begin < n; begin += kThreads) {
    const int value = begin + t < n ? in[begin + t] : 0;
    int before = cg::exclusive_scan(tile, value);
    if (tile.thread_rank() == tile.size() - 1) totals[number] = before + value;
    block.sync();
    before += carried;
    for (int i = 0; i < kTiles; ++i) {
      if (i < number) before += totals[i];
      carried += totals[i];
    }
    if (begin + t < n) out[begin + t] = before;
    largest = max(largest, value);
    block.sync();  // the totals are written again
  }
  const int of_tile = cg::reduce(tile, largest, cg::greater<int>());
  if (tile.thread_rank() == 0) most[number] = of_tile;
  block.sync();
  if (t == 0) ends[0] = carried, ends[1] = most[0];
  for (int i = 1; i < kTiles && t == 0; ++i) ends[1] = max(ends[1], most[i]);
}

int main() {
  constexpr int n = 4999, threads = 160;
  std::vector<int> in(n), out(n), wanted(n);
  for (int i = 0; i < n; ++i) in[i] = i * 37 % 1013;
  std::exclusive_scan(in.begin(), in.end(), wanted.begin(), 0);
  int *din, *dout, *dends, ends[2];
  cudaMalloc(&din, n * sizeof(int));
  cudaMalloc(&dout, n * sizeof(int));
  cudaMalloc(&dends, sizeof ends);
  cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  running_sums<threads><<<1, threads>>>(din, dout, dends, n);
  cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(ends, dends, sizeof ends, cudaMemcpyDeviceToHost);
  for (int* p : {din, dout, dends}) cudaFree(p);
  std::puts(out == wanted && ends[0] == wanted[n - 1] + in[n - 1] && ends[1] == 1012 ? "right" : "wrong");
}
