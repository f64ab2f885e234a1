// Keep them busy
//
// Goal: Eight chunks come to the device, are doubled and go back, and only one engine works at a
// time: it takes three times as long as one copy of all. Let chunks overlap, so that it takes one
// and a half times as long at most.
#include "tilewise/puzzle.hpp"

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

// x: n floats on the device; in and out: n floats of pinned memory each. out is needed on return.
void doubled(float* x, const float* in, float* out, int n, cudaStream_t stream[3]) {
  const int chunk = (n + 7) / 8;
  for (int at = 0, c = 0; at < n; at += chunk, ++c) {
    const int count = n - at < chunk ? n - at : chunk;
    const cudaStream_t s = stream[0];
    cudaMemcpyAsync(x + at, in + at, count * sizeof(float), cudaMemcpyHostToDevice, s);
    twice<<<(count + 127) / 128, 128, 0, s>>>(x + at, count);
    cudaMemcpyAsync(out + at, x + at, count * sizeof(float), cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 8192}) {
    const std::vector<float> from = puzzle::values(n);
    const puzzle::Array<float> x("x", n);
    const puzzle::Pinned<float> in("in", from), out("out", n);
    cudaStream_t stream[3];
    for (cudaStream_t& s : stream) {
      puzzle::check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    }
    puzzle::check(cudaDeviceSynchronize());
    if (n == 8192) puzzle::timeline_from_here(n * sizeof(float));
    doubled(x.data(), in.data(), out.data(), n, stream);
    if (n == 8192) puzzle::timeline_to_here();
    const auto twofold = [&](std::size_t i) { return 2 * from[i]; };
    puzzle::expect("out", "n = " + std::to_string(n), out.host(), twofold);
    puzzle::check(cudaDeviceSynchronize());
    for (const cudaStream_t s : stream) puzzle::check(cudaStreamDestroy(s));
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 5
// Hint: Two things keep the engines idle. One makes the host wait for each chunk; the other one
// would keep the chunks in order without it.
// Hint: Chunks may overlap if they're in different streams, and if the host asks for the next one
// before the last one is done. It still has to wait once.
// Hint: stream[c % 3] in place of stream[0], and after the loop, not in it: for (int i = 0; i < 3;
// ++i) cudaStreamSynchronize(stream[i]);
// Limit: timeline_length <= 1.5: with all engines at work, eight chunks take (8 + 2) / 8 = 1.25
// Show: timeline_length
// Notice: Each change alone does nothing: with a wait in the loop three streams are as slow as one,
// and one stream without the wait is, too. More chunks bring it nearer to 1, but each costs the
// host three calls, and a small copy is slower for each byte.
