#include "learn/puzzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <stdexcept>

#include "grader/counts.hpp"
#include "grader/tools.hpp"

namespace tilewise::learn {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCheckLine = "// ---- The check.";

/// The comment of a line that is nothing else; nothing where it is code or empty.
std::optional<std::string> comment_of(const std::string& line) {
  const std::string text = trimmed(line);
  if (!text.starts_with("//")) return std::nullopt;
  return trimmed(text.substr(2));
}

/// Reads a puzzle's comments, line by line, and says which line it does not understand.
class Reader {
 public:
  Reader(Puzzle& puzzle, std::string shown) : p_(puzzle), shown_(std::move(shown)) {}

  void read() {
    find_check();
    read_top();
    read_end();
    if (p_.kind == Kind::predict) find_question();
    require_all();
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& why) const {
    throw BadPuzzle(fmt::format("{}:{}: {}", shown_, line + 1, why));
  }

  void find_check() {
    const auto found = std::find_if(p_.lines.begin(), p_.lines.end(),
                                    [](const std::string& line) { return trimmed(line).starts_with(kCheckLine); });
    if (found == p_.lines.end()) fail(0, fmt::format("there is no line that begins with \"{}\"", kCheckLine));
    p_.check = static_cast<std::size_t>(found - p_.lines.begin());
  }

  void read_top() {
    const auto first = p_.lines.empty() ? std::nullopt : comment_of(p_.lines[0]);
    if (!first || first->empty()) fail(0, "the first line is no title: // The guard");
    p_.title = *first;
    bool in_goal = false;
    for (std::size_t i = 1; i < p_.check; ++i) {
      const auto comment = comment_of(p_.lines[i]);
      if (!comment) break;
      if (comment->starts_with("Goal: ")) {
        in_goal = true;
        p_.goal = trimmed(comment->substr(6));
      } else if (in_goal && !comment->empty()) {
        p_.goal += " " + *comment;
      }
    }
  }

  void read_end() {
    std::size_t begin = p_.lines.size();
    while (begin > p_.check + 1 && (p_.lines[begin - 1].empty() || comment_of(p_.lines[begin - 1]))) --begin;
    static const std::regex keyed("(Kind|Minutes|Devices|Hint|Limit|Answer|If [^:]*|Show|Notice|GPU): (.*)");
    std::string key, value;
    std::size_t at = begin;
    for (std::size_t i = begin; i < p_.lines.size(); ++i) {
      const std::string comment = comment_of(p_.lines[i]).value_or("");
      std::smatch m;
      if (std::regex_match(comment, m, keyed)) {
        if (!key.empty()) take(at, key, value);
        key = m[1], value = trimmed(m[2]), at = i;
      } else if (!key.empty() && !comment.empty()) {
        value += " " + comment;
      } else if (key.empty() && !comment.empty()) {
        fail(i, "this is none of Kind, Minutes, Devices, Hint, Limit, Answer, If, Show, Notice and GPU: " + comment);
      }
    }
    if (!key.empty()) take(at, key, value);
  }

  void take(std::size_t at, const std::string& key, const std::string& value) {
    if (key == "Kind") {
      take_kind(at, value);
    } else if (key == "Minutes") {
      p_.minutes = static_cast<int>(parse_number(value).value_or(0));
      if (p_.minutes < 1 || p_.minutes > 10) fail(at, "Minutes must be 1 to 10");
    } else if (key == "Devices") {
      take_devices(at, value);
    } else if (key == "Hint") {
      p_.hints.push_back(value);
    } else if (key == "Limit") {
      take_limit(at, value);
    } else if (key == "Answer") {
      p_.answer = known_count(at, value);
    } else if (key == "Show") {
      take_shown(at, value);
    } else if (key == "Notice") {
      p_.notice = value;
    } else if (key == "GPU") {
      p_.gpu = value;
    } else {
      const auto number = parse_number(key.substr(3));
      if (!number) fail(at, "\"If\" wants a number: If 32: ...");
      p_.beliefs.push_back({*number, value});
    }
  }

