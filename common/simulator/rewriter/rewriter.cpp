#include "rewriter.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "device_only.hpp"
#include "lexer.hpp"
#include "libraries.hpp"
#include "ptx.hpp"
#include "syntax.hpp"

namespace tilewise::sim {
namespace {

/// Which machine runs the code at a token.
enum Side : unsigned char { kHost, kDevice, kBoth };

/// A change of the source. Sorted by position, then by rank: what closes the text before comes first.
struct Edit {
  enum Rank { after, before, replace };

  std::size_t begin;
  std::size_t end;
  Rank rank;
  std::string text;
};

/// A `__shared__` variable: a reference in the rewritten code, so lambdas have to capture it by reference.
struct SharedName {
  std::string_view name;
  std::size_t begin;  // tokens in which the name is visible
  std::size_t end;
};

/// A `__shared__` variable at namespace scope: every function that mentions it gets a reference of its own.
struct NamespaceShared {
  std::size_t declared;  // token index of the name
  std::string text;      // the declaration for the function
};

std::string trim(std::string_view text) {
  std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

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

class Rewriter {
 public:
  explicit Rewriter(const LexedSource& source, bool homework = false,
                    HostFunctions host_functions = HostFunctions::unseen)
      : source_(source),
        syntax_(source),
        side_(source.tokens.size(), kHost),
        homework_(homework),
        host_functions_(host_functions) {}

  std::vector<DeviceBody> bodies() {
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (is_marker(i)) marker(i);
    }
    std::vector<DeviceBody> found;
    for (std::size_t open : bodies_) found.push_back({open, side_[open] == kBoth});
    return found;
  }

  RewriteResult run() {
    drop_unroll_pragmas();
    count_kernel_names();
    find_struct_names();
    find_recursive_functions();
    find_function_sides();
    find_host_variables();
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (is_marker(i)) marker(i);
    }
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (syntax_.is(i, "static") && side_[i] == kDevice) device_static(i);
    }
    share_namespace_variables();
    capture_shared_variables();
    find_shadows();
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (syntax_.is(i, "<")) {
        launch(i);
      } else if (syntax_.is_identifier(i)) {
        word(i);
        template_kernel_pointer(i);
      } else if (syntax_.is(i, "(") && side_[i] != kHost) {
        chosen_array(i);
      } else if (syntax_.is(i, "[") && syntax_.opens_lambda(i)) {
        inlined_lambda(i);
      } else if (syntax_.is(i, "[") && side_[i] == kDevice) {
        constant_bounds(i);
      } else if (syntax_.is(i, "?") && side_[i] != kHost) {
        conditional(i);
      }
    }
    end_loops();
    join_lines();
    RewriteResult result;
    if (host_functions_ != HostFunctions::unseen) mark_functions(result.functions);
    result.text = apply_edits();
    std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [position, diagnostic] : diagnostics_) result.diagnostics.push_back(std::move(diagnostic));
    return result;
  }

 private:
  // -------------------------------------------------------------- edits

  void insert_before(std::size_t i, std::string text) {
    std::size_t position = syntax_.token(i).begin;
    edits_.push_back({position, position, Edit::before, std::move(text)});
  }

  void insert_after(std::size_t i, std::string text) {
    std::size_t position = syntax_.token(i).end();
    edits_.push_back({position, position, Edit::after, std::move(text)});
  }

  /// Replaces tokens [begin, end). Newlines and line markers among them stay, behind `text`.
  void replace(std::size_t begin, std::size_t end, std::string text) {
    std::size_t from = syntax_.token(begin).begin;
    std::size_t to = syntax_.token(end - 1).end();
    auto directive = std::lower_bound(source_.directives.begin(), source_.directives.end(), from,
                                      [](const Directive& d, std::size_t offset) { return d.begin < offset; });
    for (std::size_t at = from; at < to;) {
      if (directive != source_.directives.end() && directive->begin == at) {
        text += source_.text.substr(at, directive->end - at);
        at = directive->end;
        ++directive;
      } else {
        if (source_.text[at] == '\n') text += '\n';
        ++at;
      }
    }
    edits_.push_back({from, to, Edit::replace, std::move(text)});
  }

  /// The preprocessor joins lines once. What it leaves may end in a backslash again, where a line ended in two, or the file in one.
  /// nvcc reads that like a source, and joins the lines; the C++ compiler takes the backslash for a stray character.
  void join_lines() {
    for (const std::size_t at : source_.line_joints) edits_.push_back({at, at + 1, Edit::replace, " "});
  }

  std::string apply_edits() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      if (a.rank != b.rank) return a.rank < b.rank;
      return a.rank == Edit::replace && a.end > b.end;  // the larger replacement covers the smaller
    });
    std::string out;
    out.reserve(source_.text.size() + source_.text.size() / 8);
    std::size_t position = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < position) continue;  // inside text that was replaced as a whole
      out += source_.text.substr(position, edit.begin - position);
      out += edit.text;
      position = edit.end;
    }
    out += source_.text.substr(position);
    return out;
  }

  // -------------------------------------------------------------- errors

  void error(std::size_t i, std::string message) {
    const Token& at = syntax_.token(i);
    if (!reported_.insert(std::to_string(at.file) + ":" + std::to_string(at.line) + ":" + message).second) return;
    std::string file;
    const std::string& spelled = source_.files[at.file];
    for (std::size_t k = 0; k < spelled.size(); ++k) {
      if (spelled[k] == '\\' && k + 1 < spelled.size()) ++k;
      file += spelled[k];
    }
    diagnostics_.emplace_back(i, Diagnostic{file, at.line, std::move(message)});
  }

  void unsupported(std::size_t i, std::string_view feature, std::string_view instead) {
    error(i, "the simulator does not support " + std::string(feature) + ": " + std::string(instead));
  }

  // -------------------------------------------------------------- markers: __global__, __device__, ...

  bool is_marker(std::size_t i) const {
    static const std::unordered_set<std::string_view> kMarkers = {
        "__global__", "__device__", "__host__", "__forceinline__", "__noinline__", "__grid_constant__",
        "__launch_bounds__", "__maxnreg__", "__align__", "__builtin_align__", "__shared__", "__constant__",
        "__managed__", "__inline_hint__", "__nv_pure__", "__cluster_dims__",
        // Its promise lets compilers move loads out of loops, and they would not be counted as written.
        "__restrict__", "__restrict"};
    return syntax_.is_identifier(i) && kMarkers.count(syntax_.text(i)) > 0;
  }

  void marker(std::size_t i) {
    std::string_view word = syntax_.text(i);
    bool has_argument = syntax_.is(i + 1, "(") && syntax_.match(i + 1) != kNone;
    if (word == "__cluster_dims__") {
      unsupported(i, "thread block clusters",
                  "remove __cluster_dims__ and let blocks share data through global memory");
    } else if (word == "__launch_bounds__" || word == "__maxnreg__") {
      replace(i, has_argument ? syntax_.match(i + 1) + 1 : i + 1, " ");
    } else if (word == "__align__" || word == "__builtin_align__") {
      // alignas is refused in several places where __align__ is allowed; the GNU attribute is not.
      if (has_argument) {
        replace(i, i + 1, "__attribute__((aligned");
        insert_after(syntax_.match(i + 1), "))");
      }
    } else if (word == "__noinline__") {
      bool in_attribute = i > 0 && syntax_.is_any(i - 1, {"(", ","}) && syntax_.is_any(i + 1, {")", ","});
      if (!in_attribute) replace(i, i + 1, is_inlined_at(i) ? " " : "__attribute__((noinline))");
    } else if (word == "__forceinline__") {
      forceinline(i);
    } else if (word == "__shared__") {
      shared(i);
    } else if (word == "__global__" || word == "__device__" || word == "__constant__" || word == "__managed__") {
      device_declaration(i);
    } else {
      replace(i, i + 1, " ");  // __host__ and hints
    }
  }

  void forceinline(std::size_t i) {
    std::size_t begin = syntax_.declaration_begin(i);
    bool twice = false;
    for (std::size_t k = begin; k < i + 8 && !syntax_.is_any(k, {"(", ";", "{"}); ++k) {
      twice = twice || syntax_.is_any(k, {"inline", "__inline__", "__inline"}) ||
              (k < i && syntax_.is(k, "__forceinline__"));
    }
    replace(i, i + 1, twice || is_lambda_marker(i) ? " " : "inline");
  }

  /// True for the markers in `[=] __host__ __device__ (int i) {...}`, also behind the parameters.
  bool is_lambda_marker(std::size_t i) const { return lambda_brackets(i) != kNone; }

  /// The `[` of the lambda that the marker belongs to.
  std::size_t lambda_brackets(std::size_t i) const {
    while (i > 0 && (is_marker(i - 1) || syntax_.is_any(i - 1, {"mutable", "constexpr"}))) --i;
    if (i == 0) return kNone;
    std::size_t before = i - 1;
    if (syntax_.is(before, ")")) {
      before = syntax_.match(before);
      if (before == kNone || before == 0) return kNone;
      --before;
    }
    if (syntax_.is(before, ">")) {
      before = syntax_.match_angle_back(before);
      if (before == kNone || before == 0) return kNone;
      --before;
    }
    if (!syntax_.is(before, "]")) return kNone;
    std::size_t open = syntax_.match(before);
    return open != kNone && syntax_.opens_lambda(open) ? open : kNone;
  }

  void mark_side(std::size_t begin, std::size_t end, Side side) {
    std::fill(side_.begin() + begin, side_.begin() + end, side);
  }

  void device_declaration(std::size_t i) {
    if (std::size_t open = lambda_brackets(i); open != kNone) return device_lambda(i);
    bool is_global = syntax_.is(i, "__global__");
    // In parentheses, in a type alias, before a class: a marker without meaning here.
    bool in_parameters = syntax_.enclosing(i) != kNone && !syntax_.is(syntax_.enclosing(i), "{");
    Declaration decl;
    if (!in_parameters) decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
    bool definition = decl.kind == DeclKind::function && decl.body != kNone;
    // Several markers belong to one declaration: it is dealt with at the first one.
    bool first = decl.kind != DeclKind::other && declarations_.insert(decl.begin).second;
    const bool inlined = first && definition && is_inlined(decl);
    replace(i, i + 1, is_global && definition ? "__attribute__((noinline))" : inlined ? inline_attribute(decl) : " ");
    if (!first) return;
    if (decl.kind == DeclKind::function && definition) device_function(decl);
    if (decl.kind == DeclKind::variable) device_variable(i, decl);
  }

  void device_lambda(std::size_t i) {
    replace(i, i + 1, " ");
    bool host = false;
    std::size_t body = i;
    while (body > 0 && is_marker(body - 1)) --body;
    for (; body < syntax_.size(); ++body) {
      if (syntax_.is(body, "__host__")) host = true;
      if (syntax_.is(body, "{")) break;
      if (syntax_.is_any(body, {"(", "["})) {
        body = syntax_.match(body);
        if (body == kNone) return;
      } else if (syntax_.is_any(body, {";", ")", "]", "}"})) {
        return;
      }
    }
    if (body >= syntax_.size() || syntax_.match(body) == kNone) return;
    mark_side(i, syntax_.match(body) + 1, host ? kBoth : kDevice);
    bodies_.push_back(body);
  }

  void device_function(const Declaration& decl) {
    bool global = false;
    bool host = false;
    bool is_friend = false;
    std::string bounds = "0";
    for (std::size_t k = decl.begin; k < decl.body; ++k) {
      if (syntax_.is(k, "__global__")) global = true;
      if (syntax_.is(k, "__host__")) host = true;
      if (syntax_.is(k, "friend")) is_friend = true;
      if (syntax_.is(k, "__launch_bounds__") && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone) {
        std::size_t close = syntax_.match(k + 1);
        std::vector<std::size_t> commas = syntax_.top_level_commas(k + 2, close);
        std::size_t end = commas.empty() ? close : commas[0];
        if (end > k + 2 && !syntax_.join(k + 2, end, bounds)) bounds = "0";
      }
    }
    mark_side(decl.parameters, decl.end + 1, host ? kBoth : kDevice);
    bodies_.push_back(decl.body);
    if (!global) return;
    std::string entry = " ::tilewise::sim::enter_kernel(" + bounds + ");";
    for (std::size_t k = decl.parameters; k < syntax_.match(decl.parameters); ++k) {
      if (syntax_.is_any(k, {"__restrict__", "__restrict"}) && syntax_.is_any(k + 2, {",", ")", "="}))
        entry += " ::tilewise::sim::restricted(" + std::string(syntax_.text(k + 1)) + ");";
    }
    insert_after(decl.body, entry);
    if (!decl.is_template && !is_friend && syntax_.scope_of(decl.name) == ScopeKind::name_space) register_kernel(decl);
  }

  // -------------------------------------------------------------- structs by value
  // What a function that is called moves between memory and its struct parameters or its struct result, the compilers'
  // instrumentation does not show: not `out[i] = f(x)` where the result has no register, nor `f(in[i])`. Such functions become part of
  // their callers, as nvcc makes them, and every access is a load or a store.

  /// Whether the function's result or one of its parameters may be a struct, by value.
  bool moves_structs(const Declaration& decl) const {
    if (by_value(decl.begin, decl.name_begin)) return true;
    const std::vector<std::pair<std::size_t, std::size_t>> parameters = parts(decl.parameters);
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const auto& one) { return by_value(one.first, one.second); });
  }

  /// What stands between the commas of a parenthesis.
  std::vector<std::pair<std::size_t, std::size_t>> parts(std::size_t open) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    const std::size_t close = syntax_.match(open);
    if (close == kNone || close == open + 1) return found;
    std::size_t begin = open + 1;
    for (std::size_t comma : syntax_.top_level_commas(begin, close)) {
      found.emplace_back(begin, comma);
      begin = comma + 1;
    }
    found.emplace_back(begin, close);
    return found;
  }

  /// Whether [begin, end) names a type that may be a struct, and no pointer to one or reference.
  bool by_value(std::size_t begin, std::size_t end) const {
    bool found = false;
    for (std::size_t k = begin; k < end; ++k) {
      if (syntax_.is(k, "template") && syntax_.is(k + 1, "<") && syntax_.match_angle(k + 1) != kNone) {
        k = syntax_.match_angle(k + 1);
      } else if (syntax_.is(k, "=")) {
        break;
      } else if (syntax_.is_any(k, {"*", "&", "&&", "["}) ||
                 (is_builtin_type(syntax_.text(k)) && !syntax_.is(k, "auto"))) {
        return false;
      } else if (syntax_.is(k, "<") && syntax_.match_angle(k) != kNone) {
        k = syntax_.match_angle(k);
      } else if (takes_parenthesis(syntax_.text(k)) && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone) {
        k = syntax_.match(k + 1);
      } else {
        found = found || syntax_.is(k, "auto") || struct_names_.count(syntax_.text(k)) > 0 ||
                is_struct_of_cuda(syntax_.text(k));
      }
    }
    return found;
  }

  /// `float3`, `__half2`, `cuComplex`, ...
  static bool is_struct_of_cuda(std::string_view name) {
    for (std::string_view prefix :
         {"__half", "half", "__nv_bfloat16", "nv_bfloat16", "cuComplex", "cuFloatComplex", "cuDoubleComplex", "dim3"}) {
      if (name.starts_with(prefix) && name.size() <= prefix.size() + 1) return true;
    }
    if (name.size() < 4 || name.back() < '1' || name.back() > '4') return false;
    name.remove_suffix(1);
    static const std::unordered_set<std::string_view> kElements = {
        "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"};
    return kElements.count(name) > 0;
  }

  /// Types that the program declares, parameters of templates among them. Not those that stand for `float` and the like.
  void find_struct_names() {
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (syntax_.is_any(i, {"struct", "class", "union", "typename"})) {
        std::size_t name = syntax_.is(i + 1, "...") ? i + 2 : syntax_.skip_attributes(i + 1);
        while (takes_parenthesis(syntax_.text(name)) && syntax_.is(name + 1, "(") && syntax_.match(name + 1) != kNone)
          name = syntax_.match(name + 1) + 1;
        if (syntax_.is_name(name)) struct_names_.insert(syntax_.text(name));
      } else if (syntax_.is(i, "using") && syntax_.is(i + 2, "=")) {
        if (!is_builtin_type(syntax_.text(i + 3))) struct_names_.insert(syntax_.text(i + 1));
      } else if (syntax_.is(i, "typedef") && !is_builtin_type(syntax_.text(i + 1))) {
        std::size_t end = i;
        while (end < syntax_.size() && !syntax_.is(end, ";")) {
          if (syntax_.is(end, "{") && syntax_.match(end) != kNone) end = syntax_.match(end);
          ++end;
        }
        if (syntax_.is_name(end - 1)) struct_names_.insert(syntax_.text(end - 1));
      }
    }
  }

  /// Device functions that move structs and may, by their names, come to themselves again: they can't become part of their callers.
  void find_recursive_functions() {
    std::map<Called, std::set<Called>> calls;
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (!syntax_.is(i, "__device__")) continue;
      const std::size_t enclosing = syntax_.enclosing(i);
      if ((enclosing != kNone && !syntax_.is(enclosing, "{")) || is_lambda_marker(i)) continue;
      const Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
      if (decl.kind != DeclKind::function) continue;
      declared_[name_of(decl)].push_back(decl);
      if (decl.body == kNone || !moves_structs(decl)) continue;
      std::set<Called>& called = calls[name_of(decl)];
      for (std::size_t k = decl.body; k < decl.end; ++k) {
        if (!syntax_.is_name(k) || !syntax_.is_any(k + 1, {"(", "<"})) continue;
        called.insert({syntax_.text(k), true});
        if (!is_called_of_object(k)) called.insert({syntax_.text(k), false});
      }
    }
    for (const auto& [name, called] : calls) {
      std::vector<Called> open{name};
      std::set<Called> reached;
      while (!open.empty()) {
        const auto found = calls.find(open.back());
        open.pop_back();
        if (found == calls.end()) continue;
        for (const Called& next : found->second) {
          if (reached.insert(next).second) open.push_back(next);
        }
      }
      if (reached.count(name)) recursive_.insert(name);
    }
  }

  bool is_inlined(const Declaration& decl) const {
    if (decl.kind != DeclKind::function || decl.body == kNone || !moves_structs(decl)) return false;
    for (std::size_t k = decl.begin; k < decl.parameters; ++k) {
      if (syntax_.is_any(k, {"__global__", "consteval"})) return false;
    }
    for (std::size_t k = decl.parameters; k < syntax_.match(decl.parameters); ++k) {
      if (syntax_.is(k, "...") && !syntax_.is_identifier(k - 1) && !syntax_.is(k - 1, "&&")) return false;  // of C
    }
    return recursive_.count(name_of(decl)) == 0;
  }

  bool is_inlined_at(std::size_t i) const {
    const std::size_t enclosing = syntax_.enclosing(i);
    if (enclosing != kNone && !syntax_.is(enclosing, "{")) return false;
    const std::size_t begin = syntax_.declaration_begin(i);
    const Declaration decl = syntax_.parse_declaration(begin);
    if (!is_inlined(decl)) return false;
    for (std::size_t k = begin; k < decl.body; ++k) {
      if (syntax_.is(k, "__device__")) return true;
    }
    return false;
  }

  /// What makes a function part of its callers. Another file may call it all the same.
  std::string inline_attribute(const Declaration& decl) {
    bool is_inline = false;
    bool is_static = decl.is_template;
    for (std::size_t k = decl.begin; k < decl.body; ++k) {
      is_inline = is_inline || syntax_.is_any(k, {"inline", "__inline__", "__inline", "__forceinline__"});
      is_static = is_static || syntax_.is_any(k, {"static", "friend"});
      if (syntax_.is_any(k, {"noinline", "__noinline__"}) && syntax_.is_any(k - 1, {"(", ","}))
        replace(k, k + 1, "always_inline");
    }
    const bool is_local = is_inline || is_static || syntax_.scope_of(decl.begin) == ScopeKind::class_scope;
    return std::string(is_inline ? "" : "inline ") + "__attribute__((always_inline" + (is_local ? "" : ", used") + "))";
  }

  /// The `{` of the lambda that begins at `i`; kNone for names that a declaration takes apart: `auto& [a, b] = `.
  std::size_t lambda_body(std::size_t i) const {
    std::size_t before = i;
    while (before > 0 && syntax_.is_any(before - 1, {"&", "&&"})) --before;
    if (before > 0 && syntax_.is(before - 1, "auto")) return kNone;
    std::size_t k = syntax_.match(i) + 1;
    if (syntax_.is(k, "<") && syntax_.match_angle(k) != kNone) k = syntax_.match_angle(k) + 1;
    for (; k < syntax_.size() && !syntax_.is_any(k, {"{", "}", ")", "]", ";", ":", ",", "="}); ++k)
      if (syntax_.is_any(k, {"(", "["}) && syntax_.match(k) != kNone) k = syntax_.match(k);
    return syntax_.is(k, "{") && syntax_.match(k) != kNone ? k : kNone;
  }

  /// A lambda of device code that may move structs: the same.
  void inlined_lambda(std::size_t i) {
    std::size_t open = syntax_.match(i) + 1;
    if (syntax_.is(open, "<") && syntax_.match_angle(open) != kNone) open = syntax_.match_angle(open) + 1;
    while (is_marker(open)) ++open;
    const bool has_parameters = syntax_.is(open, "(") && syntax_.match(open) != kNone;
    if (!has_parameters && !(syntax_.is(open, "{") && open == syntax_.match(i) + 1)) return;
    std::size_t behind = has_parameters ? syntax_.match(open) + 1 : open;
    while (is_marker(behind)) ++behind;
    // Compilers differ in where an attribute stands beside `mutable` or `noexcept`.
    if (!syntax_.is_any(behind, {"{", "->"})) return;
    std::size_t body = behind;
    while (body < syntax_.size() && !syntax_.is_any(body, {"{", ";", ")", "}"})) {
      if (syntax_.is(body, "(") && syntax_.match(body) != kNone) body = syntax_.match(body);
      ++body;
    }
    if (!syntax_.is(body, "{") || syntax_.match(body) == kNone || side_[body] == kHost) return;
    constexpr std::size_t kShort = 40;  // tokens; the compilers inline such lambdas themselves
    if (syntax_.match(body) - body < kShort) return;
    bool structs = by_value(behind, body);
    bool arrow = false;
    for (std::size_t k = behind; k < body; ++k) {
      arrow = arrow || syntax_.is(k, "->");
      if (syntax_.is_any(k, {"__attribute__", "consteval"})) return;
    }
    for (std::size_t k = body; k < syntax_.match(body) && !arrow; ++k)
      structs = structs || (syntax_.is(k, "return") && !syntax_.is(k + 1, ";"));
    if (has_parameters) {
      for (const auto& [begin, end] : parts(open)) structs = structs || by_value(begin, end);
    }
    if (!structs) return;
    if (has_parameters)
      insert_after(behind - 1, " __attribute__((always_inline))");
    else
      insert_before(body, "() __attribute__((always_inline)) ");
  }

  using Called = std::pair<std::string_view, bool>;  // a name, and whether it is a member's

  /// `object.f(` and `pointer->f(`.
  bool is_called_of_object(std::size_t i) const { return i > 0 && syntax_.is_any(i - 1, {".", "->"}); }

  /// Whether token i is in the body of a member function, where members are called by their names alone.
  bool is_in_member(std::size_t i) const {
    const std::size_t body = function_body_of(i);
    return std::any_of(declared_.begin(), declared_.end(), [&](const auto& named) {
      return named.first.second && std::any_of(named.second.begin(), named.second.end(),
                                               [&](const Declaration& decl) { return decl.body == body; });
    });
  }

  Called name_of(const Declaration& decl) const {
    const bool member = decl.name_begin != decl.name || syntax_.scope_of(decl.name) == ScopeKind::class_scope;
    return {syntax_.text(decl.name), member};
  }

  /// A call of a recursive function: its result and its arguments go through variables.
  void recursive_call(std::size_t i) {
    const Called member{syntax_.text(i), true}, free{syntax_.text(i), false};
    const bool of_object = is_called_of_object(i);
    if ((recursive_.count(member) == 0 && (of_object || recursive_.count(free) == 0)) || function_body_of(i) == kNone)
      return;
    for (std::size_t k = function_body_of(i); k < i; ++k)  // a lambda of that name
      if (syntax_.text(k) == syntax_.text(i) && syntax_.is(k + 1, "=") && syntax_.is(k + 2, "[")) return;
    std::size_t open = i + 1;
    if (syntax_.is(open, "<") && syntax_.match_angle(open) != kNone) open = syntax_.match_angle(open) + 1;
    if (!syntax_.is(open, "(") || syntax_.match(open) == kNone) return;
    const std::vector<std::pair<std::size_t, std::size_t>> arguments = parts(open);
    bool result = true;
    std::vector<bool> copied(arguments.size(), true);
    std::vector<Declaration> meant;
    if (of_object || is_in_member(i)) meant = declared_[member];
    if (!of_object) meant.insert(meant.end(), declared_[free].begin(), declared_[free].end());
    for (const Declaration& decl : meant) {
      if (i == decl.name) return;
      result = result && by_value(decl.begin, decl.name_begin);
      const auto parameters = parts(decl.parameters);
      for (std::size_t n = 0; n < copied.size(); ++n)
        copied[n] = copied[n] && (n >= parameters.size() || by_value(parameters[n].first, parameters[n].second));
    }
    for (std::size_t n = 0; n < copied.size(); ++n) {
      if (!copied[n] || syntax_.is(arguments[n].first, "{") || syntax_.is(arguments[n].second - 1, "...")) continue;
      insert_before(arguments[n].first, "::tilewise::sim::value(");
      insert_after(arguments[n].second - 1, ")");
    }
    bool simple = true;
    const std::size_t begin = callee_begin(open, simple);
    if (!result || begin == kNone) return;
    insert_before(begin, "::tilewise::sim::value(");
    insert_after(syntax_.match(open), ")");
  }

  /// Names of all kernels, to know which are overloaded.
  void count_kernel_names() {
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

  // -------------------------------------------------------------- parameters that only a call tells

  /// Behind a kernel that is a template or has overloads, a function with its parameters, that says their types: what a launch makes of
  /// its arguments has to be known before the threads run. Not where all of them are numbers and pointers.
  void tell_parameters(const Declaration& decl) {
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
  std::size_t parameter_name(std::size_t begin, std::size_t end) const {
    std::size_t last = begin;
    while (last < end && !syntax_.is(last, "=")) {
      if (syntax_.is(last, "<") && syntax_.match_angle(last) != kNone) last = syntax_.match_angle(last);
      ++last;
    }
    while (last > begin && syntax_.is(last - 1, "]") && syntax_.match(last - 1) != kNone)
      last = syntax_.match(last - 1);
    if (last < begin + 2 || !syntax_.is_name(last - 1) || syntax_.is(last - 2, "::")) return kNone;
    for (std::size_t k = begin; k + 1 < last; ++k)
      if (!is_marker(k) && !syntax_.is_any(k, {"const", "volatile", "struct", "class", "enum", "typename"}))
        return last - 1;
    return kNone;
  }

  /// Whether the parameter may be an object of a class, by its type alone.
  bool may_be_class(std::size_t begin, std::size_t name) const {
    for (std::size_t k = begin; k < name; ++k)
      if (syntax_.is_any(k,
                         {"*", "[", "int", "float", "double", "unsigned", "long", "short", "char", "bool", "size_t"}))
        return false;
    return true;
  }

  /// The functions of tell_parameters() for the kernel that [begin, end) names, as a lambda's text: what types does it give the arguments,
  /// and what is its address then? Empty where nothing tells.
  std::string resolved(std::size_t begin, std::size_t end, const std::string& parameters, const std::string& passed,
                       const std::string& callee) const {
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

  /// What a launch has to give for a kernel to be known by its name alone: the numbers of its parameters.
  struct Parameters {
    std::size_t arguments = 0;
    std::size_t of_template = 0;
    std::string types;
    bool known = true;  // no pack, no overload, no parameter whose type only a call tells
  };

  void note_parameters(const Declaration& decl) {
    Parameters now;
    const std::size_t close = syntax_.match(decl.parameters);
    if (close == kNone) return;
    now.arguments = parts(decl.parameters).size();
    if (now.arguments == 1 && close == decl.parameters + 2 && syntax_.is(decl.parameters + 1, "void"))
      now.arguments = 0;
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

  /// A declaration and a definition may name parameters otherwise; who only differs by types is another overload.
  static std::string without_names(const std::string& types) {
    std::string kept;
    for (std::size_t at = 0; at < types.size();) {
      std::size_t comma = std::min(types.find(',', at), types.size());
      std::string one = trim(types.substr(at, comma - at));
      while (!one.empty() && (std::isalnum(static_cast<unsigned char>(one.back())) || one.back() == '_'))
        one.pop_back();
      kept += one + ",";
      at = comma + 1;
    }
    return kept;
  }

  /// Whether a function of host code has the kernel's name, too.
  bool is_name_of_host_function(std::string_view name) const {
    const auto found = functions_.find(name);
    return found != functions_.end() && found->second.host;
  }

  /// Whether the kernel that the tokens [begin, end) name, launched with these arguments, is one function and no other.
  bool is_known_kernel(std::size_t begin, std::size_t end, std::size_t open) const {
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

  void register_kernel(const Declaration& decl) {
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
  std::string parameter_types(std::size_t begin, std::size_t end) {
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

  // -------------------------------------------------------------- variables in device memory

  void device_variable(std::size_t i, const Declaration& decl) {
    bool is_extern = false;
    bool is_constant = false;
    bool is_managed = false;
    bool is_shared = false;
    std::size_t head_end = decl.declarators.front().name;
    for (std::size_t k = decl.begin; k < head_end; ++k) {
      is_extern = is_extern || syntax_.is(k, "extern");
      is_constant = is_constant || syntax_.is(k, "__constant__");
      is_managed = is_managed || syntax_.is(k, "__managed__");
      is_shared = is_shared || syntax_.is(k, "__shared__");
    }
    ScopeKind scope = syntax_.scope_of(i);
    if (is_shared || decl.is_template || decl.is_explicit_instantiation || scope == ScopeKind::class_scope) return;
    const char* space = is_managed ? "managed" : is_constant ? "constant" : "global";
    if (scope == ScopeKind::name_space && !is_managed) {
      for (const Declarator& declarator : decl.declarators) {
        std::string_view name = syntax_.text(declarator.name);
        device_variables_.insert(name);
        if (syntax_.is(declarator.name + 1, "[")) device_arrays_.insert(name);
      }
    }
    register_variables(decl, is_extern, scope == ScopeKind::function, space);
  }

  void register_variables(const Declaration& decl, bool is_extern, bool local, const std::string& space) {
    std::string text;
    for (const Declarator& declarator : decl.declarators) {
      if (is_extern && !declarator.initialised) continue;  // defined elsewhere
      std::string name;
      if (!syntax_.join(declarator.name_begin, declarator.name + 1, name)) continue;
      std::string arguments = "(const void*)&" + name + ", sizeof(" + name + "), \"" + name + "\"";
      if (local) {
        std::string known = "tw_known_" + name;
        text += " static bool " + known + "; ::tilewise::sim::register_static(" + known + ", " + arguments + ");";
      } else {
        text += " [[maybe_unused]] static const bool tw_reg_" + std::to_string(++registrations_) +
                " = ::tilewise::sim::register_variable(" + arguments + ", ::tilewise::sim::Space::" + space + ");";
      }
    }
    insert_after(decl.end, text);
  }

  /// `static` in a device function: a variable in device memory, with or without a marker.
  void device_static(std::size_t i) {
    std::size_t brace = syntax_.enclosing(i);
    std::size_t begin = syntax_.declaration_begin(i);
    if (brace == kNone || !syntax_.is(brace, "{") || !syntax_.starts_statement(begin) || in_local_class(brace)) return;
    if (syntax_.scope_of(i) != ScopeKind::function || declarations_.count(begin)) return;
    Declaration decl = syntax_.parse_declaration(begin);
    if (decl.kind != DeclKind::variable) return;
    for (std::size_t k = begin; k < decl.declarators.front().name; ++k) {
      if (syntax_.is_any(k, {"__shared__", "constexpr", "thread_local"})) return;
    }
    declarations_.insert(begin);
    register_variables(decl, false, true, "global");
  }

  /// True when the brace is that of a class inside a function.
  bool in_local_class(std::size_t brace) const {
    for (std::size_t k = brace; k-- > 0;) {
      if (syntax_.is_any(k, {"struct", "class", "union"})) return true;
      if (!syntax_.is_identifier(k) && !syntax_.is_any(k, {"::", ":", "<", ">", ","})) return false;
    }
    return false;
  }

  // -------------------------------------------------------------- __shared__

  /// A `__shared__` declaration on its way to references.
  struct Shared {
    std::size_t begin, first, end;  // of the declaration; of its first declarator; its `;`
    std::vector<Declarator> declarators;
    bool is_extern = false;
    bool has_class = false;  // it defines the class that it declares variables of
    std::string type;        // with its qualifiers, without what the reference must not repeat
    std::string structs;     // storage types
    std::string members;     // of the one storage type, where it has a class
    std::string shared_struct() const { return "tw_shared_" + first_name; }
    std::string first_name;
  };

  void shared(std::size_t i) {
    const std::size_t enclosing = syntax_.enclosing(i);
    Shared d;
    d.begin = syntax_.declaration_begin(i);
    const bool in_parameters = enclosing != kNone && !syntax_.is(enclosing, "{");
    if (in_parameters || syntax_.is_any(d.begin, {"using", "typedef"})) return replace(i, i + 1, " ");
    if (!declarations_.insert(d.begin).second) return;  // a second __shared__: replaced with the declaration
    d.first = syntax_.skip_type(d.begin);
    d.end = d.first == kNone ? kNone : syntax_.parse_declarators(d.first, d.declarators);
    if (d.end == kNone || syntax_.scope_of(i) == ScopeKind::class_scope) {
      return unsupported(i, "this __shared__ declaration", "declare one plain variable or array in a function");
    }
    d.first_name = syntax_.text(d.declarators.front().name);
    if (!read_shared_type(d)) return;
    if (d.has_class && d.is_extern) {
      return unsupported(i, "a class defined in an extern __shared__ declaration", "define the class before it");
    }
    const bool at_namespace = syntax_.scope_of(i) == ScopeKind::name_space;
    std::string references;
    std::size_t from = d.first;
    for (const Declarator& declarator : d.declarators) {
      if (declarator.initialised) {
        return unsupported(declarator.name, "an initial value for a __shared__ variable (CUDA does not either)",
                           "assign it in one thread and call __syncthreads()");
      }
      const std::size_t stop = end_of_declarator(declarator.name);
      std::string text;
      if (!(d.is_extern ? refer_to_dynamic(d, from, declarator.name, stop, text)
                        : refer_to_static(d, from, declarator.name, stop, text)))
        return;
      if (at_namespace) {
        namespace_shared_[syntax_.text(declarator.name)].push_back({declarator.name, text});
      } else {
        references += " " + text;
        const std::size_t close = enclosing == kNone ? kNone : syntax_.match(enclosing);
        shared_names_.push_back({syntax_.text(declarator.name), d.end, close == kNone ? syntax_.size() : close});
      }
      from = stop + 1;
    }
    if (d.has_class) d.structs = "struct " + d.shared_struct() + " { " + d.members + "; }; ";
    replace(d.begin, d.end + 1, trim(trim(d.structs) + references));
  }

  /// False where that is spread over lines that it must not be.
  bool read_shared_type(Shared& d) {
    for (std::size_t k = d.begin; k < d.first; ++k) {
      if (syntax_.token(k).text.find('\n') != std::string_view::npos) return false;
      d.is_extern = d.is_extern || syntax_.is(k, "extern");
      d.has_class = d.has_class || syntax_.is(k, "{");
      if (syntax_.is_any(k, {"extern", "static", "__shared__", "__device__", "inline"})) continue;
      if (syntax_.token(k).kind == TokenKind::string && k > d.begin && syntax_.is(k - 1, "extern")) continue;
      const bool has_argument = syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone;
      if (d.is_extern && has_argument &&
          syntax_.is_any(k, {"__align__", "__builtin_align__", "alignas", "__attribute__"})) {
        k = syntax_.match(k + 1);  // the dynamic array is aligned enough, and a cast cannot carry it
        continue;
      }
      if (has_argument && syntax_.is_any(k, {"__align__", "__builtin_align__"})) {
        std::string argument;
        syntax_.join(k + 1, syntax_.match(k + 1) + 1, argument);
        d.type += "__attribute__((aligned" + argument + ")) ";
        k = syntax_.match(k + 1);
        continue;
      }
      d.type += syntax_.text(k);
      d.type += ' ';
    }
    return true;
  }

  /// Its `,` or `;`.
  std::size_t end_of_declarator(std::size_t at) const {
    while (!syntax_.is_any(at, {",", ";"})) {
      if (syntax_.is_any(at, {"(", "[", "{"})) at = syntax_.match(at);
      ++at;
    }
    return at;
  }

  /// `extern __shared__ float s[];`: what the launch asks for.
  bool refer_to_dynamic(const Shared& d, std::size_t from, std::size_t name, std::size_t stop, std::string& text) {
    std::string before;
    std::string after;
    if (!join_without_markers(from, name, before) || !join_without_markers(name + 1, stop, after)) return false;
    text = "auto& " + std::string(syntax_.text(name)) + " = *static_cast<" + d.type + before + "(*)" + after +
           ">(::tilewise::sim::dynamic_shared());";
    return true;
  }

  /// Any other, which gets a storage type that the block has one of.
  bool refer_to_static(Shared& d, std::size_t from, std::size_t name_at, std::size_t stop, std::string& text) {
    const std::string name(syntax_.text(name_at));
    std::string whole;
    if (!join_without_markers(from, stop, whole)) return false;
    const std::string storage = d.has_class ? d.shared_struct() : "tw_shared_" + name;
    if (d.has_class) {
      d.members += (d.members.empty() ? d.type : ", ") + whole;
    } else {
      d.structs += "struct " + storage + " { " + d.type + whole + "; }; ";
    }
    const Token& at = syntax_.token(name_at);
    // In a template `auto&` would have a type that depends on it, and strip.at<3>() would need `template`.
    const bool of_struct = struct_names_.count(trim(d.type)) != 0 && from == name_at && !d.has_class;
    std::string reference = "auto& " + name;
    if (of_struct) {
      std::string after;
      if (!join_without_markers(name_at + 1, stop, after)) return false;
      reference = after.empty() ? d.type + "&" + name : d.type + "(&" + name + ")" + after;
    }
    text = reference + " = ::tilewise::sim::shared_variable<" + storage + ", decltype(" + storage + "::" + name +
           ")>(\"" + name + "\", \"" + source_.files[at.file] + "\", " + std::to_string(at.line) + ")." + name + ";";
    return true;
  }

  bool join_without_markers(std::size_t begin, std::size_t end, std::string& out) {
    out.clear();
    for (std::size_t k = begin; k < end; ++k) {
      if (syntax_.token(k).text.find('\n') != std::string_view::npos) return false;
      if (is_marker(k)) continue;
      if (!out.empty() && !syntax_.touches(k - 1, k)) out += ' ';
      out += syntax_.text(k);
    }
    return true;
  }

  /// Functions that mention a `__shared__` variable of namespace scope get a reference to it.
  void share_namespace_variables() {
    if (namespace_shared_.empty()) return;
    for (std::size_t body : bodies_) {
      std::size_t close = syntax_.match(body);
      std::map<std::string_view, std::string> wanted;
      for (std::size_t k = body + 1; k < close; ++k) {
        auto found = syntax_.is_identifier(k) ? namespace_shared_.find(syntax_.text(k)) : namespace_shared_.end();
        if (found == namespace_shared_.end() || syntax_.is_any(k - 1, {".", "->", "::"})) continue;
        for (const NamespaceShared& variable : found->second) {
          if (variable.declared < body) wanted[found->first] = variable.text;
        }
      }
      for (const auto& [name, text] : wanted) {
        if (declared_in_head(body, name) || is_shared_in(body, name)) continue;
        insert_after(body, " " + text);
        shared_names_.push_back({name, body, close});
      }
    }
  }

  /// True when the parameter list before the body declares the name.
  bool declared_in_head(std::size_t body, std::string_view name) const {
    for (std::size_t k = body; k-- > 0 && !syntax_.is_any(k, {";", "}", "{"});) {
      if (syntax_.is(k, name) && syntax_.is_any(k + 1, {",", ")", "=", "["})) return true;
    }
    return false;
  }

  bool is_shared_in(std::size_t body, std::string_view name) const {
    return std::any_of(shared_names_.begin(), shared_names_.end(), [&](const SharedName& shared) {
      return shared.name == name && shared.begin >= body && shared.begin <= syntax_.match(body);
    });
  }

  /// A `__shared__` variable has static storage: a lambda uses it without capturing it, and `[=]` must not copy it.
  void capture_shared_variables() {
    if (shared_names_.empty()) return;
    std::map<std::size_t, std::vector<std::string_view>> captures;  // by the `[` of the lambda
    for (const SharedName& shared : shared_names_) {
      for (std::size_t k = shared.begin; k < shared.end && k < syntax_.size(); ++k) {
        if (!syntax_.opens_lambda(k)) continue;
        std::size_t close = syntax_.match(k);
        std::size_t body = close + 1;
        bool parameter = false;
        while (body < syntax_.size() && !syntax_.is_any(body, {"{", ";", "}"})) {
          if (syntax_.is(body, "(") && syntax_.match(body) != kNone) {
            for (std::size_t p = body; p < syntax_.match(body); ++p)
              parameter = parameter || syntax_.is(p, shared.name);
            body = syntax_.match(body);
          }
          ++body;
        }
        if (parameter || !syntax_.is(body, "{") || syntax_.match(body) == kNone) continue;
        bool captured = syntax_.is(k + 1, "&") && syntax_.is_any(k + 2, {"]", ","});  // [&] takes it along
        for (std::size_t c = k + 1; c < close; ++c) captured = captured || syntax_.is(c, shared.name);
        bool used = false;
        for (std::size_t u = body; u < syntax_.match(body) && !used; ++u) {
          used = syntax_.is(u, shared.name) && !syntax_.is_any(u - 1, {".", "->", "::"});
        }
        if (used && !captured) captures[k].push_back(shared.name);
      }
    }
    for (auto& [open, names] : captures) {
      std::string text;
      std::set<std::string_view> seen;
      for (std::string_view name : names) {
        if (!seen.insert(name).second) continue;
        if (!text.empty() || syntax_.match(open) > open + 1) text += ", ";
        text += "&" + std::string(name);
      }
      insert_before(syntax_.match(open), text);
    }
  }

  // -------------------------------------------------------------- launches

  bool is_triple(std::size_t i, std::string_view angle) const {
    return syntax_.is(i, angle) && syntax_.is(i + 1, angle) && syntax_.is(i + 2, angle);
  }

  /// The first `>` of the `>>>` that closes the launch configuration opened by the `<<<` at i.
  std::size_t configuration_end(std::size_t i) const {
    std::size_t fallback = kNone;
    int open_templates = 0;
    for (std::size_t k = i + 3; k < syntax_.size(); ++k) {
      if (syntax_.is_any(k, {"(", "[", "{"})) {
        k = syntax_.match(k);
        if (k == kNone) return fallback;
      } else if (syntax_.is_any(k, {")", "]", "}", ";"})) {
        return fallback;
      } else if (is_triple(k, "<")) {
        return fallback;
      } else if (syntax_.is(k, "<") && syntax_.is_identifier(k - 1)) {
        ++open_templates;
      } else if (syntax_.is(k, ">")) {
        std::size_t run = k;
        while (syntax_.is(run, ">")) ++run;
        int length = static_cast<int>(run - k);
        if (length >= 3 && syntax_.is(run, "(")) {
          if (length - 3 >= open_templates) return run - 3;
          if (fallback == kNone) fallback = run - 3;
        }
        open_templates = std::max(0, open_templates - length);
        k = run - 1;
      }
    }
    return fallback;
  }

  /// True for `k`, `::ns::k<int, (a > b)>`.
  bool is_plain_name(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      if (syntax_.is(k, "<") && k > begin) {
        k = syntax_.match_angle(k);
        if (k == kNone || k >= end) return false;
      } else if (!syntax_.is_identifier(k) && !syntax_.is(k, "::")) {
        return false;
      }
    }
    return begin < end;
  }

  /// First token of the expression that names the kernel and ends before the `<<<` at i. kNone when there is none.
  /// `simple` tells whether it is a name, to be called as it is, or an expression, to be evaluated once.
  std::size_t callee_begin(std::size_t i, bool& simple) const {
    simple = true;
    std::size_t begin = i;
    for (;;) {
      if (begin == 0) return kNone;
      std::size_t last = begin - 1;
      if (syntax_.is(last, ">")) {
        last = syntax_.match_angle_back(last);
        if (last == kNone || last == 0 || !syntax_.is_identifier(last - 1)) return kNone;
        begin = last - 1;
      } else if (syntax_.is_any(last, {")", "]"})) {
        simple = false;
        std::size_t open = syntax_.match(last);
        if (open == kNone) return kNone;
        begin = open;
        if (open == 0) return begin;
        // A call or a subscript has its object before it; `(*pointer)` after `if (..)` has not.
        std::size_t before = open - 1;
        bool object = (syntax_.is_identifier(before) && !is_statement_keyword(syntax_.text(before))) ||
                      syntax_.is(before, "]") || (syntax_.is(before, ">") && syntax_.match_angle_back(before) != kNone);
        if (syntax_.is(before, ")")) {
          std::size_t head = syntax_.match(before);
          object =
              head != kNone && head > 0 && !syntax_.is_any(head - 1, {"if", "for", "while", "switch", "constexpr"});
        }
        if (object) continue;
        // `(k<1, 2>)`, as macros need it, is a name all the same.
        if (last + 1 == i && syntax_.is(last, ")")) simple = is_plain_name(open + 1, last);
        return begin;
      } else if (syntax_.is_identifier(last) &&
                 (!is_statement_keyword(syntax_.text(last)) || syntax_.is(last, "template"))) {
        begin = last;
      } else {
        return kNone;
      }
      // What qualifies the name: `ns::`, `object.`, `pointer->`, with `template` in between.
      if (begin > 0 && syntax_.is(begin - 1, "template")) --begin;
      if (begin > 0 && syntax_.is(begin - 1, "::")) {
        --begin;
        bool scope =
            begin > 0 && ((syntax_.is_identifier(begin - 1) && !is_statement_keyword(syntax_.text(begin - 1))) ||
                          (syntax_.is(begin - 1, ">") && syntax_.match_angle_back(begin - 1) != kNone));
        if (!scope) return begin;
      } else if (begin > 0 && syntax_.is_any(begin - 1, {".", "->"})) {
        --begin;
        simple = false;
      } else {
        return begin;
      }
    }
  }

  /// A bare `0` may be a null pointer: as a literal it converts, as a variable it would not.
  void pass_zeros(std::size_t open, std::size_t close, std::string& parameters, std::string& passed) const {
    std::vector<std::size_t> ends = syntax_.top_level_commas(open + 1, close);
    ends.push_back(close);
    bool any = false;
    std::string all_parameters;
    std::string all_passed;
    std::size_t begin = open + 1;
    for (std::size_t n = 0; n < ends.size(); ++n) {
      if (syntax_.is(ends[n] - 1, "...")) return;  // a pack has no number of arguments that we know
      bool zero = ends[n] == begin + 1 && syntax_.is(begin, "0");
      any = any || zero;
      std::string name = "tw_a" + std::to_string(n);
      all_parameters += std::string(n == 0 ? "auto" : ", auto") + (zero ? "" : " " + name);
      all_passed += std::string(n == 0 ? "" : ", ") + (zero ? "0" : name);
      begin = ends[n] + 1;
    }
    if (!any) return;
    parameters = all_parameters;
    passed = all_passed;
  }

  /// True for `(const void*)` and kin, whose `)` is at `close`.
  bool casts_to_void_pointer(std::size_t close) const {
    std::size_t open = syntax_.match(close);
    if (open == kNone || open + 2 >= close) return false;
    for (std::size_t k = open + 1; k < close; ++k) {
      if (!syntax_.is_any(k, {"const", "void", "*"})) return false;
    }
    return true;
  }

  /// `(void*)k<float>` loses the types of the parameters, which cudaLaunchKernel has to know: note them before.
  void template_kernel_pointer(std::size_t i) {
    if (template_kernels_.count(syntax_.text(i)) == 0 || !syntax_.is(i + 1, "<")) return;
    std::size_t close = syntax_.match_angle(i + 1);
    bool simple = true;
    if (close == kNone || !syntax_.is_any(close + 1, {")", ",", ";"})) return;
    std::size_t begin = callee_begin(close + 1, simple);
    if (begin == kNone || begin < 2 || !simple) return;
    if (syntax_.is(begin - 1, "&")) --begin;
    bool c_cast = syntax_.is(begin - 1, ")") && casts_to_void_pointer(begin - 1);
    bool cpp_cast = begin > 4 && syntax_.is(begin - 1, "(") && syntax_.is(begin - 2, ">") &&
                    syntax_.is(begin - 3, "*") && syntax_.is_any(begin - 4, {"void", "const"});
    if (!c_cast && !cpp_cast) return;
    insert_before(begin, "::tilewise::sim::known_kernel(");
    insert_after(close, ")");
  }

  /// Outside functions and classes: in the initialiser of a variable at namespace scope.
  bool at_namespace_scope(std::size_t i) const {
    while (syntax_.enclosing(i) != kNone && syntax_.is_any(syntax_.enclosing(i), {"(", "["})) i = syntax_.enclosing(i);
    return syntax_.enclosing(i) == kNone || syntax_.scope_of(i) == ScopeKind::name_space;
  }

  /// Somewhere is `void (*name)(...)`: where the name is a kernel's, it is that of a pointer to one.
  bool is_declared_as_pointer(std::string_view name) const {
    for (std::size_t k = 2; k + 1 < syntax_.size(); ++k)
      if (syntax_.text(k) == name && syntax_.is(k - 1, "*") && syntax_.is(k - 2, "(") && syntax_.is(k + 1, ")"))
        return true;
    return false;
  }

  void launch(std::size_t i) {
    if (!is_triple(i, "<") || !syntax_.touches(i, i + 1)) return;
    if (i > 0 && syntax_.is_any(i - 1, {"operator", "<"})) return;
    bool simple = true;
    std::size_t begin = callee_begin(i, simple);
    std::size_t close = configuration_end(i);
    if (begin == kNone) return error(i, "no kernel before <<<");
    if (close == kNone) return error(i, "this <<< has no matching >>>(");
    std::size_t open = close + 3;
    std::size_t last = syntax_.match(open);
    if (last == kNone) return error(i, "the kernel's arguments have no closing parenthesis");
    if (side_[i] == kDevice && homework_) {
      return error(
          i,
          "a launch in device code (dynamic parallelism) is not part of the homework: launch the kernel from the host");
    }
    std::string callee;
    if (!syntax_.join(begin, i, callee)) return unsupported(i, "a kernel name that spans lines", "name it on one line");
    const bool is_pointer = !simple || (begin + 1 == i && is_declared_as_pointer(callee));
    const std::string capture = at_namespace_scope(i) ? "" : "&";  // nothing to capture there, and C++ forbids to ask
    bool has_arguments = last > open + 1;
    if (simple && is_known_kernel(begin, i, open)) {
      if (side_[i] == kHost) host_addresses(open);
      replace(begin, i + 3, " ::tilewise::sim::Kernel<&" + callee + ">::launch(::tilewise::sim::LaunchConfig(");
      replace(close, open + 1, has_arguments ? "), " : ")");
      return;
    }
    if (side_[i] == kHost) host_addresses(open);
    if (is_pointer) {
      replace(begin, i + 3, " ::tilewise::sim::launch_pointer(::tilewise::sim::LaunchConfig(");
      replace(close, open + 1, "), " + callee + (has_arguments ? ", " : ""));
    } else {
      std::string parameters = "auto... tw_a";
      std::string passed = "tw_a...";
      pass_zeros(open, last, parameters, passed);
      const std::string resolved_first = resolved(begin, i, parameters, passed, callee);
      replace(begin, i + 3,
              std::string(" ::tilewise::sim::") + (resolved_first.empty() ? "launch" : "launch_resolved") +
                  "(::tilewise::sim::LaunchConfig(");
      replace(close, open + 1,
              "), " + resolved_first + "[" + capture + "](" + parameters + ") { " + callee + "(" + passed + "); }" +
                  (has_arguments ? ", " : ""));
    }
    for (std::size_t k = open + 1; k < last; ++k) {
      bool starts = syntax_.is_any(k - 1, {",", "("});
      if (starts && syntax_.is(k, "{")) {
        unsupported(k, "a kernel argument in bare braces", "name its type, as in Params{1, 2}");
      }
      if (starts && syntax_.is_any(k, {"__null", "NULL"}) && syntax_.is_any(k + 1, {",", ")"})) {
        replace(k, k + 1, "::tilewise::sim::null_argument");
      }
      if (syntax_.is_any(k, {"(", "[", "{"})) k = syntax_.match(k) == kNone ? last : syntax_.match(k);
    }
  }

  // -------------------------------------------------------------- words of device code

  /// `if (c) __syncthreads(); else __syncthreads();`: lines of source can't tell these apart at run time, so they get
  /// numbers. `i` is one of them.
  void number_barrier(std::size_t i) {
    const auto is_call = [&](std::size_t k) {
      return syntax_.text(k).starts_with("__syncthreads") && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone;
    };
    const auto same_line = [&](std::size_t k) {
      return k < syntax_.size() && syntax_.token(k).line == syntax_.token(i).line &&
             syntax_.token(k).file == syntax_.token(i).file;
    };
    if (!is_call(i)) return;
    unsigned number = 1, all = 1;
    for (std::size_t k = i; k > 0 && same_line(k - 1); --k) number += is_call(k - 1), all += is_call(k - 1);
    for (std::size_t k = i + 1; same_line(k); ++k) all += is_call(k);
    if (all == 1) return;
    const std::size_t begin = i > 0 && syntax_.is(i - 1, "::") ? i - 1 : i;
    insert_before(begin, " (::tilewise::sim::number_barrier(" + std::to_string(number) + "), ");
    insert_after(syntax_.match(i + 1), ")");
  }

  /// f of `Rows<T>::f<4>(x)`, in a function: nvcc takes it without the word `template`, g++ does not where T is a parameter.
  bool is_template_of_class(std::size_t i) const {
    if (i < 2 || !syntax_.is(i - 1, "::") || !syntax_.is(i - 2, ">") || !syntax_.is(i + 1, "<")) return false;
    const std::size_t end = syntax_.match_angle(i + 1);
    return end != kNone && syntax_.is(end + 1, "(") && syntax_.scope_of(i) == ScopeKind::function;
  }

  void word(std::size_t i) {
    refuse_unsupported(i);
    std::string_view text = syntax_.text(i);
    if (side_[i] == kHost && syntax_.is(i + 1, "(") && is_memory_call(text)) host_addresses(i + 1);
    forbidden_call(i);
    forbidden_intrinsic(i);
    forbidden_variable(i);
    if (text == "throw" || text == "try") exceptions(i);
    if (is_template_of_class(i)) insert_before(i, "template ");
    if (text == "union") union_of_vectors(i);
    if (text == "bit_cast" && i > 1 && syntax_.is(i - 1, "::") && syntax_.is(i - 2, "std") && !syntax_.is(i - 3, "::"))
      replace(i - 2, i + 1, "::tilewise::sim::bit_cast");
    if (side_[i] == kHost && is_in_default_of_member(i)) return builtin(i);
    if (text == "__on_device__")  // join_sides() writes it
      return replace(i, i + 1, "!__builtin_is_constant_evaluated() && ::tilewise::sim::on_device()");
    if (text.starts_with("__builtin_assume") || text == "__builtin_unreachable") promise(i);
    if (side_[i] == kHost) return;
    if (!recursive_.empty()) recursive_call(i);
    if (text.starts_with("__syncthreads")) number_barrier(i);
    if (text == "for" || text == "while" || text == "do") {
      loop(i);
    } else if (text == "if") {
      short_branch(i);
    } else if (const std::size_t pointer = pointer_of_member_access(i); pointer != kNone) {
      insert_before(i, "::tilewise::sim::aligned(");
      insert_after(pointer, ")");
    } else if (is_member_access_by_reference(i)) {
      insert_before(i, "::tilewise::sim::aligned_object(");
      insert_after(i, ")");
    } else if (std::size_t last = pointer_of_reference(i); last != kNone || (last = pointer_of_value(i)) != kNone) {
      insert_before(i, "::tilewise::sim::aligned(");
      insert_after(last, ")");
    } else if (const std::size_t end = operand_of_cast(i); end != kNone) {
      insert_before(i - 1, "::tilewise::sim::aligned(");
      insert_after(end, ")");
    } else if (text.starts_with("atomic")) {
      reduction(i);
    } else if (text.starts_with("mem") || text.starts_with("__builtin_mem")) {
      bytewise(i);
    } else if (text == "malloc" || text == "free") {
      heap_call(i);
    } else if (text == "printf" || text == "vprintf") {
      print_call(i);
    } else if (text == "new") {
      if (allocates(i)) insert_after(i, " (::tilewise::sim::on_heap)");
    } else if (text == "delete") {
      heap_delete(i);
    } else if (text == "clock") {
      clock(i);
    } else {
      builtin(i);
    }
  }

  /// `threadIdx.x` in `struct Place { int column = threadIdx.x; };`: code of the constructor, which is device code.
  bool is_in_default_of_member(std::size_t i) const {
    if (!syntax_.is_any(i, {"threadIdx", "blockIdx", "blockDim", "gridDim"}) || !syntax_.is(i + 1, ".")) return false;
    std::size_t k = i;
    while (k > 0 && !syntax_.is_any(k - 1, {";", "}", "="})) {
      if (syntax_.is(k - 1, "{") && syntax_.scope_of(k - 1) == ScopeKind::class_scope) break;
      --k;
    }
    return k > 0 && syntax_.is_any(k - 1, {"=", "{"}) && syntax_.scope_of(k - 1) == ScopeKind::class_scope;
  }

  /// Calls whose pointers are device pointers.
  static bool is_memory_call(std::string_view name) {
    return (name.starts_with("cudaMemcpy") || name.starts_with("cudaMemset") || name == "cudaFree") &&
           name.find("Symbol") == std::string_view::npos;
  }

  /// The names of device variables among the arguments, `table` and `&counter`: there they are host addresses.
  void host_addresses(std::size_t open) {
    if (device_variables_.empty()) return;
    for (const auto& [begin, end] : parts(open)) {
      const bool address = syntax_.is(begin, "&") && end == begin + 2;
      if (!address && end != begin + 1) continue;
      const std::string_view name = syntax_.text(end - 1);
      if ((address ? device_variables_ : device_arrays_).count(name) == 0) continue;
      insert_before(begin, "::tilewise::sim::host_address(");
      insert_after(end - 1, ")");
    }
  }

  struct FunctionSides {
    bool host = false, device = false, kernel = false;
    std::size_t declared = kNone;  // token of the first declaration's name
  };

  // -------------------------------------------------------------- functions that say for whom they are

  /// All functions of the program with a body, those of classes, too, but for what both sides may call; and the host's lambdas.
  void mark_functions(std::vector<MarkedFunction>& marked) {
    if (bodies_.empty()) return;
    std::vector<Declaration> definitions;
    std::unordered_set<std::string_view> declared_for_device;  // a body elsewhere need not say it again
    for (std::size_t i = 0; i + 1 < syntax_.size(); ++i) {
      if (!syntax_.is(i, "(") || syntax_.scope_of(i) == ScopeKind::function) continue;
      const Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
      if (decl.kind != DeclKind::function || decl.parameters != i) continue;
      if (decl.body != kNone)
        definitions.push_back(decl);
      else if (sides_of(decl).device)
        declared_for_device.insert(syntax_.text(decl.name));
    }
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (!syntax_.opens_lambda(i)) continue;
      const bool for_device = std::any_of(definitions.begin(), definitions.end(), [&](const Declaration& decl) {
        return decl.body < i && i < decl.end &&
               (sides_of(decl).device || declared_for_device.count(syntax_.text(decl.name)) > 0);
      });
      if (!for_device) mark_lambda(i, marked);
    }
    const auto called_by_both = calls_of_both_sides(definitions);
    for (const Declaration& decl : definitions) {
      const FunctionSides sides = sides_of(decl);
      if (sides.host == sides.device) continue;
      const std::string_view name = syntax_.text(decl.name);
      if (sides.host && (declared_for_device.count(name) > 0 || side_[decl.body] != kHost)) continue;
      const bool by_run = host_functions_ == HostFunctions::at_run_time;
      std::string text = by_run ? "" : " ::tilewise::sim::marked_function<" + std::to_string(marked.size()) + ">();";
      const bool comes_by_both = called_by_both.count(is_operator(decl) ? "operator" : name) > 0;
      if (sides.host && name != "main" && !homework_ && (by_run || comes_by_both))
        text += " ::tilewise::sim::host_function();";
      if (!text.empty()) insert_after(decl.body, text);
      if (!by_run) marked.push_back(marked_function(decl, sides.device));
    }
  }

  /// A lambda without `__device__` in host code. One that is consteval stays as it is.
  void mark_lambda(std::size_t i, std::vector<MarkedFunction>& marked) {
    const std::size_t body = lambda_body(i);
    if (body == kNone || side_[body] != kHost || syntax_.scope_of(i) != ScopeKind::function) return;
    for (std::size_t k = i; k < body; ++k)
      if (syntax_.is_any(k, {"consteval", "__host__", "__device__"})) return;
    if (host_functions_ == HostFunctions::at_run_time) {
      if (!homework_) insert_after(body, " if (!__builtin_is_constant_evaluated()) ::tilewise::sim::host_function();");
      return;
    }
    insert_after(body, " ::tilewise::sim::marked_lambda<" + std::to_string(marked.size()) + ">();");
    MarkedFunction lambda;
    const Token& bracket = syntax_.token(i);
    lambda.file = source_.files[static_cast<std::size_t>(bracket.file)];
    lambda.line = bracket.line;
    lambda.lambda = true;
    lambda.name = lambda.qualified_name = "a lambda";
    lambda.calls = calls_between(body, syntax_.match(body));
    marked.push_back(std::move(lambda));
  }

  bool is_operator(const Declaration& decl) const {
    for (std::size_t k = decl.name_begin; k < decl.parameters; ++k)
      if (syntax_.is(k, "operator")) return true;
    return false;
  }

  /// The names in functions for both sides, where nvcc only warns of a function of host code. An operator has none.
  std::unordered_set<std::string_view> calls_of_both_sides(const std::vector<Declaration>& definitions) const {
    std::unordered_set<std::string_view> names;
    for (const Declaration& decl : definitions) {
      const FunctionSides sides = sides_of(decl);
      if (!sides.host || !sides.device) continue;
      names.insert("operator");
      for (std::size_t k = decl.body; k < decl.end; ++k)
        if (syntax_.is_identifier(k)) names.insert(syntax_.text(k));
    }
    return names;
  }

  /// What its markers say. Without one it is the host's, but for a constexpr function, which is for both.
  FunctionSides sides_of(const Declaration& decl) const {
    FunctionSides sides;
    for (std::size_t k = decl.begin; k < decl.parameters; ++k) {
      sides.device = sides.device || syntax_.is_any(k, {"__device__", "__global__", "constexpr", "consteval"});
      sides.host = sides.host || syntax_.is_any(k, {"__host__", "constexpr", "consteval"});
    }
    sides.host = sides.host || !sides.device;
    return sides;
  }

  MarkedFunction marked_function(const Declaration& decl, bool device) const {
    MarkedFunction function;
    const Token& name = syntax_.token(decl.name);
    function.file = source_.files[static_cast<std::size_t>(name.file)];
    function.line = name.line;
    function.device = device;
    function.name = syntax_.text(decl.name);
    syntax_.join(decl.name_begin, decl.name + 1, function.qualified_name);
    function.qualified_name.insert(0, class_prefix(decl.begin));
    function.calls = calls_between(decl.body, decl.end);
    return function;
  }

  /// The first line of each name that something is called, made or pointed to by.
  std::map<std::string, int> calls_between(std::size_t begin, std::size_t end) const {
    std::map<std::string, int> calls;
    for (std::size_t k = begin; k < end; ++k)
      if (syntax_.is_identifier(k)) calls.emplace(syntax_.text(k), syntax_.token(k).line);
    return calls;
  }

  /// "S::" inside of struct S.
  std::string class_prefix(std::size_t i) const {
    const std::size_t brace = syntax_.enclosing(i);
    if (brace == kNone || syntax_.scope_of(i) != ScopeKind::class_scope) return "";
    for (std::size_t k = syntax_.declaration_begin(brace); k + 1 < brace; ++k)
      if (syntax_.is_any(k, {"struct", "class"}) && syntax_.is_identifier(k + 1) && !syntax_.is_any(k - 1, {"<", ","}))
        return std::string(syntax_.text(k + 1)) + "::";
    return "";
  }

  // -------------------------------------------------------------- calls that nvcc refuses
  // By name alone: a name that is also a variable's, a member's or a system header's says nothing, and is left alone.

  void forbidden_intrinsic(std::size_t i) {
    if (side_[i] != kHost || !syntax_.is(i + 1, "(") || !is_for_device_only(syntax_.text(i))) return;
    if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return;
    if (syntax_.scope_of(i) != ScopeKind::function || in_unevaluated(i) || functions_.count(syntax_.text(i)) > 0)
      return;
    if (i > 0 && syntax_.is_identifier(i - 1) && !is_statement_keyword(syntax_.text(i - 1))) return;  // declares it
    const std::string name(syntax_.text(i));
    error(i, "host code calls " + name + "(), which CUDA has for device code only");
  }

  /// Which sides the program's free functions are for, whose names mean nothing else in it.
  void find_function_sides() {
    for (std::size_t i = 0; i + 1 < syntax_.size(); ++i) {
      if (!syntax_.is(i, "(") || syntax_.scope_of(i) != ScopeKind::name_space) continue;
      const Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
      if (decl.kind != DeclKind::function || decl.parameters != i || decl.is_explicit_instantiation) continue;
      FunctionSides& sides = functions_[syntax_.text(decl.name)];
      if (sides.declared == kNone) sides.declared = decl.name;
      bool kernel = false, device = false, host = false;
      for (std::size_t k = decl.begin; k < i; ++k) {
        kernel = kernel || syntax_.is(k, "__global__");
        device = device || syntax_.is_any(k, {"__device__", "constexpr", "consteval"});
        host = host || syntax_.is_any(k, {"__host__", "constexpr", "consteval", "friend"});
      }
      const bool member = decl.name_begin != decl.name || syntax_.is(decl.name, "operator");
      sides.device = sides.device || device || member;
      sides.host = sides.host || host || (!device && !kernel) || member;
      sides.kernel = sides.kernel || kernel;
    }
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      const auto found = functions_.find(syntax_.text(i));
      if (found == functions_.end()) continue;
      if (found->second.kernel && i > 0 && syntax_.is(i - 1, "::") && is_launched(i)) continue;  // no class has kernels
      const bool other = (!syntax_.is_any(i + 1, {"(", "<"}) && !is_used_as_value(i)) ||
                         (i > 0 && syntax_.is_any(i - 1, {".", "->", "::", "#", "using", "friend"})) ||
                         (syntax_.scope_of(i) == ScopeKind::class_scope && syntax_.is(i + 1, "("));
      if (other) functions_.erase(found);
    }
  }

  /// `k<<<` or `k<128><<<`.
  bool is_launched(std::size_t i) const {
    std::size_t after = i + 1;
    if (syntax_.is(after, "<") && !is_triple(after, "<") && syntax_.match_angle(after) != kNone)
      after = syntax_.match_angle(after) + 1;
    return is_triple(after, "<");
  }

  /// `f` as an argument, and not as a name that is declared.
  bool is_used_as_value(std::size_t i) const {
    return i > 0 && syntax_.is_any(i - 1, {"(", ",", "&", "="}) && syntax_.is_any(i + 1, {")", ",", ";"});
  }

  /// Whether a system header declares or calls a function of that name.
  bool system_declares(std::string_view name) const {
    for (std::size_t at = source_.text.find(name); at != std::string_view::npos; at = source_.text.find(name, at + 1)) {
      const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      const std::size_t end = at + name.size();
      if ((at > 0 && is_word(source_.text[at - 1])) || (end < source_.text.size() && is_word(source_.text[end])))
        continue;
      if (source_.text.substr(std::min(source_.text.find_first_not_of(' ', end), source_.text.size()), 1) != "(")
        continue;
      const std::size_t token = first_token_after(at);
      if (token >= syntax_.size() || syntax_.token(token).begin != at) {
        const bool in_string = token > 0 && syntax_.token(token - 1).end() > at;
        if (!in_string) return true;
      }
    }
    return false;
  }

  void forbidden_call(std::size_t i) {
    const auto found = functions_.find(syntax_.text(i));
    if (found == functions_.end() || syntax_.scope_of(i) != ScopeKind::function || in_unevaluated(i)) return;
    std::size_t open = i + 1;
    if (syntax_.is(open, "<") && !is_triple(open, "<")) {
      if (syntax_.match_angle(open) == kNone) return;
      open = syntax_.match_angle(open) + 1;
    }
    if (!syntax_.is(open, "(")) return;
    if (i > 0 && syntax_.is_identifier(i - 1) && !is_statement_keyword(syntax_.text(i - 1))) return;  // declares it
    const FunctionSides& sides = found->second;
    const std::string name(found->first);
    const std::string quoted = name + "()";
    std::string message;
    if (sides.kernel && !sides.device && !sides.host && side_[i] == kHost)
      message = "a kernel is launched, not called: " + name + "<<<grid, block>>>(...)";
    else if (side_[i] == kDevice && !sides.device && !sides.kernel)
      message = "device code calls " + quoted + ", which is a function of host code: mark it __device__";
    else if (side_[i] == kHost && sides.device && !sides.host && !sides.kernel)
      message = "host code calls " + quoted +
                ", which is a __device__ function: call it in a kernel, or mark it __host__, too";
    if (!message.empty() && !system_declares(name)) error(i, message);
  }

  /// What the C library has, and device code hasn't.
  static bool is_host_call(std::string_view name) {
    static const std::unordered_set<std::string_view> names{
        "rand",  "srand",   "random",  "drand48",  "exit",   "abort",  "quick_exit", "atexit", "puts",   "putchar",
        "fputs", "fprintf", "sprintf", "snprintf", "scanf",  "fopen",  "fwrite",     "fflush", "getenv", "system",
        "time",  "qsort",   "bsearch", "realloc",  "calloc", "strtol", "strtod",     "atoi",   "atof"};
    return names.count(name) > 0;
  }

  /// Variables of host code, outside of functions, whose names mean nothing else in the program.
  void find_host_variables() {
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (syntax_.scope_of(i) != ScopeKind::name_space || syntax_.declaration_begin(i) != i) continue;
      const Declaration decl = syntax_.parse_declaration(i);
      if (decl.kind != DeclKind::variable) continue;
      bool constant = false, other = false;
      for (std::size_t k = i; k < decl.declarators.front().name; ++k) {
        constant = constant || syntax_.is_any(k, {"const", "constexpr"});
        other = other || syntax_.is_any(k, {"__device__", "__constant__", "__managed__", "__shared__", "template", "*",
                                            "&", "(", "using", "typedef", "extern", "friend", "enum", "class"});
      }
      for (const Declarator& d : decl.declarators) {
        const bool type = syntax_.is_any(d.name - 1, {"struct", "union", "namespace"});
        if (!other && !type) host_variables_[syntax_.text(d.name)] = {d.name, syntax_.is(d.name + 1, "["), constant};
      }
    }
    if (host_variables_.empty()) return;
    for (std::size_t i = 1; i < syntax_.size(); ++i) {
      const auto found = host_variables_.find(syntax_.text(i));
      if (found == host_variables_.end() || found->second.declared == i) continue;
      const bool after_type = (syntax_.is_identifier(i - 1) && !is_statement_keyword(syntax_.text(i - 1))) ||
                              syntax_.is_any(i - 1, {">", "auto", "::", ".", "->", "#"});
      const bool after_pointer =
          i > 2 && syntax_.is_any(i - 1, {"*", "&", "&&"}) &&
          (is_builtin_type(syntax_.text(i - 2)) || syntax_.is_any(i - 3, {"(", ",", ";", "{", "}"}));
      const bool names_type = syntax_.is_identifier(i + 1) || syntax_.is(i + 1, "::");
      if (after_type || after_pointer || names_type) host_variables_.erase(found);
    }
  }

  /// A constant is a number, until somebody wants to know where it lies.
  bool is_taken_by_reference(std::size_t i) const {
    const std::size_t open = syntax_.enclosing(i);
    return open != kNone && open > 2 && syntax_.is(open, "(") && syntax_.is_any(i - 1, {"(", ","}) &&
           syntax_.is_any(i + 1, {",", ")"}) && syntax_.is_any(open - 1, {"max", "min", "clamp"}) &&
           syntax_.is(open - 2, "::") && syntax_.is(open - 3, "std");
  }

  /// Whether the compiler needs the value, and device code does not.
  bool in_constant_expression(std::size_t i) const {
    for (std::size_t k = i; k-- > 0 && !syntax_.is_any(k, {";", "{", "}"});) {
      if (syntax_.is_any(k, {"constexpr", "static_assert", "case"})) return true;
    }
    return syntax_.is(i - 1, "sizeof") || in_unevaluated(i);
  }

  void forbidden_variable(std::size_t i) {
    if (side_[i] != kDevice || syntax_.scope_of(i) != ScopeKind::function) return;
    const std::string name(syntax_.text(i));
    if (is_host_call(name) && syntax_.is(i + 1, "(") && functions_.count(syntax_.text(i)) == 0 && i > 1 &&
        !syntax_.is_any(i - 1, {".", "->", "&"}) && (!syntax_.is(i - 1, "::") || syntax_.is(i - 2, "std")) &&
        (!syntax_.is_identifier(i - 1) || is_statement_keyword(syntax_.text(i - 1))))
      return error(i, "device code calls " + name + "(), which is a function of host code: a GPU doesn't have it");
    const auto found = host_variables_.find(syntax_.text(i));
    if (found == host_variables_.end() || in_constant_expression(i)) return;
    const HostVariable& variable = found->second;
    if (variable.array)
      error(i,
            "device code uses " + name + ", an array of host code: mark it __constant__, or declare it in the kernel");
    else if (!variable.constant)
      error(i, "device code uses " + name + ", a variable of host code: pass its value to the kernel");
    else if (is_taken_by_reference(i))
      error(i, "device code wants a reference to " + name +
                   ", a constant of host code, which has no place on the GPU: write " +
                   std::string(syntax_.text(syntax_.enclosing(i) - 1)) + "() without std::");
  }

  /// In `decltype(f(x))` nothing is called.
  bool in_unevaluated(std::size_t i) const {
    for (std::size_t open = syntax_.enclosing(i); open != kNone; open = syntax_.enclosing(open)) {
      if (open > 0 && syntax_.is_any(open - 1, {"decltype", "sizeof", "noexcept", "requires", "alignof", "typeid"}))
        return true;
    }
    return false;
  }

  void exceptions(std::size_t i) {
    if (side_[i] != kDevice || (i > 0 && syntax_.is_any(i - 1, {".", "->", ")"}) && !syntax_.starts_statement(i)))
      return;
    error(i, "device code has no exceptions (" + std::string(syntax_.text(i)) +
                 "): report an error through memory, or use assert()");
  }

  /// The bounds of a local array have to be constants: the compiler says which are.
  void constant_bounds(std::size_t i) {
    if (i == 0 || !syntax_.is_identifier(i - 1) || syntax_.token(i + 1).kind == TokenKind::number) return;
    const std::size_t brace = syntax_.enclosing(i);
    if (brace == kNone || !syntax_.is(brace, "{") || syntax_.scope_of(i) != ScopeKind::function ||
        in_local_class(brace))
      return;
    std::size_t begin = i;
    while (begin > brace + 1 && !syntax_.is_any(begin - 1, {";", "{", "}", ":"})) {
      --begin;
      if (syntax_.is_any(begin, {")", "]"})) {
        if (syntax_.match(begin) == kNone) return;
        begin = syntax_.match(begin);
      }
    }
    if (!syntax_.starts_statement(begin)) return;
    const Declaration decl = syntax_.parse_declaration(begin);
    if (decl.kind != DeclKind::variable || decl.end == kNone || syntax_.enclosing(decl.end) != brace) return;
    for (std::size_t k = begin; k < decl.declarators.front().name; ++k) {
      if (syntax_.is_any(k, {"__shared__", "extern"}) || is_statement_keyword(syntax_.text(k))) return;
    }
    for (const Declarator& declarator : decl.declarators) {
      if (declarator.name != i - 1 || declarator.name == begin) continue;
      insert_after(decl.end, " static_assert(__builtin_constant_p(sizeof(" + std::string(syntax_.text(i - 1)) +
                                 ")), \"device code has no arrays of variable length\");");
    }
  }

  // -------------------------------------------------------------- what nvcc executes under a predicate

  /// About how many instructions the accesses and the arithmetic of [begin, end) are, or 0 where nvcc keeps a branch, or has
  /// nothing to access. A pointer that is new in the function has to be fetched, and indexed, where no loop is around it.
  int predicated_cost(std::size_t begin, std::size_t end) {
    while (!open_loops_.empty() && open_loops_.back() <= begin) open_loops_.pop_back();
    int accesses = 0, cost = 0;
    bool global_store = false;
    for (std::size_t k = begin; k < end; ++k) {
      if (syntax_.is_any(k, {"if", "for", "while", "do", "switch", "return", "break", "continue", "goto", "?", "asm"}))
        return 0;
      if (syntax_.is(k, "(") && syntax_.is_identifier(k - 1) && !is_builtin_type(syntax_.text(k - 1)))
        return 0;  // a call
      if (syntax_.is(k, "[") && syntax_.match(k) != kNone && syntax_.is_identifier(k - 1)) {
        ++accesses;
        const bool shared = is_shared_name(k - 1);
        if (shared && global_store) return 0;  // from shared to global memory: nvcc branches
        cost += open_loops_.empty() && !shared && !used_before(k - 1) ? 3 : 1;
        while (syntax_.is(k, "[") && syntax_.match(k) != kNone && syntax_.match(k) < end) {
          for (std::size_t inner = k + 1; inner < syntax_.match(k); ++inner) cost += syntax_.is(inner, "[");
          k = syntax_.match(k) + 1;
        }
        global_store = !shared && syntax_.is(k, "=");
        --k;
      } else if (syntax_.is_any(k, {"+", "-", "*", "/", "+=", "-=", "*=", "/="})) {
        ++cost;
      }
    }
    constexpr int kMost = 6;
    return accesses == 0 || cost > kMost ? 0 : cost;
  }

  bool is_shared_name(std::size_t i) const {
    return std::any_of(shared_names_.begin(), shared_names_.end(), [&](const SharedName& shared) {
      return shared.name == syntax_.text(i) && i >= shared.begin && i < shared.end;
    });
  }

  /// The `{` of the device function around token i; kNone outside of one.
  std::size_t function_body_of(std::size_t i) const {
    std::size_t body = kNone;
    for (std::size_t open = syntax_.enclosing(i); open != kNone; open = syntax_.enclosing(open))
      if (std::find(bodies_.begin(), bodies_.end(), open) != bodies_.end()) body = open;
    return body;
  }

  /// Whether the function has accessed something through this pointer before.
  bool used_before(std::size_t i) const {
    const std::size_t body = function_body_of(i);
    for (std::size_t k = body == kNone ? i : body; k < i; ++k)
      if (syntax_.text(k) == syntax_.text(i) && syntax_.is(k + 1, "[")) return true;
    return false;
  }

  /// Whether a member is accessed whose dot or arrow is token i: `.x`, or by `.f()`, but not `.x[j]`: of elements of a
  /// member, nvcc knows no more than their own alignment, unless it's told which one.
  bool accesses_member(std::size_t i) const {
    if (!syntax_.is_any(i, {".", "->"}) || !syntax_.is_name(i + 1)) return false;
    if (!syntax_.is(i + 2, "[")) return true;
    return i + 4 < syntax_.size() && syntax_.token(i + 3).kind == TokenKind::number && syntax_.is(i + 4, "]");
  }

  /// The last token of the pointer that begins at i and whose target's member is accessed: `p` in `p[i].x`, `p->x`,
  /// `(*p).x` and `(p)[i].x`, `p[0]` in `p[0][i].x`, `s.p` in `s.p[i].x`; else kNone. So in `return p[i];`, by reference. From its type nvcc knows how far x is aligned.
  std::size_t pointer_of_member_access(std::size_t i) const {
    if (!syntax_.is_name(i) || function_body_of(i) == kNone) return kNone;
    if (i > 1 && syntax_.is(i - 1, "*") && syntax_.is(i - 2, "(") && syntax_.is(i + 1, ")") &&
        (i < 3 || !(syntax_.is_name(i - 3) || syntax_.is_any(i - 3, {")", "]", ">"}))))
      return accesses_member(i + 2) ? i : kNone;
    if (i > 0 && syntax_.is_any(i - 1, {".", "->", "::", "&"})) return kNone;
    if (i > 0 && syntax_.is(i - 1, "(") && syntax_.is(i + 1, ")") && syntax_.is(i + 2, "[") &&
        syntax_.match(i + 2) != kNone)
      return accesses_member(syntax_.match(i + 2) + 1) ? i : kNone;
    if (i > 0 && syntax_.is(i - 1, "return") && !is_shared_name(i) && syntax_.is(i + 1, "[") &&
        syntax_.match(i + 1) != kNone && syntax_.is(syntax_.match(i + 1) + 1, ";"))
      return i;
    for (std::size_t last = i, after = i + 1; after < syntax_.size();) {
      if (syntax_.is(after, "->") && accesses_member(after) && !syntax_.is(after + 2, "[")) return last;
      if (syntax_.is(after, "[") && syntax_.match(after) != kNone) {
        const std::size_t close = syntax_.match(after);
        if (syntax_.is(close + 1, ".") && accesses_member(close + 1)) return last;
        last = close;
      } else if (syntax_.is_any(after, {".", "->"}) && syntax_.is_name(after + 1)) {
        last = after + 1;
      } else {
        break;
      }
      after = last + 1;
    }
    return kNone;
  }

  /// Whether token i is the name of a reference, as its declaration further up says, and a member of it is accessed.
  bool is_member_access_by_reference(std::size_t i) const {
    if (!syntax_.is_name(i) || !syntax_.is(i + 1, ".") || !accesses_member(i + 1)) return false;
    if (i > 0 && syntax_.is_any(i - 1, {".", "->", "::", "&"})) return false;
    const std::size_t body = function_body_of(i);
    if (body == kNone) return false;
    for (std::size_t k = i; k-- > 1 && (k > body || !syntax_.is_any(k, {";", "}"}));) {
      if (syntax_.text(k) != syntax_.text(i) || !syntax_.is_any(k + 1, {",", ")", "=", "{", "(", ":", ";"})) continue;
      const bool type = syntax_.is_name(k - 2) || syntax_.is_any(k - 2, {">", "auto", "const"});
      if (syntax_.is_any(k - 1, {"&", "&&"}) && type && !syntax_.is(k + 1, ";")) return true;
      if (syntax_.is_name(k - 1) && !is_statement_keyword(syntax_.text(k - 1))) return false;  // an object
    }
    return false;
  }

  /// The last token of the pointer that begins at i in `T& r = p[k];`, `auto& [x, y] = p[k];` and
  /// `T& r = *reinterpret_cast<T*>(p);`, else kNone. What members of r are accessed later is accessed by that pointer.
  std::size_t pointer_of_reference(std::size_t i) const {
    const bool star = i > 0 && syntax_.is(i - 1, "*");
    const std::size_t assign = i - (star ? 2 : 1);
    if (i < 4 || !syntax_.is(assign, "=")) return kNone;
    std::size_t declared = assign - 1;
    if (syntax_.is(declared, "]") && syntax_.match(declared) != kNone)
      declared = syntax_.match(declared);
    else if (!syntax_.is_name(declared))
      return kNone;
    if (declared == 0 || !syntax_.is(declared - 1, "&") || function_body_of(i) == kNone) return kNone;
    std::size_t last = i, after = i + 1;
    if (star) {
      if (!syntax_.is(i, "reinterpret_cast")) return kNone;
      while (after < syntax_.size() && !syntax_.is_any(after, {"(", ";", ","})) ++after;
      last = syntax_.is(after, "(") && !is_in_type(after) ? syntax_.match(after) : kNone;
      after = last == kNone ? kNone : last + 1;
    } else {
      if (!syntax_.is_name(i) || !syntax_.is(after, "[") || syntax_.match(after) == kNone) return kNone;
      after = syntax_.match(after) + 1;
    }
    return after != kNone && syntax_.is_any(after, {";", ","}) ? last : kNone;
  }

  /// The last token of the pointer that begins at i in `T v = p[k];`, `f(p[k])`, `*reinterpret_cast<T*>(p)` and
  /// `reinterpret_cast<T*>(p)[k]`, else kNone. A struct that is copied may be taken apart by the compiler behind the simulator:
  /// nvcc loads it whole if its type says that it's aligned.
  std::size_t pointer_of_value(std::size_t i) const {
    if (i == 0 || function_body_of(i) == kNone) return kNone;
    if (syntax_.is(i, "reinterpret_cast")) {
      std::size_t open = i + 1;
      while (open < syntax_.size() && !syntax_.is_any(open, {"(", ";", ","})) ++open;
      if (!syntax_.is(open, "(") || is_in_type(open) || syntax_.match(open) == kNone) return kNone;
      const std::size_t last = syntax_.match(open);
      const bool product = i > 1 && (syntax_.is_name(i - 2) || syntax_.is_any(i - 2, {")", "]"}));
      const bool target = syntax_.is(i - 1, "*") && (!product || syntax_.is(i - 2, "return"));
      return target || syntax_.is(last + 1, "[") ? last : kNone;
    }
    if (!syntax_.is_name(i) || !syntax_.is(i + 1, "[") || syntax_.match(i + 1) == kNone) return kNone;
    const std::size_t after = syntax_.match(i + 1) + 1;
    if (syntax_.is_any(i - 1, {"=", "(", ","}) && syntax_.is_any(after, {";", ",", ")"}))
      return is_declared_pointer(i) ? i : kNone;
    // An operand of an operator, which may be a function that takes a struct by value.
    const bool operand =
        syntax_.is_any(i - 1, {"=",  "(", ",", "return", "+", "-",  "*",  "/",  "%",  "|",  "^",  "<<",
                               ">>", "<", ">", "?",      ":", "+=", "-=", "*=", "/=", "|=", "^=", "=="}) &&
        syntax_.is_any(after, {";", ",", ")", "+", "-", "*", "/", "%", "|", "^", "<<", ">>", "<", ">", "?", ":", "=="});
    return operand && is_declared_pointer(i, true) ? i : kNone;
  }

  /// The last token of the operand in `*(const T*)&a[k]` and `((T*)a)[k]`, whose type begins at i; else kNone.
  std::size_t operand_of_cast(std::size_t i) const {
    if (i < 2 || !syntax_.is(i - 1, "(") || !syntax_.is_any(i - 2, {"*", "("}) || function_body_of(i) == kNone)
      return kNone;
    std::size_t k = i + (syntax_.is(i, "const") ? 1 : 0);
    if (!syntax_.is_name(k) || is_builtin_type(syntax_.text(k)) || !syntax_.is(k + 1, "*")) return kNone;
    for (k += 2; syntax_.is_any(k, {"const", "__restrict__", "__restrict"});) ++k;
    if (!syntax_.is(k, ")")) return kNone;
    ++k;
    if (syntax_.is(k, "&")) ++k;
    if (!syntax_.is(k, "(") && !syntax_.is_name(k)) return kNone;
    std::size_t last = syntax_.is(k, "(") ? syntax_.match(k) : k;
    while (last != kNone) {
      if (syntax_.is_any(last + 1, {"[", "("}))
        last = syntax_.match(last + 1);
      else if (syntax_.is_any(last + 1, {".", "->"}) && syntax_.is_name(last + 2))
        last += 2;
      else
        break;
    }
    if (last == kNone) return kNone;
    if (syntax_.is(i - 2, "(")) return syntax_.match(i - 2) == last + 1 && syntax_.is(last + 2, "[") ? last : kNone;
    const bool product = i > 2 && (syntax_.is_name(i - 3) || syntax_.is_any(i - 3, {")", "]"}));
    return !product || syntax_.is(i - 3, "return") ? last : kNone;
  }

  /// Whether the parenthesis is that of a type, `float(*)[4]`, and not the operand of a cast.
  bool is_in_type(std::size_t open) const {
    return !syntax_.is(open - 1, ">") ||
           (syntax_.is_any(open + 1, {"*", "&"}) && syntax_.is_any(open + 2, {")", "const"}));
  }

  /// Whether token i is the name of a pointer, as a declaration further up says: `T* p`, `const T* __restrict__ p`.
  /// `to_struct`: to a type that the program declares.
  bool is_declared_pointer(std::size_t i, bool to_struct = false) const {
    const std::size_t body = function_body_of(i);
    for (std::size_t k = i; k-- > 2 && (k > body || !syntax_.is_any(k, {";", "}"}));) {
      if (syntax_.text(k) != syntax_.text(i) || !syntax_.is_any(k + 1, {",", ")", "=", ";", "{"})) continue;
      std::size_t before = k - 1;
      while (before > 0 && syntax_.is_any(before, {"const", "__restrict__", "__restrict"})) --before;
      if (syntax_.is(before, "*") && (syntax_.is_name(before - 1) || syntax_.is_any(before - 1, {">", "const"}))) {
        const std::size_t type = before - (syntax_.is(before - 1, "const") ? 2 : 1);  // `T const*`, too
        return !to_struct || struct_names_.count(syntax_.text(type)) > 0;
      }
      if (syntax_.is_name(k - 1) && !is_statement_keyword(syntax_.text(k - 1))) {
        // `auto p = reinterpret_cast<...>(...)`
        return syntax_.is(k - 1, "auto") && syntax_.is(k + 1, "=") && syntax_.is(k + 2, "reinterpret_cast");
      }
    }
    return false;
  }

  void may_skip(std::size_t begin, std::size_t end) {  // of the condition
    // Round what has been put in front of the same token already: that belongs to a part of the condition.
    const std::size_t position = syntax_.token(begin).begin;
    const auto recent = edits_.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(edits_.size(), 256));
    const auto inner = std::find_if(
        recent, edits_.end(), [=](const Edit& edit) { return edit.begin == position && edit.rank == Edit::before; });
    edits_.insert(inner, {position, position, Edit::before, " ::tilewise::sim::may_skip(static_cast<bool>("});
    insert_after(end - 1, "))");
  }

  /// `if (c) a[i] = b[i];`: nvcc executes the body's instructions in all warps, and they do nothing where c is false.
  void short_branch(std::size_t i) {
    const std::size_t open = i + 1, close = syntax_.match(open);
    if (!syntax_.is(open, "(") || close == kNone) return;  // `if constexpr`, too
    const std::size_t end = syntax_.skip_statement(close + 1);
    if (end == kNone || syntax_.is(end, "else") || (i > 0 && syntax_.is(i - 1, "else"))) return;
    const std::size_t body = function_body_of(i);
    if (body == kNone || end == syntax_.match(body)) return;  // at the end of a kernel, threads leave instead
    for (std::size_t k = open + 1; k < close; ++k)
      if (syntax_.is_any(k, {";", "="})) return;  // declares or assigns something
    if (predicated_cost(close + 1, end) != 0) may_skip(open + 1, close);
  }

  /// `c ? a[i] : 0`, the same.
  void conditional(std::size_t i) {
    std::size_t begin = i;
    while (begin > 0) {
      const std::size_t before = begin - 1;
      if (syntax_.is_any(before, {")", "]", "}"})) {
        if (syntax_.is(before, "}") || syntax_.match(before) == kNone) return;
        begin = syntax_.match(before);
        continue;
      }
      if (syntax_.is_any(before, {"=", "+=", "-=", "*=", "(", "[", "{", ",", ";", "return", ":", "?"})) break;
      if (is_statement_keyword(syntax_.text(before))) return;
      --begin;
    }
    std::size_t colon = i + 1;
    while (colon < syntax_.size() && !syntax_.is_any(colon, {":", "?", ";", ")", "]", "}"})) {
      if (syntax_.is_any(colon, {"(", "[", "{"}) && syntax_.match(colon) != kNone) colon = syntax_.match(colon);
      ++colon;
    }
    const bool plain_other = syntax_.token(std::min(colon + 1, syntax_.size() - 1)).kind == TokenKind::number &&
                             syntax_.is_any(colon + 2, {";", ")", ",", "]", "}"});
    if (begin == i || !syntax_.is(colon, ":") || !plain_other || function_body_of(i) == kNone) return;
    // Only at the head of a condition's or a parameter's parentheses could a type stand here.
    if (syntax_.is_any(begin - 1, {"(", "["}) && !(begin > 1 && syntax_.is_any(begin - 2, {"=", "(", "+=", "+"})))
      return;
    if (under_short_if(begin)) return;
    if (predicated_cost(i + 1, colon) != 0) may_skip(begin, i);
  }

  /// In `if (c) x = d ? a[i] : 0;` there is a branch for both.
  bool under_short_if(std::size_t i) const {
    while (i > 0 && !syntax_.is_any(i - 1, {";", "{", "}"})) {
      --i;
      if (syntax_.is(i, "if")) return true;
    }
    return false;
  }

  void loop(std::size_t i) {
    if (do_tails_.count(i)) return;
    std::size_t end = syntax_.skip_statement(i);
    if (end == kNone) return;
    std::size_t body = i + 1;
    std::size_t body_end = end;
    if (syntax_.is(i, "do")) {
      body_end = syntax_.skip_statement(body);
      if (body_end == kNone) return;
      do_tails_.insert(body_end);
    } else {
      body = syntax_.match(i + 1) + 1;
    }
    if (has_foreign_label(body, body_end)) return;  // a `case` of a switch around the loop would jump over the marker
    while (!open_loops_.empty() && open_loops_.back() <= i) open_loops_.pop_back();
    open_loops_.push_back(end);
    std::string name = "tw_loop_" + std::to_string(open_loops_.size());
    std::string declared = name + loop_facts(i);
    // Compilers see that the loop is entered once: what it assigns has a value behind it, and nothing follows an endless
    // one. `if (...; false) {} else` would catch an `else` of the program's own.
    insert_before(i, "for (::tilewise::sim::Loop " + declared + ";;) { ");
    const bool braces = syntax_.is(body, "{");
    insert_after(braces ? body : body - 1, std::string(braces ? "" : " {") + " " + name + ".tick();");
    if (!braces && body_end != end) loop_ends_.emplace_back(body_end - 1, " }");
    const std::string leave = " if (" + name + ".left()) break; }";
    loop_ends_.emplace_back(end - 1, (!braces && body_end == end ? " }" : "") + leave);
  }

  /// Loops may end at the same token: then the inner one, which begins later, ends first.
  void end_loops() {
    for (auto it = loop_ends_.rbegin(); it != loop_ends_.rend(); ++it) insert_after(it->first, it->second);
  }

  /// What nvcc knows of the loop at i, as the marker's argument: empty when nothing.
  std::string loop_facts(std::size_t i) const {
    if (kept_loops_.count(i)) return "{::tilewise::sim::kKeptLoop}";
    const std::string constant = constant_trips(i);
    if (constant.empty()) return "";
    return "{" + (constant == "1" ? "" : constant + " ? ") + "::tilewise::sim::kConstantTrips" +
           (constant == "1" ? "" : " : 0u") + "}";
  }

  /// Whether a `for` runs from a constant to a constant: an expression, "1" for yes, or "" for no. Of names, the compiler
  /// knows which are constants.
  std::string constant_trips(std::size_t i) const {
    if (!syntax_.is(i, "for")) return "";
    const std::size_t open = i + 1, close = syntax_.match(open);
    std::size_t first = open + 1, equals = first;
    while (equals < close && !syntax_.is_any(equals, {"=", ";", "{", ":"})) ++equals;
    if (!syntax_.is(equals, "=") || equals == first || !syntax_.is_identifier(equals - 1)) return "";
    const std::string_view variable = syntax_.text(equals - 1);
    std::string condition;
    std::set<std::string_view> seen{variable};
    int parts = 1;
    for (std::size_t k = equals + 1; k < close; ++k) {
      if (syntax_.is(k, ";")) {
        ++parts;
      } else if (syntax_.is_any(k, {"(", "["}) && (syntax_.is_identifier(k - 1) || syntax_.is(k - 1, ">"))) {
        return "";  // a call or an element of an array
      } else if (syntax_.is(k, ")") && (syntax_.is_identifier(k + 1) || syntax_.is(k + 1, "(") ||
                                        syntax_.token(k + 1).kind == TokenKind::number)) {
        return "";  // a cast
      } else if (syntax_.is_any(k, {".", "->", "::", ":", "{", ",", "static_cast"})) {
        return "";
      } else if (syntax_.is_identifier(k) && !is_statement_keyword(syntax_.text(k)) &&
                 !is_builtin_type(syntax_.text(k)) && seen.insert(syntax_.text(k)).second) {
        if (syntax_.is_any(k, {"true", "false", "warpSize"})) continue;
        if (!builtin_text(syntax_.text(k)).empty()) return "";
        condition += (condition.empty() ? "" : " & ") + ("__builtin_constant_p(" + std::string(syntax_.text(k)) + ")");
      }
    }
    if (parts != 3) return "";
    return condition.empty() ? "1" : condition;
  }

  bool has_foreign_label(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      if (syntax_.is(k, "switch")) {
        std::size_t after = syntax_.skip_statement(k);
        if (after != kNone && after <= end) k = after - 1;
      } else if (syntax_.is(k, "case") || (syntax_.is(k, "default") && syntax_.is(k + 1, ":"))) {
        return true;
      }
    }
    return false;
  }

  /// An atomic whose result nobody uses: nvcc emits a reduction.
  void reduction(std::size_t i) {
    static const std::unordered_set<std::string_view> kReductions = {"Add", "Sub", "Min", "Max", "Inc",
                                                                     "Dec", "And", "Or",  "Xor"};
    std::string_view operation = syntax_.text(i).substr(6);
    for (std::string_view scope : {"_block", "_system"}) {
      if (operation.size() > scope.size() && operation.substr(operation.size() - scope.size()) == scope) {
        operation.remove_suffix(scope.size());
      }
    }
    if (!kReductions.count(operation) || !syntax_.is(i + 1, "(")) return;
    std::size_t close = syntax_.match(i + 1);
    if (close == kNone || !syntax_.is(close + 1, ";")) return;
    std::size_t begin = i;
    if (begin > 0 && syntax_.is(begin - 1, "::") && !(begin > 1 && syntax_.is_identifier(begin - 2))) --begin;
    if (begin > 2 && syntax_.is(begin - 1, ")") && syntax_.is(begin - 2, "void") && syntax_.is(begin - 3, "("))
      begin -= 3;
    if (!syntax_.starts_statement(begin)) return;
    if (syntax_.enclosing(i) == kNone || !syntax_.is(syntax_.enclosing(i), "{")) return;
    for (std::size_t k = i + 2; k < close; ++k) {
      if (syntax_.text(k).starts_with("atomic")) return;  // the inner one comes first, and its result is used
    }
    insert_before(begin, " ::tilewise::sim::discard(), ");
  }

  /// `(c ? a : b)[threadIdx.x]`, with two arrays: g++ evaluates a function call in the index in one of the two cases only,
  /// and reads garbage in the other. It does not, where a function gives the array.
  void chosen_array(std::size_t i) {
    const std::size_t close = syntax_.match(i);
    if (close == kNone || !syntax_.is(close + 1, "[") || syntax_.is(close + 2, "[")) return;
    if (i > 0 && syntax_.is_any(i - 1, {"]", ">"})) return;
    if (i > 0 && syntax_.is_identifier(i - 1) && !syntax_.is_any(i - 1, {"return", "else", "do"}))
      return;  // the arguments of a function, or a condition
    if (i > 0 && syntax_.is(i - 1, ")")) {
      const std::size_t open = syntax_.match(i - 1);
      if (open == kNone || open == 0) return;
      const std::size_t before = open - 1;  // a statement's condition or a cast; else a function that returns one
      if (syntax_.is_any(before, {")", "]", ">"}) ||
          (syntax_.is_identifier(before) && !is_statement_keyword(syntax_.text(before))))
        return;
    }
    for (std::size_t k = i + 1; k < close; ++k) {
      if (syntax_.is(k, "?")) return insert_before(i, " ::tilewise::sim::chosen");
    }
  }

  static std::string_view builtin_text(std::string_view name) {
    if (name == "threadIdx") return " ::tilewise::sim::thread_idx()";
    if (name == "blockIdx") return " ::tilewise::sim::block_idx()";
    if (name == "blockDim") return " ::tilewise::sim::block_dim()";
    if (name == "gridDim") return " ::tilewise::sim::grid_dim()";
    if (name == "warpSize") return "32";
    return {};
  }

  /// `clock()` of device code, which is not the C library's.
  /// `union F4 { float4 v; float f[4]; };` can be copied with nvcc, whose vectors are plain structs. Here they have
  /// constructors, so a union that holds one gets its own: it's copied as a whole, and begins as an aggregate would.
  void union_of_vectors(std::size_t i) {
    std::size_t name = syntax_.skip_attributes(i + 1);
    while (takes_parenthesis(syntax_.text(name)) && syntax_.is(name + 1, "(") && syntax_.match(name + 1) != kNone)
      name = syntax_.match(name + 1) + 1;
    const std::size_t open = name + 1;
    if (!syntax_.is_name(name) || !syntax_.is(open, "{") || syntax_.match(open) == kNone) return;
    const std::size_t close = syntax_.match(open);
    bool holds_vector = false, constructed = false, copied_by_itself = false;
    for (std::size_t k = open + 1; k < close; ++k) {
      if (syntax_.is_any(k, {"{", "(", "["}) && syntax_.match(k) != kNone) {
        k = syntax_.match(k);
        continue;
      }
      if (syntax_.text(k) == syntax_.text(name) && syntax_.is(k + 1, "(")) {  // a constructor
        constructed = true;
        for (std::size_t a = k + 1; a < syntax_.match(k + 1); ++a)
          copied_by_itself |= syntax_.text(a) == syntax_.text(name);
      }
      copied_by_itself |= syntax_.is(k, "operator") && syntax_.is(k + 1, "=");
      const std::string_view type = syntax_.text(k);
      holds_vector |= is_struct_of_cuda(type) && (type.back() == '2' || type.back() == '4') && syntax_.is_name(k + 1);
    }
    if (!holds_vector || copied_by_itself) return;
    const std::string own(syntax_.text(name)), inlined = "__attribute__((always_inline)) ";
    // In a file of the simulator's, so that what copies it is said to be the line that asks for the copy.
    std::string members = "\n# 1 \"/tilewise_sim/union\" 3\n";
    if (!constructed) members += own + "() = default; ";
    const std::string first(syntax_.text(open + 1)), member(syntax_.text(open + 2));
    const std::string taken = "::tilewise::sim::vector_detail::First<" + first + ">";
    if (constructed)
      ;  // begins as it says
    else if (syntax_.is_name(open + 1) && syntax_.is_name(open + 2) && syntax_.is(open + 3, ";"))
      members += "constexpr " + own + "(" + taken + " tw_first) : " + member + "(tw_first.value) {} ";
    else if (syntax_.is_name(open + 2) && syntax_.is(open + 3, "[") && syntax_.match(open + 3) != kNone &&
             syntax_.is(syntax_.match(open + 3) + 1, ";"))
      members += "template <class... tw_T> constexpr " + own + "(" + taken + " tw_first, tw_T... tw_more) : " + member +
                 "{tw_first.value, static_cast<" + first + ">(tw_more)...} {} ";
    const std::string copied = "::tilewise::sim::vector_detail::copy_object(this, &tw_from); ";
    members += inlined + own + "(const " + own + "& tw_from) { " + copied + "} ";
    members += inlined + own + "& operator=(const " + own + "& tw_from) { " + copied + "return *this; } ";
    const Token& at = syntax_.token(open);
    insert_after(open, members + "\n# " + std::to_string(at.line) + " \"" + source_.files[at.file] + "\"\n");
  }

  void clock(std::size_t i) {
    if (!syntax_.is(i + 1, "(") || !syntax_.is(i + 2, ")") || declares(i)) return;
    if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return;
    const bool qualified = i > 0 && syntax_.is(i - 1, "::");
    if (qualified && i > 1 && (syntax_.is_identifier(i - 2) || syntax_.is(i - 2, ">")) &&
        !is_statement_keyword(syntax_.text(i - 2)))
      return;  // the program's own
    replace(qualified ? i - 1 : i, i + 1, " ::tilewise::sim::clock");
  }

  /// memcpy and memset in device code, which the compiler must not take for calls of the C library.
  void bytewise(std::size_t i) {
    const std::string_view name = syntax_.text(i);
    const bool copies = name == "memcpy" || name == "__builtin_memcpy";
    if (!copies && name != "memset" && name != "__builtin_memset") return;
    if (const std::size_t begin = call_of_c_function(i); begin != kNone)
      replace(begin, i + 1, copies ? " ::tilewise::sim::copy_bytes" : " ::tilewise::sim::set_bytes");
  }

  /// Where the call of a function of the C library begins whose name is at `i`, `std::memcpy(`; kNone: it's none.
  std::size_t call_of_c_function(std::size_t i) const {
    if (!syntax_.is(i + 1, "(") || declares(i)) return kNone;
    if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return kNone;
    if (i == 0 || !syntax_.is(i - 1, "::")) return i;
    if (i > 1 && syntax_.is(i - 2, "std")) return i > 2 && syntax_.is(i - 3, "::") ? i - 3 : i - 2;
    // A name before it is the program's own.
    return i > 1 && (syntax_.is_identifier(i - 2) || syntax_.is(i - 2, ">")) ? kNone : i - 1;
  }

  /// `malloc(bytes)` and `free(p)`.
  void heap_call(std::size_t i) {
    const bool allocates = syntax_.is(i, "malloc");
    if (functions_.count(syntax_.text(i)) != 0) return;
    if (const std::size_t begin = call_of_c_function(i); begin != kNone)
      replace(begin, i + 1, allocates ? " ::tilewise::sim::heap_allocate" : " ::tilewise::sim::heap_free");
  }

  /// `printf(format, ...)` and `vprintf(format, list)`: the launch can't be left out, even if it changes no memory.
  void print_call(std::size_t i) {
    const bool has_list = syntax_.is(i, "vprintf");
    if (functions_.count(syntax_.text(i)) != 0) return;
    if (const std::size_t begin = call_of_c_function(i); begin != kNone)
      replace(begin, i + 1,
              std::string(" ::tilewise::sim::Print") + (has_list ? "List{" : "{") + std::to_string(i) + "}");
  }

  /// `delete p` and `delete[] p`, but not `= delete` and `operator delete`.
  void heap_delete(std::size_t i) {
    if (i > 0 && syntax_.is_any(i - 1, {"=", "operator"})) return;
    const bool array = syntax_.is(i + 1, "[") && syntax_.is(i + 2, "]");
    const std::size_t begin = i > 0 && syntax_.is(i - 1, "::") ? i - 1 : i;
    replace(begin, array ? i + 3 : i + 1,
            array ? " ::tilewise::sim::heap_delete_array->*" : " ::tilewise::sim::heap_delete->*");
  }

  /// What the program promises its compiler, which is looked at instead of believed. `__builtin_assume()` is device code's.
  void promise(std::size_t i) {
    const std::string_view name = syntax_.text(i);
    const bool aligned = name == "__builtin_assume_aligned", unreachable = name == "__builtin_unreachable";
    if ((!aligned && !unreachable && name != "__builtin_assume") || !syntax_.is(i + 1, "(") || declares(i)) return;
    if (side_[i] == kHost && !unreachable) return;
    replace(i, i + 1,
            std::string(" ::tilewise::sim::") + (aligned       ? "assume_aligned"
                                                 : unreachable ? "unreachable"
                                                               : "assume"));
  }

  /// True when the program declares something of that name here: a member, a parameter or a variable.
  bool declares(std::size_t i) const {
    if (i == 0) return false;
    std::size_t before = i - 1;
    if (syntax_.is_any(before, {"*", "&"}) && before > 0) {
      // `dim3& blockDim`: a type name, then the declarator. `a * blockDim.x` is followed by a member access.
      return syntax_.is_identifier(before - 1) && syntax_.is_any(i + 1, {"=", ";", ",", ")"}) &&
             (is_builtin_type(syntax_.text(before - 1)) || syntax_.is_any(before - 1, {"dim3", "uint3", "const"}));
    }
    if (!syntax_.is_any(i + 1, {"=", ";", ",", ")", "(", "{", "["})) return false;
    if (syntax_.is(before, ">")) return false;
    return syntax_.is_identifier(before) && !is_statement_keyword(syntax_.text(before));
  }

  /// Where the program's own variables hide the built-in ones.
  void find_shadows() {
    for (std::size_t i = 0; i < syntax_.size(); ++i) {
      if (side_[i] == kHost || !syntax_.is_identifier(i) || builtin_text(syntax_.text(i)).empty() || !declares(i))
        continue;
      std::size_t open = syntax_.enclosing(i);
      std::size_t end = open == kNone ? syntax_.size() : syntax_.match(open);
      if (open != kNone && syntax_.is(open, "(")) {  // a parameter: hides it in the whole function
        while (end < syntax_.size() && side_[end] != kHost && !syntax_.is_any(end, {"{", ";"})) ++end;
        if (syntax_.is(end, "{")) end = syntax_.match(end);
      }
      if (end != kNone) shadows_.push_back({syntax_.text(i), i, end});
    }
  }

  void builtin(std::size_t i) {
    std::string_view replacement = builtin_text(syntax_.text(i));
    if (replacement.empty() || (i > 0 && syntax_.is_any(i - 1, {".", "->"}))) return;
    for (const SharedName& shadow : shadows_) {
      if (shadow.name == syntax_.text(i) && i >= shadow.begin && i <= shadow.end) return;
    }
    std::size_t begin = i;
    if (i > 0 && syntax_.is(i - 1, "::")) {
      if (i > 1 && (syntax_.is_identifier(i - 2) || syntax_.is(i - 2, ">"))) return;
      begin = i - 1;
    }
    replace(begin, i + 1, std::string(replacement));
  }

  // -------------------------------------------------------------- what the simulator cannot do

  /// Whether a header whose name begins so is among the program's.
  bool includes(std::string_view header) {
    if (included_.empty()) {
      for (const std::string& file : source_.files) {
        // The folder `include/` of the simulator (`include/tilewise_simulator/` where it is installed), of the toolkit or of a library.
        std::string_view name = file;
        for (std::string_view folder : {"include/", "tilewise_simulator/"})
          if (const std::size_t at = name.rfind(folder); at != std::string_view::npos)
            name.remove_prefix(at + folder.size());
        included_.emplace_back(name);
      }
      included_.push_back("");  // asked for
    }
    return std::any_of(included_.begin(), included_.end(),
                       [&](const std::string& file) { return file.starts_with(header); });
  }

  /// A name of a library that the simulator lacks, in a program that includes its header.
  bool refuse_library(std::size_t i) {
    const std::string_view text = syntax_.text(i);
    for (const Library& library : kMissingNamespaces) {
      if (text != library.prefix || !includes(library.header)) continue;
      if (!syntax_.is(i + 1, "::") && !(i > 0 && syntax_.is(i - 1, "namespace"))) continue;
      unsupported(i, library.name,
                  library.prefix == "thrust" ? "install them (apt-get install libthrust-dev)"
                                             : "write the kernel, or use what the simulator has");
      return true;
    }
    if (std::find(std::begin(kThereNevertheless), std::end(kThereNevertheless), text) != std::end(kThereNevertheless))
      return false;
    for (const Library& library : kMissingLibraries) {
      if (!text.starts_with(library.prefix)) continue;
      const char next = text.size() > library.prefix.size() ? text[library.prefix.size()] : 'A';
      const bool of_library = std::isupper(static_cast<unsigned char>(next)) ||
                              std::isdigit(static_cast<unsigned char>(next)) || next == '_' ||
                              library.prefix == "npp" || library.prefix == "CUdevice";
      if (!of_library || !includes(library.header) || functions_.count(text) || struct_names_.count(text)) continue;
      unsupported(i, std::string(library.name) + " (" + std::string(text) + ")",
                  "leave it out where TILEWISE_SIMULATOR is defined");
      return true;
    }
    return false;
  }

  /// What to do in place of a function of the runtime API that the simulator lacks, by how its name begins; else null.
  static const char* missing_function(std::string_view name) {
    static constexpr std::pair<std::string_view, const char*> kMissing[] = {
        {"cudaDestroyExternal", "copy to the host"},
        {"cudaEventRecordWithFlags", "use cudaEventRecord"},
        {"cudaExternalMemory", "copy to the host"},
        {"cudaGetDriverEntryPoint", "call the runtime's own functions"},
        {"cudaImportExternal", "copy to the host"},
        {"cudaLibrary", "compile the kernels with the program"},
        {"cudaMemDiscard", "leave it out"},
        {"cudaMemGetDefaultMemPool", "use cudaMallocAsync alone"},
        {"cudaMemGetMemPool", "use cudaMallocAsync alone"},
        {"cudaMemPoolExport", "use one process"},
        {"cudaMemPoolImport", "use one process"},
        {"cudaMemPrefetchBatchAsync", "use cudaMemPrefetchAsync"},
        {"cudaMemRangeGetAttribute", "use cudaPointerGetAttributes"},
        {"cudaMemSetMemPool", "use cudaMallocAsync alone"},
        {"cudaMemcpyBatchAsync", "use cudaMemcpyAsync for each copy"},
        {"cudaOccupancyMaxActiveClusters", "there are no clusters"},
        {"cudaOccupancyMaxPotentialClusterSize", "there are no clusters"},
        {"cudaStreamBeginCaptureToGraph", "use cudaStreamBeginCapture"},
        {"cudaStreamGetCaptureInfo", "use cudaStreamIsCapturing"},
        {"cudaStreamGetDevice", "use cudaGetDevice where the stream is made"},
        {"cudaStreamGetId", "give your streams numbers of your own"},
        {"cudaStreamUpdateCaptureDependencies", "order captured streams by events"},
        {"cudaThreadExchangeStreamCaptureMode", "give cudaStreamBeginCapture the mode"},
        {"cudaUserObject", "destroy the object after the graph"}};
    for (const auto& [begin, instead] : kMissing)
      if (name.starts_with(begin)) return instead;
    return nullptr;
  }

  void refuse_unsupported(std::size_t i) {
    std::string_view text = syntax_.text(i);
    if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return;
    if ((text == "asm" || text == "__asm__" || text == "__asm") && side_[i] != kHost) {
      if (!is_empty_asm(i)) inline_ptx(i);
      return;
    }
    static constexpr std::string_view kNoReferences = "use a cudaTextureObject_t or cudaSurfaceObject_t";
    if (text.starts_with("cudaGraphics")) {
      unsupported(i, "graphics interoperability (" + std::string(text) + ")", "copy to the host and draw from there");
    } else if (refuse_library(i)) {
      // said
    } else if (text.starts_with("cudaGraph") && !is_known_graph_name(text) && functions_.count(text) == 0) {
      unsupported(i, "this part of CUDA graphs (" + std::string(text) + ")",
                  "there are nodes for kernels, copies, fills, memory, host functions, events and child graphs");
    } else if (text.find("Mipmapped") != std::string_view::npos && text.starts_with("cuda")) {
      unsupported(i, "mipmaps (" + std::string(text) + ")", "make a texture of a CUDA array");
    } else if (text.starts_with("cudaBindTexture") || text.starts_with("cudaBindSurface")) {
      unsupported(i, "texture and surface references (CUDA 12 removed them)", kNoReferences);
    } else if (text == "texture" && syntax_.is(i + 1, "<") && syntax_.scope_of(i) == ScopeKind::name_space &&
               syntax_.starts_statement(i)) {
      unsupported(i, "texture references (CUDA 12 removed them)", kNoReferences);
    } else if (side_[i] != kHost && is_missing_texture_function(text) && syntax_.is_any(i + 1, {"(", "<"}) &&
               !syntax_.is(i - 1, "::") && functions_.count(text) == 0) {
      unsupported(i, "this function of textures (" + std::string(text) + ")",
                  "use tex1D to tex3D and their like for layers");
    } else if (text.starts_with("cudaIpc")) {
      unsupported(i, "memory shared between processes", "use one process");
    } else if (text.starts_with("cudaMemcpy3DPeer")) {
      unsupported(i, std::string(text), "use cudaMemcpyPeer, or cudaMemcpy3D");
    } else if (homework_ && side_[i] == kDevice && ((text == "malloc" && syntax_.is(i + 1, "(")) || allocates(i))) {
      error(i, "memory allocated in device code is not part of the homework: allocate it on the host with cudaMalloc");
    } else if (text.starts_with("cudaLaunchAttribute") && changes_kernels(text)) {
      unsupported(i, "this attribute of a launch (" + std::string(text) + ")",
                  "leave it out of cudaLaunchConfig_t's attrs; there are no clusters");
    } else if (const char* now = without_mask(text); now && side_[i] != kHost && syntax_.is(i + 1, "(") &&
                                                     functions_.count(text) == 0 && !syntax_.is(i - 1, "::")) {
      error(i,
            std::string(text) + "() is not valid on compute_70 and above, and should be replaced with " + now + "()");
    } else if (text == "cuTensorMapEncodeTiled" || text == "CUtensorMap") {
      error(i, "TMA (" + std::string(text) + ") needs a GPU of compute capability 9.0; the simulator does not have it");
    } else if (const char* instead = missing_function(text); instead && syntax_.is(i + 1, "(")) {
      unsupported(i, std::string(text) + "()", instead);
    } else if ((text == "this_multi_grid" && calls_group_function(i)) ||
               text == "cudaLaunchCooperativeKernelMultiDevice") {
      error(i, "CUDA 13 has removed grids of several devices (" + std::string(text) +
                   "): launch on each device, and let the host wait for all");
    } else if (text == "cudaDeviceSynchronize" && side_[i] == kDevice && syntax_.is(i + 1, "(")) {
      error(i,
            "cudaDeviceSynchronize() in device code: CUDA 12 and later don't have it for compute capability 9.0, and "
            "nvcc "
            "refuses it; what is to come after the children can be a tail launch (cudaStreamTailLaunch)");
    } else if (text == "__pipeline_arrive_on") {
      unsupported(i, "__pipeline_arrive_on()", "wait with __pipeline_wait_prior() and call __syncthreads()");
    } else if ((text == "inclusive_scan_update" || text == "exclusive_scan_update") && calls_group_function(i) &&
               includes("cooperative_groups/scan.h")) {
      unsupported(i, "cooperative_groups::" + std::string(text), "call the scan without _update, and atomicAdd()");
    }
  }

  /// A call of a function of cooperative groups, which is found by its argument's type, too: `cg::f(`, `f(`.
  bool calls_group_function(std::size_t i) const {
    if (i < 2 || !syntax_.is_any(i + 1, {"(", "<"}) || functions_.count(syntax_.text(i))) return false;
    if (syntax_.is(i - 1, "::")) return !syntax_.is_any(i - 2, {"cuda", "std"});
    return side_[i] != kHost && !declares(i);
  }

  /// `new T`, but not `new (place) T`.
  bool allocates(std::size_t i) const {
    return syntax_.is(i, "new") && !syntax_.is(i + 1, "(") && !(i > 0 && syntax_.is(i - 1, "operator"));
  }

  /// `asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(y))` becomes the call of a lambda with the operands as they stand; it
  /// calls what stands for the text's instructions.
  void inline_ptx(std::size_t i) {
    std::size_t open = i + 1;
    while (syntax_.is_any(open, {"volatile", "__volatile__"})) ++open;
    const std::size_t close = syntax_.is(open, "(") ? syntax_.match(open) : kNone;
    if (close == kNone) return error(i, "this asm statement has no closing parenthesis");
    std::string text;
    std::size_t k = open + 1;
    for (; is_string(k); ++k) {
      const std::string_view quoted = syntax_.text(k);
      if (quoted.size() < 2 || quoted.front() != '"')
        return error(k, "the simulator reads asm texts in plain quotes only");
      text += quoted.substr(1, quoted.size() - 2);
    }
    const PtxCode code = parse_ptx(text);
    if (!code.error.empty()) return error(i, code.error);
    const std::size_t text_end = k;
    const std::optional<std::vector<std::size_t>> constraints = asm_operands(text_end, close);
    if (!constraints) return;
    const std::vector<std::size_t>& operands = *constraints;
    replace(i, text_end, lambda_of(i, code, operands) + "(");
    std::size_t from = text_end;  // of what is in front of the next operand
    for (std::size_t n = 0; n < operands.size(); ++n) {
      replace(from, operands[n] + 1, n == 0 ? "" : ",");
      from = syntax_.match(operands[n] + 1) + 1;
    }
    if (from < close) replace(from, close, "");
  }

  /// The constraints in the first two lists of an asm statement; what stands behind each in parentheses is an operand.
  std::optional<std::vector<std::size_t>> asm_operands(std::size_t begin, std::size_t close) {
    std::vector<std::size_t> operands;
    std::size_t lists = 0;
    for (std::size_t k = begin; k < close; ++k) {
      if (syntax_.is_any(k, {":", "::"})) {
        lists += syntax_.is(k, "::") ? 2 : 1;
        if (lists > 2) break;  // what is changed besides
      } else if (is_string(k) && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone) {
        operands.push_back(k);
        k = syntax_.match(k + 1);
      } else if (!syntax_.is(k, ",")) {
        error(k, "the simulator reads operands of inline PTX (asm) such as \"=r\"(x); nvcc takes no names in brackets");
        return std::nullopt;
      }
    }
    return operands;
  }

  std::string lambda_of(std::size_t i, const PtxCode& code, const std::vector<std::size_t>& operands) {
    if (code.operands > operands.size())
      error(i, "this asm statement has no operand %" + std::to_string(code.operands - 1));
    std::string parameters;
    for (std::size_t n = 0; n < operands.size(); ++n) {
      const std::string parameter = "tw_" + std::to_string(n);
      parameters += (n == 0 ? "" : ", ") + std::string("[[maybe_unused]] auto&& ") + parameter;
      if (const std::string_view constraint = syntax_.text(operands[n]);
          constraint.find_first_of("0123456789") != std::string_view::npos)
        error(operands[n], "nvcc takes no constraint such as " + std::string(constraint) +
                               ": an operand that is read and written is \"+r\"(x)");
    }
    return " [&](" + parameters + ") __attribute__((always_inline)) { " + code.body + "}";
  }

  bool is_string(std::size_t k) const { return k < syntax_.size() && syntax_.token(k).kind == TokenKind::string; }

  /// `asm volatile("" ::: "memory")` holds no instruction and may stay.
  bool is_empty_asm(std::size_t i) const {
    std::size_t k = i + 1;
    while (syntax_.is_any(k, {"volatile", "__volatile__"})) ++k;
    return syntax_.is(k, "(") && syntax_.is(k + 1, "\"\"") && syntax_.is_any(k + 2, {":", "::", ")"});
  }

  /// Attributes of a launch with which a kernel does something else, or starts at another time.
  static bool changes_kernels(std::string_view text) {
    for (const std::string_view attribute : {"Cluster", "Programmatic", "LaunchCompletionEvent", "DeviceUpdatable",
                                             "PreferredCluster", "Cooperative", "NvlinkUtil"})
      if (text.substr(std::string_view("cudaLaunchAttribute").size()).starts_with(attribute)) return true;
    return false;
  }

  /// What nvcc names in place of a function for a warp without a mask, gone since compute capability 7.0.
  static const char* without_mask(std::string_view text) {
    static constexpr std::pair<std::string_view, const char*> kGone[] = {
        {"__shfl", "__shfl_sync"},         {"__shfl_up", "__shfl_up_sync"}, {"__shfl_down", "__shfl_down_sync"},
        {"__shfl_xor", "__shfl_xor_sync"}, {"__any", "__any_sync"},         {"__all", "__all_sync"},
        {"__ballot", "__ballot_sync"}};
    for (const auto& [name, now] : kGone)
      if (text == name) return now;
    return nullptr;
  }

  static bool is_known_graph_name(std::string_view text) {
    static constexpr std::string_view kKnown[] = {
        "cudaGraphAddChildGraphNode",
        "cudaGraphAddDependencies",
        "cudaGraphAddEmptyNode",
        "cudaGraphAddEventRecordNode",
        "cudaGraphAddEventWaitNode",
        "cudaGraphAddHostNode",
        "cudaGraphAddKernelNode",
        "cudaGraphAddMemAllocNode",
        "cudaGraphAddMemFreeNode",
        "cudaGraphAddMemcpyNode",
        "cudaGraphAddMemcpyNode1D",
        "cudaGraphAddMemsetNode",
        "cudaGraphChildGraphNodeGetGraph",
        "cudaGraphClone",
        "cudaGraphCreate",
        "cudaGraphDestroy",
        "cudaGraphDestroyNode",
        "cudaGraphEdgeData",
        "cudaGraphEventRecordNodeGetEvent",
        "cudaGraphEventRecordNodeSetEvent",
        "cudaGraphEventWaitNodeGetEvent",
        "cudaGraphEventWaitNodeSetEvent",
        "cudaGraphExecChildGraphNodeSetParams",
        "cudaGraphExecDestroy",
        "cudaGraphExecEventRecordNodeSetEvent",
        "cudaGraphExecEventWaitNodeSetEvent",
        "cudaGraphExecHostNodeSetParams",
        "cudaGraphExecKernelNodeSetParams",
        "cudaGraphExecMemcpyNodeSetParams",
        "cudaGraphExecMemcpyNodeSetParams1D",
        "cudaGraphExecMemsetNodeSetParams",
        "cudaGraphExecUpdate",
        "cudaGraphExecUpdateError",
        "cudaGraphExecUpdateErrorFunctionChanged",
        "cudaGraphExecUpdateErrorNodeTypeChanged",
        "cudaGraphExecUpdateErrorNotSupported",
        "cudaGraphExecUpdateErrorParametersChanged",
        "cudaGraphExecUpdateErrorTopologyChanged",
        "cudaGraphExecUpdateResult",
        "cudaGraphExecUpdateResultInfo",
        "cudaGraphExecUpdateSuccess",
        "cudaGraphExec_t",
        "cudaGraphGetEdges",
        "cudaGraphGetNodes",
        "cudaGraphGetRootNodes",
        "cudaGraphHostNodeGetParams",
        "cudaGraphHostNodeSetParams",
        "cudaGraphInstantiate",
        "cudaGraphInstantiateFlagAutoFreeOnLaunch",
        "cudaGraphInstantiateFlags",
        "cudaGraphInstantiateWithFlags",
        "cudaGraphKernelNodeGetParams",
        "cudaGraphKernelNodeSetParams",
        "cudaGraphLaunch",
        "cudaGraphMemAllocNodeGetParams",
        "cudaGraphMemAttrReservedMemCurrent",
        "cudaGraphMemAttrReservedMemHigh",
        "cudaGraphMemAttrUsedMemCurrent",
        "cudaGraphMemAttrUsedMemHigh",
        "cudaGraphMemAttributeType",
        "cudaGraphMemFreeNodeGetParams",
        "cudaGraphMemcpyNodeGetParams",
        "cudaGraphMemcpyNodeSetParams",
        "cudaGraphMemcpyNodeSetParams1D",
        "cudaGraphMemsetNodeGetParams",
        "cudaGraphMemsetNodeSetParams",
        "cudaGraphNodeFindInClone",
        "cudaGraphNodeGetDependencies",
        "cudaGraphNodeGetDependentNodes",
        "cudaGraphNodeGetEnabled",
        "cudaGraphNodeGetType",
        "cudaGraphNodeSetEnabled",
        "cudaGraphNodeType",
        "cudaGraphNodeTypeEmpty",
        "cudaGraphNodeTypeEventRecord",
        "cudaGraphNodeTypeGraph",
        "cudaGraphNodeTypeHost",
        "cudaGraphNodeTypeKernel",
        "cudaGraphNodeTypeMemAlloc",
        "cudaGraphNodeTypeMemFree",
        "cudaGraphNodeTypeMemcpy",
        "cudaGraphNodeTypeMemset",
        "cudaGraphNodeTypeWaitEvent",
        "cudaGraphNode_t",
        "cudaGraphRemoveDependencies",
        "cudaGraphUpload",
        "cudaGraph_t",
    };
    return std::find(std::begin(kKnown), std::end(kKnown), text) != std::end(kKnown);
  }

  /// Those with a level of detail, gradients, or four neighbours at once; layers of cubemaps.
  static bool is_missing_texture_function(std::string_view text) {
    static constexpr std::string_view kMissing[] = {
        "tex1DGrad",
        "tex1DLayeredGrad",
        "tex1DLayeredLod",
        "tex1DLod",
        "tex2DGrad",
        "tex2DLayeredGrad",
        "tex2DLayeredLod",
        "tex2DLod",
        "tex2Dgather",
        "tex3DGrad",
        "tex3DLod",
        "texCubemapGrad",
        "texCubemapLayered",
        "texCubemapLod",
        "surf1DLayeredread",
        "surfCubemapread",
        "surfCubemapLayeredread",
        "surf1DLayeredwrite",
        "surfCubemapwrite",
        "surfCubemapLayeredwrite",
    };
    return std::find(std::begin(kMissing), std::end(kMissing), text) != std::end(kMissing);
  }

  std::size_t first_token_after(std::size_t offset) const {
    std::size_t low = 0, high = syntax_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (syntax_.token(middle).begin < offset)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /// nvcc's `#pragma unroll` would be attached to the marker in front of the loop; and accesses are counted as written.
  void drop_unroll_pragmas() {
    for (const Directive& directive : source_.directives) {
      std::string_view text = source_.text.substr(directive.begin, directive.end - directive.begin);
      std::size_t at = text.find_first_not_of("# \t");
      if (at == std::string_view::npos || text.substr(at, 6) != "pragma") continue;
      at = text.find_first_not_of(" \t", at + 6);
      if (at == std::string_view::npos) continue;
      if (text.substr(at).starts_with("unroll") || text.substr(at).starts_with("nounroll")) {
        edits_.push_back({directive.begin, directive.end, Edit::replace, ""});
        const std::size_t count = text.find_first_not_of(" \t(", at + std::string_view("unroll").size());
        const bool one = count != std::string_view::npos && text[count] == '1' &&
                         text.find_first_of("0123456789", count + 1) == std::string_view::npos;
        if (one || text.substr(at).starts_with("nounroll")) kept_loops_.insert(first_token_after(directive.end));
      }
    }
  }

  const LexedSource& source_;
  Syntax syntax_;
  std::vector<Side> side_;
  bool homework_;  // see rewrite()
  HostFunctions host_functions_;
  std::vector<Edit> edits_;
  std::vector<std::pair<std::size_t, std::string>> loop_ends_;  // last token, and what is behind it
  std::vector<std::pair<std::size_t, Diagnostic>> diagnostics_;
  std::unordered_set<std::string> reported_;
  std::unordered_set<std::size_t> declarations_;  // first tokens of those dealt with
  std::vector<std::size_t> bodies_;               // `{` of device functions and lambdas
  std::unordered_map<std::string_view, int> kernel_names_;
  bool uses_std_ = false;  // `using namespace std`
  std::unordered_map<std::string_view, Parameters> kernel_parameters_;
  std::set<std::string_view> template_kernels_;
  std::set<std::string_view> tells_parameters_;  // kernels: see tell_parameters()
  int registrations_ = 0;
  std::vector<std::string> included_;                              // names of files, from the folder of headers on
  std::unordered_map<std::string_view, FunctionSides> functions_;  // by name
  struct HostVariable {
    std::size_t declared = kNone;  // token of its name
    bool array = false, constant = false;
  };
  std::unordered_map<std::string_view, HostVariable> host_variables_;
  std::unordered_set<std::string_view> device_variables_;  // at namespace scope, without managed ones
  std::unordered_set<std::string_view> device_arrays_;     // those of them that turn into pointers
  std::unordered_set<std::string_view> struct_names_;
  std::map<Called, std::vector<Declaration>> declared_;  // of device functions
  std::set<Called> recursive_;                           // of these, those that move structs
  std::vector<SharedName> shared_names_;
  std::vector<SharedName> shadows_;
  std::unordered_map<std::string_view, std::vector<NamespaceShared>> namespace_shared_;
  std::unordered_set<std::size_t> kept_loops_;  // those that are not to be unrolled
  std::unordered_set<std::size_t> do_tails_;    // the `while` of a `do`
  std::vector<std::size_t> open_loops_;         // one past the end of the loops around the current token
};

}  // namespace

