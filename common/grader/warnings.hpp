/// @file
/// What the compiler says of a submission, without what is not the student's.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tilewise::grader {

struct CompilerWarning {
  std::string option;  ///< "maybe-uninitialized"
  std::string text;    ///< "homework.cu:12: 'v' may be used uninitialized"
  std::string line;    ///< of the source
};

struct CompilerWarnings {
  std::vector<CompilerWarning> all;    ///< those that mean a mistake, each once
  std::map<std::string, long> frames;  ///< functions with many local variables, and their bytes
};

/// Options for the compiler, beside -Wall, so that it says what is looked for here.
std::vector<std::string> warning_options();

/// Of what the compiler printed. `file`: the submission.
CompilerWarnings warnings_of(const std::string& output, const std::string& file);

/// Warnings of variables that may have no value are kept only where the compiler says the same of the file `again`, compiled with
/// -DTILEWISE_WARNINGS_ONLY: it knows more then of what conditions have in common.
bool are_to_be_confirmed(const CompilerWarnings& w);
void keep_confirmed(CompilerWarnings& w, const CompilerWarnings& again);

/// What the compiler says of an error, in which the contract is called homework.cuh and the grader's own headers are left out.
std::string without_machinery(const std::string& said, const std::string& contract);

/// "line 7: the simulator does not support NAME: ...", when each error in what without_machinery() left is such a one; else "".
std::string unsupported_in(const std::string& said);

/// Where functions are called that the simulator's headers name as lacking, a line each: "FILE:7:3: NAME(), which ...". What was said,
/// unchanged, if there are none.
std::string calls_of_lacking_functions(const std::string& said);

}  // namespace tilewise::grader
