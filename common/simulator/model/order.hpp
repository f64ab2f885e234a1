// Which work on streams comes before which.
//
// The simulator does all work at once, when it is asked for, and a GPU may do it at any time until something orders it. So that no
// program relies on an order that nothing asks for, each piece of work has a vector clock: it comes after an earlier one if a
// stream, an event, the default stream's rules or a wait of the host says so, whatever the simulator did first. What is missing is
// found in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.hpp"

namespace tilewise::sim::order {

using Stream = std::uint32_t;  ///< streams are numbered

/// The default streams of a device, which come before all others: 0 and 1 of the first device.
constexpr Stream default_of(int device) { return 2 * static_cast<Stream>(device); }
constexpr Stream per_thread_of(int device) { return default_of(device) + 1; }

int device_of(Stream stream);

/// For each stream, how many pieces of its work have been completed.
using Clock = std::vector<std::uint32_t>;

/// The number-th piece of work of a stream, from 1 on.
struct Work {
  Stream stream = 0;
  std::uint32_t number = 0;
};

/// What a piece of work uses: `runs` times `run` bytes, each `stride` bytes after the one before.
struct Bytes {
  std::uintptr_t begin = 0;
  std::size_t run = 0;
  std::size_t runs = 1;
  std::size_t stride = 0;

  std::uintptr_t end() const { return begin + (runs - 1) * stride + run; }
};

enum class Use : std::uint8_t { reads, writes, allocates, frees };

// ---------------------------------------------------------------- streams and events
/// A new stream of the current device. One made with cudaStreamNonBlocking does not wait for the device's default stream, nor that
/// for it.
Stream open_stream(bool blocking);
/// A graph does its nodes in this stream, which the program doesn't know. `graph` tells graphs apart.
void does_nodes_of(Stream stream, const void* graph);
/// Its work goes on; its number may be given to another one later.
void close_stream(Stream stream);

/// What an event stands for that is recorded in the stream now: all work that has been asked for there.
Clock record(Stream stream);
/// What is asked for in the stream from now on comes after the event.
void wait(Stream stream, const Clock& event);

/// How often the host has waited, in whatever call.
std::uint64_t host_has_waited();

/// The host waits for the stream's work, for an event, for everything, for all work on a device.
void host_waits(Stream stream);
void host_waits(const Clock& event);
void host_waits_for_all();
void host_waits_for_device(int device);
/// Whether the host knows that what the event stands for is complete.
bool host_knows(const Clock& event);

/// Whether a host function in a stream has been run after the work. It may have told host code, by a flag or a condition variable that
/// nobody sees here: what host code does with memory from then on is not called too early.
bool may_have_been_told(const Work& work);

/// While one lives, host code is a part of the work that was last asked for: a host function in a stream.
class AsWork {
 public:
  AsWork();
  ~AsWork();
  AsWork(const AsWork&) = delete;
  AsWork& operator=(const AsWork&) = delete;
};

// ---------------------------------------------------------------- work
/// A piece of work is asked for now, and is done next.
Work ask_for(Stream stream);

/// The same of a copy between two devices in a default stream: it comes after all that has been asked for on either, and before all that
/// will be, but for non-blocking streams (CUDA C++ Programming Guide, "Peer-to-Peer Memory Copy", and what two H100s do).
Work ask_for_between(Stream stream, int device, int other);

/// That piece is a copy, a fill or a library's call: `name` is what the program calls, `site` where. What it uses without being
/// ordered after other work that uses the same is a finding.
void uses(const char* name, void* site, const Bytes& bytes, Use use);

/// That piece is a launch whose accesses are checked: its intervals (model/shadow.hpp) begin with `first`. Returns the first
/// interval of all launches that do not come before it; `first` if all do.
std::uint32_t launches(std::uint32_t first, std::size_t serial);

/// An earlier launch.
struct Launched {
  std::uint32_t first;
  Work work;
  std::size_t serial;
};

/// The work that is being done is a launch that would do just what an earlier one in its stream did, which had the intervals from
/// `first` to `last`, and was not done again: that one's accesses are from now on as late as if it had been.
void is_now(std::uint32_t first, std::uint32_t last, std::size_t serial);

/// No stream but default ones is there: none was made, or all are destroyed.
bool has_default_streams_only();

/// How many earlier launches do not come before the work that is being done.
std::size_t unordered_launches();

/// The launch that has this interval, unless it comes before the work that is being done; null then.
const Launched* unordered_launch(std::uint32_t interval);
/// The same for the host: unless the host knows that it is complete.
const Launched* unfinished_launch(std::uint32_t interval);

/// A use of memory by a copy, a fill or a library's call.
struct Used {
  Work work;
  Bytes bytes;
  Use use;
  const char* name;
  void* site;
};

/// Those that do not come before the work that is being done, in no particular order.
std::vector<const Used*> unordered_uses();

/// A part of `bytes` that another piece of work uses; empty if they share nothing.
memory::Range shared(const Bytes& bytes, const Bytes& other);

/// What orders the work that is being done after another: for messages.
const char* advice(Work other);

// ---------------------------------------------------------------- the host
/// Host code that uses memory outside of it needs no look: work that may not be complete does not use it.
extern memory::Range unfinished;

/// Host code uses such bytes.
void host_uses(std::uintptr_t address, std::size_t bytes, bool writes, void* site);

/// Memory gets a new owner: what was done to it before no longer matters.
void forget(std::uintptr_t begin, std::size_t bytes);
/// A device is reset: its streams but the default ones are gone, and its work is over.
void reset(int device);

}  // namespace tilewise::sim::order
