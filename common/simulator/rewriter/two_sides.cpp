#include "two_sides.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "lexer.hpp"
#include "syntax.hpp"

namespace tilewise::sim {
namespace {

/// The name of a file as spelled in a line marker, without the escapes.
std::string unescaped(std::string_view spelled) {
  std::string name;
  for (std::size_t k = 0; k < spelled.size(); ++k) {
    if (spelled[k] == '\\' && k + 1 < spelled.size()) ++k;
    name += spelled[k];
  }
  return name;
}

/// One text, and what is known of it.
struct OneSide {
  LexedSource source;
  Syntax syntax;
  std::vector<DeviceBody> bodies;

  OneSide(std::string_view text, std::string_view file)
      : source(lex(text, file)), syntax(source), bodies(device_bodies(source)) {}

  std::size_t size() const { return source.tokens.size(); }
  const Token& token(std::size_t i) const { return source.tokens[i]; }
  const std::string& file(std::size_t i) const { return source.files[token(i).file]; }

  /// A line marker: what follows is on the line of token i.
  std::string at_line(std::size_t i) const { return "\n# " + std::to_string(token(i).line) + " \"" + file(i) + "\"\n"; }
  /// What stands between the braces.
  std::string_view between(std::size_t open, std::size_t close) const {
    return source.text.substr(token(open).end(), token(close).begin - token(open).end());
  }
};

/// Tokens that stand on one side only, or differ: [host_begin, host_end) against [device_begin, device_end).
struct Difference {
  std::size_t host_begin, host_end, device_begin, device_end;
};

/// The same body on both sides.
struct Body {
  std::size_t host_open, device_open;
  bool both;  // host and device code run it
};

/// A declaration outside of functions.
struct Item {
  std::size_t begin, end;  // tokens, half open
  std::string_view name;   // empty when it declares neither a function nor a variable
  bool function, device, host, kernel;
};

class Joiner {
 public:
  Joiner(std::string_view host, std::string_view device, std::string_view file)
      : host_(host, file), device_(device, file) {}

  RewriteResult run() {
    find_differences();
    for (const Difference& d : differences_) {
      if (!in_launch_bounds(d) && !in_a_body(d)) outside_of_bodies(d);
    }
    for (const Body& body : bodies_) replace_body(body);
    result_.text = edited();
    return std::move(result_);
  }

 private:
  // -------------------------------------------------------------- what differs

  std::string key(const OneSide& side, std::size_t i) const {
    const Token& t = side.token(i);
    return std::string(t.text) + '\n' + std::to_string(t.line) + ' ' + side.file(i);
  }

  bool same(std::size_t h, std::size_t d) const {
    const Token &a = host_.token(h), &b = device_.token(d);
    return a.line == b.line && a.text == b.text && host_.file(h) == device_.file(d);
  }

  /// A few tokens in a row, so that a comma is not taken for another one in the same line.
  bool same_run(std::size_t h, std::size_t d) const {
    constexpr std::size_t kRun = 4;
    for (std::size_t k = 0; k < kRun; ++k) {
      const bool host_ends = h + k >= host_.size(), device_ends = d + k >= device_.size();
      if (host_ends || device_ends) return host_ends && device_ends;
      if (!same(h + k, d + k)) return false;
    }
    return true;
  }

  void find_differences() {
    partner_.assign(host_.size(), kNone);
    std::size_t h = 0, d = 0;
    while (h < host_.size() && d < device_.size()) {
      if (same(h, d)) {
        partner_[h++] = d++;
        continue;
      }
      const auto [next_h, next_d] = meet_again(h, d);
      differences_.push_back({h, next_h, d, next_d});
      h = next_h;
      d = next_d;
    }
    if (h < host_.size() || d < device_.size()) differences_.push_back({h, host_.size(), d, device_.size()});
  }

  /// The next tokens from which both texts go on alike.
  std::pair<std::size_t, std::size_t> meet_again(std::size_t h, std::size_t d) {
    if (places_.empty()) {
      for (std::size_t i = 0; i < device_.size(); ++i) places_[key(device_, i)].push_back(i);
    }
    for (; h < host_.size(); ++h) {
      const auto found = places_.find(key(host_, h));
      if (found == places_.end()) continue;
      const std::vector<std::size_t>& at = found->second;
      for (auto place = std::lower_bound(at.begin(), at.end(), d); place != at.end(); ++place) {
        if (same_run(h, *place)) return {h, *place};
      }
    }
    return {host_.size(), device_.size()};
  }

