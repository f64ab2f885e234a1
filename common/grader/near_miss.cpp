#include "near_miss.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>

namespace tilewise::grader {

namespace {

std::string name_of_symbol(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return "";  // extern "C": f isn't the type float
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : "";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// "float const*" as "const float*", and names instead of what they stand for.
std::string as_written(std::string type) {
  type.erase(0, type.find_first_not_of(' '));
  replace_all(type, "CUstream_st*", "cudaStream_t");
  replace_all(type, "cublasContext*", "cublasHandle_t");
  replace_all(type, "cusparseContext*", "cusparseHandle_t");
  replace_all(type, "unsigned long", "std::size_t");
  const std::size_t at = type.find(" const*");
  if (at != std::string::npos && type.find('<') == std::string::npos) type = "const " + type.erase(at, 6);
  return type;
}

std::vector<std::string> split_parameters(const std::string& list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : list) {
    depth += c == '<' || c == '(';
    depth -= c == '>' || c == ')';
    if (c == ',' && depth == 0) {
      parts.push_back(as_written(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(as_written(part));
  return parts;
}

/// How many letters must be put in, left out, changed or exchanged with their neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// Its words in the order of the alphabet: "launch scale rows" of scale_rows_launch and of LaunchScaleRows.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '_' || (std::isupper(static_cast<unsigned char>(c)) && !words.back().empty())) words.emplace_back();
    if (c != '_') words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::erase(words, "");
  std::sort(words.begin(), words.end());
  return words;
}

bool is_near(const std::string& name, const std::string& wanted) {
  return distance(name, wanted) <= std::max<std::size_t>(2, wanted.size() / 5) || words_of(name) == words_of(wanted);
}

/// " (line 12)": where the function stands; "" where that isn't found.
std::string place_of(const std::string& name, const std::string& source) {
  int number = 0;
  std::istringstream lines(source);
  const auto is_part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (std::size_t at = 0; (at = line.find(name, at)) != std::string::npos; at += name.size()) {
      const std::size_t after = line.find_first_not_of(" \t", at + name.size());
      if ((at == 0 || !is_part_of_name(line[at - 1])) && after != std::string::npos && line[after] == '(' &&
          line.find("//") > at)
        return fmt::format(" (line {})", number);
    }
  }
  return "";
}

std::string list_of(const std::vector<std::string>& parameters) {
  return fmt::format("({})", fmt::join(parameters, ", "));
}

std::string what_differs(const Signature& own, const Signature& wanted) {
  std::vector<std::string> differences;
  if (own.parameters.size() == wanted.parameters.size()) {
    for (std::size_t i = 0; i < own.parameters.size(); ++i)
      if (own.parameters[i] != wanted.parameters[i])
        differences.push_back(
            fmt::format("parameter {} is {}, the contract has {}", i + 1, own.parameters[i], wanted.parameters[i]));
  }
  if (own.parameters.size() != wanted.parameters.size() || differences.size() > 2)
    return fmt::format("its parameters are {}, the contract has {}", list_of(own.parameters),
                       list_of(wanted.parameters));
  return fmt::format("{}", fmt::join(differences, "; "));
}

}  // namespace

std::vector<Signature> signatures(const std::string& symbols, const std::string& kinds) {
  std::vector<Signature> list;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, symbol, kind;
    while (words >> word) kind = symbol, symbol = word;
    if (kind.size() != 1 || kinds.find(kind) == std::string::npos || !symbol.starts_with("_Z")) continue;
    std::string text = name_of_symbol(symbol);
    replace_all(text, "(anonymous namespace)", "{anonymous}");
    const std::size_t open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || open == 0 || close == std::string::npos || text.find('<') < open) continue;
    Signature s;
    s.name = text.substr(0, open);
    if (const std::size_t colon = s.name.rfind("::"); colon != std::string::npos) {
      s.scope = s.name.substr(0, colon);
      s.name.erase(0, colon + 2);
    }
    s.parameters = split_parameters(text.substr(open + 1, close - open - 1));
    list.push_back(std::move(s));
  }
  return list;
}

std::string near_miss(const std::string& task, const std::string& wanted_symbols, const std::string& own_symbols,
                      const std::string& source) {
  const std::vector<Signature> wanted = signatures(wanted_symbols, "w"), own = signatures(own_symbols, "TtWi");
  const auto is_called = [&](const std::string& name) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const Signature& w) { return w.name == name; });
  };
  const Signature* function = nullptr;
  for (const Signature& w : wanted)
    if (w.scope.empty() && w.name.find(task) != std::string::npos &&
        (function == nullptr || w.name.size() < function->name.size()))
      function = &w;
  if (function == nullptr) return "";
  for (const Signature& o : own)
    if (o.scope.empty() && o.name == function->name)
      return o.name + place_of(o.name, source) + ": " + what_differs(o, *function);
  for (const Signature& o : own)
    if (o.name == function->name)
      return fmt::format("{}{} is in {}: the contract's function is in no namespace", o.name, place_of(o.name, source),
                         o.scope == "{anonymous}" ? "an anonymous namespace" : "the namespace " + o.scope);
  const Signature* nearest = nullptr;
  for (const Signature& o : own)
    if (!is_called(o.name) && is_near(o.name, function->name) &&
        (nearest == nullptr || distance(o.name, function->name) < distance(nearest->name, function->name)))
      nearest = &o;
  if (nearest == nullptr) return fmt::format("the contract wants {}{}", function->name, list_of(function->parameters));
  return fmt::format("you wrote {}{}; the contract wants {}", nearest->name, place_of(nearest->name, source),
                     function->name) +
         (nearest->parameters == function->parameters ? "" : "; and " + what_differs(*nearest, *function));
}

}  // namespace tilewise::grader
