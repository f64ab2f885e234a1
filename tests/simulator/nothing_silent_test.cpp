// What a GPU, or nvcc, does otherwise than a CPU: the simulator does it too, or says that it can't.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

const std::string kMain = R"(
int main() {
  int *device, host[8] = {};
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  k<<<1, 1>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int i : host) std::printf("%d ", i);
  cudaFree(device);
}
)";

const std::string kArchitecture = R"(#include <cstdio>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) { return 0; }
#endif
#ifdef __CUDA_ARCH__
__device__ int only_device() { return 5; }
#define WHERE 1
#else
int only_host() { return 6; }
#define WHERE 2
#endif
struct S {
  __host__ __device__ constexpr int where() const {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return 0;
#endif
  }
};
constexpr int unmarked() {
#ifdef __CUDA_ARCH__
  return 3;
#else
  return 4;
#endif
}
__host__ __device__ int both() { return WHERE; }
__global__ void k(int* p) {
#if __CUDA_ARCH__ >= 700
  p[0] = 7;
  p[1] = both();
  p[2] = S{}.where();
  p[3] = unmarked();
  p[4] = only_device();
  p[5] = __LINE__;
#endif
  auto lambda = [=] __device__ () {
#ifdef __CUDA_ARCH__
    p[6] = 11;
#endif
  };
  lambda();
}
constexpr int kHost = S{}.where();
int says() {
#ifdef __CUDA_ARCH__
  std::printf("wrong\n");
#endif
  std::printf("%d %d %d %d %d: ", both(), S{}.where(), kHost, unmarked(), __LINE__);
  return 0;
}
const int kSaid = says();
)" + kMain;

}  // namespace

TEST_CASE("Device code sees __CUDA_ARCH__, host code does not", "[programs][silent]") {
  for (const std::string& compiler : compilers()) {
    prints("2 0 0 4 50: 7 1 900 3 5 36 11 0 ", kArchitecture, "--cxx=" + compiler);
    prints("2 0 0 4 50: 7 1 860 3 5 36 11 0 ", kArchitecture,
           "-gencode arch=compute_75,code=sm_75 -gencode=arch=compute_86,code=[sm_86,compute_86] --cxx=" + compiler);
  }
  prints("2 0 0 4 50: 7 1 750 3 5 36 11 0 ", kArchitecture, "-arch=sm_75");
}

TEST_CASE("What __CUDA_ARCH__ changes outside of functions' bodies is refused where it clashes", "[programs][silent]") {
  refuses(
      "program.cu:6: error: the simulator does not support a declaration that __CUDA_ARCH__ makes another one in host",
      R"(
#ifndef __CUDA_ARCH__
float root(float x) { return x; }
#else
// For the device.
__device__ float root(float x) { return 2 * x; }
#endif
int main() {}
)");
  refuses("program.cu:4: error: the simulator does not support __CUDA_ARCH__ inside of a declaration", R"(
__device__ int f(int x
#ifdef __CUDA_ARCH__
                 , int y
#endif
) { return x; }
int main() {}
)");
  refuses("program.cu:3: error: this kernel is left out of device code by __CUDA_ARCH__", R"(
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 300
__global__ void k() {}
#endif
int main() { k<<<1, 1>>>(); }
)");
}

namespace {

const std::string kStructs = R"(#include <cstdio>
struct S { int v[4]; };
__device__ S step(S s) { for (int i = 0; i < 4; ++i) s.v[i] += i; return s; }
__global__ void past_the_end(S* p) { p[threadIdx.x + 1] = step(S{}); }
__global__ void read_past_the_end(S* p) { int sum = 0; S s = step(p[threadIdx.x + 1]); for (int i : s.v) sum += i; p->v[0] = sum; }
__global__ void race(S* p) { p[0] = step(p[threadIdx.x]); }
__global__ void fill(S* p) { p[threadIdx.x] = step(S{}); }
__global__ void use(const S* p, int* sum) { *sum = p[0].v[3]; }
int main(int n, char** which) {
  S* p; int* sum;
  cudaMalloc(&p, 2 * sizeof *p), cudaMalloc(&sum, 4);
  if (*CASE == 'w') cudaMemset(p, 0, 2 * sizeof *p), past_the_end<<<1, 2>>>(p);
  if (*CASE == 'l') cudaMemset(p, 0, 2 * sizeof *p), read_past_the_end<<<1, 2>>>(p);
  if (*CASE == 'r') cudaMemset(p, 0, 2 * sizeof *p), race<<<1, 2>>>(p);
  if (*CASE == 'u') fill<<<1, 2>>>(p), use<<<1, 1>>>(p, sum);
  cudaDeviceSynchronize();
  cudaFree(p), cudaFree(sum);
}
)";

}  // namespace

