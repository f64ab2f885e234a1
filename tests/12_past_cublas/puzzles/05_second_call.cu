// The second call
//
// Goal: find_brightest() finds the largest of n words, with one block that comes last and looks through the parts. It works
// once: make it work as often as it's called, whatever n is.
#include "tilewise/puzzle.hpp"

__global__ void brightest(const int* picture, int* result, int n, int* parts, unsigned* arrived) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  int most = i < n ? picture[i] : 0;
  for (int step = 16; step > 0; step /= 2) most = max(most, __shfl_down_sync(0xffffffff, most, step));
  if (threadIdx.x != 0) return;

  parts[blockIdx.x] = most;
  __threadfence();
  if (atomicAdd(arrived, 1u) != gridDim.x - 1) return;

  __threadfence();  // this block came last
  for (int b = 0; b < gridDim.x; ++b) most = max(most, parts[b]);
  *result = most;
}

// *arrived is 0 before the first call.
void find_brightest(const int* picture, int* result, int n, int* parts, unsigned* arrived) {
  brightest<<<(n + 31) / 32, 32>>>(picture, result, n, parts, arrived);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  setenv("TILEWISE_BLOCKS", "reverse", 1);  // blocks run in any order: on the simulator, from the last one to the first
  const puzzle::Array<unsigned> d_arrived("arrived", std::vector<unsigned>(1, 0));
  const int sizes[] = {1000, 1000, 65, 1, 4000, 33};
  for (int call = 0; call < 6; ++call) {
    const int n = sizes[call];
    const std::vector<int> picture = puzzle::values<int>(n, call + 1);
    const puzzle::Array<int> d_picture("picture", picture), d_result("result", 1), d_parts("parts", (n + 31) / 32);
    find_brightest(d_picture.data(), d_result.data(), n, d_parts.data(), d_arrived.data());
    int most = 0;
    for (const int word : picture) most = word > most ? word : most;
    puzzle::expect("result", "it's call " + std::to_string(call + 1) + ", with n = " + std::to_string(n),
                   d_result.host(), [&](std::size_t) { return most; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: What is in *arrived when the second call begins?
// Hint: It has to be 0 again before the next launch, and after the last block of this one has counted itself. Who knows
// when that is?
// Hint: The last block does: *arrived = 0; after *result = most;. Or the host, with cudaMemset before the launch.
// Notice: A kernel that leaves its counter as it found it can be launched again, and needs no cudaMemset between: that
// saves a call for each launch. launch_past_cublas() does clear its counters each time, since its workspace may come
// from anybody.
