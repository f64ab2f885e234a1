// The flag
//
// Goal: A flag has three upright stripes: colour 0 on the left, then 1, then 2. This program paints them lying down: put
// each pixel where it belongs.
#include "tilewise/puzzle.hpp"

// A picture lies in memory row by row: all of row 0, then all of row 1, ...
__global__ void paint(int* flag, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  flag[x * height + y] = 3 * x / width;
}

void paint_flag(int* flag, int width, int height) {
  const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  paint<<<grid, block>>>(flag, width, height);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int shapes[][2] = {{45, 30}, {6, 100}, {96, 1}};
  for (const auto& [width, height] : shapes) {
    const puzzle::Array<int> flag("flag", width * height);
    paint_flag(flag.data(), width, height);
    const std::string shape = "width = " + std::to_string(width) + ", height = " + std::to_string(height);
    puzzle::expect("flag", shape, flag.host(), height, width,
                   [w = width](std::size_t, std::size_t x) { return 3 * int(x) / w; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: The grid, the guard and the colours are right: the stripes depend on x. That leaves the place that a pixel is
// written to.
// Hint: How many pixels come before row y? y whole rows, of how many pixels each?
// Hint: Pixel (x, y) lies at y * width + x.
// Limit: threads >= 2046: a thread for each pixel
// Notice: No index was out of bounds and no pixel was painted twice, so no tool complains: x * height + y also gives each
// pixel a place of its own, that of a picture stored column by column.