TEST_CASE("Structs that calls take and return are seen on their way to memory", "[.all][programs][silent]") {
  const std::pair<const char*, const char*> cases[] = {
      {"write", "out-of-bounds"}, {"load", "out-of-bounds"}, {"race", "warp-synchronous"}};
  for (const std::string& compiler : compilers()) {
    for (const auto& [name, finding] : cases) {
      Workplace workplace;
      const std::string options = std::string("-DCASE='\"") + name + "\"' --cxx=" + compiler;
      REQUIRE(workplace.compile(workplace.write(kStructs), options).status == 0);
      const Outcome ran = workplace.run_app();
      INFO(compiler << ", " << name << ": " << ran.text);
      CHECK(ran.status == 1);
      CHECK(ran.text.find(finding) != std::string::npos);
    }
    prints("", kStructs, "-DCASE='\"uninitialised\"' --cxx=" + compiler);
  }
}

TEST_CASE("No access of a program is left out by g++'s instrumentation", "[.all][silent]") {
  if (std::system("command -v g++ > /dev/null && command -v python3 > /dev/null") != 0) {
    WARN("g++ or python3 is not here");
    return;
  }
  const std::string folder = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/";
  const std::string check = "python3 '" + folder + "unseen_accesses.py' --simcc '" TILEWISE_SIMCC "' ";
  const std::string all = check + "'" + folder + "'compilers/structs.cu '" + folder + "'programs/*.cu";
  CHECK(std::system((all + " > /dev/null").c_str()) == 0);
  // The check sees what is hidden: a call by pointer becomes part of nothing.
  Workplace workplace;
  const std::string hidden = workplace.write(
      "struct S { int v[4]; };\n__global__ void k(S* p, S (*f)(S)) {\n  p[0] = f(S{});\n  S s = f(p[1]);\n"
      "  if (s.v[0]) p = nullptr;\n}\nint main() {}\n");
  CHECK(std::system((check + "'" + hidden + "' > '" + workplace.path("said") + "'").c_str()) != 0);
  std::ifstream stream(workplace.path("said"));
  const std::string said{std::istreambuf_iterator<char>(stream), {}};
  CHECK(said.find("program.cu:3: a store of what a call returns") != std::string::npos);
  CHECK(said.find("program.cu:4: a load of a call's argument") != std::string::npos);
}

TEST_CASE("Host code that touches device variables is a finding, with its line", "[.all][programs][silent]") {
  const std::string program = R"(#include <cstdio>
__device__ int counter = 3;
__constant__ float table[4];
__managed__ int shared_by_both = 1;
__device__ const int kSize = 4;
__global__ void k(int* p) { *p = counter + shared_by_both + kSize + (int)table[1]; }
__global__ void add(int* p) { *p += 1; }
int main() {
  const float host[4] = {1, 2, 3, 4};
  int* p;
  int* of_counter;
  cudaMallocManaged(&p, 4);
  cudaMemcpyToSymbol(table, host, sizeof table);
  cudaGetSymbolAddress((void**)&of_counter, counter);
  add<<<1, 1>>>(of_counter);
  shared_by_both = 10;
  LINE;
  k<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  int now = 0;
  cudaMemcpyFromSymbol(&now, counter, sizeof now);
  std::printf("%d %d %d\n", *p, now, kSize);
  cudaFree(p);
}
)";
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"counter=5", "host-access", "host code read or wrote the 4-byte __device__ variable counter"},
      {"return(table[2]==0)", "host-access", "host code read or wrote the 16-byte __constant__ variable table"},
      {"add<<<1,1>>>(&counter)", "host-pointer",
       "the name of the 4-byte __device__ variable counter is a host address"},
      {"cudaMemcpy(table,host,16,cudaMemcpyHostToDevice)", "host-pointer",
       "the name of the 16-byte __constant__ variable"},
  };
  for (const std::string& compiler : compilers()) {
    prints("20 4 4\n", program, "-DLINE= --cxx=" + compiler);
    for (const auto& [line, code, message] : cases) {
      Workplace workplace;
      REQUIRE(
          workplace.compile(workplace.write(program), std::string("-DLINE='") + line + "' --cxx=" + compiler).status ==
          0);
      const Outcome ran = workplace.run_app();
      INFO(compiler << ", " << line << ": " << ran.text);
      CHECK(ran.status == 1);
      CHECK(ran.text.find(std::string("program.cu:17: ") + code + ": " + message) != std::string::npos);
    }
  }
}

namespace {

const std::string kResidentBytes = R"(#include <unistd.h>
#include <cstdio>
static long resident_bytes() {
  long pages = 0;
  FILE* f = std::fopen("/proc/self/statm", "r");
  if (!f || std::fscanf(f, "%*d %ld", &pages) != 1) return 0;
  std::fclose(f);
  return pages * sysconf(_SC_PAGESIZE);
}
)";

}  // namespace

