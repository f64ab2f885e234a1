// Integer intrinsics against naive loops; min and max; rounding, conversions and the mathematical functions.
#include <cuda_runtime.h>

#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace {

using u32 = unsigned int;
using u64 = unsigned long long;

// Words with edges first, then noise.
std::vector<u32> words() {
  std::vector<u32> all = {0u,          1u,          2u,          3u,          0x7fu,       0x80u,       0xffu,
                          0x7fffu,     0x8000u,     0xffffu,     0x7fffffffu, 0x80000000u, 0x80000001u, 0xfffffffeu,
                          0xffffffffu, 0x80808080u, 0x7f7f7f7fu, 0x80008000u, 0x12345678u};
  u32 state = 12345u;
  while (all.size() < 60) {
    state = state * 1664525u + 1013904223u;
    all.push_back(state ^ state >> 15);
  }
  return all;
}

constexpr int kCount = 60;

}  // namespace

// ---------------------------------------------------------------- one argument
namespace {

constexpr int kUnary = 10;

__global__ void unary(u64* out, const u32* x) {
  const int i = threadIdx.x;
  const u32 a = x[i];
  const u64 wide = static_cast<u64>(a) << 32 | x[(i + 7) % kCount];
  u64* row = out + kUnary * i;
  row[0] = __popc(a);
  row[1] = __popcll(wide);
  row[2] = __clz(static_cast<int>(a));
  row[3] = __clzll(static_cast<long long>(wide));
  row[4] = __ffs(static_cast<int>(a));
  row[5] = __ffsll(static_cast<long long>(wide));
  row[6] = __brev(a);
  row[7] = __brevll(wide);
  row[8] = __ffsll(static_cast<long long>(static_cast<u64>(a) << 32));
  row[9] = __clzll(static_cast<long long>(a));
}

int count_bits(u64 x) {
  int n = 0;
  for (int b = 0; b < 64; ++b) n += static_cast<int>(x >> b & 1);
  return n;
}
int leading_zeros(u64 x, int bits) {
  int n = 0;
  while (n < bits && !(x >> (bits - 1 - n) & 1)) ++n;
  return n;
}
int first_set(u64 x) {
  for (int b = 0; b < 64; ++b) {
    if (x >> b & 1) return b + 1;
  }
  return 0;
}
u64 reversed(u64 x, int bits) {
  u64 r = 0;
  for (int b = 0; b < bits; ++b) r |= (x >> b & 1) << (bits - 1 - b);
  return r;
}

}  // namespace

TEST_CASE("bits are counted, found and reversed") {
  const auto x = words();
  tilewise::DeviceBuffer<u32> device_x(x);
  const auto out = on_device<u64>(1, kCount, kUnary * kCount, unary, static_cast<const u32*>(device_x.data()));
  for (int i = 0; i < kCount; ++i) {
    const u32 a = x[i];
    const u64 wide = static_cast<u64>(a) << 32 | x[(i + 7) % kCount];
    const u64* row = &out[kUnary * i];
    INFO("word " << a << " and " << wide);
    REQUIRE(row[0] == u64(count_bits(a)));
    REQUIRE(row[1] == u64(count_bits(wide)));
    REQUIRE(row[2] == u64(leading_zeros(a, 32)));
    REQUIRE(row[3] == u64(leading_zeros(wide, 64)));
    REQUIRE(row[4] == u64(first_set(a)));
    REQUIRE(row[5] == u64(first_set(wide)));
    REQUIRE(row[6] == reversed(a, 32));
    REQUIRE(row[7] == reversed(wide, 64));
    REQUIRE(row[8] == u64(first_set(static_cast<u64>(a) << 32)));
    REQUIRE(row[9] == u64(leading_zeros(a, 64)));
  }
}

