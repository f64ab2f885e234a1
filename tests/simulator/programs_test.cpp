// Ordinary CUDA programs, in the styles that tutorials have them, compiled by simcc and run; and programs that use what
// the simulator lacks, which must say so.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string text;  // stdout and stderr
};

/// A folder that is gone after the test.
class Workplace {
 public:
  Workplace() : path_(fs::temp_directory_path() / ("tilewise_programs_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  Outcome compile(const std::string& source, const std::string& options = "") const {
    return run(std::string(TILEWISE_SIMCC) + " " + options + " '" + source + "' -o '" + app() + "'");
  }
  Outcome run_app() const { return run("'" + app() + "'"); }

  std::string write(const std::string& text) const {
    std::string path = (path_ / "program.cu").string();
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::string app() const { return (path_ / "app").string(); }

  Outcome run(const std::string& command) const {
    std::string log = (path_ / "log.txt").string();
    int status = std::system((command + " > '" + log + "' 2>&1").c_str());
    std::ifstream stream(log);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, {std::istreambuf_iterator<char>(stream), {}}};
  }

  fs::path path_;
};

/// Compiles and runs programs/NAME.cu; it checks its own results, and `output` is all that it may print.
void runs(const std::string& name, const std::string& output, const std::string& options = "") {
  Workplace workplace;
  Outcome compiled =
      workplace.compile(std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/programs/" + name + ".cu", options);
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  Outcome ran = workplace.run_app();
  CHECK(ran.text == output);
  CHECK(ran.status == 0);
}

/// The program cannot be compiled, or stops when it comes to the feature; either way it says `message`.
void refuses(const std::string& message, const std::string& source) {
  Workplace workplace;
  Outcome outcome = workplace.compile(workplace.write(source));
  if (outcome.status == 0) outcome = workplace.run_app();
  INFO(outcome.text);
  CHECK(outcome.status == 1);
  CHECK(outcome.text.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("A program runs: vector addition in managed memory") {
  runs("vector_add_managed", "100003 elements, 3 launches: right\n");
}

TEST_CASE("A program runs: reduction by shuffles") {
  std::string expected;
  for (const char* n : {"1", "31", "33", "1000", "77777"})
    for (const char* what : {"sum", "maximum"}) expected += std::string(what) + " of " + n + ": right\n";
  runs("reduction_shuffle", expected);
}

TEST_CASE("A program runs: histogram by atomics") {
  runs("histogram_atomics", "global   right\nshared   right\nmatched  right\n");
}

TEST_CASE("A program runs: stencil with constant memory") { runs("stencil_constant", "117 x 61 pixels: right\n"); }

TEST_CASE("A program runs: streams and asynchronous copies") {
  runs("streams_async", "8181 values in 9 chunks on 3 streams: right\n");
}

TEST_CASE("A program runs: unusual launches, host threads, with every compiler there is") {
  const std::string expected =
      "before main: right\nuntyped pointers: right\ncomplex numbers: right\nvalue of one lane: right\n"
      "host threads: right\n";
  runs("launches_and_threads", expected);
  for (const std::string compiler : {"g++", "clang++"}) {
    if (std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    INFO(compiler);
    runs("launches_and_threads", expected, "--cxx=" + compiler);
  }
}

TEST_CASE("A program with textures is refused") {
  refuses("program.cu:2: error: the simulator does not support textures", R"(
__global__ void k(cudaTextureObject_t t, float* p) { p[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f); }
int main() {}
)");
}

TEST_CASE("A program with inline PTX is refused") {
  refuses("program.cu:4: error: the simulator does not support inline PTX", R"(
__global__ void lane(unsigned* p) {
  unsigned l;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(l));
  p[threadIdx.x] = l;
}
int main() {}
)");
}

TEST_CASE("A program with dynamic parallelism is refused") {
  refuses("program.cu:3: error: the simulator does not support a launch in device code (dynamic parallelism)", R"(
__global__ void child() {}
__global__ void parent() { child<<<1, 4>>>(); }
int main() { parent<<<1, 1>>>(); return cudaDeviceSynchronize(); }
)");
}

TEST_CASE("A program that synchronises a grid is refused") {
  const std::string kernel = R"(
#include <cooperative_groups.h>
__global__ void k(int* p) {
  auto grid = cooperative_groups::this_grid();
  p[0] = 1;
  grid.sync();
}
)";
  refuses("grid-wide synchronisation is not supported",
          kernel + "int main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); }\n");
  refuses("a cooperative launch (all blocks of a grid wait for each other) is not supported",
          kernel +
              "int main() { int* p; cudaMalloc(&p, 4); void* a[] = {&p}; "
              "cudaLaunchCooperativeKernel((void*)k, dim3(2), dim3(1), a); }\n");
}

TEST_CASE("A program with Thrust is refused") {
  refuses("the Tilewise simulator does not support Thrust", R"(
#include <thrust/device_vector.h>
int main() { thrust::device_vector<int> v(100); }
)");
}

TEST_CASE("A program with CUDA graphs is refused") {
  refuses("program.cu:5: error: the simulator does not support stream capture", R"(
int main() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaGraph_t graph;
  cudaStreamEndCapture(s, &graph);
}
)");
}

TEST_CASE("A program that allocates in device code, or in three dimensions, is refused") {
  refuses("program.cu:1: error: the simulator does not support memory allocated in device code",
          "__global__ void k(int** p) { *p = new int[4]; }\nint main() {}\n");
  refuses("program.cu:1: error: the simulator does not support memory allocated in device code",
          "__global__ void k(void** p) { *p = malloc(4); }\nint main() {}\n");
  refuses("program.cu:1: error: the simulator does not support 3D allocations and copies",
          "int main() { cudaExtent e = make_cudaExtent(4, 4, 4); }\n");
}