  void error(const OneSide& side, std::size_t i, std::string message) {
    result_.diagnostics.push_back({unescaped(side.file(i)), side.token(i).line, std::move(message)});
  }

  /// True where the difference lies in the parenthesis of `__launch_bounds__`, which is for device code alone: that has what holds.
  bool in_launch_bounds(const Difference& d) {
    if (d.host_begin == d.host_end || d.device_begin == d.device_end) return false;
    const std::size_t open = host_.syntax.enclosing(d.host_begin);
    if (open == kNone || open == 0 || !host_.syntax.is(open - 1, "__launch_bounds__")) return false;
    if (host_.syntax.match(open) < d.host_end) return false;
    const std::size_t from = device_.token(d.device_begin).begin, to = device_.token(d.device_end - 1).end();
    edits_.push_back({host_.token(d.host_begin).begin, host_.token(d.host_end - 1).end(),
                      std::string(device_.source.text.substr(from, to - from))});
    return true;
  }

  // -------------------------------------------------------------- bodies of functions

  /// True where the difference lies in a function's body; it is noted where device code runs the function.
  bool in_a_body(const Difference& d) {
    const Body* found = nullptr;
    Body body{};
    for (const DeviceBody& candidate : host_.bodies) {  // the innermost one is the one that opens last
      const std::size_t close = host_.syntax.match(candidate.open), partner = partner_[candidate.open];
      if (!(candidate.open < d.host_begin && close != kNone && close >= d.host_end)) continue;
      if (partner == kNone || partner_[close] != device_.syntax.match(partner)) continue;
      if (found == nullptr || candidate.open > found->host_open) {
        body = {candidate.open, partner, candidate.host};
        found = &body;
      }
    }
    if (found == nullptr) {
      const bool on_host = d.host_begin < d.host_end;
      const std::size_t open =
          on_host ? function_around(host_, d.host_begin) : function_around(device_, d.device_begin);
      if (open == kNone) return false;
      if (!is_constexpr(on_host ? host_ : device_, open)) return true;  // host code alone: it stays as it is
      const std::size_t host_open =
          on_host ? open : std::find(partner_.begin(), partner_.end(), open) - partner_.begin();
      if (host_open >= host_.size() || partner_[host_open] == kNone) return false;
      body = {host_open, partner_[host_open], true};
    }
    for (const Body& known : bodies_) {
      if (known.host_open == body.host_open) return true;
    }
    bodies_.push_back(body);
    return true;
  }

  /// The `{` of the function that token i is in; kNone outside of functions.
  static std::size_t function_around(const OneSide& side, std::size_t i) {
    std::size_t open = side.syntax.enclosing(i);
    while (open != kNone && side.syntax.scope_of(open) == ScopeKind::function) open = side.syntax.enclosing(open);
    if (open == kNone || !side.syntax.is(open, "{")) return kNone;
    const Declaration decl = side.syntax.parse_declaration(side.syntax.declaration_begin(open));
    return decl.kind == DeclKind::function && decl.body == open ? open : kNone;
  }

  static bool is_constexpr(const OneSide& side, std::size_t body) {
    for (std::size_t k = side.syntax.declaration_begin(body); k < body; ++k) {
      if (side.syntax.is(k, "constexpr")) return true;
    }
    return false;
  }

  void replace_body(const Body& body) {
    const std::size_t host_close = host_.syntax.match(body.host_open);
    for (const Body& other : bodies_) {  // what is inside another one is replaced with it
      if (other.host_open < body.host_open && host_.syntax.match(other.host_open) > host_close) return;
    }
    const std::size_t begin = host_.token(body.host_open).end(), end = host_.token(host_close).begin;
    const std::string device = device_.at_line(body.device_open) +
                               std::string(device_.between(body.device_open, device_.syntax.match(body.device_open)));
    std::string text = device;
    if (body.both) {
      text = " if (__on_device__) {" + device + "} else {" + host_.at_line(body.host_open) +
             std::string(host_.between(body.host_open, host_close)) + "}";
    }
    edits_.push_back({begin, end, text + host_.at_line(host_close)});
  }

  // -------------------------------------------------------------- declarations

