/// @file
/// Which copies and kernels could be under way at the same time: computed by the simulator from streams, events and waits.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewise {

/// What does a piece of work. A device is taken to have one of each.
enum class Engine { copy_in, sms, copy_out };

/// A copy between host and device, a launch, or a copy to another device, which is work of the one that sends.
struct TimelinePiece {
  Engine engine = Engine::sms;
  int stream = 0;  ///< numbered by their first use in this timeline; -1: the default stream
  double begin = 0, end = 0;
  int device = 0;
};

/// Pieces in the order in which they begin. The unit isn't time, but bytes that a copy moves.
struct Timeline {
  std::vector<TimelinePiece> pieces;
  double length = 0;
};

/// The work that `call` asks for. Each thread of a launch takes as long as `thread_cost` bytes take to come. Nothing on a GPU, where
/// a profiler shows what happened.
std::optional<Timeline> timeline_of(const std::function<void()>& call, double thread_cost);

/// A line for each engine, of 0s, 1s, 2s ... for the work of the streams, a d for the default stream's, and dots where it has nothing to do; `whole` is as long as
/// `width` characters.
std::vector<std::string> drawn(const Timeline& timeline, double whole, std::size_t width);

/// What the device copies out of its memory that copies most, to other devices and to the host: bytes, or the timeline's unit.
double most_sent(const Timeline& timeline);

}  // namespace tilewise
