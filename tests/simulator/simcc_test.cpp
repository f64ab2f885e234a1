// simcc as people call it: exit codes, messages, dependency files. Compiling and running is every chapter's test too.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "text.hpp"

namespace {

namespace fs = std::filesystem;

/// A folder of its own with blanks and quotes in the name: nothing may go through a shell unquoted.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("simcc test's " + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }

 private:
  fs::path path_;
};

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct Outcome {
  int status;
  std::string text;  // stdout and stderr
};

Outcome run(const Folder& folder, std::initializer_list<std::string> words) {
  std::string command;
  for (const std::string& word : words) command += shell_word(word) + " ";
  std::string log = folder.file("log.txt");
  int status = std::system((command + "> " + shell_word(log) + " 2>&1").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(log)};
}

#define SIMCC(...) run(folder, {TILEWISE_SIMCC, __VA_ARGS__})

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

const std::string kProgram = R"(#include <cstdio>
__global__ void add(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += a[i];
}
int main() {
  float *a, *b;
  cudaMallocManaged(&a, 100 * sizeof(float));
  cudaMallocManaged(&b, 100 * sizeof(float));
  for (int i = 0; i < 100; ++i) a[i] = i, b[i] = 1;
  add<<<4, 32>>>(a, b, 100);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < 100; ++i) sum += b[i];
  std::printf("sum %g\n", sum);
  cudaFree(a);
  cudaFree(b);
}
)";

}  // namespace

TEST_CASE("simcc takes nvcc's place on a command line", "[programs]") {
  Folder folder;
  std::string source = folder.write("vector add.cu", kProgram);
  std::string app = folder.file("app");
  Outcome compiled = SIMCC("-arch=sm_80", "-gencode", "arch=compute_80,code=sm_80", "--expt-relaxed-constexpr",
                           "--extended-lambda", "-lineinfo", "-Xptxas", "-v", "--use_fast_math", "-rdc=true", "-O3",
                           "-std=c++17", "-Xcompiler", "-Wall,-Wextra", "-lcudart", "-lcublas", source, "-o", app);
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  Outcome ran = run(folder, {app});
  CHECK(ran.status == 0);
  CHECK(ran.text == "sum 5050\n");
}

// As nvcc 13.0 does: it reads what the preprocessor has left like a source, and joins its lines.
TEST_CASE("simcc accepts stray backslashes that nvcc accepts, and no others", "[.all][programs]") {
  Folder folder;
  const std::string kernel = "__global__ void k(int* p) { *p = 1; ", main = "int main() { return 0; }";
  for (const std::string& right : {kernel + "\\\\\n }\n" + main + "\n",  // of two at the end of a line one is left
                                   kernel + "}\n" + main + "\n\\",       // the file's last character
                                   kernel + "}\n" + main + " \\",        //
                                   kernel + "}\n\\\n" + main + "\n",     // a line of its own
                                   kernel + "} \\\r\n" + main + "\r\n",  //
                                   kernel + "}\n#if 0\nit\\s not\n#endif\n#define UNUSED \\ x\n" + main}) {
    INFO(right);
    const Outcome outcome = SIMCC(folder.write("right.cu", right), "-o", folder.file("app"));
    CHECK(outcome.text == "");
    REQUIRE(outcome.status == 0);
    CHECK(run(folder, {folder.file("app")}).status == 0);
  }
  const Outcome outcome = SIMCC("-c", folder.write("wrong.cu", kernel + "\\ }\n"), "-o", folder.file("wrong.o"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.text, "stray"));
}

TEST_CASE("simcc compiles to objects and links them with plain C++", "[programs]") {
  Folder folder;
  std::string kernel =
      folder.write("kernel.cu", "__global__ void k(int* p) { *p = N; }\nvoid go(int* p) { k<<<1, 1>>>(p); }\n");
  std::string main = folder.write(
      "main.cpp",
      "#include <cuda_runtime.h>\nvoid go(int*);\nint main() {\n  int* p; int host = 0;\n"
      "  cudaMalloc(&p, sizeof(int)); go(p);\n  cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost);\n"
      "  cudaFree(p); return host;\n}\n");
  REQUIRE(SIMCC("-c", kernel, "-DN=7", "-o", folder.file("kernel.o")).status == 0);
  Outcome linked = SIMCC(folder.file("kernel.o"), main, "-o", folder.file("app"));
  CHECK(linked.text.empty());
  REQUIRE(linked.status == 0);
  CHECK(run(folder, {folder.file("app")}).status == 7);
}

