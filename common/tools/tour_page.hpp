// The page that `make tour` writes: what each lesson printed, as charts and tables, beside what was recorded, and how far the
// learner is with puzzles and homework. common/tools/tour.html is its frame and its look.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "compare_results.hpp"

namespace tour {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// One lesson that was run.
struct Visit {
  std::string chapter;  ///< 02_tiled_matmul
  std::string title;    ///< first heading of its README
  std::string about;    ///< the paragraph below it
  int exit_code = 0;    ///< 128 + signal when it was killed
  double seconds = 0;
  Json run;  ///< what the program wrote; null when it wrote nothing
  int right = 0, wrong = 0, skipped = 0;

  bool good() const { return exit_code == 0 && wrong == 0 && !run.is_null(); }
};

// ---------------------------------------------------------------- text

inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// The paragraph as HTML: Markdown's `code` is code; links, emphasis and comments become plain text.
inline std::string from_markdown(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') {
      out += code ? "</code>" : "<code>";
      code = !code;
    } else if (!code && (c == '[' || c == '*')) {
      continue;
    } else if (!code && c == ']' && i + 1 < text.size() && text[i + 1] == '(') {
      i = std::min(text.find(')', i), text.size());
    } else if (!code && text.substr(i, 4) == "<!--") {
      i = std::min(text.find("-->", i), text.size()) + 2;
    } else {
      out += escaped(text.substr(i, 1));
    }
  }
  if (code) out += "</code>";
  return out;
}

inline std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

using compare_results::at, compare_results::reader;

/// A value as HTML: integers whole, other numbers with three digits that count.
inline std::string shown(const Json& value) {
  const auto as = value.is_number_integer() ? tilewise::Written::whole
                  : value.is_number()       ? tilewise::Written::digits
                                            : tilewise::Written::text;
  return escaped(tilewise::written({"", "", "", "", 0, "value", "", as}, reader({{"value", value}}), ""));
}

/// A cell of a table. On a phone its title stands before it.
inline std::string cell(const std::string& title, const std::string& content, bool text = false) {
  return fmt::format("<td data-title=\"{}\"{}>{}</td>", escaped(title), text ? " class=\"text\"" : "",
                     content.empty() ? "" : "<span>" + content + "</span>");
}

/// The beginning of a table, down to its first row. A title that begins with a dot is of words, not of numbers.
inline std::string table_head(const std::vector<std::string>& titles, const char* kind = "") {
  std::string html = fmt::format("<table{}>\n<thead><tr>", *kind ? fmt::format(" class=\"{}\"", kind) : "");
  for (const std::string& title : titles)
    html += title[0] == '.' ? fmt::format("<th scope=\"col\" class=\"text\">{}</th>", title.substr(1))
                            : fmt::format("<th scope=\"col\">{}</th>", title);
  return html + "</tr></thead>\n<tbody>\n";
}

constexpr const char* kTableEnd = "</tbody></table>\n";

/// A name as HTML that may go on in the next line: of a kernel after _ < and a comma, of a shape nowhere.
inline std::string breakable(const std::string& name, bool kernel) {
  std::string out;
  for (const char c : name) {
    out += c == ' ' && !kernel ? "&nbsp;" : escaped(std::string(1, c));
    if (kernel && (c == '_' || c == '<' || c == ',')) out += "<wbr>";
  }
  return out;
}

// ---------------------------------------------------------------- what rows say

