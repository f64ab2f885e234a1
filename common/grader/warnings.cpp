#include "warnings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "counts.hpp"
#include "pattern.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

/// g++'s and clang++'s names of warnings that mean a mistake. Unused variables and signs mixed in a comparison don't.
bool matters(const std::string& option) {
  static const std::set<std::string> options{"uninitialized",
                                             "sometimes-uninitialized",
                                             "maybe-uninitialized",
                                             "conditional-uninitialized",
                                             "return-type",
                                             "return-local-addr",
                                             "return-stack-address",
                                             "type-limits",
                                             "bool-compare",
                                             "int-in-bool-context",
                                             "shift-count-overflow",
                                             "shift-count-negative",
                                             "shift-overflow",
                                             "array-bounds",
                                             "div-by-zero",
                                             "division-by-zero",
                                             "overflow",
                                             "integer-overflow",
                                             "constant-conversion",
                                             "parentheses",
                                             "logical-not-parentheses",
                                             "logical-op-parentheses",
                                             "dangling-else",
                                             "empty-body",
                                             "unused-value",
                                             "comma-subscript",
                                             "deprecated-comma-subscript",
                                             "format",
                                             "misleading-indentation",
                                             "sequence-point",
                                             "unsequenced",
                                             "infinite-recursion",
                                             "self-assign",
                                             "aggressive-loop-optimizations",
                                             "for-loop-analysis",
                                             "stringop-overflow",
                                             "sizeof-pointer-div",
                                             "sizeof-pointer-memaccess"};
  return options.count(option) > 0 || option.starts_with("tautological-");
}

/// What a learner may not read out of the compiler's words.
std::string in_other_words(const std::string& option) {
  static const std::map<std::string, std::string> words{
      {"empty-body", "the ; is all that depends on the condition"},
      {"parentheses", "= assigns, == compares; && goes before ||"},
      {"return-type", "its caller gets nothing in particular, or the program crashes"},
      {"comma-subscript", "a[i, j] is a[j]: write a[i * columns + j]"},
      {"deprecated-comma-subscript", "a[i, j] is a[j]: write a[i * columns + j]"}};
  const auto found = words.find(option);
  return found == words.end() ? "" : ": " + found->second;
}

/// "[-Wformat=]" at the end of a line as "format", and the line without it.
std::string taken_option(std::string& line) {
  const std::size_t at = line.rfind(" [-W");
  if (at == std::string::npos || line.back() != ']') return "";
  std::string option = line.substr(at + 4, line.size() - at - 5);
  option = option.substr(0, option.find('='));
  line.erase(at);
  return option;
}

/// "the frame size of 400176 bytes is larger", "stack frame size (400168) exceeds limit": the first number.
long first_number(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  return at == std::string_view::npos ? 0 : std::strtol(text.data() + at, nullptr, 10);
}

/// "scale_rows" of "In function 'void scale_rows(const float*, int)':", and of "... in 'scale_rows(const float*, int)'".
std::string function_in(const std::string& text) {
  const std::string signature = text.substr(text.find('\'') + 1);
  const std::string name = signature.substr(0, signature.find('('));
  return name.substr(name.rfind(' ') + 1);
}

}  // namespace

std::vector<std::string> warning_options() {
  return {"-Wall", "-Wtype-limits", "-Wempty-body", "-Wframe-larger-than=65536"};
}

CompilerWarnings warnings_of(const std::string& output, const std::string& file) {
  CompilerWarnings w;
  const std::string name = fs::path(file).filename().string();
  std::string function;
  std::set<std::string> known;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(": In ") != std::string::npos && line.find('\'') != std::string::npos) function = function_in(line);
    if (!line.starts_with(file + ":")) continue;
    const std::string kind = ": warning: ";
    const std::size_t at = line.find(kind);
    if (at == std::string::npos) continue;
    const std::string option = taken_option(line);
    const std::string message = line.substr(at + kind.size());
    const int number = std::atoi(line.c_str() + file.size() + 1);
    if (option == "frame-larger-than") {
      const bool named = message.find('\'') != std::string::npos;
      w.frames[named ? function_in(message) : function] = first_number(message);
      continue;
    }
    if (!matters(option)) continue;
    if (!known.insert(option + " " + std::to_string(number)).second) continue;
    w.all.push_back({option, name + ":" + std::to_string(number) + ": " + message + in_other_words(option),
                     source_line(file, number)});
  }
  return w;
}

bool are_to_be_confirmed(const CompilerWarnings& w) {
  return std::any_of(w.all.begin(), w.all.end(),
                     [](const CompilerWarning& one) { return one.option == "maybe-uninitialized"; });
}

