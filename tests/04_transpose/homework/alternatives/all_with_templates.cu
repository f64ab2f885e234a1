// All tasks with templates, structs and cooperative groups.
// One tile type for all three; triangular numbers; 64-bit indices.
#include "homework.cuh"

#include <cmath>
#include <cstdint>

using index_t = std::int64_t;

template <int Side>
class Tile {
 public:
  __device__ float& row(int i, int j) { return words_[i * Side + ((j + i) % Side)]; }  // rotated rows instead of padding

 private:
  float words_[Side * Side];
};

// B by its own rows and columns: B[j][c] = A[rows - 1 - c][j].
__global__ void __launch_bounds__(512) rotate(const float* __restrict__ A, float* __restrict__ B, int rows, int cols) {
  __shared__ Tile<32> tile;  // tile(i, j): A[rows - 1 - (b0 + i)][j0 + j]
  const int lane = threadIdx.x, warp = threadIdx.y;
  const index_t b0 = index_t(blockIdx.x) * 32, j0 = index_t(blockIdx.y) * 32;
  for (int i = warp; i < 32; i += 16) {
    const index_t r = rows - 1 - (b0 + i), c = j0 + lane;
    if (r >= 0 && c < cols) tile.row(i, lane) = A[r * cols + c];
  }
  __syncthreads();
  for (int j = warp; j < 32; j += 16) {
    const index_t r = j0 + j, c = b0 + lane;
    if (r < cols && c < rows) B[r * rows + c] = tile.row(lane, j);
  }
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<dim3((rows + 31) / 32, (cols + 31) / 32), dim3(32, 16), 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}

// Block t does the t-th pair of tiles of the lower triangle. 64 registers hold nothing: the tiles go through shared memory.
__global__ void swap_tiles(float* A, int n) {
  __shared__ Tile<32> mine, other;
  int row = int((std::sqrt(8.0 * blockIdx.x + 1.0) - 1.0) / 2.0);
  while (index_t(row) * (row + 1) / 2 > blockIdx.x) --row;
  while (index_t(row + 1) * (row + 2) / 2 <= blockIdx.x) ++row;
  const int col = int(blockIdx.x - index_t(row) * (row + 1) / 2);
  const int lane = threadIdx.x;
  const auto at = [=](int i, int j) -> float* { return i < n && j < n ? A + index_t(i) * n + j : nullptr; };
  for (int i = threadIdx.y; i < 32; i += blockDim.y) {
    if (float* p = at(row * 32 + i, col * 32 + lane)) mine.row(i, lane) = *p;
    if (row == col) continue;
    if (float* p = at(col * 32 + i, row * 32 + lane)) other.row(i, lane) = *p;
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += blockDim.y) {
    if (float* p = at(col * 32 + i, row * 32 + lane)) *p = mine.row(lane, i);
    if (row == col) continue;
    if (float* p = at(row * 32 + i, col * 32 + lane)) *p = other.row(lane, i);
  }
}

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  const unsigned tiles = (unsigned(n) + 31) / 32;
  swap_tiles<<<tiles * (tiles + 1) / 2, dim3(32, 4), 0, stream>>>(A, n);
  return cudaGetLastError();
}

// Few channels: every thread has a pixel and fetches its channels through a run of words in shared memory, with a pad
// after every 32. Many channels: tiles of 32 x 32.
__global__ void few(const float* in, float* out, index_t pixels, int channels) {
  extern __shared__ float run[];
  const auto pad = [](int w) { return w + w / 32; };
  const index_t p0 = index_t(blockIdx.x) * blockDim.x;
  const int words = int(pixels - p0 < blockDim.x ? pixels - p0 : blockDim.x) * channels;
  const float* from = in + (blockIdx.y * pixels + p0) * channels;
  for (int w = threadIdx.x; w < words; w += blockDim.x) run[pad(w)] = from[w];
  __syncthreads();
  const index_t p = p0 + threadIdx.x;
  if (p >= pixels) return;
  for (int c = 0; c < channels; ++c) out[(index_t(blockIdx.y) * channels + c) * pixels + p] = run[pad(threadIdx.x * channels + c)];
}

__global__ void many(const float* in, float* out, index_t pixels, int channels) {
  __shared__ float tile[32][33];
  const index_t p0 = index_t(blockIdx.x) * 32;
  const int c0 = blockIdx.y * 32, lane = threadIdx.x;
  in += blockIdx.z * pixels * channels;
  out += blockIdx.z * pixels * channels;
  for (int i = threadIdx.y; i < 32; i += 8)
    if (p0 + i < pixels && c0 + lane < channels) tile[i][lane] = in[(p0 + i) * channels + c0 + lane];
  __syncthreads();
  for (int c = threadIdx.y; c < 32; c += 8)
    if (c0 + c < channels && p0 + lane < pixels) out[(c0 + c) * pixels + p0 + lane] = tile[lane][c];
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels, cudaStream_t stream) {
  if (channels <= 16) {
    const int words = 256 * channels;
    few<<<dim3((pixels + 255) / 256, images), 256, (words + words / 32) * sizeof(float), stream>>>(in, out, pixels, channels);
  } else {
    many<<<dim3((pixels + 31) / 32, (channels + 31) / 32, images), dim3(32, 8), 0, stream>>>(in, out, pixels, channels);
  }
  return cudaGetLastError();
}