/// What a lesson's table may have, in this order; a column is shown when some row has the value, and not all have the same.
inline std::vector<tilewise::KnownColumn> columns(const Json& rows) {
  const auto text = [](const std::string& name, const std::string& place) {
    return tilewise::KnownColumn{name, name, name, "", 0, place, "", tilewise::Written::text};
  };
  std::vector<tilewise::KnownColumn> list = {text("what", "what"), text("shape", "shape"), text("kernel", "kernel")};
  if (!rows.empty()) {
    const Json extra = rows[0].value("extra", Json::object());  // items() refers to it
    for (const auto& [title, value] : extra.items()) list.push_back(text(title, "extra." + title));
  }
  list.push_back(text("tile", "tile"));
  const auto add = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) list.push_back(tilewise::known_column(name));
  };
  add({"cycles", "nanoseconds", "intensity", "time", "iqr", "rate"});
  list.push_back(list.back());
  list.back().words = "recorded", list.back().of = "derived.recorded";
  for (tilewise::KnownColumn* rate : {&list.back() - 1, &list.back()})
    for (const Json& row : rows)
      if (const Json unit = at(row, "figure.unit"); unit.is_string()) rate->unit = unit.get<std::string>();
  add({"of_peak", "of_roof", "same_block"});
  std::set<std::string> baselines;
  for (const Json& row : rows) {
    const Json speedup = row.value("speedup", Json::object());
    for (const auto& [key, ratio] : speedup.items())
      if (key.starts_with("best_") && baselines.insert(key).second)
        list.push_back(
            tilewise::speedup_column(key.substr(5), speedup.value("share", false) || at(row, "figure.unit") == "GB/s"));
  }
  if (!rows.empty() && rows[0].contains("what"))
    add({"flops"});  // of arithmetic: elsewhere it's the same for all kernels
  add({"load_requests", "load_sectors", "sectors_per_load", "data_passes_per_load", "store_requests",
       "sectors_per_store", "shared_wavefronts", "conflicts"});
  return list;
}

/// What stands below a column's title: the unit of what is written without it.
inline std::string unit_of(const tilewise::KnownColumn& column) {
  using tilewise::Written;
  return column.as == Written::percent || column.as == Written::digits ? column.unit : "";
}

/// Adds what is computed from a row's counts.
inline void derive(Json& row) {
  const Json counts = row.value("counts", Json::object());
  const auto both = [&](const std::string& what) {
    return counts.value("global_load_" + what, 0ULL) + counts.value("global_store_" + what, 0ULL);
  };
  if (both("requests") == 0) return;
  for (const char* what : {"requests", "sectors", "bytes"}) row["derived"][what] = both(what);
}

/// What a chart shows of each row.
struct Measure {
  std::string key;
  std::string title;
};

/// What was measured; else the quantity that the program says the table is about. An empty key: nothing.
inline Measure measure_of(const Json& rows, const std::string& quantity) {
  static const std::map<std::string, Measure> quantities = {
      {"requests", {"derived.requests", "requests of warps to global memory, fewer are better"}},
      {"sectors", {"derived.sectors", "sectors of 32 bytes of global memory, loaded and stored, fewer are better"}},
      {"wavefronts",
       {"counts.shared_wavefronts",
        "wavefronts, which are passes through the banks of shared memory, fewer are better"}},
      {"passes", {"counts.global_load_data_passes", "passes of loads through L1's banks, fewer are better"}},
      {"bytes", {"derived.bytes", "bytes of global memory that were asked for"}},
      {"flops", {"counts.flops", "floating-point operations"}},
      {"intensity", {"intensity", "floating-point operations per byte of global memory"}}};
  for (const Json& row : rows) {
    if (at(row, "figure.value").is_number()) return {"figure.value", "longer is faster"};
    if (at(row, "latency.cycles").is_number()) return {"latency.cycles", "cycles, shorter is faster"};
  }
  const auto found = quantities.find(quantity);
  return found == quantities.end() ? Measure{} : found->second;
}

/// The keys of a lesson's own columns in which these rows differ.
inline std::vector<std::string> telling(const Json& rows) {
  std::map<std::string, std::set<std::string>> values;
  std::vector<std::string> order;
  for (const Json& row : rows) {
    const Json extra = row.value("extra", Json::object());  // items() refers to it
    for (const auto& [key, value] : extra.items()) {
      if (values[key].empty()) order.push_back(key);
      values[key].insert(value.dump());
    }
  }
  order.erase(
      std::remove_if(order.begin(), order.end(), [&](const std::string& key) { return values[key].size() < 2; }),
      order.end());
  return order;
}

inline std::string label(const Json& row, const std::vector<std::string>& extras) {
  if (const Json what = at(row, "what"); what.is_string()) return shown(what);
  std::string text = breakable(row.value("kernel", ""), true);
  const Json tile = at(row, "tile");
  if (tile.is_number() && tile.get<double>() != 0) text += " <small>tile " + shown(tile) + "</small>";
  for (const std::string& key : extras)
    if (const Json value = row.value("extra", Json::object()).value(key, Json()); !value.is_null())
      text += " <small>" + escaped(key) + " " + shown(value) + "</small>";
  return text;
}

