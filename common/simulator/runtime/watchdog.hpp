// Ends a program whose block doesn't end.
#pragma once

namespace tilewise::sim {

/// From the first launch on, with TILEWISE_BLOCK_SECONDS=0.5 in the environment: a block that runs for longer (processor time, so
/// that a busy machine makes no difference) is a finding that names the line where it was, and the program ends.
void watch_blocks();

}  // namespace tilewise::sim
