// Cooperative groups: grids, blocks, tiles, and coalesced groups.
#pragma once
#define _COOPERATIVE_GROUPS_H_  // programs ask for it
#ifdef __CUDACC__               // plain C++ may include it, as with nvcc, and has nothing of it

#include <cstdint>
#include <type_traits>
#include <utility>

#include "cuda_runtime.h"
#include "tilewise_device/block_barrier_word.hpp"
#include "tilewise_device/integer.hpp"
#include "tilewise_device/warp.hpp"

namespace cooperative_groups {

class thread_block;
class coalesced_group;
template <unsigned Size, class Parent>
class thread_block_tile;

namespace details {

inline unsigned block_threads() {
  const dim3 size = ::tilewise::sim::block_dim();
  return size.x * size.y * size.z;
}

// Lanes of the caller's warp that exist: the last warp of a block may be partial.
inline unsigned existing_lanes() {
  const unsigned first = ::tilewise::sim::linear_tid() & ~31u;
  const unsigned left = block_threads() - first;
  return left >= 32 ? 0xffffffffu : (1u << left) - 1u;
}

inline unsigned lanes_before(unsigned lane) { return (1u << lane) - 1u; }

inline unsigned nth_lane(unsigned lanes, unsigned rank) {
  while (rank-- > 0) lanes &= lanes - 1;
  return unsigned(__ffs(int(lanes))) - 1u;
}

// The bits of `value` under `lanes`, moved together: bit r belongs to the r-th lane.
inline unsigned pack(unsigned value, unsigned lanes) {
  unsigned packed = 0;
  for (unsigned rank = 0; lanes != 0; ++rank, lanes &= lanes - 1) {
    if (value & lanes & (0u - lanes)) packed |= 1u << rank;
  }
  return packed;
}

// Hands values of any size round the lanes of `mask`, eight bytes at a time. `all` has room for 32 of them.
template <class T>
TILEWISE_INLINE void exchange(unsigned mask, ::tilewise::sim::WarpOp op, const T& value, unsigned char* all) {
  static_assert(std::is_trivially_destructible_v<T>, "values are handed over as bytes");
  constexpr std::size_t words = (sizeof(T) + 7) / 8;
  std::uint64_t bits[words] = {};
  __builtin_memcpy(bits, static_cast<const void*>(&value), sizeof(T));
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t published[::tilewise::sim::kWarpSize];
    ::tilewise::sim::warp_exchange(mask, op, bits[word], published);
    const std::size_t bytes = word + 1 < words ? 8 : sizeof(T) - 8 * word;
    for (unsigned lane = 0; lane < ::tilewise::sim::kWarpSize; ++lane) {
      ::tilewise::sim::raw_copy(all + lane * sizeof(T) + 8 * word, &published[lane], bytes);
    }
  }
}

template <class T>
TILEWISE_INLINE T shuffle(unsigned mask, const T& value, unsigned source) {
  if constexpr (sizeof(T) <= 8) {
    return ::tilewise::sim::warp_detail::shuffle(mask, value, source);
  } else {
    alignas(T) unsigned char all[::tilewise::sim::kWarpSize * sizeof(T)];
    exchange(mask, ::tilewise::sim::WarpOp::shuffle, value, all);
    return reinterpret_cast<const T*>(all)[source];
  }
}

// What tiles and coalesced groups share: both are a set of lanes of one warp.
class lanes_group {
 public:
  unsigned size() const { return unsigned(__popc(lanes_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return unsigned(__popc(lanes_ & lanes_before(::tilewise::sim::lane_id()))); }
  TILEWISE_INLINE void sync() const { __syncwarp(lanes_); }
  TILEWISE_INLINE int any(int predicate) const { return __any_sync(lanes_, predicate); }
  TILEWISE_INLINE int all(int predicate) const { return __all_sync(lanes_, predicate); }
  /// Bit r is the predicate of the thread of rank r.
  TILEWISE_INLINE unsigned ballot(int predicate) const { return pack(__ballot_sync(lanes_, predicate), lanes_); }
  template <class T>
  TILEWISE_INLINE unsigned match_any(T value) const {
    return pack(__match_any_sync(lanes_, value), lanes_);
  }
  template <class T>
  TILEWISE_INLINE unsigned match_all(T value, int& all_equal) const {
    return pack(__match_all_sync(lanes_, value, &all_equal), lanes_);
  }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  /// Not CUDA's: the lanes, for the functions of this header.
  unsigned tilewise_lanes() const { return lanes_; }

 protected:
  lanes_group(unsigned lanes, unsigned meta_rank, unsigned meta_size)
      : lanes_(lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned lanes_;
  unsigned meta_rank_;
  unsigned meta_size_;
};

}  // namespace details

// ---------------------------------------------------------------- the grid
/// All threads of the launch.
class grid_group {
 public:
  bool is_valid() const { return ::tilewise::sim::is_cooperative(); }
  TILEWISE_INLINE void sync() const { ::tilewise::sim::sync_grid(); }
  unsigned long long size() const { return num_blocks() * details::block_threads(); }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    return block_rank() * details::block_threads() + ::tilewise::sim::linear_tid();
  }
  unsigned long long block_rank() const {
    const uint3 block = ::tilewise::sim::block_idx();
    const dim3 grid = ::tilewise::sim::grid_dim();
    return (static_cast<unsigned long long>(block.z) * grid.y + block.y) * grid.x + block.x;
  }
  unsigned long long num_blocks() const {
    const dim3 grid = ::tilewise::sim::grid_dim();
    return static_cast<unsigned long long>(grid.x) * grid.y * grid.z;
  }
  dim3 dim_blocks() const { return ::tilewise::sim::grid_dim(); }
  dim3 group_dim() const { return ::tilewise::sim::grid_dim(); }
  dim3 dim_threads() const {
    const dim3 grid = ::tilewise::sim::grid_dim(), block = ::tilewise::sim::block_dim();
    return {grid.x * block.x, grid.y * block.y, grid.z * block.z};
  }
  dim3 block_index() const { return ::tilewise::sim::block_idx(); }
  dim3 thread_index() const {
    const uint3 at = ::tilewise::sim::block_idx(), thread = ::tilewise::sim::thread_idx();
    const dim3 block = ::tilewise::sim::block_dim();
    return {at.x * block.x + thread.x, at.y * block.y + thread.y, at.z * block.z + thread.z};
  }
};
inline grid_group this_grid() { return {}; }

// ---------------------------------------------------------------- the block
namespace details {
/// What tiles of several warps need: barriers, and a place for each warp's value.
struct tile_memory {
  static constexpr unsigned kSlot = 32;
  ::tilewise::sim::barrier::TileWords* words = nullptr;
  unsigned char* slots = nullptr;
};
}  // namespace details

/// Shared memory for tiles of more than a warp, for this_thread_block().
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  static_assert(MaxBlockSize <= 1024, "a block has 1024 threads at most");
  ::tilewise::sim::barrier::TileWords tilewise_words;
  alignas(16) unsigned char tilewise_slots[(MaxBlockSize + 31) / 32 * details::tile_memory::kSlot];
};

class thread_block {
 public:
  TILEWISE_INLINE static void sync() { __syncthreads(); }
  static unsigned size() { return details::block_threads(); }
  static unsigned num_threads() { return size(); }
  static unsigned thread_rank() { return ::tilewise::sim::linear_tid(); }
  static dim3 group_index() { return ::tilewise::sim::block_idx(); }
  static dim3 thread_index() { return ::tilewise::sim::thread_idx(); }
  static dim3 group_dim() { return ::tilewise::sim::block_dim(); }
  static dim3 dim_threads() { return ::tilewise::sim::block_dim(); }