// ---------------------------------------------------------------- charts and tables

/// Bars for the last shape of a table: its largest, by the programs' defaults. Rows that say what they are about are not about
/// shapes. Nothing when there is nothing to see: fewer than two rows, or all within 1 %.
inline std::string chart(const Json& rows, const Measure& measure, const std::string& caption = "") {
  if (measure.key.empty() || rows.empty()) return "";
  Json last_shape;
  for (const Json& row : rows)
    if (at(row, measure.key).is_number() && !row.contains("what")) last_shape = at(row, "shape");
  Json charted = Json::array();
  double largest = 0, least = 0;
  std::string unit;  // "GFLOP/s, " where the rows say it
  for (const Json& row : rows) {
    const Json value = at(row, measure.key);
    if (!value.is_number() || (!row.contains("what") && at(row, "shape") != last_shape)) continue;
    largest = charted.empty() ? value.get<double>() : std::max(largest, value.get<double>());
    least = charted.empty() ? value.get<double>() : std::min(least, value.get<double>());
    if (unit.empty() && measure.key == "figure.value") unit = at(row, "figure.unit").get<std::string>() + ", ";
    charted.push_back(row);
  }
  if (charted.size() < 2 || largest <= 0 || least > 0.99 * largest) return "";
  const std::vector<std::string> extras = telling(charted);
  std::string html =
      fmt::format("<figure class=\"bars{}\" data-measure=\"{}\"><figcaption>{}{}{}{}</figcaption>\n",
                  charted.size() > 16 ? " many" : "", measure.key, caption, unit, measure.title,
                  last_shape.is_string() ? ", " + escaped(last_shape.get<std::string>()) : std::string());
  for (const Json& row : charted) {
    const double value = at(row, measure.key).get<double>();
    const Json recorded = at(row, "derived.recorded");
    std::string beside;
    if (recorded.is_number() && measure.key == "figure.value")
      beside = fmt::format("<u style=\"--share:{:.4f}\" title=\"recorded: {}\"></u>",
                           std::min(1.0, recorded.get<double>() / largest), shown(recorded));
    html += fmt::format(
        "<div class=\"bar\" data-kernel=\"{}\" style=\"--share:{:.4f}\"><span>{}</span><i></i>{}<b>{}</b></div>\n",
        escaped(row.value("kernel", "")), value / largest, label(row, extras), beside, shown(at(row, measure.key)));
  }
  return html + "</figure>\n";
}

/// All rows. What is the same in each of them stands in a line above.
inline std::string table(const Json& rows) {
  std::vector<tilewise::KnownColumn> shown_columns;
  std::string same;
  for (const tilewise::KnownColumn& column : columns(rows)) {
    std::set<std::string> values;
    std::size_t having = 0, able = 0;
    for (const Json& row : rows) {
      const std::string value = tilewise::written(column, reader(row), "");
      able += row.value("status", "") != "SKIP" || !value.empty();
      having += !value.empty();
      if (!value.empty()) values.insert(value);
    }
    if (having == 0) continue;
    if (values.size() > 1 || having < able || rows.size() == 1 || column.of == "kernel")
      shown_columns.push_back(column);
    else
      same += fmt::format("{}{}{} {}", same.empty() ? "" : "; ", escaped(column.words),
                          unit_of(column).empty() ? "" : " (" + unit_of(column) + ")", escaped(*values.begin()));
  }
  std::size_t names = 0;  // columns that say what a row is about
  const std::set<std::string> naming = {"what", "shape", "kernel", "tile"};
  for (const tilewise::KnownColumn& c : shown_columns) names += naming.count(c.of) || c.of.starts_with("extra.");
  const bool statuses =
      std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row.value("status", "") != "OK"; });

  std::vector<std::string> titles;
  for (const tilewise::KnownColumn& c : shown_columns)
    titles.push_back((naming.count(c.of) ? "." : "") + escaped(c.words) +
                     (unit_of(c).empty() ? "" : "<small>" + unit_of(c) + "</small>"));
  if (statuses) titles.push_back(".status");
  std::string html = same.empty() ? "" : "<p class=\"soft\">The same in every row: " + same + ".</p>\n";
  html += table_head(titles);
  for (const Json& row : rows) {
    const std::string status = escaped(row.value("status", "?")), reason = escaped(row.value("reason", ""));
    const bool ran = status != "SKIP";
    html += fmt::format("<tr class=\"{}\">", status);
    std::size_t cells = 0;
    for (const tilewise::KnownColumn& c : shown_columns) {
      if (!ran && cells == names) break;  // the reason has the rest of the row
      const std::string value = tilewise::written(c, reader(row), "");
      const bool name = c.of == "kernel" || c.of == "shape";
      html += cell(c.words + (unit_of(c).empty() ? "" : ", " + unit_of(c)),
                   name ? breakable(value, c.of == "kernel") : escaped(value), naming.count(c.of));
      ++cells;
    }
    if (!ran)
      html +=
          fmt::format("<td class=\"text reason\" colspan=\"{}\"><em>SKIP</em> {}</td>", titles.size() - cells, reason);
    else if (statuses)
      html += cell("status", fmt::format("<em>{}</em> {}", status, reason), true);
    html += "</tr>\n";
  }
  return html + kTableEnd;
}

