// Running sums along the rows of a matrix, through tiles in shared memory: one job, and every way
// in which a tile of 32 x 32 words can lie in the 32 banks of shared memory. Then windows that
// begin every `stride` words, for all strides; and the matrix product of chapter 02 with padding
// that cures nothing.
//
//   in, out: rows x cols    float, row-major: element (r, c) is at [r * cols + c]
//   out[r][c] = in[r][0] + in[r][1] + ... + in[r][c], in this order in every kernel: always the
//   same bits
//
// Any rows and cols. `in` and `out` must not overlap. A block is one warp and owns 32 rows, one per
// lane. The launch bounds say so: then the compiler gives a thread registers enough for 32 loads
// under way.
//
// Loops that walk along a row carry `#pragma unroll 1`, so that every layout does the same in the
// same order: a load, an addition, a store. Unrolled, nvcc moves loads in front of earlier stores
// where it can tell that they touch different words, which it can with padding and cannot with a
// swizzle, and a comparison would be about that.
#pragma once

#include <cuda_runtime.h>

// [running_sums_direct]
/// No tile: each lane walks along its row in global memory. The 32 words of a step are `cols`
/// apart, each in a sector of its own. Blocks of 32 threads, a thread per row.
__global__ void __launch_bounds__(32)
    running_sums_direct(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) return;

  const size_t first = static_cast<size_t>(row) * cols;
  float sum = 0.0f;
#pragma unroll 1
  for (int c = 0; c < cols; ++c) {
    sum += in[first + c];
    out[first + c] = sum;
  }
}
// [running_sums_direct]

// [running_sums_tile]
/// Through a tile: the warp fills it by rows, each lane walks along its own row, and the warp
/// drains it by rows. Global memory is read and written by rows only. But the 32 words of a step of
/// the walk are 32 apart: all in one bank. Blocks of 32 threads, 32 rows of the matrix per block.
__global__ void __launch_bounds__(32)
    running_sums_tile(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  __shared__ float tile[32][32];  // tile[i][j] = in[r0 + i][c0 + j], then its running sum
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;  // of row r0 + lane, so far

  for (int c0 = 0; c0 < cols; c0 += 32) {
    float word[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {  // fill: lane j on column j, all 32 loads on their way at once
      const bool inside = r0 + i < rows && c0 + lane < cols;
      word[i] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + lane] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) tile[i][lane] = word[i];
    __syncthreads();  // filled before walked

#pragma unroll 1
    for (int j = 0; j < 32; ++j) {  // walk: lane i on row i, so the warp is on column j
      sum += tile[lane][j];
      tile[lane][j] = sum;
    }
    __syncthreads();  // walked before drained

#pragma unroll
    for (int i = 0; i < 32; ++i) {  // drain: lane j on column j again
      const bool inside = r0 + i < rows && c0 + lane < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + lane] = tile[i][lane];
    }
    // No third barrier: each word is refilled by the very lane that has just drained it.
  }
}
// [running_sums_tile]

// [running_sums_extra_row]
/// Padding in the wrong dimension, as it is often printed: a 33rd row that is never used. Element
/// (i, j) is at 32 i + j as before, in the same bank as before.
/// Blocks of 32 threads, 32 rows of the matrix per block.
__global__ void __launch_bounds__(32)
    running_sums_extra_row(const float* __restrict__ in, float* __restrict__ out, int rows,
                           int cols) {
  __shared__ float tile[33][32];  // the rest is running_sums_tile(), word for word
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 32) {
    float word[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      word[i] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + lane] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) tile[i][lane] = word[i];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 32; ++j) {
      sum += tile[lane][j];
      tile[lane][j] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + lane] = tile[i][lane];
    }
  }
}
// [running_sums_extra_row]

/// Rows of 33 words for 32 columns: element (i, j) is at 33 i + j, in bank (i + j) mod 32. A row
/// takes all banks, and a column does, too.
/// Blocks of 32 threads, 32 rows of the matrix per block.
__global__ void __launch_bounds__(32)
    running_sums_padded(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  // [padded_rows]
  __shared__ float tile[32][33];  // tile[i][j] = in[r0 + i][c0 + j]; tile[i][32] is never used
  // [padded_rows]
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 32) {
    float word[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      word[i] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + lane] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) tile[i][lane] = word[i];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 32; ++j) {
      sum += tile[lane][j];
      tile[lane][j] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + lane] = tile[i][lane];
    }
  }
}

