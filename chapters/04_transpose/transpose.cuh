// out = transpose of in: no arithmetic at all, so what you measure is the way to memory and back,
// and nothing else.
//
//   in: rows x cols    out: cols x rows
//   float, row-major: element (r, c) of in is at in[r * cols + c]
//
// Any rows and cols. `in` and `out` must not overlap. Positions are size_t: no matrix is too large
// for them.
#pragma once

#include <cuda_runtime.h>

// [copy_matrix]
/// No transpose: the same words in the same order, a word per thread. A transpose reads and writes
/// as much. Blocks of (32, 8) threads; grid: x covers the columns, y the rows.
__global__ void copy_matrix(const float* __restrict__ in,  // rows x cols
                            float* __restrict__ out,       // rows x cols
                            int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;

  const size_t at = static_cast<size_t>(row) * cols + col;
  out[at] = in[at];
}
// [copy_matrix]

// [copy_vectorised]
/// The same copy, four words per thread. A warp asks for 512 bytes at once instead of 128, so four
/// times as many bytes are in flight at any time. This is as fast as the device's own copy: the
/// ceiling of this chapter. Blocks of 256 threads in a row, enough for one float4 each. Both
/// matrices must be aligned to 16 bytes.
__global__ void copy_vectorised(const float* __restrict__ in,  // count words
                                float* __restrict__ out,       // count words
                                size_t count) {
  const size_t first = 4 * (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first + 4 <= count) {
    *reinterpret_cast<float4*>(out + first) = *reinterpret_cast<const float4*>(in + first);
  } else {
    // the last thread with work: up to three words
    for (size_t at = first; at < count; ++at) out[at] = in[at];
  }
}
// [copy_vectorised]

// [transpose_strided_write]
/// Reads coalesced, writes strided: a warp reads 32 neighbours of a row of `in`, 4 sectors, and
/// writes them one below the other, into 32 sectors.
/// Blocks of (32, 8) threads; grid: x covers the columns of `in`, y its rows.
__global__ void transpose_strided_write(const float* __restrict__ in,  // rows x cols
                                        float* __restrict__ out,       // cols x rows
                                        int rows, int cols) {
  // neighbours in a warp: neighbours in `in`
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;

  out[static_cast<size_t>(col) * rows + row] = in[static_cast<size_t>(row) * cols + col];
}
// [transpose_strided_write]

// [transpose_strided_read]
/// Reads strided, writes coalesced: a warp writes 32 neighbours of a row of `out`, and reads them
/// from 32 rows of `in`. Blocks of (32, 8) threads; grid: x covers the rows of `in`, y its columns.
__global__ void transpose_strided_read(const float* __restrict__ in,  // rows x cols
                                       float* __restrict__ out,       // cols x rows
                                       int rows, int cols) {
  // neighbours in a warp: neighbours in `out`
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;

  out[static_cast<size_t>(col) * rows + row] = in[static_cast<size_t>(row) * cols + col];
}
// [transpose_strided_read]

// [transpose_tile]
/// Both sides coalesced: a block reads a tile row by row into shared memory, takes it out column by
/// column and writes rows again. Only the loads from shared memory are strided now: all words of a
/// column of `tile` are in one bank (TILE = 32) or in two (TILE = 16).
/// Blocks of (TILE, TILE) threads; grid: x covers the columns of `in`, y its rows.
template <int TILE>
__global__ void transpose_tile(const float* __restrict__ in,  // rows x cols
                               float* __restrict__ out,       // cols x rows
                               int rows, int cols) {
  __shared__ float tile[TILE][TILE];  // tile[i][j] = in[r0 + i][c0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int r0 = blockIdx.y * TILE;  // the tile's first row in `in`: its first column in `out`
  const int c0 = blockIdx.x * TILE;

  if (r0 + ty < rows && c0 + tx < cols) {
    tile[ty][tx] = in[static_cast<size_t>(r0 + ty) * cols + c0 + tx];
  }
  __syncthreads();  // a thread takes out what another thread put in

  // tx runs along a row of `out`, which is a column of the tile. The two guards are not the same:
  // here tx counts rows.
  if (c0 + ty < cols && r0 + tx < rows) {
    out[static_cast<size_t>(c0 + ty) * rows + r0 + tx] = tile[tx][ty];
  }
}
// [transpose_tile]

