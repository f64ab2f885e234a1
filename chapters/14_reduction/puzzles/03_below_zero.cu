// Below zero
//
// Goal: A warp looks for the largest of up to 32 temperatures. In summer it works; in winter it says 0. Repair that.
#include "tilewise/puzzle.hpp"

__global__ void largest(const float* degrees, float* result, int n) {
  float most = threadIdx.x < n ? degrees[threadIdx.x] : 0;
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_down_sync(0xffffffff, most, d));
  if (threadIdx.x == 0) *result = most;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {32, 20, 1}) {
    for (const float summer : {100.0f, -100.0f}) {
      std::vector<float> degrees = puzzle::values(n);
      float most = -1e9f;
      for (float& t : degrees) {
        t = t / 4 + summer;
        if (t > most) most = t;
      }
      const puzzle::Array<float> d_degrees("degrees", degrees), d_result("result", 1);
      largest<<<1, 32>>>(d_degrees.data(), d_result.data(), n);
      puzzle::expect("result", "n = " + std::to_string(n) + (summer > 0 ? ", in summer" : ", in winter"),
                     d_result.host(), [&](std::size_t) { return most; });
    }
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: With 20 temperatures there are 12 lanes without one. What do they say?
// Hint: In a sum, who has nothing says 0, because 0 + x is x. Which number does that for the larger of two?
// Hint: -INFINITY in place of 0: nothing is smaller, so it never wins.
// Notice: Every reduction needs a value that changes nothing: 0 for sums, 1 for products, minus infinity for the largest.
// It's also the only right answer for no elements at all.
