// tour BIN_FOLDER REPORT_FOLDER COMMAND CHAPTER...: runs every lesson program in order, prints one table about all of them,
// and writes REPORT_FOLDER/index.html from the JSON files that the programs wrote. COMMAND is run after the first lesson and
// builds the others; "true" when they are there. Exit code 1 if a lesson went wrong or COMMAND failed.
#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

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

// ---------------------------------------------------------------- running

/// Heading and first paragraph of a Markdown page, without the chapter's number and Doxygen's label.
void read_page(const fs::path& page, Visit& visit) {
  visit.title = visit.chapter;
  std::ifstream file(page);
  std::string line;
  bool below_title = false;
  while (std::getline(file, line)) {
    if (!below_title) {
      if (line.rfind("# ", 0) != 0) continue;
      visit.title = line.substr(2, line.find(" {#") - 2);
      if (visit.title.rfind(visit.chapter.substr(0, 2) + " ", 0) == 0) visit.title.erase(0, 3);
      below_title = true;
    } else if (line.empty()) {
      if (!visit.about.empty()) return;
    } else if (visit.about.empty() && std::string_view("#|<!`[").find(line[0]) != std::string_view::npos) {
      continue;  // a picture, a heading, a comment: not the paragraph yet
    } else {
      visit.about += (visit.about.empty() ? "" : " ") + line;
    }
  }
}

Visit run_lesson(const fs::path& bin, const fs::path& report, const std::string& chapter) {
  Visit visit;
  visit.chapter = chapter;
  read_page(fs::path("chapters") / chapter / "README.md", visit);

  const fs::path json = report / (chapter + ".json");
  fs::remove(json);
  const std::string command = fmt::format("'{}' --json '{}'", (bin / chapter).string(), json.string());
  const auto begin = std::chrono::steady_clock::now();
  const int status = std::system(command.c_str());
  visit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  visit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

  std::ifstream file(json);
  if (file) visit.run = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (visit.run.is_discarded()) visit.run = nullptr;
  for (const Json& row : visit.run.value("rows", Json::array())) {
    const std::string result = row.value("status", "");
    (result == "OK" ? visit.right : result == "SKIP" ? visit.skipped : visit.wrong)++;
  }
  return visit;
}

// ---------------------------------------------------------------- the table on the terminal

/// At most `width` bytes of UTF-8 text, padded with blanks to `width` characters.
std::string fit(std::string text, std::size_t width) {
  auto characters = [](const std::string& s) {
    std::size_t n = 0;
    for (unsigned char c : s) n += (c & 0xC0) != 0x80;
    return n;
  };
  bool cut = false;
  while (characters(text) > width - (cut ? 2 : 0)) {
    do text.pop_back();
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80);
    cut = true;
  }
  if (cut) text += "..";
  return text + std::string(width - std::min(width, characters(text)), ' ');
}

void print_summary(const std::vector<Visit>& visits) {
  std::size_t name_width = 7;
  for (const Visit& v : visits) name_width = std::max(name_width, v.chapter.size());
  constexpr std::size_t kTitleWidth = 56;
  fmt::print("\n{:<{}}  {:<{}}  {:>5} {:>5} {:>7} {:>8}\n", "Chapter", name_width, "What it shows", kTitleWidth,
             "right", "wrong", "skipped", "seconds");
  fmt::print("{}\n", std::string(name_width + kTitleWidth + 32, '-'));
  for (const Visit& v : visits) {
    fmt::print("{:<{}}  {}  {:>5} {:>5} {:>7} {:>8.1f}", v.chapter, name_width, fit(v.title, kTitleWidth), v.right,
               v.wrong, v.skipped, v.seconds);
    if (v.run.is_null()) fmt::print("  wrote no results");
    if (v.exit_code != 0) fmt::print("  exit code {}", v.exit_code);
    fmt::print("\n");
  }
}

// ---------------------------------------------------------------- the page

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
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

/// The paragraph as HTML: Markdown's `code`, links and emphasis become plain text or <code>.
std::string from_markdown(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') {
      out += code ? "</code>" : "<code>";
      code = !code;
    } else if (!code && (c == '[' || (c == '*' && i + 1 < text.size() && text[i + 1] == '*'))) {
      if (c == '*') ++i;
    } else if (!code && c == ']' && i + 1 < text.size() && text[i + 1] == '(') {
      i = std::min(text.find(')', i), text.size());
    } else {
      out += escaped(text.substr(i, 1));
    }
  }
  if (code) out += "</code>";
  return out;
}