// ---------------------------------------------------------------- two arguments
namespace {

constexpr int kBinary = 46;

// One row of results for every pair of words.
__global__ void binary(u64* out, const u32* x) {
  const int i = blockIdx.x, j = threadIdx.x;
  const u32 a = x[i], b = x[j];
  const int sa = static_cast<int>(a), sb = static_cast<int>(b);
  const u64 wa = static_cast<u64>(a) << 32 | b, wb = static_cast<u64>(b) << 32 | ~a;
  u64* row = out + kBinary * (i * kCount + j);
  row[0] = static_cast<u32>(__mulhi(sa, sb));
  row[1] = __umulhi(a, b);
  row[2] = static_cast<u64>(__mul64hi(static_cast<long long>(wa), static_cast<long long>(wb)));
  row[3] = __umul64hi(wa, wb);
  row[4] = static_cast<u32>(__mul24(sa, sb));
  row[5] = __umul24(a, b);
  row[6] = __sad(sa, sb, 5u);
  row[7] = __usad(a, b, 5u);
  row[8] = static_cast<u32>(__hadd(sa, sb));
  row[9] = static_cast<u32>(__rhadd(sa, sb));
  row[10] = __uhadd(a, b);
  row[11] = __urhadd(a, b);
  row[12] = __byte_perm(a, b, a >> 8 & 0x7777u);
  row[13] = __funnelshift_l(a, b, a & 63u);
  row[14] = __funnelshift_r(a, b, a & 63u);
  row[15] = __funnelshift_lc(a, b, a & 63u);
  row[16] = __funnelshift_rc(a, b, a & 63u);
  row[17] = static_cast<u32>(__dp4a(sa, sb, 1000));
  row[18] = __dp4a(a, b, 1000u);
  row[19] = static_cast<u32>(__dp2a_lo(sa, sb, -9));
  row[20] = static_cast<u32>(__dp2a_hi(sa, sb, -9));
  row[21] = __dp2a_lo(a, b, 9u);
  row[22] = __dp2a_hi(a, b, 9u);
  row[23] = __vadd4(a, b);
  row[24] = __vadd2(a, b);
  row[25] = __vsub4(a, b);
  row[26] = __vsub2(a, b);
  row[27] = __vaddss4(a, b);
  row[28] = __vaddus4(a, b);
  row[29] = __vsubss2(a, b);
  row[30] = __vsubus2(a, b);
  row[31] = __vabsdiffu4(a, b);
  row[32] = __vabsdiffs2(a, b);
  row[33] = __vavgu4(a, b);
  row[34] = __vmaxs4(a, b);
  row[35] = __vminu2(a, b);
  row[36] = __vcmpeq4(a, b);
  row[37] = __vcmpgts2(a, b);
  row[38] = __vcmpltu4(a, b);
  row[39] = __vsetges4(a, b);
  row[40] = __vsadu4(a, b);
  row[41] = __vabs4(a);
  row[42] = __vneg2(a);
  row[43] = __vhaddu4(a, b);
  row[44] = __vavgs4(a, b);
  row[45] = __vabsss4(a);
}

template <class Lane>
struct Lanes {
  static constexpr int bits = 8 * sizeof(Lane), count = 32 / bits;
  template <class Op>
  static u32 map(u32 a, u32 b, Op op) {
    u32 result = 0;
    for (int lane = 0; lane < count; ++lane) {
      const long x = static_cast<Lane>(a >> (bits * lane)), y = static_cast<Lane>(b >> (bits * lane));
      result |= (static_cast<u32>(op(x, y)) & ((1u << bits) - 1u)) << (bits * lane);
    }
    return result;
  }
  static long clamp(long v) {
    const long low = std::numeric_limits<Lane>::min(), high = std::numeric_limits<Lane>::max();
    return v < low ? low : v > high ? high : v;
  }
};
using U8 = Lanes<unsigned char>;
using S8 = Lanes<signed char>;
using U16 = Lanes<unsigned short>;
using S16 = Lanes<short>;

// The high 64 bits of a product, by schoolbook multiplication of 32-bit digits.
u64 high_product(u64 a, u64 b) {
  const u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

}  // namespace

TEST_CASE("integer intrinsics of two arguments") {
  const auto x = words();
  tilewise::DeviceBuffer<u32> device_x(x);
  const auto out =
      on_device<u64>(kCount, kCount, kBinary * kCount * kCount, binary, static_cast<const u32*>(device_x.data()));
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kCount; ++j) {
      const u32 a = x[i], b = x[j];
      const long long sa = static_cast<int>(a), sb = static_cast<int>(b);
      const u64 wa = static_cast<u64>(a) << 32 | b, wb = static_cast<u64>(b) << 32 | static_cast<u32>(~a);
      u64 expected[kBinary];
      expected[0] = static_cast<u32>(sa * sb >> 32);
      expected[1] = static_cast<u64>(a) * b >> 32;
      // Signed from unsigned: each negative factor took away the other one, 64 bits up.
      expected[2] = high_product(wa, wb) - (wa >> 63 ? wb : 0) - (wb >> 63 ? wa : 0);
      expected[3] = high_product(wa, wb);
      const auto low24 = [](u32 v) {
        return static_cast<long long>(v & 0xffffffu) - ((v & 0x800000u) ? 0x1000000 : 0);
      };
      expected[4] = static_cast<u32>(low24(a) * low24(b));
      expected[5] = static_cast<u32>(static_cast<u64>(a & 0xffffffu) * (b & 0xffffffu));
      expected[6] = static_cast<u32>((sa > sb ? sa - sb : sb - sa) + 5);
      expected[7] = static_cast<u32>((a > b ? a - b : b - a) + 5u);
      const auto floor_half = [](long long v) { return v >= 0 ? v / 2 : -((1 - v) / 2); };
      expected[8] = static_cast<u32>(floor_half(sa + sb));
      expected[9] = static_cast<u32>(floor_half(sa + sb + 1));
      expected[10] = (static_cast<u64>(a) + b) / 2;
      expected[11] = (static_cast<u64>(a) + b + 1) / 2;
      u32 permuted = 0;
      for (int byte = 0; byte < 4; ++byte) {
        const u32 index = (a >> 8 & 0x7777u) >> (4 * byte) & 7u;
        permuted |= ((index < 4 ? a >> (8 * index) : b >> (8 * (index - 4))) & 0xffu) << (8 * byte);
      }
      expected[12] = permuted;
      const u64 both = static_cast<u64>(b) << 32 | a;  // b is the high word
      const u32 shift = a & 63u;
      expected[13] = static_cast<u32>(both << (shift % 32) >> 32);
      expected[14] = static_cast<u32>(both >> (shift % 32));
      expected[15] = shift >= 32 ? a : static_cast<u32>(both << shift >> 32);
      expected[16] = shift >= 32 ? b : static_cast<u32>(both >> shift);
      long long dot_s = 1000, dot_u = 1000, lo_s = -9, hi_s = -9, lo_u = 9, hi_u = 9;
      for (int k = 0; k < 4; ++k) {
        dot_s += static_cast<signed char>(a >> (8 * k)) * static_cast<signed char>(b >> (8 * k));
        dot_u += static_cast<long long>(a >> (8 * k) & 255u) * (b >> (8 * k) & 255u);
      }
      for (int k = 0; k < 2; ++k) {
        lo_s += static_cast<short>(a >> (16 * k)) * static_cast<signed char>(b >> (8 * k));
        hi_s += static_cast<short>(a >> (16 * k)) * static_cast<signed char>(b >> (8 * k + 16));
        lo_u += static_cast<long long>(a >> (16 * k) & 0xffffu) * (b >> (8 * k) & 255u);
        hi_u += static_cast<long long>(a >> (16 * k) & 0xffffu) * (b >> (8 * k + 16) & 255u);
      }
      expected[17] = static_cast<u32>(dot_s);
      expected[18] = static_cast<u32>(dot_u);
      expected[19] = static_cast<u32>(lo_s);
      expected[20] = static_cast<u32>(hi_s);
      expected[21] = static_cast<u32>(lo_u);
      expected[22] = static_cast<u32>(hi_u);
      const auto add = [](long p, long q) { return p + q; };
      const auto subtract = [](long p, long q) { return p - q; };
      const auto distance = [](long p, long q) { return p > q ? p - q : q - p; };
      expected[23] = U8::map(a, b, add);
      expected[24] = U16::map(a, b, add);
      expected[25] = U8::map(a, b, subtract);
      expected[26] = U16::map(a, b, subtract);
      expected[27] = S8::map(a, b, [](long p, long q) { return S8::clamp(p + q); });
      expected[28] = U8::map(a, b, [](long p, long q) { return U8::clamp(p + q); });
      expected[29] = S16::map(a, b, [](long p, long q) { return S16::clamp(p - q); });
      expected[30] = U16::map(a, b, [](long p, long q) { return U16::clamp(p - q); });
      expected[31] = U8::map(a, b, distance);
      expected[32] = S16::map(a, b, distance);
      expected[33] = U8::map(a, b, [](long p, long q) { return (p + q + 1) / 2; });
      expected[34] = S8::map(a, b, [](long p, long q) { return p > q ? p : q; });
      expected[35] = U16::map(a, b, [](long p, long q) { return p < q ? p : q; });
      expected[36] = U8::map(a, b, [](long p, long q) { return p == q ? 0xff : 0; });
      expected[37] = S16::map(a, b, [](long p, long q) { return p > q ? 0xffff : 0; });
      expected[38] = U8::map(a, b, [](long p, long q) { return p < q ? 0xff : 0; });
      expected[39] = S8::map(a, b, [](long p, long q) { return p >= q ? 1 : 0; });
      u32 sum = 0;
      for (int k = 0; k < 4; ++k) sum += U8::map(a, b, distance) >> (8 * k) & 255u;
      expected[40] = sum;
      expected[41] = S8::map(a, b, [](long p, long) { return p < 0 ? -p : p; });
      expected[42] = S16::map(a, b, [](long p, long) { return -p; });
      expected[43] = U8::map(a, b, [](long p, long q) { return (p + q) / 2; });
      // A half is rounded away from zero.
      expected[44] = S8::map(a, b, [](long p, long q) { return p + q >= 0 ? (p + q + 1) / 2 : -((1 - p - q) / 2); });
      expected[45] = S8::map(a, b, [](long p, long) { return S8::clamp(p < 0 ? -p : p); });
      for (int k = 0; k < kBinary; ++k) {
        if (out[kBinary * (i * kCount + j) + k] == expected[k]) continue;
        INFO("function " << k << " of " << a << " and " << b);
        REQUIRE(out[kBinary * (i * kCount + j) + k] == expected[k]);
      }
    }
  }
}

