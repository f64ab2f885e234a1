// All hands
//
// Goal: One thread squares all 320 numbers, and loads each with a request of its own. Share the work among at least 256
// threads, so that 15 load requests are enough.
#include "tilewise/puzzle.hpp"

__global__ void square(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[i] * in[i];
}

void launch_square(const float* in, float* out, int n) {
  const int blocks = 1, threads = 1;
  square<<<blocks, threads>>>(in, out, n);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {97, 1, 320}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_out("out", n), d_in("in", in);
    if (n == 320) puzzle::count_from_here();
    launch_square(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) { return in[i] * in[i]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 5
// Hint: Each turn of the loop is independent of the others. Which thread could do which?
// Hint: Give each thread an i of its own, and a guard, and start enough blocks for n numbers.
// Hint: In the kernel: const int i = blockIdx.x * blockDim.x + threadIdx.x; and if (i < n) before the rest of the line.
// For the launch: threads = 256, blocks = (n + 255) / 256.
// Limit: load_requests <= 15: 32 neighbouring threads can ask for 32 numbers in one request
// Limit: threads >= 256: the more threads wait for memory at the same time, the less each wait costs
// Show: load_requests, threads
// Notice: The hardware runs 32 threads at a time, a warp, and sends one request for all of them: 320 / 32 = 10
// requests.
// GPU: On an H200, a picture of 1920 x 1080 took one thread
// {ms 00_first_kernel "shape=1920 threads=1 kernel=brighten_one_thread"}. A thread per pixel, even in blocks of only 32,
// made it faster by a factor of
// {ratio 00_first_kernel "shape=1920 threads=1 kernel=brighten_one_thread" / "shape=1920 threads=32 kernel=brighten"}.
