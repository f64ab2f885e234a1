// Fair shares
//
// Goal: `items` pieces of work are dealt to `shares` blocks, in order. Let no share have two pieces more than another one,
// also where the division leaves a remainder.
#include "tilewise/puzzle.hpp"

// The first piece of this share. Share s has the pieces share_begin(s) to share_begin(s + 1) - 1.
__host__ __device__ int share_begin(int items, int shares, int share) {
  return items / shares * share;  // TODO: what about the remainder?
}

// begins[s] for s = 0, 1, ... shares.
__global__ void deal(int* begins, int items, int shares) {
  const int share = blockIdx.x * blockDim.x + threadIdx.x;
  if (share <= shares) begins[share] = share_begin(items, shares, share);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int cases[][2] = {{12, 4}, {10, 4}, {7, 4}, {496, 264}, {3, 5}, {1, 1}, {264, 264}, {2000000000, 4224}};
  for (const auto& [items, shares] : cases) {
    const puzzle::Array<int> d_begins("begins", shares + 1);
    deal<<<shares / 128 + 1, 128>>>(d_begins.data(), items, shares);
    const std::vector<int> begins = d_begins.host();
    const std::string dealt = std::to_string(items) + " pieces dealt to " + std::to_string(shares) + ": ";
    puzzle::expect_that(begins[0] == 0, dealt + "share 0 begins at " + std::to_string(begins[0]) + ", not at 0.");
    const int fewest = items / shares, most = (items + shares - 1) / shares;
    for (int s = 0; s < shares; ++s) {
      puzzle::expect_that(begins[s + 1] >= 0, dealt + "share " + std::to_string(s) + " ends before piece " +
                                                  std::to_string(begins[s + 1]) +
                                                  ". Which number on the way is larger than an int can be?");
      const int count = begins[s + 1] - begins[s];
      puzzle::expect_that(count >= fewest && count <= most,
                          dealt + "share " + std::to_string(s) + " begins at piece " + std::to_string(begins[s]) +
                              " and ends before piece " + std::to_string(begins[s + 1]) + ", so it has " +
                              std::to_string(count) + " in place of " + std::to_string(fewest) +
                              (most > fewest ? " or " + std::to_string(most) : "") + ".");
    }
    puzzle::expect_that(begins[shares] == items, dealt + "the last share ends before piece " +
                                                     std::to_string(begins[shares]) + ", not before piece " +
                                                     std::to_string(items) + ".");
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: 10 / 4 is 2 for the compiler, so the last two pieces go to no share. When do you best round down: before you
// multiply, or after?
// Hint: Multiply first: share s begins where s of all `shares` parts are dealt, which is items x s / shares. But the
// product may be more than an int can hold, 2,147,483,647.
// Hint: return int((long long)items * share / shares);
// Notice: Rounding down after the multiplication spreads the remainder over all shares. Rounding up the share's size is
// the classic mistake: of 264 shares of 496 pieces, 248 get 2 each and 16 get nothing.
