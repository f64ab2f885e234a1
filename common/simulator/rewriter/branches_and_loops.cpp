// Branches that nvcc executes under a predicate, and loops, whose turns are warp instructions of their own.
#include "rewriting.hpp"

#include <algorithm>

namespace tilewise::sim {

/// About how many instructions the accesses and the arithmetic of [begin, end) are, or 0 where nvcc keeps a branch, or has
/// nothing to access. A pointer that is new in the function has to be fetched, and indexed, where no loop is around it.
int Rewriter::predicated_cost(std::size_t begin, std::size_t end) {
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

/// Whether the function has accessed something through this pointer before.
bool Rewriter::used_before(std::size_t i) const {
  const std::size_t body = function_body_of(i);
  for (std::size_t k = body == kNone ? i : body; k < i; ++k)
    if (syntax_.text(k) == syntax_.text(i) && syntax_.is(k + 1, "[")) return true;
  return false;
}

/// Marks the condition [begin, end) of a branch that nvcc turns into predicates.
void Rewriter::may_skip(std::size_t begin, std::size_t end) {
  // Round what has been put in front of the same token already: that belongs to a part of the condition.
  const std::size_t position = syntax_.token(begin).begin;
  const auto recent = edits_.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(edits_.size(), 256));
  const auto inner = std::find_if(
      recent, edits_.end(), [=](const Edit& edit) { return edit.begin == position && edit.rank == Edit::before; });
  edits_.insert(inner, {position, position, Edit::before, " ::tilewise::sim::may_skip(static_cast<bool>("});
  insert_after(end - 1, "))");
}

/// `if (c) a[i] = b[i];`: nvcc executes the body's instructions in all warps, and they do nothing where c is false.
void Rewriter::predicate_branch(std::size_t i) {
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
void Rewriter::predicate_conditional(std::size_t i) {
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
  if (syntax_.is_any(begin - 1, {"(", "["}) && !(begin > 1 && syntax_.is_any(begin - 2, {"=", "(", "+=", "+"}))) return;
  if (under_short_if(begin)) return;
  if (predicated_cost(i + 1, colon) != 0) may_skip(begin, i);
}

/// In `if (c) x = d ? a[i] : 0;` there is a branch for both.
bool Rewriter::under_short_if(std::size_t i) const {
  while (i > 0 && !syntax_.is_any(i - 1, {";", "{", "}"})) {
    --i;
    if (syntax_.is(i, "if")) return true;
  }
  return false;
}

void Rewriter::mark_loop(std::size_t i) {
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
  // Compilers see that the loop is entered once: what it assigns has a value after it, and nothing follows an endless
  // one. `if (...; false) {} else` would catch an `else` of the program's own.
  insert_before(i, "for (::tilewise::sim::Loop " + declared + ";;) { ");
  const bool braces = syntax_.is(body, "{");
  insert_after(braces ? body : body - 1, std::string(braces ? "" : " {") + " " + name + ".tick();");
  if (!braces && body_end != end) loop_ends_.emplace_back(body_end - 1, " }");
  const std::string leave = " if (" + name + ".left()) break; }";
  loop_ends_.emplace_back(end - 1, (!braces && body_end == end ? " }" : "") + leave);
}

/// Loops may end at the same token: then the inner one, which begins later, ends first.
void Rewriter::end_loops() {
  for (auto it = loop_ends_.rbegin(); it != loop_ends_.rend(); ++it) insert_after(it->first, it->second);
}

/// What nvcc knows of the loop at i, as the marker's argument: empty when nothing.
std::string Rewriter::loop_facts(std::size_t i) const {
  if (kept_loops_.count(i)) return "{::tilewise::sim::kKeptLoop}";
  const std::string constant = constant_trips(i);
  if (constant.empty()) return "";
  return "{" + (constant == "1" ? "" : constant + " ? ") + "::tilewise::sim::kConstantTrips" +
         (constant == "1" ? "" : " : 0u") + "}";
}

/// Whether a `for` runs from a constant to a constant: an expression, "1" for yes, or "" for no. Of names, the compiler
/// knows which are constants.
std::string Rewriter::constant_trips(std::size_t i) const {
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

bool Rewriter::has_foreign_label(std::size_t begin, std::size_t end) const {
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

/// nvcc's `#pragma unroll` would be attached to the marker in front of the loop; and accesses are counted as written.
void Rewriter::drop_unroll_pragmas() {
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

}  // namespace tilewise::sim
