// There and back
//
// Goal: The kernel plays a sound backwards, but the result stays on the GPU, and so does the memory. Bring the result
// back into `reversed`, and leave nothing allocated.
#include "tilewise/puzzle.hpp"

__global__ void backwards(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n - 1 - i];
}

// sound, reversed: n samples each, in the host's memory.
void play_backwards(const float* sound, float* reversed, int n) {
  float *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(float));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpy(d_in, sound, n * sizeof(float), cudaMemcpyHostToDevice);
  backwards<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
  // TODO (3 lines)
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> kept = puzzle::values(8);
  const puzzle::Array<float> other("other", kept);
  for (const int n : {1000, 1}) {
    const std::vector<float> sound = puzzle::values(n);
    std::vector<float> reversed(n);
    std::memset(reversed.data(), 0xff, n * sizeof(float));  // as memory that nothing wrote to
    puzzle::watch_copies();
    play_backwards(sound.data(), reversed.data(), n);
    puzzle::expect("reversed", "n = " + std::to_string(n), reversed, [&](std::size_t i) { return sound[n - 1 - i]; });
    puzzle::expect_from_gpu("reversed", reversed.data(), n);
  }
  puzzle::expect("other", "the function has nothing to do with it", other.host(),
                 [&](std::size_t i) { return kept[i]; });
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: The line that copies `sound` there shows what a copy looks like: where to, where from, how many bytes, and which
// way.
// Hint: To `reversed`, from d_out, with cudaMemcpyDeviceToHost. Then each cudaMalloc needs its cudaFree.
// Hint: cudaMemcpy(reversed, d_out, n * sizeof(float), cudaMemcpyDeviceToHost); cudaFree(d_in); cudaFree(d_out);
// Limit: leaks = 0: each cudaMalloc needs its cudaFree
// Limit: load_requests >= 33: the kernel reads every sample
// Notice: Allocate, copy there, launch, copy back, free: that's a complete CUDA program. The copy back waits until the
// kernel is done, so nothing else has to.