/// The value at "time.median_ms", or null.
Json at(const Json& row, const std::string& dotted) {
  std::string pointer = "/" + dotted;
  for (char& c : pointer) c = c == '.' ? '/' : c;
  const Json::json_pointer place(pointer);
  return row.contains(place) ? row.at(place) : Json();
}

std::string with_commas(std::string digits) {
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) digits.insert(i, ",");
  return digits;
}

std::string shown(const Json& value, int decimals) {
  if (value.is_null()) return "";
  if (value.is_string()) return escaped(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return with_commas(std::to_string(value.get<long long>()));
  const double number = value.get<double>();
  if (decimals < 0) return fmt::format("{:.1e}", number);
  return fmt::format("{:.{}f}", number, decimals);
}

/// A column of a lesson's table: shown when some row has the value. Decimals < 0: scientific.
struct Column {
  std::string key;
  std::string title;
  std::string unit;
  int decimals = 0;
};

const Column kColumns[] = {
    {"what", "what", ""},
    {"shape", "shape", ""},
    {"kernel", "kernel", ""},
    {"tile", "tile", ""},
    {"latency.cycles", "one step", "cycles", 1},
    {"latency.ns", "one step", "ns", 1},
    {"intensity", "intensity", "FLOP per byte", 2},
    {"time.median_ms", "median", "ms", 4},
    {"time.iqr_ms", "IQR", "ms", 4},
    {"figure.value", "rate", "", 0},
    {"figure.share_of_peak", "share of peak", "", 3},
    {"figure.share_of_roof", "share of roof", "", 3},
    {"speedup.same_block", "speed-up", "same block", 2},
    {"speedup.best_naive", "speed-up", "best naive", 2},
    {"speedup.best_copy", "share", "of copy", 3},
    {"speedup.best_cuBLAS", "share", "of cuBLAS", 3},
    {"counts.global_load_requests", "load requests", "warp instr."},
    {"counts.global_load_sectors", "load sectors", "32 bytes"},
    {"derived.sectors_per_load", "sectors", "per load", 2},
    {"counts.global_store_requests", "store requests", "warp instr."},
    {"counts.global_store_sectors", "store sectors", "32 bytes"},
    {"derived.sectors_per_store", "sectors", "per store", 2},
    {"derived.shared_wavefronts", "shared", "wavefronts"},
    {"counts.shared_conflicts", "bank conflicts", "wavefronts"},
    {"error.max", "largest error", "", -1},
    {"error.bound", "its bound", "", -1},
};

/// What the bars of a lesson show: the first of these that its rows have.
struct Measure {
  const char* key;
  const char* title;
};

constexpr Measure kMeasures[] = {
    {"figure.value", "longer is better"},
    {"latency.cycles", "cycles, shorter is better"},
    {"intensity", "floating-point operations per byte of global memory"},
    {"derived.global_sectors", "32-byte sectors of global memory, loaded and stored, shorter is better"},
};

/// Adds what is computed from a row's counts.
void derive(Json& row) {
  double all_sectors = 0;
  for (const std::string kind : {"load", "store"}) {
    const Json requests = at(row, "counts.global_" + kind + "_requests");
    const Json sectors = at(row, "counts.global_" + kind + "_sectors");
    if (!requests.is_number() || !sectors.is_number()) continue;
    if (requests.get<double>() > 0)
      row["derived"]["sectors_per_" + kind] = sectors.get<double>() / requests.get<double>();
    all_sectors += sectors.get<double>();
  }
  if (all_sectors > 0) row["derived"]["global_sectors"] = all_sectors;
  const Json loads = at(row, "counts.shared_load_wavefronts"), stores = at(row, "counts.shared_store_wavefronts");
  if (loads.is_number_integer() && stores.is_number_integer())
    row["derived"]["shared_wavefronts"] = loads.get<long long>() + stores.get<long long>();
}

std::string label(const Json& row) {
  if (const Json what = at(row, "what"); what.is_string()) return shown(what, 0);
  std::string text = shown(at(row, "kernel"), 0);
  const Json tile = at(row, "tile");
  if (tile.is_number() && tile.get<double>() != 0) text += " <small>" + shown(tile, 0) + "</small>";
  const Json extra = row.value("extra", Json::object());  // items() refers to it
  for (const auto& [title, value] : extra.items())
    text += " <small>" + escaped(title) + " " + shown(value, 0) + "</small>";
  return text;
}

/// Bars for the last shape of a lesson: its largest, by the programs' defaults. Rows that say what they are about are
/// not about shapes.
std::string bars(const Json& rows) {
  const Json last_shape = rows.empty() || rows.back().contains("what") ? Json() : at(rows.back(), "shape");
  const auto shown_here = [&](const Json& row) { return row.contains("what") || at(row, "shape") == last_shape; };
  for (const Measure& measure : kMeasures) {
    double largest = 0;
    for (const Json& row : rows) {
      const Json value = at(row, measure.key);
      if (shown_here(row) && value.is_number()) largest = std::max(largest, value.get<double>());
    }
    if (largest <= 0) continue;
    std::string unit;  // "GFLOP/s, " where the rows say it
    for (const Json& row : rows)
      if (unit.empty() && at(row, "figure.unit").is_string()) unit = row["figure"]["unit"].get<std::string>() + ", ";
    std::string html =
        fmt::format("<figure><figcaption>{}{}{}</figcaption>\n", unit, measure.title,
                    last_shape.is_string() ? ", " + escaped(last_shape.get<std::string>()) : std::string());
    for (const Json& row : rows) {
      const Json value = at(row, measure.key);
      if (!shown_here(row) || !value.is_number()) continue;
      html += fmt::format("<div class=\"bar\" style=\"--share:{:.4f}\"><span>{}</span><i></i><b>{}</b></div>\n",
                          value.get<double>() / largest, label(row),
                          with_commas(fmt::format("{:.0f}", value.get<double>())));
    }
    return html + "</figure>\n";
  }
  return "";
}

std::string table(const Json& rows) {
  std::vector<Column> columns;
  for (const Column& column : kColumns) {
    for (const Json& row : rows) {
      if (at(row, column.key).is_null()) continue;
      columns.push_back(column);
      break;
    }
    if (column.key != "kernel" || rows.empty()) continue;
    const Json extra = rows[0].value("extra", Json::object());  // items() refers to it
    for (const auto& [title, value] : extra.items()) columns.push_back({"extra." + title, title, ""});
  }
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const Column& c : columns)
    html += fmt::format("<th{}>{}<small>{}</small></th>", c.key == "kernel" ? " class=\"text\"" : "", c.title, c.unit);
  html += "<th class=\"text\">status<small></small></th></tr></thead>\n<tbody>\n";
  for (const Json& row : rows) {
    const std::string status = row.value("status", "?");
    html += fmt::format("<tr class=\"{}\">", escaped(status));
    for (const Column& c : columns) {
      const Json value = at(row, c.key);
      html += fmt::format("<td{}>{}</td>", value.is_string() ? " class=\"text\"" : "", shown(value, c.decimals));
    }
    html +=
        fmt::format("<td class=\"text\"><em>{}</em> {}</td></tr>\n", escaped(status), escaped(row.value("reason", "")));
  }
  return html + "</tbody></table></div>\n";
}

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --page:#fbfbf9; --card:#fff; --ink:#1f2328; --soft:#59636e; --line:#dcdfe3; --bar:#2f7d32;
  --good:#1a7f37; --bad:#c9372c; --skip:#9a6700 }