// ---------------------------------------------------------------- min and max
namespace {

using namespace std;  // as many programs do: CUDA's overloads must stay usable

__global__ void extremes(double* out, int i, unsigned u, long long ll, unsigned long long ull, float f, double d) {
  out[0] = min(i, 3);
  out[1] = max(i, 3);
  out[2] = min(u, 7u);
  out[3] = static_cast<double>(max(i, u));  // -5 as unsigned
  out[4] = static_cast<double>(min(ll, 2ll));
  out[5] = static_cast<double>(max(ull, 2ull));
  out[6] = min(f, 1.0f);
  out[7] = max(f, d);
  out[8] = min(d, f);
  out[9] = fminf(f, nanf(""));
  out[10] = max(f, __int_as_float(0x7fffffff));  // a NaN is ignored
  out[11] = static_cast<double>(min(sizeof(int), static_cast<size_t>(9)));
  out[12] = abs(i) + fabsf(f) + fabs(d);
}

}  // namespace

TEST_CASE("min and max take CUDA's mixtures of types") {
  const auto out = on_device<double>(1, 1, 13, extremes, -5, 9u, -1ll, 1ull << 40, 2.5f, -1.25);
  const std::vector<double> expected = {-5,  3,   7, 4294967291.0, -1, double(1ull << 40), 1.0, 2.5, -1.25,
                                        2.5, 2.5, 4, 8.75};
  REQUIRE(out == expected);
}

