// half and bfloat16: every value, every rounding edge, arithmetic against exact integers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace {

using u16 = unsigned short;

// The value of a 16-bit pattern, by the definition of the format.
double value_of(u16 bits, int exponent_bits, int fraction_bits) {
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}
double half_value(u16 bits) { return value_of(bits, 5, 10); }
double bfloat_value(u16 bits) { return value_of(bits, 8, 7); }

constexpr u16 kHalfInfinity = 0x7c00, kBfloatInfinity = 0x7f80;

bool is_nan(u16 bits, u16 infinity) { return (bits & 0x7fff) > infinity; }

}  // namespace

// ---------------------------------------------------------------- every value
namespace {

__global__ void decode_half(float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(__ushort_as_half(static_cast<u16>(i)));
}
__global__ void decode_bfloat(float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __bfloat162float(__ushort_as_bfloat16(static_cast<u16>(i)));
}
__global__ void round_trip_half(u16* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half_as_ushort(__float2half(__half2float(__ushort_as_half(static_cast<u16>(i)))));
}
__global__ void round_trip_bfloat(u16* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(__ushort_as_bfloat16(static_cast<u16>(i)))));
}

}  // namespace

TEST_CASE("whole numbers are assigned to halves") {
  __half h;
  __nv_bfloat16 b;
  h = 7, b = 7u;
  CHECK(float(h) == 7);
  CHECK(float(b) == 7);
  h = short(-3), b = 12ll;
  CHECK(float(h) == -3);
  CHECK(float(b) == 12);
}

TEST_CASE("all 65536 halves have the value of their bits, and come back") {
  const auto values = on_device<float>(256, 256, 65536, decode_half);
  const auto bits = on_device<u16>(256, 256, 65536, round_trip_half);
  for (int i = 0; i < 65536; ++i) {
    INFO("bits " << i);
    if (is_nan(u16(i), kHalfInfinity)) {
      REQUIRE((std::isnan(values[i]) && is_nan(bits[i], kHalfInfinity)));
    } else if (double(values[i]) != half_value(u16(i)) || std::signbit(values[i]) != (i >= 0x8000) || bits[i] != i) {
      REQUIRE(double(values[i]) == half_value(u16(i)));
      REQUIRE(bits[i] == i);
      REQUIRE(std::signbit(values[i]) == (i >= 0x8000));
    }
  }
}

TEST_CASE("all 65536 bfloat16 have the value of their bits, and come back") {
  const auto values = on_device<float>(256, 256, 65536, decode_bfloat);
  const auto bits = on_device<u16>(256, 256, 65536, round_trip_bfloat);
  for (int i = 0; i < 65536; ++i) {
    INFO("bits " << i);
    if (is_nan(u16(i), kBfloatInfinity)) {
      REQUIRE((std::isnan(values[i]) && is_nan(bits[i], kBfloatInfinity)));
    } else if (double(values[i]) != bfloat_value(u16(i)) || bits[i] != i) {
      REQUIRE(double(values[i]) == bfloat_value(u16(i)));
      REQUIRE(bits[i] == i);
    }
  }
}

