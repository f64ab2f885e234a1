#include "own_names.hpp"

#include <sstream>

#include "tools.hpp"

namespace tilewise::grader {

namespace {

/// Names of these kinds that C++ hasn't made.
std::vector<std::string> plain_names(const std::string& symbols, const std::string& kinds) {
  std::vector<std::string> names;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, name, kind;
    while (words >> word) kind = name, name = word;
    const bool wanted = kind.size() == 1 && kinds.find(kind) != std::string::npos;
    // What simcc has put there is looked for by name.
    if (wanted && !name.starts_with("_Z") && !name.starts_with("tilewise")) names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> plain_variables(const std::string& symbols) { return plain_names(symbols, "DBRGSC"); }

std::vector<std::string> plain_functions(const std::string& symbols) {
  std::vector<std::string> names = plain_names(symbols, "TW");
  std::erase(names, "__clang_call_terminate");  // the compiler's, in each file that needs it
  return names;
}

bool make_private(const std::string& object, const std::vector<std::string>& names) {
  std::vector<std::string> command{"objcopy"};
  for (const std::string& name : names) command.push_back("--localize-symbol=" + name);
  command.push_back(object);
  return run_tool(command).code == 0;
}

}  // namespace tilewise::grader
