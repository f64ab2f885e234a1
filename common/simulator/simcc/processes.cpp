#include "processes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <vector>

extern char** environ;

namespace fs = std::filesystem;

namespace tilewise::sim {
namespace {

std::string shown(const Args& command) {
  std::string line;
  for (const std::string& word : command) {
    bool plain = word.find_first_of(" \t\"'$&;<>|*?()") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line;
}

}  // namespace

int run(const Args& command, bool verbose, const std::string& stdout_file, const std::string& stderr_file) {
  if (verbose) std::cerr << shown(command) << '\n';
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  if (!stdout_file.empty())
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, stdout_file.c_str(), kFlags, 0600);
  if (!stderr_file.empty())
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, stderr_file.c_str(), kFlags, 0600);
  pid_t child = 0;
  int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw std::runtime_error("cannot run " + command[0] + ": " + std::string(std::strerror(failed)) +
                             " (choose a compiler with --cxx=... or TILEWISE_CXX)");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("lost track of " + command[0]);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + path.string());
}

TemporaryFolder::TemporaryFolder(bool keep) : keep_(keep) {
  std::string pattern = (fs::temp_directory_path() / "simcc-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder like " + pattern);
  path_ = pattern;
  if (keep_) std::cerr << "simcc: intermediate files are in " << pattern << '\n';
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!keep_) fs::remove_all(path_, ignored);
}

}  // namespace tilewise::sim