void keep_confirmed(CompilerWarnings& w, const CompilerWarnings& again) {
  std::erase_if(w.all, [&](const CompilerWarning& one) {
    return one.option == "maybe-uninitialized" &&
           std::none_of(again.all.begin(), again.all.end(),
                        [&](const CompilerWarning& other) { return other.text == one.text; });
  });
}

std::string without_machinery(const std::string& said, const std::string& contract) {
  std::string kept, line;
  bool path_of_includes = false;  // "In file included from a,\n   from b:"
  for (std::istringstream lines(said); std::getline(lines, line);) {
    const bool begins = line.starts_with("In file included from ");
    path_of_includes = begins || (path_of_includes && line.find("from ") == line.find_first_not_of(' '));
    if (path_of_includes) continue;
    if (const std::size_t at = line.find(contract); at != std::string::npos)
      line.replace(at, contract.size(), "homework.cuh");
    const std::string headers = installation().headers.string() + "/";
    if (const std::size_t at = line.find(headers); at != std::string::npos) line.erase(at, headers.size());
    kept += line + "\n";
  }
  return kept;
}

namespace {

/// Vectors have a copy constructor on the simulator, which counts one load for it. So a compiler doesn't copy a union with one in
/// it, nor take its bytes for another type's, as nvcc does. Both compilers' words for that.
bool lacks_copies_of_vectors(const std::string& said) {
  static const std::string vector = "(^|[^a-zA-Z0-9_])(u?(char|short|int|long|longlong)|float|double)[24]";
  static const Pattern union_of_one("union member '[^']*' with non-trivial '[^']*" + vector + "[(]"),
      variant("variant field '[^']*' has a non-trivial copy"),
      bytes(vector + "[^a-zA-Z0-9_\n][^\n]*trivially.copyable"),
      bytes_of_one("trivially.copyable[^\n]*" + vector + "($|[^a-zA-Z0-9_])");
  const auto says = [&](const Pattern& p) { return !p.find_in(said).empty(); };
  return says(union_of_one) || says(variant) || says(bytes) || says(bytes_of_one);
}

}  // namespace

std::string calls_of_lacking_functions(const std::string& said) {
  static constexpr std::string_view kLacks = "the Tilewise simulator does not support ";
  const auto place = [](const std::string& line) {
    const std::string path = line.substr(0, line.find(": "));
    return path.substr(path.find_last_of('/') + 1);
  };
  std::istringstream lines(said);
  std::string out, where, function;  // g++ says where first, clang++ which function
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("required from here") || line.ends_with("requested here")) {
      where = place(line);
    } else if (const std::size_t name = line.find(kLacks); name != std::string::npos) {
      const std::size_t begin = name + kLacks.size();
      function = line.substr(begin, line.find_first_of(" \"'", begin) - begin);
    }
    if (where.empty() || function.empty()) continue;
    out += where + ": " + function + "(), which the simulator does not have\n";
    where.clear();
    function.clear();
  }
  return out.empty() ? said : out;
}

std::string unsupported_in(const std::string& said) {
  std::string first;
  const bool copies = lacks_copies_of_vectors(said);
  const std::string kind = ": error: ";
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(kind);
    if (at == std::string::npos) continue;
    std::string what = line.substr(at + kind.size());
    if (copies)
      what =
          "the Tilewise simulator does not copy a union that holds a vector such as float4, nor std::bit_cast one: "
          "copy the "
          "vector itself, const float4 v = p[i]";
    else if (what.find("designated initializers cannot be used with a non-aggregate type") != std::string::npos)
      what =
          "the Tilewise simulator does not take designated initializers, such as {.x = 1}, of vectors and of unions "
          "that "
          "hold one: write make_float4(1, 2, 3, 4), or assign the members";
    else if (what.find("simulator does not") == std::string::npos) {
      if (first.empty() || what.find("<brace-enclosed initializer list>") == std::string::npos) return "";
      continue;  // what follows from it
    }
    if (!first.empty()) continue;
    static const Pattern line_number(":([0-9]+)(:[0-9]+)?$");  // simcc's own errors have no column
    const std::vector<std::string> place = line_number.find_in(line.substr(0, at));
    if (!place.empty()) first = "line " + place[1] + ": " + what;
  }
  if (const std::string calls = calls_of_lacking_functions(said); !first.empty() && calls != said) {
    static const Pattern line_and_name(":([0-9]+)(:[0-9]+)?: ([^\n]*)");  // the error is in a header
    const std::vector<std::string> call = line_and_name.find_in(calls);
    if (!call.empty()) first = "line " + call[1] + ": " + call[3];
  }
  return first;
}

}  // namespace tilewise::grader
