#include "learn/workshop.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "grader/tools.hpp"

namespace tilewise::learn {

namespace fs = std::filesystem;

namespace {

constexpr int kSeconds = 5;                     // of processor time, for a whole program
constexpr const char* kSecondsOfBlock = "0.4";  // and for a thread: those of right answers take a hundredth of that

void write(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + path.string());
}

/// Puzzles are solved in a repository, with the programs that it has built.
fs::path build_folder() { return installation().programs.parent_path(); }

/// Where tilewise/puzzle.hpp is.
fs::path headers() { return installation().sources / "common/include"; }

std::string stamp_of(const fs::path& path) {
  std::error_code none;
  return fmt::format("{} {} {}\n", path.string(), fs::last_write_time(path, none).time_since_epoch().count(),
                     fs::file_size(path, none));
}

/// Without what the simulator adds to the source, in a message of the compiler's.
std::string without_machinery(std::string text) {
  if (text.find("LaunchConfig") != std::string::npos)
    return "a launch wants two numbers at least: <<<blocks, threads in each>>>";
  if (text.find("register_kernel") != std::string::npos) return "a kernel returns nothing: __global__ void";
  static const std::regex kernel_only("'(threadIdx|blockIdx|blockDim|gridDim)' was not declared");
  if (std::regex_search(text, kernel_only))
    text += ", which is no kernel: __global__ in front of a function makes it one";
  static const std::pair<std::regex, const char*> kReplacements[] = {
      {std::regex(R"((::)?tilewise::sim::)"), ""},      {std::regex(R"(\btw_s_\d+\.)"), ""},
      {std::regex(R"(\bthread_idx\(\))"), "threadIdx"}, {std::regex(R"(\bblock_idx\(\))"), "blockIdx"},
      {std::regex(R"(\bblock_dim\(\))"), "blockDim"},   {std::regex(R"(\bgrid_dim\(\))"), "gridDim"},
      {std::regex(R"( \[-[Wf][^\]]*\]$)"), ""},
  };
  for (const auto& [what, by] : kReplacements) text = std::regex_replace(text, what, by);
  return text;
}

}  // namespace

// ---------------------------------------------------------------- what was said

CompileError first_error(const std::string& said, const std::string& path) {
  static const std::regex error_line(R"(^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$)");
  static const std::regex undefined("undefined reference to [`']?([^'\n]*)");
  std::istringstream stream(said);
  CompileError error;
  int called_from = 0;  // our line in "file:12:3:   required from here"
  const auto own_line = [&](const std::string& line) {
    return line.compare(0, path.size() + 1, path + ":") == 0 ? std::atoi(line.c_str() + path.size() + 1) : 0;
  };
  for (std::string line; std::getline(stream, line);) {
    std::smatch m;
    if (error.message.empty() && std::regex_match(line, m, error_line)) {
      error.message = without_machinery(m[3]);
      if (m[1] == path) error.line = std::stoi(m[2]);
      if (error.line > 0) break;
      error.line = called_from;
      if (error.line > 0) break;
    } else if (error.message.empty() && std::regex_search(line, m, undefined)) {
      error.message = m[1].str() + " is declared and used, but defined nowhere";
      const auto at = line.find(path + ":");
      error.line = at == std::string::npos ? 0 : std::atoi(line.c_str() + at + path.size() + 1);
      break;
    } else if (const int number = own_line(line); number > 0) {
      called_from = number;
      if (!error.message.empty()) {  // an error in a header, and what of ours led there
        error.line = number;
        break;
      }
    }
  }
  if (error.message.empty()) error.message = "the compiler failed: " + said.substr(0, 300);
  return error;
}

std::string brace_problem(const std::string& text, std::size_t lines) {
  std::vector<std::size_t> open;  // lines of braces
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size() && line <= lines; ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == '\n') {
      ++line;
    } else if (c == '/' && next == '/') {
      i = text.find('\n', i) - 1;
    } else if (c == '/' && next == '*') {
      const std::size_t end = std::min(text.find("*/", i + 2), text.size());
      line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                                  text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end + 1;
    } else if ((c == '"' || c == '\'') &&
               !(c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])))) {
      for (++i; i < text.size() && text[i] != c && text[i] != '\n'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '{') {
      open.push_back(line);
    } else if (c == '}') {
      if (open.empty()) return fmt::format("the }} in line {} closes nothing: is a {{ missing above it?", line);
      open.pop_back();
    }
  }
  return open.empty() ? "" : fmt::format("the {{ in line {} is never closed: a }} is missing", open.back());
}

