// Two buffers
//
// Goal: A strip of 128-word pieces is folded: each word of the result is a sum over all pieces, which are read in reverse.
// While one piece is read, the next is on its way to the other buffer. Is it?
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

__global__ void fold(const float* in, float* out, int pieces) {
  __shared__ float words[2][128];
  const int t = threadIdx.x;
  in += blockIdx.x * pieces * 128;  // a strip for each block

  __pipeline_memcpy_async(&words[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0;
  for (int p = 0; p < pieces; ++p) {
    __pipeline_wait_prior(0);
    __syncthreads();  // all of piece p is here
    if (p + 1 < pieces) __pipeline_memcpy_async(&words[p % 2][t], &in[(p + 1) * 128 + t], 4);
    __pipeline_commit();
    sum += words[p % 2][127 - t];
  }
  out[blockIdx.x * 128 + t] = sum;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int pieces : {4, 1, 7}) {
    const int strips = 3;
    const std::vector<float> in = puzzle::values(strips * pieces * 128);
    const puzzle::Array<float> d_in("in", in), d_out("out", strips * 128);
    fold<<<strips, 128>>>(d_in.data(), d_out.data(), pieces);
    puzzle::expect("out", std::to_string(pieces) + " pieces", d_out.host(), strips, 128,
                   [&](std::size_t strip, std::size_t col) {
                     float sum = 0;
                     for (int p = 0; p < pieces; ++p) sum += in[(strip * pieces + p) * 128 + 127 - col];
                     return sum;
                   });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: Take p = 0. Into which buffer does piece 1 go, and which buffer do the threads read?
// Hint: Piece p lies in buffer p % 2, so piece p + 1 has to go into the other one.
// Hint: &words[(p + 1) % 2][t] in the copy.
// Limit: load_requests = 0: the copies bring all words, so that no load has to
// Limit: shared_wavefronts <= 288: a warp reads 32 words at once
// Notice: One barrier a round is enough: after it, piece p is there, and everybody is through with piece p - 1, whose
// buffer the next copy overwrites. With one buffer it would take two barriers, and nothing would travel meanwhile.
