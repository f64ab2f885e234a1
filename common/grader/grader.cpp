#include "grader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "case.hpp"
#include "gpu.hpp"
#include "policy.hpp"
#include "runtime/devices.hpp"
#include "runtime/occupancy.hpp"
#include "task.hpp"
#include "tilewise/compare.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::vector<const Task*>& tasks() {
  static auto& all = *new std::vector<const Task*>;
  return all;
}

std::string signal_text(int number) {
  switch (number) {
    case SIGSEGV:
      return "it crashed (segmentation fault: host code touched memory that is not its own)";
    case SIGABRT:
      return "it aborted";
    case SIGFPE:
      return "it divided by zero (an integer)";
    case SIGBUS:
      return "it crashed (bus error)";
    case SIGILL:
      return "it crashed (illegal instruction)";
    case SIGSYS:
      return "it made a system call that is not allowed";
    default:
      return fmt::format("it was killed by signal {}", number);
  }
}

// ---------------------------------------------------------------- one case

enum class Outcome { right, wrong, undefined, failed };  // failed: no result to compare

/// Where a case runs.
struct Machine {
  std::string program;
  const Gpu* gpu = nullptr;  ///< nullptr: the simulator
};

struct Case {
  Outcome outcome = Outcome::failed;
  bool timed_out = false;
  bool slow = false;
  int returned = 0;                         ///< the error that the function returned
  bool ended_by_error = false;              ///< a launch that a GPU would not have finished either
  std::string what;                         ///< one line; empty when right
  std::vector<std::string> notes;           ///< more about it
  std::function<std::string()> guess = {};  ///< and what only takes its time when it is shown; may be empty
  std::uint64_t findings = 0;
  Json report;
  std::uint64_t launches = 0, library_calls = 0;
  double least_flops = 0, flops = 0, least_load_sectors = 0, least_store_sectors = 0;
};

bool right(const Values& got, std::size_t i, double expected, double bound) {
  if (std::holds_alternative<std::vector<double>>(got))
    return element_ok(element_of(got, i), expected, bound, std::numeric_limits<double>::max());
  return element_ok(element_of(got, i), expected, bound);
}

/// Of a result that is moved and not computed, -0 is not 0.
bool right(const Problem& p, const Buffer& b, const Values& got, std::size_t i) {
  const bool moved = p.least_flops == 0 && b.bound.empty();
  if (moved && b.expected[i] == 0 && std::signbit(element_of(got, i)) != std::signbit(b.expected[i])) return false;
  return right(got, i, b.expected[i], b.bound.empty() ? 0 : b.bound[i]);
}

std::string number(const Values& like, double v) {
  return std::isnan(v) ? "nan" : holds_integers(like) ? fmt::format("{:.0f}", v) : fmt::format("{:.6g}", v);
}

/// Row and column of the word at [i].
std::pair<std::size_t, std::size_t> row_and_column(const Buffer& b, std::size_t i) {
  const std::size_t length = std::size_t(b.by_columns ? b.rows : b.cols);
  return b.by_columns ? std::pair{i % length, i / length} : std::pair{i / length, i % length};
}

std::string element(const Buffer& b, std::size_t i) {
  const auto [row, column] = row_and_column(b, i);
  if (b.by_columns) return fmt::format("{}({}, {})", b.name, row, column);
  return b.rows == 1 ? fmt::format("{}[{}]", b.name, i) : fmt::format("{}[{}][{}]", b.name, row, column);
}

std::ptrdiff_t outputs_of(const Problem& p) {
  return std::count_if(p.buffers.begin(), p.buffers.end(), [](const Buffer& b) { return is_result(b); });
}

/// "C[0][1] holds what belongs at C[1][0]", where most wrong elements hold what belongs elsewhere; else "".
std::string moved(const Buffer& out, const Values& got, const std::vector<std::size_t>& wrong, double tolerance) {
  using Element = std::pair<double, std::size_t>;
  std::vector<Element> sorted;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::isfinite(out.expected[i])) sorted.emplace_back(out.expected[i], i);
  std::sort(sorted.begin(), sorted.end());
  struct Move {
    std::size_t to, from;
  };
  std::vector<Move> moves;
  const std::size_t step = std::max<std::size_t>(1, wrong.size() / 200);
  std::size_t looked_at = 0;
  for (std::size_t w = 0; w < wrong.size(); w += step) {
    const double v = element_of(got, wrong[w]);
    if (!std::isfinite(v)) continue;
    ++looked_at;
    const auto low = std::lower_bound(sorted.begin(), sorted.end(), Element{v - tolerance, 0});
    // Where two may be meant, neither is.
    if (low == sorted.end() || low->first > v + tolerance) continue;
    if (low + 1 == sorted.end() || (low + 1)->first > v + tolerance) moves.push_back({wrong[w], low->second});
  }
  if (moves.size() < 3 || moves.size() * 4 < looked_at * 3) return "";
  const auto all = [&](auto is) {
    return std::all_of(moves.begin(), moves.end(), [&](const Move& m) {
      const auto [row, column] = row_and_column(out, m.to);
      const auto [from_row, from_column] = row_and_column(out, m.from);
      return is(std::ptrdiff_t(row), std::ptrdiff_t(column), std::ptrdiff_t(from_row), std::ptrdiff_t(from_column));
    });
  };
  std::string how;
  const auto [row, column] = row_and_column(out, moves[0].to);
  const auto [from_row, from_column] = row_and_column(out, moves[0].from);
  const auto down = std::ptrdiff_t(from_row) - std::ptrdiff_t(row),
             along = std::ptrdiff_t(from_column) - std::ptrdiff_t(column);
  if (all([&](auto r, auto c, auto fr, auto fc) { return fr - r == down && fc - c == along; })) {
    const auto words = [](std::ptrdiff_t n, const char* what) {
      return fmt::format("{} {}{} {}", std::abs(n), what, std::abs(n) == 1 ? "" : "s", n > 0 ? "further on" : "back");
    };
    how = ": always " + (out.rows == 1 ? words(along, "element")
                         : down == 0   ? words(along, "column")
                         : along == 0  ? words(down, "row")
                                       : words(down, "row") + " and " + words(along, "column"));
  } else if (all([](auto r, auto c, auto fr, auto fc) { return r == fc && c == fr; })) {
    how = ": rows and columns are exchanged";
  }
  for (const std::ptrdiff_t tile : {32, 16, 8, 64}) {
    if (!how.empty()) break;
    if (all([=](auto r, auto c, auto fr, auto fc) {
          return fr == r / tile * tile + c % tile && fc == c / tile * tile + r % tile;
        }))
      how = fmt::format(": within each tile of {0} x {0}, rows and columns are exchanged", tile);
    else if (all([=](auto r, auto c, auto fr, auto fc) {
               return fr == c / tile * tile + r % tile && fc == r / tile * tile + c % tile;
             }))
      how = fmt::format(": whole tiles of {0} x {0} are exchanged, as if blockIdx.x and blockIdx.y were", tile);
  }
  std::string text;
  for (std::size_t n = 0; n < std::min<std::size_t>(how.empty() ? 3 : 1, moves.size()); ++n) {
    const Move& m = moves[n * (moves.size() - 1) / 2];
    text += fmt::format("{}{} holds what belongs at {}", n ? ", " : "", element(out, m.to), element(out, m.from));
  }
  return "the wrong elements hold the values of others: " + text + how;
}