// ---------------------------------------------------------------- arithmetic with a given rounding
namespace {

constexpr int kRounded = 24;

__global__ void rounded(double* out, const double* x, int n) {
  const int i = blockIdx.x, j = threadIdx.x;
  const float a = static_cast<float>(x[i]), b = static_cast<float>(x[j]), c = static_cast<float>(x[(i + j) % n]);
  double* row = out + kRounded * (i * n + j);
  row[0] = __fadd_rn(a, b), row[1] = __fadd_rz(a, b), row[2] = __fadd_ru(a, b), row[3] = __fadd_rd(a, b);
  row[4] = __fmul_rn(a, b), row[5] = __fmul_rz(a, b), row[6] = __fmul_ru(a, b), row[7] = __fmul_rd(a, b);
  row[8] = __fdiv_rn(a, b), row[9] = __fdiv_rz(a, b), row[10] = __fdiv_ru(a, b), row[11] = __fdiv_rd(a, b);
  row[12] = __fmaf_rn(a, b, c), row[13] = __fmaf_rz(a, b, c), row[14] = __fmaf_ru(a, b, c),
  row[15] = __fmaf_rd(a, b, c);
  row[16] = __dadd_rn(x[i], x[j]), row[17] = __dadd_ru(x[i], x[j]);
  row[18] = __dmul_rz(x[i], x[j]), row[19] = __fma_rd(x[i], x[j], x[(i + j) % n]);
  row[20] = __fsqrt_ru(fabsf(a)), row[21] = __frcp_rd(a), row[22] = __fsub_rn(a, b), row[23] = fmaf(a, b, c);
}

// The operation with the host's processor set to a rounding mode; volatile keeps the compiler from interfering.
template <class T, class Operation>
double with_mode(int mode, Operation operation) {
  std::fesetround(mode);
  volatile T result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

}  // namespace

TEST_CASE("arithmetic rounds in the direction asked for") {
  const std::vector<double> x = {1.0,   3.0,        -7.0,          0.1,        -1.0 / 3, 1e10,
                                 1e-10, 16777217.0, 1.0 + 0x1p-23, 123456.789, -0.7};
  const int n = static_cast<int>(x.size());
  tilewise::DeviceBuffer<double> device_x(x);
  const auto out = on_device<double>(n, n, kRounded * n * n, rounded, static_cast<const double*>(device_x.data()), n);
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      volatile float a = static_cast<float>(x[i]), b = static_cast<float>(x[j]), c = static_cast<float>(x[(i + j) % n]);
      volatile double da = x[i], db = x[j], dc = x[(i + j) % n];
      const double* row = &out[kRounded * (i * n + j)];
      INFO(x[i] << " and " << x[j]);
      for (int m = 0; m < 4; ++m) {
        REQUIRE(row[m] == with_mode<float>(modes[m], [&] { return a + b; }));
        REQUIRE(row[4 + m] == with_mode<float>(modes[m], [&] { return a * b; }));
        REQUIRE(row[8 + m] == with_mode<float>(modes[m], [&] { return a / b; }));
        REQUIRE(row[12 + m] == with_mode<float>(modes[m], [&] { return std::fma(float(a), float(b), float(c)); }));
      }
      REQUIRE(row[16] == with_mode<double>(FE_TONEAREST, [&] { return da + db; }));
      REQUIRE(row[17] == with_mode<double>(FE_UPWARD, [&] { return da + db; }));
      REQUIRE(row[18] == with_mode<double>(FE_TOWARDZERO, [&] { return da * db; }));
      REQUIRE(row[19] == with_mode<double>(FE_DOWNWARD, [&] { return std::fma(double(da), double(db), double(dc)); }));
      REQUIRE(row[20] == with_mode<float>(FE_UPWARD, [&] { return std::sqrt(std::fabs(float(a))); }));
      REQUIRE(row[21] == with_mode<float>(FE_DOWNWARD, [&] { return 1.0f / a; }));
      REQUIRE(row[22] == with_mode<float>(FE_TONEAREST, [&] { return a - b; }));
      REQUIRE(row[23] == row[12]);
    }
  }
}

