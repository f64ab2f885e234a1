// What the compiler's messages don't say: that a header or a name is CUDA's, and not the simulator's.
#pragma once

#include <string>

namespace tilewise::sim {

/// Names the headers of CUDA libraries that the preprocessor has not found, on stderr.
void explain_missing_header(const std::string& messages);

/// The compiler doesn't know that a name which it doesn't know is CUDA's: says so, for the first of them.
void explain_missing_names(const std::string& messages);

}  // namespace tilewise::sim
