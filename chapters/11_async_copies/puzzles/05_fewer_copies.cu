// Fewer copies
//
// Goal: A block copies 512 words, each by a copy of its own, and writes them in reverse. The result is right, but it takes
// four times as many copy instructions as it must.
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

__global__ void reverse_blocks(const float* in, float* out, int n) {  // n is a multiple of four
  __shared__ alignas(16) float words[512];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  const int here = min(512, n - first);  // the last block may have fewer

  for (int i = t; i < here; i += 128) __pipeline_memcpy_async(&words[i], &in[first + i], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < here; i += 128) out[first + i] = words[here - 1 - i];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 4, 1108, 2048}) {
    if (n == 2048) puzzle::count_from_here();
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), d_out("out", n);
    reverse_blocks<<<(n + 511) / 512, 128>>>(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) {
      const std::size_t first = i / 512 * 512, end = std::min<std::size_t>(first + 512, n);
      return in[first + end - 1 - i];
    });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: How many bytes can a copy bring at most, and how many words are that?
// Hint: Let thread t copy the words 4t to 4t + 3, by one copy of 16 bytes. Both addresses are multiples of 16 then. The last
// block may have no word 4t.
// Hint: if (4 * t < here) __pipeline_memcpy_async(&words[4 * t], &in[first + 4 * t], 16); in place of the loop.
// Limit: copies <= 16: 2,048 words by copies of four words each are 512 copies, which are 16 requests of a warp
// Limit: load_requests = 0: the copies bring all words, so that no load has to
// Limit: shared_wavefronts <= 128: a warp reads 32 words at once
// Show: copies, shared_wavefronts
// Notice: From 64 requests to 16, for the same bytes. Copies of 16 bytes also go past L1, where those of 4 bytes pass through
// its banks.
