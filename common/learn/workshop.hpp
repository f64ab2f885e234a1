/// @file
/// Compiles a puzzle for the simulator and runs it, in a folder that is removed afterwards.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/sandbox.hpp"
#include "learn/puzzle.hpp"
#include "tilewise/timeline.hpp"

namespace tilewise::learn {

using Json = nlohmann::ordered_json;

/// What the check said, and the whole of what it compared where that was wrong.
struct CheckResult {
  enum class Said { nothing, solved, fail, cuda, wrong } said = Said::nothing;
  std::string text;  ///< the sentence of `fail`, the error of `cuda`, the shape of `wrong`: "n = 1000"

  std::string array, type;  ///< of `wrong`: its name, and float, double or int
  int rows = 0, cols = 0;
  double tolerance = 0;
  std::vector<double> expected, got;
  std::vector<bool> unwritten;

  std::size_t count_from = 0;  ///< limits are about the launches from this one on
  Timeline timeline;           ///< in units of the check's; empty where it asks for none
};

/// A program that ran.
struct Run {
  grader::ChildResult child;
  std::string printed;  ///< by the program itself
  bool out_of_memory = false;
  bool wants_thread = false;  ///< it was ended since the sandbox lets nobody start a thread
  std::string complaint;      ///< of the simulator's, where it ended the program
  CheckResult check;
  Json report;  ///< of all its launches; an array
};

/// Why it does not compile or link: one error.
struct CompileError {
  std::string message;
  int line = 0;  ///< of the learner's file; 0 where none is to blame
};

struct Compiled {
  bool ok = false;
  CompileError error;
  std::string program;
};

/// A folder for one judgement.
class Bench {
 public:
  Bench();
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  /// Removes the folders of all that there are now: the program ends without waiting for them.
  static void remove_all();

 private:
  std::filesystem::path folder_;
};

class Workshop {
 public:
  /// For the repository at `root`: what is kept of its learner, lies in build/learn there.
  explicit Workshop(std::filesystem::path root);

  /// What the compiler knows after the check's header: made where it is missing or older than what it is made of. Takes
  /// seconds; compile() takes several times as long without. "" or why it could not be made.
  std::string make_prelude() const;

  /// Builds what the simulator has of a library that `text` calls, and that no build has made yet. Takes a minute.
  void make_libraries(const std::string& text) const;
  /// "cuBLAS" where the next compilation of `text` begins with that; else "".
  std::string missing_library(const std::string& text) const;

  /// `text` as a file of this name on the bench.
  Compiled compile(const Bench& bench, const std::string& name, const std::string& text) const;
  /// On a machine with so many devices. `token` is what its check's verdict is to say, see with_token().
  Run run(const Bench& bench, const std::string& program, const std::string& token = "", int devices = 1) const;

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path folder() const { return root_ / "build" / "learn"; }
  /// Changes with whatever a verdict depends on, but for the puzzle itself.
  std::string tools_stamp() const;

 private:
  /// simcc with the options that all steps have in common.
  std::vector<std::string> compiler() const;

  std::filesystem::path root_;
  std::string simcc_;
  std::filesystem::path prelude_;
  std::string linker_;  ///< the option that chooses a faster one than usual, where there is one
};

/// The first error among what a compiler and linker said of the file at `path`.
CompileError first_error(const std::string& said, const std::string& path);

/// Which brace of the first `lines` lines has no other one; "" where all have. Not for code with raw strings.
std::string brace_problem(const std::string& text, std::size_t lines);

/// What TILEWISE_PUZZLE's file says, as far as it says it with this token, on a machine with so many devices.
CheckResult parse_check(const std::string& text, const std::string& token = "", int devices = 1);

}  // namespace tilewise::learn
