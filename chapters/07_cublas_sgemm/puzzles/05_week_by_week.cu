// Week by week
//
// Goal: totals is the sum of the products of all weeks, and cuBLAS can add to what is there. But before the first week
// anything may be there, NaN too: make the totals right.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

// totals = the sum over all weeks w of orders[w] * prices, by rows. orders: `weeks` matrices of m x k, one after the
// other; prices: k x n; totals: m x n, and it may hold anything before.
cublasStatus_t add_up(cublasHandle_t handle, const float* orders, const float* prices, float* totals, int weeks, int m,
                      int n, int k) {
  for (int w = 0; w < weeks; ++w) {
    const float alpha = 1, beta = 1;
    const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, prices, n,
                                              orders + w * m * k, k, &beta, totals, n);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// ---- The check. Leave what follows as it is. ----

__global__ void fill(float* all, std::size_t n, float with) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) all[i] = with;
}

int main() {
  cublasHandle_t handle;
  puzzle::expect_that(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate failed.");
  struct Shape {
    int weeks, m, n, k;
    float before;
  };
  for (const auto [weeks, m, n, k, before] :
       {Shape{1, 2, 3, 4, 7}, {4, 3, 5, 2, nanf("")}, {2, 1, 1, 1, nanf("")}, {3, 10, 7, 6, -1}}) {
    const std::vector<float> orders = puzzle::values(weeks * m * k), prices = puzzle::values(k * n, 2);
    const puzzle::Array<float> d_orders("orders", orders), d_prices("prices", prices), totals("totals", m * n);
    fill<<<(totals.size() + 127) / 128, 128>>>(totals.data(), totals.size(), before);
    const cublasStatus_t status = add_up(handle, d_orders.data(), d_prices.data(), totals.data(), weeks, m, n, k);
    const std::string shape = "weeks = " + std::to_string(weeks) + ", m = " + std::to_string(m) +
                              ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
    puzzle::expect_that(status == CUBLAS_STATUS_SUCCESS, std::string("cuBLAS refuses the call with ") +
                                                             cublasGetStatusName(status) + " where " + shape + ".");
    puzzle::expect("totals", shape, totals.host(), m, n, [&](std::size_t row, std::size_t col) {
      float sum = 0;
      for (int w = 0; w < weeks; ++w)
        for (int i = 0; i < k; ++i) sum += orders[w * m * k + row * k + i] * prices[i * n + col];
      return sum;
    });
  }
  cublasDestroy(handle);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: The call computes totals = alpha * product + beta * totals. What is in totals when w is 0?
// Hint: The first week must not look at totals, all others must add to it. With beta = 0 cuBLAS doesn't read the matrix
//   at all.
// Hint: beta is 0 for w == 0, and 1 for every other week.
// Notice: A beta of 0 isn't a multiplication by 0: that would have kept the NaN, since 0 * NaN is NaN. cuBLAS leaves
//   the matrix unread, which also saves its bytes.
