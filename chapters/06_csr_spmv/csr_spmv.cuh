/// @file
/// Lesson 06: y = A x with a sparse A in CSR. Who should do which row?
///
/// CSR holds the nonzeros row by row: those of row r are number row_ptr[r] up to row_ptr[r + 1],
/// the end not included; nonzero e has the value values[e] and stands in column col_index[e].
/// Positions and columns are 32-bit; what they cannot hold is refused by the launch functions. y is
/// written, not added to: it may hold anything before.
#pragma once

#include <cuda_runtime.h>

/// Steps past the end of a row must not overflow: nonzeros, rows and columns stay this far below
/// 2^31.
constexpr int kSpmvMost = 0x7fffffff - (1 << 16);

// [spmv_wrong]
/// The kernel of a widespread tutorial, and WRONG: the indices are exchanged. x is taken by the
/// number of the nonzero, and the value by its column. It stays inside its arrays only if there are
/// as many nonzeros as columns.
template <class T>
__global__ void spmv_wrong(int rows, const int* row_ptr, const int* col_index, const T* values,
                           const T* x, T* y) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) sum += x[e] * values[col_index[e]];
  y[row] = sum;
}
// [spmv_wrong]

// [spmv_scalar]
/// One thread per row. Neighbouring threads read nonzeros that lie a row apart.
template <class T>
__global__ void spmv_scalar(int rows, const int* __restrict__ row_ptr,
                            const int* __restrict__ col_index, const T* __restrict__ values,
                            const T* __restrict__ x, T* __restrict__ y) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int end = row_ptr[row + 1];
  T sum = 0;
  for (int e = row_ptr[row]; e < end; ++e) sum += values[e] * x[col_index[e]];
  y[row] = sum;
}
// [spmv_scalar]

// [spmv_vector]
/// LANES neighbouring threads per row (1, 2, 4 ... 32): they read neighbouring nonzeros, and add up
/// their sums by shuffles. No thread leaves early, since the shuffles are for all 32 lanes of a
/// warp.
template <int LANES, class T>
__global__ void spmv_vector(int rows, const int* __restrict__ row_ptr,
                            const int* __restrict__ col_index, const T* __restrict__ values,
                            const T* __restrict__ x, T* __restrict__ y) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / LANES;
  const int lane = thread % LANES;
  T sum = 0;
  if (row < rows) {
    const int end = row_ptr[row + 1];
    for (int e = row_ptr[row] + lane; e < end; e += LANES) sum += values[e] * x[col_index[e]];
  }
  for (int apart = LANES / 2; apart > 0; apart /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, apart, LANES);
  if (row < rows && lane == 0) y[row] = sum;
}
// [spmv_vector]

/// Nonzeros that a lane of spmv_unrolled() asks for before it uses the first.
constexpr int kSpmvDepth = 8;

// [spmv_unrolled]
/// The same, but each lane asks for 8 columns and 8 values before it uses the first, then for 8
/// elements of x. Three loops, so that nothing waits for what it does not need. What lies beyond
/// the row is not asked for.
template <int LANES, class T>
__global__ void __launch_bounds__(256)
    spmv_unrolled(int rows, const int* __restrict__ row_ptr, const int* __restrict__ col_index,
                  const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y) {
  constexpr int DEPTH = kSpmvDepth;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / LANES;
  const int lane = thread % LANES;
  T sum = 0;
  if (row < rows) {
    const int end = row_ptr[row + 1];
    for (int e = row_ptr[row] + lane; e < end; e += LANES * DEPTH) {
      int col[DEPTH];
      T value[DEPTH], factor[DEPTH];
#pragma unroll
      for (int k = 0; k < DEPTH; ++k) {
        const bool inside = e + k * LANES < end;
        col[k] = inside ? col_index[e + k * LANES] : -1;
        value[k] = inside ? values[e + k * LANES] : T(0);
      }
#pragma unroll
      for (int k = 0; k < DEPTH; ++k) factor[k] = col[k] >= 0 ? x[col[k]] : T(0);
#pragma unroll
      for (int k = 0; k < DEPTH; ++k) sum += value[k] * factor[k];
    }
  }
  for (int apart = LANES / 2; apart > 0; apart /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, apart, LANES);
  if (row < rows && lane == 0) y[row] = sum;
}
// [spmv_unrolled]