// [running_sums_transposed]
/// The tile is stored transposed: what was a column is a row. Now the walk has no conflicts, and
/// fill and drain have all of them. (nvcc sees that a lane stores four neighbouring words one after
/// another, and stores 16 bytes at once.) Blocks of 32 threads, 32 rows of the matrix per block.
__global__ void __launch_bounds__(32)
    running_sums_transposed(const float* __restrict__ in, float* __restrict__ out, int rows,
                            int cols) {
  __shared__ float tile[32][32];  // tile[j][i] = in[r0 + i][c0 + j]
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 32) {
    float word[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      word[i] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + lane] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) tile[lane][i] = word[i];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 32; ++j) {
      sum += tile[j][lane];
      tile[j][lane] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + lane] = tile[lane][i];
    }
  }
}
// [running_sums_transposed]

// [running_sums_swizzled]
/// No word wasted: column j of row i is stored at column j ^ i (exclusive or). Along a row that is
/// all 32 columns in another order, down a column too. Blocks of 32 threads, 32 rows of the matrix
/// per block.
__global__ void __launch_bounds__(32)
    running_sums_swizzled(const float* __restrict__ in, float* __restrict__ out, int rows,
                          int cols) {
  __shared__ float tile[32][32];  // tile[i][j ^ i] = in[r0 + i][c0 + j]
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 32) {
    float word[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      word[i] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + lane] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) tile[i][lane ^ i] = word[i];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 32; ++j) {
      sum += tile[lane][j ^ lane];
      tile[lane][j ^ lane] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + lane] = tile[i][lane ^ i];
    }
  }
}
// [running_sums_swizzled]

// [running_sums_wide]
/// The running sums of 2 or 4 words, begun with `sum`; returns the last of them.
__device__ inline float running_sums_of(float2& words, float sum) {
  words.x += sum;
  words.y += words.x;
  return words.y;
}
__device__ inline float running_sums_of(float4& words, float sum) {
  words.x += sum;
  words.y += words.x;
  words.z += words.y;
  words.w += words.z;
  return words.w;
}

/// The walk takes a float2 or float4 at a time. A row of the tile is PITCH words, which must be
/// whole vectors: only then does each row begin where a vector may begin. Without conflicts if
/// PITCH is an odd number of vectors. Blocks of 32 threads, 32 rows of the matrix per block.
template <class Vector, int PITCH>
__global__ void __launch_bounds__(32)
    running_sums_wide(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  constexpr int WORDS = sizeof(Vector) / sizeof(float);
  static_assert(PITCH >= 32 && PITCH % WORDS == 0,
                "a row must be whole vectors, or the second row is misaligned");
  __shared__ Vector tile[32][PITCH / WORDS];  // word j of row i = in[r0 + i][c0 + j]
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 32) {
    float word[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      word[i] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + lane] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) reinterpret_cast<float*>(tile[i])[lane] = word[i];
    __syncthreads();

#pragma unroll 1
    for (int u = 0; u < 32 / WORDS; ++u) {
      Vector words = tile[lane][u];  // one instruction of 8 or 16 bytes per lane
      sum = running_sums_of(words, sum);
      tile[lane][u] = words;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const bool inside = r0 + i < rows && c0 + lane < cols;
      if (inside) {
        out[static_cast<size_t>(r0 + i) * cols + c0 + lane] =
            reinterpret_cast<const float*>(tile[i])[lane];
      }
    }
  }
}
// [running_sums_wide]

// [running_sums_narrow]
/// A tile of 16 columns, half the shared memory. Fill and drain take two rows of 16 words at a
/// time, so that no lane is idle: a request for one warp covers two rows of the tile.
/// Blocks of 32 threads, 32 rows of the matrix per block.
template <int PITCH>
__global__ void __launch_bounds__(32)
    running_sums_narrow(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  __shared__ float tile[32][PITCH];  // tile[i][j] = in[r0 + i][c0 + j], j < 16
  const int lane = threadIdx.x;
  const int half = lane / 16, column = lane % 16;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 16) {
    float word[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = 2 * k + half;
      const bool inside = r0 + i < rows && c0 + column < cols;
      word[k] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + column] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) tile[2 * k + half][column] = word[k];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 16; ++j) {
      sum += tile[lane][j];
      tile[lane][j] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = 2 * k + half;
      const bool inside = r0 + i < rows && c0 + column < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + column] = tile[i][column];
    }
  }
}
// [running_sums_narrow]