// ---------------------------------------------------------------- every rounding edge
namespace {

constexpr int kModes = 4;

// Results for nearest, zero, up, down.
__global__ void encode_half(u16* out, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[kModes * i] = __half_as_ushort(__float2half_rn(x[i]));
  out[kModes * i + 1] = __half_as_ushort(__float2half_rz(x[i]));
  out[kModes * i + 2] = __half_as_ushort(__float2half_ru(x[i]));
  out[kModes * i + 3] = __half_as_ushort(__float2half_rd(x[i]));
}
__global__ void encode_bfloat(u16* out, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[kModes * i] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
  out[kModes * i + 1] = __bfloat16_as_ushort(__float2bfloat16_rz(x[i]));
  out[kModes * i + 2] = __bfloat16_as_ushort(__float2bfloat16_ru(x[i]));
  out[kModes * i + 3] = __bfloat16_as_ushort(__float2bfloat16_rd(x[i]));
}

struct Edge {
  float x;
  u16 expected[kModes];
};

// Between each pair of neighbours: the midpoint, and the floats next to it and to the neighbours.
std::vector<Edge> edges(double (*value)(u16), u16 infinity) {
  std::vector<Edge> all;
  const float huge = std::numeric_limits<float>::infinity();
  for (u16 low = 0; low < infinity; ++low) {
    const u16 high = low + 1;
    const double below = value(low);
    // Beyond the largest finite value the next one would be as far away as the one before.
    const double above = high == infinity ? 2 * below - value(low - 1) : value(high);
    const float middle = static_cast<float>(0.5 * (below + above));
    const bool exact_middle = double(middle) == 0.5 * (below + above);
    const float near_below = std::nextafterf(static_cast<float>(below), huge);
    const float points[] = {near_below, std::nextafterf(middle, 0.0f), middle, std::nextafterf(middle, huge),
                            std::nextafterf(static_cast<float>(above), 0.0f)};
    for (float x : points) {
      if (!(x > below) || !(x < above) || !std::isfinite(x)) continue;
      u16 nearest = double(x) - below < above - double(x) ? low : high;
      if (exact_middle && x == middle) nearest = low % 2 == 0 ? low : high;
      all.push_back({x, {nearest, low, high, low}});
      all.push_back({-x, {u16(nearest | 0x8000), u16(low | 0x8000), u16(low | 0x8000), u16(high | 0x8000)}});
    }
  }
  return all;
}

void check_edges(const std::vector<Edge>& all, void (*kernel)(u16*, const float*, int)) {
  const int n = static_cast<int>(all.size());
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = all[i].x;
  tilewise::DeviceBuffer<float> device_x(x);
  const auto out = on_device<u16>((n + 255) / 256, 256, std::size_t(kModes) * n, kernel,
                                  static_cast<const float*>(device_x.data()), n);
  for (int i = 0; i < n; ++i) {
    for (int mode = 0; mode < kModes; ++mode) {
      if (out[kModes * i + mode] == all[i].expected[mode]) continue;
      INFO("value " << x[i] << " mode " << mode);
      REQUIRE(out[kModes * i + mode] == all[i].expected[mode]);
    }
  }
  REQUIRE(n > 100000);
}

}  // namespace

TEST_CASE("float to half at every rounding edge, in four directions") {
  check_edges(edges(half_value, kHalfInfinity), encode_half);
}

TEST_CASE("float to bfloat16 at every rounding edge, in four directions") {
  check_edges(edges(bfloat_value, kBfloatInfinity), encode_bfloat);
}

TEST_CASE("float to half: zeros, infinities, NaN, far too large and far too small") {
  const float huge = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f,   -0.0f,   huge,          -huge,    1e30f,   -1e30f,
                                1e-30f, -1e-30f, std::nanf(""), 65519.0f, 65520.0f};
  const u16 expected[][kModes] = {{0, 0, 0, 0},
                                  {0x8000, 0x8000, 0x8000, 0x8000},
                                  {0x7c00, 0x7c00, 0x7c00, 0x7c00},
                                  {0xfc00, 0xfc00, 0xfc00, 0xfc00},
                                  {0x7c00, 0x7bff, 0x7c00, 0x7bff},
                                  {0xfc00, 0xfbff, 0xfbff, 0xfc00},
                                  {0, 0, 1, 0},
                                  {0x8000, 0x8000, 0x8000, 0x8001},
                                  {0x7fff, 0x7fff, 0x7fff, 0x7fff},
                                  {0x7bff, 0x7bff, 0x7c00, 0x7bff},
                                  {0x7c00, 0x7bff, 0x7c00, 0x7bff}};
  tilewise::DeviceBuffer<float> device_x(x);
  const int n = static_cast<int>(x.size());
  const auto out = on_device<u16>(1, n, kModes * n, encode_half, static_cast<const float*>(device_x.data()), n);
  for (int i = 0; i < n; ++i) {
    for (int mode = 0; mode < kModes; ++mode) {
      INFO("value " << x[i] << " mode " << mode);
      REQUIRE(out[kModes * i + mode] == expected[i][mode]);
    }
  }
}

namespace {

__global__ void from_double(u16* out) {
  // 1 + 2^-11 is a tie; a little more must not be lost on the way through float.
  out[0] = __half_as_ushort(__double2half(1.0 + 0x1p-11));
  out[1] = __half_as_ushort(__double2half(1.0 + 0x1p-11 + 0x1p-40));
  out[2] = __bfloat16_as_ushort(__double2bfloat16(1.0 + 0x1p-8));
  out[3] = __bfloat16_as_ushort(__double2bfloat16(1.0 + 0x1p-8 + 0x1p-45));
}

}  // namespace

TEST_CASE("double to half rounds once") {
  const auto out = on_device<u16>(1, 1, 4, from_double);
  REQUIRE(out[0] == 0x3c00);
  REQUIRE(out[1] == 0x3c01);
  REQUIRE(out[2] == 0x3f80);
  REQUIRE(out[3] == 0x3f81);
}

// ---------------------------------------------------------------- arithmetic
namespace {

constexpr int kOperations = 4;

__global__ void arithmetic(u16* out, const u16* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half a = __ushort_as_half(x[i]), b = __ushort_as_half(x[(i * 7 + 3) % n]),
               c = __ushort_as_half(x[(i * 5 + 1) % n]);
  out[kOperations * i] = __half_as_ushort(__hadd(a, b));
  out[kOperations * i + 1] = __half_as_ushort(__hsub(a, b));
  out[kOperations * i + 2] = __half_as_ushort(__hmul(a, b));
  out[kOperations * i + 3] = __half_as_ushort(__hfma(a, b, c));
}

// Finite halves are multiples of 2^-24; their products, and sums with them, are multiples of 2^-48: exact here.
using Exact = __int128;
Exact exact(u16 bits) { return static_cast<Exact>(static_cast<long long>(std::ldexp(half_value(bits), 24))); }
constexpr Exact kOne24 = Exact(1) << 24;

u16 rounded_to_half(Exact units) {  // units of 2^-48
  const bool negative = units < 0;
  const Exact size = negative ? -units : units;
  u16 low = 0, high = kHalfInfinity;  // infinity stands for 65536 here
  const auto magnitude = [](u16 bits) { return bits == kHalfInfinity ? (Exact(65536) << 48) : exact(bits) * kOne24; };
  if (size >= magnitude(high)) return negative ? 0xfc00 : 0x7c00;
  while (high - low > 1) {
    const u16 middle = static_cast<u16>((low + high) / 2);
    (magnitude(middle) <= size ? low : high) = middle;
  }
  const Exact below = size - magnitude(low), above = magnitude(high) - size;
  const u16 nearest = below < above || (below == above && low % 2 == 0) ? low : high;
  return negative ? nearest | 0x8000 : nearest;
}

}  // namespace

TEST_CASE("half sums, differences, products and fused products are rounded once") {
  std::vector<u16> x = {0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x7bff, 0xfbff, 0x6400, 0x1400};
  std::uint32_t state = 99;
  while (x.size() < 20011) {
    state = state * 1664525u + 1013904223u;
    const u16 bits = static_cast<u16>(state >> 16);
    if ((bits & 0x7fff) < kHalfInfinity) x.push_back(bits);
  }
  const int n = static_cast<int>(x.size());
  tilewise::DeviceBuffer<u16> device_x(x);
  const auto out = on_device<u16>((n + 127) / 128, 128, std::size_t(kOperations) * n, arithmetic,
                                  static_cast<const u16*>(device_x.data()), n);
  int infinite = 0;
  for (int i = 0; i < n; ++i) {
    const Exact a = exact(x[i]), b = exact(x[(i * 7 + 3) % n]), c = exact(x[(i * 5 + 1) % n]);
    const Exact results[kOperations] = {(a + b) * kOne24, (a - b) * kOne24, a * b, a * b + c * kOne24};
    for (int k = 0; k < kOperations; ++k) {
      const u16 expected = rounded_to_half(results[k]), found = out[kOperations * i + k];
      if ((expected & 0x7fff) == 0 && (found & 0x7fff) == 0) continue;  // the sign of a zero is another matter
      infinite += (expected & 0x7fff) == kHalfInfinity;
      if (found == expected) continue;
      INFO("operation " << k << " on " << x[i] << ", " << x[(i * 7 + 3) % n] << ", " << x[(i * 5 + 1) % n]);
      REQUIRE(found == expected);
    }
  }
  REQUIRE(infinite > 100);  // overflow was among the cases
}

namespace {

// Device functions, and the operators, on values whose results are exact or rounded by the reference below.
__global__ void more_half(float* out) {
  const half a = __float2half(1.5f), b = __float2half(-2.25f);
  half c = a;
  c += b;
  out[0] = __half2float(c);
  out[1] = __half2float(a * b);
  out[2] = __half2float(a / b);
  out[3] = __half2float(-a);
  out[4] = __half2float(__habs(b)) + __half2float(__hneg(b));
  out[5] = (a > b) + 2 * (a <= b) + 4 * (a == a) + 8 * (a != b);
  out[6] = __half2float(hsqrt(__float2half(2.0f)));
  out[7] = __half2float(hexp(__float2half(1.0f)));
  out[8] = __half2float(hlog(__float2half(10.0f)));
  out[9] = __half2float(hrcp(__float2half(3.0f)));
  out[10] =
      __half2float(hfloor(b)) + 100.0f * __half2float(hceil(b)) + 10000.0f * __half2float(hrint(__float2half(2.5f)));
  out[11] = __half2float(__hmax(a, b)) + 10.0f * __half2float(__hmin(a, b));
  out[12] =
      __half2int_rz(b) + 10 * __half2int_rn(__float2half(2.5f)) + 100 * __half2int_rd(b) + 1000 * __half2int_ru(b);
  out[13] = __half2float(__int2half_rn(2049)) + __half2float(__int2half_ru(2049));
  out[14] = __half2float(__hadd_sat(a, a));
  const half nan = __ushort_as_half(0x7e00);
  out[15] = __hisnan(nan) + 2 * __heq(nan, nan) + 4 * __hne(nan, nan) + 8 * __hneu(nan, nan) + 16 * (nan != nan) +
            32 * __hltu(nan, a) + 64 * __hlt(nan, a);
  out[16] = __hisinf(__ushort_as_half(0xfc00));
  out[17] = __half2float(__hmax(nan, a));
}

__global__ void pairs(float* out) {
  const half2 a = __floats2half2_rn(1.0f, 2.0f), b = __floats2half2_rn(0.5f, -4.0f);
  const half2 sum = __hadd2(a, b), product = a * b, fused = __hfma2(a, b, sum);
  const float2 sums = __half22float2(sum);
  out[0] = sums.x, out[1] = sums.y;
  out[2] = __low2float(product), out[3] = __high2float(product);
  out[4] = __low2float(fused), out[5] = __high2float(fused);
  out[6] = __half2float(__low2half(__lowhigh2highlow(a)));
  out[7] = __low2float(__hgt2(a, b)) + 10.0f * __high2float(__hlt2(a, b)) + 100.0f * __hbgt2(a, b);
  out[8] = __high2float(__half2half2(__float2half(7.0f)));
  out[9] = __high2float(__halves2half2(__high2half(a), __low2half(b)));
  const half2 same = make_half2(__float2half(3.0f), __float2half(5.0f));
  out[10] = __half2float(same.x) + 10.0f * __half2float(same.y);
  out[11] = __low2float(h2sqrt(__float2half2_rn(16.0f)));
}

// Arithmetic on bfloat16 came with compute capability 8.0.
__global__ void bfloat_arithmetic(float* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const __nv_bfloat162 p = __floats2bfloat162_rn(1.5f, -3.0f);
  const __nv_bfloat162 q = __hmul2(p, p);
  out[0] = __low2float(q), out[1] = __high2float(q);
  const float2 widened = __bfloat1622float2(p);
  out[2] = widened.x + widened.y;
  __nv_bfloat16 r = __float2bfloat16(256.0f);
  r += __float2bfloat16(1.0f);  // 257 needs 9 bits: a tie, to even
  out[3] = __bfloat162float(r);
  out[4] = __bfloat162float(__hfma(__float2bfloat16(3.0f), __float2bfloat16(5.0f), __float2bfloat16(-1.0f)));
#endif
}

}  // namespace

TEST_CASE("half operators, comparisons and functions") {
  const auto out = on_device<float>(1, 1, 18, more_half);
  const auto close = [](float found, double exact) {
    return std::fabs(found - exact) <= std::ldexp(std::fabs(exact), -10);
  };
  REQUIRE(out[0] == -0.75f);
  REQUIRE(out[1] == -3.375f);
  REQUIRE(close(out[2], -1.5 / 2.25));
  REQUIRE(out[3] == -1.5f);
  REQUIRE(out[4] == 4.5f);
  REQUIRE(out[5] == 1 + 4 + 8);
  REQUIRE(close(out[6], std::sqrt(2.0)));
  REQUIRE(close(out[7], std::exp(1.0)));
  REQUIRE(close(out[8], std::log(10.0)));
  REQUIRE(close(out[9], 1.0 / 3));
  REQUIRE(out[10] == -3.0f - 200.0f + 20000.0f);
  REQUIRE(out[11] == 1.5f - 22.5f);
  REQUIRE(out[12] == -2 + 20 - 300 - 2000);
  REQUIRE(out[13] == 2048.0f + 2050.0f);
  REQUIRE(out[14] == 1.0f);
  REQUIRE(out[15] == 1 + 8 + 16 + 32);
  REQUIRE(out[16] == -1.0f);
  REQUIRE(out[17] == 1.5f);
}

