/// @file
/// Extended regular expressions as POSIX has them: std::regex takes a second to compile at every place of its use, and a stack as
/// deep as what it matches.
#pragma once

#include <regex.h>

#include <string>
#include <vector>

namespace tilewise::grader {

class Pattern {
 public:
  /// Throws std::logic_error if it makes no sense.
  explicit Pattern(const std::string& extended);
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// The first place in `text` and its groups, "" where a group is not there; empty if there is none.
  std::vector<std::string> find_in(const std::string& text) const;

 private:
  regex_t compiled_;
};

}  // namespace tilewise::grader