// [transpose_padded]
/// The same with rows of TILE + 1 words: the words of a column move one bank further from row to
/// row, and the 32 of them lie in 32 banks. With TILE = 16 a warp takes two columns of 16, and one
/// bank still has to serve two words. Blocks of (TILE, TILE) threads; grid: x covers the columns of
/// `in`, y its rows.
template <int TILE>
__global__ void transpose_padded(const float* __restrict__ in,  // rows x cols
                                 float* __restrict__ out,       // cols x rows
                                 int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];  // one word more per row; the last column is never used
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int r0 = blockIdx.y * TILE;
  const int c0 = blockIdx.x * TILE;

  if (r0 + ty < rows && c0 + tx < cols) {
    tile[ty][tx] = in[static_cast<size_t>(r0 + ty) * cols + c0 + tx];
  }
  __syncthreads();

  if (c0 + ty < cols && r0 + tx < rows) {
    out[static_cast<size_t>(c0 + ty) * rows + r0 + tx] = tile[tx][ty];
  }
}
// [transpose_padded]

// [transpose_swizzled]
/// No padding: row i of the tile is stored with its columns permuted, column j at index j ^ i
/// (exclusive or). Down a column, j ^ i is different in every row, so the words of a column lie in
/// different banks. No word of shared memory is wasted, and rows stay aligned. Right for every
/// power of two; free of conflicts for 16 and 32. Blocks of (TILE, TILE) threads; grid: x covers
/// the columns of `in`, y its rows.
template <int TILE>
__global__ void transpose_swizzled(const float* __restrict__ in,  // rows x cols
                                   float* __restrict__ out,       // cols x rows
                                   int rows, int cols) {
  static_assert((TILE & (TILE - 1)) == 0, "j ^ i stays below TILE only if TILE is a power of two");
  __shared__ float tile[TILE][TILE];  // tile[i][j ^ i] = in[r0 + i][c0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int r0 = blockIdx.y * TILE;
  const int c0 = blockIdx.x * TILE;

  if (r0 + ty < rows && c0 + tx < cols) {
    tile[ty][tx ^ ty] = in[static_cast<size_t>(r0 + ty) * cols + c0 + tx];
  }
  __syncthreads();

  if (c0 + ty < cols && r0 + tx < rows) {
    out[static_cast<size_t>(c0 + ty) * rows + r0 + tx] = tile[tx][ty ^ tx];
  }
}
// [transpose_swizzled]

// [transpose_coarsened]
/// A thread moves eight words instead of one. Its eight loads don't wait for one another, so eight
/// times as many bytes are in flight, and the index arithmetic around them is done once for eight
/// words. Blocks of (32, 4) threads for a tile of 32 x 32; grid: x covers the columns of `in`, y
/// its rows.
__global__ void transpose_coarsened(const float* __restrict__ in,  // rows x cols
                                    float* __restrict__ out,       // cols x rows
                                    int rows, int cols) {
  constexpr int TILE = 32;
  constexpr int STEP = 4;             // rows of the tile that the block moves at a time
  __shared__ float tile[TILE][TILE];  // tile[i][j ^ i] = in[r0 + i][c0 + j]
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int r0 = blockIdx.y * TILE;
  const int c0 = blockIdx.x * TILE;

  float word[TILE / STEP];
#pragma unroll
  for (int k = 0; k < TILE / STEP; ++k) {
    const int i = ty + k * STEP;
    if (r0 + i < rows && c0 + tx < cols) word[k] = in[static_cast<size_t>(r0 + i) * cols + c0 + tx];
  }
  // A loop of its own: all loads are in flight before the thread waits for the first.
#pragma unroll
  for (int k = 0; k < TILE / STEP; ++k) {
    const int i = ty + k * STEP;
    if (r0 + i < rows && c0 + tx < cols) tile[i][tx ^ i] = word[k];
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < TILE / STEP; ++k) {
    const int j = ty + k * STEP;
    if (c0 + j < cols && r0 + tx < rows)
      out[static_cast<size_t>(c0 + j) * rows + r0 + tx] = tile[tx][j ^ tx];
  }
}
// [transpose_coarsened]