TEST_CASE("simcc writes dependency files", "[programs]") {
  Folder folder;
  folder.write("part.cuh", "__device__ int part() { return 1; }\n");
  std::string source = folder.write("whole.cu", "#include \"part.cuh\"\n__global__ void k(int* p) { *p = part(); }\n");
  REQUIRE(SIMCC("-MD", "-MF", folder.file("deps"), "-MT", "target.o", "-c", source, "-o", folder.file("x.o")).status ==
          0);
  std::string dependencies = read(folder.file("deps"));
  CHECK(dependencies.rfind("target.o:", 0) == 0);
  CHECK(contains(dependencies, "part.cuh"));
  CHECK(contains(dependencies, "cuda_runtime.h"));
  REQUIRE(SIMCC("-MMD", "-c", source, "-o", folder.file("x.o")).status == 0);
  CHECK(contains(read(folder.file("x.d")), "part.cuh"));
  CHECK(!contains(read(folder.file("x.d")), "cuda_runtime.h"));
}

TEST_CASE("simcc reads a file once, with what g++ knows of its headers where the options allow it", "[programs]") {
  Folder folder;
  const std::string source = folder.write("small.cu", "__global__ void k(int* p) { *p = 1; }\n");
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const std::string object = folder.file("small.o");
  const bool clang = count(SIMCC("-v", "-c", source, "-o", object).text, "-noundef-analysis") > 0;
  for (const char* standard : {"-std=c++17", "-std=c++20"}) {
    const Outcome with = SIMCC("-v", standard, "-Wall", "-DSIZE=4", "-c", source, "-o", object);
    CHECK(with.status == 0);
    CHECK(count(with.text, " -E ") == 1);
    CHECK(count(with.text, "prelude.h") == (clang ? 0 : 1));
  }
  const Outcome without = SIMCC("-v", "-fno-exceptions", "-c", source, "-o", object);
  CHECK(without.status == 0);
  CHECK(count(without.text, " -E ") == 1);
  CHECK(count(without.text, "prelude.h") == 0);
  // What the prelude has left out: the library's special functions.
  const std::string bessel =
      folder.write("bessel.cu", "#include <cmath>\ndouble f() { return std::cyl_bessel_j(0.0, 1.0); }\n");
  const Outcome special = SIMCC("-v", "-c", bessel, "-o", object);
  CHECK(special.status == 0);
  CHECK(count(special.text, "prelude.h") == 0);
  // What <cmath> brings with them: programs count on it.
  const std::string least = folder.write("least.cu", "int f(int a, int b) { return std::min(a, b); }\n");
  const Outcome algorithms = SIMCC("-v", "-c", least, "-o", object);
  CHECK(algorithms.status == 0);
  CHECK(count(algorithms.text, "prelude.h") == (clang ? 0 : 1));
  // A folder of -I comes before the compiler's own.
  fs::create_directories(folder.file("mine"));
  folder.write("mine/cmath", "#include_next <cmath>\n#define OF_MINE 1\n");
  const std::string uses =
      folder.write("uses.cu", "#ifndef OF_MINE\n#error another <cmath>\n#endif\n__global__ void k() {}\n");
  CHECK(SIMCC("-I", folder.file("mine"), "-c", uses, "-o", object).status == 0);
  // A prelude of one's own, with what -include names in it.
  folder.write("known.hpp", "#pragma once\nconstexpr int kKnown = 7;\n");
  const std::string own = folder.file("own");
  CHECK(SIMCC("-I", folder.file("."), "-include", "known.hpp", "--make-prelude", own).status == 0);
  const std::string knows =
      folder.write("knows.cu", "#ifndef PLAIN\n#include \"known.hpp\"\n#endif\nint f() { return kKnown; }\n");
  CHECK(SIMCC("-I", folder.file("."), "--prelude", own, "-c", knows, "-o", object).status == 0);
  if (!clang) {  // which ignores preludes
    CHECK(SIMCC("-DPLAIN", "--prelude", own, "-c", knows, "-o", object).status == 0);
    CHECK(SIMCC("-DPLAIN", "-c", knows, "-o", object).status == 1);
  }
  // A macro that the headers know: g++ refuses its prelude.
  const Outcome macro = SIMCC("-DNDEBUG", "-c", source, "-o", object);
  CHECK(macro.status == 0);
  CHECK(macro.text.empty());
}

TEST_CASE("simcc accepts every hard construct, and its output is plain C++", "[programs]") {
  Folder folder;
  std::string source = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/rewriter_cases/nasty.cu";
  Outcome compiled = SIMCC("-c", source, "-o", folder.file("nasty.o"));
  CHECK(compiled.text.empty());
  CHECK(compiled.status == 0);
  Outcome shown = SIMCC("--rewrite", source);
  CHECK(shown.status == 0);
  CHECK(contains(shown.text, "::tilewise::sim::launch("));
  CHECK(!contains(shown.text, "<<<"));
  CHECK(line_count(shown.text) == line_count(read(source)));
  Outcome preprocessed = SIMCC("-E", source);
  CHECK(contains(preprocessed.text, "<<<"));
}

