// Conway's game of life on a torus, generations by swapped pointers; a glider is back where it was after 4 n of them.
#include <cstdio>
#include <cstring>
#include <utility>

constexpr int kSide = 16;

__global__ void generation(const unsigned char* now, unsigned char* next) {
  const int x = threadIdx.x, y = blockIdx.x;
  int around = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) around += now[(y + dy + kSide) % kSide * kSide + (x + dx + kSide) % kSide];
  next[y * kSide + x] = around == 3 || (around == 2 && now[y * kSide + x]);
}

int main() {
  unsigned char world[kSide][kSide] = {}, after[kSide][kSide];
  world[0][1] = world[1][2] = world[2][0] = world[2][1] = world[2][2] = 1;
  unsigned char *a, *b;
  cudaMalloc(&a, sizeof world);
  cudaMalloc(&b, sizeof world);
  cudaMemcpy(a, world, sizeof world, cudaMemcpyHostToDevice);
  for (int i = 0; i < 4 * kSide; ++i) {
    generation<<<kSide, kSide>>>(a, b);
    std::swap(a, b);
  }
  cudaMemcpy(after, a, sizeof after, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  std::puts(std::memcmp(world, after, sizeof world) == 0 ? "right" : "wrong");
}