/// In which order blocks take the tiles of `in`, and so which tiles are read and written at the
/// same time.
enum class TileOrder { rows, columns };

// [load_evict_last]
/// Loads four words with two cache hints for L2, which change nothing but the time (GPUs before
/// Ampere have neither). evict_last: when L2 needs room, these words are the last to go, so lines
/// that were written go earlier. L2::256B: a miss makes DRAM fetch the 256 bytes around the words,
/// for a neighbour will want the rest. `from` must be aligned to 16 bytes.
__device__ inline float4 load_evict_last(const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(TILEWISE_SIMULATOR)
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float4 v;
  asm("ld.global.nc.L2::cache_hint.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(from), "l"(policy));
  return v;
#else
  return *reinterpret_cast<const float4*>(from);
#endif
}
// [load_evict_last]

// [copy_evict_last]
/// copy_vectorised() with these hints.
__global__ void copy_evict_last(const float* __restrict__ in,  // count words
                                float* __restrict__ out,       // count words
                                size_t count) {
  const size_t first = 4 * (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first + 4 <= count) {
    *reinterpret_cast<float4*>(out + first) = load_evict_last(in + first);
  } else {
    for (size_t at = first; at < count; ++at) out[at] = in[at];
  }
}
// [copy_evict_last]

// [transpose_vectorised]
/// A tile of 64 x 64 in pieces of 4 x 4, one per thread: four float4 from four rows of `in` are,
/// seen by columns, four float4 of four rows of `out`. That transposes the piece at no cost, since
/// registers have no order. Shared memory then only has to exchange whole float4 between threads,
/// again swizzled, in units of 16 bytes.
///
/// Needs rows and cols that are multiples of 4, and both matrices aligned to 16 bytes.
/// Blocks of (16, 16) threads, one per tile, all in x. Down a column of tiles of `in`, blocks that
/// run at the same time write neighbouring pieces of the same rows of `out`; along a row, they read
/// them. EVICT_LAST: loads with load_evict_last().
template <TileOrder ORDER, bool EVICT_LAST = false>
__global__ void __launch_bounds__(256)
    transpose_vectorised(const float* __restrict__ in,  // rows x cols
                         float* __restrict__ out,       // cols x rows
                         int rows, int cols) {
  constexpr int TILE = 64;
  constexpr int UNITS = TILE / 4;  // float4 per row of the tile
  // tile[j][u ^ (j / 4 % 8)] = in[r0 + 4u .. r0 + 4u + 3][c0 + j]
  __shared__ float4 tile[TILE][UNITS];
  // how many tiles are taken before the next line of them
  const int line = ((ORDER == TileOrder::rows ? cols : rows) + TILE - 1) / TILE;
  const int first = static_cast<int>(blockIdx.x % line) * TILE;
  const int second = static_cast<int>(blockIdx.x / line) * TILE;
  const int r0 = ORDER == TileOrder::rows ? second : first;
  const int c0 = ORDER == TileOrder::rows ? first : second;
  const int x = threadIdx.x;  // 0 .. 15
  const int y = threadIdx.y;  // 0 .. 15

  // Four loads of 16 bytes in flight per thread; 16 neighbours in x read 256 bytes of a row.
  const int row = r0 + 4 * y;
  const int col = c0 + 4 * x;
  // rows and cols are multiples of 4: a piece is inside or outside, never across
  if (row < rows && col < cols) {
    const auto load = [](const float* p) {
      return EVICT_LAST ? load_evict_last(p) : *reinterpret_cast<const float4*>(p);
    };
    const float* from = in + static_cast<size_t>(row) * cols + col;
    const float4 a = load(from);
    const float4 b = load(from + cols);
    const float4 c = load(from + 2 * static_cast<size_t>(cols));
    const float4 d = load(from + 3 * static_cast<size_t>(cols));

    const int u = y ^ (x % 8);  // eight neighbours, eight different groups of four banks
    tile[4 * x + 0][u] = make_float4(a.x, b.x, c.x, d.x);
    tile[4 * x + 1][u] = make_float4(a.y, b.y, c.y, d.y);
    tile[4 * x + 2][u] = make_float4(a.z, b.z, c.z, d.z);
    tile[4 * x + 3][u] = make_float4(a.w, b.w, c.w, d.w);
  }
  __syncthreads();

  // Now x runs along a row of `out`: 16 neighbours write 256 bytes of it.
#pragma unroll
  for (int j = y; j < TILE; j += UNITS) {
    const int out_row = c0 + j;
    const int out_col = r0 + 4 * x;
    if (out_row < cols && out_col < rows) {
      *reinterpret_cast<float4*>(out + static_cast<size_t>(out_row) * rows + out_col) =
          tile[j][x ^ (j / 4 % 8)];
    }
  }
}
// [transpose_vectorised]

// [move_tiles]
/// No transpose: tiles of 64 x 64 go where their transposes belong, and their words stay in order.
/// Memory sees the very accesses of transpose_vectorised() with EVICT_LAST, but no tile is
/// transposed, and no thread waits at a barrier. So this shows how fast a transpose can be that
/// takes its tiles in this order. Needs rows and cols that are multiples of 64, and both matrices
/// aligned to 16 bytes. Blocks as there.
__global__ void __launch_bounds__(256) move_tiles(const float* __restrict__ in,  // rows x cols
                                                  float* __restrict__ out,       // cols x rows
                                                  int rows, int cols) {
  constexpr int TILE = 64;
  constexpr int STEP = 16;  // rows of the tile that the block moves at a time
  const int tile_rows = rows / TILE;
  const int r0 = static_cast<int>(blockIdx.x % tile_rows) * TILE;
  const int c0 = static_cast<int>(blockIdx.x / tile_rows) * TILE;
  const int x = 4 * threadIdx.x;
  const int y = threadIdx.y;

  float4 piece[TILE / STEP];
#pragma unroll
  for (int k = 0; k < TILE / STEP; ++k)
    piece[k] = load_evict_last(in + static_cast<size_t>(r0 + y + k * STEP) * cols + c0 + x);
#pragma unroll
  for (int k = 0; k < TILE / STEP; ++k) {
    float* to = out + static_cast<size_t>(c0 + y + k * STEP) * rows + r0 + x;
    *reinterpret_cast<float4*>(to) = piece[k];
  }
}
// [move_tiles]

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define TRANSPOSE_RAGGED_BLOCKS 2  // an SM of Turing holds 1,024 threads
#else
#define TRANSPOSE_RAGGED_BLOCKS 3
#endif

// [transpose_ragged]
/// Any size. If rows isn't a multiple of 8, every row of `out` starts at a different position in a
/// 32-byte sector, and a tile with straight edges cuts sectors in two: two blocks then write a part
/// each. So the tile gets a ragged edge: each row of `out` is cut where a sector starts, and one
/// block writes every sector whole. The block also reads the 8 rows above its tile, since the cut
/// is up to 7 words further up.
///
/// Rows of `in` start anywhere as well, and a float4 can be read from multiples of 16 bytes only:
/// 17 float4 cover 64 words wherever these start. They go into shared memory as they come; a thread
/// that takes words out adds the shift of their row.
///
/// Blocks of 512 threads, one per tile, all in x, down a column of tiles first; three of them fit
/// on an SM.
__global__ void __launch_bounds__(512, TRANSPOSE_RAGGED_BLOCKS)
    transpose_ragged(const float* __restrict__ in,  // rows x cols
                     float* __restrict__ out,       // cols x rows
                     int rows, int cols) {
  constexpr int HEIGHT = 128;              // words that a block writes of each row of `out`
  constexpr int WIDTH = 64;                // rows of `out` that it writes to
  constexpr int SECTOR = 8;                // words
  constexpr int LOADED = HEIGHT + SECTOR;  // rows of `in` that it needs for that
  constexpr int PIECES = WIDTH / 4 + 1;    // float4 that it reads of each
  constexpr int THREADS = 512;
  constexpr int LOADS = (LOADED * PIECES + THREADS - 1) / THREADS;
  // row i is at [i % 4][i / 4]: neighbours in i / 4 have other banks
  __shared__ float4 tile[4][LOADED / 4][PIECES];
  const int tile_rows = (rows + SECTOR - 1 + HEIGHT - 1) / HEIGHT;
  // r0 is -8 in the first row of tiles
  const int r0 = static_cast<int>(blockIdx.x % tile_rows) * HEIGHT - SECTOR;
  const int c0 = static_cast<int>(blockIdx.x / tile_rows) * WIDTH;
  const long long count = static_cast<long long>(rows) * cols;
  // where the tile starts in `in`: perhaps before it
  const long long begin = static_cast<long long>(r0) * cols + c0;

  // Words between a multiple of 16 bytes and the first word of row i. Unsigned numbers wrap around,
  // and stay right mod 4.
  const unsigned before =
      static_cast<unsigned>(reinterpret_cast<size_t>(in) / sizeof(float) + begin);
  const auto shift = [&](int i) {
    return (before + static_cast<unsigned>(i) * static_cast<unsigned>(cols)) % 4;
  };

  // A row's first piece may start in the row before it, and its last may end in the next row. Only
  // tiles at the top and at the bottom have pieces that cross the start or the end of the matrix.
  const bool inside =
      begin >= 3 && begin + static_cast<long long>(LOADED - 1) * cols + 4 * PIECES <= count;
  float4 piece[LOADS];
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    const int i = (threadIdx.x + k * THREADS) / PIECES;
    if (i >= LOADED) continue;
    const long long at = begin + static_cast<long long>(i) * cols - shift(i) +
                         4 * ((threadIdx.x + k * THREADS) % PIECES);
    if (inside || (at >= 0 && at + 4 <= count)) {
      piece[k] = load_evict_last(in + at);
    } else {
      const auto word = [&](int w) { return at + w >= 0 && at + w < count ? in[at + w] : 0.0f; };
      piece[k] = make_float4(word(0), word(1), word(2), word(3));
    }
  }
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    const int i = (threadIdx.x + k * THREADS) / PIECES;
    if (i < LOADED) tile[i % 4][i / 4][(threadIdx.x + k * THREADS) % PIECES] = piece[k];
  }
  __syncthreads();

  // A warp writes 32 neighbours of a row of `out` at a time.
