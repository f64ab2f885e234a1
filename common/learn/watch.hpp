/// @file
/// Notices that a file was saved, however an editor does it: written in place, emptied and written, or another file renamed
/// over it.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace tilewise::learn {

class FileWatch {
 public:
  /// What is there now counts as seen.
  explicit FileWatch(std::filesystem::path file);

  /// The file's text, once after each save: when nothing has changed any more for kQuiet, so that no half of a file is read.
  std::optional<std::string> saved();

  /// Whether a save is under way: look again soon.
  bool busy() const { return changed_.has_value(); }

  static constexpr std::chrono::milliseconds kQuiet{50};
  /// An empty file is believed only after so long: some editors empty a file before they write it.
  static constexpr std::chrono::milliseconds kQuietEmpty{500};

 private:
  using Clock = std::chrono::steady_clock;
  struct Version {
    long long modified = 0, size = -1, file = 0;  ///< size -1: there is none
    bool operator==(const Version&) const = default;
  };
  Version version() const;

  std::filesystem::path file_;
  Version seen_;
  std::optional<Clock::time_point> changed_;
};

}  // namespace tilewise::learn
