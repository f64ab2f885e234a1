// A stamp on a picture
//
// Goal: A stamp of h x w pixels is put on a picture, its upper left corner at row `top` and column `left`. Store each
// thread's pixel where it belongs; the picture has rows of `cols` pixels.
#include "tilewise/puzzle.hpp"

// Both are row-major: all of row 0, then all of row 1, and so on.
__global__ void put_stamp(const float* stamp, int h, int w, float* picture, int cols, int top, int left) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;  // of the stamp
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= h || col >= w) return;
  picture[row * w + col] = stamp[row * w + col];  // TODO
}

// ---- The check. Leave what follows as it is. ----

void judge(int h, int w, int rows, int cols, int top, int left) {
  const std::vector<float> stamp = puzzle::values(h * w), picture = puzzle::values(rows * cols, 2);
  const puzzle::Array<float> d_stamp("stamp", stamp), d_picture("picture", picture);
  const dim3 threads(32, 8), blocks((w + 31) / 32, (h + 7) / 8);
  put_stamp<<<blocks, threads>>>(d_stamp.data(), h, w, d_picture.data(), cols, top, left);
  const std::string shape = "h = " + std::to_string(h) + ", w = " + std::to_string(w) +
                            ", cols = " + std::to_string(cols) + ", top = " + std::to_string(top) +
                            ", left = " + std::to_string(left);
  puzzle::expect("picture", shape, d_picture.host(), rows, cols, [&](int row, int col) {
    const bool inside = row >= top && row < top + h && col >= left && col < left + w;
    return inside ? stamp[(row - top) * w + col - left] : picture[row * cols + col];
  });
}

int main() {
  judge(3, 5, 6, 8, 0, 0);
  judge(3, 5, 6, 8, 2, 1);
  judge(1, 1, 1, 1, 0, 0);
  puzzle::count_from_here();
  judge(17, 41, 50, 61, 23, 20);
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: Pixel (row, col) of the stamp becomes pixel (row + top, col + left) of the picture.
// Hint: In memory, a picture's pixel (r, c) comes after r whole rows and c more pixels. How long is a row of this
//   picture?
// Hint: picture[(row + top) * cols + left + col]; the stamp's own index is right, since its rows have w pixels.
// Limit: load_requests <= 34: each of 17 rows of 41 pixels is the work of 2 warps
// Notice: Each array is indexed with its own row length. Libraries call it the leading dimension (lda), and it's
//   longer than the width wherever you work on a part of something larger.