#pragma unroll 4
  for (int j = threadIdx.x / 32; j < WIDTH; j += THREADS / 32) {
    if (c0 + j >= cols) return;  // no barrier follows
    float* to = out + static_cast<size_t>(c0 + j) * rows;
    // This row of `out` starts `past` words after the start of a sector, and is cut that many words
    // further up.
    const int past = static_cast<int>(reinterpret_cast<size_t>(to) / sizeof(float) % SECTOR);
    const int i = SECTOR - past + threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < HEIGHT; k += 32) {
      const int row = r0 + i + k;
      const float* from = reinterpret_cast<const float*>(tile[i % 4][i / 4 + k / 4]);
      if (row >= 0 && row < rows) to[row] = from[shift(i) + j];  // i and i + k are shifted alike
    }
  }
}
// [transpose_ragged]

/// True when an int holds every row and column that the kernels compute, those past the edges
/// included.
constexpr bool transpose_fits(int rows, int cols) {
  constexpr int most = 1 << 30;
  return rows >= 0 && cols >= 0 && rows <= most && cols <= most;
}

/// True when both may be accessed 16 bytes at a time.
inline bool transpose_aligned(const float* in, const float* out) {
  return (reinterpret_cast<size_t>(in) | reinterpret_cast<size_t>(out)) % sizeof(float4) == 0;
}

