// `__CUDA_ARCH__` is defined while nvcc compiles device code, and not while it compiles host code: the preprocessor gives two
// texts. Here they become one.
#pragma once

#include <string>
#include <string_view>

#include "rewriter.hpp"

namespace tilewise::sim {

/// Whether a file of the program, as the line markers name them, mentions `__CUDA_ARCH__`: else both texts are the same.
bool asks_for_architecture(std::string_view preprocessed_source, const std::string& file);

/// The text as host code sees it, with the bodies of device functions as device code sees them. Where a function has both
/// markers, its body becomes `{ if (__on_device__) {...} else {...} }`, which rewrite() knows. Functions and variables that only
/// device code has are put in, those that only host code has of a device's are left out. What else differs outside of
/// bodies is an error, with file and line.
RewriteResult join_sides(std::string_view host_source, std::string_view device_source, std::string_view file);

}  // namespace tilewise::sim
