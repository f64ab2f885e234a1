/// @file
/// Files, temporary folders, and the compilers that the grader starts.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "installation.hpp"
#include "sandbox.hpp"

namespace tilewise::grader {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Where what is compiled while grading is kept: with what CMake makes for homework; of an installation, in TILEWISE_CACHE, or
/// tilewise in the user's cache folder, or a folder for this process where that can't be written.
const std::string& cache_folder();

std::string read_file(const std::filesystem::path& path);

/// Throws std::invalid_argument where it is none: "NAME is not JSON: line 3, column 14".
nlohmann::ordered_json parse_json(const std::string& text, const std::string& name);

/// 64 bits of FNV-1a, as hexadecimal digits.
std::string hash_of(std::string_view text);

/// Keeps other processes from making the same at the same time. Where the file can't be written, nothing can be made.
class Lock {
 public:
  explicit Lock(const std::filesystem::path& file);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

/// Text of a student's, for a terminal, a table or a page: control characters, and bytes that are no UTF-8, are shown as
/// \\x1b, so that they do nothing. Ends of lines and tabs stay; not so in `one_line`.
std::string printable(std::string_view text);
std::string one_line(std::string_view text);

/// Removed, with what is in it, at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// Of all that there are. For who was told to end.
  static void remove_all();
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Those of the grader's own environment variables that are set, among the names.
Environment inherited(const std::vector<const char*>& names);

/// A trusted tool working on untrusted text: no end of time, memory and output, but no cage either.
ChildResult run_tool(std::vector<std::string> command);

}  // namespace tilewise::grader
