// Copies from global to shared memory that a thread has begun and not yet waited for: __pipeline_memcpy_async and kin.
//
// A GPU makes such a copy at some time before the wait that covers it. Here it is made in that wait, the latest moment: until
// then the old bytes are seen, so that a program that does not wait goes wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewise::sim {

struct Lane;

struct AsyncCopy {
  void* to;
  const void* from;
  std::uint8_t bytes;    ///< that are written
  std::uint8_t read;     ///< of these, from the source; zeros are written behind them
  std::uint16_t thread;  ///< that has begun it, by its position in the block
  std::uint32_t group;   ///< of that thread's copies, divided by __pipeline_commit(): 0, 1, ...
  const void* site;
  bool chosen_zeros;  ///< how many zeros is not known when it is compiled
};

namespace async {

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
