// Kernels: which names they have, and what their parameters are.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>

#include "rewriting.hpp"

namespace tilewise::sim {
namespace {

/// Whether a function of the C library, of CUDA or (where the program says `using namespace std`) of C++ has the name, too.
/// A kernel of that name is an overload, which only its arguments tell from the others.
bool is_overload(std::string_view name, bool with_std) {
  static const std::set<std::string_view> of_cuda{"max",   "min",    "norm", "norm3d", "norm4d",  "rnorm", "rcbrt",
                                                  "rsqrt", "rhypot", "umax", "umin",   "normcdf", "exp10"};
  static const std::set<std::string_view> of_std{
      // <algorithm>, <numeric>, <memory>
      "accumulate", "adjacent_difference", "adjacent_find", "advance", "align", "all_of", "any_of", "binary_search",
      "clamp", "construct_at", "copy", "copy_backward", "copy_if", "copy_n", "count", "count_if", "destroy",
      "destroy_at", "destroy_n", "equal", "equal_range", "exclusive_scan", "fill", "fill_n", "find", "find_end",
      "find_first_of", "find_if", "find_if_not", "for_each", "for_each_n", "gcd", "generate", "generate_n", "includes",
      "inclusive_scan", "inner_product", "inplace_merge", "iota", "is_heap", "is_partitioned", "is_permutation",
      "is_sorted", "iter_swap", "lcm", "lower_bound", "make_heap", "max_element", "merge", "midpoint", "min_element",
      "minmax", "minmax_element", "mismatch", "move_backward", "next_permutation", "none_of", "nth_element",
      "partial_sort", "partial_sum", "partition", "partition_copy", "partition_point", "pop_heap", "prev_permutation",
      "push_heap", "reduce", "remove_copy", "remove_if", "replace", "replace_copy", "replace_if", "reverse",
      "reverse_copy", "rotate", "rotate_copy", "sample", "search", "search_n", "set_difference", "set_intersection",
      "set_union", "shift_left", "shift_right", "shuffle", "sort", "sort_heap", "stable_partition", "stable_sort",
      "swap_ranges", "transform", "transform_exclusive_scan", "transform_inclusive_scan", "transform_reduce",
      "uninitialized_copy", "uninitialized_fill", "unique", "unique_copy", "upper_bound",
      // <utility>, <iterator>, <functional>, <tuple>
      "apply", "as_const", "back_inserter", "begin", "bind", "data", "distance", "empty", "end", "exchange", "forward",
      "get", "invoke", "launder", "make_pair", "make_tuple", "move", "next", "prev", "rbegin", "ref", "rend", "size",
      "ssize", "swap", "tie", "visit",
      // <bit>, <cmath>, <complex>, <random>, <string>
      "arg", "beta", "bit_cast", "bit_ceil", "bit_floor", "conj", "countl_zero", "countr_zero", "expint",
      "generate_canonical", "getline", "has_single_bit", "hermite", "imag", "laguerre", "legendre", "lerp", "polar",
      "popcount", "proj", "real", "rotl", "rotr", "stof", "stoi", "to_string"};
  return of_cuda.count(name) != 0 || (with_std && of_std.count(name) != 0) ||
         dlsym(RTLD_DEFAULT, std::string(name).c_str()) != nullptr;
}

/// A declaration and a definition may name parameters otherwise; who only differs by types is another overload.
std::string without_names(const std::string& types) {
  std::string kept;
  for (std::size_t at = 0; at < types.size();) {
    std::size_t comma = std::min(types.find(',', at), types.size());
    std::string one = trim(types.substr(at, comma - at));
    while (!one.empty() && (std::isalnum(static_cast<unsigned char>(one.back())) || one.back() == '_')) one.pop_back();
    kept += one + ",";
    at = comma + 1;
  }
  return kept;
}

}  // namespace

/// Names of all kernels, to know which are overloaded.
void Rewriter::count_kernel_names() {
  std::vector<Declaration> all;
  for (std::size_t i = 0; i + 2 < syntax_.size() && !uses_std_; ++i)
    uses_std_ = syntax_.is(i, "using") && syntax_.is(i + 1, "namespace") && syntax_.is(i + 2, "std");
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (!syntax_.is(i, "__global__")) continue;
    std::size_t enclosing = syntax_.enclosing(i);
    if (enclosing != kNone && !syntax_.is(enclosing, "{")) continue;
    Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
    if (decl.kind != DeclKind::function) continue;
    all.push_back(decl);
    ++kernel_names_[syntax_.text(decl.name)];
    if (decl.is_template) template_kernels_.insert(syntax_.text(decl.name));
    note_parameters(decl);
  }
  for (const Declaration& decl : all) {
    const auto known = kernel_parameters_.find(syntax_.text(decl.name));
    if (known != kernel_parameters_.end() && (decl.is_template || !known->second.known)) tell_parameters(decl);
  }
}

