// Ends a program that doesn't end, and says whether it would have: slow is not endless.
#pragma once

#include <atomic>

namespace tilewise::sim {

struct Lane;

/// From the first launch on, with TILEWISE_BLOCK_SECONDS=0.5 in the environment: a thread that runs for longer, or a block of which no thread
/// comes to its end for twice as long, is a finding that names the line where it was, and the program ends. The time is the
/// processor's, so that a busy machine makes no difference; and slow kernels end thread by thread.
void watch_blocks();

/// Ends the program after so many seconds of processor time: as `slow`, with how far it was, where in the second half of this
/// time blocks or threads ended, launches were made or words stored that nothing had stored before; else as `endless`, with
/// the line. It may be called before any constructor has run.
void watch_program(int seconds);

/// The clock found it time to look, but while the runtime did things of its own, which may be nearly always: a loop of the
/// kernel calls look_again() at its next iteration.
extern constinit std::atomic<bool> look_at_iteration;
void look_again(const Lane* lane);

/// What reporting needs, and no signal is a time for. Once constructors have run.
void prepare_to_end();

}  // namespace tilewise::sim
