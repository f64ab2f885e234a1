// The table of a kernel's shared variables, out of assembly.
#include "rewriter/shared_memory.hpp"

#include <string>

#include "catch.hpp"

using tilewise::sim::list_shared_variables;

namespace {

const std::string kVariable = "_ZZN8tilewise3sim15shared_variableI1a1bEERT_PKcS7_iE8variable";
const std::string kOther = "_ZZN8tilewise3sim15shared_variableI1c1bEERT_PKcS7_iE8variable";
const std::string kTable = "\n\t.section\ttilewise_shared,\"aw\",@progbits\n\t.balign\t8\n";

std::string function(const std::string& name, const std::string& body) {
  return name + ":\n\t.cfi_startproc\n" + body + "\tret\n\t.cfi_endproc\n";
}
std::string kernel(const std::string& name, const std::string& body) {
  return function(name, "\tcall\t_ZN8tilewise3sim12enter_kernelEj@PLT\n" + body);
}
std::string mention(const std::string& variable) { return "\tleaq\t" + variable + "(%rip), %rdi\n"; }
std::string call(const std::string& name) { return "\tcall\t" + name + "@PLT\n"; }
std::string pair(const std::string& of, const std::string& variable) {
  return "\t.quad\t" + of + "\n\t.quad\t" + variable + "\n";
}

}  // namespace

TEST_CASE("a kernel's shared variables are those of its code and of what it calls", "[shared-memory]") {
  const auto table_of = [](const std::string& assembly) {
    const std::string out = list_shared_variables(assembly);
    REQUIRE(out.substr(0, assembly.size()) == assembly);
    return out.substr(assembly.size());
  };
  CHECK(table_of("").empty());
  CHECK(table_of(kernel("_Z1kv", "")).empty());
  CHECK(table_of(function("_Z1fv", mention(kVariable))).empty());  // no kernel
  CHECK(table_of(kernel("_Z1kv", mention(kVariable) + mention(kVariable))) == kTable + pair("_Z1kv", kVariable));
  // Through functions, in the order of the code, once; also those that call themselves, have C's names, or only have their address taken.
  CHECK(table_of(function("_Z1fv", call("_Z1fv") + mention(kOther)) +
                 kernel("_Z1kv", call("_Z1fv") + mention(kVariable) + call("_Z1fv"))) ==
        kTable + pair("_Z1kv", kOther) + pair("_Z1kv", kVariable));
  CHECK(table_of(function("f", mention(kOther)) + kernel("k", "\tjmp\tf\n")) == kTable + pair("k", kOther));
  CHECK(table_of(function("_Z1fv", mention(kOther)) + kernel("_Z1kv", mention("_Z1fv"))) ==
        kTable + pair("_Z1kv", kOther));
  // A kernel that is launched has memory of its own.
  const std::string launch = "_ZN8tilewise3sim6KernelIXadL_Z5childvEEE6launchENS0_12LaunchConfigE";
  CHECK(table_of(kernel("_Z5childv", mention(kVariable)) + function(launch, call("_Z5childv")) +
                 kernel("_Z6parentv", call(launch) + mention("_Z5childv"))) == kTable + pair("_Z5childv", kVariable));
  // The linker may drop a group with its local symbols, which nothing outside may name then.
  const std::string group = "\t.section\t.text._Z1kv,\"axG\",@progbits,_Z1kv,comdat\n";
  CHECK(table_of(group + kernel("_Z1kv", mention(kVariable))).empty());
  CHECK(table_of(group + "\t.weak\t_Z1kv\n" + kernel("_Z1kv", mention(kVariable))) ==
        kTable + pair("_Z1kv", kVariable));
  CHECK(table_of(group + function("_Z1fv", "") + "\t.text\n" + kernel("_Z1kv", mention(kVariable))) ==
        kTable + pair("_Z1kv", kVariable));
}

TEST_CASE("a kernel's shared variables are found in AArch64's assembly", "[shared-memory][aarch64]") {
  const std::string assembly =
      function("_Z1fv", "\tadrp\tx0, " + kOther + "\n\tadd\tx0, x0, :lo12:" + kOther + "\n") +
      function("_Z1gv", "\tbl\t_Z1fv\n") +
      function("_Z1kv", "\tbl\t_ZN8tilewise3sim12enter_kernelEj\n\tcbz\tw0, .L2\n\tadrp\tx0, :got:" + kVariable +
                            "\n.L2:\n\tb\t_Z1gv\n");
  CHECK(list_shared_variables(assembly) == assembly + kTable + pair("_Z1kv", kVariable) + pair("_Z1kv", kOther));
}
