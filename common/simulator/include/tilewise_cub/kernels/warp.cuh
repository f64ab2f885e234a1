// CUB's part for warps: exchanges between lanes are shuffles, so nothing lies in shared memory, and TempStorage is empty, as CUB's is for
// warps of 2, 4, 8, 16 or 32 lanes. The rewriter takes the headers of this folder for the program's own (rewriter/lexer.cpp).
#pragma once

#include "operators.cuh"

namespace cub {

__device__ __forceinline__ int RowMajorTid(int x, int y, int /*z*/) {
  return (threadIdx.z * y + threadIdx.y) * x + threadIdx.x;
}
__device__ __forceinline__ unsigned int LaneId() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32;
}
__device__ __forceinline__ unsigned int WarpId() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32;
}
__device__ __forceinline__ void CTA_SYNC() { __syncthreads(); }
__device__ __forceinline__ void WARP_SYNC(unsigned int mask) { __syncwarp(mask); }
__device__ __forceinline__ int CTA_SYNC_OR(int p) { return __syncthreads_or(p); }
__device__ __forceinline__ int CTA_SYNC_AND(int p) { return __syncthreads_and(p); }
__device__ __forceinline__ int WARP_ALL(int p, unsigned int mask) { return __all_sync(mask, p); }
__device__ __forceinline__ int WARP_ANY(int p, unsigned int mask) { return __any_sync(mask, p); }
__device__ __forceinline__ unsigned int WARP_BALLOT(int p, unsigned int mask) { return __ballot_sync(mask, p); }

namespace tilewise {

struct Empty {};

/// Lanes of this thread's warp that the block has.
__device__ __forceinline__ unsigned int lanes_of_warp() {
  const unsigned int left = blockDim.x * blockDim.y * blockDim.z - 32 * WarpId();
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

/// The value that lane `source` of the warp has, of any type.
template <class T>
__device__ __forceinline__ T from_lane(unsigned int mask, const T& value, int source) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return __shfl_sync(mask, value, source);
  } else {
    constexpr int kWords = (sizeof(T) + 3) / 4;
    unsigned int words[kWords] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __shfl_sync(mask, words[i], source);
    T result;
    memcpy(static_cast<void*>(&result), words, sizeof(T));
    return result;
  }
}

/// The lanes, LANES neighbours of a warp, that work together.
template <int LANES>
struct Lanes {
  static_assert(LANES >= 1 && LANES <= 32, "a warp has 32 lanes");
  int lane;  ///< among them
  int first;
  unsigned int mask;

  __device__ __forceinline__ Lanes() {
    const int own = LaneId();
    lane = own % LANES;
    first = own - lane;
    mask = (LANES == 32 ? 0xffffffffu : ((1u << LANES % 32) - 1) << first) & lanes_of_warp();
  }
  /// How many there are: the block's last warp may have fewer.
  __device__ __forceinline__ int count() const { return __popc(mask); }
  template <class T>
  __device__ __forceinline__ T from(const T& value, int source) const {
    return from_lane(mask, value, first + source);
  }
};

}  // namespace tilewise

/// In a group of LANES lanes, as the source counts.
template <int LANES, class T>
__device__ __forceinline__ T ShuffleIndex(T input, int source, unsigned int mask) {
  return tilewise::from_lane(mask, input, int(LaneId()) / LANES * LANES + source);
}
/// Lanes whose source would lie before `first` keep their value.
template <int LANES, class T>
__device__ __forceinline__ T ShuffleUp(T input, int offset, int first, unsigned int mask) {
  const int lane = LaneId(), group = lane / LANES * LANES;
  return tilewise::from_lane(mask, input, lane - offset >= group + first ? lane - offset : lane);
}
/// Lanes whose source would lie past `last` keep their value.
template <int LANES, class T>
__device__ __forceinline__ T ShuffleDown(T input, int offset, int last, unsigned int mask) {
  const int lane = LaneId(), group = lane / LANES * LANES;
  return tilewise::from_lane(mask, input, lane + offset <= group + last ? lane + offset : lane);
}

