// How far races are looked for: in a program's first accesses, so that long ones come to their end.
//
// To look for races costs several times what looking at bounds does, and four to eight bytes for each that is used. So launches of one place
// and shape share a number of accesses, their part of what is left of the program's; from there on an access is held against bounds,
// alignment and what has been written in global memory, not against other accesses. This counts accesses, not time, so that every
// run of a program behaves alike; and a program that has been looked at in part says so when it ends.
#pragma once

#include <cstdint>

#include "base/thread.hpp"

namespace tilewise::sim::race_search {

/// How many accesses of the running launch are still looked at. Below 1: none is.
extern constinit std::int64_t left;

inline bool goes_on() { return left > 0; }

/// Cells (model/shadow.hpp) are made for memory that is used for the first time, half a megabyte of them. The memory that all cells
/// of a program take is limited by that, to some 4 GB.
inline void pay_for_cells() {
  constexpr std::int64_t kAccesses = 1 << 17;
  if (left > 1) left = left > kAccesses ? left - kAccesses : 1;
}

/// `whole`: all of the launch is looked at, whatever it costs.
void begin_launch(const Launch& launch, bool whole);
void end_launch(const Launch& launch);

/// At the end of the program: one line on stderr if some accesses were not looked at.
void say_where_it_ended();

}  // namespace tilewise::sim::race_search
