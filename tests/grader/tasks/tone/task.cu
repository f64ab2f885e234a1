// tone: a picture's brightness and contrast.
#include "tilewise/task.hpp"

/// Warm-up. out(row, col) = gain * in(row, col) + offset, but at least 0 and at most 1. Pixel (row, col) is at [row * cols + col].
/// in, out: rows x cols floats in device memory, which do not overlap; rows is 1 to 65,535 and cols 1 to 65,535, their product is
/// below 2^31. in must not change; out holds garbage before. Pass `stream` on to each launch. Returns the error of the launch.
cudaError_t launch_tone(const float* in, float* out, int rows, int cols, float gain, float offset,
                        cudaStream_t stream = nullptr);

// ---- The grader's part.

TASK(tone) {
  title = "brightness and contrast of a picture";
  level = "warm-up";
  sizes = {"rows", "cols"};
  scalars = {1.5, -0.125};
  buffers = [](int rows, int cols) { return Buffers{{"in", rows, cols, uniform(0, 1)}, {"out", rows, cols}}; };
  reference = [](const Floats& in, Floats& out, int rows, int cols, Real gain, Real offset) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) out(r, c) = min(max(gain * in(r, c) + offset, 0), 1);
  };
  mistakes = {{"the result may leave the range from 0 to 1",
               [](const Floats& in, Floats& out, int, int, Real gain, Real offset) {
                 for (int i = 0; i < in.size(); ++i) out[i] = gain * in[i] + offset;
               }}};
  visible = {{1, 1}, {1, 100}, {100, 1}, {32, 32}, {33, 31}, {70, 300}};
  hidden = {{1, 90}, {1, 300}};
  counted_at = {64, 256};
  targets = {"load_requests <= 520: 16,384 pixels are 512 requests of 32",
             "sectors <= 4200 (14 points): 2,048 in and 2,048 out, when neighbouring threads have neighbouring pixels",
             "blocks >= 32: 16,384 pixels are enough for 64 blocks of 256 threads", "launches <= 1: one does it"};
  hints = {"Which index must run along threadIdx.x, so that a warp's 32 pixels are neighbours in memory?",
           "A thread for each pixel: blocks of 32 x 8, col along x and row along y, and a guard for both.",
           "dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8); fminf(fmaxf(gain * p + offset, 0), 1)"};
}
