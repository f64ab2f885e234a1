// Words that mean something else in device code: threadIdx, memcpy, new, atomicAdd whose result nobody uses ...
#include "rewriting.hpp"

namespace tilewise::sim {
namespace {

/// Calls whose pointers are device pointers.
bool is_memory_call(std::string_view name) {
  return (name.starts_with("cudaMemcpy") || name.starts_with("cudaMemset") || name == "cudaFree") &&
         name.find("Symbol") == std::string_view::npos;
}

}  // namespace

/// `if (c) __syncthreads(); else __syncthreads();`: lines of source can't tell these apart at run time, so they get
/// numbers. `i` is one of them.
void Rewriter::number_barrier(std::size_t i) {
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
bool Rewriter::is_template_of_class(std::size_t i) const {
  if (i < 2 || !syntax_.is(i - 1, "::") || !syntax_.is(i - 2, ">") || !syntax_.is(i + 1, "<")) return false;
  const std::size_t end = syntax_.match_angle(i + 1);
  return end != kNone && syntax_.is(end + 1, "(") && syntax_.scope_of(i) == ScopeKind::function;
}

void Rewriter::rewrite_word(std::size_t i) {
  refuse_unsupported(i);
  std::string_view text = syntax_.text(i);
  if (side_[i] == kHost && syntax_.is(i + 1, "(") && is_memory_call(text)) rewrite_host_addresses(i + 1);
  refuse_call(i);
  refuse_intrinsic(i);
  refuse_variable(i);
  if (text == "throw" || text == "try") refuse_exception(i);
  if (is_template_of_class(i)) insert_before(i, "template ");
  if (text == "union") complete_union(i);
  if (text == "bit_cast" && i > 1 && syntax_.is(i - 1, "::") && syntax_.is(i - 2, "std") && !syntax_.is(i - 3, "::"))
    replace(i - 2, i + 1, "::tilewise::sim::bit_cast");
  if (side_[i] == kHost && is_in_default_of_member(i)) return rewrite_builtin(i);
  if (text == "__on_device__")  // join_sides() writes it
    return replace(i, i + 1, "!__builtin_is_constant_evaluated() && ::tilewise::sim::on_device()");
  if (text.starts_with("__builtin_assume") || text == "__builtin_unreachable") rewrite_promise(i);
  if (side_[i] == kHost) return;
  if (!recursive_.empty()) rewrite_recursive_call(i);
  if (text.starts_with("__syncthreads")) number_barrier(i);
  if (text == "for" || text == "while" || text == "do") {
    mark_loop(i);
  } else if (text == "if") {
    predicate_branch(i);
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
    discard_result(i);
  } else if (text.starts_with("mem") || text.starts_with("__builtin_mem")) {
    rewrite_byte_copy(i);
  } else if (text == "malloc" || text == "free") {
    rewrite_heap_call(i);
  } else if (text == "printf" || text == "vprintf") {
    rewrite_print_call(i);
  } else if (text == "new") {
    if (allocates(i)) insert_after(i, " (::tilewise::sim::on_heap)");
  } else if (text == "delete") {
    rewrite_delete(i);
  } else if (text == "clock") {
    rewrite_clock(i);
  } else {
    rewrite_builtin(i);
  }
}

/// `threadIdx.x` in `struct Place { int column = threadIdx.x; };`: code of the constructor, which is device code.
bool Rewriter::is_in_default_of_member(std::size_t i) const {
  if (!syntax_.is_any(i, {"threadIdx", "blockIdx", "blockDim", "gridDim"}) || !syntax_.is(i + 1, ".")) return false;
  std::size_t k = i;
  while (k > 0 && !syntax_.is_any(k - 1, {";", "}", "="})) {
    if (syntax_.is(k - 1, "{") && syntax_.scope_of(k - 1) == ScopeKind::class_scope) break;
    --k;
  }
  return k > 0 && syntax_.is_any(k - 1, {"=", "{"}) && syntax_.scope_of(k - 1) == ScopeKind::class_scope;
}

/// The names of device variables among the arguments, `table` and `&counter`: there they are host addresses.
void Rewriter::rewrite_host_addresses(std::size_t open) {
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

/// An atomic whose result nobody uses: nvcc emits a reduction.
void Rewriter::discard_result(std::size_t i) {
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
void Rewriter::rewrite_chosen_array(std::size_t i) {
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

std::string_view Rewriter::builtin_text(std::string_view name) {
  if (name == "threadIdx") return " ::tilewise::sim::thread_idx()";
  if (name == "blockIdx") return " ::tilewise::sim::block_idx()";
  if (name == "blockDim") return " ::tilewise::sim::block_dim()";
  if (name == "gridDim") return " ::tilewise::sim::grid_dim()";
  if (name == "warpSize") return "32";
  return {};
}

/// `union F4 { float4 v; float f[4]; };` can be copied with nvcc, whose vectors are plain structs. Here they have
/// constructors, so a union that holds one gets its own: it's copied as a whole, and begins as an aggregate would.
void Rewriter::complete_union(std::size_t i) {
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

/// `clock()` of device code, which is not the C library's.
void Rewriter::rewrite_clock(std::size_t i) {
  if (!syntax_.is(i + 1, "(") || !syntax_.is(i + 2, ")") || declares(i)) return;
  if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return;
  const bool qualified = i > 0 && syntax_.is(i - 1, "::");
  if (qualified && i > 1 && (syntax_.is_identifier(i - 2) || syntax_.is(i - 2, ">")) &&
      !is_statement_keyword(syntax_.text(i - 2)))
    return;  // the program's own
  replace(qualified ? i - 1 : i, i + 1, " ::tilewise::sim::clock");
}

/// memcpy and memset in device code, which the compiler must not take for calls of the C library.
void Rewriter::rewrite_byte_copy(std::size_t i) {
  const std::string_view name = syntax_.text(i);
  const bool copies = name == "memcpy" || name == "__builtin_memcpy";
  if (!copies && name != "memset" && name != "__builtin_memset") return;
  if (const std::size_t begin = call_of_c_function(i); begin != kNone)
    replace(begin, i + 1, copies ? " ::tilewise::sim::copy_bytes" : " ::tilewise::sim::set_bytes");
}

/// Where the call of a function of the C library begins whose name is at `i`, `std::memcpy(`; kNone: it's none.
std::size_t Rewriter::call_of_c_function(std::size_t i) const {
  if (!syntax_.is(i + 1, "(") || declares(i)) return kNone;
  if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return kNone;
  if (i == 0 || !syntax_.is(i - 1, "::")) return i;
  if (i > 1 && syntax_.is(i - 2, "std")) return i > 2 && syntax_.is(i - 3, "::") ? i - 3 : i - 2;
  // A name before it is the program's own.
  return i > 1 && (syntax_.is_identifier(i - 2) || syntax_.is(i - 2, ">")) ? kNone : i - 1;
}

/// `malloc(bytes)` and `free(p)`.
void Rewriter::rewrite_heap_call(std::size_t i) {
  const bool allocates = syntax_.is(i, "malloc");
  if (functions_.count(syntax_.text(i)) != 0) return;
  if (const std::size_t begin = call_of_c_function(i); begin != kNone)
    replace(begin, i + 1, allocates ? " ::tilewise::sim::heap_allocate" : " ::tilewise::sim::heap_free");
}

/// `printf(format, ...)` and `vprintf(format, list)`: the launch can't be left out, even if it changes no memory.
void Rewriter::rewrite_print_call(std::size_t i) {
  const bool has_list = syntax_.is(i, "vprintf");
  if (functions_.count(syntax_.text(i)) != 0) return;
  if (const std::size_t begin = call_of_c_function(i); begin != kNone)
    replace(begin, i + 1,
            std::string(" ::tilewise::sim::Print") + (has_list ? "List{" : "{") + std::to_string(i) + "}");
}

/// `delete p` and `delete[] p`, but not `= delete` and `operator delete`.
void Rewriter::rewrite_delete(std::size_t i) {
  if (i > 0 && syntax_.is_any(i - 1, {"=", "operator"})) return;
  const bool array = syntax_.is(i + 1, "[") && syntax_.is(i + 2, "]");
  const std::size_t begin = i > 0 && syntax_.is(i - 1, "::") ? i - 1 : i;
  replace(begin, array ? i + 3 : i + 1,
          array ? " ::tilewise::sim::heap_delete_array->*" : " ::tilewise::sim::heap_delete->*");
}

/// What the program promises its compiler, which is looked at instead of believed. `__builtin_assume()` is device code's.
void Rewriter::rewrite_promise(std::size_t i) {
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
bool Rewriter::declares(std::size_t i) const {
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
void Rewriter::find_shadows() {
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

void Rewriter::rewrite_builtin(std::size_t i) {
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

}  // namespace tilewise::sim