// ---------------------------------------------------------------- the balanced kernel

constexpr int kSpmvThreads = 128;                         ///< of a block of spmv_balanced()
constexpr int kSpmvBlocks = 10;                           ///< of them on a multiprocessor at a time
constexpr int kSpmvItems = 8;                             ///< nonzeros per thread
constexpr int kSpmvCapacity = kSpmvThreads * kSpmvItems;  ///< nonzeros that a block can take
constexpr int kSpmvShort = 32;                            ///< rows up to this length are never cut
/// Positions per tile: there must be room for a short row at the end, and for alignment in front.
constexpr int kSpmvTile = kSpmvCapacity - kSpmvShort - 31;

/// Where a tile begins: at nonzero e of row `row`.
struct alignas(16) SpmvCut {
  int row, e;
  int is_cut;     ///< 1: e is not the row's first nonzero, the row began in a tile before
  int last_tile;  ///< if it began in the very tile before: the last tile with a piece of it; else 0
};

/// The position of nonzero e of a row in the list of all work: nonzeros count 1, and rows, too.
__host__ __device__ constexpr long long spmv_position(int row, int e) {
  return static_cast<long long>(e) + row;
}

// [spmv_cuts]
/// Cuts the work into tiles of equal size, once per matrix. Tile t begins at position
/// t * kSpmvTile, or, if that is inside a short row, at the next row: only rows longer than
/// kSpmvShort are cut. One thread per tile, and one more for the end.
__global__ void spmv_cuts(int rows, int nnz, const int* __restrict__ row_ptr, int tiles,
                          SpmvCut* cuts) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile > tiles) return;
  SpmvCut cut{rows, nnz, 0, 0};
  if (tile < tiles) {
    const long long at = static_cast<long long>(tile) * kSpmvTile;
    int low = 0, high = rows;  // the first row that begins at `at` or after it: binary search
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (spmv_position(middle, row_ptr[middle]) >= at)
        high = middle;
      else
        low = middle + 1;
    }
    const int row = low - 1, end = row_ptr[low];  // of the row before
    cut = {low, end, 0, 0};
    if (row >= 0 && at < spmv_position(row, end)) {  // `at` is inside it: is it long?
      const int begin = row_ptr[row];
      if (end - begin > kSpmvShort) {
        cut = {row, static_cast<int>(at - spmv_position(row, 0)), 1, 0};
        if (spmv_position(row, begin) >= at - kSpmvTile)
          cut.last_tile = static_cast<int>(spmv_position(row, end - 1) / kSpmvTile);
      }
    }
  }
  cuts[tile] = cut;
}
// [spmv_cuts]

/// What launch_spmv() has to know of a matrix.
struct alignas(8) SpmvRowStats {
  int longest_row;  ///< nonzeros
  int near_rows;    ///< rows whose middle nonzero stands within 32 columns of the next row's
};

// [spmv_row_stats]
/// Counts both, once per matrix. A thread takes every so many rows; *stats must hold zeros. Few
/// blocks, since their atomics meet in one place of L2.
__global__ void spmv_row_stats(int rows, const int* __restrict__ row_ptr,
                               const int* __restrict__ col_index, SpmvRowStats* stats) {
  __shared__ int longest, near;
  if (threadIdx.x == 0) longest = near = 0;
  __syncthreads();
  int my_longest = 0, my_near = 0;
  for (long long row = blockIdx.x * blockDim.x + threadIdx.x; row < rows;
       row += gridDim.x * blockDim.x) {
    const int begin = row_ptr[row], end = row_ptr[row + 1];
    my_longest = max(my_longest, end - begin);
    const int next_end = row + 1 < rows ? row_ptr[row + 2] : end;
    if (begin < end && end < next_end) {
      const int apart =
          col_index[begin + (end - begin) / 2] - col_index[end + (next_end - end) / 2];
      my_near += apart >= -32 && apart <= 32;
    }
  }
  atomicMax(&longest, my_longest);
  atomicAdd(&near, my_near);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(&stats->longest_row, longest);
    atomicAdd(&stats->near_rows, near);
  }
}
// [spmv_row_stats]

/// The tiles of a matrix, and room for the sums of pieces of cut rows: pieces[2 * t] is of the row
/// that tile t begins in, pieces[2 * t + 1] of the row that it ends in.
template <class T>
struct SpmvPlan {
  int tiles;
  SpmvRowStats stats;
  SpmvCut* cuts;  ///< tiles + 1
  T* pieces;      ///< 2 * tiles
};

