#include "learn/screen.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilewise::learn {

namespace {

constexpr int kWidest = 80;
constexpr const char* kKeys = "h hint   n next   p previous   l list   r reset   s solution   q quit";

/// Puts a look around a line of text, where colours are welcome.
class Ink {
 public:
  explicit Ink(bool colour) : colour_(colour) {}
  std::string bold(const std::string& text) const { return in("1", text); }
  std::string dim(const std::string& text) const { return in("2", text); }
  std::string good(const std::string& text) const { return in("1;32", text); }

 private:
  std::string in(const char* code, const std::string& text) const {
    return colour_ && !text.empty() ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  bool colour_;
};

std::string cut(const std::string& text, int columns) {
  return int(text.size()) <= columns ? text : text.substr(0, static_cast<std::size_t>(columns - 3)) + "...";
}

/// `left` and `right` at both ends of a line.
std::string apart(const std::string& left, const std::string& right, int columns) {
  const int blanks = columns - int(left.size()) - int(right.size());
  return blanks < 1 ? cut(left, columns) : left + std::string(static_cast<std::size_t>(blanks), ' ') + right;
}

std::string bar(std::size_t solved, std::size_t of) {
  constexpr std::size_t kLength = 20;
  const std::size_t part = of == 0 ? 0 : solved * kLength / of;
  const std::size_t full = solved > 0 ? std::max<std::size_t>(part, 1) : 0;  // something done is something to see
  return "[" + std::string(full, '#') + std::string(kLength - full, '-') + "]";
}

std::string progress(std::size_t solved, std::size_t of) {
  return fmt::format("{} of {} solved {}", solved, of, bar(solved, of));
}

/// Builds the screen from the top.
class Page {
 public:
  Page(const View& view, const Paper& paper)
      : v_(view), columns_(std::min(paper.columns, kWidest)), rows_(paper.rows), ink_(paper.colour) {}

  Lines lines() {
    Lines top = header();
    body();
    const Lines bottom = footer();
    const int room = rows_ - 1 - int(top.size() + bottom.size());
    if (rows_ > 0 && int(body_.size()) > room) shorten(static_cast<std::size_t>(std::max(room, 2)));
    top.insert(top.end(), body_.begin(), body_.end());
    top.insert(top.end(), bottom.begin(), bottom.end());
    return top;
  }

 private:
  Lines header() const {
    const Puzzle& p = *v_.puzzle;
    Lines out{
        ink_.dim(apart(fmt::format("Puzzle {} of {}", v_.place + 1, v_.of), progress(v_.solved, v_.of), columns_)), ""};
    const std::string kind = fmt::format("{}, about {} minute{}", name(p.kind), p.minutes, p.minutes == 1 ? "" : "s");
    const std::string title = cut(p.id() + "  " + p.title, columns_);
    const int left = columns_ - int(title.size());
    out.push_back(ink_.bold(title) + (left > int(kind.size()) ? ink_.dim(apart("", kind, left)) : ""));
    out.push_back("");
    for (const std::string& line : wrapped(p.goal, columns_)) out.push_back(line);
    out.push_back("");
    out.push_back(ink_.dim("File: ") + p.shown_file());
    out.push_back(ink_.dim(std::string(static_cast<std::size_t>(columns_), '-')));
    return out;
  }

  void put(const std::string& text) {
    for (const std::string& line : wrapped(text, columns_)) body_.push_back(line);
  }
  void gap() {
    if (!body_.empty() && !body_.back().empty()) body_.push_back("");
  }

  void body() {
    if (v_.judging && !v_.library.empty())
      put(fmt::format("Judging ... The simulator's {} is built first. That takes about a minute, and only this once.",
                      v_.library));
    else if (v_.judging)
      body_.push_back(ink_.dim("Judging ..."));
    else if (v_.verdict && v_.verdict->solved())
      success();
    else if (v_.verdict)
      verdict();
    for (std::size_t i = 0; i < v_.hints; ++i) {
      gap();
      put(fmt::format("Hint {}: {}", i + 1, v_.puzzle->hints[i]));
    }
    if (!v_.solution.empty()) solution();
    if (!v_.remark.empty()) {
      gap();
      put(v_.remark);
    }
  }

  void verdict() {
    if (v_.untouched) body_.push_back(ink_.dim("As it is now:"));
    for (const std::string& paragraph : v_.verdict->said) {
      if (paragraph.starts_with("    "))
        for (const std::string& line : wrapped(paragraph, columns_)) body_.push_back(ink_.bold(line));
      else
        put(paragraph);
    }
    printed();
  }

  void printed() {
    if (v_.verdict->printed.empty()) return;
    gap();
    body_.push_back(ink_.dim("Your program printed:"));
    for (const std::string& line : v_.verdict->printed) body_.push_back("    " + cut(line, columns_ - 4));
  }

  void success() {
    body_.push_back(ink_.good("Solved."));
    body_.push_back("");
    put(v_.puzzle->notice);
    counts();
    drawing();
    if (!v_.gpu.empty()) {
      gap();
      put(v_.gpu);
    }
    printed();
  }