namespace {

/// Of a simulator's timeline: in units, and with streams numbered by their first use. The default stream of device d has number 2d.
Timeline in_units(Timeline timeline, double unit, int devices) {
  std::stable_sort(timeline.pieces.begin(), timeline.pieces.end(),
                   [](const TimelinePiece& a, const TimelinePiece& b) { return a.begin < b.begin; });
  std::map<int, int> numbers;
  for (int d = 0; d < devices; ++d) numbers[2 * d] = -1;
  for (TimelinePiece& piece : timeline.pieces) {
    piece.stream = numbers.try_emplace(piece.stream, static_cast<int>(numbers.size()) - devices).first->second;
    piece.begin /= unit;
    piece.end /= unit;
  }
  timeline.length /= unit;
  return timeline;
}

}  // namespace

CheckResult parse_check(const std::string& text, const std::string& token, int devices) {
  CheckResult c;
  using Said = CheckResult::Said;
  std::istringstream stream(text);
  std::string word;
  double unit = 1;
  Timeline timeline;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    words >> word;
    const std::string rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
    if (word == "count") {
      std::string number, said_token;
      words >> number >> said_token;
      if (said_token == token) c.count_from = std::strtoull(number.c_str(), nullptr, 10);
    } else if (word == "unit") {
      words >> unit;
      timeline = {};
    } else if (word == "piece") {
      int engine = 0;
      TimelinePiece piece;
      words >> engine >> piece.stream >> piece.begin >> piece.end >> piece.device;
      piece.engine = static_cast<Engine>(std::clamp(engine, 0, 2));
      timeline.pieces.push_back(piece);
    } else if (word == "timeline") {
      std::string said_token;
      words >> timeline.length >> said_token;
      if (said_token == token) c.timeline = in_units(std::move(timeline), unit, devices);
    } else if (word == "solved") {
      if (rest == token) c.said = Said::solved;
    } else if (word == "fail" || word == "cuda") {
      c.said = word == "fail" ? Said::fail : Said::cuda;
      c.text = rest;
      return c;
    } else if (word == "wrong") {
      c.said = Said::wrong;
      words >> c.array >> c.type >> c.rows >> c.cols >> c.tolerance >> std::ws;
      std::getline(words, c.text);
      break;
    }
  }
  for (std::string line; std::getline(stream, line);) {
    char* end = nullptr;
    c.expected.push_back(std::strtod(line.c_str(), &end));
    c.got.push_back(std::strtod(end, &end));
    c.unwritten.push_back(std::strtol(end, nullptr, 10) != 0);
  }
  return c;
}

// ---------------------------------------------------------------- bench

namespace {

/// All benches that there are.
struct Benches {
  std::mutex mutex;
  std::set<fs::path> folders;
};
Benches& benches() {
  static auto& all = *new Benches;  // a judgement may outlive static objects
  return all;
}

}  // namespace

Bench::Bench() {
  std::string pattern = (fs::temp_directory_path() / "tilewise-learn-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder like " + pattern);
  folder_ = pattern;
  const std::lock_guard lock(benches().mutex);
  benches().folders.insert(folder_);
}

Bench::~Bench() {
  const std::lock_guard lock(benches().mutex);
  benches().folders.erase(folder_);
  std::error_code none;
  fs::remove_all(folder_, none);
}

void Bench::remove_all() {
  const std::lock_guard lock(benches().mutex);
  std::error_code none;
  for (const fs::path& folder : benches().folders) fs::remove_all(folder, none);
}

// ---------------------------------------------------------------- workshop

Workshop::Workshop(fs::path root)
    : root_(std::move(root)), simcc_(installation().programs / "simcc"), prelude_(build_folder() / "learn/prelude") {
  for (const char* gold : {"/usr/bin/ld.gold", "/usr/local/bin/ld.gold"})
    if (fs::exists(gold)) linker_ = "-fuse-ld=gold";
}

std::string Workshop::tools_stamp() const {
  std::string stamp = stamp_of(simcc_);
  for (const char* header : {"tilewise/puzzle.hpp", "tilewise/puzzle_functions.hpp"})
    stamp += stamp_of(headers() / header);
  return stamp;
}

std::vector<std::string> Workshop::compiler() const {
  return {simcc_, "-w", "-g1", "-DTILEWISE_PUZZLE_APART", "-I" + headers().string()};
}

