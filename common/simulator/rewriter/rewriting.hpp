// The rewriter's class. Its functions stand in files by what they rewrite, each explained there; rewriter.cpp calls them in order.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lexer.hpp"
#include "ptx.hpp"
#include "rewriter.hpp"
#include "syntax.hpp"

namespace tilewise::sim {

/// Without the blanks at both ends.
std::string trim(std::string_view text);

/// A source on its way to plain C++: its tokens, what is known of its names, and the edits so far.
class Rewriter {
 public:
  explicit Rewriter(const LexedSource& source, bool homework = false,
                    HostFunctions host_functions = HostFunctions::unseen);

  std::vector<DeviceBody> bodies();
  RewriteResult run();

 private:
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

  struct FunctionSides {
    bool host = false, device = false, kernel = false;
    std::size_t declared = kNone;  // token of the first declaration's name
  };

  /// What a launch has to give for a kernel to be known by its name alone: the numbers of its parameters.
  struct Parameters {
    std::size_t arguments = 0;
    std::size_t of_template = 0;
    std::string types;
    bool known = true;  // no pack, no overload, no parameter whose type only a call tells
  };

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

  using Called = std::pair<std::string_view, bool>;  // a name, and whether it is a member's

  struct HostVariable {
    std::size_t declared = kNone;  // token of its name
    bool array = false, constant = false;
  };

  // rewriter.cpp
  void insert_before(std::size_t i, std::string text);
  void insert_after(std::size_t i, std::string text);
  void replace(std::size_t begin, std::size_t end, std::string text);
  void join_lines();
  std::string apply_edits();
  void error(std::size_t i, std::string message);
  void unsupported(std::size_t i, std::string_view feature, std::string_view instead);
  std::size_t unclosed_brace() const;
  std::size_t function_body_of(std::size_t i) const;
  std::size_t first_token_after(std::size_t offset) const;

  // markers.cpp
  bool is_marker(std::size_t i) const;
  void rewrite_marker(std::size_t i);
  void rewrite_forceinline(std::size_t i);
  bool is_lambda_marker(std::size_t i) const;
  std::size_t lambda_brackets(std::size_t i) const;
  void mark_side(std::size_t begin, std::size_t end, Side side);
  void rewrite_device_declaration(std::size_t i);
  void mark_device_lambda(std::size_t i);
  bool returns_something(const Declaration& decl) const;
  void rewrite_device_function(const Declaration& decl);

  // structs_by_value.cpp
  bool moves_structs(const Declaration& decl) const;
  std::vector<std::pair<std::size_t, std::size_t>> parts(std::size_t open) const;
  bool by_value(std::size_t begin, std::size_t end) const;
  static bool is_struct_of_cuda(std::string_view name);
  void find_struct_names();
  void find_recursive_functions();
  bool is_inlined(const Declaration& decl) const;
  bool is_inlined_at(std::size_t i) const;
  std::string inline_attribute(const Declaration& decl);
  std::size_t lambda_body(std::size_t i) const;
  void inline_lambda(std::size_t i);
  bool is_called_of_object(std::size_t i) const;
  bool is_in_member(std::size_t i) const;
  Called name_of(const Declaration& decl) const;
  void rewrite_recursive_call(std::size_t i);

  // kernels.cpp
  void count_kernel_names();
  void tell_parameters(const Declaration& decl);
  std::size_t parameter_name(std::size_t begin, std::size_t end) const;
  bool may_be_class(std::size_t begin, std::size_t name) const;
  std::string resolved(std::size_t begin, std::size_t end, const std::string& parameters, const std::string& passed,
                       const std::string& callee) const;
  void note_parameters(const Declaration& decl);
  bool is_name_of_host_function(std::string_view name) const;
  bool is_known_kernel(std::size_t begin, std::size_t end, std::size_t open) const;
  void register_kernel(const Declaration& decl);
  std::string parameter_types(std::size_t begin, std::size_t end);

  // device_variables.cpp
  void register_device_variable(std::size_t i, const Declaration& decl);
  void register_variables(const Declaration& decl, bool is_extern, bool local, const std::string& space);
  void register_device_static(std::size_t i);
  bool in_local_class(std::size_t brace) const;

  // shared_variables.cpp
  void rewrite_shared(std::size_t i);
  bool refuse_unfinished(std::size_t i, std::size_t first);
  bool ends_declarator(std::size_t i) const;
  bool begins_statement(std::size_t i) const;
  bool refuse_variable_size(std::size_t name, std::size_t stop);
  bool is_variable(std::size_t i) const;
  bool has_variable_value(std::size_t name) const;
  bool is_number_type(std::size_t i) const;
  bool read_shared_type(Shared& d);
  std::size_t end_of_declarator(std::size_t at) const;
  bool refer_to_dynamic(const Shared& d, std::size_t from, std::size_t name, std::size_t stop, std::string& text);
  bool refer_to_static(Shared& d, std::size_t from, std::size_t name_at, std::size_t stop, std::string& text);
  bool join_without_markers(std::size_t begin, std::size_t end, std::string& out);
  void share_namespace_variables();
  bool declared_in_head(std::size_t body, std::string_view name) const;
  bool is_shared_in(std::size_t body, std::string_view name) const;
  bool is_shared_name(std::size_t i) const;
  void capture_shared_variables();

