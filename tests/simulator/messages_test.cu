// A message costs far more than the access that it is about. It's made once for a finding, however often that happens.
#ifdef TILEWISE_SIMULATOR

#include <cuda_runtime.h>

#include <cstdint>

#include "base/findings.hpp"
#include "base/symbols.hpp"
#include "catch.hpp"
#include "expected_findings.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device_buffer.hpp"

namespace {

constexpr int kBlocks = 100, kThreads = 256;
constexpr std::uint64_t kTimes = kBlocks * kThreads;

/// Harmless: all threads store the same value.
__global__ void store_the_same(int* out) { *out = 1; }

__global__ void store_others(int* out) { *out = static_cast<int>(threadIdx.x + blockIdx.x); }
__global__ void read_and_store(int* out) { *out = *out + 1; }
__global__ void read_unwritten(const int* in, int* out) { out[blockIdx.x * kThreads + threadIdx.x] = in[threadIdx.x]; }
__global__ void store_outside(int* out, int n) { out[n] = 1; }
__global__ void read_unwritten_shared(int* out) {
  __shared__ int s[kThreads];
  out[blockIdx.x * kThreads + threadIdx.x] = s[threadIdx.x];
}
__constant__ int constant;
__global__ void store_constant() { const_cast<volatile int&>(constant) = 1; }
__global__ void store_outside_shared(int n) {
  __shared__ int s[1];
  s[n] = 1;
}

struct Made {
  std::uint64_t findings, times, messages, places;
};

/// What the launch has found, how often together, and how many messages were made and places described meanwhile.
template <class Launch>
Made made_by(Launch launch) {
  const ExpectedFindings expected;
  const std::size_t before = tilewise::sim::findings().size();
  const std::uint64_t messages = tilewise::sim::messages_made(), places = tilewise::sim::sites_described();
  launch();
  CUDA_CHECK(cudaDeviceSynchronize());
  Made made{expected.count(), 0, tilewise::sim::messages_made() - messages, tilewise::sim::sites_described() - places};
  const auto& all = tilewise::sim::findings();
  for (std::size_t i = before; i < all.size(); ++i) made.times += all[i].times;
  return made;
}

}  // namespace

TEST_CASE("messages are made for findings, not for each time that one happens", "[messages]") {
  tilewise::DeviceBuffer<int> out(kTimes), unwritten(kTimes);
  CUDA_CHECK(cudaMemset(out.data(), 0, out.bytes()));
  const Made harmless = made_by([&] { store_the_same<<<kBlocks, kThreads>>>(out.data()); });
  CHECK(harmless.findings == 0);
  CHECK(harmless.places == 0);

  const auto few = [](const char* what, const Made& made) {
    INFO(what << ": " << made.findings << " findings, " << made.times << " times, " << made.messages << " messages");
    CHECK(made.findings >= 1);
    CHECK(made.times >= kTimes / 4);
    CHECK(made.messages <= 20);
    CHECK(made.places <= 100);
  };
  few("stores", made_by([&] { store_others<<<kBlocks, kThreads>>>(out.data()); }));
  few("reads and stores", made_by([&] { read_and_store<<<kBlocks, kThreads>>>(out.data()); }));
  few("unwritten", made_by([&] { read_unwritten<<<kBlocks, kThreads>>>(unwritten.data(), out.data()); }));
  few("outside", made_by([&] { store_outside<<<kBlocks, kThreads>>>(out.data(), static_cast<int>(kTimes)); }));
  few("unwritten shared", made_by([&] { read_unwritten_shared<<<kBlocks, kThreads>>>(out.data()); }));
  few("constant", made_by([&] { store_constant<<<kBlocks, kThreads>>>(); }));
  few("outside shared", made_by([&] { store_outside_shared<<<kBlocks, kThreads>>>(1); }));
}

#endif  // TILEWISE_SIMULATOR
