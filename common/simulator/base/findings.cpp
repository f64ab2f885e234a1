#include "base/findings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "base/for_ever.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {
namespace {

constexpr std::size_t kShown = 20;  // further findings are in the report only

struct State {
  std::vector<Finding> all;
  std::map<std::tuple<std::string, const void*, const void*>, std::size_t> index;
  std::size_t shown = 0;
  std::uint64_t reports = 0, messages = 0;
  bool silent = false;
};

State& state() {
  static State* s = for_ever<State>();  // findings may come after static objects are gone
  return *s;
}

bool findings_are(const char* value) {
  const char* v = std::getenv("TILEWISE_FINDINGS");
  return v && std::strcmp(v, value) == 0;
}

void show(const Finding& f) {
  if (state().silent) return;
  const bool colour = isatty(2) && !std::getenv("NO_COLOR");
  std::string text =
      fmt::format("{}{}: {}{}{}: {}", colour ? "\033[1m" : "", f.site ? describe_site(f.site) : "tilewise",
                  f.note ? "note: " : "", f.code, colour ? "\033[0m" : "", f.message);
  if (f.times > 1) {
    const std::uint64_t more = f.times - 1;
    text += fmt::format(" (and {} more time{})", grouped_digits(more), more == 1 ? "" : "s");
  }
  text += '\n';
  if (f.launch != 0) {
    text += fmt::format("    in {}{}{}\n", f.kernel ? function_name(f.kernel) : "a kernel",
                        f.threads.empty() ? "" : ", ", f.threads);
  }
  std::fputs(text.c_str(), stderr);
}

bool is_race(const Finding& f) { return f.code == "warp-synchronous" || f.code.starts_with("race-"); }
// Of a copy that is not waited for and a race between the same two lines, the one that was seen first says it best.
bool lacks_order(const Finding& f) { return is_race(f) || f.code == "async-in-flight"; }

// One mistake often shows in several ways: reads and writes of the same two lines race with each other, within warps and
// between them, and what is read too early has not been written. One finding per mistake says it best.
void merge_new_findings() {
  State& s = state();
  if (s.all.size() - s.shown < 2) return;
  std::vector<const void*> sites;
  for (std::size_t i = s.shown; i < s.all.size(); ++i) {
    sites.push_back(s.all[i].site);
    sites.push_back(s.all[i].other_site ? s.all[i].other_site : s.all[i].site);
  }
  const std::vector<SourceLine> lines = source_lines(sites);
  const auto here = [&](std::size_t i) {
    return std::tie(lines[2 * (i - s.shown)].file, lines[2 * (i - s.shown)].line);
  };
  const auto there = [&](std::size_t i) {
    return std::tie(lines[2 * (i - s.shown) + 1].file, lines[2 * (i - s.shown) + 1].line);
  };
  std::vector<std::size_t> into(s.all.size());  // which finding each becomes part of
  for (std::size_t i = s.shown; i < s.all.size(); ++i) {
    into[i] = i;
    for (std::size_t k = s.shown; k < i; ++k) {
      const bool races = lacks_order(s.all[i]) && lacks_order(s.all[k]);
      if (into[k] != k || (!races && s.all[i].code != s.all[k].code)) continue;
      const bool same = here(i) == here(k) && there(i) == there(k);
      const bool swapped = races && here(i) == there(k) && there(i) == here(k);
      if (!same && !swapped) continue;
      if (!is_race(s.all[i]) || !is_race(s.all[k])) {
        s.all[k].times += s.all[i].times;
        into[i] = k;
        break;
      }
      s.all[i].between_blocks = s.all[k].between_blocks |= s.all[i].between_blocks;
      if (s.all[k].weight > s.all[i].weight) {  // whichever stays
        s.all[i].advice = s.all[k].advice;
        s.all[i].weight = s.all[k].weight;
      } else if (s.all[i].weight > s.all[k].weight) {
        s.all[k].advice = s.all[i].advice;
        s.all[k].weight = s.all[i].weight;
      }
      if (s.all[k].code == "warp-synchronous" && s.all[i].code != "warp-synchronous") {
        s.all[i].times += s.all[k].times;
        std::swap(s.all[i], s.all[k]);  // keeps its place
      } else {
        s.all[k].times += s.all[i].times;
      }
      into[i] = k;
      break;
    }
  }
  for (std::size_t i = s.shown; i < s.all.size(); ++i) {
    for (std::size_t k = s.shown; k < s.all.size() && s.all[i].code == "uninitialised-shared"; ++k)
      if (is_race(s.all[k]) && into[k] == k && (here(k) == here(i) || there(k) == here(i))) into[i] = k;
  }
  std::vector<std::size_t> place(s.all.size());  // where each finding is now
  std::size_t end = s.shown;
  for (std::size_t i = 0; i < s.all.size(); ++i) {
    if (i < s.shown) {
      place[i] = i;
    } else if (into[i] == i) {
      place[i] = end;
      if (end != i) s.all[end] = std::move(s.all[i]);
      ++end;
    }
  }
  for (std::size_t i = s.shown; i < s.all.size(); ++i)
    if (into[i] != i) place[i] = place[into[i]];
  for (auto& [key, at] : s.index)
    if (at < place.size()) at = place[at];
  s.all.resize(end);
}

}  // namespace

