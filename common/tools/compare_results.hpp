// What `make compare` works out: which recorded file belongs to a machine, with which arguments a lesson must run to be
// comparable, and how two runs of it differ. Text in, text out; common/tools/compare.cpp is the program around it.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

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

inline Json at(const Json& object, const char* key) { return object.is_object() ? object.value(key, Json()) : Json(); }

inline std::string text(const Json& object, const char* key) {
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
    what += " " + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
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

inline std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), value < 10 ? "%.3f" : value < 1000 ? "%.1f" : "%.0f", value);
  return buffer;
}

inline std::string padded(std::string cell, std::size_t width, bool left = false) {
  if (cell.size() < width) cell.insert(left ? cell.size() : 0, width - cell.size(), ' ');
  return cell;
}

/// Compares rows with equal keys. Times when both have them; else counts, which must be equal. `tolerance` is the share
/// by which a time may exceed the recorded one (0.1: ten per cent); `judge_times` is false for another GPU's times.
inline Result compare(const Json& recorded, const Json& here, double tolerance, bool judge_times) {
  Result result;
  std::map<std::string, Json> old_rows;
  for (const Json& row : at(recorded, "rows"))
    if (text(row, "status") == "OK") old_rows[key(row)] = row;

  std::size_t shape_width = 5, kernel_width = 6;
  for (const Json& row : at(here, "rows")) {
    shape_width = std::max(shape_width, text(row, "shape").size());
    kernel_width = std::max(kernel_width, label(row).size());
  }
  const auto line = [&](const Json& row, const std::string& a, const std::string& b, const std::string& c,
                        const std::string& note) {
    std::string cells = padded(text(row, "shape"), shape_width, true) + "  " + padded(text(row, "tile"), 4) + "  " +
                        padded(label(row), kernel_width, true) + "  " + padded(a, 14) + "  " + padded(b, 14) + "  " +
                        padded(c, 8) + "  " + note;
    while (!cells.empty() && cells.back() == ' ') cells.pop_back();
    result.table += cells + "\n";
  };
  Json heading;
  heading["shape"] = "shape", heading["tile"] = "tile", heading["kernel"] = "kernel";
  const Json first = old_rows.empty() ? Json() : old_rows.begin()->second;
  const bool times = !at(first, "time").is_null();
  line(heading, times ? "recorded ms" : "recorded", times ? "here ms" : "here", times ? "speed" : "ratio",
       times ? "" : "counts; load sectors where all are equal");

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
    const Json old_time = at(at(found->second, "time"), "median_ms"), new_time = at(at(row, "time"), "median_ms");
    if (old_time.is_number() && new_time.is_number() && new_time.get<double>() > 0) {
      const double ratio = old_time.get<double>() / new_time.get<double>();
      result.ratios.push_back(ratio);
      const bool slower = judge_times && ratio < 1 / (1 + tolerance);
      result.worse += slower;
      line(row, number(old_time.get<double>()), number(new_time.get<double>()), number(ratio) + "x",
           slower ? "slower" : "");
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
      const Json now = at(new_counts, name.c_str());
      if (now == value) continue;
      ++different;
      const double before = value.is_number() ? value.get<double>() : 0;
      const bool divides = before != 0 && now.is_number();
      line(row, value.dump(), now.dump(), divides ? number(now.get<double>() / before) + "x" : "", name);
    }
    result.worse += different > 0;
    const std::string sectors = text(new_counts, "global_load_sectors");
    if (different == 0) line(row, sectors, sectors, "1x", "all counts equal");
  }
  for (const auto& [k, row] : old_rows) {
    if (seen.count(k)) continue;
    ++result.missing;
    line(row, "OK", "-", "", "not run here");
  }
  return result;
}

/// The rows of a recorded run whose text contains all of `words`, as a table: time, figure and speed-ups.
inline std::string shown(const Json& run, const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> rows = {{"shape", "tile", "kernel", "ms", "figure", "", "", ""}};
  for (const Json& row : at(run, "rows")) {
    if (text(row, "status") != "OK") continue;
    std::vector<std::string> cells = {text(row, "shape"), text(row, "tile"), label(row)};
    const Json ms = at(at(row, "time"), "median_ms"), figure = at(row, "figure");
    cells.push_back(ms.is_number() ? number(ms.get<double>()) : "-");
    const Json value = at(figure, "value"), cycles = at(at(row, "latency"), "cycles");
    cells.push_back(value.is_number()    ? number(value.get<double>()) + " " + text(figure, "unit")
                    : cycles.is_number() ? number(cycles.get<double>()) + " cycles"
                                         : "-");
    const Json speedup = at(row, "speedup");
    for (const auto& [name, ratio] : speedup.items()) {
      std::string label = name;
      std::replace(label.begin(), label.end(), '_', ' ');
      if (ratio.is_number() && cells.size() < 8) cells.push_back(number(ratio.get<double>()) + "x " + label);
    }
    cells.resize(8);
    std::string all;
    for (const std::string& cell : cells) all += cell + " ";
    if (std::all_of(words.begin(), words.end(), [&](const std::string& w) { return all.find(w) != std::string::npos; }))
      rows.push_back(cells);
  }
  std::vector<std::size_t> width(8);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < 8; ++i) width[i] = std::max(width[i], row[i].size());
  std::string table;
  for (const auto& row : rows) {
    std::string cells;
    for (std::size_t i = 0; i < 8; ++i) cells += padded(row[i], width[i], i == 0 || i == 2 || i > 4) + "  ";
    while (!cells.empty() && cells.back() == ' ') cells.pop_back();
    table += cells + "\n";
  }
  return rows.size() > 1 ? table : "";
}

/// Geometric mean; 0 for none.
inline double mean_ratio(const std::vector<double>& ratios) {
  if (ratios.empty()) return 0;
  double logs = 0;
  for (const double ratio : ratios) logs += std::log(ratio);
  return std::exp(logs / static_cast<double>(ratios.size()));
}

}  // namespace compare_results
