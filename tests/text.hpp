// What tests of words and files share.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Whether `part` is somewhere in `text`.
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The whole file; empty where there is none.
inline std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
