// Inline PTX of several instructions: registers of its own, predicates, addresses with offsets; and what the instructions
// without memory compute. The same on both machines.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"
#include "tilewise/device_buffer.hpp"

namespace {

using tilewise::DeviceBuffer;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

// ---------------------------------------------------------------- blocks
__device__ float load_if(const float* p, bool guard) {
  float x = -1;
  asm volatile(
      "{.reg .pred p;\n"
      " setp.ne.b32 p, %2, 0;\n"
      " @!p mov.b32 %0, 0;\n"
      " @p ld.global.nc.f32 %0, [%1];}\n"
      : "=f"(x)
      : "l"(p), "r"((int)guard));
  return x;
}

__global__ void blocks(std::uint32_t* out, const std::uint32_t* in, int n) {
  __shared__ std::uint32_t s[64];
  const unsigned t = threadIdx.x;
  std::uint32_t* r = out + t * 8;
  std::uint32_t first, second, third;
  asm volatile(
      "add.s32 %0, %3, %4;\n\t"  // a comment
      "mul.lo.s32 %1, %0, %5; /* another one */\n\t"
      "sub.s32 %2, %1, %3;"
      : "=&r"(first), "=&r"(second), "=&r"(third)
      : "r"(in[t]), "r"(t), "r"(3));
  r[0] = first, r[1] = second, r[2] = third;
  r[3] = __float_as_uint(load_if(reinterpret_cast<const float*>(in) + t, t % 3 != 0));
  // Shared memory by the address that PTX makes, and an offset.
  std::uint32_t at;
  asm("{.reg .u64 u64addr;\n cvta.to.shared.u64 u64addr, %1;\n cvt.u32.u64 %0, u64addr;}\n" : "=r"(at) : "l"(s + t));
  asm volatile("st.shared.b32 [%0], %1; st.shared.b32 [%0 + 128], %2;" ::"r"(at), "r"(in[t]), "r"(t) : "memory");
  std::uint32_t before, after;
  asm volatile("bar.sync 0;\nmov.u32 %0, %%clock;\n" : "=r"(before)::"memory");
  std::uint32_t loaded;
  asm volatile("{ .reg .b32 t<2>; ld.shared.b32 t0, [%1]; ld.shared.b32 t1, [%1+128]; xor.b32 %0, t0, t1; }"
               : "=r"(loaded)
               : "r"(t < 31 ? at + 4 : at - 124)
               : "memory");
  r[4] = loaded;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(after));
  r[5] = after != before;
  // A special register.
  std::uint32_t sum = t;
  asm("{ .reg .u32 lane; mov.u32 lane, %%laneid; add.u32 %0, %0, %1;\n\tadd.u32 %0, %0, lane; }" : "+r"(sum) : "r"(n));
  r[6] = sum;
  std::uint32_t same = t;
  asm("mad.lo.u32 %0, %0, %1, %0;" : "+r"(same) : "r"(7));
  r[7] = same;
}

}  // namespace

TEST_CASE("PTX: several instructions in one asm, with registers and predicates", "[ptx]") {
  std::vector<std::uint32_t> in;
  for (std::uint32_t t = 0; t < 32; ++t) in.push_back(bits_of(1.5f * static_cast<float>(t) + 1));
  const DeviceBuffer<std::uint32_t> values(in);
  const std::vector<std::uint32_t> got = on_device<std::uint32_t>(1, 32, 32 * 8, blocks, values.data(), 100);
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::uint32_t* r = got.data() + t * 8;
    INFO("thread " << t);
    const std::uint32_t a = in[t] + t, next = (t + 1) % 32;
    CHECK(r[0] == a);
    CHECK(r[1] == a * 3);
    CHECK(r[2] == a * 3 - in[t]);
    CHECK(r[3] == (t % 3 != 0 ? in[t] : 0u));
    CHECK(r[4] == (in[next] ^ next));
    CHECK(r[5] == 1);
    CHECK(r[6] == 2 * t + 100);
    CHECK(r[7] == 8 * t);
  }
}

