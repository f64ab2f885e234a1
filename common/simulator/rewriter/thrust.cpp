#include "thrust.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace tilewise::sim {
namespace {

namespace fs = std::filesystem;

/// 101702 for 1.17.2; 0 where there is none.
int version_in(const fs::path& folder) {
  std::ifstream header(folder / "thrust/version.h");
  constexpr std::string_view kDefinition = "#define THRUST_VERSION ";
  for (std::string line; std::getline(header, line);)
    if (line.starts_with(kDefinition)) return std::atoi(line.c_str() + kDefinition.size());
  return 0;
}

/// The headers here stand in for a few of Thrust's, as they are in 1.17.2; 1.15 and 1.16 look alike.
bool is_known(int version) { return version >= 101500 && version < 200000; }

/// The folder that has the folder `thrust`, or may have it, by TILEWISE_THRUST; empty where there is none.
fs::path find_thrust() {
  std::vector<fs::path> folders{"/usr/include", "/usr/local/include", "/usr/local/cuda/include"};
  if (const char* chosen = std::getenv("TILEWISE_THRUST"); chosen != nullptr && *chosen != '\0') folders = {chosen};
  const auto found =
      std::find_if(folders.begin(), folders.end(), [](const fs::path& f) { return is_known(version_in(f)); });
  return found == folders.end() ? fs::path() : *found;
}

void blank_words(std::string& text, std::size_t begin, std::size_t end) {
  for (const std::string_view word : {"__host__", "__device__"}) {
    for (std::size_t at = text.find(word, begin); at < end; at = text.find(word, at + word.size()))
      std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), word.size(), ' ');
  }
}

}  // namespace

std::vector<std::string> thrust_flags(const fs::path& headers) {
  static const fs::path folder = find_thrust();
  if (folder.empty()) return {"-isystem", (headers / "tilewise_absent").string()};
  std::vector<std::string> flags{"-isystem", (headers / "tilewise_thrust").string()};
  if (folder != "/usr/include") flags.insert(flags.end(), {"-idirafter", folder.string()});
  return flags;
}

std::string as_host_code_of_thrust(std::string preprocessed) {
  std::size_t line = 0;
  while (line < preprocessed.size()) {
    const std::size_t end = std::min(preprocessed.find('\n', line), preprocessed.size());
    const std::string_view marker(preprocessed.data() + line, end - line);
    const std::size_t next = std::min(preprocessed.find("\n# ", end), preprocessed.size());
    const bool system = marker.starts_with("# ") && marker.rfind('"') != std::string_view::npos &&
                        marker.substr(marker.rfind('"')).find(" 3") != std::string_view::npos;
    if (system && marker.find("/thrust/") != std::string_view::npos) blank_words(preprocessed, end, next);
    line = next + 1;
  }
  return preprocessed;
}

}  // namespace tilewise::sim