TEST_CASE("What is remembered of memory goes back with it", "[programs][silent]") {
  prints("stays\n", kResidentBytes + R"(
__global__ void touch(int* p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = i;
}
int main() {
  const int n = 2 << 20;
  long early = 0;
  for (int round = 0; round < 16; ++round) {
    int* p;
    cudaMalloc(&p, n * sizeof *p);
    touch<<<64, 256>>>(p, n - round);  // never twice the same
    cudaFree(p);
    if (round == 2) early = resident_bytes();
  }
  std::puts(early != 0 && resident_bytes() < early + (32 << 20) ? "stays" : "grows");
}
)");
}

TEST_CASE("What is remembered of memory is what was done with it", "[programs][silent]") {
  prints("4 4 8\n", kResidentBytes + R"(
__global__ void add(const int* a, const int* b, int* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}
__global__ void fill(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void update(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
const int n = 1 << 20;
int* filled() {
  int* p;
  cudaMalloc(&p, n * sizeof *p);
  cudaMemset(p, 0, n * sizeof *p);
  return p;
}
// At most so many bytes for each that the launch uses.
template <class Launch>
int cost(int arrays, Launch launch) {
  const long before = resident_bytes();
  launch();
  cudaDeviceSynchronize();
  return static_cast<int>((resident_bytes() - before) / (arrays * n * 4L)) + 1;
}
int main() {
  int *a = filled(), *b = filled(), *c = filled(), *d = filled(), *e = filled();
  fill<<<1, 256>>>(a);
  const int of_sum = cost(3, [&] { add<<<n / 256, 256>>>(a, b, c); });
  const int of_stores = cost(1, [&] { fill<<<n / 256, 256>>>(d); });
  const int in_place = cost(1, [&] { update<<<n / 256, 256>>>(e); });
  std::printf("%d %d %d\n", of_sum, of_stores, in_place);
  for (int* p : {a, b, c, d, e}) cudaFree(p);
}
)");
}

TEST_CASE("The error of a launch is its thread's", "[programs][silent]") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(R"(#include <cstdio>
#include <thread>
__global__ void nothing() {}
int main() {
  std::thread([] { nothing<<<1, 2048>>>(); }).join();
  std::thread([] { std::puts(cudaGetErrorName(cudaGetLastError())); }).join();
}
)"));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  const Outcome ran = workplace.run_app();
  INFO(ran.text);
  CHECK(ran.text.find("cudaSuccess\n") != std::string::npos);
  CHECK(ran.text.find("program.cu:5: unchecked-launch: ") != std::string::npos);
}

TEST_CASE("What the host gets of memory that nothing has written is a finding where it is asked for",
          "[programs][silent]") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(R"(
__global__ void half(int* p, int n) {
  if (threadIdx.x < n / 2) p[threadIdx.x] = 1;
}
int main(int words, char**) {
  int *p, host[64];
  cudaMalloc(&p, sizeof host);
  half<<<1, 64>>>(p, 64);
  cudaMemcpy(host, p, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(p);
}
)"));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  CHECK(workplace.run_app().text.empty());
  const Outcome strict = workplace.run_app("TILEWISE_FINDINGS=strict");
  INFO(strict.text);
  CHECK(strict.text.find("program.cu:10: unwritten-copy: cudaMemcpy gives the host what nothing has written: it begins "
                         "128 bytes into the 256-byte device allocation") != std::string::npos);
  CHECK(strict.status == 1);
}

TEST_CASE("What nvcc refuses to compile is refused, with its line", "[programs][silent]") {
  const std::string main = "int main() {}\n";
  const std::pair<std::string, std::string> cases[] = {
      {"program.cu:2: error: device code calls twice(), which is a function of host code",
       "int twice(int x) { return 2 * x; }\n__global__ void k(int* p) { *p = twice(*p); }\n" + main},
      {"program.cu:2: error: device code calls larger(), which is a function of host code",
       "template <class T> T larger(T a, T b) { return a < b ? b : a; }\n"
       "__device__ int f(int x) { return larger<int>(x, 3); }\n" +
           main},
      {"program.cu:2: error: host code calls f(), which is a __device__ function",
       "__device__ int f() { return 1; }\nint main() { return f() - 1; }\n"},
      {"program.cu:1: error: host code calls __int_as_float(), which CUDA has for device code only",
       "float inf() { return __int_as_float(0x7f800000); }\n" + main},
      {"program.cu:1: error: host code calls atomicAdd(), which CUDA has for device code only",
       "int main() { int n = 0; atomicAdd(&n, 1); }\n"},
      {"program.cu:1: error: host code calls __syncthreads(), which CUDA has for device code only",
       "int main() { __syncthreads(); }\n"},
      {"program.cu:1: error: host code calls __nv_atomic_load_n(), which CUDA has for device code only",
       "int f(int* p) { return __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED); }\n" + main},
      {"program.cu:2: error: a kernel is launched, not called: k<<<grid, block>>>(...)",
       "__global__ void k() {}\nint main() { k(); }\n"},
      {"program.cu:1: error: a kernel returns nothing: __global__ void k(...)",
       "__global__ int k(float* p) { *p = 1; return 0; }\n" + main},
      {"program.cu:2: error: a kernel returns nothing: __global__ void k(...)",
       "#include <cstdio>\nextern \"C\" __launch_bounds__(32) __global__ k(float* p) { *p = 1; }\n" + main},
      {"program.cu:1: error: a kernel returns nothing: __global__ void k(...)",
       "static __global__ void* k(void* p) { return p; }\n" + main},
      {"program.cu:2: error: device code has no exceptions (throw)",
       "__global__ void k(int n) {\n  if (n < 0) throw n;\n}\n" + main},
      {"program.cu:2: error: device code uses kWeights, an array of host code",
       "constexpr float kWeights[2] = {1, 2};\n__global__ void k(float* p) { *p = kWeights[1]; }\n" + main},
      {"program.cu:2: error: device code uses counter, a variable of host code",
       "static int counter = 1;\n__global__ void k(int* p) { *p = 2 * counter; }\n" + main},
      {"program.cu:3: error: device code wants a reference to kMost",
       "#include <algorithm>\nconst int kMost = 3;\n__global__ void k(int* p) { *p = std::min(*p, kMost); }\n" + main},
      {"program.cu:2: error: device code calls rand(), which is a function of host code",
       "#include <cstdlib>\n__global__ void k(int* p) { *p = rand(); }\n" + main},
      {"device code has no arrays of variable length",
       "__global__ void k(float* p, int n) {\n  float a[n];\n  a[0] = 1;\n  *p = a[0];\n}\n" + main},
  };
  for (const auto& [message, source] : cases) refuses(message, source);
}

TEST_CASE("However its head is written, a kernel that returns nothing compiles", "[programs][silent]") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(
      "#include <type_traits>\nusing Nothing = void;\n"
      "template <int n> __global__ void a(int* p) { *p = n; }\ntemplate <> __global__ void a<3>(int* p) { *p = 4; }\n"
      "void __global__ b(int* p) { *p = 1; }\n__global__ static void __launch_bounds__(32) c(int* p) { *p = 1; }\n"
      "static inline __global__ Nothing d(int* p) { *p = 1; }\n__global__ std::enable_if_t<true> e(int* p) { *p = 1; "
      "}\n"
      "[[maybe_unused]] __global__ __launch_bounds__(64) void f(int* p) { *p = 1; }\n"
      "__global__ auto g(int* p) -> void { *p = 1; }\nextern \"C\" __global__ void h(int* p) { *p = 1; }\nint main() "
      "{}\n"));
  INFO(compiled.text);
  CHECK(compiled.status == 0);
}

