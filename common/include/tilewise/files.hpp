/// @file
/// Files that programs write.
#pragma once

#include <string>

namespace tilewise {

/// "" if a file can be created or replaced at `path`, else why not.
std::string why_not_writable(const std::string& path);

/// Writes `text` to `path` through a temporary file and a rename. Throws std::runtime_error with the path.
void write_file_atomically(const std::string& path, const std::string& text);

}  // namespace tilewise
