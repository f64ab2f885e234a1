// What the grader says of a submission besides its points: warnings, near misses in names, what was printed, and why a run
// ended early.
#include <string>

#include "catch.hpp"
#include "grader/near_miss.hpp"
#include "grader/own_names.hpp"
#include "grader/said.hpp"
#include "grader/warnings.hpp"
#include "text.hpp"

using namespace tilewise::grader;

namespace {

const std::string kWanted =
    "                 w _Z16launch_transposePKfPfiP11CUstream_st\n"
    "                 w _Z12launch_scalePKfPfmP11CUstream_st\n";

}  // namespace

TEST_CASE("words: a name that is nearly the contract's", "[grader]") {
  const std::string source = "// lanch_scale(a) comes first\n\ncudaError_t lanch_scale (const float* a) {\n";
  const std::string own = "0000000000000010 0000000000000010 T _Z11lanch_scalePKfPfmP11CUstream_st\n";
  CHECK(near_miss("scale", kWanted, own, source) == "you wrote lanch_scale (line 3); the contract wants launch_scale");
  // The same words in another order, and other parameters.
  const std::string turned = near_miss("scale", kWanted, "0010 0010 T _Z12scale_launchPfPKfm\n", "");
  CHECK(has(turned, "you wrote scale_launch; the contract wants launch_scale; and its parameters are (float*, "));
  CHECK(has(turned, "the contract has (const float*, float*, std::size_t, cudaStream_t)"));
  // The kernel's name is another one, and so is that of another task's function.
  for (const char* other :
       {"0010 0010 T _Z5scalePKfPfm\n", "0010 0010 T _Z16launch_transposePKfPfiP11CUstream_st\n", ""})
    CHECK(near_miss("scale", kWanted, other, "") ==
          "the contract wants launch_scale(const float*, float*, std::size_t, cudaStream_t)");
}

TEST_CASE("words: the contract's name with other parameters, or in a namespace", "[grader]") {
  CHECK(near_miss("scale", kWanted, "0010 0010 T _Z12launch_scalePKfPfiP11CUstream_st\n", "x\nint launch_scale(\n") ==
        "launch_scale (line 2): parameter 3 is int, the contract has std::size_t");
  CHECK(has(near_miss("scale", kWanted, "0010 0010 T _Z12launch_scalePfS_mP11CUstream_st\n", ""),
            "parameter 1 is float*, the contract has const float*"));
  CHECK(has(near_miss("scale", kWanted, "0010 0010 T _ZN4mine12launch_scaleEPKfPfmP11CUstream_st\n", ""),
            "is in the namespace mine"));
  CHECK(has(near_miss("scale", kWanted, "0010 0010 t _ZN12_GLOBAL__N_112launch_scaleEPKfPfmP11CUstream_st\n", ""),
            "is in an anonymous namespace"));
}

TEST_CASE("words: warnings of g++ and clang++ that mean a mistake", "[grader]") {
  const std::string file = "/some where/homework.cu";
  const CompilerWarnings gcc = warnings_of(
      file + ": In function 'void scale(const float*, int)':\n" + file +
          ":7:9: warning: comparison of unsigned expression in '< 0' is always false [-Wtype-limits]\n"
          "    7 |   if (u < 0) return;\n" +
          file + ":8:9: warning: unused variable 'x' [-Wunused-variable]\n" + file +
          ":9:3: warning: 'v' may be used uninitialized [-Wmaybe-uninitialized]\n" + file +
          ":9:3: warning: 'v' may be used uninitialized [-Wmaybe-uninitialized]\n" + file +
          ":10:1: warning: the frame size of 400176 bytes is larger than 65536 bytes [-Wframe-larger-than=]\n"
          "/usr/include/stdio.h:3:1: warning: no return statement in function returning non-void [-Wreturn-type]\n",
      file);
  REQUIRE(gcc.all.size() == 2);
  CHECK(gcc.all[0].text == "homework.cu:7: comparison of unsigned expression in '< 0' is always false");
  CHECK(gcc.all[1].text == "homework.cu:9: 'v' may be used uninitialized");
  CHECK(gcc.frames == std::map<std::string, long>{{"scale", 400176}});
  const CompilerWarnings clang =
      warnings_of(file +
                      ":3:17: warning: stack frame size (400168) exceeds limit (65536) in 'scale(float const*, int)' "
                      "[-Wframe-larger-than]\n" +
                      file + ":4:1: warning: non-void function does not return a value [-Wreturn-type]\n",
                  file);
  CHECK(clang.frames == std::map<std::string, long>{{"scale", 400168}});
  REQUIRE(clang.all.size() == 1);
  CHECK(has(clang.all[0].text, "homework.cu:4: non-void function does not return a value: "));
}

