// simcc's command line: nvcc's options, and simcc's own.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::sim {

using Args = std::vector<std::string>;

/// A command line that makes no sense: one line, exit 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What --help prints.
extern const char* const kHelp;

struct Input {
  std::string path;
  bool cuda;
};

struct Options {
  std::vector<Input> inputs;
  Args preprocess;    // -I, -D, ...
  Args compile;       // -f, -m, -W, ...
  Args link;          // -l, -L, ..., in order
  Args dependencies;  // -MD, -MF x, ...
  std::string output;
  std::string standard = "c++20";
  bool before_cxx20 = true;               // as programs are that name no standard, or an older one
  std::string host_optimisation = "-O1";  // for plain C++ inputs
  std::string cxx;
  std::string make_prelude;  // a folder
  std::string prelude;       // a folder
  std::string preprocessed;
  std::string mark;  // of --check-calls
  bool inline_caches = true;
  bool homework = false;
  bool compile_only = false;
  bool preprocess_only = false;
  bool rewrite_only = false;
  bool device_lines_only = false;
  bool kernels_only = false;
  bool keep = false;
  bool verbose = false;
  bool help = false;
  bool lines_only = false;  // of what debuggers could know
  int architecture = 0;     // the highest that -arch and -gencode name: 90 for sm_90
};

/// Reads the words after the program's name. Throws UsageError.
Options parse_command_line(Args words);

bool ends_with(std::string_view text, std::string_view suffix);

/// The parts between separators, without empty ones.
Args split(std::string_view text, char separator);

}  // namespace tilewise::sim
