// Where it belongs
//
// Goal: Each thread computes 4 x 2 elements of a times table, in registers, and every product is right. But most of
// them arrive at the wrong place: mend the kernel.
#include "tilewise/puzzle.hpp"

// out[row][col] = u[row] * v[col]; M and N are multiples of 32. A block of 16 x 8 threads has 32 x 32 elements, and a
// thread has rows 8 apart and columns 16 apart.
__global__ void times_table(const float* u, const float* v, float* out, int N) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = u[row0 + ty + 8 * i];
  for (int j = 0; j < 2; ++j) b[j] = v[col0 + tx + 16 * j];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) out[(row0 + 4 * ty + i) * N + col0 + tx + 16 * j] = a[i] * b[j];
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  struct Shape {
    int M, N;
  };
  for (const auto [M, N] : {Shape{32, 32}, {96, 64}, {32, 96}}) {  // the last is counted
    const std::vector<float> u = puzzle::values(M), v = puzzle::values(N, 2);
    const puzzle::Array<float> d_u("u", u), d_v("v", v), out("out", M * N);
    puzzle::count_from_here();
    times_table<<<dim3(N / 32, M / 32), dim3(16, 8)>>>(d_u.data(), d_v.data(), out.data(), N);
    puzzle::expect("out", "M = " + std::to_string(M) + ", N = " + std::to_string(N), out.host(), M, N,
                   [&](std::size_t row, std::size_t col) { return u[row] * v[col]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: Take thread (0, 1). Which rows of u does it read, and into which rows does it write?
// Hint: It reads rows 1, 9, 17 and 25, and writes rows 4, 5, 6 and 7. Both must be the same.
// Hint: Write to row row0 + ty + 8 * i.
// Limit: load_words <= 2304: 384 threads with 4 + 2 words each
// Notice: The mistake is in one index of two that must agree, and thread 0's first product is right all the same. So
//   give the row a name, once, and use it in both places.
