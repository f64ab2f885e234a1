// All the same
//
// Goal: A warp looks for the place of the largest number. Where several are as large, it must be the first of them, whichever
// lane has seen it. Repair that.
#include "tilewise/puzzle.hpp"

// Lane l looks at the numbers l, l + 32, l + 64 ... n is 32 at least.
__global__ void where_is_the_largest(const int* in, int* where, int n) {
  int at = threadIdx.x;
  for (int i = at + 32; i < n; i += 32)
    if (in[i] > in[at]) at = i;
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_down_sync(0xffffffff, at, d);
    if (in[other] > in[at]) at = other;
  }
  if (threadIdx.x == 0) *where = at;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {100, 32, 1000}) {
    for (const int same : {2, 50, 4096}) {
      std::vector<int> in = puzzle::values<int>(n);
      int first = 0;
      for (int i = 0; i < n; ++i) {
        in[i] = in[i] % same + (i > 30 ? 7000 : 0);
        if (in[i] > in[first]) first = i;
      }
      const puzzle::Array<int> d_in("in", in), d_where("where", 1);
      where_is_the_largest<<<1, 32>>>(d_in.data(), d_where.data(), n);
      puzzle::expect("where", "n = " + std::to_string(n) + ", numbers from 0 to " + std::to_string(same),
                     d_where.host(), [&](std::size_t) { return first; });
    }
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 5
// Hint: Lane 0 has found place 64, and lane 5 place 37, with the same number there. Which one does lane 0 keep?
// Hint: When the two numbers are equal, the smaller place must win. That's a second condition in the second loop.
// Hint: if (in[other] > in[at] || (in[other] == in[at] && other < at)) at = other;
// Notice: Joining must give the same result in whatever order the elements come, or two runs differ. For the largest number
// that's free; for its place you have to say what holds for equal ones.