/// What the right and the wrong elements of one output say about the mistake.
void explain_wrong(const Task& task, const Sizes& sizes, const Problem& p, const Buffer& out, const Values& got,
                   Case& c) {
  std::vector<std::size_t> wrong;
  std::size_t untouched = 0, unchanged = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (right(p, out, got, i)) continue;
    wrong.push_back(i);
    if (out.use == Use::output) untouched += is_poison(got, i);
    if (out.use == Use::in_place) unchanged += element_of(got, i) == element_of(out.values, i);
  }
  const std::size_t first = wrong.front();
  const auto [first_row, first_column] = row_and_column(out, first);
  const bool not_set = out.use == Use::output && is_poison(got, first);
  c.what =
      fmt::format("{} of {} elements{} are wrong; the first is {}: expected {}, got {}", wrong.size(), out.size(),
                  outputs_of(p) > 1 ? " of " + out.name : "", element(out, first), number(got, out.expected[first]),
                  not_set ? "what was there before" + std::string(holds_integers(got) ? "" : " (nan)")
                          : number(got, element_of(got, first)));
  const std::string where = task.where({sizes, p, out, int(first_row), int(first_column)});
  if (!where.empty()) c.notes.push_back(where);
  if (out.use == Use::in_place && unchanged == wrong.size()) {
    c.notes.push_back(fmt::format("the wrong elements of {} are what they were before", out.name));
  } else if (untouched == out.size()) {
    c.notes.push_back(
        fmt::format("no element of {} was set: none was written, or each was added to what was there", out.name));
  } else if (untouched > 0) {
    c.notes.push_back(
        fmt::format("{} of the wrong elements were never written, or added to instead of set", untouched));
  }
  if (wrong.size() < out.size() && out.rows > 1) {
    std::size_t rows[2] = {std::size_t(out.rows), 0}, columns[2] = {std::size_t(out.cols), 0};
    for (std::size_t i : wrong) {
      const auto [row, column] = row_and_column(out, i);
      rows[0] = std::min(rows[0], row), rows[1] = std::max(rows[1], row);
      columns[0] = std::min(columns[0], column), columns[1] = std::max(columns[1], column);
    }
    c.notes.push_back(fmt::format("all wrong elements lie in rows {} to {} and columns {} to {}", rows[0], rows[1],
                                  columns[0], columns[1]));
  }
  // A mistake moves values from one element to another, rounding errors with them: the widest bound judges all.
  const double widest = out.bound.empty() ? 0 : *std::max_element(out.bound.begin(), out.bound.end());
  bool explained = false;
  for (const Hypothesis& h : p.hypotheses) {
    if (h.output.empty() ? h.values.size() != out.size() : h.output != out.name) continue;
    bool matches = true, differs = false;
    for (std::size_t i = 0; i < out.size() && matches; ++i) {
      matches = right(got, i, h.values[i], 2 * widest + 1e-30);
      differs = differs || !element_ok(h.values[i], out.expected[i], 4 * widest);
    }
    if (matches && differs) {
      c.notes.push_back("every element is what comes out when " + h.mistake);
      explained = true;
      break;
    }
  }
  if (explained || untouched == out.size()) return;
  c.guess = [&task, sizes, p, out, got, wrong, widest] {
    const std::string guess = task.guess(sizes, p, out, got);
    return guess.empty() ? moved(out, got, wrong, 2 * widest) : guess;
  };
}

/// Takes loads of what had just been loaded for loads like others.
void count_repeats(Json& report) {
  for (Json& launch : report) {
    if (!launch.contains("lines")) continue;
    for (Json& line : launch["lines"])
      for (const char* unit : {"instructions", "sectors", "wavefronts"}) line.erase(unit + std::string("_repeated"));
  }
}

constexpr const char* kReverse = "in this run the last block ran first: no order of the blocks is promised";

/// Runs the program on one shape. With a name for it, the simulator's report is read, too. Looking for findings costs
/// time.
Case run_case(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes, std::uint64_t seed,
              const std::string& report, bool reverse = false, bool findings = true) {
  const Problem p = task.make(sizes, seed);
  check_problem(task, p);
  const Request request = request_of(rubric.task, sizes, p, Mode::run);

  Environment environment{{"PATH", "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"}, {"LC_ALL", "C"}};
  if (!report.empty()) environment.emplace_back("TILEWISE_REPORT", report);
  if (reverse) environment.emplace_back("TILEWISE_BLOCKS", "reverse");
  if (!findings) environment.emplace_back("TILEWISE_FINDINGS", "off");
  ChildLimits limits{.cpu_seconds = rubric.time_limit, .wall_seconds = 4 * rubric.time_limit + 2};
  if (machine.gpu) {
    environment = machine.gpu->environment();
    limits = machine.gpu->limits(rubric.time_limit);
  }
  const auto started = std::chrono::steady_clock::now();
  const ChildResult child = run_child({machine.program}, environment, message_of(request, p), limits);

  Case c;
  c.slow = std::chrono::steady_clock::now() - started > std::chrono::seconds(1);
  c.least_flops = p.least_flops;
  c.flops = p.flops > 0 ? p.flops : 2 * p.least_flops;
  double loads = 0, stores = 0;  // bytes
  for (const Buffer& b : p.buffers) {
    const double bytes = double(b.size() * bytes_of(type_of_values(b.values)));
    if (has_values(b)) loads += bytes;
    if (is_result(b)) stores += bytes;
  }
  c.least_load_sectors = p.least_load_bytes.value_or(loads) / 32;
  c.least_store_sectors = p.least_store_bytes.value_or(stores) / 32;
  Reply reply;
  if (child.timed_out) {
    c.timed_out = true;
    c.what = fmt::format("it did not end within {} s: an endless loop?", limits.cpu_seconds);
    return c;
  }
  if (child.too_much_output) return c.what = "it writes without end", c;
  if (child.signal != 0) return c.what = signal_text(child.signal), c;
  std::uint64_t last = 0;
  if (child.reply.size() >= sizeof reply) std::memcpy(&reply, child.reply.data(), sizeof reply);
  if (child.reply.size() >= sizeof last)
    std::memcpy(&last, child.reply.data() + child.reply.size() - sizeof last, sizeof last);
  if (child.reply.size() != reply_size(p) || reply.nonce != request.nonce || last != request.nonce) {
    c.what = fmt::format("it ended (exit code {}) before its result could be looked at", child.code);
    return c;
  }
  if (!reply.defined) return c.outcome = Outcome::undefined, c.what = "the file does not have this function", c;
  c.findings = reply.findings;
  if (!report.empty()) c.report = Json::parse(read_file(report), nullptr, false);
  if (rubric.repeats_count && c.report.is_array()) count_repeats(c.report);
  // A program that launches nothing, since a library does all the work, writes no report.
  if (!report.empty() && !c.report.is_array() && reply.launches == 0) c.report = Json::array();

  if (reply.misused)
    throw std::runtime_error(fmt::format(
        "{}/calls.cu asks for a buffer, size or scalar of {} that it does not have, or for another type of elements",
        homework_folder(task.chapter), task.name));
  c.launches = reply.launches;
  c.library_calls = reply.library_calls;
  if (reply.library_calls > 0 && rubric.libraries.empty()) {
    c.outcome = Outcome::wrong;
    c.what = fmt::format("it calls a library, which {} must not", rubric.task);
    return c;
  }

  const char* at = child.reply.data() + sizeof reply;
  c.outcome = Outcome::wrong;
  bool all_right = true, empty = true, zeros = true;  // zeros: cudaMemsetAsync may have made the result alone
  for (const Buffer& b : p.buffers) {
    if (machine.gpu && reply.synchronised != 0) break;  // nothing could be copied back
    const Values got = read_values(b.values, b.size(), at);
    at += bytes_of(got);
    if (b.use == Use::input) {
      if (reply.synchronised != 0) continue;  // what came back is not what is there
      if (std::memcmp(data_of(got), data_of(b.values), bytes_of(got)) == 0) continue;
      c.what = fmt::format("it changed {}, which is an input", b.name);
      c.notes.clear();
      return c;
    }
    if (!is_result(b)) continue;
    empty = empty && b.size() == 0;
    zeros = zeros && std::count(b.expected.begin(), b.expected.end(), 0.0) == std::ptrdiff_t(b.size());
    bool this_right = true;
    for (std::size_t i = 0; i < b.size(); ++i) this_right = this_right && right(p, b, got, i);
    if (!this_right && all_right) explain_wrong(task, sizes, p, b, got, c);
    all_right = all_right && this_right;
  }
  if (!machine.gpu && reply.launches + reply.library_calls == 0 && !empty && !(all_right && zeros)) {
    c.what = std::string("no kernel was launched") +
             (rubric.libraries.empty() ? "" : ", and nothing of the library called") +
             (all_right ? ", and yet there is a result"
              : zeros   ? ": zeros have to be written, too"
                        : "");
    c.notes.clear();
  }
  if (reply.broken != 0) {
    const std::string rule = task.rule(reply.broken);
    if (all_right || (!machine.gpu && reply.launches + reply.library_calls == 0))
      c.what = rule;
    else
      c.notes.insert(c.notes.begin(), rule);
  }
  if (reply.remark != 0 && !all_right) c.notes.insert(c.notes.begin(), task.rule(reply.remark));
  if (machine.gpu && reply.findings > 0) {
    c.what = "a kernel wrote outside its buffers";
    c.notes.clear();
  }
  if (machine.gpu && reply.synchronised != 0) {
    const auto error = static_cast<cudaError_t>(reply.synchronised);
    c.what = fmt::format("a kernel failed: {} ({})", cudaGetErrorName(error), reply.synchronised);
    c.notes.clear();
  }
  c.returned = reply.returned;
  c.ended_by_error = reply.returned != 0 || reply.synchronised != 0;
  if (!machine.gpu && reply.lost) {
    c.what = "a buffer could not be read any more: was it freed?";
    c.notes.clear();
  }
  if (reply.returned != 0) {
    c.what = fmt::format("the function returned {} ({})", cudaGetErrorName(static_cast<cudaError_t>(reply.returned)),
                         reply.returned);
    c.notes.clear();
    if (reply.returned == cudaErrorIllegalAddress)
      c.notes.push_back("a kernel went outside its buffers" +
                        std::string(reply.findings > 0 ? ": where, is below, under \"no findings\"" : ""));
  }
  if (c.what.empty())
    c.outcome = Outcome::right;
  else if (reverse)
    c.notes.push_back(kReverse);
  return c;
}