// ---------------------------------------------------------------- what was recorded

inline Json read_json(const fs::path& path) {
  std::ifstream file(path);
  Json json = file ? Json::parse(file, nullptr, /*allow_exceptions=*/false) : Json();
  return json.is_discarded() ? Json() : json;
}

/// What docs/results has of a machine: of this one, and of the GPU that the lessons' pages are about.
struct Recorded {
  Json own;  ///< this machine's own record; null without one
  Json gpu;  ///< the H200's
  std::string gpu_name = "NVIDIA H200";
  bool judged = true;  ///< false: `own` is another GPU's, whose times are no measure

  explicit Recorded(const Json& machine) {
    gpu = read_json("docs/results/" + compare_results::slug(gpu_name) + ".json");
    own = read_json("docs/results/" + compare_results::slug(machine.value("name", "")) + ".json");
    if (own.is_null() && !machine.value("simulated", false)) own = gpu, judged = false;
  }
};

/// "Is my result normal?" in one sentence, and how it looks: "yes", "no", or "open".
inline std::pair<const char*, std::string> verdict(const Json& rows, const Json& run, const Recorded& recorded) {
  const std::set<std::string> fine = {"OK", "SKIP", "COUNTED"};
  const auto wrong =
      std::count_if(rows.begin(), rows.end(), [&](const Json& row) { return !fine.count(row.value("status", "")); });
  if (wrong > 0)
    return {"no", fmt::format("No: {} of {} rows {} wrong.", wrong, rows.size(), wrong == 1 ? "is" : "are")};

  constexpr double kTolerance = 0.1;
  const Json before = compare_results::recorded_run(recorded.own, run.value("program", "")), here = {{"rows", rows}};
  const compare_results::Result found = compare_results::compare(before, here, kTolerance, recorded.judged);
  if (found.compared == 0)
    return {"open", "All that ran is right. For these sizes nothing was recorded to compare with."};
  if (found.ratios.empty() && found.worse == 0)
    return {"yes", fmt::format("Yes: all that was counted is as recorded ({}).", counted(found.compared, "row"))};
  if (found.ratios.empty())
    return {"no", fmt::format(
                      "No: {} of {} rows count something else than was recorded. <code>make compare</code> says what.",
                      found.worse, found.compared)};
  const Json machine = run.value("machine", Json::object()), theirs = before.value("machine", Json::object());
  if (!recorded.judged) {
    const auto times = [&](const char* key) {
      return machine.value(key, 0.0) / std::max(1e-9, theirs.value(key, 0.0));
    };
    return {
        "open",
        fmt::format("Nothing is recorded for your GPU. Here it's {:.2g} times as fast as an {}; its peaks are {:.2g} "
                    "times the other's in arithmetic and {:.2g} times in bandwidth, and near one of these is normal.",
                    compare_results::mean_ratio(found.ratios), recorded.gpu_name, times("peak_fp32_gflops"),
                    times("peak_bandwidth_gbs"))};
  }
  const std::string limit = fmt::format("more than {:.0f} % slower than recorded on an {}", 100 * kTolerance,
                                        escaped(machine.value("name", "")));
  if (found.worse == 0) return {"yes", fmt::format("Yes: none of {} is {}.", counted(found.compared, "row"), limit)};
  return {"no",
          fmt::format("Not all: {} of {} {} {}. Is something else using the GPU? <code>make compare</code> says which.",
                      found.worse, counted(found.compared, "row"), found.worse == 1 ? "is" : "are", limit)};
}

