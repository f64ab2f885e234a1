// Copies from global to shared memory that a thread has begun and not yet waited for: __pipeline_memcpy_async and kin.
//
// A GPU makes such a copy at some time before the wait that covers it. Here it is made in that wait, the latest moment: until
// then the old bytes are seen, so that a program that does not wait goes wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::sim {

struct Lane;

struct AsyncCopy {
  void* to;
  const void* from;
  std::uint8_t bytes;    ///< that are written
  std::uint8_t read;     ///< of these, from the source; zeros are written after them
  std::uint16_t thread;  ///< that has begun it, by its position in the block
  std::uint32_t group;   ///< of that thread's copies, divided by __pipeline_commit(): 0, 1, ...
  const void* site;
  bool chosen_zeros;  ///< how many zeros is not known when it is compiled
};

namespace async {

/// Copies of one thread between two __pipeline_commit().
struct Group {
  std::uint32_t number;
  std::uint64_t loads;  ///< of shared memory that the thread had made when it began the first copy
};

/// Copies of one thread.
struct ThreadsCopies {
  std::vector<AsyncCopy> begun;  ///< in their order; those before `first` are complete
  std::size_t first = 0;
  std::uint32_t committed = 0;   ///< groups
  std::uint32_t wait_after = 0;  ///< groups that had been committed when the thread last waited
  std::size_t wait_left = 0;     ///< and what the wait was given
  const void* wait_site = nullptr;
  // In a launch that is counted, to see whether a thread does anything while its copies are on their way.
  std::vector<Group> groups;  ///< with copies in flight
  std::uint64_t loads = 0;    ///< of shared memory, before the last barrier, while there were such groups
};

/// The running block's copies are put away, and back again. Empty: there are none.
std::vector<ThreadsCopies> suspend_block();
void resume_block(std::vector<ThreadsCopies> copies);

/// The running block's copies are forgotten: the next one begins.
void begin_block();
/// No lane of a warp can go on before the next barrier. `lanes` are the warp's 32.
void end_of_interval(const Lane* lanes);

/// A copy in flight that writes some of these bytes, or reads some of them; null: there is none.
const AsyncCopy* writing(const void* address, std::size_t bytes);
const AsyncCopy* reading(const void* address, std::size_t bytes);

/// What is missing for the copy to be complete: "no __pipeline_wait_prior() has followed the copy yet".
std::string what_is_missing(const AsyncCopy& copy);

}  // namespace async
}  // namespace tilewise::sim
