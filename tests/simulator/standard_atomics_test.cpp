// cuda::atomic_ref orders what its memory_order says, and nothing more. That it computes is in programs/atomics_of_the_standard.cu.
#include <string>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

/// Block 0 hands a word on to block 1 by a flag.
Outcome hands_on(const std::string& store, const std::string& load) {
  const Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(R"(#include <cuda/atomic>
__global__ void k(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[0] = 5;
    ready.store(1, cuda::memory_order_)" + store + R"();
  } else {
    while (ready.load(cuda::memory_order_)" + load + R"() == 0) {
    }
    out[0] = data[0];
  }
}
int main() {
  int* p;
  cudaMalloc(&p, 3 * sizeof(int));
  cudaMemset(p, 0, 3 * sizeof(int));
  k<<<2, 1>>>(p, p + 1, p + 2);
  cudaDeviceSynchronize();
  cudaFree(p);
}
)"));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  return workplace.run_app();
}

}  // namespace

TEST_CASE("A store that releases and a load that acquires order two blocks", "[programs]") {
  const Outcome right = hands_on("release", "acquire");
  INFO(right.text);
  CHECK(right.status == 0);
}

TEST_CASE("An order that is missing on either side is a race", "[.all][programs]") {
  for (const auto& [store, load] : {std::pair{"relaxed", "acquire"}, {"release", "relaxed"}}) {
    const Outcome wrong = hands_on(store, load);
    INFO(wrong.text);
    CHECK(wrong.status == 1);
    CHECK(wrong.text.find("program.cu:10: race-global: this thread reads element 0") != std::string::npos);
  }
}
