// Where the compiler's messages point: at the source's line, though the compiler has read another one.
#include "rewriter/columns.hpp"

#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "rewriter/own_names.hpp"
#include "workplace.hpp"

using tilewise::sim::in_columns_of_source, tilewise::sim::without_own_names;

namespace {

/// What is said of a source of this line alone, of which the rewriter made that one.
std::string said(const std::string& line, const std::string& rewritten, const std::string& message) {
  Workplace workplace;
  const std::string file = workplace.write(line + "\n"), marker = "# 1 \"" + file + "\"\n";
  const std::string text =
      in_columns_of_source(file + message, marker + rewritten + "\n# 1 \"/usr/include/x.h\" 1 3\nint x;\n");
  REQUIRE(text.compare(0, file.size(), file) == 0);
  return text.substr(file.size());
}

}  // namespace

TEST_CASE("g++'s messages point at the source's line, not at the rewritten one", "[columns]") {
  CHECK(said("k<<<1, 1>>>(none);", "launch({1, 1}, [](auto... a) { k(a...); }, none);",
             ":1:44: error: 'none' was not declared\n"
             "    1 | k<<<1, 1>>>(none);\n"
             "      |                                            ^ \n") ==
        ":1:13: error: 'none' was not declared\n"
        "    1 | k<<<1, 1>>>(none);\n"
        "      |             ^~~~\n");
  // Comments and blanks are gone from what the compiler reads; a tab counts up to the next eighth column.
  CHECK(said("\tint  a = 1; /* one */ a = b;", " mark(); int a = 1; a = b;",
             ":1:32: error: x\n    1 |         int  a = 1; /* one */ a = b;\n      |                                "
             "^\n") ==
        ":1:35: error: x\n    1 |         int  a = 1; /* one */ a = b;\n      |                                   ^\n");
  // Several marks, a name with a blank, and what the compiler would have there.
  CHECK(said("{ f(\"a\" * two); }", "{ mark(); f(\"a\" * two); }",
             ":1:17: error: x\n"
             "    1 | { f(\"a\" * two); }\n"
             "      |             ~~~ ^ ~~~\n"
             "      |             |     |\n"
             "      |             |     int\n"
             "      |             const char [2]\n") ==
        ":1:9: error: x\n"
        "    1 | { f(\"a\" * two); }\n"
        "      |     ~~~ ^ ~~~\n"
        "      |     |     |\n"
        "      |     |     int\n"
        "      |     const char [2]\n");
  // On a terminal the marks keep their colour.
  CHECK(said("{ none; }", "{ mark(); none; }",
             ":1:11: error: x\n    1 | { none; \033[01;31m\033[K}\033[m\033[K\n"
             "      |           \033[01;31m\033[K^~~~\033[m\033[K\n") ==
        ":1:3: error: x\n    1 | { none; }\n      |   \033[01;31m\033[K^~~~\033[m\033[K\n");
}

TEST_CASE("What was put in place of a name is shown as that name", "[columns]") {
  CHECK(said("int i = threadIdx;", "int i =  ::thread_idx();",
             ":1:22: error: cannot convert\n"
             "    1 | int i = threadIdx;\n"
             "      |         ~~~~~~~~~~~~~^~\n"
             "      |                      |\n"
             "      |                      uint3\n") ==
        ":1:9: error: cannot convert\n"
        "    1 | int i = threadIdx;\n"
        "      |         ^~~~~~~~~\n"
        "      |         |\n"
        "      |         uint3\n");
  CHECK(said("NAME;", "{ mark(); }", ":1:3: error: x\n    1 | NAME;\n      |   ^~~~\n") ==
        ":1:1: error: x\n    1 | NAME;\n      | ^~~~\n");
}

TEST_CASE("A semicolon is missed where the line ends", "[columns]") {
  CHECK(said("b = a[t]", "b = a[ ::thread().x]",
             ":1:21: error: expected ';' before 'c'\n"
             "    1 | b = a[t]\n"
             "      |                     ^\n"
             "      |                     ;\n") ==
        ":1:9: error: expected ';' before 'c'\n"
        "    1 | b = a[t]\n"
        "      |         ^\n"
        "      |         ;\n");
}

TEST_CASE("The simulator's own names are not proposed", "[columns]") {
  const std::string first = "a.cu:1:3: error: ‘sum’ was not declared in this scope",
                    line = "    1 | x = sum;\n      |     ^~~\n",
                    next =
                        "a.cu:2:1: error: ‘n’ was not declared in this scope; did you mean ‘yn’?\n    2 | n = 1;\n     "
                        " | ^\n      | yn\n",
                    where = "In file included from /include/b.h:4,\n                 from <command-line>:\n";
  CHECK(without_own_names(first + "; did you mean ‘tilewise::sim::detail::sum’?\n" + line +
                          "      |     tilewise::sim::detail::sum\n" + where +
                          "/include/c.hpp:23:13: note: ‘tilewise::sim::detail::sum’ declared here\n"
                          "   23 | constexpr T sum(T a, T b) {\n      |             ^~~\n" +
                          next) == first + "\n" + line + next);
  // On a terminal, and with quotation marks of ASCII.
  CHECK(without_own_names("a.cu:1:3: error: none; did you mean ‘\033[01m\033[Ktilewise::b\033[m\033[K’?\n"
                          "    1 | a\n      | \033[32m\033[Ktilewise::b\033[m\033[K\n") ==
        "a.cu:1:3: error: none\n    1 | a\n");
  CHECK(without_own_names("a.cu:1:3: error: none; did you mean 'tilewise::b'?\n") == "a.cu:1:3: error: none\n");
  // What a program includes itself stays, and so do others' names.
  const std::string other = where + "/include/c.hpp:2:1: error: no; did you mean ‘std::end’?\n";
  CHECK(without_own_names(other) == other);
  CHECK(without_own_names("").empty());
}

TEST_CASE("What has no place in the source's line is left as the compiler says it", "[columns]") {
  const std::string message = ":1:4: error: x\n    1 | a;\n      |    ^~~~\n";
  CHECK(said("a;", "a; more();", message) == message);
  const std::string other = "/usr/lib/y.h:7:3: note: here\n    7 | y;\n      |   ^\ncc1plus: all is lost\n";
  CHECK(in_columns_of_source(other, "# 1 \"a.cu\"\nint a;\n") == other);
  CHECK(in_columns_of_source("", "").empty());
}

TEST_CASE("simcc's messages have the columns of the source", "[columns][programs]") {
  if (std::system("command -v g++ > /dev/null") != 0) {
    WARN("g++ is not here");
    return;
  }
  Workplace workplace;
  const std::string source = workplace.write(
      "__global__ void scale(float* data, float by) { data[threadIdx.x] *= bye; }\n"
      "int main() {\n"
      "\tfloat* data = nullptr;\n"
      "\tscale<<<1, blocks>>>(data, 2.0f);\n"
      "}\n");
  const Outcome compiled = workplace.compile(source, "--cxx=g++");
  INFO(compiled.text);
  CHECK(compiled.status == 1);
  for (const char* line : {"program.cu:1:69: error: ",
                           "\n    1 | __global__ void scale(float* data, float by) { data[threadIdx.x] *= bye; }\n"
                           "      |                                                                     ^~~\n",
                           "program.cu:4:20: error: ",
                           "\n    4 |         scale<<<1, blocks>>>(data, 2.0f);\n"
                           "      |                    ^~~~~~\n"})
    CHECK(compiled.text.find(line) != std::string::npos);
}
