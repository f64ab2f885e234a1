// Pointers through which a member of a struct, or a whole one, is accessed: from their types nvcc knows how far it is aligned.
#include "rewriting.hpp"

namespace tilewise::sim {

/// Whether a member is accessed whose dot or arrow is token i: `.x`, or by `.f()`, but not `.x[j]`: of elements of a
/// member, nvcc knows no more than their own alignment, unless it's told which one.
bool Rewriter::accesses_member(std::size_t i) const {
  if (!syntax_.is_any(i, {".", "->"}) || !syntax_.is_name(i + 1)) return false;
  if (!syntax_.is(i + 2, "[")) return true;
  return i + 4 < syntax_.size() && syntax_.token(i + 3).kind == TokenKind::number && syntax_.is(i + 4, "]");
}

/// The last token of the pointer that begins at i and whose target's member is accessed: `p` in `p[i].x`, `p->x`,
/// `(*p).x` and `(p)[i].x`, `p[0]` in `p[0][i].x`, `s.p` in `s.p[i].x`; else kNone. So in `return p[i];`, by reference. From its type nvcc knows how far x is aligned.
std::size_t Rewriter::pointer_of_member_access(std::size_t i) const {
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
bool Rewriter::is_member_access_by_reference(std::size_t i) const {
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
std::size_t Rewriter::pointer_of_reference(std::size_t i) const {
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
std::size_t Rewriter::pointer_of_value(std::size_t i) const {
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
std::size_t Rewriter::operand_of_cast(std::size_t i) const {
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
bool Rewriter::is_in_type(std::size_t open) const {
  return !syntax_.is(open - 1, ">") ||
         (syntax_.is_any(open + 1, {"*", "&"}) && syntax_.is_any(open + 2, {")", "const"}));
}

/// Whether token i is the name of a pointer, as a declaration further up says: `T* p`, `const T* __restrict__ p`.
/// `to_struct`: to a type that the program declares.
bool Rewriter::is_declared_pointer(std::size_t i, bool to_struct) const {
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

}  // namespace tilewise::sim
