// Pieces of `from` are loaded whole, also the one past the end.
// expect: copy_part findings out-of-bounds
// points: copy_part 5..85
#include "homework.cuh"

// Pieces of 16 bytes are stored where `to` is aligned. The words of piece i lie in two aligned pieces of `from`, i and
// i + 1, shifted by 0 to 3 words. Each lane loads one piece and gets what it needs of the next from the lane beside it.
__global__ void copy_part(const float* from, float* to, int n, int head) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int pieces = (n - head) / 4;  // whole ones, after to[head - 1]
  const int shift = (reinterpret_cast<size_t>(from + head) / sizeof(float)) % 4;

  // Piece i of `from`. Of the first and of the last one maybe not all words are ours.
  const auto load = [&](int i) {
    const int k = head - shift + 4 * i;
    if (k < n) return *reinterpret_cast<const float4*>(from + k);
    const auto word = [&](int w) { return w >= 0 && w < n ? from[w] : 0.0f; };
    return make_float4(word(k), word(k + 1), word(k + 2), word(k + 3));
  };
  const float4 a = load(t);
  float4 b;
  b.x = __shfl_down_sync(0xffffffffu, a.x, 1);  // the whole warp, also lanes past the end
  b.y = __shfl_down_sync(0xffffffffu, a.y, 1);
  b.z = __shfl_down_sync(0xffffffffu, a.z, 1);
  if (shift != 0 && threadIdx.x % 32 == 31) b = load(t + 1);  // it has no neighbour
  if (t < pieces)
    *reinterpret_cast<float4*>(to + head + 4 * t) = shift == 0   ? a
                                                    : shift == 1 ? make_float4(a.y, a.z, a.w, b.x)
                                                    : shift == 2 ? make_float4(a.z, a.w, b.x, b.y)
                                                                 : make_float4(a.w, b.x, b.y, b.z);
  if (t < head) to[t] = from[t];
  const int tail = head + 4 * pieces + t;
  if (tail < n) to[tail] = from[tail];  // up to three threads
}

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  const int past = reinterpret_cast<size_t>(to) / sizeof(float) % 4;  // words past a multiple of 16 bytes
  const int head = min(n, (4 - past) % 4);
  copy_part<<<(n + 1023) / 1024, 256, 0, stream>>>(from, to, n, head);
  return cudaGetLastError();
}