namespace tilewise {

// The rewriter knows functions by their names, so none here calls one of its own name: it would look recursive.

/// Of the lanes from this one to `last`.
template <class T, int LANES, class Op>
__device__ __forceinline__ T lanes_to_last(const Lanes<LANES>& lanes, T value, Op op, int last) {
#pragma unroll
  for (int offset = 1; offset < LANES; offset *= 2) {
    const bool takes = lanes.lane + offset <= last;
    const T other = lanes.from(value, takes ? lanes.lane + offset : lanes.lane);
    if (takes) value = op(value, other);
  }
  return value;
}

/// Of the lanes up to this one.
template <class T, int LANES, class Op>
__device__ __forceinline__ T lanes_up_to(const Lanes<LANES>& lanes, T value, Op op) {
#pragma unroll
  for (int offset = 1; offset < LANES; offset *= 2) {
    const bool takes = lanes.lane >= offset;
    const T other = lanes.from(value, takes ? lanes.lane - offset : lanes.lane);
    if (takes) value = op(other, value);
  }
  return value;
}

/// Lane 0 has none before it, and what it gets means nothing.
template <class T, int LANES>
__device__ __forceinline__ T lane_before(const Lanes<LANES>& lanes, const T& inclusive) {
  return lanes.from(inclusive, lanes.lane == 0 ? 0 : lanes.lane - 1);
}

}  // namespace tilewise

/// Results are lane 0's; those of the other lanes mean nothing.
template <class T, int LANES = 32, int = 0>
class WarpReduce {
 public:
  using TempStorage = tilewise::Empty;
  __device__ __forceinline__ WarpReduce(TempStorage&) {}

  template <class Op>
  __device__ __forceinline__ T Reduce(T input, Op op, int valid) {
    const tilewise::Lanes<LANES> lanes;
    return tilewise::lanes_to_last(lanes, input, op, valid - 1);
  }
  template <class Op>
  __device__ __forceinline__ T Reduce(T input, Op op) {
    const tilewise::Lanes<LANES> lanes;
    return tilewise::lanes_to_last(lanes, input, op, lanes.count() - 1);
  }
  __device__ __forceinline__ T Sum(T input) {
    const tilewise::Lanes<LANES> lanes;
    return tilewise::lanes_to_last(lanes, input, tilewise::Plus{}, lanes.count() - 1);
  }
  __device__ __forceinline__ T Sum(T input, int valid) {
    const tilewise::Lanes<LANES> lanes;
    return tilewise::lanes_to_last(lanes, input, tilewise::Plus{}, valid - 1);
  }

  /// A segment begins where a flag is set; its result is at its first lane.
  template <class Flag, class Op>
  __device__ __forceinline__ T HeadSegmentedReduce(T input, Flag head, Op op) {
    return up_to_next_head(input, head, op);
  }
  template <class Flag>
  __device__ __forceinline__ T HeadSegmentedSum(T input, Flag head) {
    return up_to_next_head(input, head, tilewise::Plus{});
  }
  /// A segment ends where a flag is set.
  template <class Flag, class Op>
  __device__ __forceinline__ T TailSegmentedReduce(T input, Flag tail, Op op) {
    return up_to_tail(input, tail, op);
  }
  template <class Flag>
  __device__ __forceinline__ T TailSegmentedSum(T input, Flag tail) {
    return up_to_tail(input, tail, tilewise::Plus{});
  }

 private:
  template <class Flag, class Op>
  __device__ __forceinline__ T up_to_next_head(T input, Flag head, Op op) {
    const tilewise::Lanes<LANES> lanes;
    const unsigned int heads = __ballot_sync(lanes.mask, head) >> lanes.first;
    const unsigned int behind = lanes.lane == 31 ? 0 : heads & ~0u << (lanes.lane + 1);
    return tilewise::lanes_to_last(lanes, input, op, behind ? __ffs(behind) - 2 : lanes.count() - 1);
  }
  template <class Flag, class Op>
  __device__ __forceinline__ T up_to_tail(T input, Flag tail, Op op) {
    const tilewise::Lanes<LANES> lanes;
    const unsigned int tails = __ballot_sync(lanes.mask, tail) >> lanes.first & ~0u << lanes.lane;
    return tilewise::lanes_to_last(lanes, input, op, tails ? __ffs(tails) - 1 : lanes.count() - 1);
  }
};