TEST_CASE("simcc's loops, atomics and shared memory do what CUDA says", "[programs]") {
  Folder folder;
  std::string source = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/rewriter_cases/semantics.cu";
  Outcome compiled = SIMCC(source, "-o", folder.file("app"));
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  Outcome ran = run(folder, {folder.file("app")});
  CHECK(ran.text == "all right\n");
  CHECK(ran.status == 0);
}

TEST_CASE("a fault of host code has its line, and ends the program as it does without the simulator", "[programs]") {
  Folder folder;
  std::ofstream(folder.file("app.cu")) << R"(#include <cuda_runtime.h>
int main() {
  int* d;
  volatile int* volatile h = nullptr;
  cudaMalloc(&d, 4);
  h[2] = 1;
})";
  REQUIRE(SIMCC(folder.file("app.cu"), "-o", folder.file("app")).status == 0);
  std::ofstream(folder.file("ends.sh")) << "\"$1\"\necho $?\n";
  const Outcome ran = run(folder, {"sh", folder.file("ends.sh"), folder.file("app")});
  INFO(ran.text);
  CHECK(contains(ran.text, "app.cu:6: host code follows a null pointer\n"));
  CHECK(contains(ran.text, "139\n"));
}

TEST_CASE("Plain C++ may include the headers that it may with nvcc", "[programs]") {
  Folder folder;
  const std::string source = folder.write("plain.cpp", R"(#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <mma.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/atomic>
int atomicAdd(int* p, long n) { return *p += static_cast<int>(n); }  // a name that is CUDA's in a .cu file alone
int main() {
  cuda::atomic<int, cuda::thread_scope_system> sum{1};
  sum += 2;
  sum.fetch_add(3, cuda::memory_order_relaxed);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst);
  std::printf("%d\n", sum.load());
}
)");
  const Outcome compiled = SIMCC(source, "-o", folder.file("app"));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  const Outcome ran = run(folder, {folder.file("app")});
  CHECK(ran.text == "6\n");
  CHECK(ran.status == 0);
}

TEST_CASE("simcc's errors name the user's file and line", "[programs]") {
  Folder folder;
  std::string source = folder.write("e.cu", "int main() {\n\n  undeclared();\n}\n");
  Outcome outcome = SIMCC(source, "-o", folder.file("app"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.text, "e.cu:3:"));
  source = folder.write("a.cu", "__global__ void k() {\n  asm(\"nop;\");\n}\n");
  outcome = SIMCC("-c", source, "-o", folder.file("a.o"));
  CHECK(outcome.status == 1);
  CHECK(outcome.text ==
        source +
            ":2: error: the simulator does not support inline PTX (asm) with nop: use a CUDA intrinsic or plain C++\n");
  CHECK(!fs::exists(folder.file("a.o")));
  source = folder.write("h.cu", "#include <cutlass/none.h>\nint main() {}\n");
  outcome = SIMCC("-c", source, "-o", folder.file("h.o"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.text, "simcc: <cutlass/none.h> is not supported by the simulator\n"));
}

TEST_CASE("A clang++ that simcc doesn't know is refused, in one line", "[programs]") {
  Folder folder;
  const std::string source = folder.write("k.cu", "int main() {}\n"), compiler = folder.file("clang++-99");
  for (const std::string version : {"13.0.1", "99.1.0", "14.0.6"}) {
    std::ofstream(compiler) << "#!/bin/sh\necho 'Debian clang version " << version << "'\nexit 0\n";
    fs::permissions(compiler, fs::perms::owner_all);
    const Outcome outcome = SIMCC("--cxx=" + compiler, source, "-o", folder.file("app"));
    const bool known = version == "14.0.6";
    INFO(version << "\n" << outcome.text);
    CHECK(contains(outcome.text, "simcc knows clang 14 to 19. Choose another compiler with --cxx, or g++\n") != known);
    if (!known) CHECK(outcome.status == 1);
    if (!known) CHECK(std::count(outcome.text.begin(), outcome.text.end(), '\n') == 1);
  }
}

const std::string kLibraries = R"(#include <cublas_v2.h>
#include <cusparse.h>
#include <cstdio>
int main() {
  cublasHandle_t blas;
  cusparseHandle_t sparse;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS || cusparseCreate(&sparse) != CUSPARSE_STATUS_SUCCESS) return 1;
  float *x, sum = 0, host[3] = {1, 2, 3};
  cudaMalloc(&x, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  for (int i = 0; i < 2; ++i) cublasSdot(blas, 3, x, 1, x, 1, &sum);
  std::printf("sum %g\n", sum);
  cudaFree(x);
  cublasDestroy(blas);
  cusparseDestroy(sparse);
}
)";

