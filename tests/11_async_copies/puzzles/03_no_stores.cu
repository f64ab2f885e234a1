// Wavefronts of a copy
//
// Goal: A block brings 1,024 words into shared memory by copies of 16 bytes, and its threads load them from there, four
// words each. Say how many wavefronts the loads and stores of shared memory need together.
#include <cuda_pipeline.h>

#include "tilewise/puzzle.hpp"

// wavefronts of shared memory's loads and stores: ?

__global__ void swap_halves(const float* in, float* out) {
  __shared__ alignas(16) float words[1024];
  const int four = 4 * threadIdx.x;  // 256 threads
  __pipeline_memcpy_async(&words[four], &in[four], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const int from = (four + 512) % 1024;
  *reinterpret_cast<float4*>(&out[four]) = *reinterpret_cast<const float4*>(&words[from]);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1024;
  const std::vector<float> in = puzzle::values(n);
  const puzzle::Array<float> d_in("in", in), d_out("out", n);
  swap_halves<<<1, 256>>>(d_in.data(), d_out.data());
  puzzle::expect("out", "the halves of 1,024 words are swapped", d_out.host(),
                 [&](std::size_t i) { return in[(i + 512) % 1024]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 4
// Hint: Which instructions load from shared memory here, and which store into it?
// Hint: A wavefront moves at most 32 banks x 4 bytes = 128 bytes. The loads move 1,024 words. And the copies are no store
// instructions.
// Hint: A warp's load of 16 bytes per lane is 512 bytes: four wavefronts. The block has eight warps.
// Answer: shared_wavefronts
// If 64: With a load and a store for each word, as in lesson 10, that would be right. Which instruction stores here?
// If 8: There are eight load instructions, one per warp. How many bytes does each ask for, and how many fit into a wavefront?
// If 16: Two instructions for each of the eight warps. But is a copy a store, and does a load of 512 bytes fit one wavefront?
// If 40: Did you add one for each copy instruction? The copies are no stores.
// If 256: A wavefront serves many lanes at once: it moves 128 bytes.
// If 1024: A wavefront moves 32 words, not one.
// Show: shared_wavefronts
// Notice: 8 warps x 4 wavefronts = 32, all of them loads. By load and store it would be 64: a word that a register brings
// into shared memory needs a store instruction and its turn of the banks, and a copy of 16 bytes needs neither.
