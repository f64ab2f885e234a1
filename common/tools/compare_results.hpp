// What `make compare` works out: which recorded file belongs to a machine, with which arguments a lesson must run to be
// comparable, and how two runs of it differ. Text in, text out; common/tools/compare.cpp is the program around it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tilewise/results.hpp"

namespace compare_results {

using Json = nlohmann::ordered_json;

/// Exit codes of `make compare`; 2 is for bad arguments, as everywhere.
enum Code : int {
  kSame = 0,            ///< compared, and nothing is worse than recorded
  kWorse = 1,           ///< a wrong result, a time beyond the tolerance on the same GPU, or a count that differs
  kNothingRecorded = 3  ///< nothing to compare with
};

/// "NVIDIA H200" -> "nvidia-h200": the name of a file in docs/results, as record-results.sh makes it.
inline std::string slug(const std::string& machine) {
  std::string text;
  for (const char c : machine) text += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The value at "time.median_ms", or null.
inline Json at(const Json& row, const std::string& dotted) {
  std::string pointer = "/" + dotted;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const Json::json_pointer place(pointer);
  return row.contains(place) ? row.at(place) : Json();
}

/// The same for tilewise::written().
inline tilewise::RowReader reader(const Json& row) {
  return [&row](const std::string& place) -> std::optional<tilewise::Record::Value> {
    const Json value = at(row, place);
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    return std::nullopt;
  };
}

/// A row's value in a column of columns.inc.
inline std::string written(const char* column, const Json& row, const std::string& none = "-") {
  return tilewise::written(tilewise::known_column(column), reader(row), none);
}

inline std::string text(const Json& object, const std::string& key) {
  const Json value = at(object, key);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

/// One lesson's run in a recorded file ({"runs": [...]}); null when it was not recorded.
inline Json recorded_run(const Json& recorded, const std::string& program) {
  for (const Json& run : at(recorded, "runs"))
    if (text(run, "program") == program) return run;
  return Json();
}

/// What a row is about: two rows with the same key measure the same thing.
inline std::string key(const Json& row) {
  std::string k;
  for (const char* name : {"part", "shape", "tile", "what", "kernel"}) k += text(row, name) + "|";
  const Json extra = at(row, "extra");
  return k + (extra.is_null() ? "" : extra.dump());
}

/// The kernel, and what else tells the row from others: the lesson's own columns, or what the row is about.
inline std::string label(const Json& row) {
  std::string what = text(row, "kernel");
  const Json extra = at(row, "extra");
  for (const auto& [name, value] : extra.items())
    if (value != "-") what += " " + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return what + (at(row, "what").is_null() ? "" : ": " + text(row, "what"));
}

/// Arguments that make a lesson run the recorded sizes, whatever its defaults are by now. A product's sizes are read
/// from its rows; of other lessons the recorded command line is repeated, without --json.
inline std::vector<std::string> arguments(const Json& run) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text(run, "command_line") + " ") {
    if (c != ' ')
      word += c;
    else if (!word.empty())
      words.push_back(word), word.clear();
  }
  std::vector<std::string> kept;
  bool sizes = false;
  for (std::size_t i = 1; i < words.size(); ++i) {  // word 0 is the program
    if (words[i] == "--json")
      ++i;
    else if (!words[i].starts_with("--json=")) {
      for (const char* option : {"--n", "--m", "--k"})
        sizes = sizes || words[i] == option || words[i].starts_with(std::string(option) + "=");
      kept.push_back(words[i]);
    }
  }
  if (sizes) return kept;

  std::vector<std::string> shapes;
  for (const Json& row : at(run, "rows")) {
    const std::string shape = text(row, "shape");
    unsigned m, n, k;
    char end;
    if (std::sscanf(shape.c_str(), "%u x %u x %u%c", &m, &n, &k, &end) != 3) return kept;
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  if (shapes.empty()) return kept;
  std::string lists[3];
  for (const std::string& shape : shapes) {
    unsigned size[3];
    std::sscanf(shape.c_str(), "%u x %u x %u", &size[0], &size[1], &size[2]);
    for (int i = 0; i < 3; ++i) lists[i] += (lists[i].empty() ? "" : ",") + std::to_string(size[i]);
  }
  kept.insert(kept.end(), {"--m", lists[0], "--n", lists[1], "--k", lists[2]});
  return kept;
}

/// What comparing two runs of one lesson says.
struct Result {
  std::string table;           ///< one line per row, with a heading
  int compared = 0;            ///< rows that are in both runs
  int worse = 0;               ///< of them: slower than tolerated, another count, or wrong here
  int missing = 0;             ///< recorded, but not run here
  int added = 0;               ///< run here, but not recorded
  std::vector<double> ratios;  ///< recorded time / time here
};

/// A ratio, finely: 1.034x.
inline std::string times(double ratio) { return tilewise::fixed(ratio, 3) + "x"; }

/// A count as a table shows it: 153,819. Other values as they are written in JSON.
inline std::string count(const Json& value) {
  return value.is_number_integer() && value >= 0 ? tilewise::with_commas(value.get<std::uint64_t>()) : value.dump();
}

/// The tile's side; "-" where there is none.
inline std::string tile_of(const Json& row) {
  const std::string tile = text(row, "tile");
  return tile.empty() ? "-" : tile;
}

/// Lines without the column "tile", where no row has one.
inline std::vector<std::vector<std::string>> without_tiles(std::vector<std::vector<std::string>> lines) {
  const auto column = std::find(lines[0].begin(), lines[0].end(), "tile") - lines[0].begin();
  if (!std::all_of(lines.begin() + 1, lines.end(), [&](const auto& line) { return line[column] == "-"; })) return lines;
  for (auto& line : lines) line.erase(line.begin() + column);
  return lines;
}

/// Lines of cells as a table; the first has the headings. A column is as wide as its longest cell; those with a heading in `left`
/// are aligned left, the others right.
inline std::string laid_out(const std::vector<std::vector<std::string>>& lines, const std::set<std::string>& left) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], line[i].size());
    }
  std::string table;
  for (const auto& line : lines) {
    std::string cells;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string space(widths[i] - line[i].size(), ' ');
      cells += left.count(lines[0][i]) ? line[i] + space + "  " : space + line[i] + "  ";
    }
    while (!cells.empty() && cells.back() == ' ') cells.pop_back();
    table += cells + "\n";
  }
  return table;
}

