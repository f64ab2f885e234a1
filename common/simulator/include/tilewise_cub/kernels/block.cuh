// CUB's part for blocks. Barriers are where CUB has them, so what a program's own barriers must order is found as in code by hand: TempStorage
// that is used again without __syncthreads() is a race. Every algorithm of an enum is the same one here, but for how elements are loaded and stored.
#pragma once

#include "warp.cuh"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

// What a class has when a program gives it no TempStorage: memory of its own, shared by all that have none.
#define TILEWISE_CUB_BLOCK(Class, Storage)                                                                     \
 public:                                                                                                       \
  using TempStorage = Storage;                                                                                 \
  __device__ __forceinline__ Class() : temp_(of_its_own()), tid_(RowMajorTid(DIM_X, DIM_Y, DIM_Z)) {}          \
  __device__ __forceinline__ Class(TempStorage& temp) : temp_(temp), tid_(RowMajorTid(DIM_X, DIM_Y, DIM_Z)) {} \
                                                                                                               \
 private:                                                                                                      \
  __device__ static __forceinline__ TempStorage& of_its_own() {                                                \
    __shared__ TempStorage temp;                                                                               \
    return temp;                                                                                               \
  }                                                                                                            \
  static constexpr int THREADS = DIM_X * DIM_Y * DIM_Z;                                                        \
  static constexpr int WARPS = (THREADS + 31) / 32;                                                            \
  TempStorage& temp_;                                                                                          \
  int tid_

namespace tilewise {

template <class T, int WARPS>
struct ReduceStorage {
  T aggregates[WARPS];
};
template <class T, int WARPS>
struct ScanStorage {
  T aggregates[WARPS];
  T prefix;
};
template <class T, int ITEMS>
struct ItemsStorage {
  T items[ITEMS];
};

/// Of a thread's own elements.
template <class T, int N, class Op>
__device__ __forceinline__ T of_thread(T (&in)[N], Op op) {
  T sum = in[0];
#pragma unroll
  for (int i = 1; i < N; ++i) sum = op(sum, in[i]);
  return sum;
}

}  // namespace tilewise

// ---------------------------------------------------------------- reductions

/// Results are thread 0's; those of the other threads mean nothing.
template <class T, int DIM_X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int DIM_Y = 1, int DIM_Z = 1,
          int = 0>
class BlockReduce {
  using Storage = tilewise::ReduceStorage<T, (DIM_X * DIM_Y * DIM_Z + 31) / 32>;
  TILEWISE_CUB_BLOCK(BlockReduce, Storage);

 public:
  template <class Op>
  __device__ __forceinline__ T Reduce(T input, Op op, int valid) {
    return reduce_threads(input, op, valid);
  }
  template <class Op>
  __device__ __forceinline__ T Reduce(T input, Op op) {
    return reduce_threads(input, op, THREADS);
  }
  template <int ITEMS, class Op>
  __device__ __forceinline__ T Reduce(T (&inputs)[ITEMS], Op op) {
    return reduce_threads(tilewise::of_thread(inputs, op), op, THREADS);
  }
  __device__ __forceinline__ T Sum(T input) { return reduce_threads(input, tilewise::Plus{}, THREADS); }
  __device__ __forceinline__ T Sum(T input, int valid) { return reduce_threads(input, tilewise::Plus{}, valid); }
  template <int ITEMS>
  __device__ __forceinline__ T Sum(T (&inputs)[ITEMS]) {
    return reduce_threads(tilewise::of_thread(inputs, tilewise::Plus{}), tilewise::Plus{}, THREADS);
  }

 private:
  template <class Op>
  __device__ __forceinline__ T reduce_threads(T input, Op op, int valid) {
    const tilewise::Lanes<32> lanes;
    const int warp = tid_ / 32, left = valid - 32 * warp;
    T sum = tilewise::lanes_to_last(lanes, input, op, (left < 1 ? 1 : left > 32 ? 32 : left) - 1);
    if (tid_ % 32 == 0) temp_.aggregates[warp] = sum;
    __syncthreads();
    if (tid_ == 0) {
      for (int w = 1; w < WARPS; ++w)
        if (32 * w < valid) sum = op(sum, temp_.aggregates[w]);
    }
    return sum;
  }
};