inline std::string normal(const Json& rows, const Json& run, const Recorded& recorded) {
  const auto [kind, sentence] = verdict(rows, run, recorded);
  return fmt::format("<p class=\"normal {}\"><strong>Is my result normal?</strong> {}</p>\n", kind, sentence);
}

/// What the recorded GPU measured for the kernels of these rows, at its largest size; for who has no GPU.
inline std::string recorded_chart(const Json& rows, const Json& run, const Recorded& recorded) {
  const Json theirs = compare_results::recorded_run(recorded.gpu, run.value("program", ""));
  const std::string part = rows.empty() ? "" : rows[0].value("part", "");
  std::set<std::string> kernels;
  for (const Json& row : rows) kernels.insert(row.value("kernel", ""));
  Json same = Json::array();
  std::map<std::string, int> shapes;
  for (const Json& row : compare_results::at(theirs, "rows"))
    if (row.value("part", "") == part && row.value("status", "") == "OK" && kernels.count(row.value("kernel", "")))
      same.push_back(row);
  return chart(same, measure_of(same, ""), fmt::format("<b>Measured on an {}:</b> ", recorded.gpu_name));
}

// ---------------------------------------------------------------- sections

/// From the report's folder to a lesson's page: of the site if it is there, else the Markdown.
inline std::string lesson_link(const std::string& chapter, const fs::path& report) {
  const fs::path built = "build/docs/html/ch" + chapter + ".html";
  const fs::path page = fs::exists(built) ? built : fs::path("chapters") / chapter / "README.md";
  return fs::relative(page, report).generic_string();
}

/// The strip that the lessons' pages have: all kernels so far with what a recorded GPU measured, from
/// docs/results/ladder-<gpu>.json, which common/scripts/record/update-results.py writes. Nothing without that file.
inline std::string ladder(const std::vector<Visit>& visits) {
  const Json ladder = read_json("docs/results/ladder-nvidia-h200.json");
  if (!ladder.is_object()) return "";
  const auto share = [](const Json& value) {
    return value.is_number() ? fmt::format("{:.0f} %", 100 * value.get<double>()) : std::string();
  };
  const Json& notes = ladder.at("notes");
  std::string html = fmt::format(
      "<section id=\"ladder\">\n<h2>The kernels, on the way to the library</h2>\n<p class=\"soft\">Measured on an {}, "
      "products of {} floats; {}</p>\n",
      escaped(ladder.value("gpu", "")), escaped(ladder.value("shape", "")), escaped(notes.value("binds", "")));
  for (const char* kind : {"products", "movers"}) {
    const Json& group = ladder.at(kind);
    if (group.at("steps").empty()) continue;
    const std::string unit = group["steps"][0].value("unit", ""), of = group.value("of", ""),
                      count = group.value("count", "");
    html += table_head({".lesson", ".kernel", unit, of, count, ".binds"});
    for (const Json& step : group["steps"]) {
      std::string lesson = escaped(step.value("lesson", ""));
      for (const Visit& v : visits)
        if (v.chapter.starts_with(lesson + "_")) lesson = fmt::format("<a href=\"#{}\">{}</a>", v.chapter, lesson);
      const std::string kernel =
          fmt::format("<code>{}</code> <small>{}</small>", breakable(step.value("kernel", ""), true),
                      escaped(step.value("what", "")));
      const std::string binds =
          step.contains("binds") ? escaped(step.value("binds", "")) + " " + share(at(step, "binds_share")) : "";
      html += "<tr>" + cell("lesson", lesson, true) + cell("kernel", kernel, true) +
              cell(unit, shown(at(step, "rate"))) + cell(of, share(at(step, "share"))) +
              cell(count, shown(at(step, "count"))) + cell("binds", binds, true) + "</tr>\n";
    }
    html += fmt::format("{}<p class=\"soft\">{}</p>\n", kTableEnd, escaped(notes.value(kind, "")));
  }
  return html + "</section>\n";
}

/// What a command prints; nothing when it fails.
inline std::optional<std::string> printed_by(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return std::nullopt;
  std::string text;
  char piece[4096];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, n);
  return pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