/// True when transpose_vectorised() may be used.
inline bool transpose_vectorised_fits(const float* in, const float* out, int rows, int cols) {
  return rows % 4 == 0 && cols % 4 == 0 && transpose_aligned(in, out);
}

// [launch]
/// Starts a kernel of one thread per element, or of several: `tile` is what a block of `block`
/// threads covers. Returns cudaErrorInvalidValue for a size that cannot be, else what the launch
/// itself reports (CUDA refuses more than 65,535 blocks in y). An empty matrix is no error.
/// `across` and `down` are the elements to cover in x and in y.
inline cudaError_t launch_transpose_grid(void (*kernel)(const float*, float*, int, int),
                                         const float* in, float* out, int rows, int cols,
                                         int across, int down, dim3 block, dim3 tile,
                                         cudaStream_t stream) {
  if (!transpose_fits(rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;  // a grid of 0 blocks is an error
  const dim3 blocks((across + tile.x - 1) / tile.x, (down + tile.y - 1) / tile.y);
  kernel<<<blocks, block, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
// [launch]

inline cudaError_t launch_copy_matrix(const float* in, float* out, int rows, int cols,
                                      cudaStream_t stream = nullptr) {
  return launch_transpose_grid(copy_matrix, in, out, rows, cols, cols, rows, dim3(32, 8),
                               dim3(32, 8), stream);
}

inline cudaError_t launch_copy_vectorised(const float* in, float* out, int rows, int cols,
                                          cudaStream_t stream = nullptr) {
  if (!transpose_fits(rows, cols) || !transpose_aligned(in, out)) return cudaErrorInvalidValue;
  const size_t count = static_cast<size_t>(rows) * cols;
  const size_t blocks = (count + 1023) / 1024;
  // a grid has at most 2^31 - 1 blocks in x
  if (blocks >= size_t{1} << 31) return cudaErrorInvalidConfiguration;
  if (blocks > 0)
    copy_vectorised<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(in, out, count);
  return cudaGetLastError();
}

inline cudaError_t launch_copy_evict_last(const float* in, float* out, int rows, int cols,
                                          cudaStream_t stream = nullptr) {
  if (!transpose_fits(rows, cols) || !transpose_aligned(in, out)) return cudaErrorInvalidValue;
  const size_t count = static_cast<size_t>(rows) * cols;
  const size_t blocks = (count + 1023) / 1024;
  if (blocks >= size_t{1} << 31) return cudaErrorInvalidConfiguration;
  if (blocks > 0)
    copy_evict_last<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(in, out, count);
  return cudaGetLastError();
}

inline cudaError_t launch_transpose_strided_write(const float* in, float* out, int rows, int cols,
                                                  cudaStream_t stream = nullptr) {
  return launch_transpose_grid(transpose_strided_write, in, out, rows, cols, cols, rows,
                               dim3(32, 8), dim3(32, 8), stream);
}

inline cudaError_t launch_transpose_strided_read(const float* in, float* out, int rows, int cols,
                                                 cudaStream_t stream = nullptr) {
  return launch_transpose_grid(transpose_strided_read, in, out, rows, cols, rows, cols, dim3(32, 8),
                               dim3(32, 8), stream);
}

template <int TILE>
cudaError_t launch_transpose_tile(const float* in, float* out, int rows, int cols,
                                  cudaStream_t stream = nullptr) {
  return launch_transpose_grid(transpose_tile<TILE>, in, out, rows, cols, cols, rows,
                               dim3(TILE, TILE), dim3(TILE, TILE), stream);
}

template <int TILE>
cudaError_t launch_transpose_padded(const float* in, float* out, int rows, int cols,
                                    cudaStream_t stream = nullptr) {
  return launch_transpose_grid(transpose_padded<TILE>, in, out, rows, cols, cols, rows,
                               dim3(TILE, TILE), dim3(TILE, TILE), stream);
}

template <int TILE>
cudaError_t launch_transpose_swizzled(const float* in, float* out, int rows, int cols,
                                      cudaStream_t stream = nullptr) {
  return launch_transpose_grid(transpose_swizzled<TILE>, in, out, rows, cols, cols, rows,
                               dim3(TILE, TILE), dim3(TILE, TILE), stream);
}

inline cudaError_t launch_transpose_coarsened(const float* in, float* out, int rows, int cols,
                                              cudaStream_t stream = nullptr) {
  return launch_transpose_grid(transpose_coarsened, in, out, rows, cols, cols, rows, dim3(32, 4),
                               dim3(32, 32), stream);
}

/// Starts transpose_vectorised<ORDER, EVICT_LAST>(); what it cannot do (see there) is
/// cudaErrorInvalidValue.
template <TileOrder ORDER = TileOrder::columns, bool EVICT_LAST = false>
cudaError_t launch_transpose_vectorised(const float* in, float* out, int rows, int cols,
                                        cudaStream_t stream = nullptr) {
  if (!transpose_fits(rows, cols) || !transpose_vectorised_fits(in, out, rows, cols))
    return cudaErrorInvalidValue;
  const size_t blocks = static_cast<size_t>((rows + 63) / 64) * ((cols + 63) / 64);
  if (blocks >= size_t{1} << 31) return cudaErrorInvalidConfiguration;
  if (blocks > 0)
    transpose_vectorised<ORDER, EVICT_LAST>
        <<<static_cast<unsigned>(blocks), dim3(16, 16), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

/// Starts move_tiles(); sizes that are no multiples of 64 are cudaErrorInvalidValue.
inline cudaError_t launch_move_tiles(const float* in, float* out, int rows, int cols,
                                     cudaStream_t stream = nullptr) {
  if (!transpose_fits(rows, cols) || !transpose_vectorised_fits(in, out, rows, cols))
    return cudaErrorInvalidValue;
  if (rows % 64 != 0 || cols % 64 != 0) return cudaErrorInvalidValue;
  const size_t blocks = static_cast<size_t>(rows / 64) * (cols / 64);
  if (blocks >= size_t{1} << 31) return cudaErrorInvalidConfiguration;
  if (blocks > 0)
    move_tiles<<<static_cast<unsigned>(blocks), dim3(16, 16), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

/// Starts transpose_ragged(): any size, any alignment.
inline cudaError_t launch_transpose_ragged(const float* in, float* out, int rows, int cols,
                                           cudaStream_t stream = nullptr) {
  if (!transpose_fits(rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  // Cut up to 7 words further up, a row of `out` needs a tile more where they do not fit into the
  // last one.
  const size_t blocks = static_cast<size_t>((rows + 7 + 127) / 128) * ((cols + 63) / 64);
  if (blocks >= size_t{1} << 31) return cudaErrorInvalidConfiguration;
  transpose_ragged<<<static_cast<unsigned>(blocks), 512, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

// [transpose]
/// The transpose to use: vectorised where rows and cols are multiples of 4, ragged where they are
/// not. Both load with evict_last.
inline cudaError_t launch_transpose(const float* in, float* out, int rows, int cols,
                                    cudaStream_t stream = nullptr) {
  if (transpose_vectorised_fits(in, out, rows, cols))
    return launch_transpose_vectorised<TileOrder::columns, true>(in, out, rows, cols, stream);
  return launch_transpose_ragged(in, out, rows, cols, stream);
}
// [transpose]