// ---------------------------------------------------------------- prefix sums

// What may stand at the end of a call: nothing, a T that gets the sum of the block, or a functor. Warp 0 calls that with this sum, and lane 0's
// answer comes before everything.
template <class T, int DIM_X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int DIM_Y = 1, int DIM_Z = 1, int = 0>
class BlockScan {
  using Storage = tilewise::ScanStorage<T, (DIM_X * DIM_Y * DIM_Z + 31) / 32>;
  TILEWISE_CUB_BLOCK(BlockScan, Storage);

  template <class Op>
  using IfOperator = std::enable_if_t<!std::is_convertible_v<Op, T>, int>;

 public:
  template <int N, class... End>
  __device__ __forceinline__ void InclusiveSum(T (&in)[N], T (&out)[N], End&... end) {
    scan_inclusive(in, out, tilewise::Plus{}, end...);
  }
  template <int N, class... End>
  __device__ __forceinline__ void ExclusiveSum(T (&in)[N], T (&out)[N], End&... end) {
    scan_exclusive(in, out, T(0), true, tilewise::Plus{}, end...);
  }
  template <int N, class Op, class... End>
  __device__ __forceinline__ void InclusiveScan(T (&in)[N], T (&out)[N], Op op, End&... end) {
    scan_inclusive(in, out, op, end...);
  }
  template <int N, class Op, class... End>
  __device__ __forceinline__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op, End&... end) {
    scan_exclusive(in, out, first, true, op, end...);
  }
  /// Without a first value thread 0's first result means nothing.
  template <int N, class Op, class... End, IfOperator<Op> = 0>
  __device__ __forceinline__ void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, End&... end) {
    scan_exclusive(in, out, in[0], false, op, end...);
  }

  // One element of each thread.
  template <class... End>
  __device__ __forceinline__ void InclusiveSum(T in, T& out, End&... end) {
    T one[1] = {in};
    scan_inclusive(one, one, tilewise::Plus{}, end...);
    out = one[0];
  }
  template <class... End>
  __device__ __forceinline__ void ExclusiveSum(T in, T& out, End&... end) {
    T one[1] = {in};
    scan_exclusive(one, one, T(0), true, tilewise::Plus{}, end...);
    out = one[0];
  }
  template <class Op, class... End>
  __device__ __forceinline__ void InclusiveScan(T in, T& out, Op op, End&... end) {
    T one[1] = {in};
    scan_inclusive(one, one, op, end...);
    out = one[0];
  }
  template <class Op, class... End>
  __device__ __forceinline__ void ExclusiveScan(T in, T& out, T first, Op op, End&... end) {
    T one[1] = {in};
    scan_exclusive(one, one, first, true, op, end...);
    out = one[0];
  }
  template <class Op, class... End, IfOperator<Op> = 0>
  __device__ __forceinline__ void ExclusiveScan(T in, T& out, Op op, End&... end) {
    T one[1] = {in};
    scan_exclusive(one, one, in, false, op, end...);
    out = one[0];
  }

 private:
  template <int N, class Op, class... End>
  __device__ __forceinline__ void scan_inclusive(T (&in)[N], T (&out)[N], Op op, End&... end) {
    T before, aggregate;
    scan_threads(tilewise::of_thread(in, op), op, before, aggregate);
    bool has_before = tid_ > 0;
    answer(before, has_before, aggregate, op, end...);
    out[0] = has_before ? op(before, in[0]) : in[0];
#pragma unroll
    for (int i = 1; i < N; ++i) out[i] = op(out[i - 1], in[i]);
  }
  template <int N, class Op, class... End>
  __device__ __forceinline__ void scan_exclusive(T (&in)[N], T (&out)[N], T first, bool has_first, Op op, End&... end) {
    T before, aggregate;
    scan_threads(tilewise::of_thread(in, op), op, before, aggregate);
    bool has_before = tid_ > 0;
    answer(before, has_before, aggregate, op, end...);
    T sum = !has_before ? first : has_first && is_first_used<End...>() ? op(first, before) : before;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const T own = in[i];
      out[i] = sum;
      sum = op(sum, own);
    }
  }
  /// A functor's answer takes the first value's place.
  template <class... End>
  __device__ __forceinline__ static constexpr bool is_first_used() {
    return (std::is_same_v<End, T> && ...);
  }

  template <class Op>
  __device__ __forceinline__ void answer(T&, bool&, const T&, Op) {}
  template <class Op, class End>
  __device__ __forceinline__ void answer(T& before, bool& has_before, const T& aggregate, Op op, End& end) {
    if constexpr (std::is_same_v<End, T>) {
      end = aggregate;
    } else {
      if (tid_ < 32) {
        const T first = end(aggregate);
        if (tid_ == 0) temp_.prefix = first;
      }
      __syncthreads();
      const T first = temp_.prefix;
      before = has_before ? op(first, before) : first;
      has_before = true;
    }
  }

  /// `before`: what the threads before this one have; thread 0 has none there.
  template <class Op>
  __device__ __forceinline__ void scan_threads(T own, Op op, T& before, T& aggregate) {
    const tilewise::Lanes<32> lanes;
    const int warp = tid_ / 32;
    const T up_to = tilewise::lanes_up_to(lanes, own, op);
    before = tilewise::lane_before(lanes, up_to);
    if (lanes.lane == 31 || tid_ == THREADS - 1) temp_.aggregates[warp] = up_to;
    __syncthreads();
    aggregate = temp_.aggregates[0];
    T of_warps = aggregate;
#pragma unroll
    for (int w = 1; w < WARPS; ++w) {
      if (warp == w) of_warps = aggregate;
      aggregate = op(aggregate, temp_.aggregates[w]);
    }
    if (warp > 0) before = lanes.lane == 0 ? of_warps : op(of_warps, before);
  }
};