/// Whether the function says so when a launch, or a call of a library, fails: the first one, the second, and so on; 0:
/// none. What ends the program, or does not end, has noticed something.
bool tells_of_failure(const Rubric& rubric, const Task& task, const std::string& program, const Sizes& sizes,
                      std::uint64_t seed, std::uint64_t launch, std::uint64_t library_call) {
  const Problem p = task.make(sizes, seed);
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  request.failing_launch = static_cast<std::uint8_t>(launch);
  request.failing_library_call = static_cast<std::uint8_t>(library_call);
  const ChildResult child =
      run_child({program}, {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TILEWISE_FINDINGS", "off"}},
                message_of(request, p), {.cpu_seconds = rubric.time_limit, .wall_seconds = 4 * rubric.time_limit + 2});
  Reply reply;
  if (child.timed_out || child.signal != 0 || child.reply.size() != reply_size(p)) return true;
  std::memcpy(&reply, child.reply.data(), sizeof reply);
  return reply.nonce == request.nonce && task.told_of_failure(reply.returned, reply.broken);
}

/// Whether the function is right when a program calls it for the second time, too.
bool right_again(const Rubric& rubric, const Task& task, const std::string& program, const Sizes& sizes,
                 std::uint64_t seed) {
  const Problem p = task.make(sizes, seed);
  if (std::any_of(p.buffers.begin(), p.buffers.end(), [](const Buffer& b) { return b.use == Use::in_place; }))
    return true;  // another result is right then
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  request.twice = 1;
  const ChildResult child = run_child(
      {program}, {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TILEWISE_FINDINGS", "off"}}, message_of(request, p),
      {.cpu_seconds = 2 * rubric.time_limit, .wall_seconds = 8 * rubric.time_limit + 2});
  Reply reply;
  if (child.timed_out || child.signal != 0 || child.reply.size() != reply_size(p)) return false;
  std::memcpy(&reply, child.reply.data(), sizeof reply);
  if (reply.nonce != request.nonce || reply.returned != 0 || reply.synchronised != 0 || reply.broken != 0) return false;
  const char* at = child.reply.data() + sizeof reply;
  for (const Buffer& b : p.buffers) {
    const Values got = read_values(b.values, b.size(), at);
    at += bytes_of(got);
    for (std::size_t i = 0; i < b.size() && is_result(b); ++i)
      if (!right(p, b, got, i)) return false;
  }
  return true;
}

// ---------------------------------------------------------------- counts

struct Totals {
  std::map<std::string, double> counts;
  double flops = 0, load_sectors = 0, store_sectors = 0, atomic_sectors = 0;
};

/// A line of a kernel that updates "global" or "shared" memory atomically, whether it uses the old value or not.
bool is_atomic(const Json& line, const char* memory) {
  const std::string access = line.value("access", "");
  return line.value("memory", "") == memory && (access == "atomic" || access == "reduction");
}

/// How many words of 4 bytes the threads moved that a line of a report stands for.
double words_of(const Json& line) { return line.value("threads", 0.0) * line.value("bytes_per_thread", 0.0) / 4; }

/// Instructions, sectors or wavefronts of a line but for those of loads of what had just been loaded.
double without_repeats(const Json& line, const std::string& unit) {
  return line.value(unit, 0.0) - line.value(unit + "_repeated", 0.0);
}

/// The shape of a launch, and how many of its warps an SM holds at a time. How many registers nvcc would give a
/// student's kernel is not known here, so they limit nothing.
struct Geometry {
  double blocks = 1;
  int threads = 1;
  std::size_t shared_bytes = 0;
  sim::Occupancy resident;
};

Geometry geometry(const Json& launch) {
  Geometry g;
  for (const Json& n : launch.value("grid", Json::array())) g.blocks *= n.get<double>();
  for (const Json& n : launch.value("block", Json::array())) g.threads *= n.get<int>();
  g.shared_bytes =
      launch.value("static_shared_bytes", std::size_t{0}) + launch.value("dynamic_shared_bytes", std::size_t{0});
  static const sim::Device& h200 = *std::find_if(sim::devices().begin(), sim::devices().end(), [](const auto& d) {
    return d.key == std::string_view("h200");  // what submissions run on, whatever TILEWISE_DEVICE says
  });
  g.resident = sim::occupancy(h200, 0, g.shared_bytes, g.threads);
  return g;
}

Totals totals(const Json& report) {
  Totals t;
  double load_requests = 0, load_words = 0, load_sectors = 0, load_sectors_ideal = 0, store_requests = 0,
         wavefronts = 0, conflicts = 0, launches = 0, atomics = 0, shared_atomics = 0, blocks = 0, threads = 0,
         threads_per_block = 0, shared_bytes = 0;
  std::optional<double> resident;
  for (const Json& launch : report) {
    if (!launch.contains("counters") || launch["counters"].empty()) continue;
    ++launches;
    const Geometry g = geometry(launch);
    blocks += g.blocks;
    threads += g.blocks * g.threads;
    threads_per_block = std::max(threads_per_block, double(g.threads));
    shared_bytes = std::max(shared_bytes, double(g.shared_bytes));
    resident = std::min(resident.value_or(g.resident.warps), double(g.resident.warps));
    const auto counter = [&](const char* name) { return launch["counters"].value(name, 0.0); };
    t.load_sectors += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
    store_requests += counter("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
    t.store_sectors += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    t.atomic_sectors += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum") +
                        counter("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum");
    for (const Json& line : launch.value("lines", Json::array())) {
      if (is_atomic(line, "global")) atomics += line.value("threads", 0.0);
      if (is_atomic(line, "shared")) shared_atomics += line.value("threads", 0.0);
      if (line.value("memory", "") == "global" && line.value("access", "") == "load") {
        const double kept = without_repeats(line, "instructions") / line.value("instructions", 1.0);
        load_words += kept * words_of(line);
        load_requests += without_repeats(line, "instructions");
        load_sectors += without_repeats(line, "sectors");
        load_sectors_ideal += kept * line.value("sectors_ideal", 0.0);
      }
      if (line.value("memory", "") == "shared") wavefronts -= line.value("wavefronts_repeated", 0.0);
    }
    wavefronts += counter("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
                  counter("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
    const Json derived = launch.value("derived", Json::object());
    conflicts += derived.value("shared_load_bank_conflicts", 0.0) + derived.value("shared_store_bank_conflicts", 0.0);
    t.flops += derived.value("flop_single", 0.0) + derived.value("flop_double", 0.0);
  }
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
  t.counts = {{"load_requests", load_requests},
              {"load_sectors", load_sectors},
              {"sectors_per_load", ratio(load_sectors, load_requests)},
              {"load_sectors_per_ideal", ratio(load_sectors, load_sectors_ideal)},
              {"load_words", load_words},
              {"store_sectors", t.store_sectors + t.atomic_sectors},
              {"sectors_per_store", ratio(t.store_sectors, store_requests)},
              {"sectors", load_sectors + t.store_sectors + t.atomic_sectors},
              {"shared_wavefronts", wavefronts},
              {"shared_conflicts", conflicts},
              {"atomics", atomics},
              {"shared_atomics", shared_atomics},
              {"launches", launches},
              {"blocks", blocks},
              {"threads", threads},
              {"threads_per_block", threads_per_block},
              {"shared_bytes_per_block", shared_bytes},
              {"resident_warps", resident.value_or(0)}};
  return t;
}

std::string readable_count(const std::string& name) {
  static const std::map<std::string, std::string> names{
      {"load_requests", "requests of loads"},
      {"load_sectors", "sectors of loads"},
      {"sectors_per_load", "sectors per request of loads"},
      {"load_sectors_per_ideal", "times as many sectors of loads as the same words would fill side by side"},
      {"load_words", "words that threads loaded"},
      {"store_sectors", "sectors of stores"},
      {"sectors_per_store", "sectors per request of stores"},
      {"sectors", "sectors of loads and stores"},
      {"shared_wavefronts", "wavefronts of shared memory"},
      {"shared_conflicts", "bank conflicts"},
      {"shared_wavefronts_per_flop", "wavefronts of shared memory per FLOP"},
      {"atomics", "atomic updates of global memory, one for each thread that makes one"},
      {"shared_atomics", "atomic updates of shared memory, one for each thread that makes one"},
      {"launches", "launches"},
      {"library_calls", "calls of a library"},
      {"blocks", "blocks"},
      {"threads", "threads"},
      {"threads_per_block", "threads in the largest block"},
      {"shared_bytes_per_block", "bytes of shared memory of the block that has most"},
      {"resident_warps", "warps that an SM holds at a time, by their blocks' threads and shared memory"}};
  return names.at(name);
}

std::string count_text(double v) { return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v); }

std::string target_text(const Limit& l) {
  if (!l.at_least) return count_text(*l.at_most);
  if (!l.at_most) return count_text(*l.at_least) + " or more";
  return *l.at_least == *l.at_most ? count_text(*l.at_least)
                                   : count_text(*l.at_least) + " to " + count_text(*l.at_most);
}

std::string source_line(const std::string& file, int line) {
  std::ifstream stream(file);
  std::string text;
  for (int i = 0; i < line && std::getline(stream, text); ++i) {
  }
  if (!text.empty() && text.back() == '\r') text.pop_back();  // lines that end as on Windows
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

/// A message that calls the submission by its name, as all else does that is said about it.
std::string without_folders(std::string message, const std::string& file) {
  const std::string name = "/" + fs::path(file).filename().string() + ":";
  for (std::size_t at; (at = message.find(name)) != std::string::npos;) {
    const std::size_t blank = message.rfind(' ', at);
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    message.erase(begin, at + 1 - begin);
  }
  return message;
}

/// Why CUDA does not accept the last launch of a report, in words; "" where that cannot be told.
std::string why_refused(const Json& report, int error) {
  if (!report.is_array()) return "";
  if (report.empty())
    return error == cudaErrorInvalidValue
               ? "nothing was launched before: does it ask cudaFuncSetAttribute for more than "
                 "232,448 bytes of shared memory, the most that a block can have?"
               : "";
  const Json& launch = report.back();
  const Geometry g = geometry(launch);
  const Json grid = launch.value("grid", Json::array({1, 1, 1}));
  if (g.blocks == 0)
    return "it launched a grid of 0 blocks, which is an error: n / 32 is 0 where n is below 32, and (n + 31) / 32 is "
           "not; where "
           "there is nothing to do, nothing is launched";
  if (g.threads == 0) return "it launched blocks of 0 threads";
  if (g.threads > 1024) return fmt::format("it launched blocks of {} threads; 1024 are the most", g.threads);
  if (grid[1].get<double>() > 65535 || grid[2].get<double>() > 65535)
    return "a grid has at most 65,535 blocks in y and in z: there it was larger";
  if (const auto own = launch.value("static_shared_bytes", std::size_t{0}); own > 48 * 1024)
    return fmt::format(
        "its blocks want {} bytes of shared memory in arrays of fixed size; 49152 are the most there, and nvcc refuses "
        "more: what is larger has its size from the launch (extern __shared__)",
        own);
  if (error == cudaErrorInvalidValue && g.shared_bytes > 48 * 1024)
    return fmt::format(
        "its blocks wanted {} bytes of shared memory; 49152 are the most, unless cudaFuncSetAttribute "
        "allows the kernel more",
        g.shared_bytes);
  return "";
}

/// The launches or lines of the report that say why a count is what it is. It is larger than its target by `too_many`;
/// 0 where that is not known.
std::vector<std::string> diagnoses(const Json& report, const std::string& count, double too_many,
                                   const std::string& file) {
  std::vector<std::string> out;
  const bool shared = count.rfind("shared", 0) == 0;
  if (count == "launches" || count == "blocks" || count == "threads" || count == "threads_per_block" ||
      count == "shared_bytes_per_block" || count == "resident_warps") {
    for (const Json& launch : report) {
      if (out.size() >= 3) return out;
      const Geometry g = geometry(launch);
      out.push_back(fmt::format(
          "{}: {:.0f} {} of {} threads with {} bytes of shared memory{}", launch.value("kernel", ""), g.blocks,
          g.blocks == 1 ? "block" : "blocks", g.threads, g.shared_bytes,
          count != "resident_warps" ? ""
          : g.resident.blocks == 0  ? ": no such block fits an SM"
                                    : fmt::format("; an SM holds {} of these blocks at a time, {} of "
                                                   "{} warps",
                                                  g.resident.blocks, g.resident.warps, g.resident.max_warps)));
    }
    return out;
  }
  // Places in the code, in order of their first appearance: a line may be part of several launches.
  struct Place {
    std::string file;
    int line;
    double what = 0, excess = 0;  // requests, sectors, wavefronts or threads; of these, how many more than it takes
    std::string diagnosis;
  };
  std::vector<Place> places;
  const bool atomics = count == "atomics" || count == "shared_atomics";
  const bool requests = count == "load_requests", words = count == "load_words";
  for (const Json& launch : report) {
    for (const Json& line : launch.value("lines", Json::array())) {
      const std::string access = line.value("access", "");
      if (atomics ? !is_atomic(line, shared ? "shared" : "global")
                  : line.value("memory", "") != (shared ? "shared" : "global"))
        continue;
      if ((count.find("load") != std::string::npos && access != "load") ||
          (count.find("store") != std::string::npos && access != "store" && !is_atomic(line, "global")))
        continue;
      const std::string at = line.value("file", "");
      const int number = line.value("line", 0);
      auto place =
          std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.file == at && p.line == number; });
      if (place == places.end()) place = places.insert(place, {at, number, 0, 0, ""});
      const char* unit = atomics ? "threads" : requests ? "instructions" : shared ? "wavefronts" : "sectors";
      const double kept = without_repeats(line, "instructions") / line.value("instructions", 1.0);
      place->what += words ? kept * words_of(line) : without_repeats(line, unit);
      if (atomics || requests || words) continue;
      const double excess = kept * (line.value(unit, 0.0) - line.value(std::string(unit) + "_ideal", 0.0));
      if (place->diagnosis.empty() || excess > place->excess)
        place->diagnosis = line.value("diagnosis", place->diagnosis);
      place->excess += std::max(0.0, excess);
    }
  }
  const auto tell = [&](const Place& p, const std::string& what) {
    out.push_back(fmt::format("{}:{}: {}", fs::path(p.file).filename().string(), p.line, what));
    out.push_back("    " + source_line(file, p.line));
  };
  if (atomics) {
    for (const Place& p : places) tell(p, fmt::format("{:.0f} of them", p.what));
    return out;
  }
  constexpr std::size_t kTold = 3;
  std::vector<const Place*> told;
  double excess = 0;
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.excess > b.excess; });
  for (const Place& p : places) {
    excess += p.excess;
    if (p.diagnosis.empty() || told.size() >= kTold) continue;
    told.push_back(&p);
    tell(p, p.diagnosis);
  }
  // Where there is nothing wrong with the addresses, or not enough, there are too many accesses.
  if (too_many <= 0 || excess >= too_many || count == "shared_conflicts") return out;
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.what > b.what; });
  out.clear();
  for (const Place& p : places) {
    if (out.size() >= 2 * kTold || p.what * 20 < places[0].what) break;
    tell(p, fmt::format("{:.0f} of them{}", p.what, p.diagnosis.empty() ? "" : "; " + p.diagnosis));
  }
  return out;
}

