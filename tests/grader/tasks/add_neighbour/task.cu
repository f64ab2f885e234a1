// add_neighbour: each word plus the next one.
#include "tilewise/task.hpp"

/// y[i] = x[i] + x[i + 1] for 0 <= i < n - 1, and y[n - 1] = x[n - 1], which has no neighbour.
/// x, y: n floats in device memory, which do not overlap; n is 1 to 1,048,576. x must not change; y holds garbage before.
/// Pass `stream` on to each launch: kernel<<<blocks, threads, 0, stream>>>(...). Returns the error of the launch.
cudaError_t launch_add_neighbour(const float* x, float* y, int n, cudaStream_t stream = nullptr);

// ---- The grader's part.

TASK(add_neighbour) {
  title = "each word plus the next one";
  sizes = {"n"};
  buffers = [](int n) { return Buffers{{"x", n}, {"y", n}}; };
  reference = [](const Floats& x, Floats& y, int n) {
    for (int i = 0; i < n; ++i) y[i] = i + 1 < n ? x[i] + x[i + 1] : x[i];
  };
  mistakes = {{"the words are only copied", [](const Floats& x, Floats& y, int n) {
                 for (int i = 0; i < n; ++i) y[i] = x[i];
               }}};
  visible = {{1}, {2}, {31}, {32}, {33}, {1000}, {4096}};
  hidden = {{1, 3000}};
  seed = 1;  // another one: other hidden shapes
  counted_at = {8192};
  targets = {"load_requests <= 520: two loads per warp of 32 words are 512 requests",
             "sectors <= 3400: a warp stores 4 sectors, loads 4, and its neighbours are in 5: 13 for each of 256 warps",
             "blocks >= 16: one block uses one SM of the GPU; 8,192 words are enough for 32 blocks of 256 threads",
             "launches <= 1: one launch does it"};
  hints = {"How many threads do you need for n words, and which of them has no neighbour?",
           "Thread i = blockIdx.x * blockDim.x + threadIdx.x adds x[i] and x[i + 1]. Two guards: i < n, and i + 1 < n.",
           "if (i < n) y[i] = x[i] + (i + 1 < n ? x[i + 1] : 0.0f);"};
}