namespace {

__global__ void fused(float* out, float a, float b, float c) {
  out[0] = fmaf(a, b, c);
  out[1] = __fadd_rn(__fmul_rn(a, b), c);
}

}  // namespace

TEST_CASE("fmaf rounds once, a multiplication and an addition twice") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost when the product is rounded.
  const auto out = on_device<float>(1, 1, 2, fused, 1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f - 0x1p-11f);
  REQUIRE(out[0] == 0x1p-24f);
  REQUIRE(out[1] == 0.0f);
}

// ---------------------------------------------------------------- conversions
namespace {

constexpr int kConversions = 14;

__global__ void conversions(long long* out, const double* x) {
  const int i = threadIdx.x;
  const double d = x[i];
  const float f = static_cast<float>(d);
  long long* row = out + kConversions * i;
  row[0] = __float2int_rn(f), row[1] = __float2int_rz(f), row[2] = __float2int_ru(f), row[3] = __float2int_rd(f);
  row[4] = __float2uint_rn(f), row[5] = __float2uint_rz(f);
  row[6] = __double2int_rn(d), row[7] = __double2int_rd(d), row[8] = __double2uint_ru(d);
  row[9] = __float2ll_rn(f), row[10] = __double2ll_rz(d);
  row[11] = __float_as_int(f), row[12] = __double_as_longlong(d);
  row[13] = __double_as_longlong(__hiloint2double(__double2hiint(d), __double2loint(d)));
}

__global__ void from_integers(double* out, int i, unsigned u, long long ll) {
  out[0] = __int2float_rn(i), out[1] = __int2float_rz(i), out[2] = __int2float_ru(i), out[3] = __int2float_rd(i);
  out[4] = __uint2float_rn(u), out[5] = __uint2float_rd(u);
  out[6] = __ll2float_rn(ll), out[7] = __ll2double_rz(ll), out[8] = __int2double_rn(i), out[9] = __uint2double_rn(u);
  out[10] = __double2float_rn(0.1), out[11] = __double2float_ru(0.1), out[12] = __double2float_rd(0.1);
  out[13] = __int_as_float(0x40490fdb), out[14] = __uint_as_float(0xbf800000u);
}

double to_even(double v) {
  const double below = std::floor(v), part = v - below;
  if (part != 0.5) return part < 0.5 ? below : below + 1;
  return std::fmod(below, 2.0) == 0.0 ? below : below + 1;
}
long long clamped(double whole, double low, double high) {
  return static_cast<long long>(whole < low ? low : whole > high ? high : whole);
}

}  // namespace