  void counts() {
    bool first = true;
    for (const std::string& count : v_.puzzle->shown) {
      const auto after = v_.verdict->counts.find(count), before = v_.before.find(count);
      if (after == v_.verdict->counts.end()) continue;
      if (std::exchange(first, false)) gap();
      std::string text = count_text(after->second);
      if (before != v_.before.end() && before->second != after->second)
        text = count_text(before->second) + " -> " + text;
      for (const std::string& line : wrapped(count_in_words(count) + ": " + text, columns_))
        body_.push_back(ink_.bold(line));
    }
  }

  void drawing() {
    if (v_.verdict->drawn.empty()) return;
    gap();
    put("Which engine works for which stream, from left to right:");
    for (const std::string& line : v_.verdict->drawn) body_.push_back(ink_.bold(cut(line, columns_)));
  }

  void solution() {
    gap();
    body_.push_back("One way to do it:");
    for (const Change& change : v_.solution) {
      const std::string where = fmt::format("{:>4} ", change.line);
      for (std::size_t i = 0; i < change.removed.size(); ++i)
        body_.push_back(ink_.dim(cut((i == 0 ? where : "     ") + "- " + change.removed[i], columns_)));
      for (const std::string& line : change.added) body_.push_back(ink_.bold(cut("     + " + line, columns_)));
    }
  }

  Lines footer() const {
    if (!v_.keys) return {};
    Lines out{""};
    if (v_.verdict && v_.verdict->solved() && !v_.judging) {
      for (const std::string& line :
           wrapped(v_.next.empty() ? "That was the last one: all puzzles are solved." : "Press n for " + v_.next + ".",
                   columns_))
        out.push_back(line);
    } else if (!v_.judging) {
      out.push_back(ink_.dim(cut(v_.untouched ? "Open the file, change it, save it: it is judged at once."
                                              : "Waiting for the file to be saved.",
                                 columns_)));
    }
    out.push_back(ink_.dim(cut(kKeys, columns_)));
    return out;
  }

  /// What there is no room for is left out at the end, where the newest is kept: hints and solution are asked for.
  void shorten(std::size_t room) {
    std::erase(body_, "");
    if (body_.size() <= room) return;
    const bool asked = v_.hints > 0 || !v_.solution.empty() || !v_.remark.empty();
    if (asked) {
      body_.erase(body_.begin(), body_.end() - static_cast<std::ptrdiff_t>(room - 1));
      body_.insert(body_.begin(), "...");
    } else {
      body_.resize(room - 1);
      body_.push_back("... (a larger window shows more)");
    }
  }

  const View& v_;
  const int columns_, rows_;
  const Ink ink_;
  Lines body_;
};

const char* mark(State state) {
  switch (state) {
    case State::solved:
      return "solved";
    case State::tried:
      return "tried";
    case State::unknown:
      return "changed";
    case State::untouched:
      return "open";
  }
  return "";
}

}  // namespace

Lines wrapped(const std::string& text, int columns) {
  Lines lines;
  const auto width = static_cast<std::size_t>(std::max(columns, 10));
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string rest = text.substr(from, end - from);
    from = end + 1;
    if (rest.starts_with("    ")) {
      lines.push_back(cut(rest, int(width)));
      continue;
    }
    while (rest.size() > width) {
      std::size_t blank = rest.rfind(' ', width);
      if (blank == std::string::npos || blank == 0) blank = std::min(rest.find(' '), rest.size());
      lines.push_back(rest.substr(0, blank));
      rest.erase(0, blank + 1);
    }
    lines.push_back(rest);
  }
  return lines;
}

Lines draw(const View& view, const Paper& paper) { return Page(view, paper).lines(); }

Lines draw_list(const std::vector<Entry>& entries, std::optional<std::size_t> chosen, const Paper& paper) {
  const Ink ink(paper.colour);
  const int columns = std::min(paper.columns, kWidest);
  const auto solved = static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return e.state == State::solved; }));
  Lines out{ink.dim(apart("Puzzles", progress(solved, entries.size()), columns)), ""};
  std::size_t from = 0, to = entries.size();
  if (chosen && paper.rows > 0) {  // a window around the chosen one
    const auto room = static_cast<std::size_t>(std::max(paper.rows - 5, 3));
    from = *chosen > room / 2 ? *chosen - room / 2 : 0;
    to = std::min(from + room, entries.size());
    from = to > room ? to - room : 0;
  }
  for (std::size_t i = from; i < to; ++i) {
    const Puzzle& p = *entries[i].puzzle;
    const std::string line =
        apart(cut(fmt::format("{} {:<7} {:<6} {}", chosen == i ? ">" : " ", mark(entries[i].state), p.id(), p.title),
                  columns - 16),
              fmt::format("{:<8}{:>2} min", name(p.kind), p.minutes), columns);
    out.push_back(chosen == i ? ink.bold(line) : entries[i].state == State::solved ? ink.dim(line) : line);
  }
  if (chosen) {
    out.push_back("");
    out.push_back(ink.dim(cut("n down   p up   Enter opens it   l back   q quit", columns)));
  }
  return out;
}

}  // namespace tilewise::learn