  /// Not CUDA's: for tiles of several warps.
  details::tile_memory tilewise_memory;
};
inline thread_block this_thread_block() { return {}; }
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  if (details::block_threads() > MaxBlockSize) {
    if (::tilewise::sim::linear_tid() == 0)
      ::tilewise::sim::Print{0}("block_tile_memory<%u> of a block of %u threads\n", MaxBlockSize,
                                details::block_threads());
    ::tilewise::sim::trap();
  }
  thread_block block;
  block.tilewise_memory = {&memory.tilewise_words, memory.tilewise_slots};
  return block;
}

// ---------------------------------------------------------------- coalesced groups
/// Any set of lanes of one warp; ranks count its members upwards.
class coalesced_group : public details::lanes_group {
 public:
  /// The value of the thread of rank `source`.
  template <class T>
  TILEWISE_INLINE T shfl(T value, unsigned source) const {
    return details::shuffle(lanes_, value, details::nth_lane(lanes_, source % size()));
  }
  template <class T>
  TILEWISE_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return details::shuffle(lanes_, value, details::nth_lane(lanes_, rank >= delta ? rank - delta : rank));
  }
  template <class T>
  TILEWISE_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return details::shuffle(lanes_, value, details::nth_lane(lanes_, delta < size() - rank ? rank + delta : rank));
  }

  /// Not CUDA's: a group made of given lanes.
  static coalesced_group tilewise_of(unsigned lanes, unsigned meta_rank = 0, unsigned meta_size = 1) {
    return coalesced_group(lanes, meta_rank, meta_size);
  }

 private:
  using lanes_group::lanes_group;
};

