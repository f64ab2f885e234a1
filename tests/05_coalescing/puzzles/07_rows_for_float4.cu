// Rows for float4
//
// Goal: The kernel brightens four pixels at a time, and fails in the second row, because a float4 can't start just
// anywhere. Make every row start where a float4 can, with as little space between rows as possible.
#include "tilewise/puzzle.hpp"

// How many pixels it is from the start of a row to the start of the next, where a row has cols pixels.
int row_pitch(int cols) {
  return cols;  // TODO
}

__global__ void brighten(float* image, int rows, int pitch) {
  const int row = blockIdx.x, x = 4 * threadIdx.x;
  if (x >= pitch) return;
  float4* four = reinterpret_cast<float4*>(image + row * pitch + x);
  const float4 p = *four;
  *four = make_float4(p.x + 1, p.y + 1, p.z + 1, p.w + 1);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int rows = 5;
  for (const int cols : {10, 33, 12, 1, 127}) {
    const int pitch = row_pitch(cols);
    const std::string call = "row_pitch(" + std::to_string(cols) + ") is " + std::to_string(pitch);
    puzzle::expect_that(pitch >= cols, call + ": a row has no room for its pixels");
    puzzle::expect_that(pitch <= 2 * cols + 64, call + ": that is far more than a row needs");
    const std::vector<float> pixels = puzzle::values(rows * cols);
    std::vector<float> image(rows * pitch, 0);
    for (int i = 0; i < rows * cols; ++i) image[i / cols * pitch + i % cols] = pixels[i];
    const puzzle::Array<float> d_image("image", image);
    brighten<<<rows, 128>>>(d_image.data(), rows, pitch);
    const std::vector<float> after = d_image.host();
    std::vector<float> got(rows * cols);
    for (int i = 0; i < rows * cols; ++i) got[i] = after[i / cols * pitch + i % cols];
    puzzle::expect("image", "cols = " + std::to_string(cols), got, rows, cols,
                   [&](std::size_t row, std::size_t col) { return pixels[row * cols + col] + 1; });
    puzzle::expect_that(pitch < cols + 4, call + ": " + std::to_string(cols + (4 - cols % 4) % 4) + " pixels would do");
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: A float4 may start at multiples of 16 bytes. Where does row 1 start where cols is 10?
// Hint: 16 bytes are four pixels, so the pitch must be a multiple of 4: the least one that isn't below cols.
// Hint: (cols + 3) / 4 is how many fours a row needs. Don't forget what a four consists of.
// Limit: load_requests <= 25: five rows in each of five images, and a warp's float4 cover a row at once
// Notice: A misaligned load isn't slow, it's an error, on a GPU too. (n + m - 1) / m * m is the least multiple of m
// that isn't below n: you need it for blocks and tiles as well. cudaMallocPitch() does the same with a larger m.
