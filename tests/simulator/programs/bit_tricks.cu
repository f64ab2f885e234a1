// What the device knows of bits: reversed, counted, found, shifted through two words, and bytes picked from two words.
#include <cstdint>
#include <cstdio>

struct Bits {
  uint32_t reversed, ones, leading, first, left, right, bytes;
  uint64_t long_reversed;
  uint32_t long_ones, long_leading, long_first;
};

__global__ void by_intrinsics(const uint32_t* in, Bits* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t a = in[i], b = in[i + 1];
  const uint64_t wide = static_cast<uint64_t>(b) << 32 | a;
  Bits& o = out[i];
  o.reversed = __brev(a), o.ones = __popc(a), o.leading = __clz(static_cast<int>(a));
  o.first = __ffs(static_cast<int>(a));
  o.left = __funnelshift_l(a, b, i), o.right = __funnelshift_rc(a, b, i % 48);
  o.bytes = __byte_perm(a, b, i * 0x1357 & 0x7777);
  o.long_reversed = __brevll(wide), o.long_ones = __popcll(wide);
  o.long_leading = __clzll(static_cast<long long>(wide)), o.long_first = __ffsll(static_cast<long long>(wide));
}

// One bit at a time.
static Bits by_hand(uint32_t a, uint32_t b, int i) {
  Bits o = {};
  const uint64_t wide = static_cast<uint64_t>(b) << 32 | a;
  o.leading = 32, o.long_leading = 64;
  for (uint32_t k = 0; k < 64; ++k) {
    if (!(wide >> k & 1)) continue;
    o.long_reversed |= uint64_t{1} << (63 - k), ++o.long_ones, o.long_leading = 63 - k;
    if (o.long_first == 0) o.long_first = k + 1;
    if (k >= 32) continue;
    o.reversed |= 1u << (31 - k), ++o.ones, o.leading = 31 - k;
    if (o.first == 0) o.first = k + 1;
  }
  o.left = static_cast<uint32_t>((wide << (i & 31)) >> 32);
  o.right = static_cast<uint32_t>(wide >> (i % 48 < 32 ? i % 48 : 32));
  for (int byte = 0; byte < 4; ++byte) {
    const int from = (i * 0x1357) >> (4 * byte) & 7;
    o.bytes |= static_cast<uint32_t>(wide >> (8 * from) & 0xff) << (8 * byte);
  }
  return o;
}

int main() {
  const int n = 1009;
  uint32_t* in;
  Bits* out;
  cudaMallocManaged(&in, (n + 1) * sizeof(uint32_t));
  cudaMallocManaged(&out, n * sizeof(Bits));
  for (int i = 0; i <= n; ++i) in[i] = i % 10 < 2 ? 0 : (i * 0x9e3779b1u) >> (i % 32);
  by_intrinsics<<<(n + 127) / 128, 128>>>(in, out, n);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < n; ++i) {
    const Bits w = by_hand(in[i], in[i + 1], i), &o = out[i];
    wrong += o.reversed != w.reversed || o.ones != w.ones || o.leading != w.leading || o.first != w.first;
    wrong += o.left != w.left || o.right != w.right || o.bytes != w.bytes || o.long_reversed != w.long_reversed;
    wrong += o.long_ones != w.long_ones || o.long_leading != w.long_leading || o.long_first != w.long_first;
  }
  cudaFree(in);
  cudaFree(out);
  std::puts(wrong ? "wrong" : "right");
}