TEST_CASE("simcc links the CUDA libraries that a program calls, with -lcublas or without", "[programs]") {
  Folder folder;
  const std::string source = folder.write("dot.cu", kLibraries);
  for (const bool named : {false, true}) {
    Outcome compiled = named ? SIMCC(source, "-o", folder.file("app"), "-lcublas", "-lcusparse")
                             : SIMCC(source, "-o", folder.file("app"));
    CHECK(compiled.text.empty());
    REQUIRE(compiled.status == 0);
    Outcome ran = run(folder, {folder.file("app")});
    CHECK(ran.status == 0);
    CHECK(contains(ran.text, "sum 14\n"));
    // Said once: the figures of such a program are not a GPU's.
    CHECK(
        contains(ran.text, "tilewise: cublasSdot and its kin are computed by the simulator's own library on the CPU"));
    CHECK(line_count(ran.text) == 2);
  }
}

TEST_CASE("a library's function that the simulator lacks is a compile-time error with its name", "[programs]") {
  Folder folder;
  std::string source = folder.write("z.cu",
                                    "#include <cublas_v2.h>\nint main() {\n  cublasHandle_t h;\n  cublasCreate(&h);\n"
                                    "  cublasStrsv(h, CUBLAS_FILL_MODE_LOWER, nullptr);\n}\n");
  Outcome outcome = SIMCC("-c", source, "-o", folder.file("z.o"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.text, "the Tilewise simulator does not support cublasStrsv"));
  CHECK(contains(outcome.text, "z.cu:5:"));
  source = folder.write("s.cu", "#include <cusparse.h>\nint main() { cusparseSpMM(nullptr, 1); }\n");
  outcome = SIMCC("-c", source, "-o", folder.file("s.o"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.text, "the Tilewise simulator does not support cusparseSpMM"));
}

TEST_CASE("simcc lists the kernels of a file, and what their parameters are called", "[programs]") {
  Folder folder;
  folder.write("other.cuh", "__global__ void of_a_header(int* p) { *p = 1; }\n");
  const std::string source = folder.write(
      "k.cu",
      "#include \"other.cuh\"\n"
      "#define KERNEL(name) __global__ void name(float* a, int n)\n"
      "__global__ void declared(int* p);\n"
      "__global__ void none() {}\n"
      "namespace one::two { namespace {\n"
      "__global__ __launch_bounds__(128) void plain(const float* __restrict__ in, unsigned int, int (&m)[4],\n"
      "                                             std::pair<int, int> p = {1, 2}, const int k[3] = nullptr) {}\n"
      "} }\n"
      "template <class T, int N>\n"
      "__global__ void of_types(T value, const T* __restrict__) {}\n"
      "KERNEL(by_macro) {}\n"
      "__device__ int no_kernel(int x) { return x; }\n");
  const Outcome outcome = SIMCC("--kernels", source);
  CHECK(outcome.status == 0);
  CHECK(outcome.text ==
        "4\tkernel\tnone\n"
        "6\tkernel\tone::two::plain\tin\tconst float* __restrict__ in\t\tunsigned int\tm\tint "
        "(&m)[4]\tp\tstd::pair<int, int> p"
        "\tk\tconst int k[3]\n"
        "9\ttemplate\tof_types\tvalue\tT value\t\tconst T* __restrict__\n"
        "11\tkernel\tby_macro\ta\tfloat* a\tn\tint n\n");
}

TEST_CASE("simcc answers senseless command lines with one line and exit code 2", "[programs]") {
  Folder folder;
  std::string source = folder.write("x.cu", "int main() {}\n");
  auto refused = [&](Outcome outcome, const std::string& part) {
    CHECK(outcome.status == 2);
    CHECK(line_count(outcome.text) == 1);
    CHECK(outcome.text.rfind("simcc: ", 0) == 0);
    CHECK(contains(outcome.text, part));
  };
  refused(run(folder, {TILEWISE_SIMCC}), "no input files");
  refused(SIMCC("--banana", source), "unknown option '--banana'");
  refused(SIMCC("missing.cu"), "no such file");
  refused(SIMCC(source, "-o"), "-o needs a value");
  refused(SIMCC("-std=c++banana", source), "c++banana");
  refused(SIMCC("-ptx", source), "-ptx");
  refused(SIMCC("-fsanitize=address", source), "-fsanitize=address");
  refused(SIMCC("-c", source, source, "-o", folder.file("x.o")), "several inputs");
  CHECK(SIMCC("--help").status == 0);
}
