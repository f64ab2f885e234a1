// Left to pay
//
// Goal: A row of the table is a loan with 32 instalments, and each becomes what is left to pay from there to the end.
// The tile's rows are 33 words long, but somebody has forgotten that; mend it without bank conflicts.
#include "tilewise/puzzle.hpp"

constexpr int kRow = 33;  // one word more than needed: a column lies in 32 banks

__global__ void left_to_pay(const float* due, float* left, int loans) {  // due and left: loans x 32
  __shared__ float tile[32 * kRow];
  const int t = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  for (int i = 0; i < 32; ++i) tile[kRow * i + t] = r0 + i < loans ? due[(r0 + i) * 32 + t] : 0;
  __syncthreads();

  float sum = 0;
  for (int j = 31; j >= 0; --j) {  // lane t along row t, from its end
    sum += tile[32 * t + j];
    tile[32 * t + j] = sum;
  }
  __syncthreads();

  for (int i = 0; i < 32; ++i)
    if (r0 + i < loans) left[(r0 + i) * 32 + t] = tile[kRow * i + t];
}

// ---- The check. Leave what follows as it is. ----

void try_with(int loans) {
  const std::vector<float> due = puzzle::values(loans * 32);
  const puzzle::Array<float> d_due("due", due), d_left("left", loans * 32);
  left_to_pay<<<(loans + 31) / 32, 32>>>(d_due.data(), d_left.data(), loans);
  puzzle::expect("left", "loans = " + std::to_string(loans), d_left.host(), loans, 32,
                 [&](std::size_t loan, std::size_t month) {
                   float sum = 0;
                   for (std::size_t m = month; m < 32; ++m) sum += due[loan * 32 + m];
                   return sum;
                 });
}

int main() {
  for (const int loans : {1, 45}) try_with(loans);
  puzzle::count_from_here();
  try_with(64);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: The tile has one dimension here, and each line works out for itself where row i begins. Do they agree?
// Hint: Row i begins at word kRow * i. Two lines think that it begins at word 32 * i.
// Hint: The walk must use tile[kRow * t + j], where it reads and where it writes.
// Limit: shared_conflicts <= 0: that's what the 33rd word is for
// Limit: load_sectors <= 256: each instalment can be fetched once, in whole sectors
// Limit: store_sectors <= 256: each result can be stored once, in whole sectors
// Limit: shared_wavefronts <= 512: all lanes can work at every step
// Notice: With tile[32][33] the compiler knows the row length, and no line can forget it. Where you work out the index
// by hand, let one constant or one function say where a row begins.