// ---------------------------------------------------------------- integers
namespace {

constexpr int kIntegers = 28;
struct Pair {
  std::uint32_t a, b;
};

__global__ void integers(std::uint32_t* out, const Pair* in) {
  const Pair w = in[threadIdx.x];
  std::uint32_t* r = out + threadIdx.x * kIntegers;
  const std::uint64_t wide = std::uint64_t(w.b) << 32 | w.a;
  std::uint64_t y;
  std::uint16_t h;
  int i = 0;
#define OF_TWO(name, a, b)                                \
  asm(name " %0, %1, %2;" : "=r"(r[i]) : "r"(a), "r"(b)); \
  ++i
  OF_TWO("mul.hi.u32", w.a, w.b);
  OF_TWO("mul.hi.s32", w.a, w.b);
  OF_TWO("div.u32", w.a, w.b | 1);
  OF_TWO("div.s32", w.a, w.b | 3);
  OF_TWO("rem.u32", w.a, w.b | 1);
  OF_TWO("rem.s32", w.a, w.b | 3);
  OF_TWO("min.s32", w.a, w.b);
  OF_TWO("max.u32", w.a, w.b);
  OF_TWO("and.b32", w.a, w.b);
  OF_TWO("or.b32", w.a, w.b);
  OF_TWO("xor.b32", w.a, w.b);
  OF_TWO("shl.b32", w.a, w.b);
  OF_TWO("shr.u32", w.a, w.b);
  OF_TWO("shr.s32", w.a, w.b);
#undef OF_TWO
  asm("not.b32 %0, %1;" : "=r"(r[i]) : "r"(w.a));
  ++i;
  asm("neg.s32 %0, %1;" : "=r"(r[i]) : "r"(w.a));
  ++i;
  asm("abs.s32 %0, %1;" : "=r"(r[i]) : "r"(w.a));
  ++i;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(y) : "r"(w.a), "r"(w.b));
  r[i++] = std::uint32_t(y), r[i++] = std::uint32_t(y >> 32);
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(y) : "r"(w.a), "r"(w.b), "l"(wide));
  r[i++] = std::uint32_t(y), r[i++] = std::uint32_t(y >> 32);
  asm("{ .reg .pred p, q; setp.lt.s32 p|q, %1, %2; selp.b32 %0, 1, 2, p; @q add.u32 %0, %0, 8; }"
      : "=r"(r[i])
      : "r"(w.a), "r"(w.b));
  ++i;
  asm("{ .reg .pred p, q; setp.hi.u32 p, %1, %2; setp.ne.and.b32 q, %1, 0, !p; selp.u32 %0, 5, 6, q; }"
      : "=r"(r[i])
      : "r"(w.a), "r"(w.b));
  ++i;
  asm("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; mov.b64 %0, {hi, lo}; }" : "=l"(y) : "l"(wide));
  r[i++] = std::uint32_t(y), r[i++] = std::uint32_t(y >> 32);
  asm("{ .reg .u16 x; cvt.u16.u32 x, %1; add.u16 %0, x, 3; }" : "=h"(h) : "r"(w.a));
  r[i++] = h;
  asm("cvt.s32.s8 %0, %1;" : "=r"(r[i]) : "r"(w.a));
  ++i;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r[i]) : "r"(w.a), "r"(w.b), "r"(9));
  ++i;
}

std::vector<std::uint32_t> wanted(const Pair& w) {
  const std::uint64_t wide = std::uint64_t(w.b) << 32 | w.a;
  const auto a = static_cast<std::int32_t>(w.a), b = static_cast<std::int32_t>(w.b);
  const std::int64_t d = static_cast<std::int32_t>(w.b | 3);
  const std::int64_t product = std::int64_t(a) * b;
  const std::uint64_t unsigned_product = std::uint64_t(w.a) * w.b, sum = unsigned_product + wide;
  std::vector<std::uint32_t> r;
  const auto add = [&](auto x) { r.push_back(static_cast<std::uint32_t>(x)); };
  add(unsigned_product >> 32), add(product >> 32);
  add(w.a / (w.b | 1)), add(a / d), add(w.a % (w.b | 1)), add(a % d);
  add(std::min(a, b)), add(std::max(w.a, w.b)), add(w.a & w.b), add(w.a | w.b), add(w.a ^ w.b);
  add(w.b > 31 ? 0 : w.a << w.b), add(w.b > 31 ? 0 : w.a >> w.b), add(a >> (w.b > 31 ? 31 : w.b));
  add(~w.a), add(0u - w.a), add(a < 0 ? 0u - w.a : w.a);
  add(product), add(product >> 32), add(sum), add(sum >> 32);
  add(a < b ? 1 : 10), add(w.a != 0 && !(w.a > w.b) ? 5 : 6);
  add(w.b), add(w.a), add((w.a + 3) & 0xffff), add(static_cast<std::int8_t>(w.a));
  int dot = 9;
  for (int k = 0; k < 4; ++k) dot += static_cast<std::int8_t>(w.a >> 8 * k) * static_cast<std::int8_t>(w.b >> 8 * k);
  add(dot);
  return r;
}

}  // namespace

