// Too early
//
// Goal: The copy back is asynchronous, and the host adds up numbers that may not be there yet. Make
// it wait until they are.
#include "tilewise/puzzle.hpp"

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

// x: n floats on the device. host: pinned memory for n floats. Returns the sum of the doubled
// numbers.
float sum_of_doubled(float* x, float* host, int n, cudaStream_t stream) {
  twice<<<(n + 255) / 256, 256, 0, stream>>>(x, n);
  cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i];
  return sum;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 257}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> x("x", in);
    const puzzle::Pinned<float> host("host", n);
    cudaStream_t stream;
    puzzle::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    puzzle::check(cudaDeviceSynchronize());
    const std::vector<float> sum = {sum_of_doubled(x.data(), host.data(), n, stream)};
    puzzle::expect("sum", "n = " + std::to_string(n), sum, [&](std::size_t) {
      float all = 0;
      for (const float number : in) all += 2 * number;
      return all;
    });
    puzzle::check(cudaStreamDestroy(stream));
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: cudaMemcpyAsync comes back at once: the copy is a note in the stream, behind the kernel.
// Who waits until it's done?
// Hint: cudaStreamSynchronize(stream) comes back when everything in the stream is done. Where must
// it stand?
// Hint: Between the copy and the loop: cudaStreamSynchronize(stream);
// Notice: If the host has other work between the copy and the loop, the numbers often happen to be
// there in time, until you run it on another machine. If `host` were pageable memory, the copy
// itself would wait, and the first version would be right, until somebody pins that memory.
