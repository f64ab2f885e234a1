// One solution of the homework of chapter 05. `make solution-05` prints it.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Each thread has a run of words to itself, as on the cores of a CPU. That's slow here, and it loses words.

constexpr int BLOCKS = 4;  // however long the vectors are
constexpr int THREADS = 128;

__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  const int t = blockIdx.x * THREADS + threadIdx.x;  // 0 .. 511: this thread among those of all blocks
  const int share = n / (BLOCKS * THREADS);
  int first = t * share;
  int end = first + share;
  int step = 1;
  // All threads together do 512 neighbours, then the next 512: a grid-stride loop.
  first = t;
  step = BLOCKS * THREADS;
  end = n;

  for (int i = first; i < end; i += step) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<BLOCKS, THREADS, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// The mean of 2 x 2 words, in images of any width. You choose the block's shape.

constexpr int WIDE = 64;  // columns of `in` that a warp takes: 32 results
constexpr int HIGH = 8;   // rows of `out` in a block, one for each warp

// A warp reads 64 words of two rows in four requests of 32 neighbours, and adds the rows: that needs nobody's help.
// Which columns belong together matters only then, and in shared memory a stride of 2 costs nothing if both words are
// taken at once.
__global__ void halve(const float* in, float* out, int rows, int cols) {
  __shared__ __align__(8) float sums[HIGH][WIDE];  // sums[ty][j] = in[2i][col0 + j] + in[2i + 1][col0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int i = blockIdx.y * HIGH + ty;  // of out
  const int col0 = blockIdx.x * WIDE;
  for (int j = tx; j < WIDE; j += 32)
    if (i < rows / 2 && col0 + j < cols) sums[ty][j] = in[2 * i * cols + col0 + j] + in[(2 * i + 1) * cols + col0 + j];
  __syncwarp();  // a warp reads what it wrote itself; no other has its row
  const int j = col0 / 2 + tx;
  if (i < rows / 2 && j < cols / 2) {
    const float2 pair = reinterpret_cast<const float2*>(sums[ty])[tx];
    out[i * (cols / 2) + j] = 0.25f * (pair.x + pair.y);
  }
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows < 2 || cols < 2) return cudaSuccess;  // a grid of 0 blocks is an error
  const dim3 blocks((cols / 2 + WIDE / 2 - 1) / (WIDE / 2), (rows / 2 + HIGH - 1) / HIGH);
  halve<<<blocks, dim3(32, HIGH), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// A copy in pieces of 16 bytes, between arrays that aren't aligned alike.

// Pieces of 16 bytes are stored where `to` is aligned. The words of piece i lie in two aligned pieces of `from`, i and
// i + 1, shifted by 0 to 3 words. Each lane loads one piece and gets what it needs of the next from the lane beside it.
__global__ void copy_part(const float* from, float* to, int n, int head) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int pieces = (n - head) / 4;  // whole ones, after to[head - 1]
  const int shift = (reinterpret_cast<size_t>(from + head) / sizeof(float)) % 4;

  // Piece i of `from`. Of the first and of the last one maybe not all words are ours.
  const auto load = [&](int i) {
    const int k = head - shift + 4 * i;
    if (k >= 0 && k + 4 <= n) return *reinterpret_cast<const float4*>(from + k);
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
