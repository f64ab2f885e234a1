// CUDA's vector types: layout, initialisation, and every way in which kernels move them.
#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

// ---------------------------------------------------------------- layout, as CUDA documents it
#define LAYOUT(T, bytes, alignment) static_assert(sizeof(T) == (bytes) && alignof(T) == (alignment))
LAYOUT(char1, 1, 1);
LAYOUT(char2, 2, 2);
LAYOUT(char3, 3, 1);
LAYOUT(char4, 4, 4);
LAYOUT(uchar4, 4, 4);
LAYOUT(short2, 4, 4);
LAYOUT(short3, 6, 2);
LAYOUT(ushort4, 8, 8);
LAYOUT(int1, 4, 4);
LAYOUT(int2, 8, 8);
LAYOUT(int3, 12, 4);
LAYOUT(int4, 16, 16);
LAYOUT(uint2, 8, 8);
LAYOUT(uint3, 12, 4);
LAYOUT(uint4, 16, 16);
LAYOUT(longlong2, 16, 16);
LAYOUT(ulonglong2, 16, 16);
LAYOUT(float1, 4, 4);
LAYOUT(float2, 8, 8);
LAYOUT(float3, 12, 4);
LAYOUT(float4, 16, 16);
LAYOUT(double1, 8, 8);
LAYOUT(double2, 16, 16);
LAYOUT(double3, 24, 8);
LAYOUT(dim3, 12, 4);
static_assert(offsetof(float4, x) == 0 && offsetof(float4, y) == 4 && offsetof(float4, z) == 8 &&
              offsetof(float4, w) == 12);
static_assert(std::is_same_v<decltype(char4::x), signed char> && std::is_same_v<decltype(uchar4::w), unsigned char>);
static_assert(std::is_trivially_default_constructible_v<float4> && std::is_trivially_destructible_v<float4>);
static_assert(!std::is_convertible_v<float, float4>);

// ---------------------------------------------------------------- initialisation
namespace {

const float4 at_file_scope[3] = {{1, 2, 3, 4}, {5}, {}};
constexpr int2 known = {3, 4};
constexpr int2 copied = known;
static_assert(copied.y == 4);

struct Vertex {
  float3 position;
  uchar4 colour;
};

}  // namespace

TEST_CASE("vectors are initialised as aggregates are") {
  float4 a = {1.0f, 2.0f}, b{}, c = make_float4(1, 2, 3, 4);
  REQUIRE((a.x == 1.0f && a.y == 2.0f && a.z == 0.0f && a.w == 0.0f));
  REQUIRE((b.x == 0.0f && b.w == 0.0f));
  REQUIRE((c.z == 3.0f && c.w == 4.0f));
  REQUIRE((at_file_scope[0].w == 4.0f && at_file_scope[1].x == 5.0f && at_file_scope[1].y == 0.0f &&
           at_file_scope[2].x == 0.0f));
  Vertex v = {{1, 2, 3}, {255, 0, 7, 1}};
  const Vertex w = v;
  REQUIRE((w.position.z == 3.0f && w.colour.x == 255 && w.colour.z == 7));
  a = c;
  b = a;
  b.y += 10;
  REQUIRE((a.y == 2.0f && b.y == 12.0f && b.w == 4.0f));
  std::vector<int4> many(3, make_int4(1, 2, 3, 4));
  many.push_back({5, 6, 7, 8});
  REQUIRE((many[2].w == 4 && many[3].x == 5));
  const dim3 d(3), e = 5;
  REQUIRE((d.x == 3 && d.y == 1 && d.z == 1 && e.x == 5 && e.z == 1));
  const uint3 u = {1, 2, 3};
  const dim3 from = u;
  REQUIRE(from.z == 3);
}

