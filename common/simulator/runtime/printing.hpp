// What kernels print. The lanes of a warp run one after another here, and on a GPU in step: what they print between two meetings is put
// together in the order in which a warp would have printed it.
#pragma once

#include <cstddef>
#include <string>

namespace tilewise::sim::printing {

/// The running thread prints at `site`; `call` as Print has it.
void in_step(std::string text, unsigned call, const void* site);

/// What is still to be printed.
extern std::size_t left;
void show();

/// The warp's lanes have met, or none of them can go on.
inline void what_is_left() {
  if (left != 0) show();
}

}  // namespace tilewise::sim::printing
