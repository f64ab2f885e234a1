// Copies that a group's threads share, and waits for them. Each call is a group of asynchronous copies of each thread.
#pragma once

#include "../cooperative_groups.h"
#include "../tilewise_device/block_barrier.hpp"

namespace cooperative_groups {

template <class Group, class To, class From>
TILEWISE_INLINE void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes) {
  constexpr std::size_t kAlignment = alignof(To) < alignof(From) ? alignof(To) : alignof(From);
  ::tilewise::sim::barrier::copy_part<kAlignment>(to, from, bytes, group.thread_rank(), group.size());
  ::tilewise::sim::async_commit();
}
template <class Group, class To, class From, std::size_t alignment>
TILEWISE_INLINE void memcpy_async(const Group& group, To* to, const From* from,
                                  const ::cuda::aligned_size_t<alignment>& bytes) {
  ::tilewise::sim::barrier::copy_part<alignment>(to, from, bytes.value, group.thread_rank(), group.size());
  ::tilewise::sim::async_commit();
}
/// Elements, of which there are fewer in one of the two places.
template <class Group, class T, class ToCount, class FromCount>
TILEWISE_INLINE void memcpy_async(const Group& group, T* to, const ToCount& to_count, const T* from,
                                  const FromCount& from_count) {
  const std::size_t room = std::size_t(to_count), there = std::size_t(from_count);
  memcpy_async(group, to, from, (room < there ? room : there) * sizeof(T));
}

/// For all but the group's latest copies; and the threads meet.
template <unsigned left, class Group>
TILEWISE_INLINE void wait_prior(const Group& group) {
  ::tilewise::sim::async_wait(left);
  group.sync();
}
template <class Group>
TILEWISE_INLINE void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups
