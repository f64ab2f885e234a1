#include "evidence.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "case.hpp"
#include "counts.hpp"
#include "grader.hpp"
#include "said.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::grader {

using Json = nlohmann::ordered_json;

namespace {

/// One run of the program on one shape, and what is to be said of it.
class CaseRun {
 public:
  CaseRun(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes, std::uint64_t seed,
          bool reverse)
      : rubric_(rubric), task_(task), machine_(machine), sizes_(sizes), reverse_(reverse), p_(task.make(sizes, seed)) {
    check_problem(task, p_);
    request_ = request_of(rubric.task, sizes, p_, Mode::run);
    if (reverse && rubric.any_base) request_.offset = static_cast<std::uint8_t>(1 + seed % 3);
  }

  Case look(bool report, bool findings) {
    run(report, findings);
    note_least_work();
    if (!came_to_its_end() || !has_replied()) return c_;
    take_counts(report);
    if (breaks_a_rule_of_the_task() || !compare_buffers()) return c_;
    look_at_launches();
    look_at_rules();
    look_at_memory();
    look_at_returned();
    conclude();
    return c_;
  }

 private:
  void run(bool report, bool findings) {
    Environment environment;
    if (report) environment.emplace_back("TILEWISE_REPORT", "reply");
    if (reverse_) environment.emplace_back("TILEWISE_BLOCKS", "reverse");
    if (!findings) environment.emplace_back("TILEWISE_FINDINGS", "off");
    const auto started = std::chrono::steady_clock::now();
    child_ = machine_.run(request_, p_, rubric_.time_limit, environment);
    c_.slow = std::chrono::steady_clock::now() - started > std::chrono::seconds(1);
    c_.output = child_.output;
    c_.suspicious = child_.timed_out || child_.signal == SIGKILL || child_.signal == SIGABRT ||
                    child_.signal == SIGBUS || (child_.signal == 0 && !is_complete());
  }

  bool is_complete() const { return child_.reply.size() == reply_size(p_); }

  /// What it takes at least, however it is done.
  void note_least_work() {
    c_.least_flops = p_.least_flops;
    c_.flops = p_.flops > 0 ? p_.flops : 2 * p_.least_flops;
    double loads = 0, stores = 0;  // bytes
    for (const Buffer& b : p_.buffers) {
      const double bytes = double(b.size() * bytes_of(type_of_values(b.values)));
      if (has_values(b)) loads += bytes;
      if (is_result(b)) stores += bytes;
    }
    c_.least_load_sectors = p_.least_load_bytes.value_or(loads) / 32;
    c_.least_store_sectors = p_.least_store_bytes.value_or(stores) / 32;
  }

  /// Says why not.
  bool came_to_its_end() {
    if (child_.timed_out) {
      c_.timed_out = true;
      return failed(fmt::format("it did not end within {} s, and it isn't known where it was: an endless loop?",
                                rubric_.time_limit + (machine_.gpu ? 10 : 0)));
    }
    if (child_.too_much_output) return failed("it writes without end");
    if (!machine_.gpu && !is_complete()) {
      const EarlyEnd ending = early_end_of(child_.report, machine_.file, *machine_.frames);
      c_.notes = ending.notes;
      if (!ending.code.empty()) {
        c_.timed_out = ending.code == "slow" || ending.code == "endless";
        c_.suspicious = ending.code == "slow";
        return failed(ending.what);
      }
    }
    return child_.signal == 0 || failed(signal_text(child_.signal));
  }

  bool failed(const std::string& what) { return c_.what = what, false; }

  /// Whether the reply is whole, and the harness's. Says why not.
  bool has_replied() {
    std::uint64_t last = 0;
    const std::string& reply = child_.reply;
    if (reply.size() >= sizeof reply_) std::memcpy(&reply_, reply.data(), sizeof reply_);
    if (reply.size() >= sizeof last) std::memcpy(&last, reply.data() + reply.size() - sizeof last, sizeof last);
    if (child_.code == kLibraryLinkedIn)
      throw NotGraded(
          "this compiler links the C++ library into programs (libstdc++.a), and the grader cannot tell its variables, "
          "such "
          "as std::cout, from the simulator's: install the shared one (libstdc++.so), or leave std::cout out");
    if (!is_complete() || reply_.nonce != request_.nonce || last != request_.nonce)
      return failed(
          child_.code == kCalledNoFunction
              ? "it calls an address that it computed, and that is no function which it may call"
          : child_.code == kUsedForeignMemory
              ? "host code reads or writes, at an address that it computed, memory that is not its own"
          : child_.code == sim::kEndedWithoutReturn
              ? "a function that returns a value comes to its end without a return: what it returns is undefined"
              : fmt::format("it ended (exit code {}) before its result could be looked at", child_.code));
    if (!reply_.defined) {
      c_.outcome = Outcome::undefined;
      return failed("the file does not have this function");
    }
    if (reply_.misused)
      throw std::runtime_error(fmt::format(
          "{}/calls.cu asks for a buffer, size or scalar of {} that it does not have, or for another type of elements",
          homework_folder(task_.chapter), task_.name));
    return true;
  }