TEST_CASE("conversions to integers round as asked and clamp") {
  const std::vector<double> x = {0.0,        0.5, 1.5,  2.5, -0.5, -1.5, -2.5,  0.25,  0.75,         -0.75,
                                 1e6 + 0.25, 1e9, -1e9, 3e9, -3e9, 1e12, -1e12, 4.2e9, 2147483520.0, -2147483648.0};
  const int n = static_cast<int>(x.size());
  tilewise::DeviceBuffer<double> device_x(x);
  const auto out =
      on_device<long long>(1, n, kConversions * n, conversions, static_cast<const double*>(device_x.data()));
  for (int i = 0; i < n; ++i) {
    const double d = x[i], f = static_cast<float>(d);
    const long long* row = &out[kConversions * i];
    INFO("converting " << d);
    REQUIRE(row[0] == clamped(to_even(f), INT_MIN, INT_MAX));
    REQUIRE(row[1] == clamped(std::trunc(f), INT_MIN, INT_MAX));
    REQUIRE(row[2] == clamped(std::ceil(f), INT_MIN, INT_MAX));
    REQUIRE(row[3] == clamped(std::floor(f), INT_MIN, INT_MAX));
    REQUIRE(row[4] == clamped(to_even(f), 0, UINT_MAX));
    REQUIRE(row[5] == clamped(std::trunc(f), 0, UINT_MAX));
    REQUIRE(row[6] == clamped(to_even(d), INT_MIN, INT_MAX));
    REQUIRE(row[7] == clamped(std::floor(d), INT_MIN, INT_MAX));
    REQUIRE(row[8] == clamped(std::ceil(d), 0, UINT_MAX));
    REQUIRE(row[9] == static_cast<long long>(to_even(f)));
    REQUIRE(row[10] == static_cast<long long>(std::trunc(d)));
    union {
      float value;
      int bits;
    } single = {static_cast<float>(d)};
    union {
      double value;
      long long bits;
    } wide = {d};
    REQUIRE(row[11] == single.bits);
    REQUIRE(row[12] == wide.bits);
    REQUIRE(row[13] == wide.bits);
  }
}

TEST_CASE("NaN becomes the integer that PTX names") {
  tilewise::DeviceBuffer<double> x(std::vector<double>{std::nan("")});
  const auto out = on_device<long long>(1, 1, kConversions, conversions, static_cast<const double*>(x.data()));
  REQUIRE(out[0] == 0);
  REQUIRE(out[4] == 0);
  REQUIRE(out[9] == LLONG_MIN);
  REQUIRE(out[10] == LLONG_MIN);
}

TEST_CASE("conversions from integers round as asked") {
  const auto out = on_device<double>(1, 1, 15, from_integers, 16777217, 4294967295u, (1ll << 60) + 1);
  const std::vector<double> expected = {16777216.0,
                                        16777216.0,
                                        16777218.0,
                                        16777216.0,
                                        4294967296.0,
                                        4294967040.0,
                                        0x1p60,
                                        0x1p60,
                                        16777217.0,
                                        4294967295.0,
                                        double(0.1f),
                                        double(0.1f),
                                        double(std::nextafterf(0.1f, 0.0f)),
                                        double(3.14159274f),
                                        -1.0};
  REQUIRE(out == expected);
}