// ---------------------------------------------------------------- in kernels
namespace {

__constant__ float4 table[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};

__host__ __device__ inline float4 operator+(const float4& a, const float4& b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__host__ __device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// Scalars read as vectors, an argument by value, constants, shared memory, a union, single components.
__global__ void mixture(float* out, const float* x, float4 offset, int n) {
  __shared__ float4 tile[32];
  union {
    float4 vector;
    float scalars[4];
  } both;
  const int i = threadIdx.x;
  const float4 v = reinterpret_cast<const float4*>(x)[i];
  tile[i] = v + offset;
  __syncthreads();
  both.vector = tile[(i + 1) % n];
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) sum += static_cast<float>(k + 1) * both.scalars[k];
  __syncthreads();
  tile[i].x = 0.0f;  // one component only
  const float4 line = table[i % 4];
  reinterpret_cast<float4*>(out)[i] = make_float4(sum, dot(line, v), tile[i].x, tile[i].y);
}

template <class T, class Scalar>
__global__ void reverse_scalars(Scalar* out, const Scalar* in, int n) {
  reinterpret_cast<T*>(out)[threadIdx.x] = reinterpret_cast<const T*>(in)[n - 1 - static_cast<int>(threadIdx.x)];
}

// n vectors of `parts` scalars, in reverse order.
template <class T, class Scalar>
void check_reverse() {
  constexpr int n = 37, parts = sizeof(T) / sizeof(Scalar);
  std::vector<Scalar> x(n * parts);
  for (int i = 0; i < n * parts; ++i) x[i] = static_cast<Scalar>(i * 3 + 1);
  tilewise::DeviceBuffer<Scalar> in(x);
  const auto out =
      on_device<Scalar>(1, n, n * parts, reverse_scalars<T, Scalar>, static_cast<const Scalar*>(in.data()), n);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < parts; ++k) REQUIRE(out[parts * i + k] == x[parts * (n - 1 - i) + k]);
  }
}

__global__ void cache_hints(float4* out, const float4* in, const int2* pairs) {
  const int i = threadIdx.x;
  const float4 a = __ldg(in + i), b = __ldcg(in + i), c = __ldcs(in + i), d = __ldca(in + i);
  const int2 p = __ldg(&pairs[i]);
  float4 sum = a + b + c + d;
  sum.x += static_cast<float>(p.x);
  sum.y += static_cast<float>(p.y);
  __stcs(out + i, sum);
}

}  // namespace

TEST_CASE("vectors in kernels: casts, arguments, constants, shared memory, unions") {
  constexpr int n = 32;
  std::vector<float> x(4 * n);
  for (int i = 0; i < 4 * n; ++i) x[i] = static_cast<float>(i % 23);
  tilewise::DeviceBuffer<float> device_x(x);
  const float4 offset = make_float4(0.5f, 1.0f, -1.0f, 2.0f);
  const float shifts[4] = {0.5f, 1.0f, -1.0f, 2.0f};
  const auto out = on_device<float>(1, n, 4 * n, mixture, static_cast<const float*>(device_x.data()), offset, n);
  for (int i = 0; i < n; ++i) {
    float sum = 0, product = 0;
    for (int k = 0; k < 4; ++k) {
      sum += static_cast<float>(k + 1) * (x[4 * ((i + 1) % n) + k] + shifts[k]);
      product += static_cast<float>(4 * (i % 4) + k + 1) * x[4 * i + k];
    }
    REQUIRE(out[4 * i] == sum);  // small whole numbers and halves: exact in any order
    REQUIRE(out[4 * i + 1] == product);
    REQUIRE(out[4 * i + 2] == 0.0f);
    REQUIRE(out[4 * i + 3] == x[4 * i + 1] + 1.0f);
  }
}

TEST_CASE("vectors of every size are moved whole") {
  check_reverse<char2, signed char>();
  check_reverse<uchar3, unsigned char>();
  check_reverse<uchar4, unsigned char>();
  check_reverse<short2, short>();
  check_reverse<short3, short>();
  check_reverse<ushort4, unsigned short>();
  check_reverse<int2, int>();
  check_reverse<int3, int>();
  check_reverse<uint4, unsigned>();
  check_reverse<longlong2, long long>();
  check_reverse<ulonglong3, unsigned long long>();
  check_reverse<float1, float>();
  check_reverse<float2, float>();
  check_reverse<float3, float>();
  check_reverse<float4, float>();
  check_reverse<double2, double>();
  check_reverse<double3, double>();
}

