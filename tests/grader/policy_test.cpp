// The look at the source: what passes, and what does not in whatever spelling.
#include "grader/policy.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "grader/tools.hpp"

using namespace tilewise::grader;
namespace fs = std::filesystem;

namespace {

bool passes(const std::string& text) { return refused_text(text).empty(); }

}  // namespace

TEST_CASE("policy: ordinary sources pass", "[grader]") {
  CHECK(passes("#include \"homework.cuh\"\n#include <vector>\n#  include <cmath> // maths\n"));
  CHECK(passes("\xef\xbb\xbf#include \"homework.cuh\"\n"));
  CHECK(passes("// see #3\n/* task #1, line 4 */ int x = 1'000;\n#define F(x) #x\n#if 1\n#endif\n"));
  CHECK(passes("char c = '\"'; const char* s = \"#line 3\"; // R is a letter\n"));
  CHECK(passes("#define TWO \\\n  lines\n"));
}

TEST_CASE("policy: other files and other lines", "[grader]") {
  for (const char* text : {"#line 3\n",
                           " # line 3\n",
                           "#/* */line 3\n",
                           "#\\\nline 3\n",
                           "#li\\\nne 3\n",
                           "#li\\  \nne 3\n",
                           "# 3 \"x\"\n",
                           "/* */ #line 3\n",
                           "/*\n*/ # /*\n*/ 3 \"x\" 3\n",
                           "\xef\xbb\xbf#line 3\n",
                           "\v#line 3\n",
                           "%:line 3\n",
                           "%: define X\n",
                           "?\?=line 3\n",
                           "char16_t c = u'\"'; const char* t = \" /*\";\n#line 3\n*/\n",
                           "#if __has_include(<x/*y>)\n#endif\n# 1 \"x\" 3\n",
                           "#include \"other.cu\"\n",
                           "#include __FILE__\n",
                           "#include </etc/passwd>\n",
                           "#include <../x.cu>\n",
                           "#import <x>\n",
                           "#include_next <vector>\n",
                           "#include <immintrin.h>\n",
                           "#include <unistd.h>\n",
                           "#include <tilewise_sim/report.hpp>\n",
                           "#include\n",
                           "#include <vector\n",
                           "auto s = R\"(x)\";\n",
                           "auto s = u8R\"(x)\";\n"}) {
    INFO(text);
    CHECK_FALSE(passes(text));
  }
  CHECK_FALSE(refused_text(std::string("int x;\0#line 3\n", 15)).empty());
}

