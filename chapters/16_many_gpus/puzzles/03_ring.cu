// Once round the ring, and again
//
// Goal: Four devices have n floats each, and in the end every one of them has the sum of all four
// arrays. How many floats does each device send, as a multiple of n? Write the number in place of
// the question mark.
#include "tilewise/puzzle.hpp"

__global__ void add(float* x, const float* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += more[i];
}

// x[d]: n floats on device d, in four parts of n / 4. got[d]: room for a part there.
void sum_of_all(float* x[4], float* got[4], int n) {
  const int part = n / 4;
  for (int step = 0; step < 6; ++step) {
    for (int d = 0; d < 4; ++d) {  // each device sends a part to the next one
      const int next = (d + 1) % 4, p = (d - step + 8) % 4;
      float* const to = step < 3 ? got[next] : x[next] + p * part;
      cudaMemcpyPeer(to, next, x[d] + p * part, d, part * sizeof(float));
    }
    for (int d = 0; d < 4 && step < 3; ++d) {  // which adds it to its own, the first three times
      cudaSetDevice(d);
      add<<<part / 256, 256>>>(x[d] + (d - step + 7) % 4 * part, got[d]);
    }
  }
}

// each device sends, times n: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  constexpr int n = 4096;
  float *x[4], *got[4];
  std::vector<float> sum(n), host(n);
  for (int d = 0; d < 4; ++d) {
    const std::vector<float> in = puzzle::values(n, d);
    for (int i = 0; i < n; ++i) sum[i] += in[i];
    puzzle::check(cudaSetDevice(d));
    puzzle::check(cudaMalloc(&x[d], n * sizeof(float)));
    puzzle::check(cudaMalloc(&got[d], n / 4 * sizeof(float)));
    puzzle::check(cudaMemcpy(x[d], in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    puzzle::check(cudaDeviceSynchronize());
  }
  puzzle::timeline_from_here(n * sizeof(float));
  sum_of_all(x, got, n);
  puzzle::timeline_to_here();
  for (int d = 0; d < 4; ++d) {
    puzzle::check(cudaSetDevice(d));
    puzzle::check(cudaDeviceSynchronize());
    puzzle::check(cudaMemcpy(host.data(), x[d], n * sizeof(float), cudaMemcpyDeviceToHost));
    puzzle::expect("x", "d = " + std::to_string(d), host, [&](std::size_t i) { return sum[i]; });
    puzzle::check(cudaFree(x[d]));
    puzzle::check(cudaFree(got[d]));
  }
  return puzzle::solved();
}

// Kind: predict
// Minutes: 4
// Devices: 4
// Hint: Follow one device. How often does it send, and how many floats each time?
// Hint: In the first three steps sums are made: a part goes from device to device, and each adds
// its own. What must happen to the four finished parts then?
// Hint: Six steps, and n / 4 floats in each of them.
// Answer: most_sent
// If 6: That's how many parts it sends. How many floats are in a part?
// If 3: With whole arrays, it would be one to each other device. A part is n / 4.
// If 1: That's four parts. How many steps are there?
// If 0.75: After three steps each device has one part of the sum, and lacks three.
// If 2: It's a little less: a device doesn't send a part round the whole ring.
// Show: most_sent
// Notice: With p devices it's 2 (p - 1) / p times n: less than 2, however many there are. By way of
// one device, that one would send p - 1 times n. The ring pays with steps, 2 (p - 1) of them, and
// each has to be started: for short arrays that can cost more than the floats do.
