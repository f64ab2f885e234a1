#include "pattern.hpp"

#include <stdexcept>

namespace tilewise::grader {

Pattern::Pattern(const std::string& extended) {
  if (regcomp(&compiled_, extended.c_str(), REG_EXTENDED) != 0)
    throw std::logic_error("no regular expression: " + extended);
}

std::vector<std::string> Pattern::find_in(const std::string& text) const {
  std::vector<regmatch_t> places(compiled_.re_nsub + 1);
  if (regexec(&compiled_, text.c_str(), places.size(), places.data(), 0) != 0) return {};
  std::vector<std::string> parts;
  for (const regmatch_t& p : places)
    parts.push_back(p.rm_so < 0 ? "" : text.substr(std::size_t(p.rm_so), std::size_t(p.rm_eo - p.rm_so)));
  return parts;
}

}  // namespace tilewise::grader
