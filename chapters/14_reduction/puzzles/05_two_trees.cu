// Two trees
//
// Goal: A block adds 256 numbers by a tree in shared memory. With neighbours first (s = 1, 2, 4 ...) that takes 150 wavefronts.
// How many does this kernel take, which keeps those who work together? Write the number in place of the question mark.
#include "tilewise/puzzle.hpp"

// A block of 256 threads: 8 warps.
__global__ void sum(const int* in, int* out) {
  __shared__ int part[256];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) *out = part[0];
}

// wavefronts of all loads and stores together: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<int> in = puzzle::values<int>(256);
  const puzzle::Array<int> d_in("in", in), d_out("out", 1);
  puzzle::count_from_here();
  sum<<<1, 256>>>(d_in.data(), d_out.data());
  int all = 0;
  for (const int number : in) all += number;
  puzzle::expect("out", "n = 256", d_out.host(), [&](std::size_t) { return all; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 5
// Hint: A wavefront serves a warp, or a part of it. In which steps do all 8 warps have a thread that works, and in which only
// one?
// Hint: Each of the 8 warps stores once at first. Then, for s = 128, 4 warps load two words and store one; for s = 64 there
// are 2 warps.
// Hint: 8 for the first stores, then three for each warp at work: 4, 2 and 1 warps, and 1 in each of the last five steps; and
// one load at the end.
// Answer: shared_wavefronts
// If 44: The last line loads a word, too.
// If 37: The first line stores: how many warps are there?
// If 150: That's with neighbours first. There, all 8 warps have a thread that works up to s = 16. And here?
// If 12: That's how often a warp is at work. What does it do to shared memory each time, and what comes before and after?
// If 36: These are the steps of the tree. What comes before the loop, and after it?
// If 24: A warp at work loads two words, and then stores one. And what comes before the loop, and after it?
// If 21: Is that for 128, 64 and 32 only? Below 32 one warp goes on.
// Show: shared_wavefronts
// Notice: 45 in place of 150, for the same 255 additions. A warp with one working thread costs as much as one with 32, so
// those who work should be in the same warps. The time doesn't follow where something else takes longer: on our H200 both
// kernels of the lesson wait for their atomics.
// GPU: The lesson's kernels for 268 million floats: {ms 14_reduction "sums shape=268 kernel=sum_interleaved"} with
// neighbours first, {ms 14_reduction "sums shape=268 kernel=sum_sequential"} with those together who work.