/// The puzzles of a chapter.
struct Puzzles {
  int all = 0, tried = 0, solved = 0;
};

/// How far the learner is, by chapter, from what `learn` keeps. Where it wasn't built yet, nothing is solved. Nothing when it
/// doesn't say.
inline std::optional<std::map<std::string, Puzzles>> puzzles(const fs::path& learn) {
  std::map<std::string, Puzzles> chapters;
  if (!fs::exists(learn)) {
    std::error_code none;  // a chapter without puzzles
    for (const fs::directory_entry& chapter : fs::directory_iterator("tests", none))
      for (const fs::directory_entry& file : fs::directory_iterator(chapter.path() / "puzzles", none))
        if (file.path().extension() == ".cu") ++chapters[chapter.path().filename()].all;
    return chapters;
  }
  const std::optional<std::string> text = printed_by("'" + learn.string() + "' --root . --list --json 2>/dev/null");
  const Json list = text ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  if (!list.is_array()) return std::nullopt;
  for (const Json& puzzle : list) {
    Puzzles& p = chapters[puzzle.value("chapter", "")];
    const std::string state = puzzle.value("state", "");
    ++p.all;
    p.solved += state == "solved";
    p.tried += state == "tried" || state == "unknown";
  }
  return chapters;
}

/// Chapters with homework, and what the last `make homework` said of them: -1 where it said nothing, or hasn't run.
inline std::map<std::string, double> homework() {
  std::map<std::string, double> scores;
  std::error_code none;
  for (const fs::directory_entry& chapter : fs::directory_iterator("chapters", none))
    if (fs::exists(chapter.path() / "homework.cuh")) scores[chapter.path().filename()] = -1;
  // A line for each chapter in order: what its verdict depends on, the score, the tasks. See common/grader/progress.cpp.
  std::ifstream file("build/sim/homework/progress.txt");
  std::vector<double> known;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string fingerprint;
    double score = -1;
    words >> fingerprint >> score;
    known.push_back(score);
  }
  if (known.size() == scores.size())
    for (auto& [chapter, score] : scores)
      score = known[static_cast<std::size_t>(std::distance(scores.begin(), scores.find(chapter)))];
  return scores;
}

inline bool same_text(const fs::path& a, const fs::path& b) {
  std::ifstream one(a), other(b);
  using Letters = std::istreambuf_iterator<char>;
  return std::string(Letters(one), Letters()) == std::string(Letters(other), Letters());
}

inline std::string meter(double value, double most, const char* of) {
  return fmt::format(
      "<meter min=\"0\" max=\"{1:.0f}\" value=\"{0:.0f}\" aria-label=\"{0:.0f} of {1:.0f} {2}\"></meter>", value, most,
      of);
}

/// Puzzles and homework: a row for each chapter, or how to begin.
inline std::string progress(const fs::path& learn, const std::vector<Visit>& visits) {
  const auto solved = puzzles(learn);
  const std::map<std::string, double> scores = homework();
  if ((!solved || solved->empty()) && scores.empty()) return "";
  const std::map<std::string, Puzzles> by_chapter = solved.value_or(std::map<std::string, Puzzles>());
  Puzzles sum;
  for (const auto& [chapter, p] : by_chapter) sum.all += p.all, sum.tried += p.tried, sum.solved += p.solved;
  std::set<std::string> chapters;
  for (const auto& [chapter, p] : by_chapter) chapters.insert(chapter);
  for (const auto& [chapter, score] : scores) chapters.insert(chapter);
  std::size_t begun = 0;
  std::string rows;
  for (const std::string& chapter : chapters) {
    std::string title, puzzle, points;
    for (const Visit& v : visits)
      if (v.chapter == chapter) title = v.title;
    if (const auto p = by_chapter.find(chapter); p != by_chapter.end())
      puzzle = meter(p->second.solved, p->second.all, "puzzles solved") +
               fmt::format(" {} of {}", p->second.solved, p->second.all);
    if (const auto score = scores.find(chapter); score != scores.end()) {
      const bool untouched = same_text(fs::path("tests") / chapter / "homework/starter.cu",
                                       fs::path("chapters") / chapter / "homework.cu");
      begun += !untouched;
      points = untouched           ? "not begun"
               : score->second < 0 ? "begun, not graded"
                                   : meter(score->second, 100, "points") + fmt::format(" {:.0f} of 100", score->second);
    }
    rows += "<tr>" +
            cell("lesson", fmt::format("{} <small>{}</small>", escaped(chapter.substr(0, 2)), escaped(title)), true) +
            cell("puzzles", puzzle) + cell("homework", points) + "</tr>\n";
  }
  std::string html = "<section id=\"progress\">\n<h2>Your puzzles and homework</h2>\n";
  if (sum.solved + sum.tried == 0)
    html += fmt::format(
        "<p>{} small programs to finish, repair or improve, with an answer each time you save. Begin with "
        "<code>make learn</code>.</p>\n",
        sum.all);
  else
    html += fmt::format("<p>{} of {} puzzles solved{}. <code>make learn</code> goes on where you were.</p>\n",
                        sum.solved, sum.all, sum.tried == 0 ? "" : fmt::format(", {} begun", sum.tried));
  html += begun == 0 ? "<p>No homework begun yet: <code>make homework-00</code> is the first.</p>\n"
                     : "<p>Points of homework are those of your last <code>make homework</code>.</p>\n";
  return html + "<details><summary>By lesson</summary>\n" + table_head({".lesson", "puzzles", "homework"}) + rows +
         kTableEnd + "</details>\n</section>\n";
}