TEST_CASE("Slips in CUDA's own words are named", "[programs][silent]") {
  Workplace workplace;
  const Outcome own =
      workplace.compile(workplace.write("__global__ void k(int* p) { *p = shared[0]; }\nint main() {}\n"));
  INFO(own.text);
  CHECK(own.text.find("CUDA's word") == std::string::npos);
  refuses("program.cu:1: error: CUDA's word is blockDim",
          "__global__ void k(int* p) { *p = blockdim.x; }\nint main() {}\n");
  refuses("program.cu:1: error: threadIdx is known in device code only", "int main() { return threadIdx.x; }\n");
  refuses("program.cu:1: error: CUDA's word is __global__", "_global_ void k(int* p) { *p = 1; }\nint main() {}\n");
  refuses("program.cu:1: error: CUDA's word is __syncthreads",
          "__global__ void k(int* p) { *p = 1; syncthreads(); }\nint main() {}\n");
}

TEST_CASE("Members, operators and constructors of the other side are refused, as nvcc refuses them",
          "[programs][silent]") {
  const std::string kernel = "__global__ void k(S s, int* p) {\n  *p = ", end = ";\n}\nint main() {}\n";
  const auto of_host = [](const std::string& what, int line) {
    return "program.cu:" + std::to_string(line) + ": error: device code calls " + what +
           "(), which is a function of host code: mark it __device__";
  };
  const std::pair<std::string, std::string> cases[] = {
      {of_host("S::f", 3), "struct S { int v; int f(int x) const { return v + x; } };\n" + kernel + "s.f(1)" + end},
      {of_host("S::f", 3), "struct S { static int f(int x) { return x; } };\n" + kernel + "S::f(3)" + end},
      {of_host("S::f", 4),
       "struct S { int v; int f() const; };\nint S::f() const { return v; }\n" + kernel + "s.f()" + end},
      {of_host("f", 4), "struct S {};\nnamespace n { int f(int x) { return x; } }\n" + kernel + "n::f(3)" + end},
      {of_host("S::S", 3), "struct S { int v; S(int x) : v(x) {} };\n" + kernel + "S(3).v" + end},
      {of_host("S::S", 3),
       "template <class T> struct S { T v; S(T x) : v(x) {} };\n__global__ void k(int* p) {\n"
       "  *p = S<int>(3).v" +
           end},
      {of_host("S::operator int", 2), "struct S { int v; operator int() const { return v; } };\n" + kernel + "s" + end},
      {of_host("S::operator[]", 2),
       "struct S { int v; int operator[](int i) const { return v + i; } };\n" + kernel + "s[1]" + end},
      {of_host("operator+", 3),
       "struct S { int v; };\nS operator+(S a, S b) { return S{a.v + b.v}; }\n" + kernel + "(s + s).v" + end},
      {of_host("S::operator()", 2),
       "struct S { int operator()(int x) const { return x; } };\n"
       "template <class F> __global__ void k(F f, int* p) { *p = f(3); }\nint main() { k<<<1, 1>>>(S{}, "
       "(int*)nullptr); }\n"},
      {"program.cu:3: error: host code calls S::f(), which is a __device__ function: call it in a kernel, or mark it "
       "__host__, too",
       "struct S { __device__ int f() { return 1; } };\nint main() {\n  return S().f();\n}\n"},
  };
  for (const auto& [message, source] : cases) refuses(message, source);
}

