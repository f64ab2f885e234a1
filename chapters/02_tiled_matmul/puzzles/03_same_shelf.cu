// The same shelf again
//
// Goal: A block reverses pieces of 128 words, one after another, in one shared array. There is a barrier, and still a
// word can be overwritten while another thread needs it: mend that.
#include "tilewise/puzzle.hpp"

__global__ void reverse_pieces(const float* in, float* out, int pieces) {
  __shared__ float shelf[128];
  const int t = threadIdx.x;
  for (int piece = 0; piece < pieces; ++piece) {
    shelf[t] = in[piece * 128 + t];
    __syncthreads();
    out[piece * 128 + t] = shelf[127 - t];
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int pieces : {1, 2, 9}) {
    const std::vector<float> in = puzzle::values(pieces * 128);
    const puzzle::Array<float> d_in("in", in), d_out("out", in.size());
    reverse_pieces<<<1, 128>>>(d_in.data(), d_out.data(), pieces);
    puzzle::expect("out", "pieces = " + std::to_string(pieces), d_out.host(),
                   [&](std::size_t i) { return in[i / 128 * 128 + 127 - i % 128]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: After the barrier, a fast warp reads its words and begins the next round. Which line does it come to first?
// Hint: It stores the next piece over words that a slow warp hasn't read yet. All must have read before any stores
//   again.
// Hint: A second __syncthreads(); at the end of the loop's body, after shelf has been read.
// Limit: load_requests <= 48: each of the 12 pieces is loaded once, by 4 warps
// Notice: An array that is used again needs two barriers a round: written before read, and read before overwritten.
//   Lesson 02's product without the second one came out right on an H200 in the run that we made. So this mistake can
//   pass all your tests.