TEST_CASE("loads and stores with cache hints move the same values") {
  constexpr int n = 32;
  std::vector<float> x(4 * n);
  std::vector<int> pairs(2 * n);
  for (int i = 0; i < 4 * n; ++i) x[i] = static_cast<float>(i);
  for (int i = 0; i < 2 * n; ++i) pairs[i] = 100 * i;
  tilewise::DeviceBuffer<float> device_x(x), out(4 * n);
  tilewise::DeviceBuffer<int> device_pairs(pairs);
  cache_hints<<<1, n>>>(reinterpret_cast<float4*>(out.data()), reinterpret_cast<const float4*>(device_x.data()),
                        reinterpret_cast<const int2*>(device_pairs.data()));
  CUDA_CHECK_LAUNCH();
  const auto host = out.to_host();
  for (int i = 0; i < n; ++i) {
    REQUIRE(host[4 * i] == 16.0f * i + 200.0f * i);
    REQUIRE(host[4 * i + 1] == 16.0f * i + 4 + 200.0f * i + 100.0f);
    REQUIRE(host[4 * i + 2] == 16.0f * i + 8);
    REQUIRE(host[4 * i + 3] == 16.0f * i + 12);
  }
}

#if defined(TILEWISE_SIMULATOR)
#include "tilewise_sim/report.hpp"

// ---------------------------------------------------------------- one access each: only the simulator can tell
namespace {

template <class T>
__global__ void copy_through_variable(T* out, const T* in) {
  T v = in[threadIdx.x];
  v.x = static_cast<decltype(v.x)>(v.x + v.y);
  out[threadIdx.x] = v;
}

__global__ void first_components(float* out, const float4* in) { out[threadIdx.x] = in[threadIdx.x].x; }

template <class T>
void check_one_access() {
  tilewise::DeviceBuffer<unsigned char> in(32 * sizeof(T)), out(32 * sizeof(T));
  in.zero();
  const bool before = tilewise::sim::set_counting(true);
  copy_through_variable<<<1, 32>>>(reinterpret_cast<T*>(out.data()), reinterpret_cast<const T*>(in.data()));
  tilewise::sim::set_counting(before);
  CUDA_CHECK_LAUNCH();
  const tilewise::sim::Counters& counters = tilewise::sim::last_counters();
  INFO("vector of " << sizeof(T) << " bytes");
  REQUIRE(counters.global_load_requests == 1);
  REQUIRE(counters.global_store_requests == 1);
  REQUIRE(counters.global_load_bytes == 32 * sizeof(T));
  REQUIRE(counters.global_load_sectors == sizeof(T));
  REQUIRE(counters.global_store_sectors == sizeof(T));
}

}  // namespace

TEST_CASE("a vector is loaded and stored by one instruction") {
  check_one_access<uchar2>();
  check_one_access<uchar4>();
  check_one_access<short2>();
  check_one_access<ushort4>();
  check_one_access<int2>();
  check_one_access<float2>();
  check_one_access<float4>();
  check_one_access<double2>();
}

TEST_CASE("one component of a vector is loaded alone") {
  tilewise::DeviceBuffer<float> in(128), out(32);
  in.zero();
  const bool before = tilewise::sim::set_counting(true);
  first_components<<<1, 32>>>(out.data(), reinterpret_cast<const float4*>(in.data()));
  tilewise::sim::set_counting(before);
  CUDA_CHECK_LAUNCH();
  REQUIRE(tilewise::sim::last_counters().global_load_requests == 1);
  REQUIRE(tilewise::sim::last_counters().global_load_bytes == 32 * sizeof(float));
}
#endif
