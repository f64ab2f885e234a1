#include "learn/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <vector>

#include "grader/tools.hpp"

namespace tilewise::learn {

namespace {

using Json = nlohmann::ordered_json;

/// What a row is chosen by.
struct Selector {
  std::vector<std::string> parts;
  std::vector<std::pair<std::string, std::string>> columns;
};

/// Values may hold blanks: "kernel=naive_matmul shape=4096 x 4096 x 4096 tile=32".
Selector parse_selector(const std::string& text) {
  Selector s;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, to - from);
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos)
      s.columns.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    else if (s.columns.empty() && !word.empty())
      s.parts.push_back(word);
    else if (!word.empty())
      s.columns.back().second += " " + word;
    from = to + 1;
  }
  return s;
}

std::string as_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string column(const Json& row, const std::string& key) {
  const Json extra = row.value("extra", Json::object());
  std::string with_blanks = key;
  std::replace(with_blanks.begin(), with_blanks.end(), '_', ' ');
  for (const Json* where : {&extra, &row})
    for (const std::string& name : {key, with_blanks})
      if (where->contains(name)) return as_text((*where)[name]);
  return "";
}

/// "spmv_scalar" stands for itself, and for what goes on with a blank, a < or a comma after it.
bool fits(const Json& row, const Selector& s, bool exactly) {
  if (row.value("status", "") != "OK" || !row.contains("time")) return false;
  if (!s.parts.empty() && std::find(s.parts.begin(), s.parts.end(), row.value("part", "")) == s.parts.end())
    return false;
  return std::all_of(s.columns.begin(), s.columns.end(), [&](const auto& wanted) {
    const std::string is = column(row, wanted.first);
    return is == wanted.second || (!exactly && is.starts_with(wanted.second) &&
                                   std::string(" <,").find(is[wanted.second.size()]) != std::string::npos);
  });
}

/// Milliseconds of the one row that the words choose.
double recorded_ms(const Json& runs, const std::string& chapter, const std::string& words) {
  const Selector s = parse_selector(words);
  for (const bool exactly : {true, false}) {
    std::vector<double> found;
    for (const Json& run : runs) {
      if (run.value("program", "") != chapter) continue;
      for (const Json& row : run.value("rows", Json::array()))
        if (fits(row, s, exactly)) found.push_back(row["time"].value("median_ms", 0.0));
    }
    if (found.size() == 1) return found[0];
    if (!exactly || found.size() > 1)
      throw std::runtime_error(
          fmt::format("{} \"{}\": {} recorded rows, there must be one", chapter, words, found.size()));
  }
  return 0;
}

std::string digits(double value) {
  return value >= 99.5   ? fmt::format("{:.0f}", value)
         : value >= 9.95 ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.2f}", value);
}

std::string time_text(double ms) { return ms < 0.1 ? digits(1000 * ms) + " us" : digits(ms) + " ms"; }

std::string ratio_text(double ratio) {
  return ratio >= 9.95 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.1f}", ratio);
}

}  // namespace

std::string with_records(const std::string& text, const std::filesystem::path& root) {
  if (text.find('{') == std::string::npos) return text;
  const Json file = Json::parse(grader::read_file(root / "docs/results/nvidia-h200.json"), nullptr, false);
  const Json runs = file.is_object() ? file.value("runs", Json::array()) : Json::array();
  static const std::regex marker(R"re(\{(ms|ratio) (\w+) "([^"]*)"(?: / "([^"]*)")?\})re");
  std::string result;
  std::string::const_iterator from = text.begin();
  for (std::sregex_iterator m(text.begin(), text.end(), marker), end; m != end; ++m) {
    result.append(from, (*m)[0].first);
    const double first = recorded_ms(runs, (*m)[2], (*m)[3]);
    result += (*m)[1] == "ms" ? time_text(first) : ratio_text(first / recorded_ms(runs, (*m)[2], (*m)[4]));
    from = (*m)[0].second;
  }
  result.append(from, text.end());
  if (result.find('{') != std::string::npos)
    throw std::runtime_error("a marker is neither {ms CHAPTER \"ROW\"} nor {ratio CHAPTER \"ROW\" / \"ROW\"}: " +
                             result);
  return result;
}

}  // namespace tilewise::learn