/// All right, and how near to what rounding allows.
inline std::string rightness(const Json& rows) {
  std::size_t right = 0, skipped = 0;
  double nearest = 0;
  for (const Json& row : rows) {
    right += row.value("status", "") == "OK";
    skipped += row.value("status", "") == "SKIP";
    const Json error = at(row, "error.max"), bound = at(row, "error.bound");
    if (error.is_number() && bound.is_number() && bound.get<double>() > 0)
      nearest = std::max(nearest, error.get<double>() / bound.get<double>());
  }
  std::string text = fmt::format("{} right", right == rows.size() && right > 1
                                                 ? fmt::format("All {} rows are", right)
                                                 : counted(right, "row") + (right == 1 ? " is" : " are"));
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  if (nearest > 0) text += fmt::format("; the largest error is {:.2g} % of what rounding allows", 100 * nearest);
  return text + ".";
}

/// One table of a lesson, with its chart.
inline std::string lesson_table(const Json& rows, const Json& run, const Recorded& recorded) {
  const std::string part = rows[0].value("part", "");
  const Json tables = run.value("tables", Json::object());
  const Json described = tables.value(part.empty() ? "all" : part, Json::object());
  const std::string quantity = described.value("quantity", "");
  std::string title = described.value("title", "");
  while (!title.empty() && (title.back() == ':' || title.back() == '.')) title.pop_back();
  const bool simulated = run.value("machine", Json::object()).value("simulated", false);
  std::string html;
  if (!part.empty()) html += fmt::format("<h3>{}{}</h3>\n", escaped(part), title.empty() ? "" : ": " + escaped(title));
  const std::string bars = chart(rows, measure_of(rows, quantity));
  html += bars;
  if (bars.empty() && simulated && quantity == "time")
    html += "<p class=\"soft\">This table is about time, which the simulator doesn't have.</p>\n";
  else if (bars.empty() && simulated && rows.size() > 1 && !quantity.empty())
    html +=
        fmt::format("<p class=\"soft\">No chart: {} of all rows are within 1 % of each other, or aren't counted.</p>\n",
                    escaped(quantity));
  if (simulated) html += recorded_chart(rows, run, recorded);
  html += normal(rows, run, recorded);
  return html + fmt::format("<details{}><summary>{} <small>{}</small></summary>\n{}</details>\n",
                            rows.size() <= 8 ? " open" : "",
                            rows.size() == 1 ? "The row" : fmt::format("All {} rows", rows.size()), rightness(rows),
                            table(rows));
}

