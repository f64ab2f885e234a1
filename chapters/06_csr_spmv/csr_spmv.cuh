/// @file
/// Lesson 06: y = A x with a sparse A in CSR. Who should do which row?
///
/// CSR holds the nonzeros row by row: those of row r are number row_ptr[r] up to row_ptr[r + 1], the end not included;
/// nonzero e has the value values[e] and stands in column col_index[e]. Positions and columns are 32-bit; what they
/// cannot hold is refused by the launch functions. y is written, not added to: it may hold anything before.
#pragma once

#include <cuda_runtime.h>

/// Steps past the end of a row must not overflow: nonzeros, rows and columns stay this far below 2^31.
constexpr int kSpmvMost = 0x7fffffff - (1 << 16);

// [spmv_wrong]
/// The kernel of a widespread tutorial, and WRONG: the indices are exchanged. x is taken by the number of the nonzero,
/// and the value by its column. It stays inside its arrays only if there are as many nonzeros as columns.
template <class T>
__global__ void spmv_wrong(int rows, const int* row_ptr, const int* col_index, const T* values, const T* x, T* y) {
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
__global__ void spmv_scalar(int rows, const int* __restrict__ row_ptr, const int* __restrict__ col_index,
                            const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) sum += values[e] * x[col_index[e]];
  y[row] = sum;
}
// [spmv_scalar]

// [spmv_vector]
/// LANES neighbouring threads per row (1, 2, 4 ... 32): they read neighbouring nonzeros, and add up their sums by
/// shuffles. No thread leaves early, since the shuffles are for all 32 lanes of a warp.
template <int LANES, class T>
__global__ void spmv_vector(int rows, const int* __restrict__ row_ptr, const int* __restrict__ col_index,
                            const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / LANES;
  const int lane = thread % LANES;
  T sum = 0;
  if (row < rows) {
    const int end = row_ptr[row + 1];
    for (int e = row_ptr[row] + lane; e < end; e += LANES) sum += values[e] * x[col_index[e]];
  }
  for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart, LANES);
  if (row < rows && lane == 0) y[row] = sum;
}
// [spmv_vector]

/// Nonzeros that a lane of spmv_unrolled() asks for before it uses the first.
constexpr int kSpmvDepth = 8;

// [spmv_unrolled]
/// The same, but each lane asks for 8 columns and 8 values before it uses the first, then for 8 elements of x. Three
/// loops, so that nothing waits for what it does not need. What lies beyond the row is not asked for.
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
  for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart, LANES);
  if (row < rows && lane == 0) y[row] = sum;
}
// [spmv_unrolled]

// ------------------------------------------------------------------------------------------------ the balanced kernel

constexpr int kSpmvThreads = 128;                         ///< of a block of spmv_balanced()
constexpr int kSpmvItems = 8;                             ///< nonzeros per thread
constexpr int kSpmvCapacity = kSpmvThreads * kSpmvItems;  ///< nonzeros that a block can take
constexpr int kSpmvShort = 32;                            ///< rows up to this length are never cut
/// Positions per tile: there must be room for a short row at the end, and for alignment in front.
constexpr int kSpmvTile = kSpmvCapacity - kSpmvShort - 3;

/// Where a tile begins: at nonzero e of row `row`. e is the row's first nonzero, unless the row is cut.
struct alignas(8) SpmvCut {
  int row, e;
};

/// The place of nonzero e of a row in the list of all work: nonzeros count 1, and rows a quarter, so that many empty
/// rows are work, too.
__host__ __device__ constexpr long long spmv_position(int row, int e) { return static_cast<long long>(e) + row / 4; }

