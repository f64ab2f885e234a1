#include "gpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "case.hpp"
#include "own_names.hpp"
#include "places.hpp"
#include "policy.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool runs(const fs::path& file) { return access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file); }

/// CUDACXX, as for CMake; else on PATH; else where the Toolkit's own installer puts it.
std::string find_nvcc() {
  if (const char* named = std::getenv("CUDACXX"); named && *named) {
    if (runs(named)) return named;
    throw std::invalid_argument(fmt::format("CUDACXX is {}, which is no program", named));
  }
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) folders.push_back(part);
  }
  folders.insert(folders.end(), {"/usr/local/cuda/bin", "/opt/cuda/bin"});
  for (const std::string& folder : folders) {
    if (!folder.empty() && runs(fs::path(folder) / "nvcc")) return (fs::path(folder) / "nvcc").string();
  }
  throw std::invalid_argument(
      "grading on the GPU needs nvcc, which is neither on PATH nor in /usr/local/cuda/bin. Install the CUDA Toolkit, "
      "12.0 or newer, or name nvcc in CUDACXX; without GPU=1 (--gpu) the simulator grades alone");
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// "" or how two results of the same inputs differ. Sums may be added in another order: a thousandth of the largest
/// element that is finite is let pass; integers are not let pass. Infinities and NaNs are moved like other words.
std::string difference(const Problem& p, const std::vector<Values>& got, const std::vector<Values>& solutions) {
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const Buffer& buffer = p.buffers[k];
    if (!is_result(buffer)) continue;
    const std::string differs = std::visit(
        [&](const auto& right) -> std::string {
          const auto& mine = std::get<std::decay_t<decltype(right)>>(got[k]);
          double largest = 0;
          for (const auto v : right)  // of the margins, too, which hold such elements or garbage
            if (std::isfinite(double(v))) largest = std::max(largest, std::abs(double(v)));
          const double allowed = holds_integers(buffer.values) ? 0 : 1e-3 * largest;
          for (std::size_t i = buffer.margin; i + buffer.margin < right.size(); ++i) {
            const double a = double(mine[i]), b = double(right[i]);
            if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed) continue;
            return fmt::format("element {} of {} is {:.6g}, the solution's {:.6g}", i, buffer.name, a, b);
          }
          return "";
        },
        solutions[k]);
    if (!differs.empty()) return differs;
  }
  return "";
}

/// One of the two programs that are timed in turns.
class Contestant {
 public:
  Contestant(const Gpu& gpu, const std::string& program)
      : conversation_({program}, gpu.environment(), gpu.limits(60)) {}

  /// Sends the case, and keeps the result. False when there is none.
  bool begin(const std::string& task, const Sizes& sizes, const Problem& p) {
    const Request request = request_of(task, sizes, p, Mode::time);
    std::string reply(reply_size(p), '\0');
    if (!conversation_.send(message_of(request, p), 30) || !conversation_.receive(reply.data(), reply.size(), 60))
      return false;
    Reply head;
    std::memcpy(&head, reply.data(), sizeof head);
    if (head.nonce != request.nonce || !head.defined || head.returned != 0 || head.synchronised != 0) return false;
    const char* at = reply.data() + sizeof head;
    for (const Buffer& b : p.buffers) {
      result.push_back(read_values(b.values, b.size(), at));
      at += bytes_of(result.back());
    }
    return true;
  }

  /// Milliseconds of `calls` calls; empty when the program failed.
  std::vector<float> turn(std::uint32_t calls) {
    const Turn turn{calls};
    std::vector<float> ms(calls);
    if (!conversation_.send({reinterpret_cast<const char*>(&turn), sizeof turn}, 5) ||
        !conversation_.receive(ms.data(), ms.size() * sizeof(float), 60))
      return {};
    return ms;
  }

  std::vector<Values> result;

 private:
  Conversation conversation_;
};

}  // namespace

Gpu::Gpu(const std::string& chapter, std::set<std::string> libraries, int devices)
    : chapter_(chapter), libraries_(std::move(libraries)) {
  info_.nvcc = find_nvcc();
  environment_ = inherited({"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"});
  // The first GPUs only: looking at all of a large machine's takes time in every process.
  std::string first = "0";
  for (int d = 1; d < devices; ++d) first += fmt::format(",{}", d);
  if (!std::getenv("CUDA_VISIBLE_DEVICES")) environment_.emplace_back("CUDA_VISIBLE_DEVICES", first);
  environment_.emplace_back("CUDA_CACHE_DISABLE", "1");
  environment_.emplace_back("LC_ALL", "C");

  auto harness = std::async(std::launch::async, [&] {
    return compile({"-DTILEWISE_ON_GPU", "-c", installation().sources / "common/grader/harness.cpp", "-o",
                    work_.file("harness.o")});
  });
  const std::string calls_failed =
      compile({"-I" + places_of(chapter).contract, "-c", places_of(chapter).calls, "-o", work_.file("calls.o")});
  const std::string harness_failed = harness.get();
  for (const std::string& failed : {harness_failed, calls_failed}) {
    if (!failed.empty()) throw std::runtime_error("nvcc cannot compile the grader's own files: " + failed);
  }
  const std::string probe = work_.file("probe");
  if (const std::string failed = link({work_.file("harness.o"), work_.file("calls.o")}, probe); !failed.empty())
    throw std::runtime_error("nvcc cannot link: " + failed);

  // The driver must work within the limits. Where it does not, the last of them is given up first.
  limits_ = {.cpu_seconds = 20,
             .wall_seconds = 60,
             .memory = std::size_t{8} << 30,
             .file = std::size_t{64} << 20,
             .open_files = 1024,
             .cage = Cage::driver};
  std::string problem;
  const bool seccomp = refuses_system_calls();
  struct Attempt {
    Cage cage;
    std::size_t memory;
    std::string text;
  };
  const std::size_t memory = limits_.memory;
  const std::string held = seccomp ? "no new processes, no network, no signals (seccomp)" : "no seccomp here";
  for (const Attempt& a :
       {Attempt{Cage::driver, memory, held + ", 8 GiB"},
        Attempt{Cage::driver, 0, held + ", no limit of memory: the driver needs more than 8 GiB"},
        Attempt{Cage::none, memory, "no seccomp: the driver does not work with it; 8 GiB"},
        Attempt{Cage::none, 0, "no seccomp, no limit of memory: the driver does not work with them"}}) {
    limits_.cage = a.cage;
    limits_.memory = a.memory;
    info_.isolation = a.text;
    if (identify(probe, limits_, problem)) return;
  }
  throw std::invalid_argument(
      fmt::format("grading on the GPU needs an NVIDIA GPU that works: {}. Does nvidia-smi list one? In Colab: Runtime, "
                  "Change runtime "
                  "type, GPU. Without GPU=1 (--gpu) the simulator grades alone",
                  problem));
}

bool Gpu::identify(const std::string& program, ChildLimits limits, std::string& problem) {
  Request request;
  request.nonce = new_nonce();
  request.mode = Mode::identify;
  const ChildResult child =
      run_child({program}, environment_, {reinterpret_cast<const char*>(&request), sizeof request}, limits);
  Device device;
  if (child.reply.size() != sizeof device) {
    problem = fmt::format("a small program ended with {} {} and said nothing", child.signal ? "signal" : "exit code",
                          child.signal ? child.signal : child.code);
    return false;
  }
  std::memcpy(&device, child.reply.data(), sizeof device);
  device.message[sizeof device.message - 1] = device.name[sizeof device.name - 1] = '\0';
  if (device.error != 0) {
    problem = fmt::format("{} ({})", device.message, device.error);
    if (device.driver == 0) problem = "there is no NVIDIA driver";
    if (device.driver > 0 && device.driver < device.runtime)
      problem += fmt::format("; the driver is for CUDA {}, and nvcc is of {}", version(device.driver),
                             version(device.runtime));
    return false;
  }
  info_.name = device.name;
  info_.devices = device.devices;
  info_.major = device.major;
  info_.minor = device.minor;
  info_.driver = device.driver;
  info_.runtime = device.runtime;
  return true;
}

ChildLimits Gpu::limits(int seconds) const {
  ChildLimits limits = limits_;
  limits.cpu_seconds = seconds + 10;  // the driver takes some of it to start
  limits.wall_seconds = 4 * seconds + 40;
  return limits;
}

/// "" or what nvcc said.
std::string Gpu::compile(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{info_.nvcc, "-std=c++20", "-O3", "--expt-relaxed-constexpr", "--extended-lambda"};
  // Not -arch=native, which is for all GPUs of the machine.
  if (info_.major > 0) command.push_back(fmt::format("-arch=sm_{}{}", info_.major, info_.minor));
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ChildResult result = run_tool(command);
  if (result.code == 0) return "";
  return result.timed_out ? "nvcc did not end within a minute" : result.output.empty() ? "nvcc failed" : result.output;
}

/// "" or what nvcc said. Links the libraries of the chapter, too.
std::string Gpu::link(const std::vector<std::string>& objects, const std::string& program) const {
  std::vector<std::string> arguments = objects;
  arguments.insert(arguments.end(), {"-o", program});
  for (const std::string& library : libraries_)
    if (library.starts_with("cu")) arguments.push_back("-l" + library);  // the others are groups of CUDA's own calls
  // Where nvcc links libraries from is not always where they are looked for later.
  const std::string folder = (fs::path(info_.nvcc).parent_path().parent_path() / "lib64").string();
  if (!libraries_.empty()) arguments.insert(arguments.end(), {"-Xlinker", "-rpath", "-Xlinker", folder});
  return compile(arguments);
}

Gpu::Built Gpu::build(const std::string& file, bool policy, const TemporaryFolder& work) const {
  Built built;
  const std::string text = read_file(file);
  if (policy && !(built.refused = refused_for_nvcc(text)).empty()) return built;
  // nvcc does not take every name.
  const std::string source = work.file("homework.cu"), object = work.file("on-gpu.o");
  std::ofstream(source, std::ios::binary) << text;
  built.compiler = compile({"-I" + places_of(chapter_).contract, "-c", source, "-o", object});
  built.compiler = replaced(built.compiler, source, file);
  if (!built.compiler.empty()) return built;
  ChildResult symbols = run_tool({"nm", object});
  if (symbols.code != 0) throw std::runtime_error("nm failed: " + symbols.output);
  if (const auto names = plain_variables(without_nvcc(symbols.output)); !names.empty() && make_private(object, names))
    symbols = run_tool({"nm", object});
  if (policy) {
    if (!(built.refused = refused_symbols(without_nvcc(symbols.output), libraries_)).empty()) return built;
  }
  const std::string program = work.file("program-on-gpu");
  built.compiler = link({work_.file("harness.o"), work_.file("calls.o"), object}, program);
  if (built.compiler.empty()) built.program = program;
  return built;
}

GpuTime Gpu::compare_times(const Rubric& rubric, const Task& task, const std::string& program, bool small) {
  const Sizes& shape = small || rubric.gpu_shape.empty() ? rubric.efficiency_shape : rubric.gpu_shape;
  GpuTime time;
  time.shape = rubric.text(shape);
  if (solution_.empty()) {
    const Built built = build(solution_of(chapter_), false, work_);
    if (built.program.empty()) throw std::runtime_error("nvcc cannot build the solution: " + built.compiler);
    solution_ = built.program;
  }
  const Problem problem = task.for_timing(shape, 1);

  Contestant solution(*this, solution_), submission(*this, program);
  if (!solution.begin(rubric.task, shape, problem))
    return time.note = "not timed: the solution does not run on this GPU at this shape", time;
  if (!submission.begin(rubric.task, shape, problem)) return time.note = "not timed: it fails at this shape", time;
  if (const std::string differs = difference(problem, submission.result, solution.result); !differs.empty())
    return time.note = "not timed: the result at this shape is wrong: " + differs, time;

  // In turns of about a millisecond at least, so that both see the same clocks; who begins changes from turn to turn.
  // The first turns set the clocks and show how long a call is.
  const auto started = Clock::now();
  std::uint32_t calls = 1;
  std::vector<double> times[2];
  const int most_turns = 30;
  for (int turn = -1; turn < most_turns; ++turn) {
    if (turn > 4 && seconds_since(started) > 3) break;
    for (int k = 0; k < 2; ++k) {
      const bool first = (k == 0) == (turn % 2 == 0);
      const std::vector<float> ms = (first ? submission : solution).turn(turn < 0 ? 20 : calls);
      if (ms.empty()) return time.note = "not timed: it failed when it was called again", time;
      const std::vector<double> values(ms.begin(), ms.end());
      if (turn < 0)
        calls = std::max(calls, static_cast<std::uint32_t>(std::clamp(2 / std::max(median(values), 1e-3), 1.0, 20.0)));
      else
        times[first ? 0 : 1].push_back(median(values));
    }
    time.turns = turn + 1;
  }
  time.submission_ms = median(times[0]);
  time.solution_ms = median(times[1]);
  if (time.submission_ms > 0 && time.solution_ms > 0)
    time.ratio = time.submission_ms / time.solution_ms;
  else
    time.note = "not timed: no time passes on this GPU";
  return time;
}

}  // namespace tilewise::grader
