#include "tilewise/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tilewise {
namespace {

// A device, a pipe, a socket: /dev/stdout, say. It is written to; a file that takes its place would destroy it.
bool is_no_file(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", getpid());
  return temporary;
}

}  // namespace

std::string why_not_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fmt::format("'{}' is a folder", path);
  const auto reason = [&] { return fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)); };
  if (is_no_file(path)) return access(path.c_str(), W_OK) == 0 ? "" : reason();
  const std::filesystem::path temporary = temporary_beside(path);
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (!file) return reason();
  std::fclose(file);
  std::filesystem::remove(temporary, ignored);
  return "";
}

void write_file_atomically(const std::string& path, const std::string& text) {
  if (is_no_file(path)) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error(fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)));
    return;
  }
  const std::filesystem::path temporary = temporary_beside(path);
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (!file || error) {
    const std::string why = error ? error.message() : std::strerror(errno);
    std::filesystem::remove(temporary, error);
    throw std::runtime_error(fmt::format("'{}' cannot be written: {}", path, why));
  }
}

}  // namespace tilewise
