// The launch that wasn't
//
// Goal: Blocks of 2,048 threads don't exist: such a launch does nothing, and this function says that all went well.
// Let it return what CUDA has to say about the launch.
#include "tilewise/puzzle.hpp"

__global__ void wipe(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 0;
}

// Returns cudaSuccess if the launch was accepted, and otherwise why it wasn't. (A grid of 0 blocks isn't, either.)
cudaError_t launch_wipe(float* p, int n, int threads) {
  wipe<<<(n + threads - 1) / threads, threads>>>(p, n);
  return cudaSuccess;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1000;
  const puzzle::Array<float> p("p", puzzle::values(n));
  puzzle::expect_that(
      launch_wipe(p.data(), n, 2048) != cudaSuccess,
      "launch_wipe(p, 1000, 2048) returned cudaSuccess, although there are no blocks of 2,048 threads.");
  puzzle::expect_that(
      launch_wipe(p.data(), n, 256) == cudaSuccess,
      "launch_wipe(p, 1000, 256) returned an error, although this launch works: is it still the error of "
      "the launch before, with 2,048 threads?");
  (void)cudaGetLastError();
  puzzle::expect("p", "threads = 256", p.host(), [](std::size_t) { return 0; });
  puzzle::expect_that(launch_wipe(p.data(), 0, 256) != cudaSuccess,
                      "launch_wipe(p, 0, 256) returned cudaSuccess, although a grid of 0 blocks isn't accepted.");
  (void)cudaGetLastError();
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: A launch returns nothing. So there must be a function to ask.
// Hint: CUDA keeps the last error until it's asked for it. The function that asks, and clears it, has Get, Last and Error
// in its name.
// Hint: return cudaGetLastError();
// Notice: Nothing crashed and nothing was printed, the kernel just never ran. That's why CUDA programs ask
// cudaGetLastError() after each launch. A block has at most 1,024 threads.