// ---------------------------------------------------------------- functions
namespace {

constexpr int kFunctions = 40;

__global__ void functions(double* out, const double* x) {
  const int i = threadIdx.x;
  const double d = x[i];
  const float f = static_cast<float>(d);
  double* row = out + kFunctions * i;
  float s, c;
  double ds, dc;
  int k = 0;
  row[k++] = sqrtf(f), row[k++] = rsqrtf(f), row[k++] = rsqrt(d), row[k++] = cbrtf(f), row[k++] = rcbrt(d);
  row[k++] = expf(f), row[k++] = exp2f(f), row[k++] = exp10f(f), row[k++] = exp10(d), row[k++] = expm1(d);
  row[k++] = logf(f), row[k++] = log2f(f), row[k++] = log10(d), row[k++] = log1pf(f);
  row[k++] = sinf(f), row[k++] = cosf(f), row[k++] = tanf(f), row[k++] = atan2f(f, 2.0f), row[k++] = tanh(d);
  sincosf(f, &s, &c);
  row[k++] = s, row[k++] = c;
  sincospi(d, &ds, &dc);
  row[k++] = ds, row[k++] = dc;
  row[k++] = sinpif(f), row[k++] = cospi(d);
  row[k++] = powf(f, 1.7f), row[k++] = hypotf(f, 3.0f), row[k++] = rhypot(d, 3.0), row[k++] = norm3d(d, 2.0, 3.0);
  row[k++] = rnorm3df(f, 2.0f, 3.0f), row[k++] = norm4d(d, 1.0, 2.0, 3.0);
  row[k++] = erff(f), row[k++] = erfc(d), row[k++] = erfcx(d), row[k++] = normcdf(d);
  row[k++] = erfinv(d / 8), row[k++] = erfcinvf(f / 8), row[k++] = normcdfinv(d / 8);
  row[k++] = lgamma(d), row[k++] = j0(d);
}

std::vector<double> reference(double d) {
  const double pi = 3.14159265358979323846;
  const double f = static_cast<float>(d);
  // The inverse functions by bisection on the function itself.
  const auto inverse = [](double target, double sign, auto function) {
    double low = -30, high = 30;
    for (int step = 0; step < 200; ++step) {
      const double middle = 0.5 * (low + high);
      (sign * (function(middle) - target) < 0 ? low : high) = middle;
    }
    return 0.5 * (low + high);
  };
  const float eighth = static_cast<float>(f) / 8;
  // clang-format off
  return {std::sqrt(f), 1 / std::sqrt(f), 1 / std::sqrt(d), std::cbrt(f), 1 / std::cbrt(d),
          std::exp(f), std::exp2(f), std::pow(10.0, f), std::pow(10.0, d), std::expm1(d),
          std::log(f), std::log2(f), std::log10(d), std::log1p(f),
          std::sin(f), std::cos(f), std::tan(f), std::atan2(f, 2.0), std::tanh(d),
          std::sin(f), std::cos(f),
          std::sin(pi * d), std::cos(pi * d),
          std::sin(pi * f), std::cos(pi * d),
          std::pow(f, double(1.7f)), std::hypot(f, 3.0), 1 / std::hypot(d, 3.0), std::sqrt(d * d + 13),
          1 / std::sqrt(f * f + 13), std::sqrt(d * d + 14),
          std::erf(f), std::erfc(d), std::exp(d * d) * std::erfc(d), 0.5 * std::erfc(-d / std::sqrt(2.0)),
          inverse(d / 8, 1, [](double v) { return std::erf(v); }),
          inverse(double(eighth), -1, [](double v) { return std::erfc(v); }),
          inverse(d / 8, 1, [](double v) { return 0.5 * std::erfc(-v / std::sqrt(2.0)); }),
          std::lgamma(d), ::j0(d)};
  // clang-format on
}

}  // namespace

