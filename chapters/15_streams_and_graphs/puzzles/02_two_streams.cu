// Two streams, one array
//
// Goal: One stream fills x, another one doubles it, and nothing keeps the second from beginning too
// early. Make it wait for the first, without making the host wait.
#include "tilewise/puzzle.hpp"

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

// filled: an event that hasn't been recorded yet.
void run(float* x, int n, cudaStream_t first, cudaStream_t second, cudaEvent_t filled) {
  fill<<<(n + 255) / 256, 256, 0, first>>>(x, n);
  cudaEventRecord(filled, second);
  cudaStreamWaitEvent(second, filled, 0);
  twice<<<(n + 255) / 256, 256, 0, second>>>(x, n);
}

// ---- The check. Leave what follows as it is. ----

#ifdef TILEWISE_SIMULATOR
unsigned long long waits() { return tilewise::sim::waits(); }
#else
unsigned long long waits() { return 0; }
#endif

int main() {
  for (const int n : {1000, 1, 300}) {
    const puzzle::Array<float> x("x", n);
    cudaStream_t first, second;
    cudaEvent_t filled;
    puzzle::check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    puzzle::check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    puzzle::check(cudaEventCreate(&filled));
    puzzle::check(cudaDeviceSynchronize());
    const unsigned long long waited = waits();
    run(x.data(), n, first, second, filled);
    puzzle::expect_that(waits() == waited, "The host waited in there. Let the streams do that.");
    const auto doubled = [](std::size_t i) { return 2.0f * i; };
    puzzle::expect("x", "n = " + std::to_string(n), x.host(), doubled);
    puzzle::check(cudaEventDestroy(filled));
    puzzle::check(cudaStreamDestroy(second));
    puzzle::check(cudaStreamDestroy(first));
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: An event is a mark in a stream. It has happened when everything that stands before it in
// that stream is done. In which stream is the mark here?
// Hint: It's in `second`, where nothing stands before it. What must be done before twice() begins?
// Hint: After fill(): cudaEventRecord(filled, first);
// Notice: One wrong word, and the streams know nothing of each other. Waiting for an event that was
// never recorded isn't an error either: it doesn't wait at all. So record first, and wait then.
