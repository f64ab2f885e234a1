// The last copy
//
// Goal: Each thread copies four words and adds them up, but n needn't be a multiple of four. Let the last copy read only
// the words that there are, and fill in zeros for the others.
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

__global__ void sums_of_four(const float* in, float* out, int n) {
  __shared__ alignas(16) float words[4 * 64];
  const int t = threadIdx.x, first = 4 * (blockIdx.x * 64 + t);
  if (first >= n) return;

  const int zeros = 0;  // TODO: how many of the 16 bytes lie past the end
  __pipeline_memcpy_async(&words[4 * t], &in[first], 16, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[first / 4] = words[4 * t] + words[4 * t + 1] + words[4 * t + 2] + words[4 * t + 3];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1001, 1002, 1003, 1000, 1, 256}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), d_out("out", (n + 3) / 4);
    sums_of_four<<<(n + 255) / 256, 64>>>(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) {
      float sum = 0;
      for (int k = 4 * int(i); k < n && k < 4 * int(i) + 4; ++k) sum += in[k];
      return sum;
    });
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 5
// Hint: The four words of a thread are first to first + 3. For which threads is one of them at n or beyond?
// Hint: first + 4 - n words lie past the end, if that is more than 0; else none does. The function wants bytes.
// Hint: const int zeros = first + 4 > n ? 4 * (first + 4 - n) : 0;
// Limit: load_requests = 0: the copies bring all words, so that no load has to
// Notice: All threads run the same line, and for at most one of them in the whole grid it comes to more than 0. Zeros don't
// change a sum, so the last tile of a matrix product is filled the same way.