  void take_kind(std::size_t at, const std::string& value) {
    for (const Kind kind : {Kind::write, Kind::repair, Kind::improve, Kind::predict})
      if (value == name(kind)) return void(p_.kind = kind), void(has_kind_ = true);
    fail(at, "Kind must be write, repair, improve or predict");
  }

  /// The simulator's runtime has as many at most.
  void take_devices(std::size_t at, const std::string& value) {
    if (value.size() != 1 || value[0] < '1' || value[0] > '8') fail(at, "Devices must be 1 to 8");
    p_.devices = value[0] - '0';
  }

  void take_limit(std::size_t at, const std::string& value) {
    static const std::regex form(R"((\w+) *(<=|>=|=) *([0-9.,]+): *(.+))");
    std::smatch m;
    if (!std::regex_match(value, m, form)) fail(at, "a limit looks like this: sectors_per_store <= 4: why");
    p_.limits.push_back({known_count(at, m[1]), m[2], parse_number(m[3]).value_or(0), m[4]});
  }

  void take_shown(std::size_t at, const std::string& value) {
    for (std::size_t from = 0; from <= value.size();) {
      const std::size_t to = std::min(value.find(',', from), value.size());
      p_.shown.push_back(known_count(at, trimmed(value.substr(from, to - from))));
      from = to + 1;
    }
  }

  std::string known_count(std::size_t at, const std::string& count) const {
    const Lines& known = count_names();
    if (std::find(known.begin(), known.end(), count) == known.end())
      fail(at, fmt::format("there is no count {}; there are {}", count, joined(known, " ")));
    return count;
  }

  void find_question() {
    std::size_t found = 0;
    for (std::size_t i = 0; i < p_.check; ++i) {
      const auto comment = comment_of(p_.lines[i]);
      if (!comment || comment->size() < 3 || comment->substr(comment->size() - 3) != ": ?") continue;
      if (found++ > 0) fail(i, "there are two lines that end with \": ?\"");
      p_.question = i;
    }
    if (found == 0) fail(0, "a puzzle to predict has a line like this above its check: // sectors per request: ?");
  }

  void require_all() const {
    if (!has_kind_) fail(p_.lines.size() - 1, "there is no line // Kind: write, repair, improve or predict");
    if (p_.minutes == 0) fail(p_.lines.size() - 1, "there is no line // Minutes: 1 to 10");
    if (p_.goal.empty()) fail(0, "there is no // Goal: below the title");
    if ((p_.kind == Kind::predict) != !p_.answer.empty())
      fail(p_.lines.size() - 1, "a puzzle to predict, and no other, has a line // Answer: load_sectors");
  }

  Puzzle& p_;
  std::string shown_;
  bool has_kind_ = false;
};

}  // namespace

// ---------------------------------------------------------------- text

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

std::string joined(const Lines& lines, const std::string& separator) {
  return fmt::format("{}", fmt::join(lines, separator));
}

Lines lines_of(const std::string& text) {
  Lines lines;
  std::size_t from = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (from < text.size()) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, to - from);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    lines.push_back(std::move(line));
    from = to + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::optional<double> parse_number(const std::string& text) {
  static const std::regex form(R"(\s*(?:about |~)?(-?[0-9][0-9,']*(?:\.[0-9]+)?|-?\.[0-9]+)(?:[^0-9.].*|\.)?)");
  std::smatch m;
  if (!std::regex_match(text, m, form)) return std::nullopt;
  std::string digits = m[1];
  std::erase_if(digits, [](char c) { return c == ',' || c == '\''; });
  return std::strtod(digits.c_str(), nullptr);
}

// ---------------------------------------------------------------- what a puzzle knows

const char* name(Kind kind) {
  switch (kind) {
    case Kind::write:
      return "write";
    case Kind::repair:
      return "repair";
    case Kind::improve:
      return "improve";
    case Kind::predict:
      return "predict";
  }
  return "?";
}