TEST_CASE("Lambdas without __device__, and addresses of host functions, are refused in device code",
          "[programs][silent]") {
  const std::string kernel =
      "template <class F> __global__ void k(F f, int* p) { *p = f(2); }\n"
      "template <class F> __host__ __device__ int both(F f) { return f(2); }\n"
      "template <class F> __global__ void k2(F f, int* p) { *p = both(f); }\n"
      "int main() {\n  int a = 3, *p = nullptr;\n";
  const std::string lambda =
      "program.cu:6: error: device code calls this lambda of host code: mark it, [=] __device__ (int i) {...}";
  const std::pair<std::string, std::string> cases[] = {
      {lambda, kernel + "  auto f = [=](int i) { return a + i; };\n  k<<<1, 1>>>(f, p);\n}\n"},
      {lambda, kernel + "  k<<<1, 1>>>([a](int i) mutable { return a += i; }, p);\n}\n"},
      {lambda, kernel + "  k2<<<1, 1>>>([=](auto i) { return a + i; }, p);\n}\n"},
      {"program.cu:3: error: device code takes the address of twice(), a function of host code",
       "int twice(int x) { return 2 * x; }\n__global__ void k(int* p) {\n  int (*f)(int) = twice;\n  *p = f(1);\n}\n"
       "int main() {}\n"},
  };
  for (const auto& [message, source] : cases) refuses(message, source);
}

TEST_CASE("Device code may call what is constexpr of the C++ library, and nothing else of it", "[programs][silent]") {
  const std::string head =
      "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <memory>\n"
      "#include <string>\n#include <complex>\n__global__ void k(int* p, float* x) {\n  ";
  const std::pair<std::string, std::string> cases[] = {
      // where it is, or for an operator its function
      {"8: error: device code uses std::sort", "std::sort(p, p + 3);"},
      {"8: error: device code uses std::swap", "std::swap(p[0], p[1]);"},
      {"8: error: device code uses std::function", "std::function<int()> f; *p = f ? 1 : 2;"},
      {"8: error: device code uses std::make_unique", "auto one = std::make_unique<int>(3); *p = *one;"},
      {"8: error: device code uses std::string", "std::string s(\"abc\"); *p = int(s.size());"},
      {"7: error: device code uses an operator or a function", "std::cout << *p;"},
      {"7: error: device code uses an operator or a function",
       "std::complex<float> z(x[0], x[1]); z = z * z; *x = z.real();"},
  };
  for (const auto& [what, code] : cases)
    refuses("program.cu:" + what + " of the C++ library, whose functions are host code's",
            head + code + "\n}\nint main() {}\n");
  prints("7 2 3 4 1\n", R"(#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>
struct Pair { std::pair<int, float> both; };
constexpr int cube(int x) {
  auto squared = [x] { return x * x; };
  return squared() * x;
}
__global__ void k(float* p, long n) {
  std::array<float, 3> three{};
  for (float& x : three) x = float(std::abs(n));
  const auto t = std::make_tuple(1, 2.0f, Pair{{3, 4.0f}});
  p[0] = std::max(three[1], std::sqrt(4.0f)), p[1] = std::get<1>(t), p[2] = std::get<2>(t).both.first;
  p[3] = std::pow(2.0f, 2) + cube(int(n) + 7), p[4] = std::isnan(p[0]) || std::numeric_limits<float>::max() > 1;
}
int main() {
  float host[5], *p;
  cudaMalloc(&p, sizeof host);
  k<<<1, 1>>>(p, -7);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %g %g\n", host[0], host[1], host[2], host[3], host[4]);
  cudaFree(p);
}
)");
}

