// Three engines, two streams
//
// Goal: Six chunks go through two streams. A device has one engine for copies in, one for copies
// out, and its SMs; each chunk keeps each of them busy for one step. After how many steps is all
// done? Write the number in place of the question mark.
#include "tilewise/puzzle.hpp"

constexpr int kChunk = 1024;  // floats

__global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

// x: six chunks on the device; in and out: six chunks of pinned memory each.
void pipeline(float* x, const float* in, float* out, cudaStream_t stream[2]) {
  for (int c = 0; c < 6; ++c) {
    const int at = c * kChunk;
    const std::size_t bytes = kChunk * sizeof(float);
    const cudaStream_t s = stream[c % 2];
    cudaMemcpyAsync(x + at, in + at, bytes, cudaMemcpyHostToDevice, s);
    twice<<<kChunk / 256, 256, 0, s>>>(x + at);
    cudaMemcpyAsync(out + at, x + at, bytes, cudaMemcpyDeviceToHost, s);
  }
}

// steps until all is done: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  constexpr int n = 6 * kChunk;
  const std::vector<float> from = puzzle::values(n);
  const puzzle::Array<float> x("x", n);
  const puzzle::Pinned<float> in("in", from), out("out", n);
  cudaStream_t stream[2];
  for (cudaStream_t& s : stream) {
    puzzle::check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  puzzle::check(cudaDeviceSynchronize());
  puzzle::timeline_from_here(kChunk * sizeof(float));
  pipeline(x.data(), in.data(), out.data(), stream);
  puzzle::timeline_to_here();
  puzzle::check(cudaDeviceSynchronize());
  const auto twofold = [&](std::size_t i) { return 2 * from[i]; };
  puzzle::expect("out", "n = " + std::to_string(n), out.host(), twofold);
  for (const cudaStream_t s : stream) puzzle::check(cudaStreamDestroy(s));
  return puzzle::solved();
}

// Kind: predict
// Minutes: 5
// Hint: Draw three lines, one for each engine, and put the chunks 0, 1, 2 ... on them, step by
// step. What must chunk 2's copy in wait for?
// Hint: Chunk 2 is in the same stream as chunk 0, behind its copy out, which is done after step 3.
// Hint: Chunks 0 and 1 are copied in in steps 1 and 2, chunks 2 and 3 in steps 4 and 5. So when is
// chunk 5? And it's copied out two steps after that.
// Answer: timeline_length
// If 18: That's with one stream, or with a wait in the loop. Here one chunk can be copied in while
// another one is computed.
// If 8: That's with a stream for each chunk. Here chunk 2 stands in a stream behind chunk 0: which
// of chunk 0's steps must be done before chunk 2 begins?
// If 6: All three engines would have to be busy all the time. What can the SMs do in step 1?
// If 12: Chunks 0 and 1 are done after 4 steps. Does chunk 2 have to wait for both of them?
// If 9: Each pair of chunks begins three steps after the one before it. But how many steps does the
// last pair need?
// Show: timeline_length
// Notice: With three streams it's 8 steps, and with six as well: a stream for each engine is
// enough. With c chunks of equal steps that's c + 2 steps in place of 3c. On a GPU the steps
// differ, and the longest one counts: if that's the kernel, two streams can be as fast as three.