TEST_CASE("words: that a variable may have no value is said when the compiler says it twice", "[grader]") {
  CompilerWarnings w{{{"maybe-uninitialized", "a.cu:3: 'v' may be used", "v;"},
                      {"maybe-uninitialized", "a.cu:4: 'w' may be used", "w;"},
                      {"parentheses", "a.cu:5: suggest", "a = b"}},
                     {}};
  REQUIRE(are_to_be_confirmed(w));
  keep_confirmed(w, {{{"maybe-uninitialized", "a.cu:4: 'w' may be used", "w;"}}, {}});
  REQUIRE(w.all.size() == 2);
  CHECK(w.all[0].line == "w;");
  CHECK(w.all[1].option == "parentheses");
  keep_confirmed(w, {});
  CHECK_FALSE(are_to_be_confirmed(w));
  CHECK(w.all.size() == 1);
}

TEST_CASE("words: errors without the grader's own files", "[grader]") {
  CHECK(without_machinery("a.cu:1:2: error: no\n"
                          "In file included from /usr/include/c++/12/cmath:41,\n"
                          "                 from /x/build/sim/homework/prelude/prelude.h:1:\n"
                          "/x/chapters/01/homework.cuh:16:13: note: here\n"
                          "   16 | int from here\n",
                          "/x/chapters/01/homework.cuh") ==
        "a.cu:1:2: error: no\nhomework.cuh:16:13: note: here\n   16 | int from here\n");
}

TEST_CASE("words: what the simulator lacks is no mistake of the student's", "[grader]") {
  const std::string lacks =
      "/x/homework.cu:7: error: the simulator does not support cooperative_groups::memcpy_async: copy\n";
  CHECK(unsupported_in(lacks + lacks) ==
        "line 7: the simulator does not support cooperative_groups::memcpy_async: copy");
  CHECK(unsupported_in("a.cu:12:5: error: static assertion failed: the Tilewise simulator does not support tiles\n") !=
        "");
  // Functions that a header names: the line is the caller's, whichever compiler says it.
  for (const char* called :
       {"cublas_v2.h: In instantiation of 'NotSupported cublasCall(Arguments ...) [with Arguments = {int}]':\n"
        "a.cu:18:24:   required from here\n"
        "cublas_v2.h:409:127: error: static assertion failed: the Tilewise simulator does not support cublasCall\n",
        "cublas_v2.h:391:97: error: static_assert failed due to requirement '...' \"the Tilewise simulator does not "
        "support "
        "cublasCall\"\n/x/a.cu:18:24: note: in instantiation of function template specialization 'cublasCall<int>' "
        "requested here\n"}) {
    CHECK(unsupported_in(called) == "line 18: cublasCall(), which the simulator does not have");
    CHECK(calls_of_lacking_functions(called) == "a.cu:18:24: cublasCall(), which the simulator does not have\n");
  }
  CHECK(calls_of_lacking_functions(lacks) == lacks);
  // Where there is a mistake, too, it comes first.
  CHECK(unsupported_in(lacks + "a.cu:8:3: error: 'x' was not declared in this scope\n").empty());
  for (const char* copied :
       {"a.cu:4:17: error: use of deleted function 'Pack::Pack(const Pack&)'\na.cu:2:22: error: union member 'Pack::v' "
        "with "
        "non-trivial 'constexpr float4::float4(const float4&)'\n",
        "a.cu:4:8: error: call to implicitly-deleted copy constructor of 'Pack'\na.cu:2:22: note: copy constructor of "
        "'Pack' is "
        "implicitly deleted because variant field 'v' has a non-trivial copy constructor\n",
        "a.cu:4:40: error: no matching function for call to 'bit_cast<std::array<float, 4> >(const float4&)'\n"
        "note: 'float4' is not trivially copyable\n"})
    CHECK(unsupported_in(copied).find("line 4: the Tilewise simulator does not copy a union") == 0);
  CHECK(unsupported_in("a.cu:4:8: error: use of deleted function 'Own::Own(const Own&)'\n").empty());
  CHECK(unsupported_in("").empty());
}

