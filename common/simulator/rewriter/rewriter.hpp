// Turns preprocessed CUDA C++ into plain C++ that calls the simulator.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lexer.hpp"

namespace tilewise::sim {

/// Something in the source that the simulator cannot run.
struct Diagnostic {
  std::string file;
  int line = 0;
  std::string message;  ///< a sentence without "error:"
};

/// A function that device code alone may call, or host code alone, and that says so in its body: marked_function<index>().
struct MarkedFunction {
  std::string file;
  int line = 0;  ///< of its name
  bool device = false;
  bool lambda = false;               ///< of host code
  std::string name, qualified_name;  ///< "f" and "S::f"
  std::map<std::string, int> calls;  ///< the line of the first `name(` or `name<` in its body
};

struct RewriteResult {
  std::string text;                       ///< as many lines as the input has
  std::vector<MarkedFunction> functions;  ///< where they were asked for
  std::vector<Diagnostic> diagnostics;    ///< in source order; empty when the text can be compiled

  bool ok() const { return diagnostics.empty(); }
};

/// How it is found that a kernel comes to a function that has no `__device__`.
enum class HostFunctions {
  unseen,  ///< not at all
  in_call_graph,  ///< marked_function() and marked_lambda(), for calls_of_other_side(); where only a run can tell, host_function()
  at_run_time  ///< by host_function() in each of them
};

/// Rewrites the output of `c++ -E` (line markers present, macros gone) as the table in docs/architecture.md says.
/// Nothing inserted contains a newline, so every line keeps its number; text from system headers (line-marker
/// flag 3) is copied as it is. `file` names the source up to the first line marker.
/// `homework` refuses what submissions may not do though the simulator can: launches and allocations in device code.
RewriteResult rewrite(std::string_view preprocessed_source, std::string_view file = "<input>", bool homework = false,
                      HostFunctions host_functions = HostFunctions::unseen);

/// The body of a function or lambda that device code runs.
struct DeviceBody {
  std::size_t open;  ///< token of the `{`
  bool host;         ///< host code runs it, too
};
std::vector<DeviceBody> device_bodies(const LexedSource& source);

/// Where they stand: `FILE:FIRST:LAST` and a newline for each.
std::string device_lines(std::string_view preprocessed_source, std::string_view file = "<input>");

/// The kernels that `file` itself defines, a line for each, its fields separated by tabs: the line where it begins, `kernel` or
/// `template`, its name with its namespaces, and for each parameter the name (empty where it has none) and the
/// declaration.
std::string kernel_list(std::string_view preprocessed_source, std::string_view file);

}  // namespace tilewise::sim
