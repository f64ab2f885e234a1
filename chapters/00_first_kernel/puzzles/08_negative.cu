// Two kinds of memory
//
// Goal: Every pixel p of a photo becomes 99 - p. The host function allocates, copies there, launches, copies back and
// frees, and the kernel still can't reach the pixels: mend that.
#include "tilewise/puzzle.hpp"

__global__ void negative(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 99 - p[i];
}

// `photo` is ordinary memory of the program, the host's.
void make_negative(float* photo, int n) {
  const std::size_t bytes = n * sizeof(float);
  float* device;
  cudaMalloc(&device, bytes);
  cudaMemcpy(device, photo, bytes, cudaMemcpyHostToDevice);
  negative<<<(n + 255) / 256, 256>>>(photo, n);
  cudaMemcpy(photo, device, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1}) {
    const std::vector<float> before = puzzle::values(n);
    std::vector<float> photo = before;
    puzzle::watch_copies();
    make_negative(photo.data(), n);
    puzzle::expect("photo", "n = " + std::to_string(n), photo, [&](std::size_t i) { return 99 - before[i]; });
    puzzle::expect_from_gpu("photo", photo.data(), n);
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: There are two pointers, one to the host's memory and one to the GPU's. Which of them is which?
// Hint: A kernel works on the GPU's memory. Which pointer does the launch pass to it?
// Hint: The launch must get device in place of photo: (device, n).
// Limit: leaks = 0: what is allocated is freed
// Limit: load_requests >= 33: the kernel reads every pixel
// Notice: A pointer's type doesn't say whose memory it points to: both are float*, so the compiler can't warn you. Many
// people name them h_photo and d_photo.
