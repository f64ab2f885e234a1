// A film
//
// Goal: A film becomes its negative, frame after frame, and all pixels are right. But every frame leaves memory behind on
// the GPU: leave nothing allocated at the end.
#include "tilewise/puzzle.hpp"

__global__ void negative(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 99 - p[i];
}

// film: so many frames of n pixels, one after the other, in the host's memory.
void develop(float* film, int frames, int n) {
  const std::size_t bytes = n * sizeof(float);
  float* device = nullptr;
  for (int f = 0; f < frames; ++f) {
    cudaMalloc(&device, bytes);
    cudaMemcpy(device, film + f * n, bytes, cudaMemcpyHostToDevice);
    negative<<<(n + 255) / 256, 256>>>(device, n);
    cudaMemcpy(film + f * n, device, bytes, cudaMemcpyDeviceToHost);
  }
  cudaFree(device);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> kept = puzzle::values(8);
  const puzzle::Array<float> other("other", kept);
  const int shapes[][2] = {{24, 300}, {1, 7}};
  for (const auto& [frames, n] : shapes) {
    const std::vector<float> before = puzzle::values(frames * n);
    std::vector<float> film = before;
    puzzle::watch_copies();
    develop(film.data(), frames, n);
    const std::string shape = "frames = " + std::to_string(frames) + ", n = " + std::to_string(n);
    const std::size_t rows = frames, cols = n;
    puzzle::expect("film", shape, film, rows, cols,
                   [&](std::size_t row, std::size_t col) { return 99 - before[row * cols + col]; });
    for (int f = 0; f < frames; ++f) puzzle::expect_from_gpu("film", film.data() + f * n, n);
  }
  puzzle::expect("other", "the function has nothing to do with it", other.host(),
                 [&](std::size_t i) { return kept[i]; });
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: For 24 frames, how often is cudaMalloc called, and how often cudaFree?
// Hint: Each cudaMalloc puts a new address into `device`, and the one before is forgotten. Either free as often as you
// allocate, or allocate once.
// Hint: All frames have the same size: move the line with cudaMalloc up, before the loop.
// Limit: leaks = 0: each cudaMalloc needs its cudaFree
// Limit: load_requests >= 226: the kernel reads every pixel
// Show: leaks
// Notice: The pictures were right all the time: a leak shows only when memory runs out. Allocating before the loop is
// also faster, since cudaMalloc and cudaFree take time, and cudaFree waits for the GPU.