std::vector<DeviceBody> device_bodies(const LexedSource& source) { return Rewriter(source).bodies(); }

std::string device_lines(std::string_view preprocessed_source, std::string_view file) {
  const LexedSource source = lex(preprocessed_source, file);
  const Syntax syntax(source);
  std::string lines;
  for (const DeviceBody& body : device_bodies(source)) {
    const Token &first = source.tokens[body.open], &last = source.tokens[syntax.match(body.open)];
    lines += source.files[first.file] + ":" + std::to_string(first.line) + ":" + std::to_string(last.line) + "\n";
  }
  return lines;
}

namespace {

// The name of the parameter in [begin, end), empty where it has none: `const float* a`, `float (&a)[4]`, `int a[2]`.
std::string_view parameter_name(const Syntax& syntax, std::size_t begin, std::size_t end) {
  std::size_t last = end;
  while (last > begin + 1 && syntax.is(last - 1, "]")) last = syntax.match(last - 1);
  if (last > begin && syntax.is(last - 1, ")") && syntax.match(last - 1) > begin) --last;
  if (last < begin + 2 || !syntax.is_name(last - 1) || is_builtin_type(syntax.text(last - 1))) return "";
  if (syntax.is(last - 2, "::")) return "";
  for (std::size_t k = begin; k + 1 < last; ++k) {  // something before the name is the type
    if (syntax.is_identifier(k) && !is_specifier(syntax.text(k))) return syntax.text(last - 1);
  }
  return "";
}

// `a::b::`, the namespaces around token i; nothing for those without a name.
std::string namespaces_around(const Syntax& syntax, std::size_t i) {
  std::string path;
  for (std::size_t brace = syntax.enclosing(i); brace != kNone; brace = syntax.enclosing(brace)) {
    std::size_t first = brace;
    std::string name;
    while (first > 0 && (syntax.is(first - 1, "::") || syntax.is_name(first - 1)))
      name = std::string(syntax.text(--first)) + name;
    if (!name.empty() && first > 0 && syntax.is(first - 1, "namespace")) path = name + "::" + path;
  }
  return path;
}

}  // namespace