// ---------------------------------------------------------------- exchanges

template <class T, int DIM_X, int ITEMS, bool = false, int DIM_Y = 1, int DIM_Z = 1, int = 0>
class BlockExchange {
  using Storage = tilewise::ItemsStorage<T, DIM_X * DIM_Y * DIM_Z * ITEMS>;
  TILEWISE_CUB_BLOCK(BlockExchange, Storage);

  // Where element i of this thread is: neighbours, THREADS apart, 32 apart.
  struct Blocked {
    int tid;
    __device__ __forceinline__ int operator()(int i) const { return tid * ITEMS + i; }
  };
  struct Striped {
    int tid;
    __device__ __forceinline__ int operator()(int i) const { return tid + i * THREADS; }
  };
  struct WarpStriped {
    int tid;
    __device__ __forceinline__ int operator()(int i) const {
      const int first = tid / 32 * 32, lanes = THREADS - first < 32 ? THREADS - first : 32;
      return first * ITEMS + tid % 32 + i * lanes;
    }
  };
  template <class Rank>
  struct Ranked {
    const Rank* ranks;
    __device__ __forceinline__ int operator()(int i) const { return static_cast<int>(ranks[i]); }
  };

 public:
#define TILEWISE_CUB_EXCHANGE(name, from, to, wait)                           \
  template <class U>                                                          \
  __device__ __forceinline__ void name(const T(&in)[ITEMS], U(&out)[ITEMS]) { \
    put_items(in, from{tid_});                                                \
    wait;                                                                     \
    get_items(out, to{tid_});                                                 \
  }                                                                           \
  __device__ __forceinline__ void name(T(&items)[ITEMS]) {                    \
    put_items(items, from{tid_});                                             \
    wait;                                                                     \
    get_items(items, to{tid_});                                               \
  }
  TILEWISE_CUB_EXCHANGE(StripedToBlocked, Striped, Blocked, __syncthreads())
  TILEWISE_CUB_EXCHANGE(BlockedToStriped, Blocked, Striped, __syncthreads())
  TILEWISE_CUB_EXCHANGE(WarpStripedToBlocked, WarpStriped, Blocked, __syncwarp(tilewise::lanes_of_warp()))
  TILEWISE_CUB_EXCHANGE(BlockedToWarpStriped, Blocked, WarpStriped, __syncwarp(tilewise::lanes_of_warp()))
#undef TILEWISE_CUB_EXCHANGE
#define TILEWISE_CUB_SCATTER(name, to)                                                             \
  template <class U, class Rank>                                                                   \
  __device__ __forceinline__ void name(const T(&in)[ITEMS], U(&out)[ITEMS], Rank(&ranks)[ITEMS]) { \
    put_items(in, Ranked<Rank>{ranks});                                                            \
    __syncthreads();                                                                               \
    get_items(out, to{tid_});                                                                      \
  }                                                                                                \
  template <class Rank>                                                                            \
  __device__ __forceinline__ void name(T(&items)[ITEMS], Rank(&ranks)[ITEMS]) {                    \
    put_items(items, Ranked<Rank>{ranks});                                                         \
    __syncthreads();                                                                               \
    get_items(items, to{tid_});                                                                    \
  }
  TILEWISE_CUB_SCATTER(ScatterToBlocked, Blocked)
  TILEWISE_CUB_SCATTER(ScatterToStriped, Striped)
#undef TILEWISE_CUB_SCATTER