TEST_CASE("A kernel that comes to host code by a function for both sides is a finding", "[programs][silent]") {
  for (const std::string& compiler : compilers()) {
    CAPTURE(compiler);
    Workplace workplace;
    const Outcome compiled = workplace.compile(workplace.write(R"(#include <algorithm>
#include <cstdlib>
int of_host(int x) {
  return x + 1;
}
struct Twice {
  int operator()(int x) const { return 2 * x; }
};
template <class F> __host__ __device__ int apply(F f, int x) { return f(x); }
__host__ __device__ int next(int x) { return x < 0 ? 0 : of_host(x); }
__global__ void k(int* p, bool named) { *p = named ? next(3) : apply(Twice(), 3); }
int main(int arguments, char**) {
  int host[3] = {next(2), apply(Twice(), 2), 0}, *p;  // of the host: right
  constexpr auto square = [](int x) { return x * x; };
  static_assert(square(3) == 9);
  std::sort(host, host + 3, [&](int a, int b) { return a * arguments < b * arguments; });
  cudaMalloc(&p, sizeof *p);
  k<<<1, 1>>>(p, std::getenv("NAMED") != nullptr);
  cudaMemcpy(host, p, sizeof *p, cudaMemcpyDeviceToHost);
  cudaFree(p);
}
)"),
                                               "--cxx=" + compiler);
    CHECK(compiled.text.empty());
    REQUIRE(compiled.status == 0);
    const Outcome by_template = workplace.run_app(), by_name = workplace.run_app("NAMED=1");
    const std::string message = ": host-code: this thread runs a function without __device__";
    INFO(by_template.text << by_name.text);
    CHECK(by_template.text.find("program.cu:7" + message) != std::string::npos);
    CHECK(by_template.text.find("1 finding") != std::string::npos);
    CHECK(by_name.text.find("program.cu:3" + message) != std::string::npos);
    CHECK(by_name.text.find("1 finding") != std::string::npos);
  }
}

TEST_CASE("Members that both sides may call are accepted", "[programs][silent]") {
  prints("3 4 9 2 7\n", R"(#include <cstdio>
struct Plain { int v = 3; };                                    // its constructor and its copy are the compiler's
struct Marked { int v; __host__ __device__ Marked(int x) : v(x) {} __host__ __device__ int twice() const { return 2 * v; } };
struct Constant { int v; constexpr Constant(int x) : v(x) {} constexpr int square() const { return v * v; } };
struct Declared { __device__ int f() const; };
int Declared::f() const { return 2; }                           // declared for the device
struct OfHost { int v = 7; int f() const { return v; } };       // passed, and never called
template <class T> struct Rows { T v; __device__ T get() const { return v; } T on_host() const { return v; } };
__global__ void k(Plain a, OfHost h, Rows<int> r, int* p) {
  Plain b = a;
  p[0] = b.v, p[1] = Marked(2).twice(), p[2] = Constant(3).square(), p[3] = Declared().f(), p[4] = r.get();
}
int main() {
  int host[5], *p;
  cudaMalloc(&p, sizeof host);
  Rows<int> rows{OfHost().f()};
  k<<<1, 1>>>(Plain(), OfHost(), rows, p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  if (rows.on_host() == Marked(7).v) std::printf("%d %d %d %d %d\n", host[0], host[1], host[2], host[3], host[4]);
  cudaFree(p);
}
)");
}

TEST_CASE("A member that returns its object is no copy, though a function of its name calls it", "[programs][silent]") {
  prints("20\n", R"(#include <cstdio>
struct Sum {
  float total;
  __device__ Sum& add(float x) { total += x; return *this; }
};
__device__ Sum add(Sum a, Sum b) { return a.add(b.total); }
struct Where { int place = threadIdx.x + 1, block{int(blockIdx.x)}; };
__global__ void k(float* out) {
  Sum s{Where().block * 1.0f};
  s.add(1).add(2).add(3).add(3 + Where().place);
  *out = add(s, s).total;
}
int main() {
  float host, *out;
  cudaMalloc(&out, 4);
  k<<<1, 1>>>(out);
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host);
  cudaFree(out);
}
)");
}

TEST_CASE("What only looks like a call that nvcc refuses is accepted", "[programs][silent]") {
  prints("3 4 5 2 6\n", R"(#include <algorithm>
#include <cstdio>
constexpr int twice(int x) { return 2 * x; }
__device__ int clamp(int x);                             // two declarations, one marked
struct S {
  __device__ int helper(int x) const { return x + 2; }
  __device__ int call(int x) const { return helper(x); }
};
int helper(int x) { return x; }                          // of host code; a member above has its name
S max(S a, S) { return a; }                              // of host code; device code means CUDA's
__host__ __device__ int both(int x) { return x + 1; }
__device__ int of_device() { return 1; }
__device__ int clamp(int x) { return x < 2 ? x : 2; }
template <class F> __global__ void k(int* p, F f) {
  constexpr int kSize = twice(2);
  int a[kSize], b[sizeof(S) + 1][twice(3)];
  a[0] = 1, b[0][0] = 0;
  p[0] = both(a[0]) + of_device();
  p[1] = f(twice(2));
  p[2] = S{}.call(3) + b[0][0];
  p[3] = clamp(7);
  p[4] = max(6, p[3]);
}
int main() {
  int* p;
  int host[5];
  cudaMalloc(&p, sizeof host);
  auto both_sides = [=] __host__ __device__ (int x) { return x; };
  k<<<1, 1>>>(p, both_sides);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int variable[both(helper(0))];
  variable[0] = decltype(of_device())();
  for (int i : host) std::printf(i == 6 ? "%d" : "%d ", i + variable[0]);
  std::printf("\n");
  cudaFree(p);
}
)");
}

