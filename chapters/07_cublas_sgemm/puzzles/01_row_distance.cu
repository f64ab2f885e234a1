// From row to row
//
// Goal: Bills are orders times prices. All three are stored by rows, and the prices lie in the first columns of a wider
// sheet: tell cuBLAS how many words lie from one row to the next in each of them.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

// orders: customers x articles, and bills: customers x shops, without gaps. prices: articles x shops, the first columns
// of a sheet with rows of `width` words.
cublasStatus_t multiply(cublasHandle_t handle, const float* orders, const float* prices, float* bills, int customers,
                        int articles, int shops, int width) {
  const int ld_orders = 1;  // TODO: these three
  const int ld_prices = 1;
  const int ld_bills = 1;
  const float one = 1, zero = 0;
  // cuBLAS reads by columns, and sees the three transposed. So the prices come first, and shops before customers.
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, shops, customers, articles, &one, prices, ld_prices, orders,
                     ld_orders, &zero, bills, ld_bills);
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
    int customers, articles, shops, width;
  };
  for (const auto [customers, articles, shops, width] :
       {Shape{2, 3, 4, 6}, {5, 2, 3, 3}, {40, 7, 17, 31}, {1, 1, 1, 2}}) {
    const std::vector<float> orders = puzzle::values(customers * articles),
                             prices = puzzle::values(articles * width, 2);
    const puzzle::Array<float> d_orders("orders", orders), d_prices("prices", prices),
        bills("bills", customers * shops);
    fill_with_nan<<<(bills.size() + 127) / 128, 128>>>(bills.data(), bills.size());
    const cublasStatus_t status =
        multiply(handle, d_orders.data(), d_prices.data(), bills.data(), customers, articles, shops, width);
    const std::string shape = "customers = " + std::to_string(customers) + ", articles = " + std::to_string(articles) +
                              ", shops = " + std::to_string(shops) + ", width = " + std::to_string(width);
    puzzle::expect_that(status == CUBLAS_STATUS_SUCCESS, std::string("cuBLAS refuses the call with ") +
                                                             cublasGetStatusName(status) + " where " + shape +
                                                             ": a row can't be longer than the way to the next one.");
    puzzle::expect("bills", shape, bills.host(), customers, shops, [&](std::size_t row, std::size_t col) {
      float sum = 0;
      for (int k = 0; k < articles; ++k) sum += orders[row * articles + k] * prices[k * width + col];
      return sum;
    });
  }
  cublasDestroy(handle);
  return puzzle::solved();
}

// Kind: write
// Minutes: 3
// Hint: Draw two rows of each matrix as they lie in memory, one word after the other.
// Hint: Without gaps a row is as long as it has columns. In the sheet the next row of prices begins `width` words on,
//   however many of them are used.
// Hint: articles, width, shops.
// Notice: The leading dimension is a distance in memory and no size: with it you can multiply a window of a larger
//   matrix without copying it. cuBLAS can only see that it's too small, never that it's wrong.
