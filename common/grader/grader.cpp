#include "grader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "cage.hpp"
#include "case.hpp"
#include "checked_calls.hpp"
#include "counts.hpp"
#include "dry_launch.hpp"
#include "early_code.hpp"
#include "enter_cage.hpp"
#include "explain.hpp"
#include "gpu.hpp"
#include "near_miss.hpp"
#include "own_names.hpp"
#include "places.hpp"
#include "policy.hpp"
#include "said.hpp"
#include "task.hpp"
#include "tilewise_sim/report.hpp"
#include "tools.hpp"
#include "warnings.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

#ifdef TILEWISE_CAN_POISON
constexpr const char* kPoisonedVariables = "-ftrivial-auto-var-init=pattern";
#else
constexpr const char* kPoisonedVariables = "-Wuninitialized";
#endif

// ---------------------------------------------------------------- one case

enum class Outcome { right, wrong, undefined, failed };  // failed: no result to compare

/// Answers what a submission's program asks while it runs and may not look up itself: lines of its source.
class SourceLines {
 public:
  SourceLines(std::string program, std::string file) : program_(std::move(program)), file_(std::move(file)) {}

  /// See runtime/symbols.hpp. The question comes from a program that may ask anything.
  std::string answer(const std::string& question) {
    const std::lock_guard lock(mutex_);
    if (const auto known = answers_.find(question); known != answers_.end()) return known->second;
    if (answers_.size() > 1000) return "";
    return answers_[question] = find(question);
  }

 private:
  std::string find(const std::string& question) const {
    std::istringstream words(question);
    std::string kind, word;
    words >> kind;
    if (kind == "lines") {
      std::vector<std::string> command{"addr2line", "-a", "-i", "-e", program_};
      while (words >> word && command.size() < 1010) {
        if (word.size() > 18 || !word.starts_with("0x") ||
            word.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
          return "";
        command.push_back(word);
      }
      return run_tool(command).output;
    }
    int line = 0;
    if (kind != "text" || !(words >> line >> std::ws) || !std::getline(words, word)) return "";
    std::error_code none;
    return fs::equivalent(word, file_, none) ? source_line(file_, line) : "";
  }

  std::string program_, file_;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;
};

/// Where a case runs.
struct Machine {
  std::string program;
  SourceLines* lines = nullptr;
  std::string file;                                     ///< the submission
  const std::map<std::string, long>* frames = nullptr;  ///< CompilerWarnings::frames
  Cage cage = Cage::submission;
  const Gpu* gpu = nullptr;  ///< nullptr: the simulator

  /// What a submission's program gets here, besides `more`.
  ChildResult run(const Request& request, const Problem& p, int seconds, Environment more = {}) const {
    return run(message_of(request, p), reply_size(p), seconds, std::move(more));
  }

  ChildResult run(const std::string& message, std::size_t reply, int seconds, Environment more) const {
    more.insert(more.end(), {{"PATH", "/usr/bin:/bin"},
                             {"LC_ALL", "C"},
                             {"TILEWISE_POLLS", kPolls},
                             {"TILEWISE_SECONDS", std::to_string(seconds)}});
    Request request;
    std::memcpy(&request, message.data(), sizeof request);
    if (request.all_devices() > 1) more.emplace_back("TILEWISE_DEVICES", std::to_string(request.all_devices()));
    ChildLimits limits{.cpu_seconds = seconds + 1,       // first it says itself where it is
                       .wall_seconds = 6 * seconds + 6,  // others may use the machine, too
                       .cage = cage,
                       .reply = reply + kMostReport,
                       .answer = [this](const std::string& question) { return lines->answer(question); }};
    if (gpu) limits = gpu->limits(seconds);
    const ChildResult child = run_child({program}, gpu ? gpu->environment() : more, message, limits);
    if (child.code == kNotCaged) throw NotGraded("a submission's program could not enter its cage");
    if (child.code == 127) throw NotGraded("a submission's program could not be started: " + program);
    return child;
  }