TEST_CASE("the mathematical functions") {
  const std::vector<double> x = {0.01, 0.125, 0.3, 0.77, 1.0, 1.25, 1.9, 2.6, 3.3, 4.75, 5.5, 7.2};
  const int n = static_cast<int>(x.size());
  tilewise::DeviceBuffer<double> device_x(x);
  const auto out = on_device<double>(1, n, kFunctions * n, functions, static_cast<const double*>(device_x.data()));
  for (int i = 0; i < n; ++i) {
    const auto expected = reference(x[i]);
    REQUIRE(expected.size() == kFunctions);
    for (int k = 0; k < kFunctions; ++k) {
      INFO("function " << k << " of " << x[i]);
      // A few units in the last place of a float, of its argument as well as of its result.
      const double bound = 2e-6 * std::fabs(expected[k]) + 2e-7;
      REQUIRE(std::fabs(out[kFunctions * i + k] - expected[k]) <= bound);
    }
  }
}

namespace {

__global__ void special(double* out) {
  double s, c;
  sincospi(0.5, &s, &c);
  out[0] = s, out[1] = c;
  out[2] = sinpi(1e15 + 1.0), out[3] = cospif(3.0f);
  out[4] = erfinv(1.0), out[5] = erfinv(-1.0), out[6] = erfcinv(2.0), out[7] = normcdfinv(0.5);
  out[8] = erfcx(1e3), out[9] = erfinv(2.0);
  out[10] = __saturatef(1.5f), out[11] = __saturatef(-2.0f), out[12] = __saturatef(0.25f),
  out[13] = __saturatef(nanf(""));
  const float v[5] = {1.0f, -2.0f, 4.0f, 2.0f, 0.0f};
  out[14] = normf(5, v), out[15] = rnormf(5, v);
}

__global__ void fast(double* out, float x) {
  float s, c;
  __sincosf(x, &s, &c);
  out[0] = __expf(x), out[1] = __exp10f(x), out[2] = __logf(x), out[3] = __log2f(x), out[4] = __log10f(x);
  out[5] = __powf(x, 1.3f), out[6] = __sinf(x), out[7] = __cosf(x), out[8] = __tanf(x), out[9] = s, out[10] = c;
  out[11] = __fdividef(x, 3.0f), out[12] = __frsqrt_rn(x), out[13] = __fsqrt_rn(x), out[14] = __frcp_rn(x);
  out[15] = __powf(-x, 2.0f);
}

}  // namespace

TEST_CASE("special values") {
  const auto out = on_device<double>(1, 1, 16, special);
  REQUIRE(out[0] == 1.0);
  REQUIRE(out[1] == 0.0);
  REQUIRE(out[2] == 0.0);
  REQUIRE(out[3] == -1.0);
  REQUIRE(out[4] == std::numeric_limits<double>::infinity());
  REQUIRE(out[5] == -std::numeric_limits<double>::infinity());
  REQUIRE(out[6] == -std::numeric_limits<double>::infinity());
  REQUIRE(std::fabs(out[7]) < 1e-15);
  REQUIRE(std::fabs(out[8] - 5.641893014533e-4) < 1e-14);
  REQUIRE(std::isnan(out[9]));
  REQUIRE(out[10] == 1.0);
  REQUIRE(out[11] == 0.0);
  REQUIRE(out[12] == 0.25);
  REQUIRE(out[13] == 0.0);
  REQUIRE(out[14] == 5.0);
  REQUIRE(out[15] == Approx(0.2));
}

TEST_CASE("the fast intrinsics are close to the functions") {
  for (float x : {0.3f, 0.9f, 1.4f, 2.2f}) {
    const auto out = on_device<double>(1, 1, 16, fast, x);
    const double d = x;
    const double expected[] = {
        std::exp(d),      std::pow(10.0, d), std::log(d), std::log2(d), std::log10(d), std::pow(d, double(1.3f)),
        std::sin(d),      std::cos(d),       std::tan(d), std::sin(d),  std::cos(d),   d / 3,
        1 / std::sqrt(d), std::sqrt(d),      1 / d};
    for (int k = 0; k < 15; ++k) {
      INFO("function " << k << " of " << x);
      REQUIRE(std::fabs(out[k] - expected[k]) <= 1e-5 * std::fabs(expected[k]) + 1e-6);
    }
    REQUIRE(std::isnan(out[15]));  // 2^(y log2 x): the logarithm of a negative number
  }
}
