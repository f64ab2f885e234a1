// Mine and everybody's
//
// Goal: Each block of 256 words is mirrored, through shared memory. Every thread waits for its copy, and yet it may read
// a word that isn't there: find out whose, and repair it.
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

__global__ void mirror_blocks(const float* in, float* out, int n) {
  __shared__ float word[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  const int words = min(256, n - first);  // the last block may have fewer

  if (t < words) __pipeline_memcpy_async(&word[t], &in[first + t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (t < words) out[first + t] = word[words - 1 - t];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 300, 1024}) {
    if (n == 1024) puzzle::count_from_here();
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), d_out("out", n);
    mirror_blocks<<<(n + 255) / 256, 256>>>(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) {
      const std::size_t first = i / 256 * 256, end = std::min<std::size_t>(first + 256, n);
      return in[first + end - 1 - i];
    });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: Which thread copied the word that thread 0 reads, and who has waited for that copy?
// Hint: __pipeline_wait_prior() waits for the copies of the thread that calls it, and for no others. After that, the threads
// of the block have to wait for each other.
// Hint: __syncthreads(); between __pipeline_wait_prior(0) and the line that reads.
// Limit: load_requests = 0: the copies bring all words, so that no load has to
// Limit: shared_wavefronts <= 64: a warp reads 32 words at once
// Show: shared_wavefronts
// Notice: First the wait, then the barrier. The other way round, the barrier says only that all threads have begun their
// copies, not that these have arrived.