TEST_CASE("words: what was printed is short, and cannot reach the terminal", "[grader]") {
  CHECK(shown_output("", "a.cu").empty());
  CHECK(shown_output("tilewise: cublasSgemm and its kin are computed by Eigen on the CPU: checked, but neither counted "
                     "nor timed\n",
                     "a.cu")
            .empty());
  std::string much;
  for (int i = 0; i < 30; ++i) much += "line " + std::to_string(i) + "\n";
  const auto lines =
      shown_output("\x1b[2Jgone\r\n" + std::string(1000, 'x') + "\n/some/a.cu:3: told\n" + much, "/some/a.cu");
  REQUIRE(lines.size() == 12);
  CHECK(lines[0] == "it printed:");
  CHECK(lines[1] == "  | \\x1b[2Jgone");
  CHECK(lines[2].size() < 140);
  CHECK(lines[3] == "  | a.cu:3: told");
  CHECK(lines.back() == "  ... and 23 more lines");
  for (const std::string& line : lines) CHECK(line.find_first_of("\x1b\r\n") == std::string::npos);
  CHECK(shown_output(std::string(1 << 20, '\n'), "a.cu").back() == "  ... and much more");
}

TEST_CASE("words: why a run ended early is the last thing that was found", "[grader]") {
  const std::string report = R"([{"findings": [
      {"kind": "uninitialised", "file": "a.cu", "line": 2, "message": "first"},
      {"kind": "stack-overflow", "file": "/some/a.cu", "line": 3, "message": "this thread's stack is full"}]}])";
  const EarlyEnd end = early_end_of(report, "/some/a.cu", {{"scale", 400176}});
  CHECK(end.code == "stack-overflow");
  CHECK(end.what == "a.cu:3: stack-overflow: this thread's stack is full");
  REQUIRE(end.notes.size() == 2);
  CHECK(end.notes[1] == "the local variables of scale are 400176 bytes");
  // A line of the grader's own files says nothing to anybody.
  const std::string ours =
      R"([{"findings": [{"kind": "host-fault", "file": "/x/calls.cu", "line": 3, "message": "m"}]}])";
  CHECK(early_end_of(ours, "/some/a.cu", {}).what == "host-fault: m");
  // The program may have gone on after this one, and ended for another reason.
  const EarlyEnd other = early_end_of(
      R"([{"findings": [{"kind": "race-global", "file": "a.cu", "line": 3, "message": "m"},
                        {"kind": "lost-output", "file": "a.cu", "line": 2, "message": "o", "note": true},
                        {"kind": "leak", "file": "a.cu", "line": 4, "message": "n"}]}])",
      "/some/a.cu", {});
  CHECK(other.code.empty());
  CHECK(other.notes.at(0) == "a.cu:3: race-global: m");
  for (const char* none : {"", "[]", "[{}]", "{\"findings\": 1}", "[1, \"x\"]"})
    CHECK(early_end_of(none, "a.cu", {}).code.empty());
}

TEST_CASE("words: variables whose names the C library has, too", "[grader]") {
  const std::string symbols =
      "0000000000000000 0000000000000004 D error\n"
      "0000000000000004 0000000000000004 B n\n"
      "0000000000000008 0000000000000004 b own\n"
      "0000000000000000 0000000000000010 T kill\n"
      "0000000000000000 0000000000000004 B _ZN4mine1nE\n"
      "0000000000000000 D tilewise_own_0_begin\n"
      "                 U printf\n";
  CHECK(plain_variables(symbols) == std::vector<std::string>{"error", "n"});
}