// [running_sums_narrow_padded]
/// The cure for two rows per request: one unused word after every 32, not after every row. A pair
/// of rows then fills the 32 banks, and each pair begins one bank further on. Blocks of 32 threads,
/// 32 rows of the matrix per block.
__global__ void __launch_bounds__(32)
    running_sums_narrow_padded(const float* __restrict__ in, float* __restrict__ out, int rows,
                               int cols) {
  __shared__ float tile[32 * 16 + 15];  // tile[16 i + j + i / 2] = in[r0 + i][c0 + j], j < 16
  const auto place = [](int i, int j) { return 16 * i + j + i / 2; };
  const int lane = threadIdx.x;
  const int half = lane / 16, column = lane % 16;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 16) {
    float word[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = 2 * k + half;
      const bool inside = r0 + i < rows && c0 + column < cols;
      word[k] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + column] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) tile[place(2 * k + half, column)] = word[k];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 16; ++j) {
      sum += tile[place(lane, j)];
      tile[place(lane, j)] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = 2 * k + half;
      const bool inside = r0 + i < rows && c0 + column < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + column] = tile[place(i, column)];
    }
  }
}
// [running_sums_narrow_padded]

// [running_sums_narrow_swizzled]
/// The same cure without a wasted word. Rows 0, 2, 4 ... share 16 banks, and rows 1, 3, 5 ... the
/// others, so it is the number of the pair that must permute the columns: j ^ (i / 2). With
/// j ^ (i % 16) the even rows would have even numbers only, and 2-way conflicts would be left.
/// Blocks of 32 threads, 32 rows of the matrix per block.
__global__ void __launch_bounds__(32)
    running_sums_narrow_swizzled(const float* __restrict__ in, float* __restrict__ out, int rows,
                                 int cols) {
  __shared__ float tile[32][16];  // tile[i][j ^ (i / 2)] = in[r0 + i][c0 + j]
  const int lane = threadIdx.x;
  const int half = lane / 16, column = lane % 16;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;

  for (int c0 = 0; c0 < cols; c0 += 16) {
    float word[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = 2 * k + half;
      const bool inside = r0 + i < rows && c0 + column < cols;
      word[k] = inside ? in[static_cast<size_t>(r0 + i) * cols + c0 + column] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) tile[2 * k + half][column ^ k] = word[k];
    __syncthreads();

#pragma unroll 1
    for (int j = 0; j < 16; ++j) {
      sum += tile[lane][j ^ (lane / 2)];
      tile[lane][j ^ (lane / 2)] = sum;
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = 2 * k + half;
      const bool inside = r0 + i < rows && c0 + column < cols;
      if (inside) out[static_cast<size_t>(r0 + i) * cols + c0 + column] = tile[i][column ^ (i / 2)];
    }
  }
}
// [running_sums_narrow_swizzled]

// [window_sums]
__device__ inline float sum_of(float word) { return word; }
__device__ inline float sum_of(float2 words) { return words.x + words.y; }
__device__ inline float sum_of(float4 words) { return (words.x + words.y) + (words.z + words.w); }

