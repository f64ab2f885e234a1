// Structs copied whole, and memcpy in device code: every byte is counted, in the pieces that a GPU would issue.
#ifdef TILEWISE_SIMULATOR

#include <cuda_runtime.h>

#include <cstring>
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

struct Four {
  float a, b, c, d;
};
struct Pair {
  float a, b;
};
struct Doubles {
  double a, b;
};
struct alignas(16) Vector {
  float x, y, z, w;
};

template <class T>
__global__ void copy_bytes(const T* in, T* out) {
  memcpy(out + 16 / sizeof(T) * threadIdx.x, in + 16 / sizeof(T) * threadIdx.x, 16);
}
__global__ void clear_bytes(float* out) { std::memset(out + 4 * threadIdx.x, 0, 16); }
__global__ void load_bytes(const float* in, float* out) {
  float v[4];
  __builtin_memcpy(v, in + 4 * threadIdx.x, 16);
  out[threadIdx.x] = v[0] + v[1] + v[2] + v[3];
}

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

  REQUIRE(cudaFree(in) == cudaSuccess);
  REQUIRE(cudaFree(out) == cudaSuccess);
}

// What nvcc 13.0 makes of these kernels (PTX for sm_90): members of a struct of lesser alignment one by one, the vector at
// once, and memcpy and memset byte by byte, even between float4.
TEST_CASE("the pieces of 8 and 16 bytes are those of the alignment", "[structs]") {
  char *in, *out;
  REQUIRE(cudaMalloc(&in, 2048) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, 2048) == cudaSuccess);
  REQUIRE(cudaMemset(in, 0, 2048) == cudaSuccess);
  const auto is = [](const tilewise::sim::Counters& c, unsigned pieces, unsigned sectors) {
    CHECK(c.global_load_requests == 2 * pieces);  // of two warps
    CHECK(c.global_store_requests == 2 * pieces);
    CHECK(c.global_load_sectors == 2 * pieces * sectors);
    CHECK(c.global_store_sectors == 2 * pieces * sectors);
  };
  is(counted([&] { copy_structs<<<1, 64>>>((const Pair*)in, (Pair*)out); }), 2, 8);
  is(counted([&] { copy_structs<<<1, 64>>>((const Vector*)in, (Vector*)out); }), 1, 16);
  is(counted([&] { copy_structs<<<1, 64>>>((const float4*)in, (float4*)out); }), 1, 16);
  is(counted([&] { copy_structs<<<1, 64>>>((const double2*)in, (double2*)out); }), 1, 16);
#ifndef __clang__  // it copies them by a call, and does not say how they are aligned
  is(counted([&] { copy_structs<<<1, 64>>>((const Four*)in, (Four*)out); }), 4, 16);
#ifndef __APPLE__
  is(counted([&] { copy_structs<<<1, 64>>>((const Doubles*)in, (Doubles*)out); }), 2, 16);
#endif
#endif
  is(counted([&] { copy_bytes<<<1, 64>>>((const float*)in, (float*)out); }), 16, 16);
  is(counted([&] { copy_bytes<<<1, 64>>>((const float4*)in, (float4*)out); }), 16, 16);

  const auto cleared = counted([&] { clear_bytes<<<1, 64>>>((float*)out); });
  CHECK(cleared.global_load_requests == 0);
  CHECK(cleared.global_store_requests == 2 * 16);

  float floats[4] = {1, 2, 3, 4};
  REQUIRE(cudaMemcpy(in, floats, 16, cudaMemcpyHostToDevice) == cudaSuccess);
  const auto loaded = counted([&] { load_bytes<<<1, 64>>>((const float*)in, (float*)out); });
  CHECK(loaded.global_load_requests == 2 * 16);
  CHECK(loaded.global_store_requests == 2);
  REQUIRE(cudaMemcpy(floats, out, 8, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(floats[0] == 10);
  CHECK(floats[1] == 0);

  REQUIRE(cudaFree(in) == cudaSuccess);
  REQUIRE(cudaFree(out) == cudaSuccess);
}

}  // namespace

#endif  // TILEWISE_SIMULATOR