TEST_CASE("What only looks like a host variable in device code is accepted", "[programs][silent]") {
  prints("9 3 3 12 2 1\n", R"(#include <algorithm>
#include <cstdio>
const int kThree = 3;                              // a number, in device code too
constexpr int kTable[3] = {1, 2, 3};
constexpr struct Shape { int rows, cols; } kShape{4, 3};
int total = 7;                                     // of host code; a parameter below has its name
__device__ int on_device = 2;
__global__ void k(int* p, int total) {
  constexpr int kLast = kTable[2];
  p[0] = total + kThree - kLast;
  p[1] = sizeof kTable / sizeof kTable[0];
  p[2] = std::max(1, +kThree);
  p[3] = kShape.rows * kShape.cols;
  p[4] = on_device;
  p[5] = [](int random) { return random; }(1);
}
int main() {
  int* p;
  int host[6];
  cudaMalloc(&p, sizeof host);
  k<<<1, 1>>>(p, 2 + total);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 6; ++i) std::printf(i == 5 ? "%d\n" : "%d ", host[i]);
  cudaFree(p);
}
)");
}

TEST_CASE("A function that ends without the return that it owes is told of", "[programs][silent]") {
  const std::string program = R"(__device__ int next(int x) {
  if (x > 0) return x + 1;
}
__global__ void k(int* p, int x) { *p = next(x); }
int previous(int x) {
  if (x > 0) return x - 1;
}
int main() {
  int* p;
  cudaMalloc(&p, sizeof *p);
  LINE
  cudaFree(p);
}
)";
  const std::pair<std::string, std::string> cases[] = {
      {"k<<<1, 1>>>(p, 0); cudaDeviceSynchronize();", ": missing-return: this function returns a value"},
      {"k<<<1, 1>>>(p, previous(0)); cudaDeviceSynchronize();", ": this function returns a value"}};
  for (const std::string& compiler : compilers()) {
    for (const auto& [line, message] : cases) {
      Workplace workplace;
      REQUIRE(workplace
                  .compile(workplace.write(program),
                           std::string("-Wno-return-type -DLINE='") + line + "' --cxx=" + compiler)
                  .status == 0);
      const Outcome ran = workplace.run_app();
      INFO(compiler << ", " << line << ": " << ran.text);
      CHECK(ran.status != 0);
      CHECK(ran.text.find(message) != std::string::npos);
    }
  }
}

TEST_CASE("Kernel arguments are copied and destroyed once, and converted on the host's side", "[programs][silent]") {
  const std::string program = R"(#include <cstdio>
static int copies, destroyed, conversions;
struct Counted {
  int* p;
  int step = 1;
  explicit Counted(int* p) : p(p) {}
  Counted(const Counted& other) : p(other.p), step(other.step) { ++copies; }
  ~Counted() { ++destroyed; }
};
struct Owner {
  int* data = nullptr;
  Owner() { cudaMalloc(&data, 64 * sizeof(int)); }
  Owner(const Owner&) = delete;
  ~Owner() { cudaFree(data); }
  operator int*() const { return ++conversions, data; }
};
__global__ void fill(Counted c, int n) {
  c.step += threadIdx.x;  // each thread has its own
  if (threadIdx.x < n) c.p[threadIdx.x] = c.step;
}
template <class T> __global__ void add(T* p, T value) { p[threadIdx.x] += value; }
__global__ void add_one(int* p, const int* none = nullptr) { p[threadIdx.x] += none == nullptr; }
int main() {
  int host[64];
  {
    Owner owner;
    Counted counted(owner.data);
    fill<<<1, 64>>>(counted, 64);
    std::printf("%d %d ", copies, destroyed);
    add<int><<<1, 64>>>(owner, 10);
    add_one<<<1, 64>>>(owner, 0);
    add_one<<<1, 64>>>(owner.data);
    cudaMemcpy(host, owner, sizeof host, cudaMemcpyDeviceToHost);
  }
  std::printf("%d %d: %d %d\n", destroyed, conversions, host[0], host[63]);
}
)";
  for (const std::string& compiler : compilers()) prints("1 1 2 3: 13 76\n", program, "--cxx=" + compiler);
}