/// Compares rows with equal keys. Times when both have them; else counts, which must be equal. `tolerance` is the share
/// by which a time may exceed the recorded one (0.1: ten per cent); `judge_times` is false for another GPU's times.
inline Result compare(const Json& recorded, const Json& here, double tolerance, bool judge_times) {
  Result result;
  std::map<std::string, Json> old_rows;
  for (const Json& row : at(recorded, "rows"))
    if (text(row, "status") == "OK") old_rows[key(row)] = row;

  const bool timed = !old_rows.empty() && !at(old_rows.begin()->second, "time").is_null();
  std::vector<std::vector<std::string>> lines = {{"shape", "tile", "kernel", timed ? "recorded ms" : "recorded",
                                                  timed ? "here ms" : "here", timed ? "speed" : "ratio",
                                                  timed ? "" : "count"}};
  const auto line = [&](const Json& row, const std::string& before, const std::string& now, const std::string& ratio,
                        const std::string& note) {
    lines.push_back({text(row, "shape"), tile_of(row), label(row), before, now, ratio, note});
  };

  std::set<std::string> seen;
  for (const Json& row : at(here, "rows")) {
    const std::string status = text(row, "status");
    const auto found = old_rows.find(key(row));
    if (status == "SKIP") continue;
    if (found == old_rows.end()) {
      ++result.added;
      line(row, "-", status, "", "not recorded");
      continue;
    }
    seen.insert(key(row));
    ++result.compared;
    if (status != "OK") {
      ++result.worse;
      line(row, "OK", status, "", text(row, "reason"));
      continue;
    }
    const Json old_time = at(found->second, "time.median_ms"), new_time = at(row, "time.median_ms");
    if (old_time.is_number() && new_time.is_number() && new_time.get<double>() > 0) {
      const double ratio = old_time.get<double>() / new_time.get<double>();
      result.ratios.push_back(ratio);
      const bool slower = judge_times && ratio < 1 / (1 + tolerance);
      result.worse += slower;
      line(row, written("time", found->second), written("time", row), times(ratio), slower ? "slower" : "");
      continue;
    }
    const Json old_counts = at(found->second, "counts"), new_counts = at(row, "counts");
    if (old_counts.is_null() || new_counts.is_null()) {
      --result.compared;
      line(row, "-", "-", "", "no time and no counts in common");
      continue;
    }
    int different = 0;
    for (const auto& [name, value] : old_counts.items()) {
      const Json now = at(new_counts, name);
      if (now == value) continue;
      ++different;
      const double before = value.is_number() ? value.get<double>() : 0;
      const bool divides = before != 0 && now.is_number();
      line(row, count(value), count(now), divides ? times(now.get<double>() / before) : "", name);
    }
    result.worse += different > 0;
    const std::string sectors = count(at(new_counts, "global_load_sectors"));
    if (different == 0) line(row, sectors, sectors, times(1), "global_load_sectors (all counts equal)");
  }
  for (const auto& [k, row] : old_rows) {
    if (seen.count(k)) continue;
    ++result.missing;
    line(row, "OK", "-", "", "not run here");
  }
  result.table = laid_out(without_tiles(lines), {"shape", "kernel", "count", ""});
  return result;
}

