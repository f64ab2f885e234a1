// Whose memory is it?
//
// Goal: Each of two devices is to double one half of x, in memory of its own. The second half ends
// up in the wrong memory, and its kernel can't reach it. Put it where it belongs.
#include "tilewise/puzzle.hpp"

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

// x: n floats of the host's, n >= 2. half[d]: is to be memory of device d, with the doubled numbers
// of its half. The check copies them back and frees it.
void double_halves(const float* x, int n, float* half[2]) {
  for (int d = 0; d < 2; ++d) {
    const int begin = d * n / 2, count = (d + 1) * n / 2 - begin;
    cudaMalloc(&half[d], count * sizeof(float));
    cudaMemcpy(half[d], x + begin, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaSetDevice(d);
    twice<<<(count + 255) / 256, 256>>>(half[d], count);
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 2, 257}) {
    const std::vector<float> in = puzzle::values(n);
    std::vector<float> doubled(n);
    float* half[2] = {nullptr, nullptr};
    puzzle::check(cudaSetDevice(0));
    double_halves(in.data(), n, half);
    for (int d = 0; d < 2; ++d) {
      cudaPointerAttributes about;
      puzzle::check(cudaSetDevice(d));
      puzzle::check(cudaDeviceSynchronize());
      puzzle::check(cudaPointerGetAttributes(&about, half[d]));
      const std::string number = std::to_string(d);
      puzzle::expect_that(about.type == cudaMemoryTypeDevice && about.device == d,
                          "half[" + number + "] isn't memory of device " + number + ".");
      const int begin = d * n / 2, count = (d + 1) * n / 2 - begin;
      const std::size_t bytes = count * sizeof(float);
      puzzle::check(cudaMemcpy(&doubled[begin], half[d], bytes, cudaMemcpyDeviceToHost));
      puzzle::check(cudaFree(half[d]));
    }
    const auto twofold = [&](std::size_t i) { return 2 * in[i]; };
    puzzle::expect("doubled", "n = " + std::to_string(n), doubled, twofold);
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Devices: 2
// Hint: cudaMalloc takes memory of the current device, and a launch goes to the current device.
// Which one is that in each line of the loop, when d is 1?
// Hint: In the second round, device 0 is still the current one when the memory is taken.
// Hint: cudaSetDevice(d) belongs before cudaMalloc.
// Limit: devices = 2: each device is to double its half
// Notice: The copy didn't complain: cudaMemcpy sees from an address whose memory it is. A kernel
// reaches its own device's memory, and another one's only where cudaDeviceEnablePeerAccess has
// opened it.