/// After a kernel that is a template or has overloads, a function with its parameters, that says their types: what a launch makes of
/// its arguments has to be known before the threads run. Not where all of them are numbers and pointers.
void Rewriter::tell_parameters(const Declaration& decl) {
  const std::size_t end_of_parameters = syntax_.match(decl.parameters);
  if (decl.name_begin != decl.name || decl.is_explicit_instantiation || end_of_parameters == kNone) return;
  const std::size_t last = decl.body == kNone ? end_of_parameters + 1 : decl.end;
  if (last == kNone || !syntax_.is_any(last, {";", "}"})) return;
  const std::size_t enclosing = syntax_.enclosing(decl.begin);
  if (enclosing != kNone && syntax_.scope_of(decl.begin) != ScopeKind::name_space) return;
  std::string head;
  if (decl.is_template) {
    const std::size_t close = syntax_.match_angle(decl.begin + 1);
    if (!syntax_.is(decl.begin, "template") || close == kNone || close == decl.begin + 2) return;
    if (syntax_.is_any(close + 1, {"requires", "template"}) || !syntax_.join(decl.begin, close + 1, head)) return;
  }
  std::string parameters, types;
  bool needed = false;
  for (const auto& [begin, end] : parts(decl.parameters)) {
    const std::size_t name = parameter_name(begin, end);
    if (name == kNone) return;
    needed = needed || may_be_class(begin, name);
    if (!types.empty()) types += ", ", parameters += ", ";
    for (std::size_t k = begin; k < end; ++k)
      if (!is_marker(k)) parameters += std::string(syntax_.text(k)) + " ";
    types += "decltype(" + std::string(syntax_.text(name)) + ")" + (syntax_.is(name - 1, "...") ? "..." : "");
  }
  if (!needed) return;
  const std::string name = std::string(syntax_.text(decl.name));
  insert_after(last, " " + head + " [[maybe_unused]] auto tw_parameters_" + name + "(" + parameters +
                         ") -> ::tilewise::sim::ParametersOf<" + types + ">;");
  tells_parameters_.insert(syntax_.text(decl.name));
}

/// The token with the name of the parameter [begin, end), kNone where it has none, or is declared in a way that isn't looked through.
std::size_t Rewriter::parameter_name(std::size_t begin, std::size_t end) const {
  std::size_t last = begin;
  while (last < end && !syntax_.is(last, "=")) {
    if (syntax_.is(last, "<") && syntax_.match_angle(last) != kNone) last = syntax_.match_angle(last);
    ++last;
  }
  while (last > begin && syntax_.is(last - 1, "]") && syntax_.match(last - 1) != kNone) last = syntax_.match(last - 1);
  if (last < begin + 2 || !syntax_.is_name(last - 1) || syntax_.is(last - 2, "::")) return kNone;
  for (std::size_t k = begin; k + 1 < last; ++k)
    if (!is_marker(k) && !syntax_.is_any(k, {"const", "volatile", "struct", "class", "enum", "typename"}))
      return last - 1;
  return kNone;
}

/// Whether the parameter may be an object of a class, by its type alone.
bool Rewriter::may_be_class(std::size_t begin, std::size_t name) const {
  for (std::size_t k = begin; k < name; ++k)
    if (syntax_.is_any(k, {"*", "[", "int", "float", "double", "unsigned", "long", "short", "char", "bool", "size_t"}))
      return false;
  return true;
}

/// The functions of tell_parameters() for the kernel that [begin, end) names, as a lambda's text: what types does it give the arguments,
/// and what is its address then? Empty where nothing tells.
std::string Rewriter::resolved(std::size_t begin, std::size_t end, const std::string& parameters,
                               const std::string& passed, const std::string& callee) const {
  std::size_t name = end - 1;
  if (syntax_.is(name, ">")) name = syntax_.match_angle_back(name) - 1;
  if (name >= end || name < begin || tells_parameters_.count(syntax_.text(name)) == 0) return "";
  std::string before, after;
  if (!syntax_.join(begin, name, before) || !syntax_.join(name + 1, end, after)) return "";
  const std::string types = before + "tw_parameters_" + std::string(syntax_.text(name)) + after;
  return "[](" + parameters + ") -> decltype(" + types + "(" + passed +
         ")) { return {}; }, []<class... tw_P>(::tilewise::sim::Parameters<tw_P...>) -> void (*)(tw_P...) { return " +
         callee + "; }, ";
}

