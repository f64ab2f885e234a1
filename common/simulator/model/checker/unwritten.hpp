// Reads of memory that nobody has written.
#pragma once

#include <cstddef>

#include "model/checker/access.hpp"

namespace tilewise::sim::checker {

/// Words of an access that nobody has written. A struct copied whole has padding, which nobody writes: one unwritten
/// word among four is taken for that.
inline bool too_few_written(unsigned unwritten_words, std::size_t bytes) {
  return unwritten_words > (bytes >= 16 ? 1u : 0u);
}

/// Reports a read of global memory that nothing has written.
void check_global_written(const Now& now);

}  // namespace tilewise::sim::checker