 private:
  template <class U, class At>
  __device__ __forceinline__ void put_items(const U (&in)[ITEMS], At at) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) temp_.items[at(i)] = in[i];
  }
  template <class U, class At>
  __device__ __forceinline__ void get_items(U (&out)[ITEMS], At at) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) out[i] = temp_.items[at(i)];
  }
};

// ---------------------------------------------------------------- loads and stores

namespace tilewise {

template <class T, int ITEMS, class It, class At>
__device__ __forceinline__ void load_items(It from, T (&items)[ITEMS], int valid, At at) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (at(i) < valid) items[i] = from[at(i)];
}
template <class T, int ITEMS, class It, class At>
__device__ __forceinline__ void store_items(It to, T (&items)[ITEMS], int valid, At at) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (at(i) < valid) to[at(i)] = items[i];
}
constexpr int kAll = 0x7fffffff;

}  // namespace tilewise

// A thread's elements are neighbours.
template <class T, int ITEMS, class It>
__device__ __forceinline__ void LoadDirectBlocked(int tid, It from, T (&items)[ITEMS], int valid = tilewise::kAll) {
  tilewise::load_items(from, items, valid, [=](int i) { return tid * ITEMS + i; });
}
template <class T, int ITEMS, class It>
__device__ __forceinline__ void StoreDirectBlocked(int tid, It to, T (&items)[ITEMS], int valid = tilewise::kAll) {
  tilewise::store_items(to, items, valid, [=](int i) { return tid * ITEMS + i; });
}
template <class T, int ITEMS>
__device__ __forceinline__ void LoadDirectBlockedVectorized(int tid, T* from, T (&items)[ITEMS]) {
  LoadDirectBlocked(tid, from, items);
}
template <class T, int ITEMS>
__device__ __forceinline__ void StoreDirectBlockedVectorized(int tid, T* to, T (&items)[ITEMS]) {
  StoreDirectBlocked(tid, to, items);
}
// They are THREADS apart.
template <int THREADS, class T, int ITEMS, class It>
__device__ __forceinline__ void LoadDirectStriped(int tid, It from, T (&items)[ITEMS], int valid = tilewise::kAll) {
  tilewise::load_items(from, items, valid, [=](int i) { return tid + i * THREADS; });
}
template <int THREADS, class T, int ITEMS, class It>
__device__ __forceinline__ void StoreDirectStriped(int tid, It to, T (&items)[ITEMS], int valid = tilewise::kAll) {
  tilewise::store_items(to, items, valid, [=](int i) { return tid + i * THREADS; });
}
// They are 32 apart, and those of a warp are neighbours.
template <class T, int ITEMS, class It>
__device__ __forceinline__ void LoadDirectWarpStriped(int tid, It from, T (&items)[ITEMS], int valid = tilewise::kAll) {
  tilewise::load_items(from, items, valid, [=](int i) { return tid / 32 * 32 * ITEMS + tid % 32 + i * 32; });
}
template <class T, int ITEMS, class It>
__device__ __forceinline__ void StoreDirectWarpStriped(int tid, It to, T (&items)[ITEMS], int valid = tilewise::kAll) {
  tilewise::store_items(to, items, valid, [=](int i) { return tid / 32 * 32 * ITEMS + tid % 32 + i * 32; });
}