@media (prefers-color-scheme: dark) { :root { --page:#0f1317; --card:#171c22; --ink:#e6edf3; --soft:#9aa6b2; --line:#2f363e;
  --bar:#57ab5a; --good:#57ab5a; --bad:#f47067; --skip:#d4a72c } }
* { box-sizing: border-box }
body { margin:0 auto; max-width:1260px; padding:2.5rem 1.25rem 5rem; background:var(--page); color:var(--ink);
  font:16px/1.55 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif }
h1 { font-size:1.9rem; margin:0 0 .25rem; letter-spacing:-.01em } h2 { font-size:1.3rem; margin:0 0 .35rem }
h3 { font-size:1.05rem; margin:1.6rem 0 .35rem }
p { margin:.35rem 0 1rem; max-width:46rem } .soft { color:var(--soft) } small { color:var(--soft); font-weight:400 }
section { background:var(--card); border:1px solid var(--line); border-radius:10px; padding:1.4rem 1.5rem; margin-top:1.5rem }
.scroll { overflow-x:auto } table { border-collapse:collapse; width:100%; font-size:.86rem; font-variant-numeric:tabular-nums }
th { text-align:right; font-weight:600; color:var(--soft); vertical-align:bottom; line-height:1.25 } th small { display:block }
th,td { padding:.34rem .6rem; border-bottom:1px solid var(--line); white-space:nowrap } td { text-align:right }
td.text, th.text, th:first-child { text-align:left } tbody tr:last-child td { border-bottom:0 } td em { font-style:normal; font-weight:600 }
.OK em { color:var(--good) } .WRONG em, .IMPOSSIBLE em { color:var(--bad) } .SKIP, .SKIP em { color:var(--skip) }
.SKIP td.text:last-child { white-space:normal; min-width:14rem }
figure { margin:1rem 0 1.4rem } figcaption { color:var(--soft); font-size:.86rem; margin-bottom:.5rem }
.bar { display:grid; grid-template-columns:minmax(9rem,17rem) 1fr; gap:.2rem .8rem; align-items:center; font-size:.86rem;
  position:relative; margin:.22rem 0 } .bar span { font-family:ui-monospace,Menlo,Consolas,monospace; font-size:.8rem }
.bar i { grid-column:2; grid-row:1; height:1rem; width:calc(var(--share)*(100% - 7rem)); min-width:2px; background:var(--bar);
  border-radius:0 3px 3px 0 } .bar b { grid-column:2; grid-row:1; font-weight:500; font-variant-numeric:tabular-nums;
  margin-left:calc(var(--share)*(100% - 7rem) + .5rem) }
code { font:.9em ui-monospace,Menlo,Consolas,monospace } a { color:inherit }
@media (max-width:640px) { .bar { grid-template-columns:1fr } .bar i,.bar b { grid-column:1; grid-row:auto }
  .bar b { grid-row:2 } .bar i { grid-row:2 } }
)css";

/// The strip that the lessons' pages have: all kernels so far with what a recorded GPU measured, from
/// docs/results/ladder-<gpu>.json, which common/scripts/update-results.py writes. Nothing without that file.
std::string ladder(const std::vector<Visit>& visits) {
  std::ifstream file("docs/results/ladder-nvidia-h200.json");
  const Json ladder = file ? Json::parse(file, nullptr, /*allow_exceptions=*/false) : Json();
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
    html += fmt::format(
        "<div class=\"scroll\"><table>\n<thead><tr><th>lesson</th><th class=\"text\">kernel</th><th>{}</th><th>{}</th>"
        "<th>{}</th><th class=\"text\">binds</th></tr></thead>\n<tbody>\n",
        escaped(group["steps"][0].value("unit", "")), escaped(group.value("of", "")),
        escaped(group.value("count", "")));
    for (const Json& step : group["steps"]) {
      std::string lesson = escaped(step.value("lesson", ""));
      for (const Visit& v : visits)
        if (v.chapter.rfind(lesson + "_", 0) == 0) lesson = fmt::format("<a href=\"#{}\">{}</a>", v.chapter, lesson);
      html += fmt::format(
          "<tr><td class=\"text\">{}</td><td class=\"text\"><code>{}</code> "
          "<small>{}</small></td><td>{}</td><td>{}</td>"
          "<td>{}</td><td class=\"text\">{} {}</td></tr>\n",
          lesson, escaped(step.value("kernel", "")), escaped(step.value("what", "")),
          with_commas(fmt::format("{:.0f}", step.value("rate", 0.0))), share(at(step, "share")),
          shown(at(step, "count"), 2), escaped(step.value("binds", "")), share(at(step, "binds_share")));
    }
    html += fmt::format("</tbody></table></div>\n<p class=\"soft\">{}</p>\n", escaped(notes.value(kind, "")));
  }
  return html + "</section>\n";
}

