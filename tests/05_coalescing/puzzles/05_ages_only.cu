// Ages only
//
// Goal: Each of n grains of dust has four numbers: x, y, z and its age. The kernel needs only the ages: choose where
// each number lies, so that the 32 ages of a warp fill 4 sectors.
#include "tilewise/puzzle.hpp"

enum Field { kX, kY, kZ, kAge };

// Where a number of grain i of n lies among the 4 * n numbers.
__host__ __device__ int place(int i, Field field, int n) { return 4 * i + field; }

__global__ void grow_older(float* grains, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) grains[place(i, kAge, n)] += 1;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 33, 1, 1024}) {
    const std::string shape = "n = " + std::to_string(n);
    const std::vector<float> number = puzzle::values(4 * n);  // that of grain i is number[4 * i + field]
    std::vector<float> grains(4 * n, -1);
    for (int i = 0; i < n; ++i)
      for (const Field field : {kX, kY, kZ, kAge}) {
        const int at = place(i, field, n);
        const std::string call = "place(" + std::to_string(i) + ", " +
                                 (field == kX   ? "kX"
                                  : field == kY ? "kY"
                                  : field == kZ ? "kZ"
                                                : "kAge") +
                                 ", " + std::to_string(n) + ") is " + std::to_string(at) + ", ";
        puzzle::expect_that(at >= 0 && at < 4 * n, call + "outside the " + std::to_string(4 * n) + " numbers");
        puzzle::expect_that(grains[at] == -1, call + "where another number lies already");
        grains[at] = number[4 * i + field];
      }
    const puzzle::Array<float> d_grains("grains", grains);
    if (n == 1024) puzzle::count_from_here();
    grow_older<<<(n + 127) / 128, 128>>>(d_grains.data(), n);
    const std::vector<float> after = d_grains.host();
    std::vector<float> got(4 * n);
    for (int i = 0; i < n; ++i)
      for (const Field field : {kX, kY, kZ, kAge}) got[4 * i + field] = after[place(i, field, n)];
    puzzle::expect("grains", shape, got, n, 4,
                   [&](std::size_t i, std::size_t field) { return number[4 * i + field] + (field == kAge); });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: Where do the ages of grains 0, 1 and 2 lie now? What is i multiplied by?
// Hint: Neighbouring threads should find neighbouring ages: all x first, then all y, then all z, then all ages.
// Hint: n numbers of each field lie together, so field f starts at f * n.
// Limit: sectors_per_load <= 4: 32 ages side by side are 128 bytes
// Show: sectors_per_load, sectors_per_store
// Notice: You have turned an array of structures into a structure of arrays. Before, three quarters of what moved were
// coordinates that the kernel hadn't asked for.
// GPU: On an H200, a step that needs all eight numbers of each particle takes
// {ms 05_coalescing "particles kernel=particles_aos"} with an array of structures,
// {ms 05_coalescing "particles kernel=particles_soa"} with a structure of arrays.