TEST_CASE("Nor are arguments of templates, overloads and pointers to kernels copied by the threads",
          "[programs][silent]") {
  const std::string program = R"(#include <cstdio>
static int copies, destroyed;
struct Counted {
  int* p;
  explicit Counted(int* p) : p(p) {}
  Counted(const Counted& other) : p(other.p) { ++copies; }
  ~Counted() { ++destroyed; }
};
template <class Place, class T = int>
__global__ void deduced(Place place, T value) { place.p[threadIdx.x] += value; }
namespace inner {
template <int step, class Place, class... Values>
__global__ void partly_said(const Place place, Values... values);
}
template <int step, class Place, class... Values>
__global__ void inner::partly_said(const Place place, Values... values) { place.p[threadIdx.x] += step + (values + ...); }
__global__ void overloaded(Counted place, int value) { place.p[threadIdx.x] += value; }
__global__ void overloaded(Counted* place, int value) {}
template <class T> __global__ void reduce(T place) { place.p[threadIdx.x] += 1000; }
static void reduce(int) {}
__global__ void pointed_to(Counted place, long value) { place.p[threadIdx.x] += value; }
template <class P> static void launch_it(P& place) { deduced<<<1, 64>>>(place, 1); }
static void told() { std::printf("%d %d, ", copies, destroyed), copies = destroyed = 0; }
int main() {
  int *p, host[64];
  cudaMalloc(&p, sizeof host);
  cudaMemset(p, 0, sizeof host);
  Counted counted(p);
  deduced<<<1, 64>>>(counted, 1); told();
  deduced<<<1, 64>>>(Counted(p), 2); told();
  launch_it(counted); told();
  inner::partly_said<30><<<1, 64>>>(counted, 1, 2); told();
  overloaded<<<1, 64>>>(counted, 100); told();
  reduce<<<1, 64>>>(counted); told(); reduce(0);
  void (*chosen)(Counted, long) = pointed_to;
  chosen<<<1, 64>>>(counted, 10000); told();
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[63]);
  cudaFree(p);
}
)";
  for (const std::string& compiler : compilers())
    prints("1 1, 0 1, 1 1, 1 1, 1 1, 1 1, 1 1, 11137 11137\n", program, "--cxx=" + compiler);
}

TEST_CASE("The lanes of a warp print in step", "[programs]") {
  const std::string program = R"(#include <cstdio>
__device__ void tell(const char* name, int value) { printf("%s%d ", name, value); }
__global__ void k() {
  const int lane = threadIdx.x;
  if (lane == 0) printf("thread: ");
  printf("%d ", lane);
  if (lane == 0) printf("\n");
  if (lane == 5) printf("again: ");  // not the lowest
  printf("%d ", lane);
  if (lane == 5) printf("\n");
  for (int i = 0; i < 3; ++i)
    if (lane > 5 - i) tell(i == 2 ? "last" : "", 10 * i + lane);
  if (lane == 0) printf("\n");
  if (lane % 2 == 0) tell("even", lane);
  __syncwarp();
  if (lane == 3) printf("\n");
  const int other = __shfl_xor_sync(0xff, lane, 1);
  printf("%d ", other);
  if (lane == 0) printf("\n");
}
int main() {
  k<<<1, 8>>>();
  return cudaDeviceSynchronize();
}
)";
  for (const std::string& compiler : compilers())
    prints(R"(thread: 0 1 2 3 4 5 6 7 
again: 0 1 2 3 4 5 6 7 
6 7 15 16 17 last24 last25 last26 last27 
even0 even2 even4 even6 
1 0 3 2 5 4 7 6 
)",
           program, "--cxx=" + compiler);
}

TEST_CASE("Device code sees __CUDA_ARCH__, and no function of the host, with simcc --prelude, as homework is compiled",
          "[programs][silent]") {
  const Workplace workplace;
  const std::string prelude = workplace.path("prelude");
  REQUIRE(std::system((std::string(TILEWISE_SIMCC) + " --make-prelude '" + prelude + "'").c_str()) == 0);
  const std::string none = "#include <cstdio>\n__global__ void k(int*) {}" + kMain;
  const std::string other_side =
      "#include <cstdio>\nstruct One { int get() const { return 1; } };\n"
      "__global__ void k(int* p) { *p = One().get(); }" +
      kMain;
  const Outcome refused = workplace.compile(workplace.write(other_side), "--prelude '" + prelude + "'");
  CHECK(refused.status == 1);
  CHECK(refused.text.find(":3: error: device code calls One::get(), which is a function of host code") !=
        std::string::npos);
  for (const auto& [source, output] :
       {std::pair{kArchitecture, "2 0 0 4 50: 7 1 900 3 5 36 11 0 "}, {none, "0 0 0 0 0 0 0 0 "}}) {
    const Outcome compiled = workplace.compile(workplace.write(source), "--prelude '" + prelude + "'");
    CHECK(compiled.text.empty());
    REQUIRE(compiled.status == 0);
    CHECK(workplace.run_app().text == output);
  }
}
