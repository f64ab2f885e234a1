// Kernels that need many registers, for tests of what registers limit.
#pragma once

#include <cuda_runtime.h>

namespace registers_test {

/// Keeps WORDS words of `in` in registers through `rounds` rounds, in which each is computed from another one.
/// `in`: 32 * WORDS floats. `out`: one float per thread of the block.
template <int WORDS>
__global__ void hold_words(float* out, const float* in, int rounds) {
  float word[WORDS];
#pragma unroll
  for (int i = 0; i < WORDS; ++i) word[i] = in[i * 32 + threadIdx.x % 32];
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < WORDS; ++i) word[i] = word[i] * word[(i + 7) % WORDS] + 1.0f;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < WORDS; ++i) sum += word[i] * word[(i * 5) % WORDS];
  out[threadIdx.x] = sum;
}

}  // namespace registers_test