TEST_CASE("pairs of halves") {
  const auto out = on_device<float>(1, 1, 12, pairs);
  const std::vector<float> expected = {1.5f, -2.0f, 0.5f, -8.0f, 2.0f, -10.0f, 2.0f, 101.0f, 7.0f, 0.5f, 53.0f, 4.0f};
  REQUIRE(out == expected);
}

TEST_CASE("arithmetic of bfloat16") {
  if (compute_capability_major() < 8) return;
  const auto out = on_device<float>(1, 1, 5, bfloat_arithmetic);
  const std::vector<float> expected = {2.25f, 9.0f, -1.5f, 256.0f, 14.0f};
  REQUIRE(out == expected);
}

// ---------------------------------------------------------------- with other threads
namespace {

__global__ void exchange(float* out) {
  const int lane = threadIdx.x;
  const half value = __int2half_rn(lane);
  out[2 * lane] = __half2float(__shfl_xor_sync(0xffffffffu, value, 1));
  const half2 pair = __floats2half2_rn(static_cast<float>(lane), static_cast<float>(-lane));
  const half2 other = __shfl_down_sync(0xffffffffu, pair, 4);
  out[2 * lane + 1] = __low2float(other) - 100.0f * __high2float(other);
}

__global__ void add_halves(half* sum, half2* pair) {
  atomicAdd(sum, __float2half(1.0f));
  atomicAdd(pair, __floats2half2_rn(1.0f, -2.0f));
}

__global__ void load(float* out, const half* x, const half2* y) {
  const int i = threadIdx.x;
  out[i] = __half2float(__ldg(x + i)) + __high2float(__ldg(y + i / 2)) + __half2float(x[i]);
}

/// nvcc has these since C++11 where both headers are included.
__global__ void to_each_other(float* out, const float* x) {
  const int i = threadIdx.x;
  assert(i < 32);  // declared without a header's name
  const __nv_bfloat16 rough(x[i]);
  out[2 * i] = float(static_cast<__half>(rough));
  out[2 * i + 1] = float(static_cast<__nv_bfloat16>(__half(x[i])));
}

}  // namespace

TEST_CASE("halves are shuffled") {
  const auto out = on_device<float>(1, 32, 64, exchange);
  for (int lane = 0; lane < 32; ++lane) {
    const int source = lane + 4 < 32 ? lane + 4 : lane;
    REQUIRE(out[2 * lane] == float(lane ^ 1));
    REQUIRE(out[2 * lane + 1] == 101.0f * source);
  }
}

TEST_CASE("halves are added atomically") {
  if (compute_capability_major() < 7) return;
  tilewise::DeviceBuffer<u16> bits(std::vector<u16>{0, 0, 0, 0});
  half* sum = reinterpret_cast<half*>(bits.data());
  half2* pair = reinterpret_cast<half2*>(bits.data() + 2);
  add_halves<<<3, 64>>>(sum, pair);
  CUDA_CHECK_LAUNCH();
  const auto host = bits.to_host();
  REQUIRE(half_value(host[0]) == 192.0);  // exact: whole numbers below 2048
  REQUIRE(half_value(host[2]) == 192.0);
  REQUIRE(half_value(host[3]) == -384.0);
}

TEST_CASE("halves are loaded, one by one and in pairs") {
  std::vector<u16> x(32);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<u16>(0x3c00 + i);
  tilewise::DeviceBuffer<u16> device_x(x);
  const auto out = on_device<float>(1, 32, 32, load, reinterpret_cast<const half*>(device_x.data()),
                                    reinterpret_cast<const half2*>(device_x.data()));
  for (int i = 0; i < 32; ++i) REQUIRE(double(out[i]) == 2 * half_value(x[i]) + half_value(x[i / 2 * 2 + 1]));
}

TEST_CASE("a half is made of a bfloat16, and a bfloat16 of a half") {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = 1 + i / 128.0f;  // 7 bits: both have them
  tilewise::DeviceBuffer<float> device_x(x);
  const auto out = on_device<float>(1, 32, 64, to_each_other, static_cast<const float*>(device_x.data()));
  for (int i = 0; i < 32; ++i) REQUIRE((out[2 * i] == x[i] && out[2 * i + 1] == x[i]));
}
