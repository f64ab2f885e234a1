// The rewriter on inputs that are hard to get right. Sources are given as the preprocessor would print them.
#include "rewriter/rewriter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

namespace {

using tilewise::sim::Diagnostic;
using tilewise::sim::RewriteResult;

std::size_t line_count(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

/// One blank for every run of blanks, none beside punctuation that does not need it; newlines stay.
std::string compact(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == ' ' && (out.empty() || out.back() == ' ' || out.back() == '\n')) continue;
    if (c == '\n' && !out.empty() && out.back() == ' ') out.pop_back();
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// Rewrites code that must be accepted, with the long names cut short to keep the expectations readable.
std::string rewritten(std::string_view source) {
  RewriteResult result = tilewise::sim::rewrite(source, "t.cu");
  for (const Diagnostic& d : result.diagnostics) UNSCOPED_INFO(d.file << ":" << d.line << ": " << d.message);
  CHECK(result.ok());
  CHECK(line_count(result.text) == line_count(source));
  std::string text = result.text;
  for (std::string_view name : {"::tilewise::sim::", "[[maybe_unused]] static const bool "}) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.erase(at, name.size());
  }
  return compact(text);
}

/// The same for statements of a kernel.
std::string in_kernel(const std::string& body) {
  std::string text = rewritten("template <class T> __global__ void k(int* p, int n) {" + body + "}");
  std::string head = "template <class T> __attribute__((noinline)) void k(int* p, int n) { enter_kernel(0);";
  REQUIRE(text.substr(0, head.size()) == head);
  REQUIRE(text.back() == '}');
  return compact(text.substr(head.size(), text.size() - head.size() - 1));
}

/// The same for statements of a host function.
std::string in_host(const std::string& body) {
  std::string text = rewritten("void f() {" + body + "}");
  return compact(text.substr(10, text.size() - 11));
}

/// What a launch becomes.
std::string launch(const std::string& configuration, const std::string& kernel, const std::string& arguments = "") {
  return "launch(LaunchConfig(" + configuration + "), [&](auto... tw_a) { " + kernel + "(tw_a...); }" +
         (arguments.empty() ? "" : ", " + arguments) + ")";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::vector<Diagnostic> refused(std::string_view source) {
  RewriteResult result = tilewise::sim::rewrite(source, "t.cu");
  CHECK(line_count(result.text) == line_count(source));
  return result.diagnostics;
}

/// The one message for source that must be refused, as simcc prints it.
std::string refusal(std::string_view source) {
  std::vector<Diagnostic> diagnostics = refused(source);
  REQUIRE(diagnostics.size() == 1);
  return diagnostics[0].file + ":" + std::to_string(diagnostics[0].line) + ": " + diagnostics[0].message;
}

}  // namespace

// ---------------------------------------------------------------- launches

TEST_CASE("Launches keep their arguments") {
  CHECK(in_host("k<<<1, 2>>>();") == launch("1, 2", "k") + ";");
  CHECK(in_host("k<<<g, b, s, st>>>(a, f(x, y));") == launch("g, b, s, st", "k", "a, f(x, y)") + ";");
  CHECK(in_host("k <<<dim3(1, 2), dim3{16, 16}>>> (a);") == launch("dim3(1, 2), dim3{16, 16}", "k", "a") + ";");
  CHECK(in_host("k<<<{1, 2}, 3>>>(a);") == launch("{1, 2}, 3", "k", "a") + ";");
  CHECK(in_host("k<<<(n >> 3), (a > b ? 1 : 2), n << 2>>>(a >> 1);") ==
        launch("(n >> 3), (a > b ? 1 : 2), n << 2", "k", "a >> 1") + ";");
  CHECK(in_host("k<<<1, 2>>>(P{1, 2}, [=](int i) { return i < n; });") ==
        launch("1, 2", "k", "P{1, 2}, [=](int i) { return i < n; }") + ";");
  CHECK(in_host("k<<<1, [&] { return 32; }()>>>(a);") == launch("1, [&] { return 32; }()", "k", "a") + ";");
}

TEST_CASE("Templates in a launch configuration end before >>>") {
  CHECK(in_host("k<<<A<B<int>>::v, 2>>>(a);") == launch("A<B<int>>::v, 2", "k", "a") + ";");
  CHECK(in_host("k<<<A<B<C<int>>>::v, 2>>>(a);") == launch("A<B<C<int>>>::v, 2", "k", "a") + ";");
  CHECK(in_host("k<<<1, size<int>>>>(a);") == launch("1, size<int>", "k", "a") + ";");
  CHECK(in_host("k<<<f<A<B<int>>>(1), 2>>>(a);") == launch("f<A<B<int>>>(1), 2", "k", "a") + ";");
  CHECK(in_host("k<<<a < b, 2>>>(a);") == launch("a < b, 2", "k", "a") + ";");
}

TEST_CASE("The kernel's name is found before <<<") {
  CHECK(in_host("ns::k<a<b>, (c>d)><<<1, 2>>>(x);") == launch("1, 2", "ns::k<a<b>, (c>d)>", "x") + ";");
  CHECK(in_host("::ns::k<<<1, 2>>>(x);") == launch("1, 2", "::ns::k", "x") + ";");
  CHECK(in_host("A<int>::template k<3><<<1, 2>>>(x);") == launch("1, 2", "A<int>::template k<3>", "x") + ";");
  CHECK(in_host("if (c) k<<<1, 2>>>(x); else q<3><<<1, 2>>>(y);") ==
        "if (c) " + launch("1, 2", "k", "x") + "; else " + launch("1, 2", "q<3>", "y") + ";");
  CHECK(in_host("if (c) (k<1, 2>)<<<1, 2>>>(x);") == "if (c) " + launch("1, 2", "(k<1, 2>)", "x") + ";");
  CHECK(in_host("(k<<<1, 2>>>(x), check());") == "( " + launch("1, 2", "k", "x") + ", check());");
  CHECK(in_host("do { k<<<1, 2>>>(x); } while (0);") == "do { " + launch("1, 2", "k", "x") + "; } while (0);");
  CHECK(in_host("auto l = [&] { k<<<1, 2>>>(args...); };") ==
        "auto l = [&] { " + launch("1, 2", "k", "args...") + "; };");
}

TEST_CASE("A kernel given by an expression is evaluated once") {
  auto expression = [](const std::string& e) { return "launch_pointer(LaunchConfig(1, 2), " + e + ", x);"; };
  for (std::string e :
       {"(*fp)", "obj.kernel", "p->kernel", "table[i + 1]", "get(3)", "get<int>(3)[2]", "a.b[i].c", "f()()"}) {
    CHECK(in_host(e + "<<<1, 2>>>(x);") == expression(e));
    CHECK(in_host("if (c) " + e + "<<<1, 2>>>(x);") == "if (c) " + expression(e));
    CHECK(in_host("else " + e + "<<<1, 2>>>(x);") == "else " + expression(e));
  }
  CHECK(in_host("void (*fp)(int) = pick(); fp<<<1, 2>>>(x);") == "void (*fp)(int) = pick(); " + expression("fp"));
}

TEST_CASE("A launch over several lines keeps every line where it was") {
  CHECK(in_host("\nk\n<int>\n<<<\n1,\n2\n>>>\n(\na,\nb);\n") ==
        "\nlaunch(LaunchConfig(\n\n\n1,\n2\n), [&](auto... tw_a) { k <int>(tw_a...); },\n\na,\nb);\n");
  std::string text = rewritten("void f() {\nk<<<1,\n# 7 \"x.cu\" 3 4\n__null\n# 7 \"x.cu\"\n>>>(1);\n}\n");
  CHECK(contains(text, "\n# 7 \"x.cu\" 3 4\n__null\n# 7 \"x.cu\"\n)"));
}

TEST_CASE("NULL arguments become null pointers of any type") {
  CHECK(in_host("k<<<1, 2>>>(__null, a, __null);") == launch("1, 2", "k", "null_argument, a, null_argument") + ";");
  CHECK(in_host("k<<<1, 2>>>(f(__null), p == __null);") == launch("1, 2", "k", "f(__null), p == __null") + ";");
}

TEST_CASE("A bare 0 stays a literal, which may be a null pointer") {
  CHECK(in_host("k<<<1, 2>>>(a, 0, f<1, 2>(3));") ==
        "launch(LaunchConfig(1, 2), [&](auto tw_a0, auto, auto tw_a2) { k(tw_a0, 0, tw_a2); }, a, 0, f<1, 2>(3));");
  CHECK(in_host("k<<<1, 2>>>(0, args...);") == launch("1, 2", "k", "0, args...") + ";");
  CHECK(in_host("k<<<1, 2>>>(a[0], 0 + b, f(0));") == launch("1, 2", "k", "a[0], 0 + b, f(0)") + ";");
}

TEST_CASE("Text that only looks like a launch is left alone") {
  for (std::string same :
       {"s = \"k<<<1, 2>>>(x)\";", "// k<<<1, 2>>>(x);\n", "/* k<<<1,\n 2>>>(x) */", "x = a << b; y = c >> d >> e;",
        "s = R\"x(k<<<1, 2>>>(\")\")x\";", "A<B<C<int>>> v;", "c = '<'; d = '\"'; k = 1'000'000;"}) {
    CHECK(in_host(same) == compact(same));
  }
  std::string_view op = "friend S& operator<< <T>(S&, T);";
  CHECK(rewritten(op) == op);
}

TEST_CASE("Launches that cannot be rewritten are refused") {
  CHECK(refusal("void f() {\n k<<<1, 2>>>(1, {2, 3});\n}") ==
        "t.cu:2: the simulator does not support a kernel argument in bare braces: name its type, as in Params{1, 2}");
  CHECK(contains(refusal("void f() { k<<<1, 2; }"), "no matching >>>("));
  const auto in_homework = [](const char* source) {
    const auto result = tilewise::sim::rewrite(source, "t.cu", true);
    return result.diagnostics.empty() ? "" : result.diagnostics[0].message;
  };
  CHECK(contains(in_homework("__global__ void a() { b<<<1, 2>>>(); }"), "dynamic parallelism"));
  CHECK(contains(in_homework("void f() { k<<<1, 2>>>([] __device__ () { q<<<1, 1>>>(); }); }"), "dynamic parallelism"));
  CHECK(contains(rewritten("__device__ void a() { b<<<1, 2>>>(); }"), launch("1, 2", "b")));
  CHECK(contains(in_homework("__global__ void k(int** p) { *p = new int[4]; }"), "memory allocated in device code"));
  CHECK(contains(in_homework("__global__ void k(void** p) { *p = malloc(4); }"), "memory allocated in device code"));
  CHECK(rewritten("__host__ __device__ void a() { b<<<1, 2>>>(); }") == "void a() { " + launch("1, 2", "b") + "; }");
}

TEST_CASE("Memory of the device's heap") {
  CHECK(in_kernel("int* q = new int[n]; delete[] q; delete p;") ==
        "int* q = new (on_heap) int[n]; heap_delete_array->* q; heap_delete->* p;");
  CHECK(in_kernel("void* q = std::malloc(n); ::free(q); free(p);") ==
        "void* q = heap_allocate(n); heap_free(q); heap_free(p);");
  CHECK(in_kernel("new (p) int(n); struct S { S(const S&) = delete; };") ==
        "new (p) int(n); struct S { S(const S&) = delete; };");
  CHECK(in_host("int* q = new int; delete q; free(malloc(4));") == "int* q = new int; delete q; free(malloc(4));");
}

// ---------------------------------------------------------------- kernels and functions

TEST_CASE("Kernels are marked, entered and registered") {
  CHECK(rewritten("__global__ void k(float* p) { }") ==
        "__attribute__((noinline)) void k(float* p) { enter_kernel(0); } tw_reg_1 = register_kernel(&k);");
  CHECK(rewritten("void __global__ k() { }") ==
        "void __attribute__((noinline)) k() { enter_kernel(0); } tw_reg_1 = register_kernel(&k);");
  CHECK(rewritten("namespace { static __global__ void k() { } }") ==
        "namespace { static __attribute__((noinline)) void k() { enter_kernel(0); } tw_reg_1 = register_kernel(&k); }");
  CHECK(rewritten("extern \"C\" __global__ void k() { }") ==
        "extern \"C\" __attribute__((noinline)) void k() { enter_kernel(0); } tw_reg_1 = register_kernel(&k);");
  CHECK(contains(rewritten("extern \"C\" { __global__ void k() { } }"), "register_kernel(&k); }"));
  CHECK(contains(rewritten("__global__ void ns::k() { }"), "register_kernel(&ns::k);"));
}

TEST_CASE("Declarations, templates and friends are not registered") {
  CHECK(rewritten("__global__ void k(float* p);") == "void k(float* p);");
  CHECK(rewritten("template __global__ void k<int>(int*);") == "template void k<int>(int*);");
  CHECK(rewritten("template <class T> __global__ void k(T) { }") ==
        "template <class T> __attribute__((noinline)) void k(T) { enter_kernel(0); }");
  CHECK(rewritten("template <> __global__ void k<int>(int) { }") ==
        "template <> __attribute__((noinline)) void k<int>(int) { enter_kernel(0); }");
  CHECK(rewritten("__global__ void k(auto x) { }") ==
        "__attribute__((noinline)) void k(auto x) { enter_kernel(0); } [[maybe_unused]] auto tw_parameters_k(auto x ) "
        "-> ParametersOf<decltype(x)>;");
  CHECK(rewritten("struct S { friend __global__ void k(S); };") == "struct S { friend void k(S); };");
  // The template before it does not make the next kernel one.
  CHECK(contains(rewritten("template <class T> struct S { int a{3}; };\n__global__ void k() { }"),
                 "register_kernel(&k)"));
  CHECK(
      contains(rewritten("template <class T> requires requires(T t) { t + 1; } void f(T) { }\n__global__ void k() { }"),
               "register_kernel(&k)"));
  CHECK(!contains(rewritten("template <class T> requires requires(T t) { t + 1; } __global__ void k(T) { }"),
                  "register_kernel"));
  CHECK(contains(rewritten("template <class T> struct S { S() : a{1}, b(2) { } int a, b; };\n__global__ void k() { }"),
                 "register_kernel(&k)"));
}

TEST_CASE("Overloaded kernels are registered by their type") {
  std::string text = rewritten(
      "__global__ void k(float* p, int n = A<1, 2>::v) { }\n__global__ void k(const __grid_constant__ int n) { }");
  CHECK(contains(text, "register_kernel(static_cast<void (*)(float * p , int n )>(&k));"));
  CHECK(contains(text, "register_kernel(static_cast<void (*)(const int n )>(&k));"));
}

TEST_CASE("Launch bounds reach enter_kernel") {
  CHECK(contains(rewritten("__global__ void __launch_bounds__(256, 2) k() {}"), "void k() { enter_kernel(256);"));
  CHECK(contains(rewritten("__launch_bounds__(128) __global__ void k() {}"), "enter_kernel(128);"));
  CHECK(contains(rewritten("__global__ __launch_bounds__(64) void k() {}"), "enter_kernel(64);"));
  CHECK(contains(rewritten("template <class T> __global__ void __launch_bounds__(Traits<T, 2>::threads, 2) k() {}"),
                 "enter_kernel(Traits<T, 2>::threads);"));
  CHECK(contains(rewritten("template <int N> __global__ void __launch_bounds__(N < 4 ? 32 : 64, 2) k() {}"),
                 "enter_kernel(N < 4 ? 32 : 64);"));
  CHECK(contains(rewritten("template <int N> __global__ void __launch_bounds__(max(N, 2), 2) k() {}"),
                 "enter_kernel(max(N, 2));"));
  CHECK(rewritten("__global__ void k() __launch_bounds__(32);") == "void k() ;");
}

TEST_CASE("Device functions of every shape are device code") {
  // Each has one threadIdx, which is replaced in device code only.
  for (std::string source : {
           "__device__ int f() { return threadIdx.x; }",
           "__host__ __device__ inline int f() { return threadIdx.x; }",
           "static __forceinline__ __device__ int f() { return threadIdx.x; }",
           "int __device__ f() { return threadIdx.x; }",
           "template <class T> __device__ auto f(T t) -> decltype(t) { return threadIdx.x; }",
           "template <class T> __device__ T f(T t) requires requires(T u) { u * 2; } { return threadIdx.x; }",
           "template <class T> requires (sizeof(T) == 4) __device__ T f(T t) { return threadIdx.x; }",
           "struct S { __device__ S(int a) : a{a}, b(a) { c = threadIdx.x; } int a, b, c; };",
           "struct S { __device__ S() : a(threadIdx.x) { } int a; };",
           "struct S { __device__ ~S() { x(threadIdx.x); } };",
           "struct S { __device__ int operator()(int i) const noexcept { return threadIdx.x; } };",
           "struct S { __device__ int operator[](int i) const { return threadIdx.x; } };",
           "struct S { __device__ bool operator<(S o) const { return threadIdx.x; } };",
           "struct S { __device__ S& operator+=(const S& o) noexcept(true) { x = threadIdx.x; return *this; } };",
           "struct S { __device__ explicit operator bool() const { return threadIdx.x; } };",
           "struct S { static __device__ int f() { return threadIdx.x; } };",
           "struct S { friend __device__ int f(S) { return threadIdx.x; } };",
           "struct S { __device__ int f(); }; __device__ int S::f() { return threadIdx.x; }",
           "[[nodiscard]] __device__ int f() { return threadIdx.x; }",
           "__device__ [[nodiscard]] int f() { return threadIdx.x; }",
           "__device__ std::pair<int, A<3>> f() { return threadIdx.x; }",
           "__device__ int* f(int (*g)(int), int a[3]) { return threadIdx.x; }",
           "__device__ int f(int i = threadIdx.x) { return i; }",
           "template <class F> void h(F); void g() { h([=] __device__ (int i) { return threadIdx.x; }); }",
           "void g() { h([=] __host__ __device__ (int i) mutable -> int { return threadIdx.x; }); }",
           "void g() { h([] __device__ { return threadIdx.x; }); }",
           "void g() { h([]<class T> __device__ (T t) { return threadIdx.x; }); }",
           "auto f = [] __device__ (int i) -> std::pair<int, int> { return threadIdx.x; };",
       }) {
    INFO(source);
    std::string text = rewritten(source);
    CHECK(contains(text, "thread_idx().x"));
    CHECK(!contains(text, "threadIdx"));
    CHECK(!contains(text, "__device__"));
    CHECK(!contains(text, "__host__"));
  }
}

TEST_CASE("The word template that nvcc does not ask for") {
  CHECK(in_kernel("Rows<T>::load<4>(p);") == "Rows<T>::template load<4>(p);");
  CHECK(in_kernel("Rows<T>::template load<4>(p);") == "Rows<T>::template load<4>(p);");
  CHECK(in_kernel("a = Rows<T>::count < 4; Rows<T>::load(p);") == "a = Rows<T>::count < 4; Rows<T>::load(p);");
  const std::string same = "template <> template <> int Rows<int>::load<4>(int) { return 1; }";
  CHECK(rewritten(same) == same);
}

TEST_CASE("Host code keeps its names") {
  for (std::string same : {"void f() { dim3 threadIdx(1); g(threadIdx.x); for (;;) s.atomicAdd(p, 1); }",
                           "struct S { int blockDim; };", "void f(dim3 blockDim, int warpSize) { return; }"}) {
    CHECK(rewritten(same) == same);
  }
  CHECK(rewritten("__host__ void f() { use(threadIdx); }") == "void f() { use(threadIdx); }");
}

TEST_CASE("Built-in variables are replaced only where they are plain names") {
  CHECK(in_kernel("a = threadIdx.x + blockIdx.y * blockDim.z - gridDim.x % warpSize;") ==
        "a = thread_idx().x + block_idx().y * block_dim().z - grid_dim().x % 32;");
  CHECK(in_kernel("s.threadIdx = q->blockDim + N::warpSize;") == "s.threadIdx = aligned(q)->blockDim + N::warpSize;");
  CHECK(in_kernel("a = ::threadIdx.x;") == "a = thread_idx().x;");
  CHECK(in_kernel("dim3 threadIdx = f(); g(threadIdx.x);") == "dim3 threadIdx = f(); g(threadIdx.x);");
  CHECK(in_kernel("{ int warpSize = 3; g(warpSize); } g(warpSize);") == "{ int warpSize = 3; g(warpSize); } g(32);");
  CHECK(in_kernel("return threadIdx;") == "return thread_idx();");
  CHECK(in_kernel("g(a * warpSize, b);") == "g(a * 32, b);");
  CHECK(rewritten("__device__ int f(uint3 threadIdx) { return threadIdx.x; }") ==
        "inline __attribute__((always_inline, used)) int f(uint3 threadIdx) { return threadIdx.x; }");
  // `::` right after `:` or `<` would be read as something else.
  std::string raw = tilewise::sim::rewrite("__device__ int f(int n) { return n?1:threadIdx.x<warpSize; }").text;
  CHECK(contains(raw, ": ::tilewise::sim::thread_idx().x<32"));
}

TEST_CASE("memcpy and memset in device code go byte by byte") {
  CHECK(in_kernel("memcpy(a, b, 16);") == "copy_bytes(a, b, 16);");
  CHECK(in_kernel("std::memcpy(a, b, 16);") == "copy_bytes(a, b, 16);");
  CHECK(in_kernel("::std::memcpy(a, b, 16);") == "copy_bytes(a, b, 16);");
  CHECK(in_kernel("x = ::memset(a, 0, 16);") == "x = set_bytes(a, 0, 16);");
  CHECK(in_kernel("__builtin_memcpy(a, b, 16); __builtin_memset(a, 0, 1);") ==
        "copy_bytes(a, b, 16); set_bytes(a, 0, 1);");
  CHECK(in_kernel("return memcpy(a, b, 16);") == "return copy_bytes(a, b, 16);");
  for (std::string same :
       {"mine::memcpy(a, b, 16);", "s.memcpy(a, b, 16);", "memcpy_async(a);", "f = &memcpy;", "memory(a, b);"})
    CHECK(in_kernel(same) == same);
  CHECK(rewritten("void f() { memcpy(a, b, 16); }") == "void f() { memcpy(a, b, 16); }");
}

TEST_CASE("Markers become what the host compiler knows") {
  CHECK(rewritten("struct __align__(16) S { float __align__(8) x; };") ==
        "struct __attribute__((aligned(16))) S { float __attribute__((aligned(8))) x; };");
  CHECK(rewritten("__noinline__ __device__ void f();") == "__attribute__((noinline)) void f();");
  CHECK(rewritten("__attribute__((__noinline__)) void f();") == "__attribute__((__noinline__)) void f();");
  CHECK(rewritten("__device__ __forceinline__ int f();") == "inline int f();");
  CHECK(rewritten("inline __device__ __forceinline__ int f();") == "inline int f();");
  CHECK(rewritten("__forceinline__ static inline __device__ int f();") == "static inline int f();");
  CHECK(rewritten("void f(const __grid_constant__ P p);") == "void f(const P p);");
}

// ---------------------------------------------------------------- variables

TEST_CASE("Variables in device memory are registered") {
  auto registered = [](const std::string& name, const std::string& space, int number = 1) {
    return "tw_reg_" + std::to_string(number) + " = register_variable((const void*)&" + name + ", sizeof(" + name +
           "), \"" + name + "\", Space::" + space + ");";
  };
  CHECK(rewritten("__constant__ float c[64];") == "float c[64]; " + registered("c", "constant"));
  CHECK(rewritten("static __device__ volatile int g = 3;") ==
        "static volatile int g = 3; " + registered("g", "global"));
  CHECK(rewritten("__device__ __managed__ int m;") == "int m; " + registered("m", "managed"));
  CHECK(rewritten("__managed__ int m;") == "int m; " + registered("m", "managed"));
  CHECK(rewritten("__constant__ int a[2] = {1, 2}, b, *c = nullptr;") ==
        "int a[2] = {1, 2}, b, *c = nullptr; " + registered("a", "constant") + " " + registered("b", "constant", 2) +
            " " + registered("c", "constant", 3));
  CHECK(rewritten("__device__ A<int, 3> v = f<1, 2>(3), w;") ==
        "A<int, 3> v = f<1, 2>(3), w; " + registered("v", "global") + " " + registered("w", "global", 2));
  CHECK(rewritten("__device__ int (*f)(int, int) = h;") == "int (*f)(int, int) = h; " + registered("f", "global"));
  CHECK(rewritten("__device__ float x(3.0f);") == "float x(3.0f); " + registered("x", "global"));
  CHECK(rewritten("__device__ int S::n = 4;") == "int S::n = 4; " + registered("S::n", "global"));
  CHECK(rewritten("struct S { int a; } __device__ s;") == "struct S { int a; } s; " + registered("s", "global"));
  CHECK(contains(rewritten("namespace n { inline __constant__ const float t[] = {1, 2}; }"),
                 registered("t", "constant") + " }"));
}

TEST_CASE("Declarations of device variables are not registered") {
  CHECK(rewritten("extern __constant__ float c[64];") == "extern float c[64];");
  CHECK(contains(rewritten("extern __device__ int x = 4;"), "register_variable"));
  CHECK(rewritten("struct S { static __device__ int n; };") == "struct S { static int n; };");
  CHECK(rewritten("template <class T> __device__ T pi = T(3);") == "template <class T> T pi = T(3);");
  CHECK(rewritten("typedef __device__ int (*fn)(int);") == "typedef int (*fn)(int);");
}

TEST_CASE("static in a device function is device memory") {
  std::string registered = " static bool tw_known_n; register_static(tw_known_n, (const void*)&n, sizeof(n), \"n\");";
  CHECK(in_kernel("static int n = 0; n++;") == "static int n = 0;" + registered + " n++;");
  CHECK(in_kernel("static __device__ int n;") == "static int n;" + registered);
  CHECK(in_kernel("static const float n[2] = {1, 2};") == "static const float n[2] = {1, 2};" + registered);
  CHECK(in_kernel("struct L { static int f(); };") == "struct L { static int f(); };");
  CHECK(in_kernel("static constexpr int n = 3;") == "static constexpr int n = 3;");
  CHECK(in_host("static int calls = 0;") == "static int calls = 0;");
}

// ---------------------------------------------------------------- shared memory

TEST_CASE("__shared__ variables become references into the block's arena") {
  // Of a class the reference names the type: `auto&` would make it a dependent one in a template.
  auto shared = [](const std::string& name, const std::string& declared = "") {
    return (declared.empty() ? "auto& " + name : declared) + " = shared_variable<tw_shared_" + name +
           ", decltype(tw_shared_" + name + "::" + name + ")>(\"" + name + "\", \"t.cu\", 1)." + name + ";";
  };
  CHECK(in_kernel("__shared__ float a[4][5];") == "struct tw_shared_a { float a[4][5]; }; " + shared("a"));
  CHECK(in_kernel("__shared__ T a[N][N], b[2], *c;") ==
        "struct tw_shared_a { T a[N][N]; }; struct tw_shared_b { T b[2]; }; struct tw_shared_c { T *c; }; " +
            shared("a", "T (&a)[N][N]") + " " + shared("b", "T (&b)[2]") + " " + shared("c"));
  CHECK(in_kernel("static __shared__ volatile int f;") == "struct tw_shared_f { volatile int f; }; " + shared("f"));
  CHECK(in_kernel("volatile __shared__ unsigned long f;") ==
        "struct tw_shared_f { volatile unsigned long f; }; " + shared("f"));
  CHECK(in_kernel("__shared__ __align__(16) char f[3];") ==
        "struct tw_shared_f { __attribute__((aligned(16))) char f[3]; }; " + shared("f"));
  CHECK(in_kernel("__align__(16) __shared__ char f[3];") ==
        "struct tw_shared_f { __attribute__((aligned(16))) char f[3]; }; " + shared("f"));
  CHECK(in_kernel("__shared__ alignas(16) char f[3];") ==
        "struct tw_shared_f { alignas ( 16 ) char f[3]; }; " + shared("f"));
  CHECK(in_kernel("__shared__ typename T::X a;") == "struct tw_shared_a { typename T :: X a; }; " + shared("a"));
  CHECK(in_kernel("__shared__ cuda::std::array<float, 4> x[8];") ==
        "struct tw_shared_x { cuda :: std :: array < float , 4 > x[8]; }; " + shared("x"));
  CHECK(in_kernel("__shared__ float (*p)[4];") == "struct tw_shared_p { float (*p)[4]; }; " + shared("p"));
  CHECK(in_kernel("__shared__ struct { int x; } s, t[2];") ==
        "struct tw_shared_s { struct { int x ; } s, t[2]; }; " + shared("s") +
            " auto& t = shared_variable<tw_shared_s, decltype(tw_shared_s::t)>(\"t\", \"t.cu\", 1).t;");
  CHECK(contains(in_kernel("for (;;) { __shared__ float a[2]; { __shared__ float a[3]; } }"),
                 "{ struct tw_shared_a { float a[3]; };"));
  CHECK(contains(in_kernel("\n__shared__ float\n a[2],\n b;\n"),
                 "shared_variable<tw_shared_b, decltype(tw_shared_b::b)>(\"b\", \"t.cu\", 4).b;\n\n"));
}

TEST_CASE("extern __shared__ is the launch's dynamic shared memory") {
  auto dynamic = [](const std::string& name, const std::string& type) {
    return "auto& " + name + " = *static_cast<" + type + ">(dynamic_shared());";
  };
  CHECK(in_kernel("extern __shared__ float s[];") == dynamic("s", "float (*)[]"));
  CHECK(in_kernel("extern __shared__ __align__(16) unsigned char s[];") == dynamic("s", "unsigned char (*)[]"));
  CHECK(in_kernel("__shared__ extern T s[];") == dynamic("s", "T (*)[]"));
  CHECK(in_kernel("extern __shared__ volatile float s[][32];") == dynamic("s", "volatile float (*)[][32]"));
  CHECK(in_kernel("extern __shared__ typename A<T, 2>::V s[];") == dynamic("s", "typename A < T , 2 > :: V (*)[]"));
  CHECK(in_kernel("extern __shared__ float* s[];") == dynamic("s", "float *(*)[]"));
}

TEST_CASE("Shared variables of namespace scope") {
  std::string text = rewritten(
      "extern __shared__ float s[];\n__device__ float f(int i) { return s[i]; }\n__device__ int g(int s) { return s; "
      "}\n"
      "__device__ int h(P p) { return p.s; }\n");
  CHECK(text ==
        "\nfloat f(int i) { auto& s = *static_cast<float (*)[]>(dynamic_shared()); return s[i]; }\nint g(int s) { "
        "return s; }\n"
        "int h(P p) { return p.s; }\n");
  text = rewritten("__shared__ int s[3];\n__global__ void k() { s[0] = 1; }");
  CHECK(contains(text, "struct tw_shared_s { int s[3]; };\n"));
  CHECK(contains(text,
                 "{ enter_kernel(0); auto& s = shared_variable<tw_shared_s, decltype(tw_shared_s::s)>(\"s\", \"t.cu\", "
                 "1).s; s[0] = 1; }"));
  // A function's own declaration wins.
  text = rewritten("extern __shared__ float s[];\n__device__ void f() { extern __shared__ int s[]; s[0] = 1; }");
  CHECK(contains(text, "void f() { auto& s = *static_cast<int (*)[]>(dynamic_shared()); s[0] = 1; }"));
}

TEST_CASE("Lambdas refer to shared variables and never copy them") {
  std::string declaration = "extern __shared__ float s[]; ";
  auto lambda = [&](const std::string& code) {
    std::string text = in_kernel(declaration + code);
    return text.substr(text.find("; ") + 2);
  };
  CHECK(lambda("auto f = [=] { return s[0]; };") == "auto f = [=, &s] { return s[0]; };");
  CHECK(lambda("auto f = [] (int i) { return s[i]; };") == "auto f = [&s] (int i) { return s[i]; };");
  CHECK(lambda("auto f = [&] { return s[0]; };") == "auto f = [&] { return s[0]; };");
  CHECK(lambda("auto f = [a, &b] { return s[a]; };") == "auto f = [a, &b, &s] { return s[a]; };");
  CHECK(lambda("auto f = [=] { return o.s; };") == "auto f = [=] { return o.s; };");
  CHECK(lambda("auto f = [] (int s) { return s; };") == "auto f = [] (int s) { return s; };");
  CHECK(lambda("auto f = [] { return [] { return s[0]; }; };") == "auto f = [&s] { return [&s] { return s[0]; }; };");
  CHECK(lambda("x = s[a[0]];") == "x = s[a[0]];");
}

TEST_CASE("Shared declarations that CUDA does not allow are refused") {
  CHECK(contains(refusal("__global__ void k() {\n __shared__ int x = 3;\n}"),
                 "t.cu:2: the simulator does not support an initial value"));
}

TEST_CASE("A __shared__ declaration that lacks its end is no declaration with something else in it") {
  const std::string missing = "t.cu:2: a \";\" is missing after this __shared__ declaration";
  for (const std::string declaration :
       {"float s[64]\n int i = 3;", "float s\n if (i) { i = 3; }", "float s[2], t[3]\n __shared__ int u;",
        "float s[2]\n *p = 3;", "float s[2]\n for (;;) {}", "float (*s)[2]\n return;", "float s[2]"}) {
    INFO(declaration);
    CHECK(refusal("__global__ void k() {\n __shared__ " + declaration + "\n}") == missing);
  }
  CHECK(refusal("__global__ void k() {\n __shared__ float s[64;\n}") == "t.cu:2: this \"[\" is never closed");
  CHECK(refusal("__shared__ float") == "t.cu:1: the file ends in the middle of this __shared__ declaration");
  CHECK(refusal("__shared__ float s[3]") == "t.cu:1: the file ends in the middle of this __shared__ declaration");
  for (const std::string right : {"float s[4] __attribute__((aligned(16)));", "float* const* s;", "void (*f)(int);",
                                  "__align__(8) float s[2], t;", "float s[2][N + 1], *t;"}) {
    INFO(right);
    CHECK(contains(in_kernel("__shared__ " + right), "shared_variable<"));
  }
}

TEST_CASE("The size of a __shared__ array is a constant") {
  const auto said = [](const std::string& before, const std::string& size) {
    return refusal("__global__ void k(int n, const unsigned int m) {" + before + "\n __shared__ int s[" + size +
                   "];\n}");
  };
  for (const auto& [before, size, name] : {std::array<std::string, 3>{"", "blockDim.x + 2", "blockDim"},
                                           {"", "2 * n", "n"},
                                           {"", "4][m", "m"},
                                           {" int c = 4;", "c", "c"},
                                           {" const int c = threadIdx.x + 1;", "c", "c"}}) {
    INFO(before << size);
    CHECK(said(before, size)
              .starts_with("t.cu:2: the size of a __shared__ array must be a constant, and " + name + " is none: "));
  }
  for (const std::string right :
       {"constexpr int N = 4; __shared__ int s[N];", "const int N = 4; __shared__ int s[N * 2];",
        "{ int N = 4; N = 5; } __shared__ int s[N];", "__shared__ int s[sizeof(p)];", "__shared__ int s[S::p];",
        "int p; { constexpr int p = 4; __shared__ int s[p]; }", "const int N = p ? 4 : 4; __shared__ int s[N];",
        "for (int N = 0; N < 4; ++N) { f(0, N); } __shared__ int s[N];", "extern __shared__ int s[];"}) {
    INFO(right);
    CHECK(contains(in_kernel(right), "auto& s = "));
  }
}

TEST_CASE("A brace that is never closed is what is said, and nothing that follows from it") {
  const std::string said = ": the \"{\" in this line is never closed: add the \"}\" that is missing";
  const std::string kernel = "__global__ void k(int* p) {\n __shared__ int s = 3;\n if (p) {\n }\n";
  CHECK(refusal(kernel) == "t.cu:1" + said);
  CHECK(refusal(kernel + "__global__ void other() {}\nint main() {}") == "t.cu:1" + said);
  CHECK(refusal("namespace a::b {\n" + kernel + "__global__ void other() {}\n}\n") == "t.cu:2" + said);
  CHECK(refusal("namespace {\nint f() {\n if (1) {\n return 1;\n") == "t.cu:2" + said);
  const std::string closed = "int f() { /* { */ return '{' + \"{\"[0] + R\"({)\"[0]; } // {\n";
  CHECK(rewritten(closed) == closed);
}

// ---------------------------------------------------------------- loops

TEST_CASE("The marker of a loop says what nvcc knows of it") {
  auto facts = [](const std::string& code) {
    const std::string text = in_kernel(code), name = "Loop tw_loop_1";
    const std::size_t begin = text.find(name) + name.size();
    return text.substr(begin, text.find(';', begin) - begin);
  };
  CHECK(facts("for (int i = 0; i < 8; ++i) f(i);") == "{kConstantTrips}");
  CHECK(facts("for (int d = warpSize / 2; d > 0; d >>= 1) f(d);") == "{kConstantTrips}");
  CHECK(facts("for (int i = 0; i < n; ++i) f(i);") == "{__builtin_constant_p(n) ? kConstantTrips : 0u}");
  CHECK(facts("for (int i = a; i < n; i += a) f(i);") ==
        "{__builtin_constant_p(a) & __builtin_constant_p(n) ? kConstantTrips : 0u}");
  for (std::string none :
       {"for (int i = threadIdx.x; i < 8; i += 4) f(i);", "for (int i = 0; i < blockDim.x; ++i) f(i);",
        "for (int i = 0; i < size(); ++i) f(i);", "for (int i = 0; i < (T)8; ++i) f(i);",
        "for (int i = 0; i < N::size; ++i) f(i);", "for (int i = 0, n = 3; i < n; ++i) f(i);", "while (n--) f(n);",
        "for (int i = 0; i < v[0]; ++i) f(i);"})
    CHECK(facts(none) == "");
  for (std::string kept : {"#pragma unroll 1\n", "#pragma unroll(1)\n", "#pragma nounroll\n"})
    CHECK(facts("\n" + kept + "for (int i = 0; i < 8; ++i) f(i);") == "{kKeptLoop}");
  for (std::string other : {"#pragma unroll\n", "#pragma unroll 16\n", "#pragma unroll (4)\n"})
    CHECK(facts("\n" + other + "for (int i = 0; i < 8; ++i) f(i);") == "{kConstantTrips}");
}

TEST_CASE("Short branches and members are marked") {
  const std::string loop = "for (Loop tw_loop_1;;) { while (n--) { tw_loop_1.tick(); ";
  CHECK(in_kernel("while (n--) { if (n < 3) s[n] += s[n + 3]; f(); }") ==
        loop + "if ( may_skip(static_cast<bool>(n < 3))) s[n] += s[n + 3]; f(); } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("x = n < 3 && m ? a[n] : 0.0f; f();") ==
        "x = may_skip(static_cast<bool>(n < 3 && m)) ? a[n] : 0.0f; f();");
  for (std::string same :
       {"if (n < 3) a[n] = 1;",                      // at the end of a kernel, threads leave
        "if (n < 3) a[n] = 1; else b[n] = 1; f();",  // both ways are branches
        "if (n < 3) f(a[n]); f();",                  // a call
        "if (int k = n) a[k] = 1; f();",             // declares
        "if (n < 3) v = a[n] * b[n] + c[n]; f();",   // too long
        "if constexpr (n < 3) a[n] = 1; f();", "x = n < 3 ? a[n] : b[n]; f();", "x = n < 3 ? 1 : 2; f();"})
    CHECK(in_kernel(same) == same);
  CHECK(in_kernel("x = p[i].x + q->y;") == "x = aligned(p)[i].x + aligned(q)->y;");
  CHECK(in_kernel("x = a.p[i].x + (*p).y + a[0][i].z + p[i].v[2];") ==
        "x = aligned(a.p)[i].x + (*aligned(p)).y + aligned(a[0])[i].z + aligned(p)[i].v[2];");
  for (std::string same : {"x = p[i] + p.x;", "x = &p[i].x;", "x = p[i].v[j];", "x = f(*p).x;"})
    CHECK(in_kernel(same) == same);
}

TEST_CASE("A member's name is not that of a function that is called again") {
  const std::string fluent =
      "struct S { int n; __device__ S& add(int x) { n += x; return *this; } }; "
      "__device__ S add(S a, S b) { return a.add(b.n); } __device__ void f(S& s) { s.add(1).add(2); }";
  CHECK(!contains(rewritten(fluent), "value("));
  // It does call itself, and the members of its name do not.
  const std::string both =
      "struct S { int n; __device__ S& add(int x) { n += x; return *this; } }; "
      "__device__ S add(S a, int n) { return n ? add(a, n - 1) : a.add(n); }";
  CHECK(contains(rewritten(both), "value(add("));
  CHECK(!contains(rewritten(both), "value(a.add"));
  // Members that call themselves move structs, too.
  CHECK(contains(rewritten("struct S { int n; __device__ S half(int k) const { return k ? half(k - 1) : *this; } };"),
                 "value("));
}

TEST_CASE("threadIdx in the default of a member") {
  const std::string defaults = "struct W { unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y{threadIdx.y}; };";
  CHECK(contains(rewritten(defaults), "thread_idx().x, y{ thread_idx().y};"));
  for (std::string same : {"struct W { int blockIdx; int x = 1; };", "int f() { return threadIdx.x; }"})
    CHECK(rewritten(same) == same);
}

TEST_CASE("Members of references are marked") {
  CHECK(in_kernel("const float4& v = *(p + i); x = v.x + p[i].f();") ==
        "const float4& v = *(p + i); x = aligned_object(v).x + aligned(p)[i].f();");
  CHECK(in_kernel("auto&& v = a[i]; x = v.x;").find("aligned_object(v).x") != std::string::npos);
  CHECK(in_kernel("auto& [a, b] = p[i]; x = a;") == "auto& [a, b] = aligned(p)[i]; x = a;");
  CHECK(in_kernel("for (const float4& v : four) x += v.y;").find("aligned_object(v).y") != std::string::npos);
  CHECK(in_kernel("auto f = [](const float4& v) { return v.x; };") ==
        "auto f = [](const float4& v) { return aligned_object(v).x; };");
  CHECK(contains(rewritten("__device__ float f(const float4& v) { return v.x; }"), "aligned_object(v).x"));
  // An object, and one of the name of a reference elsewhere.
  CHECK(!contains(
      rewritten("__device__ float f(const float4& v) { return 1; } __device__ float g(float4 v) { return v.x; }"),
      "aligned_object"));
  CHECK(in_kernel("{ float4& v = p[0]; } float4 v = p[i]; x = v.x;").find("aligned_object") == std::string::npos);
}

TEST_CASE("__restrict__ is a promise that the runtime is told of") {
  CHECK(rewritten("__global__ void k(const float* __restrict__ a, float* b) { f(); }").find(" restricted(a);") !=
        std::string::npos);
  CHECK(rewritten("__global__ void k(const float* a, float* b) { f(); }").find("restricted") == std::string::npos);
  CHECK(rewritten("void f(float* __restrict__ a);").find("__restrict__") == std::string::npos);
}

TEST_CASE("What a program promises its compiler is looked at") {
  CHECK(in_kernel("__builtin_assume(n > 0);") == "assume(n > 0);");
  CHECK(in_kernel("p = (float4*)__builtin_assume_aligned(q, 16);") == "p = (float4*) assume_aligned(q, 16);");
  CHECK(in_kernel("if (n) __builtin_unreachable();") == "if (n) unreachable();");
  CHECK(contains(rewritten("void f() { __builtin_unreachable(); }"), "unreachable();"));
  CHECK(contains(rewritten("void f() { __builtin_assume(x); }"), "__builtin_assume(x);"));  // nvcc's hosts have none
  CHECK(contains(rewritten("void __builtin_assume(bool);"), "__builtin_assume(bool)"));
}

TEST_CASE("Loops are marked and stay one statement") {
  auto loop = [](int depth) { return "for (Loop tw_loop_" + std::to_string(depth) + ";;) { "; };
  CHECK(in_kernel("for (int i = 0; i < a[0]; ++i) { p[i] = 0; }") ==
        loop(1) + "for (int i = 0; i < a[0]; ++i) { tw_loop_1.tick(); p[i] = 0; } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("while (n--) f(n);") ==
        loop(1) + "while (n--) { tw_loop_1.tick(); f(n); } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("for (;;) f();") == loop(1) + "for (;;) { tw_loop_1.tick(); f(); } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("for (int i = f(a, b);; ++i) f();") ==
        loop(1) + "for (int i = f(a, b);; ++i) { tw_loop_1.tick(); f(); } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("while (true) { f(); }") ==
        loop(1) + "while (true) { tw_loop_1.tick(); f(); } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("do f(); while (1);") ==
        loop(1) + "do { tw_loop_1.tick(); f(); } while (1); if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("if (a) while (1) f(); else g();") ==
        "if (a) " + loop(1) + "while (1) { tw_loop_1.tick(); f(); } if (tw_loop_1.left()) break; } else g();");
  CHECK(in_kernel("if (a) f(); else while (1) g();") ==
        "if (a) f(); else " + loop(1) + "while (1) { tw_loop_1.tick(); g(); } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("do n--; while (n);") ==
        loop(1) + "do { tw_loop_1.tick(); n--; } while (n); if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("do { n--; } while (n);") ==
        loop(1) + "do { tw_loop_1.tick(); n--; } while (n); if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("for (int x : {1, 2}) ;") ==
        loop(1) + "for (int x : {1, 2}) { tw_loop_1.tick(); ; } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("for (;a;) for (;a;) x();") ==
        loop(1) + "for (;a;) { tw_loop_1.tick(); " + loop(2) +
            "for (;a;) { tw_loop_2.tick(); x(); } if (tw_loop_2.left()) break; } } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("do while (a) b(); while (c);") == loop(1) + "do { tw_loop_1.tick(); " + loop(2) +
                                                         "while (a) { tw_loop_2.tick(); b(); } if (tw_loop_2.left()) "
                                                         "break; } } while (c); if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("if (a) for (;a;) x(); else y();") ==
        "if (a) " + loop(1) + "for (;a;) { tw_loop_1.tick(); x(); } if (tw_loop_1.left()) break; } else y();");
  CHECK(
      in_kernel("for (;a;) if (a) x(); else if (b) y(); else z(); w();") ==
      loop(1) +
          "for (;a;) { tw_loop_1.tick(); if (a) x(); else if (b) y(); else z(); } if (tw_loop_1.left()) break; } w();");
  CHECK(in_kernel("while (a) if constexpr (b) { x(); } else y(); z();") ==
        loop(1) +
            "while (a) { tw_loop_1.tick(); if constexpr (b) { x(); } else y(); } if (tw_loop_1.left()) break; } z();");
  CHECK(in_kernel("for (;a;) switch (n) { case 1: break; default: f(); } g();") ==
        loop(1) +
            "for (;a;) { tw_loop_1.tick(); switch (n) { case 1: break; default: f(); } } if (tw_loop_1.left()) break; "
            "} g();");
  CHECK(in_kernel("for (;a;) [[likely]] if (a) { x(); } y();") ==
        loop(1) + "for (;a;) { tw_loop_1.tick(); [[likely]] if (a) { x(); } } if (tw_loop_1.left()) break; } y();");
  CHECK(in_kernel("for (;a;) f([&] { return 1; }, A{1}); g();") ==
        loop(1) + "for (;a;) { tw_loop_1.tick(); f([&] { return 1; }, A{1}); } if (tw_loop_1.left()) break; } g();");
  CHECK(in_kernel("out: for (;a;) goto out;") ==
        "out: " + loop(1) + "for (;a;) { tw_loop_1.tick(); goto out; } if (tw_loop_1.left()) break; }");
  CHECK(in_kernel("for (;a;) out: x(); y();") ==
        loop(1) + "for (;a;) { tw_loop_1.tick(); out: x(); } if (tw_loop_1.left()) break; } y();");
  CHECK(in_kernel("switch (n) { case a ? 1 : 2: for (;a;) x(); }") ==
        "switch (n) { case a ? 1 : 2: " + loop(1) +
            "for (;a;) { tw_loop_1.tick(); x(); } if (tw_loop_1.left()) break; } }");
}

TEST_CASE("Loops inside expressions and local classes are found") {
  CHECK(contains(in_kernel("auto f = [=](int i) { while (i) --i; };"),
                 "{ for (Loop tw_loop_1;;) { while (i) { tw_loop_1.tick(); --i; } if (tw_loop_1.left()) break; } }"));
  CHECK(contains(in_kernel("struct L { int f() { for (;a;) x(); } };"), "tw_loop_1.tick(); x();"));
  CHECK(contains(rewritten("void f() { g([] __device__ (int n) { while (n) --n; }); while (1) h(); }"),
                 "tw_loop_1.tick(); --n; } if (tw_loop_1.left()) break; } }); while (1) h(); }"));
  CHECK(rewritten("constexpr int f(int n) { while (n) --n; return n; }") ==
        "constexpr int f(int n) { while (n) --n; return n; }");
}

TEST_CASE("A switch that jumps into a loop leaves the loop unmarked") {
  std::string duff = "switch (n) { case 0: do { f(); case 1: f(); } while (--n); }";
  CHECK(in_kernel(duff) == duff);
}

TEST_CASE("#pragma unroll never comes between a marker and its loop") {
  CHECK(in_kernel("\n#pragma unroll\nfor (;a;)\n#pragma unroll 4\nfor (;a;)\nx();\n") ==
        "\n\nfor (Loop tw_loop_1;;) { for (;a;) { tw_loop_1.tick();\n\n"
        "for (Loop tw_loop_2;;) { for (;a;) { tw_loop_2.tick();\nx(); } if (tw_loop_2.left()) break; } } if "
        "(tw_loop_1.left()) break; }\n");
  CHECK(rewritten("#pragma once\n# pragma  GCC ivdep\n#pragma nounroll\n") == "#pragma once\n# pragma GCC ivdep\n\n");
}

// ---------------------------------------------------------------- atomics

TEST_CASE("An atomic without a use of its result is a reduction") {
  CHECK(in_kernel("atomicAdd(p, 1);") == "discard(), atomicAdd(p, 1);");
  CHECK(in_kernel("(void)atomicAdd(p, 1);") == "discard(), (void)atomicAdd(p, 1);");
  CHECK(in_kernel("::atomicMax(p, 1);") == "discard(), ::atomicMax(p, 1);");
  CHECK(in_kernel("atomicAdd_block(p, f(1, 2));") == "discard(), atomicAdd_block(p, f(1, 2));");
  CHECK(in_kernel("if (a) atomicXor(p, 1); else atomicOr(p, 1);") ==
        "if (a) discard(), atomicXor(p, 1); else discard(), atomicOr(p, 1);");
  CHECK(contains(in_kernel("for (;;) atomicAdd(p, 1);"), "{ tw_loop_1.tick(); discard(), atomicAdd(p, 1); }"));
  CHECK(in_kernel("switch (n) { case 1: atomicAdd(p, 1); }") == "switch (n) { case 1: discard(), atomicAdd(p, 1); }");
}

TEST_CASE("An atomic whose result is used is not a reduction") {
  for (std::string same : {"int x = atomicAdd(p, 1);", "x = y ? 1 : atomicAdd(p, 1);", "return atomicAdd(p, 1);",
                           "f(atomicAdd(p, 1));", "x += atomicAdd(p, 1) + 1;", "atomicAdd(p, 1) == 3 ? f() : g();",
                           "if (atomicAdd(p, 1) == 3) f();", "atomicCAS(p, 1, 2);", "atomicExch(p, 1);",
                           "atomicAdd(p, atomicAdd(q, 1));", "atomicAddMine(p, 1);", "o.atomicAdd(p, 1);"}) {
    CHECK(in_kernel(same) == same);
  }
}

// ---------------------------------------------------------------- choosing an array

TEST_CASE("An array that a condition chooses comes from a function") {
  CHECK(in_kernel("(n ? a : b)[i] = 1;") == "chosen(n ? a : b)[i] = 1;");
  CHECK(in_kernel("if (n) (n > 1 ? a : b)[i] = 1;") == "if (n) chosen(n > 1 ? a : b)[i] = 1;");
  CHECK(in_kernel("return (n ? a : b)[i];") == "return chosen(n ? a : b)[i];");
  CHECK(in_kernel("x = (float)((n ? a : b)[i]);") == "x = (float)( chosen(n ? a : b)[i]);");
  CHECK(in_kernel("x = (float)(n ? a : b)[i];") == "x = (float) chosen(n ? a : b)[i];");
  for (std::string same : {"f(n ? a : b)[i] = 1;", "(a + n)[i] = 1;", "if (n ? a : b) [[likely]] x = 1;",
                           "f(1)(n ? 1 : 2)[i];", "auto f = [&](int x = n ? 1 : 2) { return x; };"}) {
    CHECK(in_kernel(same) == same);
  }
}

// ---------------------------------------------------------------- refused features

TEST_CASE("Features that the simulator does not have are named, with file and line") {
  CHECK(refusal("# 12 \"dir/a b.cu\"\n__global__ void k() {\n asm(\"nop;\");\n}") ==
        "dir/a b.cu:13: the simulator does not support inline PTX (asm) with nop: use a CUDA intrinsic or plain C++");
  CHECK(contains(refusal("void f() { cudaGraphConditionalHandleCreate(h, g); }"), "cudaGraphConditionalHandleCreate"));
  CHECK(contains(refusal("texture<float, 2> t;"), "texture references"));
  CHECK(contains(refusal("void f() { cudaIpcMemHandle_t h; }"), "between processes"));
  CHECK(contains(refusal("void f() { a.id = cudaLaunchAttributeClusterDimension; }"), "ClusterDimension"));
  CHECK(contains(refusal("__global__ void k() { x = __shfl_xor(x, 1); }"), "replaced with __shfl_xor_sync()"));
  CHECK(contains(refusal("__global__ void __cluster_dims__(2, 1, 1) k() {}"), "clusters"));
  CHECK(contains(refusal("__global__ void k() { __pipeline_arrive_on(b); }"), "__pipeline_wait_prior()"));
}

TEST_CASE("Inline PTX that the simulator has becomes calls, with the operands as they stand") {
  const auto has = [](const std::string& statement, const std::string& calls) {
    INFO(in_kernel(statement));
    CHECK(contains(in_kernel(statement), calls));
  };
  has("asm volatile(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(x) : \"f\"(a[threadIdx.x]));",
      "{ ptx::ConvertToTf32::call(tw_0, tw_1); }( (x) ,(a[ thread_idx().x]))");
  has("asm(\"cp.async.cg.shared.global [%1], [%0], 16;\\n\" :: \"l\"(p), \"r\"(s) : \"memory\");",
      "{ ptx::CopyAsync::call(tw_1, tw_0, 16); }( (p),(s) )");
  has("asm volatile(\"cp.async.\" \"wait_group 2;\" ::: \"memory\");", "{ ptx::WaitGroup::call(2); }(");
  has("__asm__ __volatile__(\"cp.async.commit_group;\");", "{ ptx::CommitGroup::call(); }()");
  for (const char* name : {"m8n8.x2.trans.shared::cta", "x2.trans.m8n8.shared::cta", "x2.m8n8.shared::cta.trans"})
    has("asm(\"{ldmatrix.sync.aligned." + std::string(name) +
            ".b16 {%0,%1},[%2];}\" : \"=r\"(a), \"=r\"(b) : \"r\"(s));",
        "{ { ptx::LoadMatrices<2, true>::call(tw_0, tw_1, tw_2); } }( (a),(b) ,(s))");
  has("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(l));",
      "{ ptx::Move<std::uint32_t>::call(tw_0, ptx::read<ptx::LaneId, std::uint32_t>()); }( (l))");
}

TEST_CASE("Inline PTX of several instructions: registers, predicates, offsets, comments") {
  const auto has = [](const std::string& statement, const std::string& calls) {
    INFO(in_kernel(statement));
    CHECK(contains(in_kernel(statement), calls));
  };
  has("asm(\"{.reg .pred p;\\n setp.ne.b32 p, %1, 0; // so\\n @!p mov.b32 %0, 0; }\" : \"=f\"(a) : \"r\"(b));",
      "{ { bool tw_reg_p{}; ptx::Compare<1, std::uint32_t, ptx::Unequal, false>::call(tw_reg_p, tw_1, 0); "
      "if (!tw_reg_p) ptx::Move<std::uint32_t>::call(tw_0, 0); } }( (a) ,(b))");
  has("asm(\"{.reg .b32 t<2>; /* two */ ld.shared.b32 t1, [%1 + 8]; mov.b32 %0, t1; }\" : \"=r\"(a) : \"r\"(b));",
      "std::uint32_t tw_reg_t0{}; std::uint32_t tw_reg_t1{}; ptx::Load<std::uint32_t, 1, ptx::In::shared, false, "
      "ptx::For::none>::call(tw_reg_t1, ptx::behind(tw_1, 8));");
  has("asm(\"add.f32 %0, %0, 0f3F800000;\" : \"+f\"(a));",
      "{ ptx::Binary<float, ptx::Added>::call(tw_0, tw_0, __builtin_bit_cast(float, 0x3F800000u)); }( (a))");
  has("asm(\"mov.b64 {%0, %1}, %2;\" : \"=r\"(a), \"=r\"(b) : \"l\"(c));",
      "ptx::TakeApart<std::uint64_t, 2>::call(tw_0, tw_1, tw_2);");
}

TEST_CASE("Other inline PTX is refused, and never gets to the host's assembler") {
  const auto refused = [](const std::string& statement) {
    return refusal("# 1 \"a.cu\"\n__device__ void f() {\n" + statement + " }\n");
  };
  const std::string needs = " needs a GPU of compute capability 9.0; the simulator does not have it";
  CHECK(refused("asm volatile(\"wgmma.fence.sync.aligned;\\n\" ::: \"memory\");") == "a.cu:2: wgmma" + needs);
  CHECK(
      refused("asm(\"{ .reg .pred p; setp.ne.b32 p, %0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 x; }\" "
              ":: \"r\"(a));") == "a.cu:2: wgmma" + needs);
  CHECK(
      refused("asm(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier [%0], [%1];\" :: \"r\"(a), \"l\"(b));") ==
      "a.cu:2: cp.async.bulk (TMA)" + needs);
  CHECK(refusal("# 1 \"a.cu\"\nvoid f() {\n cuTensorMapEncodeTiled(&m); }\n") ==
        "a.cu:2: TMA (cuTensorMapEncodeTiled)" + needs);
  CHECK(contains(refused("asm(\"prmt.b32.f4e %0, %1, %2, %3;\" : \"=r\"(a) : \"r\"(b), \"r\"(c));"),
                 "with prmt.b32.f4e"));
  CHECK(
      contains(refused("asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0}, {%1};\" : \"=d\"(a));"), "m8n8k4"));
  for (const char* other : {"ld.acquire.u32", "ld.acquire.gpu.nc.u32", "ld.local.u32", "st.relaxed.cta.v4.u64",
                            "atom.global.add.f16x2", "atom.add.b32", "atom.acquire.gpu.min.u16", "fence.gpu.acq_rel"})
    CHECK(contains(refused("asm(\"" + std::string(other) + " %0, [%1];\" : \"=r\"(a) : \"l\"(b));"),
                   "with " + std::string(other)));
  CHECK(contains(refused("asm(\"red.acquire.gpu.add.u32 [%0], 1;\" :: \"l\"(b));"), "with red.acquire"));
  CHECK(contains(refused("asm(\"atom.add.u32 %0, [%1];\" : \"=r\"(a) : \"l\"(b));"), "takes 3 operands, and not 2"));
  CHECK(contains(refused("asm(\"mov.u32 %0, %%envreg0;\" : \"=r\"(a));"), "with mov.u32"));
  CHECK(contains(refused("asm(\"cp.async.wait_group 0; bra done;\");"), "with bra"));
  CHECK(contains(refused("asm(\"{ add.u32 %0, %0, 1;\" : \"+r\"(a));"), "braces"));
  CHECK(contains(refused("asm(\"@p add.u32 %0, %0, 1;\" : \"+r\"(a));"), "no predicate p"));
  CHECK(contains(refused("asm(\"{ .reg .b128 q; }\");"), "registers of type .b128"));
  CHECK(contains(refused("asm(\"add.u32 %0, %0, 1;\" : \"=r\"(a) : \"0\"(b));"), "no constraint such as \"0\""));
  CHECK(contains(refused("asm(\"add.u32 %0, %0, %%laneid;\" : \"+r\"(a));"), "not of add.u32"));
  CHECK(contains(refused("asm(\"bar.sync 1;\");"), "with bar.sync"));
  CHECK(contains(refused("asm(\"bar.sync 0, 64;\");"), "with bar.sync"));
  for (const char* other :
       {"add.rz.f32", "mul.sat.f32", "cvt.f32.s32", "cvt.s32.f32", "cvt.rn.s32.f32", "cvt.sat.u8.u32", "setp.lo.f32",
        "fma.f32", "shl.s32", "add.b32", "abs.u32", "cvta.to.local.u64"})
    CHECK(contains(refused("asm(\"" + std::string(other) + " %0, %0, %0;\" : \"+r\"(a));"),
                   "with " + std::string(other)));
  CHECK(contains(refused("asm(\"cvt.rna.tf32.f32 %0;\" : \"=r\"(a));"), "takes 2 operands, and not 1"));
  CHECK(contains(refused("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(a));"), "no operand %1"));
  CHECK(contains(refused("asm(\"cvt.rna.tf32.f32 %0, %[x];\" : \"=r\"(a) : [x] \"f\"(b));"), "operands of inline PTX"));
  CHECK(contains(refused("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(a) : [x] \"f\"(b));"), "no names in brackets"));
  CHECK(contains(refused("asm(\"cvt.rna.tf32.f32 %0, q;\" : \"=r\"(a));"), "operands of inline PTX"));
  CHECK(contains(refused("asm(\"  \");"), "without an instruction"));
}

TEST_CASE("Host assembly, empty assembly and names of the program's own are accepted") {
  CHECK(in_host("asm(\"nop\");") == "asm(\"nop\");");
  CHECK(in_kernel("asm volatile(\"\" ::: \"memory\");") == "asm volatile(\"\" ::: \"memory\");");
  CHECK(in_kernel("scene.tex2D(1); gl::tex2D(1); scene.texture<int>();") ==
        "scene.tex2D(1); gl::tex2D(1); scene.texture<int>();");
  CHECK(in_host("int texture = 3; bool b = texture < 4;") == "int texture = 3; bool b = texture < 4;");
}

// ---------------------------------------------------------------- preprocessed text

TEST_CASE("System headers are copied untouched") {
  std::string system =
      "# 1 \"t.cu\"\n# 1 \"/usr/include/x.h\" 1 3 4\n__global__ void k() { for (;;) asm(\"x\"); } k<<<1, 2>>>(; {{{ "
      "\"\n"
      "#pragma unroll\n# 9 \"/usr/include/y.h\" 3\nint __device;\n# 2 \"t.cu\" 2\n";
  CHECK(tilewise::sim::rewrite(system + "__device__ void f();\n").text == system + "  void f();\n");
}

TEST_CASE("A system header whose functions are marked for the device is taken for the program's, all of it") {
  const std::string header = "# 1 \"t.cu\"\n# 1 \"/usr/include/y.h\" 1 3\nnamespace n {\n# 40 \"/usr/include/y.h\" 3\n";
  CHECK(tilewise::sim::rewrite(header + "__host__ __device__ int f();\n}\n# 2 \"t.cu\" 2\n").text ==
        header + "    int f();\n}\n# 2 \"t.cu\" 2\n");
}

TEST_CASE("A macro of a system header in user code is user code") {
  std::string text = rewritten(
      "# 1 \"t.cu\"\n__device__ void f(int* p) {\nint* q = p ? p :\n# 3 \"t.cu\" 3 4\n__null\n# 3 \"t.cu\"\n; g(\n"
      "# 3 \"t.cu\" 3 4\n(threadIdx.x)\n# 3 \"t.cu\"\n); }\n");
  CHECK(contains(text, "( thread_idx().x)"));
}

TEST_CASE("Errors and shared variables carry the line of the marker, not of the text") {
  CHECK(contains(refusal("# 100 \"a.cu\"\n\n# 7 \"b.cuh\" 1\n__device__ void f() {\n asm(\"x\"); }\n"), "b.cuh:8: "));
  CHECK(contains(refusal("#line 50 \"z.cu\"\n__device__ void f() { asm(\"x\"); }\n"), "z.cu:50: "));
  CHECK(contains(rewritten("# 30 \"a \\\"q\\\".cu\"\n__device__ void f() { __shared__ int s; }\n"),
                 "(\"s\", \"a \\\"q\\\".cu\", 30)"));
}

TEST_CASE("Nothing is found in strings, characters, comments and numbers") {
  for (std::string same : {"s = \"for (;;) threadIdx \\\" __shared__\";", "c = '\\''; d = '\"'; e = L'{';",
                           "n = 1'000'000 + 0x1p-3 + 1e+5 + .5f;", "s = R\"(for (;;) { \" threadIdx)\";",
                           "s = u8R\"ab(\n)\" threadIdx )ab\"; x = y;", "/* for (;;) { threadIdx */",
                           "// atomicAdd(p, 1);\n", "s = \"a\"_udl + 'b'_udl + 3_km;"}) {
    CHECK(in_kernel(same) == compact(same));
  }
}

TEST_CASE("An empty source stays empty") { CHECK(rewritten("").empty()); }

// ---------------------------------------------------------------- fuzzing

namespace {

/// A small generator of our own, so that every platform sees the same mutations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
  std::size_t below(std::size_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return limit == 0 ? 0 : state_ % limit;
  }

 private:
  std::uint64_t state_;
};

std::string fuzz_source() {
  std::ifstream stream(std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/rewriter_cases/nasty.cu");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string mutate(std::string text, Random& random) {
  static const std::vector<std::string> kFragments = {"{",
                                                      "}",
                                                      "(",
                                                      ")",
                                                      "[",
                                                      "]",
                                                      "<",
                                                      ">",
                                                      "<<<",
                                                      ">>>",
                                                      ";",
                                                      ",",
                                                      ":",
                                                      "::",
                                                      "=",
                                                      "\"",
                                                      "'",
                                                      "R\"(",
                                                      "/*",
                                                      "*/",
                                                      "//",
                                                      "\n",
                                                      "\n# 5 \"x.h\" 1 3\n",
                                                      "\n# 9 \"nasty.cu\"\n",
                                                      "\n#pragma unroll\n",
                                                      "template <class T> ",
                                                      "__global__ ",
                                                      "__device__ ",
                                                      "__shared__ ",
                                                      "extern ",
                                                      "static ",
                                                      "requires ",
                                                      "for (",
                                                      "while (",
                                                      "do ",
                                                      "else ",
                                                      "if (",
                                                      "case 1: ",
                                                      "switch (",
                                                      "operator",
                                                      "struct ",
                                                      "[=] ",
                                                      "[[",
                                                      "threadIdx",
                                                      "atomicAdd(",
                                                      "return ",
                                                      "k<<<1, 2>>>(",
                                                      "__launch_bounds__(",
                                                      "__align__(",
                                                      "try ",
                                                      "namespace ",
                                                      "\\",
                                                      "...",
                                                      "0x",
                                                      "1'"};
  std::size_t count = 1 + random.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = random.below(text.size() + 1);
    std::size_t length = std::min(random.below(random.below(8) == 0 ? 400 : 12), text.size() - at);
    switch (random.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kFragments[random.below(kFragments.size())]);
        break;
      case 2:
        text.insert(random.below(text.size() + 1), text.substr(at, length));
        break;
      default:
        text.replace(at, length, kFragments[random.below(kFragments.size())]);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("Broken source never crashes the rewriter and keeps its lines") {
  const std::string source = fuzz_source();
  REQUIRE(source.size() > 2000);
  const char* wanted = std::getenv("TILEWISE_FUZZ");
  const int count = wanted != nullptr ? std::atoi(wanted) : 3000;
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    Random random(i + 1);
    std::string text = mutate(source, random);
    if (random.below(4) == 0) text.resize(random.below(text.size() + 1));
    if (line_count(tilewise::sim::rewrite(text, "nasty.cu").text) != line_count(text)) {
      ++failures;
      UNSCOPED_INFO("mutation " << i);
    }
  }
  CHECK(failures == 0);
}

TEST_CASE("Deep nesting neither overflows the stack nor takes for ever") {
  for (std::string part :
       {"{", "(", "[", "<", "if (a) ", "for (;;) ", "do ", "k<", "(k)<<<", "k<<<", "[] __device__ {", "struct S {",
        "template <", "else ", "case 1: ", "requires ", "__shared__ ", "__device__ "}) {
    std::string text = "__device__ void f() { ";
    for (int i = 0; i < 3000; ++i) text += part;
    CHECK(tilewise::sim::rewrite(text).text.size() >= 3000);
    text += "; }";
    CHECK(line_count(tilewise::sim::rewrite(text).text) == 0);
  }
}

TEST_CASE("Functions that move structs by value become part of their callers", "[silent]") {
  const std::string at_scope = "inline __attribute__((always_inline, used)) ",
                    local = "__attribute__((always_inline)) ";
  CHECK(rewritten("struct S {}; __device__ S f(int i) { return {}; }") ==
        "struct S {}; " + at_scope + "S f(int i) { return {}; }");
  CHECK(rewritten("struct S {}; __device__ __noinline__ void f(S s) {}") ==
        "struct S {}; " + at_scope + "void f(S s) {}");
  CHECK(rewritten("__device__ inline float3 f() { return g(); }") == local + "inline float3 f() { return g(); }");
  CHECK(rewritten("template <class T> __device__ T f(T t) { return t; }") ==
        "template <class T> inline " + local + "T f(T t) { return t; }");
  // References, pointers, scalars: nothing that a call could hide.
  for (const std::string text :
       {"struct S {}; void f(S& s, const S* t) {}", "typedef float real; real f(real x) { return x; }",
        "size_t f(unsigned n) { return n; }", "using I = int; I* f(I i) { return 0; }"}) {
    const std::size_t at = text.find("; ") == std::string::npos ? 0 : text.find("; ") + 2;
    CHECK(rewritten(text.substr(0, at) + "__device__ " + text.substr(at)) == text);
  }
  // What calls itself can't, so its values go through variables.
  CHECK(rewritten("struct S {}; __device__ S f(S s, int n) { return n ? f(s, n - 1) : s; }") ==
        "struct S {}; S f(S s, int n) { return n ? value(f(value(s), n - 1)) : s; }");
}

TEST_CASE("A backslash that ends a line of the preprocessor's output joins it to the next one", "[rewriter]") {
  CHECK(rewritten("int a; \\\nint b;\n\\") == "int a;\nint b;\n");
  CHECK(rewritten("const char* s = R\"(\\\n)\";\nint a; \\ int b;") ==
        "const char* s = R\"(\\\n)\";\nint a; \\ int b;");
}