/// The puzzles of a chapter.
struct Puzzles {
  int all = 0, tried = 0, solved = 0;
};

/// What a command prints; nothing when it fails.
std::optional<std::string> printed_by(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return std::nullopt;
  std::string text;
  char piece[4096];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, n);
  return pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

/// How far the learner is, by chapter, from what `learn` keeps. Where it wasn't built yet, nothing is solved. Nothing when it
/// doesn't say.
std::optional<std::map<std::string, Puzzles>> puzzles(const fs::path& learn) {
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

/// The section about puzzles: a bar for each chapter, or how to begin.
std::string puzzle_section(const fs::path& learn, const std::vector<Visit>& visits) {
  const auto chapters = puzzles(learn);
  if (!chapters || chapters->empty()) return "";
  Puzzles sum;
  for (const auto& [chapter, p] : *chapters) {
    sum.all += p.all;
    sum.tried += p.tried;
    sum.solved += p.solved;
  }
  std::string html = "<section id=\"puzzles\">\n<h2>Puzzles</h2>\n";
  if (sum.solved + sum.tried == 0)
    return html + fmt::format(
                      "<p>{} small programs to finish, repair or improve, with an answer each time you save. Begin "
                      "with <code>make learn</code>.</p>\n</section>\n",
                      sum.all);
  html += fmt::format("<p>{} of {} solved{}. <code>make learn</code> goes on where you were.</p>\n<figure>\n",
                      sum.solved, sum.all, sum.tried == 0 ? "" : fmt::format(", {} begun", sum.tried));
  for (const auto& [chapter, p] : *chapters) {
    std::string title;
    for (const Visit& v : visits)
      if (v.chapter == chapter) title = escaped(v.title);
    html += fmt::format(
        "<div class=\"bar\" style=\"--share:{:.4f}\"><span>{} <small>{}</small></span><i></i><b>{} of {}</b></div>\n",
        double(p.solved) / p.all, escaped(chapter.substr(0, 2)), title, p.solved, p.all);
  }
  return html + "</figure>\n</section>\n";
}

std::string page(const std::vector<Visit>& visits) {
  Json machine, first;
  for (const Visit& v : visits) {
    if (v.run.is_null()) continue;
    first = v.run;
    machine = v.run.value("machine", Json::object());
    break;
  }
  const bool simulated = machine.is_object() && machine.value("simulated", false);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Tilewise: the tour</title>\n<style>";
  html += kStyle;
  html += "</style>\n</head>\n<body>\n<h1>Tilewise: the tour</h1>\n";
  if (machine.is_object()) {
    html += fmt::format("<p class=\"soft\">{}, compute capability {}, {} SMs. {}. Commit {}.</p>\n",
                        escaped(machine.value("name", "")), escaped(machine.value("compute_capability", "")),
                        machine.value("sms", 0), escaped(first.value("date", "")), escaped(first.value("commit", "")));
  }
  if (simulated) {
    html +=
        "<p class=\"soft\">Run on the simulator: it counts what the memory system of such a GPU would do. It measures "
        "no time, so there is none here.</p>\n";
  }

  html += ladder(visits);
  html +=
      "<section><div class=\"scroll\"><table>\n<thead><tr><th>chapter</th><th>right</th><th>wrong</th><th>skipped</th>"
      "<th>seconds</th></tr></thead>\n<tbody>\n";
  for (const Visit& v : visits) {
    html += fmt::format(
        "<tr class=\"{}\"><td class=\"text\"><a href=\"#{}\">{}</a> <small>{}</small></td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{:.1f}</td></tr>\n",
        v.good() ? "OK" : "WRONG", v.chapter, escaped(v.title), v.chapter, v.right,
        v.wrong ? fmt::format("<em>{}</em>", v.wrong) : "0", v.skipped, v.seconds);
  }
  html += "</tbody></table></div></section>\n";
  html += puzzle_section("build/sim/bin/learn", visits);

  for (const Visit& v : visits) {
    html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"soft\">{}</p>\n", v.chapter, escaped(v.title),
                        from_markdown(v.about));
    if (v.run.is_null()) {
      html += fmt::format("<p class=\"WRONG\"><em>The program wrote no results; exit code {}.</em></p>\n", v.exit_code);
    } else {
      Json rows = v.run.value("rows", Json::array());
      for (Json& row : rows) derive(row);
      // Programs with several tables name the one that a row is from.
      for (std::size_t i = 0; i < rows.size();) {
        const std::string part = rows[i].value("part", "");
        Json same = Json::array();
        for (; i < rows.size() && rows[i].value("part", "") == part; ++i) same.push_back(rows[i]);
        if (!part.empty()) html += "<h3>" + escaped(part) + "</h3>\n";
        html += bars(same) + table(same);
      }
    }
    html += "</section>\n";
  }
  return html + "</body>\n</html>\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: tour BIN_FOLDER REPORT_FOLDER COMMAND CHAPTER...\n");
    return 2;
  }
  const fs::path bin = argv[1], report = argv[2];
  const char* const build_others = argv[3];
  const std::vector<std::string> chapters(argv + 4, argv + argc);
  try {
    fs::create_directories(report);
    std::vector<Visit> visits;
    for (const std::string& chapter : chapters) {
      if (visits.size() == 1 && std::system(build_others) != 0) return 1;
      fmt::print("\n--- {} of {}: {} ---\n", visits.size() + 1, chapters.size(), chapter);
      std::fflush(stdout);
      visits.push_back(run_lesson(bin, report, chapter));
    }
    print_summary(visits);

    const fs::path index = report / "index.html";
    std::ofstream file(index);
    file << page(visits);
    file.close();
    if (!file) throw std::runtime_error("cannot write " + index.string());
    fmt::print("\nThe report is {}\n", index.string());

    for (const Visit& v : visits)
      if (!v.good()) return 1;
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tour: {}\n", error.what());
    return 1;
  }
}
