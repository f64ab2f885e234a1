#include "rewriter.hpp"

#include <algorithm>

#include "rewriting.hpp"

namespace tilewise::sim {

Rewriter::Rewriter(const LexedSource& source, bool homework, HostFunctions host_functions)
    : source_(source),
      syntax_(source),
      side_(source.tokens.size(), kHost),
      homework_(homework),
      host_functions_(host_functions) {}

std::vector<DeviceBody> Rewriter::bodies() {
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (is_marker(i)) rewrite_marker(i);
  }
  std::vector<DeviceBody> found;
  for (std::size_t open : bodies_) found.push_back({open, side_[open] == kBoth});
  return found;
}

RewriteResult Rewriter::run() {
  drop_unroll_pragmas();
  count_kernel_names();
  find_struct_names();
  find_recursive_functions();
  find_function_sides();
  find_host_variables();
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (is_marker(i)) rewrite_marker(i);
  }
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (syntax_.is(i, "static") && side_[i] == kDevice) register_device_static(i);
  }
  share_namespace_variables();
  capture_shared_variables();
  find_shadows();
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (syntax_.is(i, "<")) {
      rewrite_launch(i);
    } else if (syntax_.is_identifier(i)) {
      rewrite_word(i);
      tell_kernel_type(i);
    } else if (syntax_.is(i, "(") && side_[i] != kHost) {
      rewrite_chosen_array(i);
    } else if (syntax_.is(i, "[") && syntax_.opens_lambda(i)) {
      inline_lambda(i);
    } else if (syntax_.is(i, "[") && side_[i] == kDevice) {
      demand_constant_bounds(i);
    } else if (syntax_.is(i, "?") && side_[i] != kHost) {
      predicate_conditional(i);
    }
  }
  end_loops();
  join_lines();
  if (const std::size_t open = unclosed_brace(); open != kNone) {
    diagnostics_.clear();  // they follow from it
    error(open, "the \"{\" in this line is never closed: add the \"}\" that is missing");
  }
  RewriteResult result;
  if (host_functions_ != HostFunctions::unseen) mark_functions(result.functions);
  result.text = apply_edits();
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [position, diagnostic] : diagnostics_) result.diagnostics.push_back(std::move(diagnostic));
  return result;
}

void Rewriter::insert_before(std::size_t i, std::string text) {
  std::size_t position = syntax_.token(i).begin;
  edits_.push_back({position, position, Edit::before, std::move(text)});
}

void Rewriter::insert_after(std::size_t i, std::string text) {
  std::size_t position = syntax_.token(i).end();
  edits_.push_back({position, position, Edit::after, std::move(text)});
}

/// Replaces tokens [begin, end). Newlines and line markers among them stay, after `text`.
void Rewriter::replace(std::size_t begin, std::size_t end, std::string text) {
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
void Rewriter::join_lines() {
  for (const std::size_t at : source_.line_joints) edits_.push_back({at, at + 1, Edit::replace, " "});
}

std::string Rewriter::apply_edits() {
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

void Rewriter::error(std::size_t i, std::string message) {
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

void Rewriter::unsupported(std::size_t i, std::string_view feature, std::string_view instead) {
  error(i, "the simulator does not support " + std::string(feature) + ": " + std::string(instead));
}

/// The `{` of the function that a kernel stands in, else the first that is open at the end of the file, that of a namespace last; kNone
/// where there are as many `}`.
std::size_t Rewriter::unclosed_brace() const {
  std::size_t opened = 0, closed = 0, unclosed = kNone;
  const auto of_namespace = [&](std::size_t i) {
    while (i > 0 && (syntax_.is_name(i - 1) || syntax_.is(i - 1, "::"))) --i;
    return i > 0 && (syntax_.is(i - 1, "namespace") || syntax_.token(i - 1).kind == TokenKind::string);
  };
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    opened += syntax_.is(i, "{");
    closed += syntax_.is(i, "}");
    if (syntax_.is(i, "{") && syntax_.match(i) == kNone && (unclosed == kNone || of_namespace(unclosed))) unclosed = i;
  }
  if (opened <= closed) return kNone;
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (!syntax_.is(i, "__global__")) continue;
    std::size_t outermost = kNone;
    for (std::size_t open = syntax_.enclosing(i); open != kNone; open = syntax_.enclosing(open))
      if (syntax_.is(open, "{") && open > 0 && syntax_.is(open - 1, ")")) outermost = open;
    if (outermost != kNone) return outermost;
  }
  return unclosed;
}

/// The `{` of the device function around token i; kNone outside of one.
std::size_t Rewriter::function_body_of(std::size_t i) const {
  std::size_t body = kNone;
  for (std::size_t open = syntax_.enclosing(i); open != kNone; open = syntax_.enclosing(open))
    if (std::find(bodies_.begin(), bodies_.end(), open) != bodies_.end()) body = open;
  return body;
}

std::size_t Rewriter::first_token_after(std::size_t offset) const {
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

RewriteResult rewrite(std::string_view preprocessed_source, std::string_view file, bool homework,
                      HostFunctions host_functions) {
  LexedSource source = lex(preprocessed_source, file);
  return Rewriter(source, homework, host_functions).run();
}

}  // namespace tilewise::sim