  // launches.cpp
  bool is_triple(std::size_t i, std::string_view angle) const;
  std::size_t configuration_end(std::size_t i) const;
  bool is_plain_name(std::size_t begin, std::size_t end) const;
  std::size_t callee_begin(std::size_t i, bool& simple) const;
  void pass_zeros(std::size_t open, std::size_t close, std::string& parameters, std::string& passed) const;
  bool casts_to_void_pointer(std::size_t close) const;
  void tell_kernel_type(std::size_t i);
  bool at_namespace_scope(std::size_t i) const;
  bool is_declared_as_pointer(std::string_view name) const;
  void rewrite_launch(std::size_t i);
  bool is_launched(std::size_t i) const;

  // words.cpp
  void number_barrier(std::size_t i);
  bool is_template_of_class(std::size_t i) const;
  void rewrite_word(std::size_t i);
  bool is_in_default_of_member(std::size_t i) const;
  void rewrite_host_addresses(std::size_t open);
  void discard_result(std::size_t i);
  void rewrite_chosen_array(std::size_t i);
  static std::string_view builtin_text(std::string_view name);
  void complete_union(std::size_t i);
  void rewrite_clock(std::size_t i);
  void rewrite_byte_copy(std::size_t i);
  std::size_t call_of_c_function(std::size_t i) const;
  void rewrite_heap_call(std::size_t i);
  void rewrite_print_call(std::size_t i);
  void rewrite_delete(std::size_t i);
  void rewrite_promise(std::size_t i);
  bool declares(std::size_t i) const;
  void find_shadows();
  void rewrite_builtin(std::size_t i);

  // marked_functions.cpp
  void mark_functions(std::vector<MarkedFunction>& marked);
  void mark_lambda(std::size_t i, std::vector<MarkedFunction>& marked);
  bool is_operator(const Declaration& decl) const;
  std::unordered_set<std::string_view> calls_of_both_sides(const std::vector<Declaration>& definitions) const;
  FunctionSides sides_of(const Declaration& decl) const;
  MarkedFunction marked_function(const Declaration& decl, bool device) const;
  std::map<std::string, int> calls_between(std::size_t begin, std::size_t end) const;
  std::string class_prefix(std::size_t i) const;

  // forbidden_calls.cpp
  void refuse_intrinsic(std::size_t i);
  void find_function_sides();
  bool is_used_as_value(std::size_t i) const;
  bool system_declares(std::string_view name) const;
  void refuse_call(std::size_t i);
  void find_host_variables();
  bool is_taken_by_reference(std::size_t i) const;
  bool in_constant_expression(std::size_t i) const;
  void refuse_variable(std::size_t i);
  bool in_unevaluated(std::size_t i) const;
  void refuse_exception(std::size_t i);
  void demand_constant_bounds(std::size_t i);

  // branches_and_loops.cpp
  int predicated_cost(std::size_t begin, std::size_t end);
  bool used_before(std::size_t i) const;
  void may_skip(std::size_t begin, std::size_t end);
  void predicate_branch(std::size_t i);
  void predicate_conditional(std::size_t i);
  bool under_short_if(std::size_t i) const;
  void mark_loop(std::size_t i);
  void end_loops();
  std::string loop_facts(std::size_t i) const;
  std::string constant_trips(std::size_t i) const;
  bool has_foreign_label(std::size_t begin, std::size_t end) const;
  void drop_unroll_pragmas();

  // pointers.cpp
  bool accesses_member(std::size_t i) const;
  std::size_t pointer_of_member_access(std::size_t i) const;
  bool is_member_access_by_reference(std::size_t i) const;
  std::size_t pointer_of_reference(std::size_t i) const;
  std::size_t pointer_of_value(std::size_t i) const;
  std::size_t operand_of_cast(std::size_t i) const;
  bool is_in_type(std::size_t open) const;
  bool is_declared_pointer(std::size_t i, bool to_struct = false) const;

  // refusals.cpp
  bool includes(std::string_view header);
  bool refuse_library(std::size_t i);
  void refuse_unsupported(std::size_t i);
  bool calls_group_function(std::size_t i) const;
  bool allocates(std::size_t i) const;

  // inline_ptx.cpp
  void rewrite_asm(std::size_t i);
  std::optional<std::vector<std::size_t>> asm_operands(std::size_t begin, std::size_t close);
  std::string lambda_of(std::size_t i, const PtxCode& code, const std::vector<std::size_t>& operands);
  bool is_string(std::size_t k) const;
  bool is_empty_asm(std::size_t i) const;

  const LexedSource& source_;
  Syntax syntax_;
  std::vector<Side> side_;
  bool homework_;  // see rewrite()
  HostFunctions host_functions_;
  std::vector<Edit> edits_;
  std::vector<std::pair<std::size_t, std::string>> loop_ends_;  // last token, and what is after it
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

}  // namespace tilewise::sim
