// Other programs, and files that go between them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "command_line.hpp"

namespace tilewise::sim {

/// Runs a command. Its stdout and stderr go to the given files, or stay ours when the names are empty. Exit status; 128 + signal when
/// killed. (Written out here and in base/symbols.cpp, which reads from a pipe and says nothing when a tool isn't there: a function
/// for both is as long as the two. Whatever isn't trusted is started by grader/sandbox.cpp.)
int run(const Args& command, bool verbose, const std::string& stdout_file = "", const std::string& stderr_file = "");

/// The whole file. Throws std::runtime_error, as write_file() does.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view text);

/// A folder for intermediate files, removed at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(bool keep);  ///< `keep`: says where it is, and leaves it
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  bool keep_;
};

}  // namespace tilewise::sim
