// Counts as compiled: what nvcc moves out of loops and merges, and what it leaves alone.
#ifdef TILEWISE_SIMULATOR

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tilewise_sim/report.hpp>

#include "as_compiled/kernels.cuh"
#include "catch.hpp"

namespace {

struct Instructions {
  bool straight = false;
  int global_loads = 0, global_stores = 0, shared_loads = 0, shared_stores = 0;
};

std::map<std::string, Instructions> recorded() {
  std::ifstream file(TILEWISE_SOURCE_DIR "/tests/simulator/as_compiled/sass.txt");
  REQUIRE(file);
  std::map<std::string, Instructions> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, kind;
    Instructions n;
    words >> name >> kind >> n.global_loads >> n.global_stores >> n.shared_loads >> n.shared_stores;
    REQUIRE(words);
    n.straight = kind == "straight";
    all[name] = n;
  }
  return all;
}

TEST_CASE("counts as compiled are those of nvcc's machine code", "[as-compiled]") {
  const auto sass = recorded();
  const bool was_counting = tilewise::sim::set_counting(true);
  const bool was_checking = tilewise::sim::set_checking(false);  // parts of arrays that nobody wrote
  float *a = nullptr, *b = nullptr, *o = nullptr;
  constexpr int kFloats = 4096;
  REQUIRE(cudaMallocManaged(reinterpret_cast<void**>(&a), kFloats * sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMallocManaged(reinterpret_cast<void**>(&b), kFloats * sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMallocManaged(reinterpret_cast<void**>(&o), kFloats * sizeof(float)) == cudaSuccess);
  int moved_or_merged = 0, as_written = 0;
  for (const as_compiled::Case& c : as_compiled::cases()) {
    INFO(c.name);
    for (int i = 0; i < kFloats; ++i) {
      a[i] = static_cast<float>(i * 7 % 64);
      b[i] = static_cast<float>(i);
      o[i] = 0;
    }
    if (c.name == std::string("bound_of_the_loop"))
      for (int i = 0; i < 32; ++i) reinterpret_cast<int*>(b)[i] = as_compiled::kTrips;
    c.kernel<<<1, 32, 4096>>>(a, b, o, as_compiled::kTrips);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(sass.count(c.name) == 1);
    Instructions expected = sass.at(c.name);
    CHECK(expected.straight == (c.global_loads < 0));
    if (!expected.straight) expected = {false, c.global_loads, c.global_stores, c.shared_loads, c.shared_stores};
    const tilewise::sim::Counters& counted = tilewise::sim::last_counters_as_compiled();
    CHECK(counted.global_load_instructions == static_cast<std::uint64_t>(expected.global_loads));
    CHECK(counted.global_load_requests == static_cast<std::uint64_t>(expected.global_loads));
    CHECK(counted.global_store_requests == static_cast<std::uint64_t>(expected.global_stores));
    CHECK(counted.shared_load_instructions == static_cast<std::uint64_t>(expected.shared_loads));
    CHECK(counted.shared_store_instructions == static_cast<std::uint64_t>(expected.shared_stores));
    const tilewise::sim::Counters& written = tilewise::sim::last_counters();
    const bool same = written.global_load_requests == counted.global_load_requests &&
                      written.global_store_requests == counted.global_store_requests &&
                      written.shared_load_instructions == counted.shared_load_instructions &&
                      written.shared_store_instructions == counted.shared_store_instructions;
    ++(same ? as_written : moved_or_merged);
  }
  CHECK(sass.size() == static_cast<std::size_t>(moved_or_merged + as_written));
  CHECK(moved_or_merged >= 15);
  CHECK(as_written >= 10);
  for (float* p : {a, b, o}) CHECK(cudaFree(p) == cudaSuccess);
  tilewise::sim::set_counting(was_counting);
  tilewise::sim::set_checking(was_checking);
}

}  // namespace

#endif  // TILEWISE_SIMULATOR
