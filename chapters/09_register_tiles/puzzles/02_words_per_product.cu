// Words for products
//
// Goal: Each thread computes 8 elements of a times table, 4 rows by 2 columns. Predict how many words all threads
// together load.
#include "tilewise/puzzle.hpp"

// out[row][col] = u[row] * v[col], 64 x 64, in one block of 32 x 16 threads.
__global__ void times_table(const float* u, const float* v, float* out) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  float a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = u[ty + 16 * i];
  for (int j = 0; j < 2; ++j) b[j] = v[tx + 32 * j];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) out[(ty + 16 * i) * 64 + tx + 32 * j] = a[i] * b[j];
  }
}

// words that the 512 threads load: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> u = puzzle::values(64), v = puzzle::values(64, 2);
  const puzzle::Array<float> d_u("u", u), d_v("v", v), out("out", 64 * 64);
  puzzle::count_from_here();
  times_table<<<1, dim3(32, 16)>>>(d_u.data(), d_v.data(), out.data());
  puzzle::expect("out", "M = 64, N = 64", out.host(), 64, 64,
                 [&](std::size_t row, std::size_t col) { return u[row] * v[col]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: Which lines load from memory, and how often does one thread execute them?
// Hint: The words in a and b are in registers: the last loop uses them 8 times and loads nothing.
// Hint: 512 threads x (4 + 2) words.
// Answer: load_words
// If 6: That is one thread. There are more.
// If 8192: That would be two words for each product. Here a word is used several times once it is in a register.
// If 4096: That is the products, or the stores. Count the loads.
// If 2048: Those are the words of u. There are the words of v as well.
// If 1024: Those are the words of v. There are the words of u as well.
// If 128: That is how many different words there are. Several threads load the same ones.
// If 8: Those are the products of one thread. Count what it loads, and then all threads.
// If 192: Those are the requests of whole warps. Count a word for each thread.
// Notice: 6 words for 8 products is three quarters of a word for each; one element per thread would be two. The larger
//   the rectangle, the better: 8 x 8 needs a quarter.