/// The threads that are converged here.
TILEWISE_INLINE coalesced_group coalesced_threads() { return coalesced_group::tilewise_of(__activemask()); }

// ---------------------------------------------------------------- tiles
namespace details {

/// A tile of at most a warp.
template <unsigned Size>
class tile_of_lanes : public lanes_group {
 public:
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return ::tilewise::sim::lane_id() & (Size - 1); }

  template <class T>
  TILEWISE_INLINE T shfl(T value, int source) const {
    return details::shuffle(lanes_, value, from(::tilewise::sim::warp_detail::source_index, source));
  }
  template <class T>
  TILEWISE_INLINE T shfl_up(T value, unsigned delta) const {
    return details::shuffle(lanes_, value, from(::tilewise::sim::warp_detail::source_up, delta));
  }
  template <class T>
  TILEWISE_INLINE T shfl_down(T value, unsigned delta) const {
    return details::shuffle(lanes_, value, from(::tilewise::sim::warp_detail::source_down, delta));
  }
  template <class T>
  TILEWISE_INLINE T shfl_xor(T value, unsigned mask) const {
    return details::shuffle(lanes_, value, from(::tilewise::sim::warp_detail::source_xor, mask));
  }

 protected:
  /// The caller's tile within its warp.
  tile_of_lanes(unsigned meta_rank, unsigned meta_size, tile_memory)
      : lanes_group(lanes_of_caller() & existing_lanes(), meta_rank, meta_size) {}

 private:
  static unsigned lanes_of_caller() {
    return Size == 32 ? 0xffffffffu : ((1u << (Size & 31u)) - 1u) << (::tilewise::sim::lane_id() & ~(Size - 1));
  }
  template <class Amount, class Given>
  static unsigned from(unsigned (*source)(unsigned, Amount, int), Given amount) {
    return source(::tilewise::sim::lane_id(), Amount(amount), int(Size));
  }
};

template <unsigned Size>
class tile_of_warps;

}  // namespace details

/// `Size` consecutive threads of a block or of a larger tile: 1, 2, 4, ..., 32, and with block_tile_memory up to 1024.
template <unsigned Size, class Parent = void>
class thread_block_tile
    : public std::conditional_t<(Size <= 32), details::tile_of_lanes<Size>, details::tile_of_warps<Size>> {
  static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");
  using Base = std::conditional_t<(Size <= 32), details::tile_of_lanes<Size>, details::tile_of_warps<Size>>;

 public:
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& tile) : Base(tile) {}

  /// Not CUDA's: the caller's.
  static thread_block_tile tilewise_of(unsigned meta_rank, unsigned meta_size, details::tile_memory memory = {}) {
    return thread_block_tile(meta_rank, meta_size, memory);
  }

 private:
  thread_block_tile(unsigned meta_rank, unsigned meta_size, details::tile_memory memory)
      : Base(meta_rank, meta_size, memory) {}
};