TEST_CASE("PTX: integers, predicates and conversions between integers", "[ptx]") {
  std::vector<Pair> all;
  for (const std::uint32_t a : {0u, 1u, 7u, 0x80000000u, ~0u, 0x7fffffffu, 0xdeadbeefu, 0x00f0a050u, 0x8180807fu})
    for (const std::uint32_t b : {0u, 1u, 3u, 31u, 32u, 33u, 256u, 0x80000000u, ~0u, 0x12345678u})
      all.push_back({a, b});
  const DeviceBuffer<Pair> in(all);
  const std::vector<std::uint32_t> got =
      on_device<std::uint32_t>(1, static_cast<unsigned>(all.size()), all.size() * kIntegers, integers, in.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::uint32_t> want = wanted(all[i]);
    REQUIRE(want.size() == kIntegers);
    for (std::size_t k = 0; k < want.size(); ++k) {
      INFO(std::hex << all[i].a << " " << all[i].b << std::dec << ", result " << k);
      CHECK(got[i * kIntegers + k] == want[k]);
    }
  }
}

// ---------------------------------------------------------------- floating point
namespace {

constexpr int kFloats = 25;
struct Numbers {
  float a, b, c;
};

__global__ void floats(std::uint32_t* out, const Numbers* in) {
  const Numbers w = in[threadIdx.x];
  std::uint32_t* r = out + threadIdx.x * kFloats;
  int i = 0;
  float x;
#define OF_TWO(name)                                       \
  asm(name " %0, %1, %2;" : "=f"(x) : "f"(w.a), "f"(w.b)); \
  r[i++] = __float_as_uint(x)
  OF_TWO("add.rn.f32");
  OF_TWO("sub.f32");
  OF_TWO("mul.rn.f32");
  OF_TWO("div.rn.f32");
  OF_TWO("min.f32");
  OF_TWO("max.f32");
  OF_TWO("mul.rn.ftz.f32");
  OF_TWO("add.ftz.f32");
#undef OF_TWO
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(w.a), "f"(w.b), "f"(w.c));
  r[i++] = __float_as_uint(x);
  asm("sqrt.rn.f32 %0, %1;" : "=f"(x) : "f"(w.a));
  r[i++] = __float_as_uint(x);
  asm("rcp.rn.f32 %0, %1;" : "=f"(x) : "f"(w.a));
  r[i++] = __float_as_uint(x);
  asm("neg.f32 %0, %1;" : "=f"(x) : "f"(w.a));
  r[i++] = __float_as_uint(x);
  asm("mul.f32 %0, %1, 0f40200000;" : "=f"(x) : "f"(w.a));
  r[i++] = __float_as_uint(x);
  // Comparisons, of NaN, too.
  const auto compares = [&](auto what) { r[i++] = what(w.a, w.b); };
#define COMPARISON(name)                                                                                     \
  compares([](float a, float b) {                                                                            \
    std::uint32_t is;                                                                                        \
    asm("{ .reg .pred p; setp." name ".f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "f"(a), "f"(b)); \
    return is;                                                                                               \
  })
  COMPARISON("lt");
  COMPARISON("ne");
  COMPARISON("neu");
  COMPARISON("geu");
  COMPARISON("num");
#undef COMPARISON
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r[i]) : "f"(w.a));
  ++i;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r[i]) : "f"(w.a));
  ++i;
  asm("cvt.rpi.u32.f32 %0, %1;" : "=r"(r[i]) : "f"(w.a));
  ++i;
  asm("cvt.rmi.f32.f32 %0, %1;" : "=f"(x) : "f"(w.a));
  r[i++] = __float_as_uint(x);
  asm("{ .reg .s32 n; cvt.rmi.s32.f32 n, %1; cvt.rn.f32.s32 %0, n; }" : "=f"(x) : "f"(w.c));
  r[i++] = __float_as_uint(x);
  double y;
  asm("{ .reg .f64 d; cvt.f64.f32 d, %1; fma.rn.f64 %0, d, d, 0d3FF0000000000000; }" : "=d"(y) : "f"(w.b));
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(y));
  r[i++] = std::uint32_t(bits), r[i++] = std::uint32_t(bits >> 32);
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

template <class T>
T as_integer(double x) {
  if (std::isnan(x)) return 0;
  return static_cast<T>(std::clamp(x, double(std::numeric_limits<T>::min()), double(std::numeric_limits<T>::max())));
}