/// What spmv_row_stats() writes lies after the cuts.
template <class T>
SpmvRowStats* spmv_stats(const SpmvPlan<T>& plan) {
  return reinterpret_cast<SpmvRowStats*>(plan.cuts + plan.tiles + 1);
}

/// One load of 16 bytes.
__device__ inline SpmvCut spmv_cut(const SpmvCut* cut) {
  const int4 four = __ldg(reinterpret_cast<const int4*>(cut));
  return {four.x, four.y, four.z, four.w};
}

// [spmv_block_sum]
/// The sum over a block of kSpmvThreads; thread 0 has it.
template <class T>
__device__ T spmv_block_sum(T sum) {
  __shared__ T warp_sum[kSpmvThreads / 32];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int w = 1; w < kSpmvThreads / 32; ++w) sum += warp_sum[w];
  return sum;
}
// [spmv_block_sum]

/// Where product i is stored: a gap after every 128 bytes, so that threads that read 8 in a row
/// each meet different banks.
template <class T>
__host__ __device__ constexpr int spmv_padded(int i) {
  return i + i / (128 / static_cast<int>(sizeof(T)));
}

// [spmv_balanced]
/// A block takes one tile of nonzeros, each of its threads the same number, whatever rows they
/// belong to. Sums of pieces of cut rows are stored for spmv_join(). Blocks of kSpmvThreads
/// threads, one per tile.
template <class T>
__global__ void __launch_bounds__(kSpmvThreads, kSpmvBlocks)
    spmv_balanced(const int* row_ptr, const int* __restrict__ col_index,
                  const T* __restrict__ values, const T* x, T* __restrict__ y, SpmvPlan<T> plan) {
  constexpr int THREADS = kSpmvThreads, ITEMS = kSpmvItems, WARPS = THREADS / 32;
  static_assert(ITEMS == 8, "a thread takes its entries of `begins` by one load of 16 bytes");
  // begins[i] = 1 + row - a.row if nonzero base + i is the first of that row in this tile; 0 if no
  // row begins there.
  __shared__ alignas(16) unsigned short begins[kSpmvCapacity];
  __shared__ T products[spmv_padded<T>(kSpmvCapacity)];
  T* const sums = products;  // of rows, as soon as all products are in registers
  __shared__ unsigned empty[kSpmvCapacity / 32];  // bit i % 32 of word i / 32: row i is empty
  __shared__ int warp_row[WARPS];
  __shared__ T warp_sum[WARPS];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;

  const SpmvCut a = spmv_cut(plan.cuts + blockIdx.x), b = spmv_cut(plan.cuts + blockIdx.x + 1);
  const int rows = b.row - a.row;  // that begin, or go on, and end here: at most kSpmvTile + 1

  // 1. Neighbouring threads take neighbouring nonzeros, from a multiple of 32 on, so that a warp
  //    asks L2 for one line of 128 bytes at a time. All at once, with the ends of the first rows,
  //    then all elements of x; meanwhile: where does which row begin? (row_ptr and x are not
  //    __restrict__: else ptxas moves their loads across the barrier.)
  const int base = a.e & ~31;
  int row_begin[2], row_end[2];  // of this thread's first two rows; -1: there is none
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int i = k * THREADS + thread;
    const bool has_row = rows > 0 && i < rows + b.is_cut;
    row_begin[k] = has_row ? row_ptr[a.row + i] : 0;
    row_end[k] = has_row ? row_ptr[a.row + i + 1] : -1;
  }
  int col[ITEMS];
  T value[ITEMS], factor[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int e = base + k * THREADS + thread;
    const bool inside = e >= a.e && e < b.e;
    col[k] = inside ? __ldcs(col_index + e) : -1;  // not needed again: the cache is left to x
    value[k] = inside ? __ldcs(values + e) : T(0);
  }
  reinterpret_cast<uint4*>(begins)[thread] = make_uint4(0, 0, 0, 0);  // 8 entries
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) factor[k] = col[k] >= 0 ? x[col[k]] : T(0);
  if (rows == 0) {  // the whole tile is a piece of one row, or empty
    T sum = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) sum += value[k] * factor[k];
    sum = spmv_block_sum(sum);
    if (thread == 0 && a.e < b.e) plan.pieces[2 * blockIdx.x + !a.is_cut] = sum;
    return;
  }
  const auto mark = [&](int i, int begin, int end) {  // by whole warps
    const int first = max(begin, a.e);
    if (first < end) begins[first - base] = static_cast<unsigned short>(i + 1);
    // an empty row has no nonzero that could bring its sum
    const unsigned none = __ballot_sync(0xffffffff, end >= 0 && first >= end);
    if (lane == 0) empty[i / 32] = none;
  };