/// 32 windows of 32 elements that begin `stride` elements apart, as wide as T is: lane i adds up
/// window i, `rounds` times over, since once would be over before it could be timed. At every step
/// the lanes' words are `stride` elements apart, and nothing but shared memory is busy.
///
///   in: 31 * stride + 32 elements of T    out: gridDim.x * blockDim.x words; thread t of the grid
///   writes out[t], `rounds` times the sum of window t mod 32
///
/// Blocks of a multiple of 32 threads. Dynamic shared memory: the bytes of `in`.
template <class T>
__global__ void window_sums(const T* __restrict__ in, float* __restrict__ out, int stride,
                            int rounds) {
  extern __shared__ float4 room[];  // float4: aligned for every T
  T* words = reinterpret_cast<T*>(room);
  for (int i = threadIdx.x; i < 31 * stride + 32; i += blockDim.x) words[i] = in[i];
  __syncthreads();

  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
#pragma unroll 1
  for (int step = 0; step < 32 * rounds; step += 8) {
    const T* eight = words + lane * stride + step % 32;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += sum_of(eight[k]);
  }
  out[static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
// [window_sums]

// [tiled_matmul_padded]
/// tiled_matmul() of chapter 02 with PAD unused words at the end of each row of both tiles. There
/// was no conflict to cure: As[ty][k] is one word for all lanes of a row of threads, and Bs[k][tx]
/// is a row.
///   A: M x K    B: K x N    C: M x N     row-major
/// Blocks of (TILE, TILE) threads; grid: x covers the N columns, y the M rows.
template <int TILE, int PAD>
__global__ void tiled_matmul_padded(const float* __restrict__ A,  // M x K
                                    const float* __restrict__ B,  // K x N
                                    float* __restrict__ C,        // M x N
                                    int M, int N, int K) {
  __shared__ float As[TILE][TILE + PAD];  // As[i][k] = A[block's first row + i][k0 + k]
  __shared__ float Bs[TILE][TILE + PAD];  // Bs[k][j] = B[k0 + k][block's first column + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;
  float sum = 0.0f;

  const int tiles = (K + TILE - 1) / TILE;
  for (int t = 0; t < tiles; ++t) {
    const int k0 = t * TILE;
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < TILE; ++k) {
      sum += As[ty][k] * Bs[k][tx];
    }
    __syncthreads();
  }

  if (row < M && col < N) C[row * N + col] = sum;
}
// [tiled_matmul_padded]

/// True when an int holds every row and column that the kernels compute, those past the edges
/// included.
constexpr bool running_sums_fits(int rows, int cols) {
  constexpr int most = 1 << 30;
  return rows >= 0 && cols >= 0 && rows <= most && cols <= most;
}

using RunningSumsKernel = void (*)(const float*, float*, int, int);

// [launch]
/// Starts one of the running_sums kernels, a block for 32 rows. An empty matrix is no error; a size
/// that cannot be is cudaErrorInvalidValue. `unused_bytes` of dynamic shared memory are asked for
/// and not used: what that does to the number of blocks on an SM is a question of this chapter.
/// More than the device gives by default needs cudaFuncAttributeMaxDynamicSharedMemorySize to be
/// set.
inline cudaError_t launch_running_sums(RunningSumsKernel kernel, const float* in, float* out,
                                       int rows, int cols, cudaStream_t stream = nullptr,
                                       size_t unused_bytes = 0) {
  if (!running_sums_fits(rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;  // a grid of 0 blocks is an error
  kernel<<<(rows + 31) / 32, 32, unused_bytes, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
// [launch]

/// Elements that window_sums() reads, and keeps in shared memory.
constexpr size_t window_sums_elements(int stride) { return size_t{31} * stride + 32; }

/// Starts window_sums<T>() with `blocks` blocks of `threads` threads, a multiple of 32. Strides 1
/// to 64: the words of larger ones may not fit into the shared memory of a block.
template <class T>
cudaError_t launch_window_sums(const T* in, float* out, int stride, int rounds, int blocks,
                               int threads, cudaStream_t stream = nullptr) {
  if (stride < 1 || stride > 64 || rounds < 0 || rounds > 1 << 20) return cudaErrorInvalidValue;
  if (blocks < 0 || threads < 32 || threads % 32 != 0) return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  window_sums<<<blocks, threads, window_sums_elements(stride) * sizeof(T), stream>>>(
      in, out, stride, rounds);
  return cudaGetLastError();
}

/// Starts tiled_matmul_padded(); sizes as for launch_tiled_matmul() of chapter 02.
template <int TILE, int PAD>
cudaError_t launch_tiled_matmul_padded(const float* A, const float* B, float* C, int M, int N,
                                       int K, cudaStream_t stream = nullptr) {
  static_assert(TILE >= 1 && TILE * TILE <= 1024 && PAD >= 0, "one thread per element");
  // so that `row`, `col` and `k0 + tx` fit in an int also past the edges
  constexpr int most = 1 << 30;
  constexpr long long elements = 1LL << 31;
  if (M < 0 || N < 0 || K < 0 || M > most || N > most || K > most) return cudaErrorInvalidValue;
  if (1LL * M * K >= elements || 1LL * K * N >= elements || 1LL * M * N >= elements)
    return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  tiled_matmul_padded<TILE, PAD><<<blocks, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