std::string grouped_digits(std::uint64_t n) { return fmt::format("{}", fmt::group_digits(n)); }

void show_no_findings() { state().silent = true; }

bool shows_no_findings() { return state().silent; }

bool findings_are_strict() { return findings_are("strict"); }
bool findings_are_off() { return findings_are("off"); }
bool findings_only_warn() { return findings_are("warn"); }

void report_finding(Finding finding) {
  State& s = state();
  ++s.reports;
  ++s.messages;
  if (current_lane) {
    finding.launch = running_launch().serial;
    finding.kernel = running_launch().kernel;
  } else if (finding.launch == 0) {
    finding.after_launch = running_launch().serial;
  }
  auto [entry, is_new] = s.index.try_emplace({finding.code, finding.site, finding.other_site}, s.all.size());
  if (!is_new && entry->second < s.all.size()) {
    Finding& known = s.all[entry->second];
    const std::uint64_t times = known.times + 1;
    if (finding.between_blocks && !known.between_blocks && entry->second >= s.shown) known = std::move(finding);
    known.times = times;
    known.between_blocks |= finding.between_blocks;
    return;
  }
  entry->second = s.all.size();
  s.all.push_back(std::move(finding));
  if (!current_lane || !observer::checking) show_findings();
}

Finding* known_finding(const char* code, const void* site, const void* other_site) {
  State& s = state();
  const auto known = s.index.find({code, site, other_site});
  return known != s.index.end() && known->second < s.all.size() ? &s.all[known->second] : nullptr;
}

bool report_again(const char* code, const void* site, const void* other_site) {
  Finding* known = known_finding(code, site, other_site);
  if (known == nullptr) return false;
  ++state().reports;
  ++known->times;
  return true;
}

Finding finding_of(const char* code, std::string message, const Lane& lane, const void* site) {
  Finding f;
  f.code = code;
  f.message = std::move(message);
  f.site = site;
  f.threads = describe_thread(lane);
  f.launch = running_launch().serial;
  f.kernel = running_launch().kernel;
  return f;
}

void end_launch_for(const char* code, std::string message, const Lane& lane, const void* site, int error) {
  if (observer::checking) report_finding(finding_of(code, std::move(message), lane, site));
  abort_launch(error, true);
}

void report_finding(const char* code, const std::string& message, void* call_site) {
  Finding f;
  f.code = code;
  f.message = message;
  f.site = call_site;
  report_finding(std::move(f));
}

void show_findings() {
  State& s = state();
  if (s.shown >= s.all.size()) return;
  merge_new_findings();
  std::fflush(stdout);
  for (; s.shown < s.all.size(); ++s.shown) {
    s.all[s.shown].message += std::exchange(s.all[s.shown].advice, {});
    if (s.shown < kShown) show(s.all[s.shown]);
    if (s.shown == kShown && !s.silent)
      std::fputs("tilewise: further findings are not shown; TILEWISE_REPORT=FILE.json lists all\n", stderr);
  }
}

const std::vector<Finding>& findings() { return state().all; }

std::uint64_t reports_made() { return state().reports; }
std::uint64_t messages_made() { return state().messages; }

void forget_findings(std::size_t from) {
  State& s = state();
  if (from < s.all.size()) s.all.resize(from);
  s.shown = std::min(s.shown, s.all.size());  // what follows is shown again
  std::erase_if(s.index, [&](const auto& e) { return e.second >= from; });
}

std::size_t finding_count() {
  const State& s = state();
  return static_cast<std::size_t>(std::count_if(s.all.begin(), s.all.end(), [](const Finding& f) { return !f.note; }));
}

}  // namespace tilewise::sim
