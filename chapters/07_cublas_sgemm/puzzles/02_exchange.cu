// Who comes first?
//
// Goal: paints = recipes * pigments, all three stored by rows. The call gives its arguments in the order in which they
// came, and cuBLAS reads by columns: make it compute the right product without moving a word.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

// recipes: m x k, pigments: k x n, paints: m x n, by rows and without gaps.
cublasStatus_t mix(cublasHandle_t handle, const float* recipes, const float* pigments, float* paints, int m, int n,
                   int k) {
  const float one = 1, zero = 0;
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, recipes, k, pigments, n, &zero, paints, n);
}

// ---- The check. Leave what follows as it is. ----

__global__ void fill_with_nan(float* all, std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) all[i] = nanf("");
}

int main() {
  cublasHandle_t handle;
  puzzle::expect_that(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate failed.");
  struct Shape {
    int m, n, k;
  };
  for (const auto [m, n, k] : {Shape{3, 3, 3}, {2, 5, 3}, {7, 3, 4}, {1, 6, 2}, {6, 1, 2}, {33, 20, 50}}) {
    const std::vector<float> recipes = puzzle::values(m * k), pigments = puzzle::values(k * n, 2);
    const puzzle::Array<float> d_recipes("recipes", recipes), d_pigments("pigments", pigments), paints("paints", m * n);
    fill_with_nan<<<(paints.size() + 127) / 128, 128>>>(paints.data(), paints.size());
    const cublasStatus_t status = mix(handle, d_recipes.data(), d_pigments.data(), paints.data(), m, n, k);
    const std::string shape = "m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
    puzzle::expect_that(status == CUBLAS_STATUS_SUCCESS, std::string("cuBLAS refuses the call with ") +
                                                             cublasGetStatusName(status) + " where " + shape + ".");
    puzzle::expect("paints", shape, paints.host(), m, n, [&](std::size_t row, std::size_t col) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += recipes[row * k + i] * pigments[i * n + col];
      return sum;
    });
  }
  cublasDestroy(handle);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 5
// Hint: What does cuBLAS see if it reads the words of a matrix stored by rows, as if they were stored by columns?
// Hint: It sees each of them transposed, and the transpose of a product is the product of the transposes in the other
//   order: ask for paints^T = pigments^T * recipes^T, which has n rows and m columns.
// Hint: Exchange m with n, and `recipes, k` with `pigments, n`. The rest stays.
// Notice: With square matrices the first call ran without an error and computed pigments * recipes. Only sizes that are
//   all different show it, so test with those.