#pragma unroll
  for (int k = 0; k < 2; ++k) mark(k * THREADS + thread, row_begin[k], row_end[k]);
  for (int i = thread + 2 * THREADS; i - lane < rows + b.is_cut; i += THREADS) {
    const bool has_row = i < rows + b.is_cut;
    mark(i, has_row ? row_ptr[a.row + i] : 0, has_row ? row_ptr[a.row + i + 1] : -1);
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    products[spmv_padded<T>(k * THREADS) + spmv_padded<T>(thread)] = value[k] * factor[k];
  __syncthreads();

  // A row's sum is known, or that of its piece in this tile.
  const auto finish = [&](int row, T row_sum) { sums[row - 1] = row_sum; };

  // 2. Each thread adds up eight neighbours. Rows that begin and end among them are finished.
  //    `before` belongs to a row that began in a thread in front, `sum` to one that may go on in
  //    the next.
  const uint4 eight = reinterpret_cast<const uint4*>(begins)[thread];
  const unsigned begun_here[ITEMS] = {eight.x & 0xffff, eight.x >> 16,    eight.y & 0xffff,
                                      eight.y >> 16,    eight.z & 0xffff, eight.z >> 16,
                                      eight.w & 0xffff, eight.w >> 16};
  T product[ITEMS];  // 8 neighbours have no gap between them
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) product[k] = products[spmv_padded<T>(thread * ITEMS) + k];
  __syncthreads();  // from here on `products` is `sums`
  int row = 0;      // none has begun here
  T before = 0, sum = 0;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    if (const int begun = static_cast<int>(begun_here[k]); begun != 0) {
      if (row != 0)
        finish(row, sum);
      else
        before = sum;
      row = begun;
      sum = 0;
    }
    sum += product[k];
  }

  // 3. Rows that reach across threads: a scan that starts anew wherever a row begins, first in the
  //    warp ...
  int open_row = row;
  T open_sum = sum;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const int their_row = __shfl_up_sync(0xffffffff, open_row, apart);
    const T their_sum = __shfl_up_sync(0xffffffff, open_sum, apart);
    if (lane >= apart && open_row == 0) {
      open_row = their_row;
      open_sum += their_sum;
    }
  }
  if (lane == 31) {
    warp_row[warp] = open_row;
    warp_sum[warp] = open_sum;
  }
  __syncthreads();
  // ... then over the warps in front.
  int carried_row = 0;
  T carried_sum = 0;
#pragma unroll
  for (int w = 0; w < WARPS - 1; ++w) {
    if (w >= warp) break;
    const int its_row = warp_row[w];
    const T its_sum = warp_sum[w];
    carried_sum = its_row != 0 ? its_sum : carried_sum + its_sum;
    carried_row = its_row != 0 ? its_row : carried_row;
  }
  if (thread == THREADS - 1) {  // the tile's last row ends here
    const int last_row = open_row != 0 ? open_row : carried_row;
    if (last_row != 0) finish(last_row, open_row != 0 ? open_sum : carried_sum + open_sum);
  }
  open_row = __shfl_up_sync(0xffffffff, open_row, 1);  // what the threads in front leave open
  open_sum = __shfl_up_sync(0xffffffff, open_sum, 1);
  if (lane == 0) open_row = 0, open_sum = 0;
  if (open_row == 0) open_row = carried_row, open_sum += carried_sum;
  if (row != 0 && open_row != 0) finish(open_row, open_sum + before);

  // 4. Sums go to y side by side, whichever thread has summed them.
  __syncthreads();
  for (int i = thread; i < rows; i += THREADS)
    if (i >= a.is_cut) y[a.row + i] = empty[i / 32] >> lane & 1 ? T(0) : sums[i];
  if (thread == 0 && a.is_cut) plan.pieces[2 * blockIdx.x] = sums[0];
  if (thread == 0 && b.is_cut) plan.pieces[2 * blockIdx.x + 1] = sums[rows];
}
// [spmv_balanced]