  void take_counts(bool report) {
    c_.findings = reply_.findings;
    c_.launches = reply_.launches;
    c_.library_calls = reply_.library_calls;
    if (report) c_.report = Json::parse(child_.report, nullptr, false);
    if (rubric_.repeats_count && c_.report.is_array()) count_repeats(c_.report);
    // A program that launches nothing, since a library does all the work, writes no report.
    if (report && !c_.report.is_array() && reply_.launches == 0) c_.report = Json::array();

    double pinned_bytes = 0;  // of what is to be brought to the device
    for (const Buffer& b : p_.buffers)
      if (b.pinned && has_values(b)) pinned_bytes += double(bytes_of(b.values));
    const double unit = p_.timeline_unit > 0 ? p_.timeline_unit : pinned_bytes;
    c_.host_counts = {{"host_launches", double(reply_.host_launches)},
                      {"waits", double(reply_.waits)},
                      {"allocations", double(reply_.allocations)},
                      {"bytes_to_device", double(reply_.bytes_to_device)},
                      {"bytes_to_host", double(reply_.bytes_to_host)},
                      {"bytes_between", double(reply_.bytes_between)},
                      {"bytes_sent_most", double(reply_.bytes_sent_most)},
                      {"bytes_received_most", double(reply_.bytes_received_most)},
                      {"timeline", unit > 0 ? reply_.timeline / unit : 0}};
    c_.timeline_unit = p_.timeline_unit_name;
  }

  /// What no result makes good.
  bool breaks_a_rule_of_the_task() {
    c_.outcome = Outcome::wrong;  // until conclude()
    if (reply_.library_calls > 0 && rubric_.libraries.empty())
      c_.what = fmt::format("it calls a library, which {} must not", rubric_.task);
    else if (reply_.pageable_bytes > 0)
      c_.what = fmt::format(
          "it copies {} bytes from or to memory of its own, on the host: that memory is pageable, so the host waits. "
          "Copy between the arrays that the function gets",
          reply_.pageable_bytes);
    else if (p_.own_streams &&
             reply_.timeline < double(std::max({reply_.bytes_to_device, reply_.bytes_to_host, reply_.bytes_sent_most})))
      c_.what = "more was copied than its timeline has room for";
    return !c_.what.empty();
  }

  /// Compares all buffers that came back, inputs included; false where there is nothing to be said but of an input.
  bool compare_buffers() {
    const char* at = child_.reply.data() + sizeof reply_;
    std::vector<Values> all;
    for (const Buffer& b : p_.buffers) {
      if (machine_.gpu && reply_.synchronised != 0) break;  // nothing could be copied back
      Values got = read_values(b.values, b.size(), at);
      at += bytes_of(got);
      if (b.use == Use::input && has_changed(b, got)) {
        say(fmt::format("it changed {}, which is an input", b.name));
        return false;
      }
      if (is_result(b)) compare(b, got);
      all.push_back(std::move(got));
    }
    if (all_right_ && all.size() == p_.buffers.size()) c_.what = task_.together(sizes_, p_, all);
    return true;
  }

  bool has_changed(const Buffer& b, const Values& got) const {
    if (reply_.synchronised != 0) return false;  // what came back is not what is there
    const std::size_t margin = b.size() == 0 ? 0 : b.margin * bytes_of(got) / b.size();
    return std::memcmp(data_of(got) + margin, data_of(b.values) + margin, bytes_of(got) - 2 * margin) != 0;
  }

  void compare(const Buffer& b, const Values& got) {
    empty_ = empty_ && b.size() == 0;
    zeros_ = zeros_ && std::count(b.expected.begin(), b.expected.end(), 0.0) == std::ptrdiff_t(b.size());
    bool this_right = true;
    for (std::size_t i = 0; i < b.size(); ++i) this_right = this_right && right(p_, b, got, i);
    if (!this_right && all_right_) static_cast<Explanation&>(c_) = explain_wrong(task_, sizes_, p_, b, got);
    all_right_ = all_right_ && this_right;
  }

  /// In place of what was known before.
  void say(const std::string& what) {
    c_.what = what;
    c_.notes.clear();
  }