  void outside_of_bodies(const Difference& d) {
    std::vector<Item> host, device;
    if (!items(host_, d.host_begin, d.host_end, host) || !items(device_, d.device_begin, d.device_end, device)) {
      const bool on_host = d.host_begin < d.host_end;
      return error(
          on_host ? host_ : device_, on_host ? d.host_begin : d.device_begin,
          "the simulator does not support __CUDA_ARCH__ inside of a declaration: put whole declarations, or parts of "
          "a function's body, under #if");
    }
    for (const Item& item : host) {
      if (item.kernel)
        return error(host_, item.begin,
                     "this kernel is left out of device code by __CUDA_ARCH__, so no launch of it can run");
      if (!item.device || item.host) continue;
      edits_.push_back({host_.token(item.begin).begin, host_.token(item.end - 1).end(), host_.at_line(item.end - 1)});
    }
    std::string text;
    for (const Item& item : device) {
      if (item.function && !item.device && !item.kernel) continue;  // of host code
      for (const Item& other : host) {
        const bool stays = !other.device || other.host;
        if (stays && (other.name == item.name || item.name.empty() || other.name.empty()))
          return error(
              device_, item.begin,
              "the simulator does not support a declaration that __CUDA_ARCH__ makes another one in host code: "
              "put #if into the function's body");
      }
      text += device_.at_line(item.begin);
      text += device_.source.text.substr(device_.token(item.begin).begin,
                                         device_.token(item.end - 1).end() - device_.token(item.begin).begin);
    }
    if (text.empty()) return;
    const bool at_end = d.host_begin == host_.size();
    const std::size_t at = at_end ? host_.source.text.size() : host_.token(d.host_begin).begin;
    edits_.push_back({at, at, text + (at_end ? "\n" : host_.at_line(d.host_begin))});
  }

  /// The declarations that [begin, end) consists of. False when it begins or ends inside of one.
  static bool items(const OneSide& side, std::size_t begin, std::size_t end, std::vector<Item>& out) {
    const Syntax& syntax = side.syntax;
    while (begin < end) {
      if (syntax.is(begin, ";")) {
        ++begin;
        continue;
      }
      if (syntax.scope_of(begin) == ScopeKind::function || syntax.declaration_begin(begin) != begin) return false;
      const Declaration decl = syntax.parse_declaration(begin);
      Item item{begin, decl.end == kNone ? kNone : decl.end + 1, {}, decl.kind == DeclKind::function, false, false,
                false};
      std::size_t head_end = begin;
      for (; head_end < end && !syntax.is_any(head_end, {"{", ";", "="}); ++head_end) {
        item.device =
            item.device || syntax.is_any(head_end, {"__device__", "__constant__", "__managed__", "__global__"});
        item.host = item.host || syntax.is(head_end, "__host__");
        item.kernel = item.kernel || syntax.is(head_end, "__global__");
        if (syntax.is_any(head_end, {"(", "["}) && syntax.match(head_end) != kNone) head_end = syntax.match(head_end);
      }
      if (decl.kind == DeclKind::function) item.name = syntax.text(decl.name);
      if (decl.kind == DeclKind::variable) item.name = syntax.text(decl.declarators.front().name);
      if (item.end == kNone) {
        const bool is_namespace = syntax.is_any(begin, {"namespace", "extern"}) && syntax.is(head_end, "{");
        std::size_t k = begin;
        while (k < end && !syntax.is(k, ";") && !(is_namespace && k == head_end)) {
          if (syntax.is_any(k, {"(", "[", "{"}) && syntax.match(k) != kNone) k = syntax.match(k);
          ++k;
        }
        item.end = is_namespace && k < end && syntax.match(k) != kNone ? syntax.match(k) + 1 : k + 1;
      }
      if (item.end > end) return false;
      out.push_back(item);
      begin = item.end;
    }
    return true;
  }

  // -------------------------------------------------------------- the text

  struct Edit {
    std::size_t begin, end;
    std::string text;
  };

  std::string edited() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::string out;
    std::size_t position = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < position) continue;
      out += host_.source.text.substr(position, edit.begin - position);
      out += edit.text;
      position = edit.end;
    }
    return out += host_.source.text.substr(position);
  }

  OneSide host_, device_;
  std::vector<std::size_t> partner_;  // of each host token, the device's
  std::unordered_map<std::string, std::vector<std::size_t>> places_;
  std::vector<Difference> differences_;
  std::vector<Body> bodies_;
  std::vector<Edit> edits_;
  RewriteResult result_;
};

}  // namespace

bool asks_for_architecture(std::string_view preprocessed_source, const std::string& file) {
  for (const std::string& spelled : lex(preprocessed_source, file).files) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(unescaped(spelled), none)) continue;  // g++ names the folder, too
    std::ifstream stream(unescaped(spelled), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.find("__CUDA_ARCH__") != std::string::npos) return true;
  }
  return false;
}

RewriteResult join_sides(std::string_view host_source, std::string_view device_source, std::string_view file) {
  return Joiner(host_source, device_source, file).run();
}

}  // namespace tilewise::sim
