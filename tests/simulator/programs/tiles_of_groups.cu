// Sums of tiles of four widths, by cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

template <int Width>
__global__ void tile_sums(const int* in, int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<Width> tile = cg::tiled_partition<Width>(block);
  const int i = blockIdx.x * block.size() + block.thread_rank();
  int by_hand = in[i];
  for (int step = Width / 2; step > 0; step /= 2) by_hand += tile.shfl_down(by_hand, step);
  const int by_library = cg::reduce(tile, in[i], cg::plus<int>());
  if (tile.thread_rank() == 0) out[i / Width] = by_hand == by_library ? by_hand : -1;
}

template <int Width>
int check(const int* in, int* out, int n) {
  tile_sums<Width><<<n / 128, 128>>>(in, out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int t = 0; t < n / Width; ++t) {
    int expected = 0;
    for (int i = 0; i < Width; ++i) expected += in[t * Width + i];
    wrong += out[t] != expected;
  }
  return wrong;
}

int main() {
  const int n = 1024;
  int *in, *out;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, n * sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = (i * 13) % 29;
  const int wrong = check<4>(in, out, n) + check<8>(in, out, n) + check<16>(in, out, n) + check<32>(in, out, n);
  cudaFree(in);
  cudaFree(out);
  std::puts(wrong ? "wrong" : "right");
}