// [spmv_cuts]
/// Cuts the work into tiles of equal size, once per matrix. Tile t begins at position t * kSpmvTile, or, if that is
/// inside a short row, at the next row: only rows longer than kSpmvShort are cut. One thread per tile, and one more for
/// the end.
__global__ void spmv_cuts(int rows, int nnz, const int* __restrict__ row_ptr, int tiles, SpmvCut* cuts) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile > tiles) return;
  SpmvCut cut{rows, nnz};
  if (tile < tiles) {
    const long long at = static_cast<long long>(tile) * kSpmvTile;
    int low = 0, high = rows;  // the first row that begins at `at` or behind: binary search
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (spmv_position(middle, row_ptr[middle]) >= at)
        high = middle;
      else
        low = middle + 1;
    }
    cut = {low, row_ptr[low]};
    if (low > 0 && row_ptr[low] - row_ptr[low - 1] > kSpmvShort) {  // is `at` inside the row before, and that one long?
      const long long e = at - spmv_position(low - 1, 0);
      if (e < row_ptr[low]) cut = {low - 1, static_cast<int>(e)};
    }
  }
  cuts[tile] = cut;
}
// [spmv_cuts]

/// The tiles of a matrix, and room for the sums of pieces of cut rows: pieces[2 * t] is of the row that tile t begins
/// in, pieces[2 * t + 1] of the row that it ends in.
template <class T>
struct SpmvPlan {
  int tiles;
  SpmvCut* cuts;  ///< tiles + 1
  T* pieces;      ///< 2 * tiles
};