std::string kernel_list(std::string_view preprocessed_source, std::string_view file) {
  const LexedSource source = lex(preprocessed_source, file);
  const Syntax syntax(source);
  std::string list;
  std::size_t done = 0;
  for (std::size_t i = 0; i < syntax.size(); ++i) {
    if (!syntax.is(i, "__global__") || i < done || syntax.scope_of(i) == ScopeKind::function) continue;
    if (source.files[syntax.token(i).file] != file) continue;
    const Declaration decl = syntax.parse_declaration(syntax.declaration_begin(i));
    if (decl.kind != DeclKind::function || decl.body == kNone) continue;
    done = decl.end;
    std::string name;
    if (!syntax.join(decl.name_begin, decl.name + 1, name)) continue;
    const std::size_t open = decl.parameters, close = syntax.match(open);
    list += std::to_string(syntax.token(decl.begin).line) + (decl.is_template ? "\ttemplate\t" : "\tkernel\t") +
            namespaces_around(syntax, decl.begin) + name;
    for (std::size_t begin = open + 1; begin < close;) {
      std::size_t end = begin;
      for (; end < close && !syntax.is(end, ","); ++end) {
        if (syntax.is_any(end, {"(", "[", "{"})) end = syntax.match(end);
        if (syntax.is(end, "<") && syntax.is_identifier(end - 1) && syntax.match_angle(end) < close)
          end = syntax.match_angle(end);
      }
      std::size_t declared = begin;  // without a default value
      while (declared < end && !syntax.is(declared, "=")) ++declared;
      std::string text;
      for (std::size_t k = begin; k < declared; ++k) {
        const bool blank = k > begin && !syntax.touches(k - 1, k);
        text += (blank ? " " : "") + std::string(syntax.text(k));
      }
      list += "\t" + std::string(parameter_name(syntax, begin, declared)) + "\t" + text;
      begin = end + 1;
    }
    list += "\n";
  }
  return list;
}

RewriteResult rewrite(std::string_view preprocessed_source, std::string_view file, bool homework,
                      HostFunctions host_functions) {
  LexedSource source = lex(preprocessed_source, file);
  return Rewriter(source, homework, host_functions).run();
}

}  // namespace tilewise::sim
