// When the work of streams could be done, if each device had three engines: one that copies to it, one that copies from it, and its SMs.
//
// The pieces of work and what comes before them are order.hpp's; each engine does one piece at a time, whichever could begin first.
// What a piece costs is no time but bytes: see tilewise_sim/report.hpp.
#pragma once

#include <cstddef>

#include "model/order.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::timeline {

/// order.cpp: `work` is asked for, after all that is in `before` (itself included). Does nothing unless begin_timeline() was called.
void asked_for(order::Work work, const order::Clock& before);

/// The work that was asked for last is a copy between host and device, or between the two devices of a copy_out. `host_stays`: the call comes back when it is done.
void is_copy(Engine engine, int device, std::size_t bytes, bool host_stays);
/// It is a launch.
void is_launch(std::size_t threads);

}  // namespace tilewise::sim::timeline
