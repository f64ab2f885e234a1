#include "said.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "counts.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostLines = 10, kMostColumns = 120;

/// Begins no later than in the middle of a character.
std::string shortened(const std::string& line) {
  if (line.size() <= kMostColumns) return line;
  std::size_t end = kMostColumns;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + " ...";
}

/// What the simulator says itself, once, when a program calls a library.
bool is_notice_about_library(const std::string& line) {
  return line.starts_with("tilewise: ") && line.find(" and its kin are computed by ") != std::string::npos;
}

/// Of other findings it isn't known whether the program ended for them: it may have asked for an error, and called exit().
bool ends_program(const std::string& code) {
  static const std::set<std::string> codes{"host-access", "host-use-after-free", "host-fault",      "division-by-zero",
                                           "assert",      "stack-overflow",      "illegal-address", "slow",
                                           "endless",     "false-promise"};
  return codes.count(code) > 0;
}

bool is_of(const Json& finding, const std::string& file) {
  return fs::path(finding.value("file", "")).filename() == fs::path(file).filename();
}

}  // namespace

std::vector<std::string> shown_output(const std::string& output, const std::string& file) {
  std::vector<std::string> shown;
  std::size_t more = 0;
  // Of what comes without an end, the first part tells enough.
  std::istringstream lines(output.substr(0, 1 << 16));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();  // lines that end as on Windows
    if (is_notice_about_library(line)) continue;
    if (shown.size() == kMostLines)
      ++more;
    else
      shown.push_back("  | " + shortened(one_line(without_folders(line, file))));
  }
  if (shown.empty()) return {};
  if (output.size() > 1 << 16)
    shown.push_back("  ... and much more");
  else if (more > 0)
    shown.push_back(fmt::format("  ... and {} more line{}", more, more == 1 ? "" : "s"));
  shown.insert(shown.begin(), "it printed:");
  return shown;
}

std::string finding_text(const Json& finding, const std::string& file) {
  // Of the grader's own files nobody has to know a line.
  const std::string place = is_of(finding, file) ? fs::path(file).filename().string() : "";
  return fmt::format("{}{}: {}", place.empty() ? "" : fmt::format("{}:{}: ", place, finding.value("line", 0)),
                     finding.value("kind", ""), without_folders(finding.value("message", ""), file));
}

std::vector<std::string> finding_lines(const Json& finding, const std::string& file) {
  std::vector<std::string> lines{finding_text(finding, file)};
  if (is_of(finding, file)) lines.push_back("    " + source_line(file, finding.value("line", 0)));
  return lines;
}

EarlyEnd early_end_of(const std::string& report, const std::string& file, const std::map<std::string, long>& frames) {
  const Json launches = Json::parse(report, nullptr, false);
  const Json* last = nullptr;
  if (launches.is_array())
    for (const Json& launch : launches)
      if (launch.is_object() && launch.contains("findings"))
        for (const Json& f : launch["findings"])
          if (f.is_object() && !f.value("note", false) && f.value("kind", "") != "leak")
            last = &f;  // all is left behind where a program ends early
  if (last == nullptr) return {};
  EarlyEnd e;
  e.notes = finding_lines(*last, file);
  if (!ends_program(last->value("kind", ""))) return e;
  e.code = last->value("kind", "");
  e.what = e.notes.front();
  e.notes.erase(e.notes.begin());
  const std::string message = last->value("message", "");
  if (message.find("stack is full") != std::string::npos)
    for (const auto& [function, bytes] : frames)
      e.notes.push_back(fmt::format("the local variables of {} are {} bytes", function, bytes));
  if (e.code == "host-access" && message.find("leave it to copies") == std::string::npos)
    e.notes.push_back("in homework nothing is copied: let a kernel do what this line does");
  return e;
}

}  // namespace tilewise::grader
