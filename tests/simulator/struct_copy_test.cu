// Structs copied whole, and memcpy in device code: every byte is counted, in the pieces that a GPU would issue.
#ifdef TILEWISE_SIMULATOR

#include <cuda_runtime.h>

#include <tilewise_sim/report.hpp>

#include "catch.hpp"

namespace {

struct Three {
  float v[3];
};
struct alignas(8) Six {
  float v[6];
};
struct alignas(16) Eight {
  float v[8];
};

template <class T>
__global__ void copy_structs(const T* in, T* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void copy_bytes(const float* in, float* out) { memcpy(out + 4 * threadIdx.x, in + 4 * threadIdx.x, 16); }

template <class Launch>
tilewise::sim::Counters counted(Launch launch) {
  const bool before = tilewise::sim::set_counting(true);
  launch();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  tilewise::sim::set_counting(before);
  return tilewise::sim::last_counters();
}

TEST_CASE("a struct copied whole is one request for each piece", "[structs]") {
  Eight *in, *out;
  REQUIRE(cudaMalloc(&in, 64 * sizeof(Eight)) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, 64 * sizeof(Eight)) == cudaSuccess);
  REQUIRE(cudaMemset(in, 1, 64 * sizeof(Eight)) == cudaSuccess);

  const auto three = counted([&] { copy_structs<<<1, 64>>>((const Three*)in, (Three*)out); });
  CHECK(three.global_load_requests == 2 * 3);  // 4 bytes at a time
  CHECK(three.global_load_sectors == 2 * 3 * 12);
  CHECK(three.global_store_requests == 2 * 3);
  CHECK(three.global_load_bytes == 64 * sizeof(Three));

  const auto six = counted([&] { copy_structs<<<1, 64>>>((const Six*)in, (Six*)out); });
  CHECK(six.global_load_requests == 2 * 3);  // 8 bytes at a time
  CHECK(six.global_store_requests == 2 * 3);
  CHECK(six.global_load_bytes == 64 * sizeof(Six));

  const auto eight = counted([&] { copy_structs<<<1, 64>>>(in, out); });
  CHECK(eight.global_load_requests == 2 * 2);  // 16 bytes at a time
  CHECK(eight.global_load_sectors == 2 * 2 * 32);
  CHECK(eight.global_store_sectors == 2 * 2 * 32);

  const auto bytes = counted([&] { copy_bytes<<<1, 64>>>((const float*)in, (float*)out); });
  CHECK(bytes.global_load_requests == 2);
  CHECK(bytes.global_load_sectors == 2 * 16);
  CHECK(bytes.global_store_bytes == 64 * 16);

  REQUIRE(cudaFree(in) == cudaSuccess);
  REQUIRE(cudaFree(out) == cudaSuccess);
}

}  // namespace

#endif  // TILEWISE_SIMULATOR