// [spmv_join]
/// Adds up the pieces of cut rows, always in the same order. One thread per tile checks whether a
/// row goes on there that began in the tile before. A few pieces it adds up itself, more are left
/// to a warp, and very many to the whole block. Blocks of 256 threads.
template <class T>
__global__ void __launch_bounds__(256) spmv_join(T* __restrict__ y, SpmvPlan<T> plan) {
  constexpr int FEW = 8, VERY_MANY = 512;
  __shared__ int begins[256], ends[256];  // tiles in which rows of more pieces go on, and end
  __shared__ int more;
  __shared__ T sums[8];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32,
            tile = blockIdx.x * 256 + thread;
  if (thread == 0) more = 0;
  __syncthreads();

  if (tile < plan.tiles) {
    const SpmvCut cut = spmv_cut(plan.cuts + tile);
    if (cut.last_tile - tile >= FEW) {
      const int i = atomicAdd(&more, 1);
      begins[i] = tile, ends[i] = cut.last_tile;
    } else if (cut.last_tile != 0) {
      T sum = plan.pieces[2 * tile - 1];
#pragma unroll 4
      for (int t = tile; t <= cut.last_tile; ++t) sum += plan.pieces[2 * t];
      y[cut.row] = sum;
    }
  }
  __syncthreads();

  // Of row i every `step`-th piece, from number `first` on; lane 0 gets the sum of its warp.
  const auto warp_sum = [&](int i, int first, int step) {
    T sum = first == 0 ? plan.pieces[2 * begins[i] - 1] : T(0);
#pragma unroll 4
    for (int t = begins[i] + first; t <= ends[i]; t += step) sum += plan.pieces[2 * t];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
    return sum;
  };
  for (int i = warp; i < more; i += 8) {  // a row for each warp
    if (ends[i] - begins[i] >= VERY_MANY) continue;
    const T sum = warp_sum(i, lane, 32);
    if (lane == 0) y[spmv_cut(plan.cuts + begins[i]).row] = sum;
  }
  for (int i = 0; i < more; ++i) {  // a row for all
    if (ends[i] - begins[i] < VERY_MANY) continue;
    const T part = warp_sum(i, thread, 256);
    if (lane == 0) sums[warp] = part;
    __syncthreads();
    if (thread == 0) {
      T sum = 0;
      for (int w = 0; w < 8; ++w) sum += sums[w];
      y[spmv_cut(plan.cuts + begins[i]).row] = sum;
    }
    __syncthreads();  // `sums` may be written again
  }
}
// [spmv_join]

// ---------------------------------------------------------------- launch

/// True when 32-bit positions hold the sizes.
constexpr bool spmv_fits(long long rows, long long cols, long long nnz) {
  return rows >= 0 && cols >= 0 && nnz >= 0 && rows <= kSpmvMost && cols <= kSpmvMost &&
         nnz <= kSpmvMost;
}

