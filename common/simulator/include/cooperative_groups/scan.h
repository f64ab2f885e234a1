// Scans over tiles and coalesced groups.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

/// The values of this thread and of all of lower rank, combined: in log2(size) steps, in CUDA's order.
template <class Group, class T, class Op>
TILEWISE_INLINE T inclusive_scan(const Group& group, T value, Op&& op) {
  if constexpr (details::has_several_warps<Group>::value) {
    const T of_warp = inclusive_scan(group.warp(), value, op);
    T before = of_warp;
    return group.tilewise_before(of_warp, before, op) ? op(before, of_warp) : of_warp;
  } else {
    const unsigned rank = group.thread_rank();
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
      const T before = group.shfl_up(value, distance);
      if (rank >= distance) value = op(before, value);
    }
    return value;
  }
}
template <class Group, class T>
TILEWISE_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// The values of all threads of lower rank, combined. The first thread gets T(), as it does from CUDA.
template <class Group, class T, class Op>
TILEWISE_INLINE T exclusive_scan(const Group& group, T value, Op&& op) {
  if constexpr (details::has_several_warps<Group>::value) {
    const T of_warp = inclusive_scan(group.warp(), value, op), lower = group.warp().shfl_up(of_warp, 1);
    T before = T();
    const bool later = group.tilewise_before(of_warp, before, op);
    if (group.warp().thread_rank() == 0) return before;
    return later ? op(before, lower) : lower;
  } else {
    const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : before;
  }
}
template <class Group, class T>
TILEWISE_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