// ---------------------------------------------------------------- one task

/// What may be said of a hidden shape.
std::string hint_at(const Rubric& r, const Sizes& sizes) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{} {}", i ? ", " : "", r.sizes[i],
                        sizes[i] % 32 == 0 ? "a multiple of 32"
                        : sizes[i] < 32    ? "below 32"
                                           : "no multiple of 32");
  return text;
}

/// f(0) ... f(n - 1), `jobs` at a time.
template <class F>
void in_parallel(unsigned jobs, std::size_t n, const F& f) {
  std::atomic<std::size_t> next{0};
  const auto worker = [&] {
    for (std::size_t i; (i = next++) < n;) f(i);
  };
  std::vector<std::future<void>> workers;
  for (unsigned j = 1; j < jobs; ++j) workers.push_back(std::async(std::launch::async, worker));
  worker();
  for (auto& w : workers) w.get();
}

/// A submission's programs.
struct Programs {
  std::string simulator, gpu;
};

TaskResult grade_task(const Rubric& r, const std::string& chapter, const Programs& programs, const std::string& file,
                      const TemporaryFolder& work, const GradeOptions& options) {
  const Task* task = find_task(chapter, r.task);
  if (!task) throw std::runtime_error(r.file + ": no reference.cpp defines the task " + r.task);
  TaskResult result{r.task, r.level, r.title, r.weight, 0, r.points.sum(), {}};
  const std::vector<Sizes> hidden = r.hidden();
  std::vector<Sizes> shapes = r.visible;
  shapes.insert(shapes.end(), hidden.begin(), hidden.end());
  shapes.push_back(r.efficiency_shape);
  const std::string report = work.file(r.task + ".json");

  const auto seed_of = [&](std::size_t i) {
    return i < r.visible.size() ? std::uint64_t{i + 1} : r.hidden_seed * 1000 + i;
  };
  // Every other hidden shape has its blocks run from the last to the first: no order is promised.
  const auto reverse = [&](std::size_t i) { return i >= r.visible.size() && i + 1 < shapes.size() && i % 2 == 1; };
  const Machine simulator{programs.simulator}, gpu{programs.gpu, options.gpu};

  std::vector<std::optional<Case>> cases(shapes.size());
  std::atomic<int> given_up{0}, with_findings{0};
  in_parallel(options.jobs, shapes.size(), [&](std::size_t i) {
    if (given_up >= 2) return;  // endless loops, one after another, teach nothing new
    cases[i] = run_case(r, *task, simulator, shapes[i], seed_of(i), i + 1 == shapes.size() ? report : "", reverse(i),
                        with_findings < 3);
    // Further cases run without looking, which is faster; but then no access ends a launch that would on a GPU.
    if (cases[i]->findings != 0 && !cases[i]->ended_by_error) ++with_findings;
    if ((cases[i]->slow && cases[i]->outcome == Outcome::failed) || cases[i]->outcome == Outcome::undefined) ++given_up;
  });
  for (auto& c : cases) {
    if (!c) c.emplace().what = "not run any more";
  }
  const Case& measured = *cases.back();

  // The same on the GPU, but for the shape that is counted. What does not end, or is not there, is not tried again.
  std::vector<std::optional<Case>> on_gpu(shapes.size());
  if (options.gpu && cases[0]->outcome != Outcome::undefined) {
    std::atomic<int> endless{0};
    in_parallel(options.jobs, shapes.size() - 1, [&](std::size_t i) {
      if (cases[i]->timed_out || endless >= 2) return;
      on_gpu[i] = run_case(r, *task, gpu, shapes[i], seed_of(i), "");
      if (on_gpu[i]->timed_out) ++endless;
    });
  }
  if (options.gpu) {
    result.gpu.emplace();
    for (auto& c : on_gpu) {
      if (!c) c.emplace().what = "not run";
    }
  }
  const std::string gpu_name = options.gpu ? "the " + options.gpu->info().name : "";

  Criterion compiles{"compiles", r.points.compiles, r.points.compiles, "yes", {}};
  if (cases[0]->outcome == Outcome::undefined) {
    compiles.points = 0;
    compiles.summary = "the file does not have this function";
  }

  // Right on shapes that the student sees, and on others.
  const auto correctness = [&](const char* name, double of, std::size_t from, std::size_t to, bool show) {
    Criterion c{name, 0, of, "", {}};
    std::size_t right = 0, right_there = 0, right_here = 0;  // on both machines, on the GPU, on the simulator
    bool shown = false;
    for (std::size_t i = from; i < to; ++i) {
      const bool here = cases[i]->outcome == Outcome::right;
      const bool there = !options.gpu || on_gpu[i]->outcome == Outcome::right;
      right_here += here;
      right_there += there;
      if (here && there) {
        ++right;
        continue;
      }
      if (shown) continue;
      shown = true;
      const Case& failed = here ? *on_gpu[i] : *cases[i];
      const std::string shape = show ? r.text(shapes[i]) : "a hidden shape (" + hint_at(r, shapes[i]) + ")";
      c.notes.push_back(shape + (!options.gpu ? "" : here ? ", on " + gpu_name : ", on the simulator") + ":");
      c.notes.push_back("  " + failed.what);
      for (const std::string& note : failed.notes) c.notes.push_back("  " + note);
      if (failed.guess && !failed.notes.empty())  // there are none where something else is to be said
        if (const std::string guess = failed.guess(); !guess.empty()) c.notes.push_back("  " + guess);
      if (here || failed.returned == 0 || failed.returned == cudaErrorIllegalAddress) {
        // nothing more to say
      } else if (const std::string why = why_refused(run_case(r, *task, simulator, shapes[i], seed_of(i),
                                                              work.file(r.task + "-refused.json"), reverse(i))
                                                         .report,
                                                     failed.returned);
                 !why.empty()) {
        c.notes.push_back("  " + why);
      }
      if (options.gpu && here) c.notes.push_back("  on the simulator this shape is right");
      if (options.gpu && there)
        c.notes.push_back(fmt::format("  on {} it came out right this time: a GPU need not show a mistake", gpu_name));
    }
    c.points = of * double(right) / double(to - from);
    c.summary = fmt::format("{} of {} shapes right", right, to - from);
    if (options.gpu) {
      (show ? result.gpu->visible_right : result.gpu->hidden_right) = right_there;
      c.summary += right == right_here && right == right_there
                       ? fmt::format(" on the simulator and on {}", gpu_name)
                       : fmt::format(" on both: {} on the simulator, {} on {}", right_here, right_there, gpu_name);
    }
    return c;
  };
  Criterion visible = correctness("visible", r.points.visible, 0, r.visible.size(), true);
  Criterion others = correctness("hidden", r.points.hidden, r.visible.size(), shapes.size() - 1, false);
  // One wrong hidden element teaches as much as a visible one, but where it lies is the tutor's to say only once.
  const bool all_visible = visible.points == visible.of;
  if (!all_visible) others.notes.clear();

  // Work that must show in the counts when kernels made the result.
  const Totals t = totals(measured.report.is_array() ? measured.report : Json::array());
  std::string implausible;
  if (measured.outcome == Outcome::right && measured.library_calls == 0) {  // a library's work is not counted
    if (t.load_sectors < measured.least_load_sectors ||
        t.store_sectors + t.atomic_sectors < measured.least_store_sectors)
      implausible =
          "the result is right, but the kernels have not loaded all inputs or stored all of the result: where does it "
          "come from?";
#ifdef __x86_64__
    if (t.flops < measured.least_flops)
      implausible = fmt::format(
          "the result is right, but the kernels did {:.0f} FLOP where it takes at least {:.0f}: where does it come "
          "from?",
          t.flops, measured.least_flops);
#endif
  }
  if (!implausible.empty()) {
    visible.points = others.points = 0;
    visible.notes.push_back(implausible);
  }

  // Whoever knows the shapes can treat them specially; nothing is gained by it.
  if (all_visible && others.points == 0 && implausible.empty()) {
    visible.points = 0;
    visible.notes.push_back("no other shape is right, so these do not count: are they treated specially?");
  }
  const bool earned = all_visible && visible.points > 0;

  Criterion findings{"findings", 0, r.points.findings, "", {}};
  std::size_t with = 0;
  std::optional<std::size_t> example;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i]->findings == 0) continue;
    ++with;
    if (!example) example = i;
  }
  if (example) {
    findings.summary = with < 3 ? fmt::format("in {} of {} runs", with, cases.size()) : "in three runs or more";
    const std::string again = work.file(r.task + "-findings.json");
    const bool is_visible = *example < r.visible.size();
    const Case c = run_case(r, *task, simulator, shapes[*example], seed_of(*example), again, reverse(*example));
    // What leaves its buffer comes first: where it arrives in another one, it looks like a race there.
    std::vector<Json> list;
    if (c.report.is_array()) {
      for (const Json& launch : c.report)
        for (const Json& f : launch.value("findings", Json::array())) list.push_back(f);
    }
    std::stable_partition(list.begin(), list.end(),
                          [](const Json& f) { return f.value("kind", "").rfind("out-of-bounds", 0) == 0; });
    // And a load that has left its buffer has no business in another one: that race is none of its own.
    const auto is = [](const Json& f, const char* kind) {
      return f.value("kind", "") == kind && f.value("message", "").rfind("this thread reads", 0) == 0;
    };
    const auto astray = [&, all = list](const Json& f) {
      return is(f, "race-global") && std::any_of(all.begin(), all.end(), [&](const Json& other) {
               return is(other, "out-of-bounds") && other.value("line", 0) == f.value("line", 0) &&
                      other.value("file", "") == f.value("file", "");
             });
    };
    std::erase_if(list, astray);
    std::size_t shown = 0;
    for (const Json& f : list) {
      if (++shown > 3) continue;
      const int line = f.value("line", 0);
      findings.notes.push_back(fmt::format("{}:{}: {}: {} ({}x)", fs::path(f.value("file", "")).filename().string(),
                                           line, f.value("kind", ""), without_folders(f.value("message", ""), file),
                                           f.value("times", 1)));
      if (fs::path(f.value("file", "")).filename() == fs::path(file).filename())
        findings.notes.push_back("    " + source_line(file, line));
    }
    if (shown > 3) findings.notes.push_back(fmt::format("and {} more", shown - 3));
    if (is_visible) findings.notes.insert(findings.notes.begin(), r.text(shapes[*example]) + ":");
    if (reverse(*example)) findings.notes.insert(findings.notes.begin(), kReverse);
  } else if (earned) {
    findings.points = findings.of;
    findings.summary = "none";
  } else {
    findings.summary = "counts once the results are right";
  }

  // Errors that nobody looks at: each of the first few launches and calls is made to fail once.
  if (findings.points > 0) {
    constexpr std::uint64_t kMost = 4;
    const Case& c = *cases[0];
    std::vector<std::pair<bool, std::uint64_t>> failures;  // of a library call? which one?
    for (std::uint64_t k = 1; k <= std::min(kMost, c.launches); ++k) failures.emplace_back(false, k);
    for (std::uint64_t k = 1; k <= std::min(kMost, c.library_calls); ++k) failures.emplace_back(true, k);
    std::vector<char> told(failures.size());
    in_parallel(options.jobs, failures.size(), [&](std::size_t i) {
      const auto [library, k] = failures[i];
      told[i] = tells_of_failure(r, *task, programs.simulator, shapes[0], seed_of(0), library ? 0 : k, library ? k : 0);
    });
    if (const auto at = std::find(told.begin(), told.end(), 0); at != told.end()) {
      const auto [library, k] = failures[std::size_t(at - told.begin())];
      std::string what =
          fmt::format("{} {} of {}", library ? "library call" : "launch", k, library ? c.library_calls : c.launches);
      if (!library) {
        const Case again = run_case(r, *task, simulator, shapes[0], seed_of(0), work.file(r.task + "-launches.json"));
        if (again.report.is_array() && k <= again.report.size())
          what += fmt::format(" ({})", again.report[k - 1].value("kernel", ""));
      }
      findings.points = 0;
      findings.summary = "an error is ignored";
      findings.notes.push_back(
          fmt::format("error-ignored: {} was made to fail once, and what the function returned did not tell: "
                      "homework.cuh says what it "
                      "returns then",
                      what));
    }
  }

  if (findings.points > 0 && !right_again(r, *task, programs.simulator, shapes[0], seed_of(0))) {
    findings.points = 0;
    findings.summary = "the second call goes wrong";
    findings.notes.push_back(
        "second-call: the function was called twice by one program, with the same inputs, and only the first call did "
        "what it should: is something kept from one call to the next, such as a __device__ or static variable?");
  }

  Criterion efficiency{"efficiency", 0, r.points.efficiency, "", {}};
  if (measured.outcome != Outcome::right || !implausible.empty() || !measured.report.is_array()) {
    efficiency.summary = !implausible.empty() ? "counts once the results are right"
                         : all_visible        ? "the shape that is counted is wrong: " + r.text(r.efficiency_shape)
                                              : "counts once the results are right";
    if (all_visible && !measured.what.empty()) efficiency.notes.push_back(measured.what);
  } else {
    const auto counts_of = [](const Totals& totals, const Case& c) {
      std::map<std::string, double> counts = totals.counts;
      counts["shared_wavefronts_per_flop"] = c.flops > 0 ? counts["shared_wavefronts"] / c.flops : 0;
      counts["library_calls"] = static_cast<double>(c.library_calls);
      return counts;
    };
    struct Counted {
      Case run;
      std::map<std::string, double> counts;
    };
    std::map<Sizes, Counted> elsewhere;  // for limits that have a shape of their own
    const std::map<std::string, double> counts = counts_of(t, measured);
    std::size_t kept = 0;
    for (const Limit& l : r.limits) {
      const Case* run = &measured;
      const std::map<std::string, double>* here = &counts;
      std::string at;
      if (!l.shape.empty()) {
        if (!earned) continue;
        auto [found, is_new] = elsewhere.try_emplace(l.shape);
        Counted& c = found->second;
        if (is_new) {
          c.run = run_case(r, *task, simulator, l.shape, seed_of(shapes.size() - 1), work.file(r.task + "-there.json"));
          c.counts = counts_of(totals(c.run.report.is_array() ? c.run.report : Json::array()), c.run);
        }
        run = &c.run;
        here = &c.counts;
        at = " at " + r.text(l.shape);
        if (c.run.outcome != Outcome::right) {
          efficiency.notes.push_back(
              fmt::format("{}{}: {} ({:.3g} points)", readable_count(l.count), at, c.run.what, l.points));
          continue;
        }
      }
      const double value = here->at(l.count);
      if (l.kept(value)) {
        ++kept;
        if (earned) efficiency.points += l.points;
        continue;
      }
      efficiency.notes.push_back(fmt::format("{} {}{}, target {} ({:.3g} points): {}", count_text(value),
                                             readable_count(l.count), at, target_text(l), l.points, l.why));
      // Of a ratio it is not known by how many accesses it is too large.
      const double too_many = l.at_most && l.count.find("per_") == std::string::npos ? value - *l.at_most : 0;
      for (const std::string& d : diagnoses(run->report, l.count, too_many, file)) efficiency.notes.push_back("  " + d);
    }
    efficiency.summary = fmt::format("{} of {} targets met at {}", kept, r.limits.size(), r.text(r.efficiency_shape));
    if (!earned) efficiency.summary += "; counts once the results are right";
  }

  if (options.gpu && options.times != Times::none && earned && others.points == others.of)
    result.gpu->time = options.gpu->compare_times(r, *task, programs.gpu, options.times == Times::small);

  result.criteria = {compiles, visible, others, findings, efficiency};
  for (const Criterion& c : result.criteria) result.points += c.points;
  return result;
}

}  // namespace

