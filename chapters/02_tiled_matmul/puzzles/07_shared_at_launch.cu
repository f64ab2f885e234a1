// Sized at the launch
//
// Goal: The length of the pieces is known only at the launch, so the launch asks for the shared memory: two arrays of
// `length` floats. It doesn't ask for enough: mend it.
#include "tilewise/puzzle.hpp"

// out = the piece of a, reversed, plus the piece of b, one word further on
__global__ void mix(const float* a, const float* b, float* out) {
  extern __shared__ float shared[];  // as large as the launch says
  const int t = threadIdx.x, length = blockDim.x;
  const int i = blockIdx.x * length + t;
  float* as = shared;
  float* bs = shared + length;
  as[t] = a[i];
  bs[t] = b[i];
  __syncthreads();
  out[i] = as[length - 1 - t] + bs[(t + 1) % length];
}

void launch_mix(const float* a, const float* b, float* out, int pieces, int length) {
  mix<<<pieces, length, length>>>(a, b, out);
}

// ---- The check. Leave what follows as it is. ----

void judge(int pieces, int length) {
  const int n = pieces * length;
  const std::vector<float> a = puzzle::values(n, 1), b = puzzle::values(n, 2);
  const puzzle::Array<float> d_a("a", a), d_b("b", b), d_out("out", n);
  launch_mix(d_a.data(), d_b.data(), d_out.data(), pieces, length);
  puzzle::check(cudaGetLastError());
  const std::string shape = "pieces = " + std::to_string(pieces) + ", length = " + std::to_string(length);
  puzzle::expect("out", shape, d_out.host(), pieces, length, [&](std::size_t piece, std::size_t t) {
    return a[piece * length + length - 1 - t] + b[piece * length + (t + 1) % length];
  });
}

int main() {
  judge(3, 64);
  judge(1, 1);
  judge(2, 1000);
  puzzle::count_from_here();
  judge(4, 96);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: The third argument of <<<...>>> is the size of the array shared. In which unit?
// Hint: It is in bytes. How many bytes does a float take, and how many floats do both arrays have together?
// Hint: mix<<<pieces, length, 2 * length * sizeof(float)>>>(a, b, out);
// Limit: shared_bytes_per_block <= 768: two arrays of 96 floats, 4 bytes each, are all that a block needs here
// Limit: load_requests >= 24: the GPU has to read both arrays, 3 warps in each of 4 pieces
// Notice: The unit is the byte, and there's only one array: where the second part begins is your arithmetic, and
//   nothing on a GPU checks it.
// GPU: A tile size that's known only at the launch has a price: on an H200, lesson 02's product with tiles of 32
//   takes {ms 02_tiled_matmul "kernel=tiled_matmul_dynamic shape=4096 x 4096 x 4096 tile=32"}, and {ms 02_tiled_matmul
//   "kernel=tiled_matmul shape=4096 x 4096 x 4096 tile=32"} if the compiler knows the 32.