template <class T, int DIM_X, int ITEMS, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int DIM_Y = 1, int DIM_Z = 1,
          int = 0>
class BlockLoad {
  static constexpr bool kTransposes = ALGORITHM == BLOCK_LOAD_TRANSPOSE;
  static constexpr bool kTransposesWarps =
      ALGORITHM == BLOCK_LOAD_WARP_TRANSPOSE || ALGORITHM == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  using Exchange = BlockExchange<T, DIM_X, ITEMS, false, DIM_Y, DIM_Z>;
  using Storage = std::conditional_t<kTransposes || kTransposesWarps, typename Exchange::TempStorage, tilewise::Empty>;
  TILEWISE_CUB_BLOCK(BlockLoad, Storage);

 public:
  template <class It>
  __device__ __forceinline__ void Load(It from, T (&items)[ITEMS], int valid = tilewise::kAll) {
    load_as_asked(from, items, valid);
  }
  /// Elements after the last valid one are `otherwise`.
  template <class It, class Default>
  __device__ __forceinline__ void Load(It from, T (&items)[ITEMS], int valid, Default otherwise) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) items[i] = otherwise;
    load_as_asked(from, items, valid);
  }

 private:
  template <class It>
  __device__ __forceinline__ void load_as_asked(It from, T (&items)[ITEMS], int valid) {
    if constexpr (kTransposes) {
      LoadDirectStriped<THREADS>(tid_, from, items, valid);
      Exchange(temp_).StripedToBlocked(items);
    } else if constexpr (kTransposesWarps) {
      static_assert(THREADS % 32 == 0, "the block has warps of 32 threads");
      LoadDirectWarpStriped(tid_, from, items, valid);
      Exchange(temp_).WarpStripedToBlocked(items);
    } else if constexpr (ALGORITHM == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<THREADS>(tid_, from, items, valid);
    } else {
      LoadDirectBlocked(tid_, from, items, valid);
    }
  }
};

template <class T, int DIM_X, int ITEMS, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int DIM_Y = 1,
          int DIM_Z = 1, int = 0>
class BlockStore {
  static constexpr bool kTransposes = ALGORITHM == BLOCK_STORE_TRANSPOSE;
  static constexpr bool kTransposesWarps =
      ALGORITHM == BLOCK_STORE_WARP_TRANSPOSE || ALGORITHM == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  using Exchange = BlockExchange<T, DIM_X, ITEMS, false, DIM_Y, DIM_Z>;
  using Storage = std::conditional_t<kTransposes || kTransposesWarps, typename Exchange::TempStorage, tilewise::Empty>;
  TILEWISE_CUB_BLOCK(BlockStore, Storage);

 public:
  template <class It>
  __device__ __forceinline__ void Store(It to, T (&items)[ITEMS], int valid = tilewise::kAll) {
    if constexpr (kTransposes) {
      Exchange(temp_).BlockedToStriped(items);
      StoreDirectStriped<THREADS>(tid_, to, items, valid);
    } else if constexpr (kTransposesWarps) {
      static_assert(THREADS % 32 == 0, "the block has warps of 32 threads");
      Exchange(temp_).BlockedToWarpStriped(items);
      StoreDirectWarpStriped(tid_, to, items, valid);
    } else if constexpr (ALGORITHM == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<THREADS>(tid_, to, items, valid);
    } else {
      StoreDirectBlocked(tid_, to, items, valid);
    }
  }
};

