// The bill
//
// Goal: A row is a customer's basket: nonzero e is quantity[e] pieces of item[e], and price lists what each item costs.
// The bills come out wrong: find out why.
#include "tilewise/puzzle.hpp"

__global__ void bills(const int* row_ptr, const int* item, const float* quantity, const float* price, float* bill,
                      int customers) {
  const int customer = blockIdx.x * blockDim.x + threadIdx.x;
  if (customer >= customers) return;
  float sum = 0;
  for (int e = row_ptr[customer]; e < row_ptr[customer + 1]; ++e) sum += quantity[e] * price[e];
  bill[customer] = sum;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int customers : {500, 33, 1}) {
    const std::vector<int> length = puzzle::values<int>(customers, 2);
    std::vector<int> row_ptr(1, 0);
    for (const int n : length) row_ptr.push_back(row_ptr.back() + (customers == 1 ? 3 : n % 5));
    const int all = row_ptr.back(), items = all + 20;
    const std::vector<float> quantity = puzzle::values(all, 3), price = puzzle::values(items, 4);
    std::vector<int> item(all);
    for (int e = 0; e < all; ++e) item[e] = items - 1 - 7 * e % items;
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr), d_item("item", item);
    const puzzle::Array<float> d_quantity("quantity", quantity), d_price("price", price), d_bill("bill", customers);
    bills<<<(customers + 127) / 128, 128>>>(d_row_ptr.data(), d_item.data(), d_quantity.data(), d_price.data(),
                                            d_bill.data(), customers);
    puzzle::expect("bill", "customers = " + std::to_string(customers), d_bill.host(), [&](std::size_t c) {
      float sum = 0;
      for (int e = row_ptr[c]; e < row_ptr[c + 1]; ++e) sum += quantity[e] * price[item[e]];
      return sum;
    });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: There is an array that the kernel gets and doesn't use. What does it say?
// Hint: e counts the nonzeros of all baskets. Whose number finds a price: that of the nonzero, the customer or the
// item?
// Hint: Nonzero e is item[e], so its price is price[item[e]].
// Notice: This is a sparse matrix times a vector, with quantities for values and prices for x. One index looks up
// another: a gather. It takes random data, and arrays of different lengths, to show a wrong index.
