#include "own_names.hpp"

#include <sstream>

#include "tools.hpp"

namespace tilewise::grader {

std::vector<std::string> plain_variables(const std::string& symbols) {
  std::vector<std::string> names;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, name, kind;
    while (words >> word) kind = name, name = word;
    const bool is_variable = kind.size() == 1 && std::string("DBRGSC").find(kind) != std::string::npos;
    // What simcc has put there is looked for by name.
    if (is_variable && name.rfind("_Z", 0) != 0 && name.rfind("tilewise", 0) != 0) names.push_back(name);
  }
  return names;
}

bool make_private(const std::string& object, const std::vector<std::string>& names) {
  std::vector<std::string> command{"objcopy"};
  for (const std::string& name : names) command.push_back("--localize-symbol=" + name);
  command.push_back(object);
  return run_tool(command).code == 0;
}

}  // namespace tilewise::grader
