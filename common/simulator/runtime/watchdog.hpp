// Ends a program whose block doesn't end.
#pragma once

namespace tilewise::sim {

/// From the first launch on, with TILEWISE_BLOCK_SECONDS=0.5 in the environment: a thread that runs for longer, or a block of which no thread
/// comes to its end for twice as long, is a finding that names the line where it was, and the program ends. The time is the
/// processor's, so that a busy machine makes no difference; and slow kernels end thread by thread.
void watch_blocks();

}  // namespace tilewise::sim