namespace details {

/// A tile of several warps. It has what CUDA has of such: no shuffles but from one thread to all, no ballots, no matches. What it moves
/// through its memory is neither counted nor checked.
template <unsigned Size>
class tile_of_warps {
 public:
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return ::tilewise::sim::linear_tid() & (Size - 1); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  TILEWISE_INLINE void sync() const {
    constexpr unsigned kFirst = 32 - 2048 / Size;  // of the barriers for tiles of this size
    ::tilewise::sim::barrier::meet(*memory_.words, kFirst + ::tilewise::sim::linear_tid() / Size, threads());
  }
  /// The value of the thread of rank `source`, which is the same in all.
  template <class T>
  TILEWISE_INLINE T shfl(T value, unsigned source) const {
    static_assert(sizeof(T) <= tile_memory::kSlot, "tiles of several warps hand values of up to 32 bytes round");
    if (thread_rank() == source) put(value);
    sync();
    const T got = at<T>(source / 32);
    sync();
    return got;
  }
  TILEWISE_INLINE int any(int predicate) const {
    return tilewise_combine(warp().any(predicate), [](int a, int b) { return a | b; });
  }
  TILEWISE_INLINE int all(int predicate) const {
    return tilewise_combine(warp().all(predicate), [](int a, int b) { return a & b; });
  }

  /// Not CUDA's. The caller's warp; all warps' values in order, combined; and those of the warps before the caller's: false for the first.
  TILEWISE_INLINE static thread_block_tile<32> warp() {
    return thread_block_tile<32>::tilewise_of(thread_rank() / 32, Size / 32);
  }
  tile_memory tilewise_memory() const { return memory_; }
  template <class T, class Op>
  TILEWISE_INLINE T tilewise_combine(const T& value, Op&& op) const {
    static_assert(sizeof(T) <= tile_memory::kSlot, "tiles of several warps hand values of up to 32 bytes round");
    if (::tilewise::sim::lane_id() == 0) put(value);
    sync();
    T combined = at<T>(0);
    for (unsigned i = 1; i < (threads() + 31) / 32; ++i) combined = op(combined, at<T>(i));
    sync();
    return combined;
  }
  template <class T, class Op>
  TILEWISE_INLINE bool tilewise_before(const T& last_of_warp, T& before, Op&& op) const {
    static_assert(sizeof(T) <= tile_memory::kSlot, "tiles of several warps hand values of up to 32 bytes round");
    if (::tilewise::sim::lane_id() == 31) put(last_of_warp);
    sync();
    const unsigned warps = thread_rank() / 32;
    if (warps != 0) before = at<T>(0);
    for (unsigned i = 1; i < warps; ++i) before = op(before, at<T>(i));
    sync();
    return warps != 0;
  }

 protected:
  tile_of_warps(unsigned meta_rank, unsigned meta_size, tile_memory memory)
      : memory_(memory), meta_rank_(meta_rank), meta_size_(meta_size) {
    if (memory.words == nullptr)
      ::tilewise::sim::unsupported("a tile of more than a warp without block_tile_memory given to this_thread_block()");
  }

 private:
  /// The last tile may be smaller.
  static unsigned threads() {
    const unsigned left = block_threads() - (::tilewise::sim::linear_tid() & ~(Size - 1));
    return left < Size ? left : Size;
  }
  unsigned char* slot(unsigned warp_of_tile) const {
    const unsigned first = (::tilewise::sim::linear_tid() & ~(Size - 1)) / 32;
    return memory_.slots + (first + warp_of_tile) * tile_memory::kSlot;
  }
  template <class T>
  void put(const T& value) const {
    ::tilewise::sim::raw_copy(slot(thread_rank() / 32), &value, sizeof value);
  }
  template <class T>
  T at(unsigned warp_of_tile) const {
    T value;
    ::tilewise::sim::raw_copy(&value, slot(warp_of_tile), sizeof value);
    return value;
  }

  tile_memory memory_;
  unsigned meta_rank_, meta_size_;
};

}  // namespace details