inline std::string lesson(const Visit& v, const Recorded& recorded, const fs::path& report) {
  std::string html =
      fmt::format("<section id=\"{}\">\n<h2><a href=\"{}\">{} {}</a></h2>\n<p class=\"soft\">{}</p>\n", v.chapter,
                  lesson_link(v.chapter, report), v.chapter.substr(0, 2), escaped(v.title), from_markdown(v.about));
  if (v.run.is_null())
    return html +
           fmt::format("<p class=\"WRONG\"><em>The program wrote no results; exit code {}.</em></p>\n</section>\n",
                       v.exit_code);
  Json rows = v.run.value("rows", Json::array());
  std::map<std::string, Json> before;
  const Json theirs = compare_results::recorded_run(recorded.own, v.run.value("program", ""));
  for (const Json& row : compare_results::at(theirs, "rows"))
    if (row.value("status", "") == "OK") before[compare_results::key(row)] = row;
  for (Json& row : rows) {
    derive(row);
    const auto found = before.find(compare_results::key(row));
    if (found == before.end() || at(row, "figure.value").is_null()) continue;
    if (const Json value = at(found->second, "figure.value"); value.is_number()) row["derived"]["recorded"] = value;
  }
  for (std::size_t i = 0; i < rows.size();) {  // programs with several tables name the one that a row is from
    const std::string part = rows[i].value("part", "");
    Json same = Json::array();
    for (; i < rows.size() && rows[i].value("part", "") == part; ++i) same.push_back(rows[i]);
    html += lesson_table(same, v.run, recorded);
  }
  return html + "</section>\n";
}

inline std::string overview(const std::vector<Visit>& visits, const fs::path& report) {
  std::string html = "<section id=\"lessons\"><h2>What ran</h2>\n" +
                     table_head({".lesson", "right", "wrong", "skipped", "seconds", ".page"}, "compact");
  for (const Visit& v : visits) {
    const std::string number = v.chapter.substr(0, 2);
    html +=
        fmt::format("<tr class=\"{}\">", v.good() ? "OK" : "WRONG") +
        cell("lesson", fmt::format("<a href=\"#{}\">{} {}</a>", v.chapter, number, escaped(v.title)), true) +
        cell("right", std::to_string(v.right)) + cell("wrong", v.wrong ? fmt::format("<em>{}</em>", v.wrong) : "0") +
        cell("skipped", std::to_string(v.skipped)) + cell("seconds", fmt::format("{:.1f}", v.seconds)) +
        cell(
            "page",
            fmt::format("<a href=\"{}\" aria-label=\"The lesson {}\">read</a>", lesson_link(v.chapter, report), number),
            true) +
        "</tr>\n";
  }
  return html + kTableEnd + "</section>\n";
}

/// The frame, with {{name}} replaced.
inline std::string filled(const fs::path& frame, const std::map<std::string, std::string>& parts) {
  std::ifstream file(frame);
  if (!file) throw std::runtime_error("cannot read " + frame.string());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t open = text.find("{{", i), close = open == std::string::npos ? open : text.find("}}", open);
    if (close == std::string::npos) return out + text.substr(i);
    out += text.substr(i, open - i) + parts.at(text.substr(open + 2, close - open - 2));
    i = close + 2;
  }
  return out;
}

/// The whole page, for the file REPORT/index.html; the present folder is the repository.
inline std::string page(const std::vector<Visit>& visits, const fs::path& report) {
  Json machine = Json::object(), first = Json::object();
  for (const Visit& v : visits) {
    if (v.run.is_null()) continue;
    first = v.run;
    machine = v.run.value("machine", Json::object());
    break;
  }
  std::string about;
  if (!machine.empty())
    about = fmt::format("<p class=\"soft\">{}, compute capability {}, {} SMs. {}. Commit {}.</p>\n",
                        escaped(machine.value("name", "")), escaped(machine.value("compute_capability", "")),
                        machine.value("sms", 0), escaped(first.value("date", "")), escaped(first.value("commit", "")));
  const Recorded recorded(machine);
  if (machine.value("simulated", false))
    about += fmt::format(
        "<p class=\"soft\">Run on the simulator: it counts what the memory system of such a GPU would do. It measures "
        "no time; charts that "
        "say so show what an {} measured for the same kernels, at its sizes.</p>\n",
        recorded.gpu_name);
  else if (!machine.empty())
    about += "<p class=\"soft\">The thin line below a bar is what was recorded.</p>\n";
  std::string lessons;
  for (const Visit& v : visits) lessons += lesson(v, recorded, report);
  return filled("common/tools/tour.html", {{"about", about},
                                           {"overview", overview(visits, report)},
                                           {"progress", progress("build/sim/bin/learn", visits)},
                                           {"ladder", ladder(visits)},
                                           {"lessons", lessons}});
}

}  // namespace tour