std::string Workshop::make_prelude() const {
  fs::create_directories(prelude_);
  const fs::path made = prelude_ / "made";
  const std::string stamp = tools_stamp();
  const grader::Lock lock(prelude_ / "lock");
  if (grader::read_file(made) == stamp) return "";
  std::error_code none;
  fs::remove(made, none);
  std::vector<std::string> command = compiler();
  command.insert(command.end(), {"--make-prelude", prelude_.string(), "-include", "tilewise/puzzle.hpp"});
  if (const auto child = grader::run_tool(command); child.code != 0) return first_error(child.output, "").message;
  const std::string functions = (prelude_ / "functions.cu").string();
  write(functions, "#include \"tilewise/puzzle_functions.hpp\"\n");
  command = compiler();
  command.insert(command.end(), {"-c", functions, "-o", functions + ".o"});
  if (const auto child = grader::run_tool(command); child.code != 0)
    return first_error(child.output, functions).message;
  write(made, stamp);
  return "";
}

namespace {

/// What simcc calls the library, and what people do.
constexpr std::pair<const char*, const char*> kLibraries[] = {
    {"cublas", "cuBLAS"}, {"cusparse", "cuSPARSE"}, {"nccl", "NCCL"}};

bool lacks_library(const std::string& text, const char* library) {
  return text.find(library) != std::string::npos &&
         !fs::exists(installation().libraries / fmt::format("libtilewise_sim_{}.a", library));
}

}  // namespace

std::string Workshop::missing_library(const std::string& text) const {
  for (const auto& [library, shown] : kLibraries)
    if (lacks_library(text, library)) return shown;
  return "";
}

void Workshop::make_libraries(const std::string& text) const {
  for (const auto& [library, shown] : kLibraries) {
    if (!lacks_library(text, library)) continue;
    fs::create_directories(prelude_);
    const grader::Lock lock(prelude_ / "lock");
    if (!lacks_library(text, library)) continue;  // somebody else has made it
    grader::run_child(
        {"/usr/bin/env", "cmake", "--build", build_folder(), "--target", fmt::format("tilewise_sim_{}", library)},
        grader::inherited({"PATH", "TMPDIR", "HOME", "CCACHE_DIR"}), "", {});
  }
}

Compiled Workshop::compile(const Bench& bench, const std::string& name, const std::string& text) const {
  make_libraries(text);
  const std::string source = bench.file(name), program = bench.file("program");
  write(source, text);
  std::vector<std::string> command = compiler();
  command.insert(command.end(), {"--prelude", prelude_.string(), "-fmax-errors=1", source,
                                 (prelude_ / "functions.cu.o").string(), "-o", program});
  if (!linker_.empty()) command.push_back(linker_);
  const grader::ChildResult child = grader::run_tool(command);
  if (child.code == 0) return {true, {}, program};
  if (child.timed_out) return {false, {"the compiler did not end within a minute", 0}, ""};
  return {false, first_error(child.output, source), ""};
}

Run Workshop::run(const Bench& bench, const std::string& program, const std::string& token, int devices) const {
  const std::string report = bench.file("report.json"), check = bench.file("check.txt"),
                    said = bench.file("stderr.txt");
  grader::Environment environment = grader::inherited({"TMPDIR"});
  environment.insert(environment.end(), {{"PATH", "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"},
                                         {"LC_ALL", "C"},
                                         {"TILEWISE_REPORT", report},
                                         {"TILEWISE_BLOCK_SECONDS", kSecondsOfBlock},
                                         {"TILEWISE_PUZZLE", check}});
  if (devices > 1) environment.emplace_back("TILEWISE_DEVICES", std::to_string(devices));
  Run run;
  // What the simulator says on stderr is in the report, too; what is left is what the learner's code prints.
  run.child = grader::run_child({"/bin/sh", "-c", "exec \"$0\" 2>\"$1\"", program, said}, environment, "",
                                {.cpu_seconds = kSeconds, .wall_seconds = 6 * kSeconds});
  run.printed = run.child.output;
  for (const std::string& line : lines_of(grader::read_file(said)))
    if (const std::string by = "tilewise simulator: "; line.starts_with(by)) run.complaint = line.substr(by.size());
  run.out_of_memory = run.child.signal == SIGABRT && grader::read_file(said).find("bad_alloc") != std::string::npos;
  run.wants_thread =
      run.child.signal == SIGABRT && grader::read_file(said).find("std::system_error") != std::string::npos;
  run.check = parse_check(grader::read_file(check), token, devices);
  run.report = Json::parse(grader::read_file(report), nullptr, false);
  if (!run.report.is_array()) run.report = Json::array();
  return run;
}

}  // namespace tilewise::learn
