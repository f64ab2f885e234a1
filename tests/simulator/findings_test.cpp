// Wrong programs, each with the line that must be found, and correct ones that must be silent: findings/*.cu say which.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

/// What a finding says: code and line; the file is always the program's own.
using Expected = std::set<std::pair<std::string, int>>;

struct Program {
  std::string source;  // "races.cu"
  fs::path folder;

  explicit Program(std::string name, const std::string& compiler = "")
      : source(std::move(name)),
        folder(fs::temp_directory_path() / ("findings-" + std::to_string(getpid()) + "-" + source)) {
    fs::create_directories(folder);
    const std::string path = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/findings/" + source;
    const std::string with = compiler.empty() ? "" : " --cxx=" + compiler;
    REQUIRE(run(std::string("'") + TILEWISE_SIMCC + "'" + with + " '" + path + "' -o '" + app() + "'") == 0);
  }
  ~Program() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  std::string app() const { return (folder / "app").string(); }
  std::string report() const { return (folder / "report.json").string(); }
  std::string log() const { return (folder / "log").string(); }

  int run(const std::string& command) const {
    const int status = std::system((command + " > '" + log() + "' 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int run_case(const std::string& name, const std::string& environment = "") const {
    fs::remove(report());
    return run("env -u TILEWISE_FINDINGS TILEWISE_REPORT='" + report() + "' TILEWISE_COUNT=0 " + environment + " '" +
               app() + "' " + name);
  }

  std::string text(const std::string& path) const {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::vector<std::string> cases() const {
    REQUIRE(run("'" + app() + "' --list") == 0);
    std::istringstream lines(text(log()));
    std::vector<std::string> names;
    for (std::string name; lines >> name;) names.push_back(name);
    return names;
  }

  /// All that is marked `// finding: CODE CASE, CODE CASE` or `// note: ...` for one case.
  Expected expected(const std::string& name, const std::string& marker) const {
    std::ifstream stream(std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/findings/" + source);
    Expected all;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      const auto at = line.find("// " + marker + ": ");
      if (at == std::string::npos) continue;
      std::istringstream list(line.substr(at + marker.size() + 5));
      for (std::string entry; std::getline(list, entry, ',');) {
        std::istringstream words(entry);
        std::string code, of;
        words >> code >> of;
        if (of == name) all.emplace(code, number);
      }
    }
    return all;
  }

  /// What the report lists. A race has two lines; the one that is marked counts.
  Expected found(const Expected& expected) const {
    Expected all;
    if (!fs::exists(report())) return all;
    for (const auto& launch : nlohmann::json::parse(text(report()))) {
      for (const auto& finding : launch.at("findings")) {
        const auto code = finding.at("kind").get<std::string>();
        auto line = finding.at("line").get<int>();
        if (finding.contains("other_line") && !expected.contains({code, line})) finding.at("other_line").get_to(line);
        INFO(finding.dump());
        CHECK(fs::path(finding.at("file").get<std::string>()).filename() == source);
        CHECK(finding.at("message").get<std::string>().size() > 20);
        if ((code.starts_with("race") && code != "race-streams") || code.starts_with("out-of-bounds-")) {
          CHECK(finding.at("threads").get<std::string>().starts_with("block ("));
        }
        all.emplace(code, line);
      }
    }
    return all;
  }
};

void check_all_cases(const std::string& source, const std::string& compiler = "", const std::string& but = "",
                     const std::string& environment = "") {
  const Program program(source, compiler);
  const std::vector<std::string> names = program.cases();
  REQUIRE(!names.empty());
  for (const std::string& name : names) {
    if (name == but) continue;
    const Expected wrong = program.expected(name, "finding"), notes = program.expected(name, "note");
    const int status = program.run_case(name, environment);
    INFO(source << ", case " << name << ": " << program.text(program.log()));
    Expected expected = wrong;
    expected.insert(notes.begin(), notes.end());
    CHECK(program.found(expected) == expected);
    CHECK(status == (wrong.empty() ? 0 : 1));
    if (expected.empty()) CHECK(program.text(program.log()).empty());
    const bool is_twin = name.ends_with("_right");
    if (source != "silent.cu") CHECK(is_twin == expected.empty());
    if (source != "silent.cu" && !is_twin) {
      CHECK(std::find(names.begin(), names.end(), name + "_right") != names.end());
    }
  }
}

}  // namespace

TEST_CASE("Findings: threads without order", "[programs]") { check_all_cases("races.cu"); }
TEST_CASE("Findings: bounds, alignment, and reads of what nobody wrote", "[programs]") { check_all_cases("memory.cu"); }
TEST_CASE("Findings: barriers, warp operations and waiting", "[programs]") { check_all_cases("threads.cu"); }
TEST_CASE("Findings: the barrier of a grid", "[programs]") { check_all_cases("grid.cu"); }
TEST_CASE("Findings: launches in kernels", "[programs]") { check_all_cases("children.cu"); }
TEST_CASE("Findings: memory that kernels allocate", "[programs]") { check_all_cases("heap.cu"); }
TEST_CASE("Findings: wrong kinds of memory, lifetimes, failed launches", "[programs]") {
  check_all_cases("lifetime.cu");
}
TEST_CASE("Findings: matrices that cuBLAS and cuSPARSE cannot work on", "[programs]") {
  check_all_cases("libraries.cu");
}
TEST_CASE("Findings: code of the host in kernels", "[programs][silent]") { check_all_cases("host_code.cu"); }
TEST_CASE("Findings: streams, events, and the host beside them", "[programs]") { check_all_cases("streams.cu"); }
TEST_CASE("Findings: several devices", "[programs][devices]") {
  check_all_cases("devices.cu", "", "", "TILEWISE_DEVICES=3");
}
TEST_CASE("Findings: collective operations", "[programs][devices][nccl]") {
  check_all_cases("collectives.cu", "", "", "TILEWISE_DEVICES=3");
}
TEST_CASE("Findings: asynchronous copies", "[programs]") { check_all_cases("async.cu"); }
TEST_CASE("Findings: barriers in shared memory", "[programs]") { check_all_cases("barriers.cu"); }
TEST_CASE("Findings: matrices that a warp loads, multiplies and stores on tensor cores", "[programs]") {
  check_all_cases("matrices.cu");
}
TEST_CASE("Findings: correct programs that come close have none", "[programs]") { check_all_cases("silent.cu"); }

TEST_CASE("Findings: a race's advice is one that cures it", "[programs]") {
  const Program program("races.cu");
  const std::string sum = "; no barrier helps where several threads update one element: atomicAdd() or another atomic";
  const std::pair<std::string, std::string> cases[] = {
      {"reversed", "; no __syncthreads() stands between"},
      {"lockstep_global", "; lanes of a warp need not run in step: put a __syncwarp() between"},
      {"shifted_line", "in the same line; divide it: read into a variable, __syncthreads(), then write"},
      {"shifted_lanes", "in the same line; divide it: read into a variable, __syncwarp(), then write"},
      {"scan_in_step", "; divide it: read into a variable, __syncwarp(), then write; in a loop __syncwarp()"},
      {"many_write", "; which value stays is up to chance: let one thread write"},
      {"plain_sum", sum},
      {"lanes_count", sum},
      {"total_of_blocks", sum},
      {"stencil_in_place",
       "; blocks run in any order, and no barrier is between them: separate arrays or a second launch"},
      {"within_and_between",
       "; blocks run in any order, and no barrier is between them: separate arrays or a second launch"},
      {"blocks_write", "; blocks run in any order, so which value stays is up to chance: let one of them write"},
      {"bare_lock",
       "; if an atomic before it is a lock or a ticket, that orders nothing without fences: __threadfence()"},
      {"bare_lock_in_block",
       "; if an atomic before it is a lock, that orders nothing without fences: __threadfence_block()"},
      {"given_back_plainly", "; a plain store has no order with the atomics of other blocks: a lock is given back by"},
  };
  for (const auto& [name, advice] : cases) {
    REQUIRE(program.run_case(name) == 1);
    const std::string text = program.text(program.log());
    const auto report = nlohmann::json::parse(program.text(program.report()));
    const auto message = report.at(0).at("findings").at(0).at("message").get<std::string>();
    INFO(name << ": " << text);
    CHECK(text.find(advice) != std::string::npos);
    CHECK(message.find(advice) != std::string::npos);
    const bool barrier_helps = advice.find("__sync") != std::string::npos;
    CHECK((message.find("__sync") != std::string::npos) == barrier_helps);
  }
}

TEST_CASE("Findings: of a barrier it is said which threads are at it, which are elsewhere, and which have ended",
          "[programs]") {
  const Program program("threads.cu");
  const std::pair<std::string, std::string> cases[] = {
      {"if_and_else",
       "divergent-barrier: threads (0,0,0) to (31,0,0) wait at the __syncthreads() of this line, but "
       "threads (32,0,0) to (63,0,0) at the one of "},
      {"three_barriers",
       "divergent-barrier: threads (0,0,0) to (7,0,0) wait at the __syncthreads() of this line, but "
       "28 threads ((8,0,0), (10,0,0) and so on) at the one of "},
      {"three_barriers", ", 27 threads ((9,0,0), (11,0,0) and so on) at the one of "},
      {"three_barriers", ", thread (63,0,0) has ended; all threads of a block must reach the same one"},
      {"different_iterations",
       "divergent-barrier: 32 threads ((0,0,0), (2,0,0) and so on) wait at this "
       "__syncthreads() in one iteration of a loop, but 32 threads ((1,0,0), "},
      {"two_calls", "divergent-barrier: threads (0,0,0) to (15,0,0) have come to this __syncthreads() by the call in "},
      {"nobody_sets_the_flag", "happen: thread (0,0,0) waits in a loop at "},
      {"nobody_sets_the_flag", ", threads (1,0,0) to (63,0,0) have ended"},
  };
  for (const auto& [name, words] : cases) {
    program.run_case(name);
    const std::string text = program.text(program.log());
    INFO(name << ": " << text);
    CHECK(text.find(words) != std::string::npos);
  }
}

TEST_CASE("Findings: an array that was left far behind is named all the same") {
  const Program program("memory.cu");
  REQUIRE(program.run_case("far_from_its_array") == 1);
  CHECK(program.text(program.log()).find("element 10,000 of the 80-element (4-byte) device allocation") !=
        std::string::npos);
}

TEST_CASE("Findings: what depends on the compiler's knowledge of types is the same with g++ and clang++",
          "[.all][types]") {
  for (const std::string compiler : {"g++", "clang++"}) {
    if (std::system(("command -v " + compiler + " >/dev/null 2>&1").c_str()) != 0) {
      WARN(compiler << " is not here");
      continue;
    }
    // clang copies the struct by a call, which does not say how it is aligned.
    check_all_cases("threads.cu", compiler);
    check_all_cases("memory.cu", compiler, compiler == "clang++" ? "own_vector" : "");
    check_all_cases("async.cu", compiler);
    check_all_cases("host_code.cu", compiler);
    check_all_cases("matrices.cu", compiler);
    // It reads the padding of that struct by a load of its own, which is reported.
    check_all_cases("silent.cu", compiler, compiler == "clang++" ? "struct_padding" : "");
  }
}

TEST_CASE("Findings: the exit code and TILEWISE_FINDINGS", "[programs]") {
  const Program program("lifetime.cu");
  CHECK(program.run_case("freed_twice", "TILEWISE_FINDINGS=warn") == 0);
  CHECK(program.text(program.log()).find("double-free") != std::string::npos);
  CHECK(program.run_case("freed_before_launch", "TILEWISE_FINDINGS=off") == 0);
  CHECK(program.text(program.log()).empty());
  CHECK(program.run_case("forgotten") == 0);
  CHECK(program.run_case("forgotten", "TILEWISE_FINDINGS=strict") == 1);
  CHECK(program.run_case("forgotten_right", "TILEWISE_FINDINGS=strict") == 0);

  // One line for all threads, with their number; paths below the current folder are short.
  program.run("cd '" TILEWISE_SOURCE_DIR "/tests/simulator' && '" + program.app() + "' freed_before_launch");
  const std::string text = program.text(program.log());
  CHECK(text.starts_with("findings/lifetime.cu:"));
  CHECK(text.find("(and 63 more times)") != std::string::npos);
  CHECK(text.find("block (0,0,0), thread (0,0,0)") != std::string::npos);
}
