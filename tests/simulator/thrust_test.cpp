// Programs with Thrust, where its headers are (libthrust-dev); the tests say so where they aren't.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

const std::string kSaid =
    "tilewise: Thrust's algorithms run on the CPU, as loops of host code: checked for bounds, but neither for races "
    "nor "
    "counted nor timed\n";

bool has_thrust() {
  const Workplace workplace;
  const Outcome outcome = workplace.compile(workplace.write(
      "#include <thrust/version.h>\n#ifdef THRUST_VERSION\nint main() {}\n#else\n#error none\n#endif\n"));
  if (outcome.status != 0) std::puts("SKIP  Thrust: its headers are not here (apt-get install libthrust-dev)");
  return outcome.status == 0;
}

/// Compiles and runs; `message` is one of the lines that it says, and the program fails.
void finds(const std::string& message, const std::string& body) {
  const Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write("#include <thrust/device_vector.h>\n" + body));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  const Outcome ran = workplace.run_app();
  INFO(ran.text);
  CHECK(ran.status == 1);
  CHECK(ran.text.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("Programs with Thrust run that check themselves, with every compiler there is", "[.all][programs][thrust]") {
  if (!has_thrust()) return;
  for (const std::string& compiler : compilers()) {
    for (const char* name : {"thrust_sort_and_scan", "thrust_with_kernels"}) {
      INFO(name << ", " << compiler);
      runs(name, kSaid + "right\n", "-std=c++17 --cxx=" + compiler);
    }
  }
}

TEST_CASE("Thrust's algorithms call the device's side of a functor on device memory", "[.all][programs][thrust]") {
  if (!has_thrust()) return;
  prints(kSaid + "6 1 3, 0 0 0\n", R"(#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
__global__ void other(int*) {}
struct Side {
  int count = 0;
  __host__ __device__ int operator()() {
#ifdef __CUDA_ARCH__
    count += blockDim.x * gridDim.x;
    return 10 * threadIdx.x + 10 * blockIdx.x + count;
#else
    return 0;
#endif
  }
};
int main() {
  thrust::device_vector<int> d(3);
  thrust::host_vector<int> h(3);
  other<<<5, 64>>>(thrust::raw_pointer_cast(d.data()));
  thrust::generate(d.begin(), d.end(), Side());
  thrust::generate(h.begin(), h.end(), Side());
  std::printf("%d %d %d, %d %d %d\n", d[0] + d[1] + d[2], int(d[0]), int(d[2]), h[0], h[1], h[2]);
}
)");
}

TEST_CASE("What is wrong with the memory of Thrust's vectors is found", "[.all][programs][thrust]") {
  if (!has_thrust()) return;
  finds("program.cu:3: out-of-bounds: this thread reads element 32 of the 32-element (4-byte) device allocation", R"(
__global__ void next(int* p) { p[threadIdx.x] = p[threadIdx.x + 1]; }
int main() {
  thrust::device_vector<int> v(32, 1);
  next<<<1, 32>>>(thrust::raw_pointer_cast(v.data()));
  return v[0] - 1;
}
)");
  finds("program.cu:5: host-access: host code read or wrote device memory", R"(
int main() {
  thrust::device_vector<int> v(32, 1);
  return *thrust::raw_pointer_cast(v.data());
}
)");
  finds("program.cu:6: host-access: host code read or wrote device memory", R"(
#include <thrust/sort.h>
int main() {
  thrust::device_vector<int> v(32, 1);
  thrust::sort(thrust::raw_pointer_cast(v.data()), thrust::raw_pointer_cast(v.data()) + 32);
}
)");
  finds("program.cu:6: out-of-bounds: thrust::copy writes 0 bytes past the end of the 124-byte device allocation", R"(
#include <thrust/copy.h>
int main() {
  thrust::device_vector<int> v(32, 1), w(31);
  thrust::copy(v.begin(), v.end(), w.begin());
}
)");
}

TEST_CASE("Thrust without its headers is refused with what to install", "[programs][thrust]") {
  const Workplace workplace;
  const std::string source = workplace.write(R"(
#include <thrust/device_vector.h>
int main() { thrust::device_vector<int> v(100); }
)");
  setenv("TILEWISE_THRUST", "/nowhere", 1);
  const Outcome outcome = workplace.compile(source);
  unsetenv("TILEWISE_THRUST");
  INFO(outcome.text);
  CHECK(outcome.status == 1);
  CHECK(
      outcome.text.find("program.cu:3: error: the simulator does not support Thrust without its headers: install them "
                        "(apt-get install libthrust-dev)") != std::string::npos);
}