TEST_CASE("policy: a system's header in quotation marks", "[grader]") {
  const fs::path folder = fs::temp_directory_path() / ("tilewise_policy_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string text = "#include \"homework.cuh\"\n#include \"cuda_runtime.h\"\n";
  CHECK(refused_text(text, {}, folder.string()).empty());
  CHECK_FALSE(refused_text("#include \"unistd.h\"\n", {}, folder.string()).empty());
  CHECK_FALSE(refused_text("#include \"x/../cuda_runtime.h\"\n", {}, folder.string()).empty());
  std::ofstream(folder / "cuda_runtime.h") << "#pragma GCC system_header\n";
  CHECK(refused_text(text, {}, folder.string()).find("#include <cuda_runtime.h>") != std::string::npos);
  fs::remove_all(folder);
}

TEST_CASE("policy: headers of libraries where a task may call them", "[grader]") {
  CHECK_FALSE(passes("#include <cublas_v2.h>\n"));
  CHECK(refused_text("#include <cublas_v2.h>\n", {"cublas"}).empty());
  CHECK_FALSE(refused_text("#include <cublas_v2.h>\n", {"cusparse"}).empty());
  CHECK_FALSE(refused_text("#include <thrust/sort.h>\n", {"cublas"}).empty());
}

TEST_CASE("policy: of a header that is not part of the homework it is said why, and what is there instead",
          "[grader]") {
  const auto says = [](const std::string& header, const std::string& words) {
    INFO(header);
    const std::string text = refused_text("#include <" + header + ">\n");
    CHECK(text.rfind("#include <" + header + ">: ", 0) == 0);
    CHECK(text.find(words) != std::string::npos);
  };
  says("cuda/std/limits", "libcu++ is not part of the homework; in its place, <limits> ");
  says("cuda/std/mdspan", "in its place, <cstdint> ");
  says("cuda/std/atomic", "atomicAdd()");
  says("cuda/atomic", "atomicAdd()");
  says("cuda/semaphore", "<cooperative_groups.h>");
  says("thread", "threads of the host");
  says("mutex", "threads of the host");
  says("fstream", "printf");
  says("format", "printf");
  says("regex", "this header is not part of the homework");
  says("cub/cub.cuh", "taken from a library");
  CHECK(passes("#include <cuda/barrier>\n#include <cuda/pipeline>\n"));  // what is used of them, the simulator refuses
}

TEST_CASE("policy: what programs promise nvcc, and kernels with C's names", "[grader]") {
  const auto refused = [](const std::string& code) {
    return refused_source("# 1 \"my.cu\"\n" + code + "\n", "my.cu", "homework.cuh");
  };
  const std::string promises =
      "void f(float* p) { __builtin_assume(p); p = (float*)__builtin_assume_aligned(p, 16); __builtin_unreachable(); }";
  CHECK(refused(promises).empty());
  CHECK(refused_for_nvcc(promises).empty());
  CHECK_FALSE(refused_for_nvcc("void f() { __builtin_trap(); }").empty());
  CHECK(refused("extern \"C\" __global__ void f(int n) { n = 1; }").empty());
  CHECK(refused("extern \"C\" __global__ void __launch_bounds__(128, 2) f(int n = (3)) {}").empty());
  for (const char* code :
       {"extern \"C\" void f();", "extern \"C\" { __global__ void f() {} }", "extern \"C\" __device__ void f() {}",
        // With these, the system's functions could be named.
        "extern \"C\" __global__ void _Unwind_Resume(void*);", "extern \"C\" __global__ int a = 0;",
        "extern \"C\" __global__ int f() = delete;", "extern \"C\" __global__"}) {
    INFO(code);
    CHECK(refused(code).find("where a kernel is defined") != std::string::npos);
  }
  // A kernel whose name is the system's would take its place.
  CHECK_FALSE(refused_symbols("0000000000000000 T system\n").empty());
  CHECK(refused_symbols("0000000000000000 T scale_rows\n").empty());
  CHECK(refused_symbols("                 U tilewise_read4_known5\n").empty());
  CHECK_FALSE(refused_symbols("                 U tilewise_read4_cached\n").empty());
  // A kernel f, not the type float.
  CHECK(refused_symbols("0000000000000000 T f\n                 U cudaGetSymbolAddress\n").empty());
}

TEST_CASE("policy: symbols", "[grader]") {
  CHECK(refused_symbols("                 U printf\n0000000000000000 T _Z3runv\n").empty());
  CHECK(refused_symbols("                 U _ZSt21ios_base_library_initv\n").empty());  // <iostream> of g++ 13
  CHECK_FALSE(refused_symbols("                 U fork\n").empty());
  CHECK_FALSE(refused_symbols("                 U cublasSgemm\n").empty());
  CHECK(refused_symbols("                 U cublasSgemm\n", {"cublas"}).empty());
  CHECK_FALSE(refused_symbols("                 U cublasGetMatrix\n", {"cublas"}).empty());
  CHECK_FALSE(refused_symbols("0000000000000000 T getenv\n").empty());
  CHECK_FALSE(refused_symbols("0000000000000000 W getenv\n").empty());
  CHECK_FALSE(refused_symbols("0000000000000000 W cudaMalloc\n").empty());
  CHECK(refused_symbols("0000000000000000 W _ZNSt6vectorIiSaIiEE9push_backERKi\n").empty());
  CHECK_FALSE(refused_symbols("0000000000000000 T _ZNSt6vectorIcSaIcEE17_M_default_appendEm\n").empty());
}

TEST_CASE("policy: symbols of what nvcc has compiled", "[grader]") {
  // nvcc's host code for a __device__ function calls exit; for a kernel it registers and launches.
  const std::string nvcc =
      "                 U __cudaLaunchKernel\n                 U __cudaRegisterFatBinary\n                 U exit\n"
      "                 U cublasSgemm_v2\n0000000000000000 t _Z24__device_stub__Z3runPfPf\n";
  CHECK(refused_symbols(without_nvcc(nvcc), {"cublas"}).empty());
  CHECK_FALSE(refused_symbols(without_nvcc(nvcc)).empty());
  CHECK_FALSE(refused_symbols(nvcc, {"cublas"}).empty());
  CHECK_FALSE(refused_symbols(without_nvcc(nvcc + "                 U fork\n"), {"cublas"}).empty());
}

TEST_CASE("policy: what standard macros become is let pass, other names of the compiler are not", "[grader]") {
  const auto refused = [](const std::string& code) {
    return refused_source("# 1 \"my.cu\"\n" + code + "\n", "my.cu", "homework.cuh");
  };
  CHECK(refused("float x = -(__builtin_inff ()); // -INFINITY").empty());
  CHECK(refused("float x = (__builtin_nanf (\"\")); // NAN").empty());
  CHECK(refused("int x = __builtin_offsetof (P, b); // offsetof").empty());
  CHECK(refused("__assert_fail (\"x\", __builtin_FILE (), __builtin_LINE (), __extension__ __PRETTY_FUNCTION__);")
            .empty());
  CHECK(refused("using namespace std; namespace s = std;").empty());
  CHECK_FALSE(refused("namespace std { int x; }").empty());
  CHECK_FALSE(refused("inline namespace std { int x; }").empty());
  CHECK_FALSE(refused("using namespace std; namespace std { int x; }").empty());
  CHECK_FALSE(refused("void f(void* p) { __builtin_memcpy(p, p, 4); }").empty());
  CHECK_FALSE(refused("void f() { __builtin_exit(0); }").empty());
  CHECK_FALSE(refused("void f(void* p) { __builtin_prefetch(p); }").empty());
}

TEST_CASE("policy: pragmas and names that harm nobody", "[grader]") {
  const auto refused = [](const std::string& code) {
    return refused_source("# 1 \"my.cu\"\n" + code + "\n", "my.cu", "homework.cuh");
  };
  for (const char* code : {"#pragma unroll 4", "#pragma unroll(4)", "#pragma GCC unroll 4", "#pragma region x",
                           "#pragma GCC diagnostic ignored \"-Wall\"", "#pragma nv_diag_suppress 177",
                           "float a = tilewise_fast_expf(1); // __expf", "int tw_size, two, tw_align;",
                           "int q = yes ? gnu : no;", "int r = yes ? clang : 0;"}) {
    INFO(code);
    CHECK(refused(code).empty());
  }
  for (const char* code :
       {"#pragma GCC optimize \"O0\"", "#pragma GCC poison f", "#pragma GCC system_header",
        "#pragma redefine_extname f g", "#pragma weak f", "#pragma push_macro(\"f\")", "[[gnu::noinline]] void f();",
        "[[using gnu: noinline]] void f();", "int tw_loop_1;", "int tw_kernel;", "int tw_a3;", "int tw_reg_1;",
        "int tilewise_flop;", "void f(int n, ...) { __builtin_va_list l; }"}) {
    INFO(code);
    CHECK_FALSE(refused(code).empty());
  }
  // With std::exit there is no reply, so nothing is gained.
  CHECK(refused_symbols("                 U exit\n                 U abort\n").empty());
  // Calls that compilers write: __popc, a complex product, __fadd_rd, and a sinf and a cosf of the same number.
  for (const char* name : {"__popcountdi2", "__mulsc3", "fegetround", "exp10f", "sincosf"}) {
    INFO(name);
    CHECK(refused_symbols(std::string("                 U ") + name + "\n").empty());
  }
  // CUDA's sincosf is the simulator's; the C library's stores past the checks, and its name is left only by an #undef.
  CHECK(refused("float s, c; void f() { tilewise_sincosf(1, &s, &c); }").empty());
  CHECK_FALSE(refused("float s, c; void f() { sincosf(1, &s, &c); }").empty());
  CHECK(refused_symbols("0000000000000000 T main\n").find("take yours out") != std::string::npos);
  // These would read or write memory in a kernel without being seen.
  for (const char* name : {"strcmp", "memcmp", "snprintf", "strlen", "modff", "qsort", "_exit", "getenv"}) {
    INFO(name);
    CHECK_FALSE(refused_symbols(std::string("                 U ") + name + "\n").empty());
  }
}

TEST_CASE("policy: another homework.cuh, and simcc's own pragma", "[grader]") {
  const std::string root = TILEWISE_SOURCE_DIR, contract = root + "/chapters/02_tiled_matmul/homework.cuh",
                    other = root + "/chapters/04_transpose/homework.cuh";
  const auto source = [](const std::string& header) {
    return "# 1 \"my.cu\"\n# 1 \"" + header + "\" 1\nint a;\n# 2 \"my.cu\" 2\nint b;\n";
  };
  CHECK(refused_source(source(contract), "my.cu", contract).empty());
  CHECK_FALSE(refused_source(source(other), "my.cu", contract).empty());
  const std::string pragma = "#pragma GCC pch_preprocess \"/p.gch\"\n";
  CHECK(refused_source(pragma + source(contract), "my.cu", contract, "/p.gch").empty());
  CHECK_FALSE(refused_source(pragma + pragma + source(contract), "my.cu", contract, "/p.gch").empty());
  CHECK_FALSE(refused_source(pragma + source(contract), "my.cu", contract, "/q.gch").empty());
}

TEST_CASE("policy: which files there are is not for a submission to ask", "[grader]") {
  CHECK(refused_text("#if __has_include(\"/etc/passwd\")\n#endif\n").find("__has_include") == 0);
  CHECK(refused_text("#if __has_\\\ninclude(<x>)\n#endif\n").find("__has_include") == 0);
}

TEST_CASE("policy: of what compilers say, only what is about the file's own lines is shown", "[grader]") {
  const std::string own = "a b.cu:3:5: error: 'x' was not declared\n    3 | x;\n      | ^\n";
  CHECK(about_own_lines(own, "a b.cu", "homework.cuh") == own);
  const std::string system = "/usr/include/c++/12/vector:1:2: error: static assertion failed\n    1 | x\n";
  CHECK(about_own_lines(system + own, "a b.cu", "homework.cuh") == system + own);
  for (const char* others :
       {"/etc/passwd:1: Error: no such instruction: `root:x:0:0:root:/root:/bin/bash'\n    1 | root\n",
        "/usr/include/../../etc/passwd:1: Error: no such instruction: `root'\n",
        "/home/me/solution.cu:1:1: error: secret\n", "simcc: something is missing\n",
        "other a b.cu:1:1: error: secret\n"}) {
    INFO(others);
    CHECK(about_own_lines(others + own + others, "a b.cu", "homework.cuh") == own);
  }
}

TEST_CASE("what a student writes is shown, and does nothing", "[grader]") {
  CHECK(printable("x = 1;\n\ty\n") == "x = 1;\n\ty\n");
  CHECK(printable("\x1b[2J\x7f\a") == "\\x1b[2J\\x7f\\x07");
  CHECK(printable("Zo\xc3\xab \xe2\x82\xac \xf0\x9f\x98\x80") == "Zo\xc3\xab \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");           // an escape in Latin-1's second half
  CHECK(printable("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // from right to left
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");           // no UTF-8
  CHECK(printable("a\r\nb\rc") == "a\nb\\x0dc");
  CHECK(one_line("a\nb\tc") == "a\\nb\\tc");
}
