// What was sold
//
// Goal: Baskets again: nonzero e of a customer's row is quantity[e] pieces of item[e]. Now count how many pieces of
// each item all customers bought together.
#include "tilewise/puzzle.hpp"

// sold has an element for each item, and all of them are 0 at first.
__global__ void count_sold(const int* row_ptr, const int* item, const float* quantity, float* sold, int customers) {
  const int customer = blockIdx.x * blockDim.x + threadIdx.x;
  if (customer >= customers) return;
  for (int e = row_ptr[customer]; e < row_ptr[customer + 1]; ++e) {
    // TODO
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int customers : {33, 1, 300}) {
    const int items = customers == 33 ? 20 : 150;
    const std::vector<int> length = puzzle::values<int>(customers, 2);
    std::vector<int> row_ptr(1, 0);
    for (const int n : length) row_ptr.push_back(row_ptr.back() + (customers == 1 ? 3 : n % 5));
    const int all = row_ptr.back();
    const std::vector<float> quantity = puzzle::values(all, 3), none(items, 0);
    std::vector<int> item(all);
    for (int e = 0; e < all; ++e) item[e] = 13 * e % items;
    std::vector<float> wanted(items, 0);
    for (int e = 0; e < all; ++e) wanted[item[e]] += quantity[e];
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr), d_item("item", item);
    const puzzle::Array<float> d_quantity("quantity", quantity), d_sold("sold", none);
    if (customers == 300) puzzle::count_from_here();
    count_sold<<<(customers + 127) / 128, 128>>>(d_row_ptr.data(), d_item.data(), d_quantity.data(), d_sold.data(),
                                                 customers);
    puzzle::expect("sold", "customers = " + std::to_string(customers) + ", items = " + std::to_string(items),
                   d_sold.host(), [&](std::size_t i) { return wanted[i]; });
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: Which element of `sold` belongs to nonzero e: that of the customer, of e, or of the item?
// Hint: Two customers may have bought the same item. What happens if both add to it at the same time?
// Hint: atomicAdd adds a float to an element as one step; the element is &sold[item[e]].
// Limit: load_requests <= 150: each basket is looked at once, by a thread of its own, and no count needs reading
// Notice: This is the transposed matrix times a vector of ones, from the same three arrays. A thread owns a row, but
// many rows share a column: the gather has become a scatter, which needs atomics or another order of the data.
