// Step 7: a picture has rows and columns, so threads get an x and a y.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
  if (auto e = (call)) fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e)), exit(1)

constexpr int WIDTH = 44, HEIGHT = 14, PIXELS = WIDTH * HEIGHT;
float picture[PIXELS];  // row by row; 0 is black, 1 is white

void show() {
  for (int i = 0; i < PIXELS; ++i)
    std::printf(i % WIDTH == WIDTH - 1 ? "%c\n" : "%c",
                " .:-=+*#%@"[int(std::fmin(10 * picture[i], 9))]);
}

__global__ void brighten(float* p, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  p[y * width + x] = std::sqrt(p[y * width + x]);
}

int main() {
  for (int i = 0; i < PIXELS; ++i)  // the farther from the lamp, the darker
    picture[i] = 8 / (8 + std::pow(i % WIDTH - 22, 2) + std::pow(2 * (i / WIDTH) - 13, 2));
  show();
  float* device;
  CHECK(cudaMalloc(&device, sizeof(picture)));
  CHECK(cudaMemcpy(device, picture, sizeof(picture), cudaMemcpyHostToDevice));
  const dim3 block(32, 8), grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
  brighten<<<grid, block>>>(device, WIDTH, HEIGHT);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(picture, device, sizeof(picture), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  show();
}