// ---------------------------------------------------------------- the whole file

Task::Task(std::string chapter_, std::string name_) : chapter(std::move(chapter_)), name(std::move(name_)) {
  tasks().push_back(this);
}

namespace {
thread_local bool inputs_alone = false;
}

bool Task::only_inputs() { return inputs_alone; }

Problem Task::for_timing(const Sizes& sizes, std::uint64_t seed) const {
  struct Alone {
    Alone() { inputs_alone = true; }
    ~Alone() { inputs_alone = false; }
  } alone;
  return make(sizes, seed);
}

const Task* find_task(const std::string& chapter, const std::string& name) {
  static auto& loaded = *new std::set<std::string>;
  if (loaded.insert(chapter).second &&
      !dlopen((build_folder() + "/homework/" + chapter + ".so").c_str(), RTLD_NOW | RTLD_LOCAL))
    throw std::runtime_error(dlerror());
  for (const Task* t : tasks()) {
    if (t->chapter == chapter && t->name == name) return t;
  }
  return nullptr;
}

std::size_t size_of(const Values& values) {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

std::size_t bytes_of(const Values& values) {
  return std::visit([](const auto& v) { return v.size() * sizeof v[0]; }, values);
}

double element_of(const Values& values, std::size_t i) {
  return std::visit([i](const auto& v) { return static_cast<double>(v[i]); }, values);
}

Buffer input(std::string name, int rows, int cols, Values values) {
  return {std::move(name), rows, cols, Use::input, std::move(values), {}, {}, false};
}

Buffer in_place(std::string name, int rows, int cols, Values values, std::vector<double> expected,
                std::vector<double> bound) {
  return {std::move(name), rows, cols, Use::in_place, std::move(values), std::move(expected), std::move(bound), false};
}

void check_problem(const Task& task, const Problem& p) {
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::logic_error(fmt::format("{}, {}: {}", task.chapter, task.name, what));
  };
  require(!p.buffers.empty() && p.buffers.size() <= kMostBuffers, fmt::format("1 to {} buffers", kMostBuffers));
  require(p.scalars.size() <= kMostScalars, fmt::format("at most {} scalars", kMostScalars));
  bool any = false;
  for (const Buffer& b : p.buffers) {
    require(b.rows >= 0 && b.cols >= 0, fmt::format("{} has {} x {} elements", b.name, b.rows, b.cols));
    require(size_of(b.values) == (has_values(b) ? b.size() : 0),
            fmt::format("{} is {} x {}, but has {} values", b.name, b.rows, b.cols, size_of(b.values)));
    require(b.expected.size() == (is_result(b) ? b.size() : 0),
            fmt::format("{} is {} x {}, but {} values are expected", b.name, b.rows, b.cols, b.expected.size()));
    require(b.bound.empty() || b.bound.size() == b.size(),
            fmt::format("{} is {} x {}, but has {} bounds", b.name, b.rows, b.cols, b.bound.size()));
    any = any || is_result(b);
  }
  require(any, "no output");
  for (const Hypothesis& h : p.hypotheses) {
    const bool fits = std::any_of(p.buffers.begin(), p.buffers.end(), [&](const Buffer& b) {
      return is_result(b) && b.size() == h.values.size() && (h.output.empty() || h.output == b.name);
    });
    require(fits, fmt::format("no output has the {} elements of \"{}\"", h.values.size(), h.mistake));
  }
}

