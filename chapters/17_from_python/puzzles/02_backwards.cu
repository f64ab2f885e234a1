// Backwards
//
// Goal: In Python, x[::-1] is a view of x that begins with its last element and has the stride -1; x[::-3] takes every third
// one. The kernel copies such views, or should. Mend it.
#include "tilewise/puzzle.hpp"

/// out[i] = element i of a view: `first` is its first element, and the next one is `stride` elements on.
__global__ void copy_view(const float* first, unsigned stride, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = first[i * stride];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int length = 1000;
  const std::vector<float> x = puzzle::values(length);
  const puzzle::Array<float> d_x("x", x);
  for (const int stride : {1, 3, -1, -3, -999}) {
    const int begin = stride < 0 ? length - 1 : 0, step = stride < 0 ? -stride : stride, n = (length - 1) / step + 1;
    const puzzle::Array<float> d_out("out", n);
    copy_view<<<(n + 255) / 256, 256>>>(d_x.data() + begin, stride, d_out.data(), n);
    puzzle::expect("out", "x[::" + std::to_string(stride) + "]", d_out.host(),
                   [&](std::size_t i) { return x[begin + static_cast<int>(i) * stride]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: What is the number -1 once it's in the parameter `stride`?
// Hint: An unsigned -1 is 4,294,967,295. And if only the stride is signed, what type does i * stride have?
// Hint: Make stride an int, and the product, too: static_cast<int>(i) * stride.
// Notice: Strides are signed, in DLPack 64-bit numbers. C++ turns int times unsigned into unsigned without a word, so one
// unsigned factor is enough. Addresses have 64 bits: an unsigned product of 32 bits is not a negative number to them.