std::vector<std::uint32_t> wanted(const Numbers& w) {
  std::vector<std::uint32_t> r;
  const auto add = [&](float x) { r.push_back(bits_of(x)); };
  const auto [a, b, c] = w;
  const bool less = a<b, greater = a> b, unordered = std::isnan(a) || std::isnan(b);
  add(a + b), add(a - b), add(a * b), add(a / b), add(std::fmin(a, b)), add(std::fmax(a, b));
  add(flushed(flushed(a) * flushed(b))), add(flushed(flushed(a) + flushed(b)));
  add(std::fma(a, b, c)), add(std::sqrt(a)), add(1.0f / a), add(-a), add(a * 2.5f);
  for (const bool is : {less, less || greater, !(a == b), !less, !unordered}) r.push_back(is);
  r.push_back(static_cast<std::uint32_t>(as_integer<std::int32_t>(std::trunc(a))));
  r.push_back(static_cast<std::uint32_t>(as_integer<std::int32_t>(std::nearbyint(a))));
  r.push_back(as_integer<std::uint32_t>(std::ceil(a)));
  add(std::floor(a)), add(static_cast<float>(as_integer<std::int32_t>(std::floor(c))));
  const auto bits = std::bit_cast<std::uint64_t>(std::fma(double(b), double(b), 1.0));
  r.push_back(static_cast<std::uint32_t>(bits)), r.push_back(static_cast<std::uint32_t>(bits >> 32));
  return r;
}

bool is_nan(std::uint32_t bits) { return std::isnan(std::bit_cast<float>(bits)); }

}  // namespace

TEST_CASE("PTX: floating point, its comparisons and conversions", "[ptx]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<Numbers> all;
  for (const float a : {0.0f, 1.0f, -2.5f, 3.5f, 1e-39f, 3e9f, -1e10f, inf, nan, 0.3f})
    for (const float b : {1.0f, -0.7f, 1e-40f, 1e20f, nan, 3.5f}) all.push_back({a, b, a == 0 ? 7.25f : -a});
  const DeviceBuffer<Numbers> in(all);
  const std::vector<std::uint32_t> got =
      on_device<std::uint32_t>(1, static_cast<unsigned>(all.size()), all.size() * kFloats, floats, in.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::uint32_t> want = wanted(all[i]);
    REQUIRE(want.size() == kFloats);
    for (std::size_t k = 0; k < want.size(); ++k) {
      INFO(all[i].a << " " << all[i].b << ", result " << k);
      const bool both_nan = k < 23 && is_nan(want[k]) && is_nan(got[i * kFloats + k]);  // GPUs have one NaN
      const bool wide_nan = k >= 23 && std::isnan(all[i].b);
      CHECK((got[i * kFloats + k] == want[k] || both_nan || wide_nan));
    }
  }
}

// ---------------------------------------------------------------- lanes
namespace {

constexpr int kLanes = 9;
__global__ void lanes(std::uint32_t* out) {
  const unsigned t = threadIdx.x;
  std::uint32_t* r = out + t * kLanes;
#define SHUFFLE(how, b, c, at)                                                                                         \
  asm volatile("{ .reg .pred p; shfl.sync." how ".b32 %0|p, %1, " b ", " c ", 0xffffffff; @!p add.u32 %0, %0, 1000; }" \
               : "=r"(r[at])                                                                                           \
               : "r"(t * 10))
  SHUFFLE("idx", "5", "31", 0);
  SHUFFLE("idx", "9", "0x181f", 1);  // parts of 8 lanes
  SHUFFLE("up", "3", "0", 2);
  SHUFFLE("up", "3", "0x1800", 3);
  SHUFFLE("down", "2", "31", 4);
  SHUFFLE("bfly", "1", "0x1f", 5);
#undef SHUFFLE
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 7; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(r[6]) : "r"(t));
  asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 7; vote.sync.any.pred q, p, -1; selp.b32 %0, 1, 0, q; }"
               : "=r"(r[7])
               : "r"(t));
  asm volatile("bar.warp.sync 0xffffffff; activemask.b32 %0;" : "=r"(r[8]));
}

}  // namespace

TEST_CASE("PTX: shuffles and votes, with parts of a warp and predicates", "[ptx]") {
  const std::vector<std::uint32_t> got = on_device<std::uint32_t>(1, 32, 32 * kLanes, lanes);
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::uint32_t* r = got.data() + t * kLanes;
    INFO("lane " << t);
    CHECK(r[0] == 50);
    CHECK(r[1] == (t / 8 * 8 + 1) * 10);
    CHECK(r[2] == (t < 3 ? t * 10 + 1000 : (t - 3) * 10));
    CHECK(r[3] == (t % 8 < 3 ? t * 10 + 1000 : (t - 3) * 10));
    CHECK(r[4] == (t > 29 ? t * 10 + 1000 : (t + 2) * 10));
    CHECK(r[5] == (t ^ 1) * 10);
    CHECK(r[6] == 0x7f);
    CHECK(r[7] == 1);
    CHECK(r[8] == ~0u);
  }
}