/// Four neighbours by loads of 16 bytes. They will not be needed again: the cache is left to x.
__device__ inline void spmv_load4(const int* from, int* to) {
  const int4 four = __ldcs(reinterpret_cast<const int4*>(from));
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ inline void spmv_load4(const float* from, float* to) {
  const float4 four = __ldcs(reinterpret_cast<const float4*>(from));
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ inline void spmv_load4(const double* from, double* to) {
  const double2 two = __ldcs(reinterpret_cast<const double2*>(from));
  const double2 more = __ldcs(reinterpret_cast<const double2*>(from) + 1);
  to[0] = two.x, to[1] = two.y, to[2] = more.x, to[3] = more.y;
}

// [spmv_long_row]
/// The sum of nonzeros begin .. end - 1, all of one row; thread 0 has it. Neighbouring lanes take neighbouring
/// nonzeros: in a long row these have neighbouring columns, so that their elements of x share sectors.
template <class T>
__device__ T spmv_long_row(int begin, int end, const int* __restrict__ col_index, const T* __restrict__ values,
                           const T* __restrict__ x) {
  __shared__ T warp_sum[kSpmvThreads / 32];
  int col[kSpmvItems];
  T value[kSpmvItems];
#pragma unroll
  for (int k = 0; k < kSpmvItems; ++k) {
    const int e = begin + k * kSpmvThreads + static_cast<int>(threadIdx.x);
    col[k] = e < end ? __ldcs(col_index + e) : -1;
    value[k] = e < end ? __ldcs(values + e) : T(0);
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < kSpmvItems; ++k) sum += col[k] >= 0 ? value[k] * x[col[k]] : T(0);
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int w = 1; w < kSpmvThreads / 32; ++w) sum += warp_sum[w];
  return sum;
}
// [spmv_long_row]

// [spmv_balanced]
/// A block takes one tile of nonzeros, each of its threads the same number, whatever rows they belong to. Sums of
/// pieces of cut rows are kept for spmv_join(). Blocks of kSpmvThreads threads, one per tile; col_index and values
/// aligned to 16 bytes.
template <class T>
__global__ void __launch_bounds__(kSpmvThreads)
    spmv_balanced(const int* __restrict__ row_ptr, const int* __restrict__ col_index, const T* __restrict__ values,
                  const T* __restrict__ x, T* __restrict__ y, SpmvPlan<T> plan) {
  constexpr int THREADS = kSpmvThreads, ITEMS = kSpmvItems, WARPS = THREADS / 32;
  static_assert(ITEMS == 8, "a thread takes its entries of `begins` by one load of 16 bytes");
  // begins[i] = 1 + row - a.row if nonzero base + i is the first of that row in this tile; 0 if no row begins there.
  __shared__ alignas(16) unsigned short begins[kSpmvCapacity];
  __shared__ int warp_row[WARPS];
  __shared__ T warp_sum[WARPS];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;

  const SpmvCut *here = plan.cuts + blockIdx.x, *next = here + 1;
  const SpmvCut a{here->row, here->e}, b{next->row, next->e};
  const int rows = b.row - a.row;  // that begin, or go on, and end here
  if (rows == 0) {                 // the whole tile is a piece of one row, or empty
    const T sum = spmv_long_row(a.e, b.e, col_index, values, x);
    if (thread == 0 && a.e < b.e) plan.pieces[2 * blockIdx.x + (a.e == row_ptr[a.row])] = sum;
    return;
  }
  const bool cut_in_front = a.e != row_ptr[a.row];
  const bool cut_behind = b.e != row_ptr[b.row];

  // 1. Every thread loads ITEMS neighbouring nonzeros, all at once; meanwhile: where does which row begin?
  const int base = a.e & ~3;  // aligned for loads of 16 bytes
  const int mine = base + thread * ITEMS;
  int col[ITEMS];
  T product[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; k += 4) {
    if (mine + k >= a.e && mine + k + 4 <= b.e) {
      spmv_load4(col_index + mine + k, col + k);
      spmv_load4(values + mine + k, product + k);
    } else {  // at the tile's ends
      for (int i = k; i < k + 4; ++i) {
        const bool inside = mine + i >= a.e && mine + i < b.e;
        col[i] = inside ? col_index[mine + i] : -1;
        product[i] = inside ? values[mine + i] : T(0);
      }
    }
  }
  reinterpret_cast<uint4*>(begins)[thread] = make_uint4(0, 0, 0, 0);  // 8 entries
  __syncthreads();
  for (int i = thread; i < rows + cut_behind; i += THREADS) {
    const int first = max(row_ptr[a.row + i], a.e);
    if (first < row_ptr[a.row + i + 1])
      begins[first - base] = static_cast<unsigned short>(i + 1);
    else
      y[a.row + i] = 0;  // an empty row has no nonzero that could bring its sum
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) product[k] = col[k] >= 0 ? product[k] * x[col[k]] : T(0);
  __syncthreads();

  // A row's sum is known, or that of its piece in this tile.
  const auto finish = [&](int row, T sum) {
    T* to = y + a.row + row - 1;
    if (row == 1 && cut_in_front)
      to = plan.pieces + 2 * blockIdx.x;
    else if (row == rows + 1)
      to = plan.pieces + 2 * blockIdx.x + 1;
    *to = sum;
  };

  // 2. Each thread adds up its own. Rows that begin and end among them are finished. `before` belongs to a row that
  // began in a thread in front, `sum` to one that may go on in the next.
  const uint4 eight = reinterpret_cast<const uint4*>(begins)[thread];
  const unsigned begun_here[ITEMS] = {eight.x & 0xffff, eight.x >> 16, eight.y & 0xffff, eight.y >> 16,
                                      eight.z & 0xffff, eight.z >> 16, eight.w & 0xffff, eight.w >> 16};
  int row = 0;  // none has begun here
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

  // 3. Rows that reach across threads: a scan that starts anew wherever a row begins, first in the warp ...
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
  for (int w = 0; w < warp; ++w) {
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
}
// [spmv_balanced]

// [spmv_join]
/// Adds up the pieces of cut rows, always in the same order. One thread per tile looks whether a cut row begins there.
/// A few pieces it adds up itself, many are left to the whole block. Blocks of 256 threads.
template <class T>
__global__ void __launch_bounds__(256) spmv_join(const int* __restrict__ row_ptr, T* __restrict__ y, SpmvPlan<T> plan) {
  constexpr int FEW = 32;
  __shared__ int found[256];  // tiles in which rows of many pieces begin
  __shared__ int many;
  __shared__ T sums[256];
  const int thread = threadIdx.x, tile = blockIdx.x * 256 + thread;
  if (thread == 0) many = 0;
  __syncthreads();

  // The row that is cut behind `tile`, and the last tile with a piece of it.
  const auto last_tile = [&](int row) {
    return static_cast<int>(spmv_position(row, row_ptr[row + 1] - 1) / kSpmvTile);
  };
  if (tile < plan.tiles) {
    const SpmvCut a = plan.cuts[tile], b = plan.cuts[tile + 1];
    const int first = row_ptr[b.row];
    if (first >= a.e && first < b.e) {  // row b.row begins in this tile, and goes on in the next
      const int last = last_tile(b.row);
      if (last - tile < FEW) {
        T sum = plan.pieces[2 * tile + 1];
        for (int t = tile + 1; t <= last; ++t) sum += plan.pieces[2 * t];
        y[b.row] = sum;
      } else {
        found[atomicAdd(&many, 1)] = tile;
      }
    }
  }
  __syncthreads();

  for (int i = 0; i < many; ++i) {
    const int begin = found[i], row = plan.cuts[begin + 1].row, last = last_tile(row);
    T sum = 0;
    for (int t = begin + thread; t <= last; t += 256) sum += plan.pieces[2 * t + (t == begin)];
    sums[thread] = sum;
    for (int half = 128; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half) sums[thread] += sums[thread + half];
    }
    if (thread == 0) y[row] = sums[0];
    __syncthreads();  // `sums` may be written again
  }
}
// [spmv_join]

// ------------------------------------------------------------------------------------------------------------- launch

/// True when 32-bit positions hold the sizes.
constexpr bool spmv_fits(long long rows, long long cols, long long nnz) {
  return rows >= 0 && cols >= 0 && nnz >= 0 && rows <= kSpmvMost && cols <= kSpmvMost && nnz <= kSpmvMost;
}

// [launch]
/// Starts a kernel of `lanes` threads per row, in blocks of 256. Sizes that do not fit are cudaErrorInvalidValue; a
/// matrix without rows is no error.
template <class T>
cudaError_t launch_spmv_rows(void (*kernel)(int, const int*, const int*, const T*, const T*, T*), int lanes, int rows,
                             int cols, int nnz, const int* row_ptr, const int* col_index, const T* values, const T* x,
                             T* y, cudaStream_t stream) {
  if (!spmv_fits(rows, cols, nnz)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;                                      // a grid of 0 blocks is an error
  const size_t blocks = (static_cast<size_t>(rows) * lanes + 255) / 256;  // at most 2^31 * 32 / 256
  kernel<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
// [launch]

/// Starts spmv_wrong(), where it does not leave its arrays: cols == nnz. Else cudaErrorInvalidValue.
template <class T>
cudaError_t launch_spmv_wrong(int rows, int cols, int nnz, const int* row_ptr, const int* col_index, const T* values,
                              const T* x, T* y, cudaStream_t stream = nullptr) {
  if (cols != nnz) return cudaErrorInvalidValue;
  return launch_spmv_rows(spmv_wrong<T>, 1, rows, cols, nnz, row_ptr, col_index, values, x, y, stream);
}

template <class T>
cudaError_t launch_spmv_scalar(int rows, int cols, int nnz, const int* row_ptr, const int* col_index, const T* values,
                               const T* x, T* y, cudaStream_t stream = nullptr) {
  return launch_spmv_rows(spmv_scalar<T>, 1, rows, cols, nnz, row_ptr, col_index, values, x, y, stream);
}

/// Starts spmv_vector<lanes>(); cudaErrorInvalidValue unless lanes is 1, 2, 4, 8, 16 or 32.
template <class T>
cudaError_t launch_spmv_vector(int lanes, int rows, int cols, int nnz, const int* row_ptr, const int* col_index,
                               const T* values, const T* x, T* y, cudaStream_t stream = nullptr) {
  const auto kernel = lanes == 1    ? spmv_vector<1, T>
                      : lanes == 2  ? spmv_vector<2, T>
                      : lanes == 4  ? spmv_vector<4, T>
                      : lanes == 8  ? spmv_vector<8, T>
                      : lanes == 16 ? spmv_vector<16, T>
                      : lanes == 32 ? spmv_vector<32, T>
                                    : nullptr;
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_spmv_rows<T>(kernel, lanes, rows, cols, nnz, row_ptr, col_index, values, x, y, stream);
}

/// Starts spmv_unrolled<lanes>(), likewise.
template <class T>
cudaError_t launch_spmv_unrolled(int lanes, int rows, int cols, int nnz, const int* row_ptr, const int* col_index,
                                 const T* values, const T* x, T* y, cudaStream_t stream = nullptr) {
  const auto kernel = lanes == 1    ? spmv_unrolled<1, T>
                      : lanes == 2  ? spmv_unrolled<2, T>
                      : lanes == 4  ? spmv_unrolled<4, T>
                      : lanes == 8  ? spmv_unrolled<8, T>
                      : lanes == 16 ? spmv_unrolled<16, T>
                      : lanes == 32 ? spmv_unrolled<32, T>
                                    : nullptr;
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_spmv_rows<T>(kernel, lanes, rows, cols, nnz, row_ptr, col_index, values, x, y, stream);
}

// [spmv_lanes]
/// Lanes per row when each takes `depth` nonzeros at a time: the smallest power of two that takes a mean row in one
/// go, at most 32.
constexpr int spmv_lanes(double mean_row_length, int depth) {
  int lanes = 1;
  while (lanes < 32 && lanes * depth < mean_row_length) lanes *= 2;
  return lanes;
}
// [spmv_lanes]

/// Tiles of spmv_balanced(); fits, since there are at most 2^31 + 2^29 positions.
constexpr int spmv_tiles(int rows, int nnz) { return static_cast<int>(spmv_position(rows, nnz) / kSpmvTile) + 1; }

/// Bytes of device memory that a plan for matrices of this size needs.
template <class T>
constexpr size_t spmv_plan_bytes(int rows, int nnz) {
  const size_t tiles = spmv_tiles(rows, nnz);
  return 2 * tiles * sizeof(T) + (tiles + 1) * sizeof(SpmvCut);
}

/// Makes the plan in `memory` (spmv_plan_bytes<T>() bytes, aligned to 8), once for each matrix. The plan is then for
/// any values and any x, as long as row_ptr stays the same, but not for two launches at the same time.
template <class T>
cudaError_t launch_spmv_plan(int rows, int cols, int nnz, const int* row_ptr, void* memory, SpmvPlan<T>* plan,
                             cudaStream_t stream = nullptr) {
  if (!spmv_fits(rows, cols, nnz) || reinterpret_cast<size_t>(memory) % 8 != 0) return cudaErrorInvalidValue;
  plan->tiles = spmv_tiles(rows, nnz);
  plan->pieces = static_cast<T*>(memory);
  plan->cuts = reinterpret_cast<SpmvCut*>(plan->pieces + 2 * static_cast<size_t>(plan->tiles));
  spmv_cuts<<<plan->tiles / 256 + 1, 256, 0, stream>>>(rows, nnz, row_ptr, plan->tiles, plan->cuts);
  return cudaGetLastError();
}

/// Starts spmv_balanced() and spmv_join(), with a plan for this matrix or one with the same row_ptr; another size of
/// plan is cudaErrorInvalidValue.
template <class T>
cudaError_t launch_spmv_balanced(int rows, int cols, int nnz, const int* row_ptr, const int* col_index, const T* values,
                                 const T* x, T* y, const SpmvPlan<T>& plan, cudaStream_t stream = nullptr) {
  if (!spmv_fits(rows, cols, nnz) || plan.tiles != spmv_tiles(rows, nnz)) return cudaErrorInvalidValue;
  if (reinterpret_cast<size_t>(col_index) % 16 != 0 || reinterpret_cast<size_t>(values) % 16 != 0)
    return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  spmv_balanced<T><<<plan.tiles, kSpmvThreads, 0, stream>>>(row_ptr, col_index, values, x, y, plan);
  spmv_join<T><<<(plan.tiles + 255) / 256, 256, 0, stream>>>(row_ptr, y, plan);
  return cudaGetLastError();
}

// [spmv]
/// The kernel to use. Where no row is much longer than the mean one, each row gets its own lanes; else the balanced
/// one.
template <class T>
cudaError_t launch_spmv(int rows, int cols, int nnz, int longest_row, const int* row_ptr, const int* col_index,
                        const T* values, const T* x, T* y, const SpmvPlan<T>& plan, cudaStream_t stream = nullptr) {
  const double mean = rows > 0 ? static_cast<double>(nnz) / rows : 0;
  if (longest_row <= 2 * mean + 8)
    return launch_spmv_unrolled(spmv_lanes(mean, kSpmvDepth), rows, cols, nnz, row_ptr, col_index, values, x, y,
                                stream);
  return launch_spmv_balanced(rows, cols, nnz, row_ptr, col_index, values, x, y, plan, stream);
}
// [spmv]