bool CountLimit::holds(double value) const {
  const double slack = 1e-9 * std::max(1.0, std::abs(bound));
  if (relation == "<=") return value <= bound + slack;
  if (relation == ">=") return value >= bound - slack;
  return std::abs(value - bound) <= slack;
}

std::string Puzzle::id() const { return fmt::format("{}-{}", chapter.substr(0, chapter.find('_')), number); }

std::string Puzzle::shown_file() const { return "chapters/" + chapter + "/puzzles/" + file_name(); }

std::string Puzzle::text() const { return joined(lines, "\n") + "\n"; }

namespace {

struct NamedCount {
  const char* name;
  const char* words;  // "": the grader's
};

constexpr NamedCount kCounts[] = {
    {"load_requests", ""},
    {"load_sectors", ""},
    {"sectors_per_load", ""},
    {"load_words", ""},
    {"store_requests", "requests of stores"},
    {"store_sectors", ""},
    {"sectors_per_store", ""},
    {"sectors", ""},
    {"load_data_passes", "passes through L1's banks for loads"},
    {"store_data_passes", "passes through L1's banks for stores"},
    {"shared_wavefronts", ""},
    {"shared_conflicts", ""},
    {"atomics", ""},
    {"shared_atomics", ""},
    {"launches", ""},
    {"blocks", ""},
    {"threads", ""},
    {"threads_per_block", "threads in a block"},
    {"shared_bytes_per_block", "bytes of shared memory in a block"},
    {"resident_warps", "warps that an SM holds at a time"},
    {"dram_bytes", "bytes in the sectors that were touched"},
    {"flops", "floating-point operations"},
    {"copies", ""},
    {"leaks", "allocations that are never freed"},
    {"timeline_length", "times as long as one copy"},
    {"most_sent", "times as much as one copy, from the device that sends most"},
    {"devices", "devices with a launch"},
};

}  // namespace

const Lines& count_names() {
  static const Lines names = [] {
    Lines list;
    for (const NamedCount& c : kCounts) list.push_back(c.name);
    return list;
  }();
  return names;
}

std::string count_in_words(const std::string& count) {
  for (const NamedCount& c : kCounts)
    if (count == c.name && *c.words != '\0') return c.words;
  return grader::readable_count(count);
}

// ---------------------------------------------------------------- files

Puzzle read_puzzle(const fs::path& root, const fs::path& original) {
  Puzzle p;
  const std::string file = original.filename().string();
  p.chapter = original.parent_path().parent_path().filename().string();
  p.original = original;
  p.file = root / "chapters" / p.chapter / "puzzles" / file;
  p.attempts = fs::path(original).replace_extension(".attempts");
  p.number = std::atoi(file.c_str());
  p.lines = lines_of(grader::read_file(original));
  Reader(p, "tests/" + p.chapter + "/puzzles/" + file).read();
  return p;
}

