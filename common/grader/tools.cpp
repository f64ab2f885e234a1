#include "tools.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace tilewise::grader {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

nlohmann::ordered_json parse_json(const std::string& text, const std::string& name) {
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::ordered_json::parse_error& error) {
    const std::string before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1);  // npos + 1 is 0
    throw std::invalid_argument(fmt::format("{} is not JSON: line {}, column {}", name, line, column + 1));
  }
}

std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

Lock::Lock(const fs::path& file) : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
}

Lock::~Lock() { close(descriptor_); }

namespace {

/// Bytes of the UTF-8 character that `text` begins with; 0 where there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : first >> 4 == 0xe             ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (bytes == 2 && first == 0xc2 && byte(1) < 0xa0) return 0;  // control characters of Latin-1
  // What has no width, or turns the direction of text: a line would show something else than it says.
  const bool hidden = byte(1) == 0x80 ? (byte(2) >= 0x8b && byte(2) <= 0x8f) || (byte(2) >= 0xa8 && byte(2) <= 0xae)
                                      : byte(1) == 0x81 && byte(2) >= 0xa0;
  if (bytes == 3 && first == 0xe2 && hidden) return 0;
  return bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    if (text.substr(0, 2) == "\r\n") text.remove_prefix(1);
    const auto c = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? 0 : character(text);
    if (bytes == 0) {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", c);
      shown += code;
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

std::string one_line(std::string_view text) {
  std::string shown;
  for (const char c : printable(text)) shown += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return shown;
}

namespace {

struct TemporaryFolders {
  std::mutex mutex;
  std::set<fs::path> all;
};
TemporaryFolders& temporary_folders() {
  static auto& folders = *new TemporaryFolders;
  return folders;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code none;
  const fs::path folder = fs::temp_directory_path(none);
  if (none) throw std::runtime_error("there is no folder for temporary files (TMPDIR): " + none.message());
  std::string pattern = (folder / "tilewise-grade-XXXXXX").string();
  const std::lock_guard lock(temporary_folders().mutex);
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot make a temporary folder like " + pattern + ": " + std::strerror(errno));
  path_ = pattern;
  temporary_folders().all.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  fs::remove_all(path_, none);
  const std::lock_guard lock(temporary_folders().mutex);
  temporary_folders().all.erase(path_);
}

void TemporaryFolder::remove_all() {
  temporary_folders().mutex.lock();  // for ever
  std::error_code none;
  for (const fs::path& folder : temporary_folders().all) fs::remove_all(folder, none);
}

namespace {

/// TILEWISE_CACHE, or tilewise in the user's cache folder; "" where neither is named.
fs::path users_cache() {
  const auto named = [](const char* variable) -> fs::path {
    const char* value = std::getenv(variable);
    return value ? value : "";
  };
  if (!named("TILEWISE_CACHE").empty()) return named("TILEWISE_CACHE");
  if (!named("XDG_CACHE_HOME").empty()) return named("XDG_CACHE_HOME") / "tilewise";
  return named("HOME").empty() ? "" : named("HOME") / ".cache/tilewise";
}

std::string find_cache() {
  if (!installation().installed) return installation().homework;
  // Apart from other installations', whose headers may be others.
  const fs::path folder = users_cache() / ("homework-" + hash_of(installation().homework.string()));
  std::error_code none;
  fs::create_directories(folder, none);
  if (!users_cache().empty() && access(folder.c_str(), W_OK) == 0) return fs::absolute(folder);
  static const TemporaryFolder of_this_process;
  return of_this_process.file("homework");
}

}  // namespace

const std::string& cache_folder() {
  static const std::string folder = find_cache();
  return folder;
}

Environment inherited(const std::vector<const char*>& names) {
  Environment list;
  for (const char* name : names)
    if (const char* value = std::getenv(name)) list.emplace_back(name, value);
  return list;
}

ChildResult run_tool(std::vector<std::string> command) {
  if (command[0].find('/') == std::string::npos) command.insert(command.begin(), "/usr/bin/env");
  Environment environment =
      inherited({"PATH", "TMPDIR", "HOME", "TILEWISE_CXX", "CCACHE_DIR", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH",
                 "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"});
  environment.emplace_back("LC_ALL", "C");
  return run_child(command, environment, "",
                   {.cpu_seconds = 60,
                    .wall_seconds = 120,
                    .memory = std::size_t{4} << 30,
                    .file = std::size_t{256} << 20,
                    .open_files = 256,
                    .cage = Cage::none});
}

}  // namespace tilewise::grader