template <class T, int LANES = 32, int = 0>
class WarpScan {
 public:
  using TempStorage = tilewise::Empty;
  __device__ __forceinline__ WarpScan(TempStorage&) {}

  template <class Op>
  __device__ __forceinline__ void InclusiveScan(T input, T& inclusive, Op op) {
    T exclusive, aggregate;
    scan_lanes(input, inclusive, exclusive, op, aggregate);
  }
  template <class Op>
  __device__ __forceinline__ void InclusiveScan(T input, T& inclusive, Op op, T& aggregate) {
    T exclusive;
    scan_lanes(input, inclusive, exclusive, op, aggregate);
  }
  /// Without a first value lane 0's result means nothing.
  template <class Op>
  __device__ __forceinline__ void ExclusiveScan(T input, T& exclusive, Op op) {
    T inclusive, aggregate;
    scan_lanes(input, inclusive, exclusive, op, aggregate);
  }
  template <class Op>
  __device__ __forceinline__ void ExclusiveScan(T input, T& exclusive, Op op, T& aggregate) {
    T inclusive;
    scan_lanes(input, inclusive, exclusive, op, aggregate);
  }
  template <class Op>
  __device__ __forceinline__ void ExclusiveScan(T input, T& exclusive, T first, Op op) {
    T inclusive, aggregate;
    scan_lanes_from(first, input, inclusive, exclusive, op, aggregate);
  }
  template <class Op>
  __device__ __forceinline__ void ExclusiveScan(T input, T& exclusive, T first, Op op, T& aggregate) {
    T inclusive;
    scan_lanes_from(first, input, inclusive, exclusive, op, aggregate);
  }
  template <class Op>
  __device__ __forceinline__ void Scan(T input, T& inclusive, T& exclusive, Op op) {
    T aggregate;
    scan_lanes(input, inclusive, exclusive, op, aggregate);
  }
  template <class Op>
  __device__ __forceinline__ void Scan(T input, T& inclusive, T& exclusive, T first, Op op) {
    T aggregate;
    scan_lanes_from(first, input, inclusive, exclusive, op, aggregate);
    inclusive = op(first, inclusive);
  }

  __device__ __forceinline__ void InclusiveSum(T input, T& inclusive) {
    T exclusive, aggregate;
    scan_lanes(input, inclusive, exclusive, tilewise::Plus{}, aggregate);
  }
  __device__ __forceinline__ void InclusiveSum(T input, T& inclusive, T& aggregate) {
    T exclusive;
    scan_lanes(input, inclusive, exclusive, tilewise::Plus{}, aggregate);
  }
  __device__ __forceinline__ void ExclusiveSum(T input, T& exclusive) {
    T inclusive, aggregate;
    scan_lanes_from(T(0), input, inclusive, exclusive, tilewise::Plus{}, aggregate);
  }
  __device__ __forceinline__ void ExclusiveSum(T input, T& exclusive, T& aggregate) {
    T inclusive;
    scan_lanes_from(T(0), input, inclusive, exclusive, tilewise::Plus{}, aggregate);
  }
  __device__ __forceinline__ T Broadcast(T input, unsigned int source) {
    const tilewise::Lanes<LANES> lanes;
    return lanes.from(input, source);
  }

 private:
  template <class Op>
  __device__ __forceinline__ void scan_lanes(T input, T& inclusive, T& exclusive, Op op, T& aggregate) {
    const tilewise::Lanes<LANES> lanes;
    inclusive = tilewise::lanes_up_to(lanes, input, op);
    exclusive = tilewise::lane_before(lanes, inclusive);
    aggregate = lanes.from(inclusive, lanes.count() - 1);
  }
  template <class Op>
  __device__ __forceinline__ void scan_lanes_from(T first, T input, T& inclusive, T& exclusive, Op op, T& aggregate) {
    scan_lanes(input, inclusive, exclusive, op, aggregate);
    exclusive = LaneId() % LANES == 0 ? first : op(first, exclusive);
  }
};

}  // namespace cub