/// The rows of a recorded run whose text contains all of `words`, as a table: time, rate, and the speed against other rows, a column
/// for each: "same block", "best naive".
inline std::string shown(const Json& run, const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> lines = {{"shape", "tile", "kernel", "ms", "rate"}};
  std::vector<std::map<std::string, std::string>> ratios;  // of the lines below the heading
  std::vector<std::string> against;
  for (const Json& row : at(run, "rows")) {
    if (text(row, "status") != "OK") continue;
    const bool rated = at(row, "figure.value").is_number(), waits = at(row, "latency.cycles").is_number();
    const std::vector<std::string> cells = {text(row, "shape"), tile_of(row), label(row), written("time", row),
                                            rated   ? written("rate", row) + " " + text(row, "figure.unit")
                                            : waits ? written("cycles", row) + " cycles"
                                                    : "-"};
    std::string all = fmt::format("{}", fmt::join(cells, " "));
    std::map<std::string, std::string> of_row;
    const Json speedup = at(row, "speedup");
    for (const auto& [name, ratio] : speedup.items()) {
      if (name != "same_block" && !name.starts_with("best_")) continue;  // quartiles, how it was timed
      std::string what = name;
      std::replace(what.begin(), what.end(), '_', ' ');
      of_row[what] = times(ratio.get<double>());
      all += " " + of_row[what] + " " + what;
    }
    if (!std::all_of(words.begin(), words.end(),
                     [&](const std::string& w) { return all.find(w) != std::string::npos; }))
      continue;
    for (const auto& [what, ratio] : of_row)
      if (std::find(against.begin(), against.end(), what) == against.end()) against.push_back(what);
    lines.push_back(cells), ratios.push_back(of_row);
  }
  if (ratios.empty()) return "";
  std::sort(against.rbegin(), against.rend());  // "same block" first
  for (const std::string& what : against) {
    lines[0].push_back(what);
    for (std::size_t i = 0; i < ratios.size(); ++i)
      lines[i + 1].push_back(ratios[i].count(what) ? ratios[i][what] : "-");
  }
  return laid_out(without_tiles(lines), {"shape", "kernel"});
}

/// Geometric mean; 0 for none.
inline double mean_ratio(const std::vector<double>& ratios) {
  if (ratios.empty()) return 0;
  double logs = 0;
  for (const double ratio : ratios) logs += std::log(ratio);
  return std::exp(logs / static_cast<double>(ratios.size()));
}

}  // namespace compare_results
