// Compiles a program with simcc, runs it, and looks at what it says.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"

struct Outcome {
  int status = -1;
  std::string text;  // stdout and stderr
};

/// A folder that is gone after the test.
class Workplace {
 public:
  Workplace() : path_(std::filesystem::temp_directory_path() / ("tilewise_programs_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  Outcome compile(const std::string& source, const std::string& options = "") const {
    return run(std::string(TILEWISE_SIMCC) + " " + options + " '" + source + "' -o '" + app() + "'");
  }
  /// `environment`: "NAME=value NAME=value", in front of the command.
  Outcome run_app(const std::string& environment = "") const { return run(environment + " '" + app() + "'"); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& text) const {
    std::string path = (path_ / "program.cu").string();
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::string app() const { return (path_ / "app").string(); }

  Outcome run(const std::string& command) const {
    std::string log = (path_ / "log.txt").string();
    int status = std::system((command + " > '" + log + "' 2>&1").c_str());
    std::ifstream stream(log);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, {std::istreambuf_iterator<char>(stream), {}}};
  }

  std::filesystem::path path_;
};

/// Compiles and runs programs/NAME.cu; it checks its own results, and `output` is all that it may print.
inline void runs(const std::string& name, const std::string& output, const std::string& options = "",
                 const std::string& environment = "") {
  Workplace workplace;
  Outcome compiled =
      workplace.compile(std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/programs/" + name + ".cu", options);
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  Outcome ran = workplace.run_app(environment);
  CHECK(ran.text == output);
  CHECK(ran.status == 0);
}

/// The program cannot be compiled, or stops when it comes to the feature; either way it says `message`.
inline void refuses(const std::string& message, const std::string& source) {
  Workplace workplace;
  Outcome outcome = workplace.compile(workplace.write(source));
  if (outcome.status == 0) outcome = workplace.run_app();
  INFO(outcome.text);
  CHECK(outcome.status == 1);
  CHECK(outcome.text.find(message) != std::string::npos);
}

/// The program compiles without a word, ends with code 0 and prints `output`.
inline void prints(const std::string& output, const std::string& source, const std::string& options = "") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(source), options);
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  const Outcome ran = workplace.run_app();
  CHECK(ran.text == output);
  CHECK(ran.status == 0);
}

/// The compilers that are here: what the rewriter writes has to suit both.
inline std::vector<std::string> compilers() {
  std::vector<std::string> found;
  for (const std::string name : {"g++", "clang++"}) {
    if (std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0) found.push_back(name);
  }
  return found;
}