template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return thread_block_tile<Size, thread_block>::tilewise_of(
      ::tilewise::sim::linear_tid() / Size, (details::block_threads() + Size - 1) / Size, block.tilewise_memory);
}
template <unsigned Size, unsigned ParentSize, class Grandparent>
thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>& parent) {
  static_assert(Size <= ParentSize, "a tile is no larger than what it is a part of");
  details::tile_memory memory;
  if constexpr (ParentSize > 32) memory = parent.tilewise_memory();
  return thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>>::tilewise_of(parent.thread_rank() / Size,
                                                                                          ParentSize / Size, memory);
}

namespace details {
template <class Group>
struct has_several_warps : std::false_type {};
template <unsigned Size, class Parent>
struct has_several_warps<thread_block_tile<Size, Parent>> : std::bool_constant<(Size > 32)> {};
}  // namespace details

inline thread_block_tile<1, thread_block> this_thread() { return tiled_partition<1>(this_thread_block()); }

// ---------------------------------------------------------------- groups whose kind is known at run time
class thread_group {
 public:
  thread_group(const grid_group&) : kind_(Kind::grid), lanes_(0) {}
  thread_group(const thread_block&) : kind_(Kind::block), lanes_(0) {}
  thread_group(const coalesced_group& group) : kind_(Kind::lanes), lanes_(group.tilewise_lanes()) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile) : kind_(Kind::lanes), lanes_(tile.tilewise_lanes()) {}

  unsigned long long size() const {
    if (kind_ == Kind::grid) return this_grid().size();
    return kind_ == Kind::block ? details::block_threads() : unsigned(__popc(lanes_));
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    if (kind_ == Kind::grid) return this_grid().thread_rank();
    if (kind_ == Kind::block) return ::tilewise::sim::linear_tid();
    return unsigned(__popc(lanes_ & details::lanes_before(::tilewise::sim::lane_id())));
  }
  TILEWISE_INLINE void sync() const {
    if (kind_ == Kind::grid) {
      ::tilewise::sim::sync_grid();
    } else if (kind_ == Kind::block) {
      __syncthreads();
    } else {
      __syncwarp(lanes_);
    }
  }
  bool tilewise_is_block() const { return kind_ == Kind::block; }
  unsigned tilewise_lanes() const { return lanes_; }

 private:
  enum class Kind : unsigned char { lanes, block, grid } kind_;
  unsigned lanes_;
};

/// Tiles of `size` consecutive ranks of a coalesced group; the last may be smaller.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned tile = parent.thread_rank() / size;
  unsigned lanes = 0;
  for (unsigned rank = tile * size; rank < (tile + 1) * size && rank < parent.size(); ++rank) {
    lanes |= 1u << details::nth_lane(parent.tilewise_lanes(), rank);
  }
  return coalesced_group::tilewise_of(lanes, tile, (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) ::tilewise::sim::unsupported("this size of a dynamic tile");
  const unsigned lanes = parent.tilewise_is_block() ? details::existing_lanes() : parent.tilewise_lanes();
  return tiled_partition(coalesced_group::tilewise_of(lanes), size);
}

/// One group for each distinct label.
template <class Group, class Label>
TILEWISE_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
  const unsigned lanes = __match_any_sync(group.tilewise_lanes(), label);
  // Groups are numbered in the order of their lowest lanes.
  const bool leads = (lanes & details::lanes_before(::tilewise::sim::lane_id())) == 0;
  const unsigned leaders = __ballot_sync(group.tilewise_lanes(), leads);
  const unsigned lowest = lanes & (0u - lanes);
  return coalesced_group::tilewise_of(lanes, unsigned(__popc(leaders & (lowest - 1u))), unsigned(__popc(leaders)));
}
/// Two groups: where the predicate holds, and where it does not.
template <class Group>
TILEWISE_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
  return labeled_partition(group, int(predicate));
}

// ---------------------------------------------------------------- functions on any group
template <class Group>
TILEWISE_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}

/// Calls the function on the thread of rank 0 only.
template <class Group, class Function, class... Args>
void invoke_one(const Group& group, Function&& function, Args&&... args) {
  if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Args>(args)...);
}

}  // namespace cooperative_groups

#endif