// ---------------------------------------------------------------- sorts, histograms, boundaries

namespace tilewise {

template <class Key, class Value, int COUNT, int WARPS>
union SortStorage {
  ScanStorage<int, WARPS> scan;
  ItemsStorage<Key, COUNT> keys;
  ItemsStorage<Value, COUNT> values;
};

}  // namespace tilewise

/// One bit at a time. CUB takes several, so its counts are others.
template <class Key, int DIM_X, int ITEMS, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int DIM_Y = 1, int DIM_Z = 1, int = 0>
class BlockRadixSort {
  static constexpr bool kPairs = !std::is_same_v<Value, NullType>;
  using Held = std::conditional_t<kPairs, Value, char>;
  using Storage = tilewise::SortStorage<Key, Held, DIM_X * DIM_Y * DIM_Z * ITEMS, (DIM_X * DIM_Y * DIM_Z + 31) / 32>;
  TILEWISE_CUB_BLOCK(BlockRadixSort, Storage);
  static constexpr int kBits = 8 * sizeof(Key);

 public:
  __device__ __forceinline__ void Sort(Key (&keys)[ITEMS], int begin = 0, int end = kBits) {
    sort_bits<false>(keys, static_cast<Value(*)[ITEMS]>(nullptr), begin, end, false);
  }
  __device__ __forceinline__ void SortDescending(Key (&keys)[ITEMS], int begin = 0, int end = kBits) {
    sort_bits<false>(keys, static_cast<Value(*)[ITEMS]>(nullptr), begin, end, true);
  }
  __device__ __forceinline__ void SortBlockedToStriped(Key (&keys)[ITEMS], int begin = 0, int end = kBits) {
    sort_bits<true>(keys, static_cast<Value(*)[ITEMS]>(nullptr), begin, end, false);
  }
  __device__ __forceinline__ void SortDescendingBlockedToStriped(Key (&keys)[ITEMS], int begin = 0, int end = kBits) {
    sort_bits<true>(keys, static_cast<Value(*)[ITEMS]>(nullptr), begin, end, true);
  }
  __device__ __forceinline__ void Sort(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0, int end = kBits) {
    sort_bits<false>(keys, &values, begin, end, false);
  }
  __device__ __forceinline__ void SortDescending(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0,
                                                 int end = kBits) {
    sort_bits<false>(keys, &values, begin, end, true);
  }
  __device__ __forceinline__ void SortBlockedToStriped(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0,
                                                       int end = kBits) {
    sort_bits<true>(keys, &values, begin, end, false);
  }
  __device__ __forceinline__ void SortDescendingBlockedToStriped(Key (&keys)[ITEMS], Value (&values)[ITEMS],
                                                                 int begin = 0, int end = kBits) {
    sort_bits<true>(keys, &values, begin, end, true);
  }

 private:
  template <bool STRIPED>
  __device__ __forceinline__ void sort_bits(Key (&keys)[ITEMS], Value (*values)[ITEMS], int begin, int end,
                                            bool descends) {
    for (int bit = begin; bit < end; ++bit) {
      bool ones[ITEMS];
      int zeros = 0;
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        ones[i] = ((tilewise::Bits<Key>::of(keys[i]) >> bit & 1) != 0) != descends;
        zeros += !ones[i];
      }
      int zero, all;
      BlockScan<int, DIM_X, BLOCK_SCAN_WARP_SCANS, DIM_Y, DIM_Z>(temp_.scan).ExclusiveSum(zeros, zero, all);
      int ranks[ITEMS], one = all + tid_ * ITEMS - zero;
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) ranks[i] = ones[i] ? one++ : zero++;
      const bool striped = STRIPED && bit == end - 1;
      __syncthreads();
      scatter_items(temp_.keys.items, keys, ranks, striped);
      if constexpr (kPairs) {
        __syncthreads();
        scatter_items(temp_.values.items, *values, ranks, striped);
      }
      if (bit < end - 1) __syncthreads();
    }
  }
  template <class T>
  __device__ __forceinline__ void scatter_items(T* shared, T (&items)[ITEMS], const int (&ranks)[ITEMS], bool striped) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) shared[ranks[i]] = items[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) items[i] = shared[striped ? tid_ + i * THREADS : tid_ * ITEMS + i];
  }
};

