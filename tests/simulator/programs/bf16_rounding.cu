// Floats to bfloat16 and back: to the nearest, ties to even, compared bit by bit with what whole numbers say.
#include <cuda_bf16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

__global__ void round_trip(const float* in, uint16_t* bits, float* back, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_bfloat16 rounded = __float2bfloat16(in[i]);
  bits[i] = __bfloat16_as_ushort(rounded);
  back[i] = __bfloat162float(rounded);
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
static float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

int main() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> in{0.0f, -0.0f, 1.0f, -1.0f, Limits::max(), -Limits::max(), Limits::infinity(), Limits::min()};
  for (uint32_t top = 0x3f80; top < 0x3fa0; ++top)  // just below a tie, the tie, just above
    for (const uint32_t low : {0x7fffu, 0x8000u, 0x8001u}) in.push_back(float_of(top << 16 | low));
  while (in.size() < 1009) {
    const uint32_t bits = static_cast<uint32_t>(in.size()) * 2654435761u;
    if ((bits >> 23 & 255) != 255)
      in.push_back(float_of(bits));
    else
      in.push_back(-3.14159f);
  }
  const int n = static_cast<int>(in.size());
  float *din, *dback;
  uint16_t* dbits;
  cudaMalloc(&din, n * sizeof(float));
  cudaMalloc(&dback, n * sizeof(float));
  cudaMalloc(&dbits, n * sizeof(uint16_t));
  cudaMemcpy(din, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  round_trip<<<(n + 127) / 128, 128>>>(din, dbits, dback, n);
  std::vector<uint16_t> bits(n);
  std::vector<float> back(n);
  cudaMemcpy(bits.data(), dbits, n * sizeof(uint16_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(back.data(), dback, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(din), cudaFree(dback), cudaFree(dbits);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t exact = bits_of(in[i]);
    const uint32_t wanted = (exact + 0x7fff + (exact >> 16 & 1)) >> 16;
    wrong += bits[i] != wanted || bits_of(back[i]) != wanted << 16;
  }
  std::puts(wrong ? "wrong" : "right");
}
