// Four rows for one word
//
// Goal: Each thread loads two words to compare one place with one other. Give it four rows, so that a word of b serves
// four comparisons: at most 5,120 words instead of 8,192.
#include "tilewise/puzzle.hpp"

// apart[row][col] = |a[row] - b[col]|, M x N.
__global__ void distances(const float* a, const float* b, float* apart, int M, int N) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) apart[row * N + col] = fabsf(a[row] - b[col]);
}

void launch(const float* a, const float* b, float* apart, int M, int N) {
  const dim3 block(32, 4);
  const dim3 grid((N + 31) / 32, (M + 3) / 4);
  distances<<<grid, block>>>(a, b, apart, M, N);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  struct Shape {
    int M, N;
  };
  for (const auto [M, N] : {Shape{1, 1}, {5, 40}, {22, 3}, {64, 64}}) {  // the last is counted
    const std::vector<float> a = puzzle::values(M), b = puzzle::values(N, 2);
    const puzzle::Array<float> d_a("a", a), d_b("b", b), apart("apart", M * N);
    puzzle::count_from_here();
    launch(d_a.data(), d_b.data(), apart.data(), M, N);
    puzzle::expect(
        "apart", "M = " + std::to_string(M) + ", N = " + std::to_string(N), apart.host(), M, N,
        [&](std::size_t row, std::size_t col) { return a[row] > b[col] ? a[row] - b[col] : b[col] - a[row]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 6
// Hint: Which of a thread's two words stays the same if it goes on to another row?
// Hint: Load b[col] into a variable, and then go through four rows. A block covers four times as many rows now, so the
//   grid needs a quarter of the blocks.
// Hint: for (int row = blockIdx.y * 16 + threadIdx.y, i = 0; i < 4; ++i, row += 4) if (row < M) ..., and (M + 15) / 16
//   blocks.
// Limit: load_words <= 5120: 1,024 threads with 4 words of a and 1 word of b each; loads are counted as they are
//   written, so a variable has to hold that word
// Show: load_words, threads
// Notice: 5 words for 4 results in place of 8. Each result still loads its own word of a; a rectangle with several
//   columns saves those, too.