const Criterion* TaskResult::find(const std::string& criterion) const {
  for (const Criterion& c : criteria) {
    if (c.name == criterion) return &c;
  }
  return nullptr;
}

std::string TaskResult::text() const {
  std::string out;
  for (const Criterion& c : criteria) {
    out += c.name + ": " + c.summary + "\n";
    for (const std::string& n : c.notes) out += n + "\n";
  }
  return out;
}

double ChapterResult::score() const {
  double sum = 0, of = 0;
  for (const TaskResult& t : tasks) {
    sum += t.weight * (t.of > 0 ? t.points / t.of : 0);
    of += t.weight;
  }
  return of > 0 ? 100 * sum / of : 0;
}

std::string homework_folder(const std::string& chapter) { return root_folder() + "/tests/" + chapter + "/homework"; }

std::vector<std::string> chapters_with_homework() {
  std::vector<std::string> list;
  for (const auto& entry : fs::directory_iterator(root_folder() + "/chapters")) {
    const std::string name = entry.path().filename().string();
    if (fs::exists(entry.path() / "homework.cuh") && fs::exists(homework_folder(name))) list.push_back(name);
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string find_chapter(const std::string& word) {
  const auto list = chapters_with_homework();
  for (const std::string& c : list) {
    if (c == word || c.substr(0, c.find('_')) == word) return c;
  }
  throw std::invalid_argument(
      fmt::format("there is no homework for chapter {}. Homework: {}", word, fmt::join(list, " ")));
}

ChapterResult grade(const std::string& chapter, const std::string& file, const GradeOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  ChapterResult result;
  result.chapter = chapter;
  result.file = file;
  const TemporaryFolder work;
  const std::string simcc = build_folder() + "/bin/simcc", include = "-I" + root_folder() + "/chapters/" + chapter;
  const std::string object = work.file("submission.o"), program = work.file("program"),
                    preprocessed = work.file("submission.ii");

  std::vector<Rubric> rubrics = read_rubrics(homework_folder(chapter));
  // The file is looked at and linked once: it may contain calls that one of its tasks may make. The other tasks lose
  // the shapes on which they make them (run_case).
  const std::set<std::string> libraries = libraries_of(rubrics);
  if (!options.task.empty()) {
    std::string names;
    for (const Rubric& r : rubrics) names += (names.empty() ? "" : ", ") + r.task;
    std::erase_if(rubrics, [&](const Rubric& r) { return r.task != options.task; });
    if (rubrics.empty())
      throw std::invalid_argument(
          fmt::format("--task: chapter {} has no task {}, but {}", chapter, options.task, names));
  }
  const auto nothing = [&](const std::string& why, const std::vector<std::string>& notes, bool compiles) {
    for (const Rubric& r : rubrics) {
      TaskResult t{r.task, r.level, r.title, r.weight, 0, r.points.sum(), {}};
      t.criteria = {{"compiles", compiles ? r.points.compiles : 0, r.points.compiles, compiles ? "yes" : why, notes}};
      for (const auto& [name, of] : {std::pair<const char*, double>{"visible", r.points.visible},
                                     {"hidden", r.points.hidden},
                                     {"findings", r.points.findings},
                                     {"efficiency", r.points.efficiency}})
        t.criteria.push_back({name, 0, of, compiles ? why : "not run", {}});
      t.points = t.criteria[0].points;
      result.tasks.push_back(std::move(t));
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return result;
  };

  for (const std::string& made : {"/" + chapter + ".o", "/" + chapter + ".so", std::string("/libtilewise_harness.a")})
    if (!fs::exists(build_folder() + "/homework" + made))
      throw std::runtime_error(fmt::format(
          "build/sim/homework{} is not there: cmake --build --preset sim --target homework_{}", made, chapter));
  if (!fs::is_regular_file(file)) throw std::invalid_argument("there is no file " + file);
  // Compilers go by the name, and write it into lines that are read again.
  if (fs::path(file).extension() != ".cu")
    throw std::invalid_argument(fmt::format("{} is not named like a CUDA file: its name must end in .cu", file));
  if (file.find_first_of("\"\\\n") != std::string::npos)
    throw std::invalid_argument(fmt::format("{}: rename it, without quotation marks and backslashes", file));
  if (access(file.c_str(), R_OK) != 0) throw std::invalid_argument(fmt::format("{} cannot be read", file));
  if (fs::file_size(file) > (1u << 20))
    return result.refused = "it is larger than 1 MiB", nothing("refused", {}, false);
  if (read_file(file).find('\0') != std::string::npos) {
    result.compiler = "error: the file is not plain text: save it in UTF-8 (it may be in UTF-16 now)";
    return nothing("no", {}, false);
  }
  if (options.policy) {
    result.refused = refused_text(read_file(file), libraries);
    if (!result.refused.empty()) return nothing("refused: " + result.refused, {}, false);
  }
  // g++ reads what it knows after <cuda_runtime.h> from prelude/ instead of the 70,000 lines themselves.
  const std::string prelude = build_folder() + "/homework/prelude";
  const ChildResult compiled = run_tool(
      {simcc, "-Wall", "-c", include, "--prelude", prelude, "--preprocessed", preprocessed, file, "-o", object});
  if (compiled.code != 0) {
    result.compiler = compiled.timed_out ? "the compiler did not end within a minute" : compiled.output;
    return nothing("no", {}, false);
  }
  if (options.policy) {
    result.refused =
        refused_source(read_file(preprocessed), file, root_folder() + "/chapters/" + chapter + "/homework.cuh",
                       prelude + "/prelude.h.gch");
    if (result.refused.empty()) {
      const ChildResult symbols = run_tool({"nm", object});
      if (symbols.code != 0) throw std::runtime_error("nm failed: " + symbols.output);
      result.refused = refused_symbols(symbols.output, libraries);
    }
    if (!result.refused.empty()) return nothing("refused: " + result.refused, {}, false);
  }
  std::future<Gpu::Built> on_gpu;
  if (options.gpu)
    on_gpu = std::async(std::launch::async, [&] { return options.gpu->build(file, options.policy, work); });
  // The submission last: of two functions with one name that may both be there, the first is linked.
  const ChildResult linked = run_tool({simcc, build_folder() + "/homework/libtilewise_harness.a",
                                       build_folder() + "/homework/" + chapter + ".o",
                                       build_folder() + "/common/simulator/libtilewise_sim.a", object, "-o", program});
  if (linked.code != 0) {
    result.compiler = linked.output;
    return nothing("it does not link", {}, false);
  }
  Programs programs{program, ""};
  if (options.gpu) {
    const Gpu::Built built = on_gpu.get();
    result.gpu = options.gpu->info();
    if (!built.refused.empty()) return result.refused = built.refused, nothing("refused: " + result.refused, {}, false);
    if (!built.compiler.empty()) {
      result.compiler = "nvcc: " + built.compiler;
      return nothing("no: simcc compiles it, nvcc does not", {}, false);
    }
    programs.gpu = built.program;
  }
  for (const Rubric& r : rubrics) result.tasks.push_back(grade_task(r, chapter, programs, file, work, options));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace tilewise::grader