void Rewriter::note_parameters(const Declaration& decl) {
  Parameters now;
  const std::size_t close = syntax_.match(decl.parameters);
  if (close == kNone) return;
  now.arguments = parts(decl.parameters).size();
  if (now.arguments == 1 && close == decl.parameters + 2 && syntax_.is(decl.parameters + 1, "void")) now.arguments = 0;
  for (std::size_t k = decl.parameters; k < close; ++k) now.known = now.known && !syntax_.is_any(k, {"auto", "..."});
  now.types = parameter_types(decl.parameters + 1, close);
  const std::size_t angle = decl.begin + 1;
  if (decl.is_template && syntax_.is(decl.begin, "template") && syntax_.match_angle(angle) != kNone) {
    const std::size_t end = syntax_.match_angle(angle);
    now.of_template = end > angle + 1 ? syntax_.top_level_commas(angle + 1, end).size() + 1 : 0;
    for (std::size_t k = angle; k < end; ++k) now.known = now.known && !syntax_.is(k, "...");
    if (now.of_template == 0) now.known = false;  // a specialisation
  }
  const auto [before, is_new] = kernel_parameters_.emplace(syntax_.text(decl.name), now);
  if (is_overload(syntax_.text(decl.name), uses_std_)) before->second.known = false;
  if (!is_new && (before->second.arguments != now.arguments || before->second.of_template != now.of_template ||
                  without_names(before->second.types) != without_names(now.types)))
    before->second.known = false;
}

/// Whether a function of host code has the kernel's name, too.
bool Rewriter::is_name_of_host_function(std::string_view name) const {
  const auto found = functions_.find(name);
  return found != functions_.end() && found->second.host;
}

/// Whether the kernel that the tokens [begin, end) name, launched with these arguments, is one function and no other.
bool Rewriter::is_known_kernel(std::size_t begin, std::size_t end, std::size_t open) const {
  std::size_t name = end - 1, explicit_arguments = 0;
  if (syntax_.is(name, ">")) {
    const std::size_t angle = syntax_.match_angle_back(name);
    if (angle == kNone || angle <= begin) return false;
    if (angle + 1 < name) explicit_arguments = syntax_.top_level_commas(angle + 1, name).size() + 1;
    name = angle - 1;
  }
  const auto found = kernel_parameters_.find(syntax_.text(name));
  if (found == kernel_parameters_.end() || !found->second.known || syntax_.is(begin, "(")) return false;
  if (functions_.count(found->first) == 0) return false;  // the name means something else, too
  if (is_name_of_host_function(found->first)) return false;
  const auto arguments = parts(open);
  for (const auto& [first, last] : arguments) {
    if (syntax_.is(last - 1, "...")) return false;
  }
  return arguments.size() == found->second.arguments && explicit_arguments == found->second.of_template;
}

void Rewriter::register_kernel(const Declaration& decl) {
  std::size_t close = syntax_.match(decl.parameters);
  for (std::size_t k = decl.parameters; k < close; ++k) {
    if (syntax_.is(k, "auto")) return;  // a template in disguise
  }
  std::string name;
  if (!syntax_.join(decl.name_begin, decl.parameters, name)) return;
  std::string kernel = "&" + name;
  if (kernel_names_[syntax_.text(decl.name)] > 1 || is_overload(syntax_.text(decl.name), uses_std_) ||
      is_name_of_host_function(syntax_.text(decl.name))) {
    std::string types = parameter_types(decl.parameters + 1, close);
    kernel = "static_cast<void (*)(" + types + ")>(" + kernel + ")";
  }
  insert_after(decl.end, " [[maybe_unused]] static const bool tw_reg_" + std::to_string(++registrations_) +
                             " = ::tilewise::sim::register_kernel(" + kernel + ");");
}

/// Parameters without default arguments and markers: they may be named in a function pointer's type.
std::string Rewriter::parameter_types(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> ends = syntax_.top_level_commas(begin, end);
  ends.push_back(end);
  std::string result;
  std::size_t from = begin;
  for (std::size_t stop : ends) {
    if (!result.empty()) result += ", ";
    for (std::size_t k = from; k < stop && !syntax_.is(k, "="); ++k) {
      if (is_marker(k)) continue;
      result += syntax_.text(k);
      result += ' ';
    }
    from = stop + 1;
  }
  return result;
}

}  // namespace tilewise::sim
