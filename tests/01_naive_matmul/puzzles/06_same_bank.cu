// Down a column
//
// Goal: A warp reads the first word of each of 32 rows. L1 has 32 banks (word w is in bank w mod 32), and each hands
// out one word a pass: how many passes does this load take, in rows of 48 words?
#include "tilewise/puzzle.hpp"

constexpr int kCols = 48;  // words in a row

// passes through L1's banks for this load: ?

__global__ void first_of_rows(const float* in, float* out) {
  const int row = threadIdx.x;  // 0 .. 31
  out[row] = in[row * kCols];   // the load is in[row * kCols]
}

void launch_first_of_rows(const float* in, float* out) { first_of_rows<<<1, 32>>>(in, out); }

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> in = puzzle::values(32 * kCols);
  const puzzle::Array<float> d_in("in", in), d_out("out", 32);
  launch_first_of_rows(d_in.data(), d_out.data());
  puzzle::expect("out", "rows = 32", d_out.host(), [&](std::size_t row) { return in[row * kCols]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 5
// Hint: Write down the words that lanes 0, 1, 2 and 3 want, and the bank of each.
// Hint: Words 0, 48, 96, 144: divided by 32 they leave 0, 16, 0, 16. So how many banks are at work, and how many
//   words must each of them give?
// Hint: Two banks, and each has half of the 32 words, one a pass.
// Answer: load_data_passes
// If 1: One pass would do if the 32 words lay in 32 different banks. In which bank is word 48, and in which word 96?
// If 2: Two banks have something to give, that's right. Now count the words that each of them must give, one after
//   another.
// If 32: That would be all words in one bank, as in rows of 32 or 64 words. Word 48 isn't in bank 0.
// If 8: 32 lines at four a pass are the fewest passes that the tags could take. This is about the banks, which hand
//   out the words.
// If 48: A row's length isn't a number of passes: a warp has 32 words to get, so it never takes more than 32.
// If 4: 4 would be the sectors of a row's 32 neighbours. Here no two words are neighbours: look for their banks.
// Show: sectors_per_load, load_data_passes
// Notice: 48 is 16 more than 32, so the words fall into banks 0 and 16 in turn, 16 words each. In rows of 32 or 64
//   words it's 32 passes, in rows of 49 a single one.
