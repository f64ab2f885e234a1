// Not all of them come
//
// Goal: A block finds the largest of each column, in one piece of 8 rows after another. One barrier stands where only
// some of the threads come: mend that.
#include "tilewise/puzzle.hpp"

__global__ void largest(const float* in, float* out, int pieces) {
  __shared__ float s[8][32];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int piece = 0; piece < pieces; ++piece) {
    s[y][x] = in[(piece * 8 + y) * 32 + x];
    __syncthreads();
    for (int half = 4; half > 0; half /= 2) {  // rows 0 .. half - 1 meet the half below them
      if (y < half) {
        s[y][x] = fmaxf(s[y][x], s[y + half][x]);
        __syncthreads();
      }
    }
    if (y == 0) out[piece * 32 + x] = s[0][x];
    __syncthreads();
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int pieces : {1, 5}) {
    const std::vector<float> in = puzzle::values(pieces * 256);
    const puzzle::Array<float> d_in("in", in), d_out("out", pieces * 32);
    largest<<<1, dim3(32, 8)>>>(d_in.data(), d_out.data(), pieces);
    puzzle::expect("out", "pieces = " + std::to_string(pieces), d_out.host(), pieces, 32,
                   [&](std::size_t piece, std::size_t col) {
                     float most = 0;
                     for (std::size_t row = piece * 8; row < piece * 8 + 8; ++row)
                       most = in[row * 32 + col] > most ? in[row * 32 + col] : most;
                     return most;
                   });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: In the first round, half is 4. Which threads come to the barrier inside the if, and where do the others wait?
// Hint: A barrier is for all threads of the block. Those with nothing to do in a round must come to it, too.
// Hint: Move __syncthreads(); out of the if. It stays in the loop over half, below the brace that closes the if.
// Limit: load_requests <= 48: each of the 6 pieces is loaded once, by 8 warps
// Notice: The work belongs inside the if, the barrier doesn't: all threads make all three rounds, most of them only
//   to wait. On a GPU a barrier that some threads don't come to gives wrong results, or a kernel that never ends.
