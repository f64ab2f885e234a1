// Step 8: a frame of video, two million pixels, and how long the kernel takes for it.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
  if (auto e = (call)) fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e)), exit(1)

constexpr int WIDTH = 1920, HEIGHT = 1080, PIXELS = WIDTH * HEIGHT;
float picture[PIXELS];  // row by row; 0 is black, 1 is white

__global__ void brighten(float* p, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  p[y * width + x] = std::sqrt(p[y * width + x]);
}

int main() {
  for (int i = 0; i < PIXELS; ++i)  // the farther from the lamp, the darker
    picture[i] = 8 / (8 + std::pow(i % WIDTH - 22, 2) + std::pow(2 * (i / WIDTH) - 13, 2));
  float *device, ms;
  CHECK(cudaMalloc(&device, sizeof(picture)));
  CHECK(cudaMemcpy(device, picture, sizeof(picture), cudaMemcpyHostToDevice));
  const dim3 block(32, 8), grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int round = 0; round < 3; ++round) {
    CHECK(cudaEventRecord(start));
    brighten<<<grid, block>>>(device, WIDTH, HEIGHT);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    std::printf("%.3f ms\n", ms);
  }
  CHECK(cudaFree(device));
}