  bool launched_nothing() const { return !machine_.gpu && reply_.launches + reply_.library_calls == 0; }

  void look_at_launches() {
    if (!launched_nothing() || empty_ || (all_right_ && (zeros_ || p_.without_kernels))) return;
    say(std::string("no kernel was launched") +
        (rubric_.libraries.empty() ? "" : ", and nothing of the library called") +
        (all_right_ ? ", and yet there is a result"
         : zeros_   ? ": zeros have to be written, too"
                    : ""));
  }

  /// Rules that calls.cu looks at.
  void look_at_rules() {
    if (reply_.broken != 0) {
      const std::string rule = task_.rule(reply_.broken);
      if (all_right_ || launched_nothing())
        c_.what = rule;
      else
        c_.notes.insert(c_.notes.begin(), rule);
    }
    if (reply_.remark != 0 && !all_right_) c_.notes.insert(c_.notes.begin(), task_.rule(reply_.remark));
  }

  void look_at_memory() {
    if (machine_.gpu && reply_.findings > 0) say("a kernel wrote outside its buffers");
    if (machine_.gpu && reply_.synchronised != 0)
      say(fmt::format("a kernel failed: {} ({})", cudaGetErrorName(static_cast<cudaError_t>(reply_.synchronised)),
                      reply_.synchronised));
    if (!machine_.gpu && reply_.lost) say("a buffer could not be read any more: was it freed?");
  }

  void look_at_returned() {
    c_.returned = reply_.returned;
    c_.ended_by_error = reply_.returned != 0 || reply_.synchronised != 0;
    if (reply_.returned == 0) return;
    say(fmt::format("the function returned {} ({})", cudaGetErrorName(static_cast<cudaError_t>(reply_.returned)),
                    reply_.returned));
    if (reply_.returned == cudaErrorIllegalAddress)
      c_.notes.push_back("a kernel went outside its buffers" +
                         std::string(reply_.findings > 0 ? ": where, is below, under \"no findings\"" : ""));
    if (p_.devices == 1) return;
    c_.guess = nullptr;
    if (reply_.returned == cudaErrorIllegalAddress)
      c_.notes.push_back("or outside the memory of its own device, which is all that it reaches");
    if (reply_.returned == cudaErrorInvalidResourceHandle)
      c_.notes.push_back(
          "a kernel was launched in a stream of another device than the current one, or an event recorded in a stream "
          "of another device than its own: cudaSetDevice() before you launch, and before you make streams and events");
  }

  void conclude() {
    if (c_.what.empty())
      c_.outcome = Outcome::right;
    else if (reverse_)
      c_.notes.push_back(
          kReverse +
          (request_.offset == 0
               ? ""
               : fmt::format("; and each array began {} elements after a multiple of 16 bytes", request_.offset)));
  }

  const Rubric& rubric_;
  const Task& task_;
  const Machine& machine_;
  const Sizes& sizes_;
  bool reverse_;
  Problem p_;
  Request request_;
  ChildResult child_;
  Reply reply_;
  Case c_;
  bool all_right_ = true, empty_ = true, zeros_ = true;  // zeros: cudaMemsetAsync may have made the result alone
};

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

}  // namespace

Case run_case(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes, std::uint64_t seed,
              bool report, bool reverse, bool findings) {
  return CaseRun(rubric, task, machine, sizes, seed, reverse).look(report, findings);
}

bool tells_of_failure(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                      std::uint64_t seed, std::uint64_t launch, std::uint64_t library_call) {
  const Problem p = task.make(sizes, seed);
  Request request = request_of(rubric.task, sizes, p, Mode::run);
  request.failing_launch = static_cast<std::uint8_t>(launch);
  request.failing_library_call = static_cast<std::uint8_t>(library_call);
  const Answer a = answer_of(rubric, machine, p, request);
  return !a.arrived || (a.reply.nonce == request.nonce && task.told_of_failure(a.reply.returned, a.reply.broken));
}

DryLaunch launches_at(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes) {
  return launch_dry(rubric, task, sizes, [&](const std::string& message, std::size_t reply) {
    return machine.run(message, reply, rubric.time_limit,
                       {{"TILEWISE_REPORT", "reply"}, {"TILEWISE_COUNT", "0"}, {"TILEWISE_FINDINGS", "off"}});
  });
}

std::vector<Json> out_of_bounds_at(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes) {
  return run_corners(rubric, task, sizes, [&](const std::string& message, std::size_t reply) {
    return machine.run(message, reply, rubric.time_limit, {{"TILEWISE_REPORT", "reply"}, {"TILEWISE_COUNT", "0"}});
  });
}

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

}  // namespace tilewise::grader
