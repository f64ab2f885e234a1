// Step 4: as many blocks of 256 threads as it takes, and a guard for threads without a pixel.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>

constexpr int WIDTH = 44, HEIGHT = 14, PIXELS = WIDTH * HEIGHT;
__managed__ float picture[PIXELS];  // row by row; 0 is black, 1 is white

void show() {
  for (int i = 0; i < PIXELS; ++i)
    std::printf(i % WIDTH == WIDTH - 1 ? "%c\n" : "%c",
                " .:-=+*#%@"[int(std::fmin(10 * picture[i], 9))]);
}

__global__ void brighten(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i] = std::sqrt(p[i]);
}

int main() {
  for (int i = 0; i < PIXELS; ++i)  // the farther from the lamp, the darker
    picture[i] = 8 / (8 + std::pow(i % WIDTH - 22, 2) + std::pow(2 * (i / WIDTH) - 13, 2));
  show();
  brighten<<<(PIXELS + 255) / 256, 256>>>(picture, PIXELS);
  cudaDeviceSynchronize();
  show();
}
