#include "runtime/findings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "model/report.hpp"
#include "runtime/symbols.hpp"
#include "runtime/thread.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {
namespace {

constexpr std::size_t kShown = 20;  // further findings are in the report only

struct State {
  std::vector<Finding> all;
  std::map<std::tuple<std::string, const void*, const void*>, std::size_t> index;
  std::size_t shown = 0;
};

State& state() {
  static State* s = new State;  // findings may come after static objects are gone
  return *s;
}

void show(const Finding& f) {
  State& s = state();
  if (s.shown++ >= kShown) {
    if (s.shown == kShown + 1) std::fputs("tilewise: further findings are not shown; TILEWISE_REPORT=FILE lists all\n", stderr);
    return;
  }
  std::fflush(stdout);
  const bool colour = isatty(2) && !std::getenv("NO_COLOR");
  std::string text = fmt::format("{}{}: {}{}: {}\n", colour ? "\033[1m" : "", f.site ? describe_site(f.site) : "tilewise",
                                 f.code, colour ? "\033[0m" : "", f.message);
  if (f.launch != 0) {
    const void* kernel = running_launch().kernel;
    text += fmt::format("    in {}{}{}\n", kernel ? function_name(kernel) : "a kernel", f.threads.empty() ? "" : ", ",
                        f.threads);
  }
  std::fputs(text.c_str(), stderr);
}

// A program with findings must not look like one that went well. std::atexit cannot change the exit code, so the
// process ends here, after everything is written.
void end_of_program() {
  const State& s = state();
  if (s.all.empty() || findings_only_warn()) return;
  std::fprintf(stderr, "tilewise: %zu finding%s; exit code 1 (TILEWISE_FINDINGS=warn keeps the program's own)\n",
               s.all.size(), s.all.size() == 1 ? "" : "s");
  std::fflush(nullptr);
  write_report_now();
  _exit(1);
}

}  // namespace

bool findings_only_warn() {
  const char* v = std::getenv("TILEWISE_FINDINGS");
  return v && std::strcmp(v, "warn") == 0;
}

void report_finding(Finding finding) {
  State& s = state();
  static const bool registered = (std::atexit(end_of_program), true);
  (void)registered;
  if (current_lane) finding.launch = running_launch().serial;
  auto [entry, is_new] = s.index.try_emplace({finding.code, finding.site, finding.other_site}, s.all.size());
  if (!is_new && entry->second < s.all.size()) {
    ++s.all[entry->second].times;
    return;
  }
  entry->second = s.all.size();
  show(finding);
  s.all.push_back(std::move(finding));
}

void report_finding(const char* code, const std::string& message, void* call_site) {
  Finding f;
  f.code = code;
  f.message = message;
  f.site = call_site;
  report_finding(std::move(f));
}

const std::vector<Finding>& findings() { return state().all; }

void forget_findings(std::size_t from) {
  State& s = state();
  if (from < s.all.size()) s.all.resize(from);
  s.shown = std::min(s.shown, s.all.size());  // what follows is shown again
  std::erase_if(s.index, [&](const auto& e) { return e.second >= from; });
}

std::size_t finding_count() { return state().all.size(); }

}  // namespace tilewise::sim