std::vector<fs::path> find_originals(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& chapter : fs::directory_iterator(root / "tests", none))
    for (const auto& file : fs::directory_iterator(chapter.path() / "puzzles", none))
      if (file.path().extension() == ".cu" &&
          std::isdigit(static_cast<unsigned char>(file.path().filename().string()[0])))
        found.push_back(file.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::pair<std::string, int>> parse_id(const std::string& word) {
  static const std::regex form(R"((\d{1,2})(?:_\w+)?-(\d{1,2}))");
  std::smatch m;
  if (!std::regex_match(word, m, form)) return std::nullopt;
  return std::pair{fmt::format("{:02}", std::stoi(m[1])), std::stoi(m[2])};
}

// ---------------------------------------------------------------- what a learner made of it

Composed compose(const Puzzle& puzzle, const std::string& learners_text) {
  Composed c;
  if (learners_text.find('\0') != std::string::npos) {
    c.problem = "The file is not plain text. Save it as UTF-8 (it may be UTF-16 now).";
    return c;
  }
  const Lines lines = lines_of(learners_text);
  std::size_t check = 0;
  while (check < lines.size() && !trimmed(lines[check]).starts_with(kCheckLine)) ++check;
  if (check == lines.size()) {
    c.problem = fmt::format(
        "The line that says where the check begins is gone, and so it is not known which lines are yours. Write it "
        "back "
        "below them:\n    {}\nor start again with r (which keeps a copy).",
        trimmed(puzzle.lines[puzzle.check]));
    return c;
  }
  c.own_lines = check;
  Lines all(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(check));
  all.insert(all.end(), puzzle.lines.begin() + static_cast<std::ptrdiff_t>(puzzle.check), puzzle.lines.end());
  c.text = joined(all, "\n") + "\n";
  if (!std::equal(lines.begin() + static_cast<std::ptrdiff_t>(check), lines.end(),
                  puzzle.lines.begin() + static_cast<std::ptrdiff_t>(puzzle.check), puzzle.lines.end()))
    c.note = "What you changed below the line \"The check\" is left out: the check stays as it was.";
  return c;
}

std::string with_token(std::string text, std::size_t own_lines, const std::string& token) {
  std::size_t at = 0;
  for (std::size_t line = 0; line < own_lines; ++line) at = text.find('\n', at) + 1;
  for (const std::string call : {"puzzle::solved(", "puzzle::count_from_here(", "puzzle::timeline_to_here("})
    for (std::size_t found = at; (found = text.find(call + ")", found)) != std::string::npos; found += call.size())
      text.insert(found + call.size(), "\"" + token + "\"");
  return text;
}

std::string interference(const Puzzle& puzzle, const Composed& composed) {
  const Lines lines = lines_of(composed.text);
  const auto own = lines.begin() + static_cast<std::ptrdiff_t>(composed.own_lines);
  const std::string check = joined({own, lines.end()}, "\n");
  static const std::regex macro(R"(^\s*#\s*define\s+(\w+))"), reopened(R"(\bnamespace\s+puzzle\b)");
  for (auto line = lines.begin(); line != own; ++line) {
    if (std::find(puzzle.lines.begin(), puzzle.lines.end(), *line) != puzzle.lines.end()) continue;
    if (std::regex_search(*line, reopened))
      return fmt::format("Line {}: the namespace puzzle is the check's; give your own functions another one.",
                         line - lines.begin() + 1);
    std::smatch m;
    if (std::regex_search(*line, m, macro) && std::regex_search(check, std::regex("\\b" + m[1].str() + "\\b")))
      return fmt::format(
          "Line {}: the check uses the word {}, too, and would become another with this macro: take "
          "another name.",
          line - lines.begin() + 1, m[1].str());
  }
  return "";
}

Prediction read_prediction(const Puzzle& puzzle, const std::string& learners_text) {
  const std::string& asked = puzzle.lines[puzzle.question];
  const std::string beginning = asked.substr(0, asked.rfind('?'));  // "// sectors per request: "
  const std::string words = trimmed(beginning.substr(beginning.find("//") + 2));
  Prediction p;
  Lines lines = lines_of(learners_text);
  bool found = false;
  for (std::string& line : lines) {
    const auto comment = comment_of(line);
    if (!comment || !comment->starts_with(trimmed(words))) continue;
    found = true;
    p.number = parse_number(comment->substr(words.size()));
    line = asked;
    break;
  }
  p.other_changes = lines != puzzle.lines;
  if (!found)
    p.problem = fmt::format("The line \"{}\" is gone. Write it back, with your number in it.", trimmed(beginning));
  else if (!p.number)
    p.problem = fmt::format("Write your number in line {}, in place of the question mark: {}7, for example.",
                            puzzle.question + 1, trimmed(beginning) + " ");
  return p;
}

bool is_starter(const Puzzle& puzzle, const std::string& learners_text) {
  return lines_of(learners_text) == puzzle.lines;
}

}  // namespace tilewise::learn
