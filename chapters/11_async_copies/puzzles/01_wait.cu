// Not here yet
//
// Goal: Each thread begins an asynchronous copy of its own word, and computes with the word before it has arrived. Let it
// wait.
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

__global__ void twice_and_one(const float* in, float* out, int n) {
  __shared__ float word[128];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i >= n) return;

  __pipeline_memcpy_async(&word[t], &in[i], 4);
  __pipeline_commit();
  out[i] = 2 * word[t] + 1;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 1024}) {
    if (n == 1024) puzzle::count_from_here();
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), d_out("out", n);
    twice_and_one<<<(n + 127) / 128, 128>>>(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) { return 2 * in[i] + 1; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: Three functions belong to such copies: one begins a copy, one closes a group of them, and the third?
// Hint: __pipeline_wait_prior(n) waits until at most the n latest groups are still on their way. Here there is one group.
// Hint: __pipeline_wait_prior(0); between the commit and the line that reads word[t].
// Limit: load_requests = 0: the copies bring all words, so that no load has to
// Limit: shared_wavefronts <= 64: a warp reads 32 words at once
// Show: shared_wavefronts
// Notice: The copy has no register and no instruction that waits by itself, as a load's first use would. You have to ask.
// No barrier is needed here, since each thread reads only the word that it copied itself.
