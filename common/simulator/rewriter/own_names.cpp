#include "own_names.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "columns.hpp"

namespace tilewise::sim {
namespace {

constexpr std::string_view kProposal = "; did you mean ", kOurs = "tilewise::";

/// The name of ours that this line of a message proposes; "" if it proposes none.
std::string proposed(const std::string& plain) {
  const std::size_t at = plain.find(kProposal);
  if (at == std::string::npos) return "";
  const std::size_t name = plain.find(kOurs, at), end = plain.rfind('?');
  constexpr std::size_t kLongestQuote = 3;  // a quotation mark in UTF-8, or '
  if (name == std::string::npos || end == std::string::npos || name > at + kProposal.size() + kLongestQuote) return "";
  return plain.substr(
      name, plain.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:", name) - name);
}

bool is_in_margin(const std::string& plain) {
  const std::size_t bar = plain.find(" | ");
  return bar != std::string::npos && plain.find_first_not_of(" 0123456789") == bar + 1;
}

bool says_who_includes(const std::string& plain) {
  return plain.starts_with("In file included from ") || plain.starts_with("                 from ");
}

/// Goes through messages line by line, and leaves out what is about a name that was left out before.
class Filter {
 public:
  void take(std::string raw) {
    const std::string plain = without_colours(raw);
    if (drops_snippet_) {
      if (is_in_margin(plain)) return;
      drops_snippet_ = false;
    }
    if (says_who_includes(plain)) {  // what comes next says of what
      kept_back_ += raw + "\n";
      return;
    }
    if (!left_out_.empty() && plain.find(": note: ") != std::string::npos &&
        plain.find(left_out_) != std::string::npos) {
      kept_back_.clear();
      drops_snippet_ = true;
      return;
    }
    const bool is_proposal = is_in_margin(plain) && !left_out_.empty() && plain.ends_with(" " + left_out_);
    if (is_proposal) return;
    if (const std::string name = proposed(plain); !name.empty()) {
      left_out_ = name;
      const std::size_t at = raw.find(kProposal);
      raw.erase(at, raw.rfind('?') + 1 - at);
    }
    text_ += kept_back_ + raw + "\n";
    kept_back_.clear();
  }

  std::string text() const { return text_ + kept_back_; }

 private:
  std::string text_, kept_back_, left_out_;
  bool drops_snippet_ = false;  // the lines of source below a note
};

}  // namespace

std::string without_own_names(std::string_view messages) {
  Filter filter;
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', at), messages.size());
    filter.take(std::string(messages.substr(at, end - at)));
    at = end + 1;
  }
  return filter.text();
}

}  // namespace tilewise::sim
