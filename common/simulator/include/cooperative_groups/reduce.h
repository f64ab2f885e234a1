// Group-wide reductions over tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {  // the smaller one
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {  // the larger one
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

namespace details {
/// Of lanes of one warp. Values are combined in the order of
/// a tree over the ranks: the upper half is folded onto the lower half until one is left.
template <class Group, class T, class Op>
TILEWISE_INLINE T reduce_lanes(const Group& group, T value, Op&& op) {
  const unsigned lanes = group.tilewise_lanes();
  alignas(T) unsigned char bytes[::tilewise::sim::kWarpSize * sizeof(T)];
  details::exchange(lanes, ::tilewise::sim::WarpOp::reduce, value, bytes);
  T* values = reinterpret_cast<T*>(bytes);
  unsigned count = 0;
  for (unsigned lane = 0; lane < ::tilewise::sim::kWarpSize; ++lane) {
    if (lanes >> lane & 1u) values[count++] = values[lane];
  }
  while (count > 1) {
    const unsigned kept = (count + 1) / 2;
    for (unsigned i = 0; i + kept < count; ++i) values[i] = op(values[i], values[i + kept]);
    count = kept;
  }
  return values[0];
}
}  // namespace details

/// Every thread gets the values of all threads of the group, combined; those of several warps warp by warp.
template <class Group, class T, class Op>
TILEWISE_INLINE T reduce(const Group& group, T value, Op&& op) {
  if constexpr (details::has_several_warps<Group>::value)
    return group.tilewise_combine(details::reduce_lanes(group.warp(), value, op), op);
  else
    return details::reduce_lanes(group, value, op);
}

}  // namespace cooperative_groups
