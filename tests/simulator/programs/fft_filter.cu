// A noisy wave loses its noise: to frequencies, all but the strong ones to zero, and back. Many waves in one plan.
#include <cuda_runtime.h>
#include <cufft.h>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int n = 240, waves = 5, half = n / 2 + 1;

// Scales, too: a transform there and back multiplies by n.
__global__ void keep_strong(cufftComplex* spectrum, float least, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const cufftComplex v = spectrum[i];
  const bool strong = v.x * v.x + v.y * v.y > least * least;
  spectrum[i] = strong ? make_cuComplex(v.x / n, v.y / n) : make_cuComplex(0, 0);
}

int main() {
  std::vector<float> clean(n * waves), noisy(n * waves), out(n * waves);
  unsigned state = 1;
  for (int w = 0; w < waves; ++w)
    for (int i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      const float noise = static_cast<float>(state >> 16) / 65536.0f - 0.5f;
      clean[w * n + i] = std::sin(2 * 3.14159265f * (w + 1) * i / n) + 0.5f * std::cos(2 * 3.14159265f * 20 * i / n);
      noisy[w * n + i] = clean[w * n + i] + 0.3f * noise;
    }
  float* signal;
  cufftComplex* spectrum;
  cudaMalloc(&signal, n * waves * sizeof(float));
  cudaMalloc(&spectrum, half * waves * sizeof(cufftComplex));
  cudaMemcpy(signal, noisy.data(), n * waves * sizeof(float), cudaMemcpyHostToDevice);
  cufftHandle there, back;
  if (cufftPlan1d(&there, n, CUFFT_R2C, waves) != CUFFT_SUCCESS) return 1;
  if (cufftPlan1d(&back, n, CUFFT_C2R, waves) != CUFFT_SUCCESS) return 1;
  if (cufftExecR2C(there, signal, spectrum) != CUFFT_SUCCESS) return 1;
  keep_strong<<<(half * waves + 127) / 128, 128>>>(spectrum, 0.15f * n, half * waves);
  if (cufftExecC2R(back, spectrum, signal) != CUFFT_SUCCESS) return 1;
  cudaMemcpy(out.data(), signal, n * waves * sizeof(float), cudaMemcpyDeviceToHost);
  float before = 0, after = 0;
  for (int i = 0; i < n * waves; ++i) {
    before = std::fmax(before, std::fabs(noisy[i] - clean[i]));
    after = std::fmax(after, std::fabs(out[i] - clean[i]));
  }
  std::printf("largest error %.3f before, %.3f after\n", before, after);
  cufftDestroy(there), cufftDestroy(back);
  cudaFree(signal), cudaFree(spectrum);
  std::puts(after < before / 3 ? "right" : "wrong");
}