// [launch]
/// Starts a kernel of `lanes` threads per row, in blocks of 256. Sizes that do not fit are
/// cudaErrorInvalidValue; a matrix without rows is no error.
template <class T>
cudaError_t launch_spmv_rows(void (*kernel)(int, const int*, const int*, const T*, const T*, T*),
                             int lanes, int rows, int cols, int nnz, const int* row_ptr,
                             const int* col_index, const T* values, const T* x, T* y,
                             cudaStream_t stream) {
  if (!spmv_fits(rows, cols, nnz)) return cudaErrorInvalidValue;
  // a grid of 0 blocks is an error
  if (rows == 0) return cudaSuccess;
  const size_t blocks = (static_cast<size_t>(rows) * lanes + 255) / 256;  // at most 2^31 * 32 / 256
  kernel<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
// [launch]

/// Starts spmv_wrong(), where it does not leave its arrays: cols == nnz. Else
/// cudaErrorInvalidValue.
template <class T>
cudaError_t launch_spmv_wrong(int rows, int cols, int nnz, const int* row_ptr, const int* col_index,
                              const T* values, const T* x, T* y, cudaStream_t stream = nullptr) {
  if (cols != nnz) return cudaErrorInvalidValue;
  return launch_spmv_rows(spmv_wrong<T>, 1, rows, cols, nnz, row_ptr, col_index, values, x, y,
                          stream);
}

template <class T>
cudaError_t launch_spmv_scalar(int rows, int cols, int nnz, const int* row_ptr,
                               const int* col_index, const T* values, const T* x, T* y,
                               cudaStream_t stream = nullptr) {
  return launch_spmv_rows(spmv_scalar<T>, 1, rows, cols, nnz, row_ptr, col_index, values, x, y,
                          stream);
}

/// Starts spmv_vector<lanes>(); cudaErrorInvalidValue unless lanes is 1, 2, 4, 8, 16 or 32.
template <class T>
cudaError_t launch_spmv_vector(int lanes, int rows, int cols, int nnz, const int* row_ptr,
                               const int* col_index, const T* values, const T* x, T* y,
                               cudaStream_t stream = nullptr) {
  const auto kernel = lanes == 1    ? spmv_vector<1, T>
                      : lanes == 2  ? spmv_vector<2, T>
                      : lanes == 4  ? spmv_vector<4, T>
                      : lanes == 8  ? spmv_vector<8, T>
                      : lanes == 16 ? spmv_vector<16, T>
                      : lanes == 32 ? spmv_vector<32, T>
                                    : nullptr;
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_spmv_rows<T>(kernel, lanes, rows, cols, nnz, row_ptr, col_index, values, x, y,
                             stream);
}

/// Starts spmv_unrolled<lanes>(), likewise.
template <class T>
cudaError_t launch_spmv_unrolled(int lanes, int rows, int cols, int nnz, const int* row_ptr,
                                 const int* col_index, const T* values, const T* x, T* y,
                                 cudaStream_t stream = nullptr) {
  const auto kernel = lanes == 1    ? spmv_unrolled<1, T>
                      : lanes == 2  ? spmv_unrolled<2, T>
                      : lanes == 4  ? spmv_unrolled<4, T>
                      : lanes == 8  ? spmv_unrolled<8, T>
                      : lanes == 16 ? spmv_unrolled<16, T>
                      : lanes == 32 ? spmv_unrolled<32, T>
                                    : nullptr;
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_spmv_rows<T>(kernel, lanes, rows, cols, nnz, row_ptr, col_index, values, x, y,
                             stream);
}

// [spmv_lanes]
/// Lanes per row when each takes `depth` nonzeros at a time: the smallest power of two that takes a
/// mean row in one go, at most 32.
constexpr int spmv_lanes(double mean_row_length, int depth) {
  int lanes = 1;
  while (lanes < 32 && lanes * depth < mean_row_length) lanes *= 2;
  return lanes;
}
// [spmv_lanes]

/// Tiles of spmv_balanced(); fits, since there are less than 2^32 positions.
constexpr int spmv_tiles(int rows, int nnz) {
  return static_cast<int>(spmv_position(rows, nnz) / kSpmvTile) + 1;
}

/// Bytes of device memory that a plan for matrices of this size needs.
template <class T>
constexpr size_t spmv_plan_bytes(int rows, int nnz) {
  const size_t tiles = spmv_tiles(rows, nnz);
  return 2 * tiles * sizeof(T) + (tiles + 1) * sizeof(SpmvCut) + sizeof(SpmvRowStats);
}

/// The first half of a plan: where tiles begin. Starts spmv_cuts(); `plan` needs tiles and cuts.
template <class T>
cudaError_t launch_spmv_cuts(int rows, int nnz, const int* row_ptr, const SpmvPlan<T>& plan,
                             cudaStream_t stream) {
  spmv_cuts<<<plan.tiles / 256 + 1, 256, 0, stream>>>(rows, nnz, row_ptr, plan.tiles, plan.cuts);
  return cudaGetLastError();
}

/// The second half: what the rows are like. Starts spmv_row_stats(), with zeros in *stats, which
/// lies after the cuts.
template <class T>
cudaError_t launch_spmv_row_stats(int rows, const int* row_ptr, const int* col_index,
                                  const SpmvPlan<T>& plan, cudaStream_t stream) {
  const cudaError_t status = cudaMemsetAsync(spmv_stats(plan), 0, sizeof(SpmvRowStats), stream);
  if (status != cudaSuccess) return status;
  const int blocks = rows < 1024 * 256 ? rows / 256 + 1 : 1024;
  spmv_row_stats<<<blocks, 256, 0, stream>>>(rows, row_ptr, col_index, spmv_stats(plan));
  return cudaGetLastError();
}

/// Of the memory that L1 and shared memory have in common, spmv_balanced() gets what kSpmvBlocks of
/// its blocks need on a multiprocessor. The rest is left to L1, for x.
template <class T>
cudaError_t leave_l1_to_x() {
  int device = 0, all = 0, system = 0;  // bytes: of a multiprocessor, of each block for CUDA itself
  cudaFuncAttributes block{};
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&system, cudaDevAttrReservedSharedMemoryPerBlock, device);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&block, spmv_balanced<T>);
  if (status != cudaSuccess) return status;
  const int needed = kSpmvBlocks * (static_cast<int>(block.sharedSizeBytes) + system);
  const int percent = needed < all ? (100LL * needed + all - 1) / all : 100;
  return cudaFuncSetAttribute(spmv_balanced<T>, cudaFuncAttributePreferredSharedMemoryCarveout,
                              percent);
}

