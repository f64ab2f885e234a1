// The last piece
//
// Goal: Pieces of 128 words are reversed, with two of them on their way while a third is read. All pieces come out right
// but the last, which is read too early: make it wait, and let the others keep travelling ahead.
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

__global__ void reverse_pieces(const float* in, float* out, int pieces) {
  __shared__ float words[3][128];
  const int t = threadIdx.x;
  const auto fetch = [&](int piece) {
    if (piece < pieces) {
      __pipeline_memcpy_async(&words[piece % 3][t], &in[piece * 128 + t], 4);
      __pipeline_commit();
    }
  };

  fetch(0);
  fetch(1);
  for (int p = 0; p < pieces; ++p) {
    __pipeline_wait_prior(1);  // all but the latest group: piece p is here, p + 1 may be on its way
    __syncthreads();
    fetch(p + 2);
    out[p * 128 + t] = words[p % 3][127 - t];
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int pieces : {5, 1, 2, 9}) {
    const std::vector<float> in = puzzle::values(pieces * 128);
    const puzzle::Array<float> d_in("in", in), d_out("out", pieces * 128);
    reverse_pieces<<<1, 128>>>(d_in.data(), d_out.data(), pieces);
    puzzle::expect("out", std::to_string(pieces) + (pieces == 1 ? " piece" : " pieces"), d_out.host(),
                   [&](std::size_t i) { return in[i / 128 * 128 + 127 - i % 128]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 6
// Hint: With five pieces, how many groups have been closed when p is 3, and how many when p is 4?
// Hint: In the last round there is no younger group, so "all but the latest" leaves out the very piece that is needed. An
// empty group would keep the count going.
// Hint: Move __pipeline_commit() out of the if, so that each call of fetch() closes a group, even an empty one.
// Limit: load_requests = 0: the copies bring all words, so that no load has to
// Limit: shared_wavefronts <= 136: a warp reads 32 words at once
// Notice: wait_prior counts groups, not pieces. A group per round, empty or not, keeps the count the same to the end; an
// empty one costs next to nothing. wait_prior(0) would be right, too, but would let only one piece travel ahead.