  static constexpr std::size_t kMostReport = std::size_t{32} << 20;
  static constexpr const char* kPolls = "250000";  ///< cases are small: so a deadlock is found in tenths of a second
};

struct Case : Explanation {
  Outcome outcome = Outcome::failed;
  std::string output;  ///< what it printed
  bool timed_out = false;
  bool suspicious = false;  ///< it ended in a way that may be the machine's fault
  bool slow = false;
  int returned = 0;             ///< the error that the function returned
  bool ended_by_error = false;  ///< a launch that a GPU would not have finished either
  std::uint64_t findings = 0;
  Json report;
  std::uint64_t launches = 0, library_calls = 0;
  std::map<std::string, double> host_counts;  ///< of what host code asked for, by their names
  std::string timeline_unit;                  ///< Problem::timeline_unit_name
  double least_flops = 0, flops = 0, least_load_sectors = 0, least_store_sectors = 0;
};

const std::string kReverse = "in this run the last block ran first: no order of the blocks is promised";

/// Runs the program on one shape. The simulator's report is read where it's wanted. Looking for findings costs time.
Case run_case(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes, std::uint64_t seed,
              bool report, bool reverse = false, bool findings = true) {
  const Problem p = task.make(sizes, seed);
  check_problem(task, p);
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  if (reverse && rubric.any_base) request.offset = static_cast<std::uint8_t>(1 + seed % 3);

  Environment environment;
  if (report) environment.emplace_back("TILEWISE_REPORT", "reply");
  if (reverse) environment.emplace_back("TILEWISE_BLOCKS", "reverse");
  if (!findings) environment.emplace_back("TILEWISE_FINDINGS", "off");
  const auto started = std::chrono::steady_clock::now();
  const ChildResult child = machine.run(request, p, rubric.time_limit, environment);

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
  c.output = child.output;
  Reply reply;
  c.suspicious = child.timed_out || child.signal == SIGKILL || child.signal == SIGABRT || child.signal == SIGBUS ||
                 (child.signal == 0 && child.reply.size() != reply_size(p));
  if (child.timed_out) {
    c.timed_out = true;
    c.what = fmt::format("it did not end within {} s, and it isn't known where it was: an endless loop?",
                         rubric.time_limit + (machine.gpu ? 10 : 0));
    return c;
  }
  if (child.too_much_output) return c.what = "it writes without end", c;
  if (!machine.gpu && child.reply.size() != reply_size(p)) {
    const EarlyEnd ending = early_end_of(child.report, machine.file, *machine.frames);
    if (!ending.code.empty()) {
      c.timed_out = ending.code == "slow" || ending.code == "endless";
      c.suspicious = ending.code == "slow";
      c.what = ending.what;
      c.notes = ending.notes;
      return c;
    }
    c.notes = ending.notes;
  }
  if (child.signal != 0) return c.what = signal_text(child.signal), c;
  std::uint64_t last = 0;
  if (child.reply.size() >= sizeof reply) std::memcpy(&reply, child.reply.data(), sizeof reply);
  if (child.reply.size() >= sizeof last)
    std::memcpy(&last, child.reply.data() + child.reply.size() - sizeof last, sizeof last);
  if (child.reply.size() != reply_size(p) || reply.nonce != request.nonce || last != request.nonce) {
    c.what = child.code == kCalledNoFunction
                 ? "it calls an address that it computed, and that is no function which it may call"
             : child.code == kUsedForeignMemory
                 ? "host code reads or writes, at an address that it computed, memory that is not its own"
             : child.code == sim::kEndedWithoutReturn
                 ? "a function that returns a value comes to its end without a return: what it returns is undefined"
                 : fmt::format("it ended (exit code {}) before its result could be looked at", child.code);
    return c;
  }
  if (!reply.defined) return c.outcome = Outcome::undefined, c.what = "the file does not have this function", c;
  c.findings = reply.findings;
  if (report) c.report = Json::parse(child.report, nullptr, false);
  if (rubric.repeats_count && c.report.is_array()) count_repeats(c.report);
  // A program that launches nothing, since a library does all the work, writes no report.
  if (report && !c.report.is_array() && reply.launches == 0) c.report = Json::array();

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

  double pinned_bytes = 0;  // of what is to be brought to the device
  for (const Buffer& b : p.buffers)
    if (b.pinned && has_values(b)) pinned_bytes += double(bytes_of(b.values));
  const double unit = p.timeline_unit > 0 ? p.timeline_unit : pinned_bytes;
  c.host_counts = {
      {"host_launches", double(reply.host_launches)},     {"waits", double(reply.waits)},
      {"allocations", double(reply.allocations)},         {"bytes_to_device", double(reply.bytes_to_device)},
      {"bytes_to_host", double(reply.bytes_to_host)},     {"bytes_between", double(reply.bytes_between)},
      {"bytes_sent_most", double(reply.bytes_sent_most)}, {"bytes_received_most", double(reply.bytes_received_most)},
      {"timeline", unit > 0 ? reply.timeline / unit : 0}};
  c.timeline_unit = p.timeline_unit_name;
  if (reply.pageable_bytes > 0) {
    c.outcome = Outcome::wrong;
    c.what = fmt::format(
        "it copies {} bytes from or to memory of its own, on the host: that memory is pageable, so the host waits. "
        "Copy between the arrays that the function gets",
        reply.pageable_bytes);
    return c;
  }

  if (p.own_streams &&
      reply.timeline < double(std::max({reply.bytes_to_device, reply.bytes_to_host, reply.bytes_sent_most}))) {
    c.outcome = Outcome::wrong;
    c.what = "more was copied than its timeline has room for";
    return c;
  }

  const char* at = child.reply.data() + sizeof reply;
  c.outcome = Outcome::wrong;
  std::vector<Values> all;
  bool all_right = true, empty = true, zeros = true;  // zeros: cudaMemsetAsync may have made the result alone
  for (const Buffer& b : p.buffers) {
    if (machine.gpu && reply.synchronised != 0) break;  // nothing could be copied back
    Values got = read_values(b.values, b.size(), at);
    at += bytes_of(got);
    if (b.use == Use::input) {
      all.push_back(got);
      if (reply.synchronised != 0) continue;  // what came back is not what is there
      const std::size_t margin = b.size() == 0 ? 0 : b.margin * bytes_of(got) / b.size();
      if (std::memcmp(data_of(got) + margin, data_of(b.values) + margin, bytes_of(got) - 2 * margin) == 0) continue;
      c.what = fmt::format("it changed {}, which is an input", b.name);
      c.notes.clear();
      return c;
    }
    if (!is_result(b)) {
      all.push_back(std::move(got));
      continue;
    }
    empty = empty && b.size() == 0;
    zeros = zeros && std::count(b.expected.begin(), b.expected.end(), 0.0) == std::ptrdiff_t(b.size());
    bool this_right = true;
    for (std::size_t i = 0; i < b.size(); ++i) this_right = this_right && right(p, b, got, i);
    if (!this_right && all_right) static_cast<Explanation&>(c) = explain_wrong(task, sizes, p, b, got);
    all_right = all_right && this_right;
    all.push_back(std::move(got));
  }
  if (all_right && all.size() == p.buffers.size()) c.what = task.together(sizes, p, all);
  if (!machine.gpu && reply.launches + reply.library_calls == 0 && !empty && !(all_right && zeros) &&
      !(all_right && p.without_kernels)) {
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
    if (p.devices > 1) {
      c.guess = nullptr;
      if (reply.returned == cudaErrorIllegalAddress)
        c.notes.push_back("or outside the memory of its own device, which is all that it reaches");
      if (reply.returned == cudaErrorInvalidResourceHandle)
        c.notes.push_back(
            "a kernel was launched in a stream of another device than the current one, or an event recorded in a "
            "stream "
            "of another device than its own: cudaSetDevice() before you launch, and before you make streams and "
            "events");
    }
  }
  if (c.what.empty())
    c.outcome = Outcome::right;
  else if (reverse)
    c.notes.push_back(kReverse + (request.offset == 0
                                      ? ""
                                      : fmt::format("; and each array began {} elements after a multiple of 16 bytes",
                                                    request.offset)));
  return c;
}

/// What came back from a call whose findings are of no interest; no buffers where it did not end as it should.
struct Answer {
  bool arrived = false;
  Reply reply;
  std::vector<Values> buffers;
};

Answer answer_in(const ChildResult& child, const Problem& p) {
  Answer a;
  if (child.timed_out || child.signal != 0 || child.reply.size() != reply_size(p)) return a;
  std::memcpy(&a.reply, child.reply.data(), sizeof a.reply);
  a.arrived = true;
  const char* at = child.reply.data() + sizeof a.reply;
  for (const Buffer& b : p.buffers) {
    a.buffers.push_back(read_values(b.values, b.size(), at));
    at += bytes_of(a.buffers.back());
  }
  return a;
}

Answer answer_of(const Rubric& rubric, const Machine& machine, const Problem& p, const Request& request,
                 bool reverse = false) {
  Environment environment{{"TILEWISE_FINDINGS", "off"}};
  if (reverse) environment.emplace_back("TILEWISE_BLOCKS", "reverse");
  return answer_in(machine.run(request, p, (1 + request.twice) * rubric.time_limit, environment), p);
}

/// Whether the function says so when a launch, or a call of a library, fails: the first one, the second, and so on; 0:
/// none. What ends the program, or does not end, has noticed something.
bool tells_of_failure(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                      std::uint64_t seed, std::uint64_t launch, std::uint64_t library_call) {
  const Problem p = task.make(sizes, seed);
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  request.failing_launch = static_cast<std::uint8_t>(launch);
  request.failing_library_call = static_cast<std::uint8_t>(library_call);
  const Answer a = answer_of(rubric, machine, p, request);
  return !a.arrived || (a.reply.nonce == request.nonce && task.told_of_failure(a.reply.returned, a.reply.broken));
}

/// What the function launches at sizes that nobody waits for.
DryLaunch launches_at(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes) {
  return launch_dry(rubric, task, sizes, [&](const std::string& message, std::size_t reply) {
    return machine.run(message, reply, rubric.time_limit,
                       {{"TILEWISE_REPORT", "reply"}, {"TILEWISE_COUNT", "0"}, {"TILEWISE_FINDINGS", "off"}});
  });
}

/// What leaves its array at the largest sizes of the contract, and where: blocks at the corners of the grids tell.
std::vector<Json> out_of_bounds_at(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes) {
  return run_corners(rubric, task, sizes, [&](const std::string& message, std::size_t reply) {
    return machine.run(message, reply, rubric.time_limit, {{"TILEWISE_REPORT", "reply"}, {"TILEWISE_COUNT", "0"}});
  });
}

/// "", or what goes wrong when a program calls the function for the second time.
std::string wrong_again(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                        std::uint64_t seed) {
  constexpr const char* kWrong =
      "second-call: the function was called twice by one program, with the same inputs, and only the first call did "
      "what it should: is something kept from one call to the next, such as a __device__ or static variable?";
  constexpr const char* kLeaks =
      "leak: each call allocates device memory that it doesn't free: cudaFree, or cudaFreeAsync on the stream, for "
      "what "
      "cudaMalloc gave";
  constexpr const char* kLeft =
      "leak: each call makes streams, events or graphs that it doesn't destroy: cudaStreamDestroy, cudaEventDestroy, "
      "cudaGraphExecDestroy and cudaGraphDestroy";
  const Problem p = task.make(sizes, seed);
  const auto changes = [](const Buffer& b) {  // what is put back is again what it was
    for (std::size_t i = b.margin; i + b.margin < b.size(); ++i)
      if (element_of(b.values, i) != b.expected[i]) return true;
    return false;
  };
  if (std::any_of(p.buffers.begin(), p.buffers.end(),
                  [&](const Buffer& b) { return b.use == Use::in_place && changes(b); }))
    return "";  // another result is right then
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  request.twice = 1;
  const Answer a = answer_of(rubric, machine, p, request);
  if (!a.arrived || a.reply.nonce != request.nonce || a.reply.returned != 0 || a.reply.synchronised != 0 ||
      a.reply.broken != 0)
    return kWrong;
  for (std::size_t b = 0; b < p.buffers.size(); ++b)
    for (std::size_t i = 0; i < p.buffers[b].size() && is_result(p.buffers[b]); ++i)
      if (!right(p, p.buffers[b], a.buffers[b], i)) return kWrong;
  return a.reply.leaked > 0 ? kLeaks : a.reply.left > 0 ? kLeft : "";
}

/// "", or what goes wrong when the function is called for another case first, which is smaller.
std::string wrong_after(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& small,
                        const Sizes& sizes, std::uint64_t seed) {
  const Problem before = task.make(small, seed + 1), p = task.make(sizes, seed);
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  call_before(request, small, before);
  const Answer a = answer_in(
      machine.run(message_of(request, p, &before), reply_size(p), 2 * rubric.time_limit, {{"TILEWISE_COUNT", "0"}}), p);
  const std::string wrong = fmt::format(
      "second-call: a program called the function for {} first and then for {}, and the second call went wrong: is "
      "something kept that is as large as the first call needed, such as scratch memory behind a static pointer?",
      rubric.text(small), rubric.text(sizes));
  if (!a.arrived || a.reply.nonce != request.nonce || a.reply.returned != 0 || a.reply.synchronised != 0 ||
      a.reply.broken != 0 || a.reply.findings != 0)
    return wrong;
  for (std::size_t b = 0; b < p.buffers.size(); ++b)
    for (std::size_t i = 0; i < p.buffers[b].size() && is_result(p.buffers[b]); ++i)
      if (!right(p, p.buffers[b], a.buffers[b], i)) return wrong;
  if (a.reply.left > 0)
    return fmt::format(
        "leak: each call for a larger case than before ({}, then {}) makes streams, events or graphs that it doesn't "
        "destroy",
        rubric.text(small), rubric.text(sizes));
  return a.reply.leaked > 0 ? fmt::format(
                                  "leak: each call for a larger case than before ({}, then {}) allocates device "
                                  "memory, and what the smaller one had is not freed",
                                  rubric.text(small), rubric.text(sizes))
                            : "";
}

/// Of the visible shapes one with little data and one with more, but no more than is looked at quickly.
std::pair<Sizes, Sizes> smallest_and_largest(const Rubric& rubric, const Task& task) {
  constexpr std::size_t kMuch = 20'000;
  std::pair<Sizes, Sizes> found;
  std::size_t least = 0, most = 0;
  for (const Sizes& sizes : rubric.visible) {
    if (std::count(sizes.begin(), sizes.end(), 0) > 0) continue;
    std::size_t elements = 0;
    for (const Buffer& b : task.for_timing(sizes, 1).buffers) elements += b.size();
    if (found.first.empty() || elements < least) found.first = sizes, least = elements;
    if (found.second.empty() || (elements > most) == (std::max(elements, most) <= kMuch))
      found.second = sizes, most = elements;
  }
  return found;
}

/// The first element, by its name, that has other bits when the last block runs first; "" where there is none.
std::string other_bits_in_reverse(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                                  std::uint64_t seed) {
  const Problem p = task.make(sizes, seed);
  const Request request = request_of(rubric.task, sizes, p, Mode::run);
  const Answer forward = answer_of(rubric, machine, p, request), reverse = answer_of(rubric, machine, p, request, true);
  if (!forward.arrived || !reverse.arrived) return "";  // said elsewhere
  for (std::size_t b = 0; b < p.buffers.size(); ++b) {
    if (!is_result(p.buffers[b])) continue;
    const Values &x = forward.buffers[b], &y = reverse.buffers[b];
    for (std::size_t i = p.buffers[b].margin; i + p.buffers[b].margin < p.buffers[b].size(); ++i)
      if (element_of(x, i) != element_of(y, i)) return element(p.buffers[b], i);
  }
  return "";
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

/// How many devices the shapes have that are run on a GPU.
int devices_wanted(const Rubric& r, const Task& task) {
  std::vector<Sizes> shapes = r.hidden();
  shapes.insert(shapes.end(), r.visible.begin(), r.visible.end());
  int most = 1;
  for (const Sizes& s : shapes) most = std::max(most, task.for_timing(s, 1).devices);
  return most;
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
  std::string symbols;                      ///< what nm prints of the submission
  std::map<std::string, long> frames = {};  ///< CompilerWarnings::frames
};

TaskResult grade_task(const Rubric& r, const std::string& chapter, const Programs& programs, const std::string& file,
                      const GradeOptions& options) {
  const Task* task = find_task(chapter, r.task);
  if (!task) throw std::runtime_error(r.file + ": no reference.cpp defines the task " + r.task);
  TaskResult result{r.task, r.level, r.title, r.weight, 0, r.points.sum(), {}};
  const std::vector<Sizes> hidden = r.hidden();
  std::vector<Sizes> shapes = r.visible;
  shapes.insert(shapes.end(), hidden.begin(), hidden.end());
  shapes.push_back(r.efficiency_shape);
  const auto seed_of = [&](std::size_t i) {
    return i < r.visible.size() ? std::uint64_t{i + 1} : r.hidden_seed * 1000 + i;
  };
  // Every other hidden shape has its blocks run from the last to the first: no order is promised.
  const auto reverse = [&](std::size_t i) { return i >= r.visible.size() && i + 1 < shapes.size() && i % 2 == 1; };
  SourceLines lines(programs.simulator, file);
  const Machine simulator{programs.simulator, &lines, file, &programs.frames,
                          isolation().holds ? Cage::submission : Cage::open};
  const Machine gpu{programs.gpu, &lines, file, &programs.frames, Cage::driver, options.gpu};

  std::vector<std::optional<Case>> cases(shapes.size());
  std::atomic<int> given_up{0}, with_findings{0};
  in_parallel(options.jobs, shapes.size(), [&](std::size_t i) {
    if (given_up >= 2) return;  // endless loops, one after another, teach nothing new
    cases[i] =
        run_case(r, *task, simulator, shapes[i], seed_of(i), i + 1 == shapes.size(), reverse(i), with_findings < 3);
    // Further cases run without looking, which is faster; but then no access ends a launch that would on a GPU.
    if (cases[i]->findings != 0 && !cases[i]->ended_by_error) ++with_findings;
    if ((cases[i]->slow && cases[i]->outcome == Outcome::failed) || cases[i]->outcome == Outcome::undefined) ++given_up;
  });
  for (auto& c : cases) {
    if (!c) c.emplace().what = "not run any more";
  }
  const Case& measured = *cases.back();
  if (!options.canary && std::any_of(cases.begin(), cases.end(), [](const auto& c) { return c->suspicious; }))
    grade_canary(chapter, options);

  // The same on the GPU, but for the shape that is counted. What does not end, or is not there, is not tried again.
  std::vector<std::optional<Case>> on_gpu(shapes.size());
  if (options.gpu && cases[0]->outcome != Outcome::undefined) {
    std::atomic<int> endless{0};
    in_parallel(options.jobs, shapes.size() - 1, [&](std::size_t i) {
      if (cases[i]->timed_out || endless >= 2) return;
      on_gpu[i] = run_case(r, *task, gpu, shapes[i], seed_of(i), false);
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
    const ChildResult wanted = run_tool({"nm", installation().homework / (chapter + ".o")});
    if (const std::string miss = near_miss(r.task, wanted.output, programs.symbols, read_file(file)); !miss.empty())
      compiles.notes.push_back(miss);
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
      } else if (const std::string why = why_refused(
                     run_case(r, *task, simulator, shapes[i], seed_of(i), true, reverse(i)).report, failed.returned);
                 !why.empty()) {
        c.notes.push_back("  " + why);
      }
      if (show)  // what is printed of a hidden shape would tell which it is
        for (const std::string& line : shown_output(failed.output, file)) c.notes.push_back("  " + line);
      if (options.gpu && here) c.notes.push_back("  on the simulator this shape is right");
      if (options.gpu && there)
        c.notes.push_back(fmt::format("  on {} it came out right this time: a GPU need not show a mistake", gpu_name));
    }
    if (!shown && show)
      if (const auto lines = shown_output(cases[from]->output, file); !lines.empty()) {
        c.notes.push_back(r.text(shapes[from]) + ":");
        for (const std::string& line : lines) c.notes.push_back("  " + line);
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
    const bool is_visible = *example < r.visible.size();
    const Case c = run_case(r, *task, simulator, shapes[*example], seed_of(*example), true, reverse(*example));
    // What leaves its buffer comes first: where it arrives in another one, it looks like a race there.
    std::vector<Json> list;
    if (c.report.is_array()) {
      for (const Json& launch : c.report)
        for (const Json& f : launch.value("findings", Json::array())) list.push_back(f);
    }
    std::stable_partition(list.begin(), list.end(),
                          [](const Json& f) { return f.value("kind", "").starts_with("out-of-bounds"); });
    // And a load that has left its buffer has no business in another one: that race is none of its own.
    const auto is = [](const Json& f, const char* kind) {
      return f.value("kind", "") == kind && f.value("message", "").starts_with("this thread reads");
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
      std::vector<std::string> lines_of = finding_lines(f, file);
      lines_of.front() += fmt::format(" ({}x)", f.value("times", 1));
      findings.notes.insert(findings.notes.end(), lines_of.begin(), lines_of.end());
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
      told[i] = tells_of_failure(r, *task, simulator, shapes[0], seed_of(0), library ? 0 : k, library ? k : 0);
    });
    if (const auto at = std::find(told.begin(), told.end(), 0); at != told.end()) {
      const auto [library, k] = failures[std::size_t(at - told.begin())];
      std::string what =
          fmt::format("{} {} of {}", library ? "library call" : "launch", k, library ? c.library_calls : c.launches);
      if (!library) {
        const Case again = run_case(r, *task, simulator, shapes[0], seed_of(0), true);
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

  if (findings.points > 0) {
    if (const std::string again = wrong_again(r, *task, simulator, shapes[0], seed_of(0)); !again.empty()) {
      findings.points = 0;
      findings.summary = again.starts_with("leak") ? "something is left behind" : "the second call goes wrong";
      findings.notes.push_back(again);
    }
  }

  if (findings.points > 0) {
    const auto [small, sizes] = smallest_and_largest(r, *task);
    const std::string wrong = small == sizes ? "" : wrong_after(r, *task, simulator, small, sizes, seed_of(0));
    if (!wrong.empty()) {
      findings.points = 0;
      findings.summary = wrong.starts_with("leak") ? "something is left behind" : "the second call goes wrong";
      findings.notes.push_back(wrong);
    }
  }

  // What it launches at the largest sizes of its contract, and at one where a GPU has work to do.
  std::optional<DryLaunch> large;
  if (findings.points > 0) {
    std::vector<Sizes> dry_shapes = r.largest;
    dry_shapes.push_back(r.gpu_shape.empty() ? r.efficiency_shape : r.gpu_shape);
    std::vector<DryLaunch> dry(dry_shapes.size());
    in_parallel(options.jobs, dry.size(),
                [&](std::size_t i) { dry[i] = launches_at(r, *task, simulator, dry_shapes[i]); });
    large = dry.back();
    for (std::size_t i = 0; i < dry.size() && findings.points > 0; ++i) {
      const std::string fault = dry[i].fault();
      if (fault.empty()) continue;
      findings.points = 0;
      findings.summary = "not at all sizes that homework.cuh allows";
      findings.notes.push_back(
          fmt::format("large-sizes: {}: {}. (Nothing was run there; only what the function launches was looked at.)",
                      r.text(dry_shapes[i]), fault));
    }
  }

  if (findings.points > 0) {
    std::vector<std::vector<Json>> outside(r.largest.size());
    in_parallel(options.jobs, outside.size(),
                [&](std::size_t i) { outside[i] = out_of_bounds_at(r, *task, simulator, r.largest[i]); });
    for (std::size_t i = 0; i < outside.size() && findings.points > 0; ++i) {
      if (outside[i].empty()) continue;
      findings.points = 0;
      findings.summary = "not at all sizes that homework.cuh allows";
      findings.notes.push_back(
          fmt::format("large-sizes: {}: an index is wrong there. Does it, or something on the way to it, exceed what "
                      "an int can hold "
                      "(2,147,483,647)? (Only the blocks at the corners of the grid were run, on arrays of zeros.)",
                      r.text(r.largest[i])));
      for (const std::string& line : finding_lines(outside[i].front(), file)) findings.notes.push_back(line);
    }
  }

  if (findings.points > 0 && task->same_bits()) {
    const std::string where = other_bits_in_reverse(r, *task, simulator, r.efficiency_shape, seed_of(0));
    if (!where.empty()) {
      findings.points = 0;
      findings.summary = "other bits in another order";
      findings.notes.push_back(fmt::format(
          "order-dependent: {} has other bits when the last block runs first, at {}. A sum of floats depends "
          "on the order of what is added: let the order not depend on who comes when",
          where, r.text(r.efficiency_shape)));
    }
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
      counts.insert(c.host_counts.begin(), c.host_counts.end());
      return counts;
    };
    struct Counted {
      Case run;
      std::map<std::string, double> counts;
    };
    std::map<Sizes, Counted> elsewhere;  // for limits that have a shape of their own
    const std::map<std::string, double> counts = counts_of(t, measured);
    std::size_t kept = 0;
    bool lesson_missed = false;
    for (const Limit& l : r.limits) {
      const Case* run = &measured;
      const std::map<std::string, double>* here = &counts;
      std::string at;
      if (!l.shape.empty()) {
        if (!earned) continue;
        auto [found, is_new] = elsewhere.try_emplace(l.shape);
        Counted& c = found->second;
        if (is_new) {
          c.run = run_case(r, *task, simulator, l.shape, seed_of(shapes.size() - 1), true);
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
      lesson_missed = lesson_missed || l.lesson;
      const bool named = l.count == "timeline" && !run->timeline_unit.empty();
      efficiency.notes.push_back(fmt::format("{} {}{}, target {} ({:.3g} points): {}", count_text(value),
                                             named ? "times as long as " + run->timeline_unit : readable_count(l.count),
                                             at, target_text(l), l.points, l.why));
      // Of a ratio it is not known by how many accesses it is too large.
      const double too_many = l.at_most && l.count.find("per_") == std::string::npos ? value - *l.at_most : 0;
      for (const std::string& d : diagnoses(run->report, l.count, too_many, file)) efficiency.notes.push_back("  " + d);
    }
    efficiency.summary = fmt::format("{} of {} targets met at {}", kept, r.limits.size(), r.text(r.efficiency_shape));
    if (!earned) efficiency.summary += "; counts once the results are right";
    if (lesson_missed && efficiency.points > 0) {
      efficiency.points = 0;
      efficiency.notes.push_back(
          "the target missed is what this lesson is about: until it is met, the others give no points");
    }
    if (efficiency.points > 0 && r.busy_multiprocessors > 0) {
      const Sizes& shape = r.gpu_shape.empty() ? r.efficiency_shape : r.gpu_shape;
      if (!large) large = launches_at(r, *task, simulator, shape);
      const std::string kernel = busiest_kernel(measured.report);
      const double blocks = blocks_of(large->report, kernel);
      if (!kernel.empty() && large->ended.empty() && !large->report.empty() && blocks < r.busy_multiprocessors) {
        efficiency.points = 0;
        efficiency.summary += "; most of a GPU has nothing to do";
        efficiency.notes.push_back(fmt::format(
            "few-blocks: {} {} of {} at {}, where an H200 has {} multiprocessors, and a block is on one of them: "
            "launch {} or more. Until then no target gives points",
            count_text(blocks), blocks == 1 ? "block" : "blocks", kernel, r.text(shape), kMultiprocessors,
            r.busy_multiprocessors));
      }
    }
  }

  if (options.gpu && options.times != Times::none && earned && others.points == others.of)
    result.gpu->time = options.gpu->compare_times(r, *task, programs.gpu, options.times == Times::small);

  result.criteria = {compiles, visible, others, findings, efficiency};
  for (Criterion& c : result.criteria) {
    result.points += c.points;
    for (std::string& note : c.notes) note = printable(note);  // quoted lines are the student's
  }
  return result;
}

}  // namespace

// ---------------------------------------------------------------- the whole file

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

std::string homework_folder(const std::string& chapter) { return places_of(chapter).bank; }

std::vector<std::string> chapters_with_homework() {
  std::vector<std::string> list;
  const fs::path& sources = installation().sources;
  for (const auto& entry : fs::directory_iterator(sources / "chapters")) {
    const std::string name = entry.path().filename().string();
    if (fs::exists(entry.path() / "homework.cuh") && fs::exists(sources / "tests" / name / "homework"))
      list.push_back(name);
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string find_chapter(const std::string& word) {
  const auto list = chapters_with_homework();
  for (const std::string& c : list) {
    if (c == word || c.substr(0, c.find('_')) == word) return c;
  }
  if (!find_task_folder(word).empty()) return word;
  throw std::invalid_argument(
      fmt::format("there is no homework for chapter {0}, and no task {0}. Homework: {1}. Tasks: {2}", word,
                  fmt::join(list, " "), fmt::join(tasks_in_one_file(), " ")));
}

namespace {

/// What a machine that isn't in order makes tools say. A submission may make them say it, too: then the canary lives.
bool blames_machine(const std::string& line) {
  for (const char* words :
       {"No space left", "Disk quota", "error writing", "Cannot allocate memory", "out of memory", "Killed",
        "cannot execute", "cannot find 'ld'", "Input/output error", "Read-only file system", "Too many open files",
        "Resource temporarily unavailable", "internal compiler error"})
    if (line.find(words) != std::string::npos) return true;
  return line.starts_with("simcc: ");
}

/// Of a tool that failed: why, in its own words.
std::string reason_of(const ChildResult& tool) {
  if (tool.timed_out) return "it did not end within a minute";
  if (tool.signal != 0) return signal_text(tool.signal);
  std::string last = fmt::format("exit code {}", tool.code), line;
  for (std::istringstream lines(tool.output); std::getline(lines, line);) {
    if (blames_machine(line)) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

int devices_wanted(const std::string& chapter, const std::string& task) {
  int most = 1;
  for (const Rubric& r : rubrics_of(chapter))
    if (const Task* t = task.empty() || task == r.task ? find_task(chapter, r.task) : nullptr)
      most = std::max(most, devices_wanted(r, *t));
  return most;
}

void grade_canary(const std::string& chapter, const GradeOptions& options) {
  // It has just been graded, for another one.
  static std::mutex mutex;
  static std::map<std::string, std::chrono::steady_clock::time_point> lived;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  {
    const std::lock_guard lock(mutex);
    if (const auto last = lived.find(chapter); last != lived.end() && now() - last->second < std::chrono::seconds(20))
      return;
  }
  GradeOptions same = options;
  same.canary = true;
  same.gpu = nullptr;
  same.times = Times::none;
  const std::string solution = solution_of(chapter);
  if (!fs::exists(solution)) return;  // a learner's copy of a task
  const ChapterResult r = grade(chapter, solution, same);
  if (r.score() > 99.999) {
    const std::lock_guard lock(mutex);
    lived[chapter] = now();
    return;
  }
  std::string why = r.refused + r.compiler;
  for (const TaskResult& t : r.tasks)
    for (const Criterion& c : t.criteria)
      if (c.points < c.of && why.empty()) why = c.summary + (c.notes.empty() ? "" : ": " + one_line(c.notes.back()));
  throw NotGraded(fmt::format("the solution gets {:.1f} of 100 here and now ({}), so this machine is not in order",
                              r.score(), why.substr(0, why.find('\n'))));
}

ChapterResult grade(const std::string& chapter, const std::string& file, const GradeOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  if (!isolation().holds && !options.unsafe)
    throw NotGraded(isolation().text +
                    ". Nothing was run, and there is no verdict. If you know what the file does (it's your own), "
                    "--unsafe grades it all the same");
  ChapterResult result;
  result.isolation = isolation().text;
  result.chapter = chapter;
  result.file = file;
  const TemporaryFolder work;
  const Places places = places_of(chapter);
  const std::string simcc = installation().programs / "simcc", include = "-I" + places.contract;
  const std::string object = work.file("submission.o"), program = work.file("program"),
                    preprocessed = work.file("submission.ii");

  std::vector<Rubric> rubrics = rubrics_of(chapter);
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

  for (const fs::path& made :
       {fs::path(places.object), fs::path(places.reference), installation().homework / "libtilewise_harness.a"})
    if (!fs::exists(made))
      throw std::runtime_error(
          fmt::format("{} is not there: cmake --build --preset sim --target homework_{}", made.string(), chapter));
  for (const Rubric& r : rubrics) {
    const int wanted = options.gpu ? devices_wanted(chapter, r.task) : 1;
    if (const int here = options.gpu ? options.gpu->info().devices : 1; wanted > here)
      throw NotGraded(
          fmt::format("{} needs {} GPUs, and here {} {}. Without GPU=1 (--gpu) the simulator, which has as many as are "
                      "needed, grades alone",
                      r.task, wanted, here == 1 ? "is" : "are", here));
  }
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
  const std::string prelude = prelude_folder();
  std::vector<std::string> compile{simcc,        "-c", include, "--prelude", prelude, "--preprocessed",
                                   preprocessed, file, "-o",    object};
  for (const std::string& option : warning_options()) compile.push_back(option);
  // Where a variable that was never given a value happens to hold 0, the result would be right: so it holds something else,
  // wherever the compiler can see to that.
  compile.push_back(kPoisonedVariables);
  const std::uint64_t mark = new_nonce();
  if (can_check_calls()) compile.insert(compile.end(), {"--check-calls", fmt::format("{:#x}", mark)});
  const ChildResult compiled = run_tool(compile);
  // The look at the source comes first, whatever the compiler says: it may have been made to say something.
  const std::string contract = places.contract + "/homework.cuh";
  if (options.policy && fs::exists(preprocessed))
    result.refused = refused_source(read_file(preprocessed), file, contract, prelude + "/prelude.h.gch");
  if (!result.refused.empty()) return nothing("refused: " + result.refused, {}, false);
  if (compiled.code != 0) {
    const std::string said = without_machinery(about_own_lines(compiled.output, file, contract), contract);
    if (options.canary) throw NotGraded("the compiler does not work here: " + reason_of(compiled));
    if (said.empty() || compiled.timed_out || blames_machine(reason_of(compiled))) grade_canary(chapter, options);
    result.compiler = compiled.timed_out ? "the compiler did not end within a minute" : said;
    if (result.compiler.empty()) result.compiler = "error: the compiler failed, and not in a line of this file";
    result.unsupported = unsupported_in(result.compiler);
    return nothing(result.unsupported.empty() ? "no" : "not on the simulator: " + result.unsupported, {}, false);
  }
  CompilerWarnings warnings = warnings_of(compiled.output, file);
  if (are_to_be_confirmed(warnings)) {
    std::vector<std::string> again{
        simcc, "-c", include, "-DTILEWISE_WARNINGS_ONLY", file, "-o", work.file("again.o"), kPoisonedVariables};
    for (const std::string& option : warning_options()) again.push_back(option);
    keep_confirmed(warnings, warnings_of(run_tool(again).output, file));
  }
  ChildResult symbols = run_tool({"nm", "-S", object});
  if (symbols.code != 0) throw NotGraded("nm does not work here: " + reason_of(symbols));
  if (const auto names = plain_variables(symbols.output); !names.empty() && make_private(object, names))
    symbols = run_tool({"nm", "-S", object});
  if (options.policy) result.refused = refused_symbols(symbols.output, libraries);
  if (!result.refused.empty()) return nothing("refused: " + result.refused, {}, false);
  if (const auto names = plain_functions(symbols.output); !names.empty() && make_private(object, names))
    symbols = run_tool({"nm", "-S", object});
  std::future<Gpu::Built> on_gpu;
  if (options.gpu)
    on_gpu = std::async(std::launch::async, [&] { return options.gpu->build(file, options.policy, work); });
  // The submission last: of two functions with one name that may both be there, the first is linked.
  std::vector<std::string> link{simcc,         installation().homework / "libtilewise_harness.a",
                                places.object, installation().libraries / "libtilewise_sim.a",
                                object,        "-o",
                                program};
  if (can_check_calls()) {
    const std::string check = work.file("checked_calls.s");
    std::ofstream(check) << checked_call_assembly(symbols.output, mark);
    // What the linker fills in is read-only when the program runs.
    link.insert(link.end(), {check, "-Wl,-z,relro,-z,now"});
  }
  const ChildResult linked = run_tool(link);
  if (linked.code != 0) {
    if (options.canary) throw NotGraded("the linker does not work here: " + reason_of(linked));
    grade_canary(chapter, options);
    result.compiler = linked.output;
    return nothing("it does not link", {}, false);
  }
  // Not a look at the source: what runs before the cage, no cage holds.
  if (has_resolvers(program)) {
    result.refused = "it has a function that the loader runs before the program begins (an ifunc's resolver)";
    return nothing("refused: " + result.refused, {}, false);
  }
  Programs programs{program, "", symbols.output, warnings.frames};
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
  for (const Rubric& r : rubrics) result.tasks.push_back(grade_task(r, chapter, programs, file, options));
  for (const CompilerWarning& w : warnings.all) {
    if (result.warnings.size() >= 10) break;
    result.warnings.push_back(printable(w.text));
    result.warnings.push_back("    " + printable(w.line));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace tilewise::grader