/// Makes the plan in `memory` (spmv_plan_bytes<T>() bytes, aligned to 16), once for each matrix,
/// and waits for it. The plan is then for any values and any x, as long as row_ptr and col_index
/// stay the same, but not for two launches at the same time.
template <class T>
cudaError_t launch_spmv_plan(int rows, int cols, int nnz, const int* row_ptr, const int* col_index,
                             void* memory, SpmvPlan<T>* plan, cudaStream_t stream = nullptr) {
  if (!spmv_fits(rows, cols, nnz) || reinterpret_cast<size_t>(memory) % 16 != 0)
    return cudaErrorInvalidValue;
  plan->tiles = spmv_tiles(rows, nnz);
  plan->cuts = static_cast<SpmvCut*>(memory);
  plan->pieces = reinterpret_cast<T*>(spmv_stats(*plan) + 1);
  cudaError_t status = leave_l1_to_x<T>();
  if (status == cudaSuccess) status = launch_spmv_cuts(rows, nnz, row_ptr, *plan, stream);
  if (status == cudaSuccess)
    status = launch_spmv_row_stats(rows, row_ptr, col_index, *plan, stream);
  if (status == cudaSuccess)
    status = cudaMemcpyAsync(&plan->stats, spmv_stats(*plan), sizeof(SpmvRowStats),
                             cudaMemcpyDeviceToHost, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

/// Starts spmv_balanced() and spmv_join(), with a plan for this matrix or one with the same
/// row_ptr; another size of plan is cudaErrorInvalidValue.
template <class T>
cudaError_t launch_spmv_balanced(int rows, int cols, int nnz, const int* row_ptr,
                                 const int* col_index, const T* values, const T* x, T* y,
                                 const SpmvPlan<T>& plan, cudaStream_t stream = nullptr) {
  if (!spmv_fits(rows, cols, nnz) || plan.tiles != spmv_tiles(rows, nnz))
    return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  spmv_balanced<T><<<plan.tiles, kSpmvThreads, 0, stream>>>(row_ptr, col_index, values, x, y, plan);
  if (plan.stats.longest_row > kSpmvShort)  // else no row is cut
    spmv_join<T><<<(plan.tiles + 255) / 256, 256, 0, stream>>>(y, plan);
  return cudaGetLastError();
}

// [spmv]
/// True where rows are alike in length, and most need the same part of x as the next.
constexpr bool spmv_is_regular(int rows, int nnz, SpmvRowStats stats) {
  return stats.longest_row <= 2.0 * nnz / (rows > 0 ? rows : 1) + 8 && stats.near_rows > rows / 2;
}

/// The kernel to use: lanes per row for regular matrices, else the balanced one.
template <class T>
cudaError_t launch_spmv(int rows, int cols, int nnz, const int* row_ptr, const int* col_index,
                        const T* values, const T* x, T* y, const SpmvPlan<T>& plan,
                        cudaStream_t stream = nullptr) {
  if (!spmv_is_regular(rows, nnz, plan.stats))
    return launch_spmv_balanced(rows, cols, nnz, row_ptr, col_index, values, x, y, plan, stream);
  const int lanes = spmv_lanes(static_cast<double>(nnz) / rows, kSpmvDepth);
  return launch_spmv_unrolled(lanes, rows, cols, nnz, row_ptr, col_index, values, x, y, stream);
}
// [spmv]
