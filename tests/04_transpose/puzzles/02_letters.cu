// Who wrote to whom
//
// Goal: letters[a][b] says how many letters a sent to b, and it should say how many b sent to a: a transpose in place.
// Every pair is swapped, but by two threads; mend that.
#include "tilewise/puzzle.hpp"

__global__ void turn_round(int* letters, int n) {  // n x n
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  const int a = blockIdx.y * blockDim.y + threadIdx.y;
  if (a >= n || b >= n) return;

  const int keep = letters[a * n + b];
  letters[a * n + b] = letters[b * n + a];
  letters[b * n + a] = keep;
}

// ---- The check. Leave what follows as it is. ----

void try_with(int n) {
  const std::vector<int> letters = puzzle::values<int>(n * n);
  const puzzle::Array<int> d_letters("letters", letters);
  turn_round<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(d_letters.data(), n);
  puzzle::expect("letters", "n = " + std::to_string(n), d_letters.host(), n, n,
                 [&](std::size_t a, std::size_t b) { return letters[b * n + a]; });
}

int main() {
  for (const int n : {10, 1, 37}) try_with(n);
  puzzle::count_from_here();
  try_with(64);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: Which two words does thread (a, b) = (1, 2) touch? And thread (2, 1)?
// Hint: They swap the same two words, and if both do, they are back where they were, or worse. One of the two must do
// it, the other nothing.
// Hint: Let only the threads above the diagonal swap: if (a >= n || b >= n || a >= b) return;
// Limit: load_requests <= 512: each pair can have a thread of its own
// Notice: A barrier wouldn't have helped: the two threads are often in different blocks, and no barrier joins blocks.
// Each word must belong to one thread, or at least to one block. That idea carries you through this lesson's homework
// in place.