template <class T, int DIM_X, int ITEMS, int BINS, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int DIM_Y = 1,
          int DIM_Z = 1, int = 0>
class BlockHistogram {
  TILEWISE_CUB_BLOCK(BlockHistogram, tilewise::Empty);

 public:
  template <class Count>
  __device__ __forceinline__ void InitHistogram(Count (&histogram)[BINS]) {
    for (int i = tid_; i < BINS; i += THREADS) histogram[i] = 0;
  }
  template <class Count>
  __device__ __forceinline__ void Composite(T (&items)[ITEMS], Count (&histogram)[BINS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) atomicAdd(&histogram[items[i]], Count(1));
  }
  template <class Count>
  __device__ __forceinline__ void Histogram(T (&items)[ITEMS], Count (&histogram)[BINS]) {
    InitHistogram(histogram);
    __syncthreads();
    Composite(items, histogram);
  }
};

template <class T, int DIM_X, int DIM_Y = 1, int DIM_Z = 1, int = 0>
class BlockDiscontinuity {
  using Storage = tilewise::ItemsStorage<T, DIM_X * DIM_Y * DIM_Z>;
  TILEWISE_CUB_BLOCK(BlockDiscontinuity, Storage);

 public:
  /// Whether an element differs from the one before it; the first has a flag, or is compared with `before`.
  template <int ITEMS, class Flag, class Op>
  __device__ __forceinline__ void FlagHeads(Flag (&flags)[ITEMS], T (&in)[ITEMS], Op op) {
    flag_heads(flags, in, op);
  }
  template <int ITEMS, class Flag, class Op>
  __device__ __forceinline__ void FlagHeads(Flag (&flags)[ITEMS], T (&in)[ITEMS], Op op, T before) {
    flag_heads(flags, in, op);
    if (tid_ == 0) flags[0] = op(before, in[0]);
  }
  /// Whether it differs from the one after it; the last has a flag, or is compared with `behind`.
  template <int ITEMS, class Flag, class Op>
  __device__ __forceinline__ void FlagTails(Flag (&flags)[ITEMS], T (&in)[ITEMS], Op op) {
    flag_tails(flags, in, op);
  }
  template <int ITEMS, class Flag, class Op>
  __device__ __forceinline__ void FlagTails(Flag (&flags)[ITEMS], T (&in)[ITEMS], Op op, T behind) {
    flag_tails(flags, in, op);
    if (tid_ == THREADS - 1) flags[ITEMS - 1] = op(in[ITEMS - 1], behind);
  }

 private:
  template <int ITEMS, class Flag, class Op>
  __device__ __forceinline__ void flag_heads(Flag (&flags)[ITEMS], T (&in)[ITEMS], Op op) {
    temp_.items[tid_] = in[ITEMS - 1];
    __syncthreads();
    flags[0] = tid_ == 0 ? 1 : op(temp_.items[tid_ - 1], in[0]);
#pragma unroll
    for (int i = 1; i < ITEMS; ++i) flags[i] = op(in[i - 1], in[i]);
  }
  template <int ITEMS, class Flag, class Op>
  __device__ __forceinline__ void flag_tails(Flag (&flags)[ITEMS], T (&in)[ITEMS], Op op) {
    temp_.items[tid_] = in[0];
    __syncthreads();
    flags[ITEMS - 1] = tid_ == THREADS - 1 ? 1 : op(in[ITEMS - 1], temp_.items[tid_ + 1]);
#pragma unroll
    for (int i = 0; i < ITEMS - 1; ++i) flags[i] = op(in[i], in[i + 1]);
  }
};

#undef TILEWISE_CUB_BLOCK

}  // namespace cub
