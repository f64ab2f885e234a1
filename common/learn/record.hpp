/// @file
/// Recorded times of lessons, for the line that says what a puzzle is about on a GPU.
#pragma once

#include <filesystem>
#include <string>

namespace tilewise::learn {

/// `text` with times in place of `{ms CHAPTER "ROW"}` and `{ratio CHAPTER "ROW" / "ROW"}`, from docs/results/nvidia-h200.json
/// of the repository at `root`. A row is chosen as in the pages: the part's name, and what its columns must be,
/// "walk kernel=running_sums_tile". Throws std::runtime_error where there is not exactly one such row.
std::string with_records(const std::string& text, const std::filesystem::path& root);

}  // namespace tilewise::learn
