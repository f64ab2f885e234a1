// Inline PTX: mma.sync, ldmatrix, cvt.rna.tf32, cp.async, integers, special registers. What they compute, on both machines, and on the simulator what is counted.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"
#include "tilewise/device_buffer.hpp"
#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAS_INSTRUCTIONS 1
#else
#define HAS_INSTRUCTIONS 0
#endif

namespace {

using tilewise::DeviceBuffer;

bool skipped() {
  if (compute_capability_major() >= 8) return false;
  WARN("this GPU lacks the instructions: nothing is checked");
  return true;
}

// ---------------------------------------------------------------- mma.sync
enum class Input { bf16, f16, f16_and_sums, tf32 };

template <Input input>
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if HAS_INSTRUCTIONS
  if constexpr (input == Input::bf16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else if constexpr (input == Input::f16)
    asm volatile(
        "{\n\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%10,%11,%12,%13};\n\t}"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]));
  else if constexpr (input == Input::f16_and_sums) {
    uint32_t sums[2];
    for (int i = 0; i < 2; ++i) {
      const __half2 two = __floats2half2_rn(d[2 * i], d[2 * i + 1]);
      memcpy(&sums[i], &two, 4);
    }
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n"
                 : "=r"(sums[0]), "=r"(sums[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(sums[0]), "r"(sums[1]));
    for (int i = 0; i < 2; ++i) {
      __half2 two;
      memcpy(&two, &sums[i], 4);
      d[2 * i] = __low2float(two);
      d[2 * i + 1] = __high2float(two);
    }
  } else
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ uint32_t pair(const uint16_t* low, int to_high) { return low[0] | uint32_t(low[to_high]) << 16; }

// D = A B + C of one warp, A and C in rows of k and 8, B in columns of k. Registers are filled as the PTX manual says.
template <Input input>
__global__ void product(float* d, const void* a, const void* b, const float* c) {
  const int group = threadIdx.x / 4, thread = threadIdx.x % 4;
  uint32_t ra[4], rb[2];
  if constexpr (input == Input::tf32) {
    const auto* a32 = static_cast<const uint32_t*>(a);
    const auto* b32 = static_cast<const uint32_t*>(b);
    for (int i = 0; i < 4; ++i) ra[i] = a32[(group + i % 2 * 8) * 8 + thread + i / 2 * 4];
    for (int i = 0; i < 2; ++i) rb[i] = b32[group * 8 + thread + i * 4];
  } else {
    const auto* a16 = static_cast<const uint16_t*>(a);
    const auto* b16 = static_cast<const uint16_t*>(b);
    for (int i = 0; i < 4; ++i) ra[i] = pair(a16 + (group + i % 2 * 8) * 16 + thread * 2 + i / 2 * 8, 1);
    for (int i = 0; i < 2; ++i) rb[i] = pair(b16 + group * 16 + thread * 2 + i * 8, 1);
  }
  float sum[4];
  for (int i = 0; i < 4; ++i) sum[i] = c[(group + i / 2 * 8) * 8 + thread * 2 + i % 2];
  multiply<input>(sum, ra, rb);
  for (int i = 0; i < 4; ++i) d[(group + i / 2 * 8) * 8 + thread * 2 + i % 2] = sum[i];
}

template <class T, Input input>
void check_product() {
  constexpr int k = input == Input::tf32 ? 8 : 16;
  const auto a_at = [](int row, int i) { return static_cast<float>((row * 5 + i * 3) % 15 - 7); };
  const auto b_at = [](int i, int column) { return static_cast<float>((i * 7 + column * 2) % 11 - 5); };
  std::vector<T> a, b;
  std::vector<float> c;
  for (int row = 0; row < 16; ++row)
    for (int i = 0; i < k; ++i) a.push_back(T(a_at(row, i)));
  for (int column = 0; column < 8; ++column)
    for (int i = 0; i < k; ++i) b.push_back(T(b_at(i, column)));
  for (int i = 0; i < 16 * 8; ++i) c.push_back(static_cast<float>(i));
  const DeviceBuffer<T> da(a), db(b);
  const DeviceBuffer<float> dc(c);
  const std::vector<float> d = on_device<float>(1, 32, c.size(), product<input>, da.data(), db.data(), dc.data());
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = c[static_cast<std::size_t>(row * 8 + column)];
      for (int i = 0; i < k; ++i) sum += a_at(row, i) * b_at(i, column);
      INFO("k " << k << ", row " << row << ", column " << column);
      REQUIRE(d[static_cast<std::size_t>(row * 8 + column)] == sum);
    }
}

}  // namespace

TEST_CASE("PTX: mma.sync multiplies what the manual says the registers hold", "[ptx]") {
  if (skipped()) return;
  check_product<__nv_bfloat16, Input::bf16>();
  check_product<__half, Input::f16>();
  check_product<__half, Input::f16_and_sums>();
  check_product<float, Input::tf32>();
}

// ---------------------------------------------------------------- ldmatrix
namespace {

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Four matrices of 8 x 8, one below the other, in rows of `row` elements: element i is i.
template <int count, bool transposed>
__global__ void load(uint32_t* out, int row) {
  extern __shared__ __align__(16) uint16_t s[];
  for (int i = threadIdx.x; i < 32 * row; i += 32) s[i] = static_cast<uint16_t>(i);
  __syncwarp();
  uint32_t r[4] = {};
  const uint32_t at = shared_address(s + threadIdx.x % (8 * count) * row);
#if HAS_INSTRUCTIONS
  if constexpr (count == 4 && transposed)
    asm volatile("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  else if constexpr (count == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  else if constexpr (count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
#endif
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = r[i];
}

template <int count, bool transposed>
void check_load(int row) {
  DeviceBuffer<uint32_t> out(32 * 4);
  out.poison();
  load<count, transposed><<<1, 32, static_cast<std::size_t>(32 * row) * 2>>>(out.data(), row);
  CUDA_CHECK_LAUNCH();
  const std::vector<uint32_t> got = out.to_host();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      const auto element = [&](unsigned r, unsigned c) { return (matrix * 8 + r) * static_cast<unsigned>(row) + c; };
      const unsigned group = lane / 4, first = lane % 4 * 2;
      const unsigned want = transposed ? element(first, group) | element(first + 1, group) << 16
                                       : element(group, first) | element(group, first + 1) << 16;
      INFO("x" << count << ", lane " << lane << ", matrix " << matrix);
      REQUIRE(got[lane * 4 + matrix] == (matrix < count ? want : 0u));
    }
}

}  // namespace

TEST_CASE("PTX: ldmatrix gives each lane two neighbours of a row, or of a column", "[ptx]") {
  if (skipped()) return;
  check_load<4, false>(24);
  check_load<4, true>(24);
  check_load<2, false>(8);
  check_load<1, true>(16);
}

// ---------------------------------------------------------------- the others
namespace {

__global__ void convert(uint32_t* out, const float* in) {
#if HAS_INSTRUCTIONS
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(in[threadIdx.x]));
  out[threadIdx.x] = bits;
#endif
}

// Two tiles are on their way while one is added up; the last two bytes' worth of each copy may be zeros.
__global__ void copies(float* out, const float* in, int tiles, int read) {
  __shared__ __align__(16) float s[3][128];
  const auto fetch = [&](int tile) {
#if HAS_INSTRUCTIONS
    const uint32_t to = shared_address(&s[tile % 3][threadIdx.x * 4]);
    const float* from = in + tile * 128 + threadIdx.x * 4;
    if (read == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from) : "memory");
    else
      asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(16), "r"(read));
    asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
  };
  fetch(0);
  fetch(1);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
#if HAS_INSTRUCTIONS
    if (tile + 1 < tiles)
      asm volatile("cp.async.wait_group %0;\n" ::"n"(1) : "memory");
    else
      asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
    for (int i = 0; i < 4; ++i) sum += s[tile % 3][i * 32 + 31 - threadIdx.x];
    if (tile + 2 < tiles) fetch(tile + 2);
  }
  out[threadIdx.x] = sum;
}

__global__ void lanes(uint32_t* out) {
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[threadIdx.x] = lane;
}

}  // namespace

TEST_CASE("PTX: cvt.rna.tf32.f32 rounds to the nearest, and ties away from zero", "[ptx]") {
  if (skipped()) return;
  const std::vector<float> in{1.0f, 1.00048828125f, -1.00048828125f, 1.0004f, 3e38f};
  const DeviceBuffer<float> values(in);
  const std::vector<uint32_t> got =
      on_device<uint32_t>(1, static_cast<unsigned>(in.size()), in.size(), convert, values.data());
  CHECK(got[0] == 0x3f800000u);
  CHECK(got[1] == 0x3f802000u);
  CHECK(got[2] == 0xbf802000u);
  CHECK(got[3] == 0x3f800000u);
  CHECK((got[4] & 0x1fffu) == 0);
}

TEST_CASE("PTX: cp.async brings what it was waited for, and zeros where it does not read", "[ptx]") {
  if (skipped()) return;
  constexpr int kTiles = 5;
  std::vector<float> in;
  for (int i = 0; i < kTiles * 128; ++i) in.push_back(static_cast<float>(i));
  const DeviceBuffer<float> values(in);
  for (const int read : {16, 8, 0}) {
    const std::vector<float> got = on_device<float>(1, 32, 32, copies, values.data(), kTiles, read);
    for (int t = 0; t < 32; ++t) {
      float sum = 0;
      for (int tile = 0; tile < kTiles; ++tile)
        for (int i = 0; i < 4; ++i) {
          const int at = i * 32 + 31 - t;
          if (at % 4 < read / 4) sum += in[static_cast<std::size_t>(tile * 128 + at)];
        }
      INFO("thread " << t << ", " << read << " bytes");
      REQUIRE(got[static_cast<std::size_t>(t)] == sum);
    }
  }
}

TEST_CASE("PTX: %laneid is the position in the warp", "[ptx]") {
  const std::vector<uint32_t> got = on_device<uint32_t>(1, 64, 64, lanes);
  for (unsigned t = 0; t < 64; ++t) REQUIRE(got[t] == t % 32);
}

// ---------------------------------------------------------------- integers
namespace {

struct Words {
  uint32_t a, b, c;
};
constexpr int kResults = 20;

__global__ void integers(uint32_t* out, const Words* in) {
  const Words w = in[threadIdx.x];
  uint32_t* r = out + threadIdx.x * kResults;
  uint32_t x;
  uint64_t wide, of = uint64_t(w.b) << 32 | w.a;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(x) : "r"(w.a), "r"(w.b), "r"(w.c));
  r[0] = x;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(x) : "r"(w.a), "r"(w.b), "r"(w.c));
  r[1] = x;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(x) : "r"(w.a), "r"(~w.a), "r"(w.b), "r"(w.c));
  r[2] = x;
  asm("bfind.u32 %0, %1;" : "=r"(x) : "r"(w.a));
  r[3] = x;
  asm("bfind.s32 %0, %1;" : "=r"(x) : "r"(w.a));
  r[4] = x;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(x) : "r"(w.a));
  r[5] = x;
  asm("popc.b32 %0, %1;" : "=r"(x) : "r"(w.a));
  r[6] = x;
  asm("clz.b64 %0, %1;" : "=r"(x) : "l"(of));
  r[7] = x;
  asm("brev.b32 %0, %1;" : "=r"(x) : "r"(w.a));
  r[8] = x;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(x) : "r"(w.a), "r"(w.b), "r"(w.c));
  r[9] = x;
  asm("vabsdiff2.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(x) : "r"(w.a), "r"(w.b), "r"(w.c));
  r[10] = x;
  asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(x) : "r"(w.a), "r"(w.b), "r"(w.c));
  r[11] = x;
  asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(x) : "r"(w.a), "r"(w.b));
  r[12] = x;
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(x) : "r"(w.a), "r"(w.b), "r"(w.c));
  r[13] = x;
  asm("{sub.u64 %0, %1, %2;}" : "=l"(wide) : "l"(of), "l"(uint64_t(w.c)));
  r[14] = uint32_t(wide);
  r[15] = uint32_t(wide >> 32);
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(wide) : "l"(of), "r"(w.c), "r"(20));
  r[16] = uint32_t(wide);
  r[17] = uint32_t(wide >> 32);
  asm("popc.b64 %0, %1;" : "=r"(x) : "l"(of));
  r[18] = x;
  asm("add.s32 %0, %1, 7;" : "=r"(x) : "r"(w.a));
  r[19] = x;
}

// As the PTX manual writes it, bit by bit.
uint64_t extracted(uint64_t a, uint32_t begin, uint32_t length, unsigned bits, bool is_signed) {
  const unsigned pos = begin & 255u, len = length & 255u, top = bits - 1;
  const bool sign = is_signed && len != 0 && (a >> std::min(pos + len - 1, top) & 1u);
  uint64_t d = 0;
  for (unsigned i = 0; i <= top; ++i)
    if (i < len && pos + i <= top ? a >> (pos + i) & 1u : sign) d |= uint64_t(1) << i;
  return d;
}
uint32_t inserted(uint32_t a, uint32_t b, uint32_t begin, uint32_t length) {
  const unsigned pos = begin & 255u, len = length & 255u;
  for (unsigned i = 0; i < len && pos + i < 32; ++i) b = (b & ~(1u << (pos + i))) | (a >> i & 1u) << (pos + i);
  return b;
}
uint32_t found(uint32_t a, bool is_signed) {
  if (is_signed && a >> 31) a = ~a;
  for (int i = 31; i >= 0; --i)
    if (a >> i & 1u) return static_cast<uint32_t>(i);
  return ~0u;
}

std::vector<uint32_t> wanted(const Words& w) {
  std::vector<uint32_t> r(kResults);
  const uint64_t of = uint64_t(w.b) << 32 | w.a;
  r[0] = static_cast<uint32_t>(extracted(w.a, w.b, w.c, 32, false));
  r[1] = static_cast<uint32_t>(extracted(w.a, w.b, w.c, 32, true));
  r[2] = inserted(w.a, ~w.a, w.b, w.c);
  r[3] = found(w.a, false);
  r[4] = found(w.a, true);
  r[5] = r[3] == ~0u ? ~0u : 31 - r[3];
  for (unsigned i = 0; i < 32; ++i) {
    r[6] += w.a >> i & 1u;
    r[8] |= (w.a >> i & 1u) << (31 - i);
    r[11] |= uint32_t((w.a >> i & 1u) + (w.b >> i & 1u) + (w.c >> i & 1u) >= 2) << i;
  }
  for (r[7] = 0; r[7] < 64 && !(of >> (63 - r[7]) & 1u);) ++r[7];
  r[9] = r[10] = w.c;
  for (int i = 0; i < 4; ++i) {
    const int difference = static_cast<int>(w.a >> 8 * i & 255u) - static_cast<int>(w.b >> 8 * i & 255u);
    r[9] += static_cast<uint32_t>(difference < 0 ? -difference : difference);
  }
  for (int i = 0; i < 2; ++i) {
    const int difference = static_cast<int16_t>(w.a >> 16 * i) - static_cast<int16_t>(w.b >> 16 * i);
    r[10] += static_cast<uint32_t>(difference < 0 ? -difference : difference);
  }
  const int bytes[] = {5, 1, 7, 3};
  for (int i = 0; i < 4; ++i) r[12] |= static_cast<uint32_t>(of >> 8 * bytes[i] & 255u) << 8 * i;
  r[13] = w.a * w.b + w.c;
  const uint64_t less = of - w.c, part = extracted(of, w.c, 20, 64, true);
  r[14] = static_cast<uint32_t>(less), r[15] = static_cast<uint32_t>(less >> 32);
  r[16] = static_cast<uint32_t>(part), r[17] = static_cast<uint32_t>(part >> 32);
  for (unsigned i = 0; i < 64; ++i) r[18] += static_cast<uint32_t>(of >> i & 1u);
  r[19] = w.a + 7;
  return r;
}

}  // namespace

TEST_CASE("PTX: integer instructions give what the manual says, at the edges, too", "[ptx]") {
  std::vector<Words> all;
  for (const uint32_t a : {0u, 1u, 0x80000000u, ~0u, 0x7fffffffu, 0xdeadbeefu, 0x00f0a050u, ~6u})
    for (const uint32_t b : {0u, 3u, 31u, 32u, 70u, 256u, 0x01020380u})
      for (const uint32_t c : {0u, 1u, 5u, 31u, 32u, 40u, 255u, 0x12345678u}) all.push_back({a, b, c});
  const DeviceBuffer<Words> in(all);
  const auto threads = static_cast<unsigned>(all.size());
  const std::vector<uint32_t> got = on_device<uint32_t>(1, threads, all.size() * kResults, integers, in.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<uint32_t> want = wanted(all[i]);
    for (std::size_t r = 0; r < kResults; ++r) {
      INFO(std::hex << all[i].a << " " << all[i].b << " " << all[i].c << ", result " << std::dec << r);
      REQUIRE(got[i * kResults + r] == want[r]);
    }
  }
}

// ---------------------------------------------------------------- special registers, loads and stores
namespace {

__global__ void registers(uint32_t* out) {
  uint32_t r[9];
  uint64_t before, after;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(before));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r[0]));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(r[1]));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(r[2]));
  asm("mov.u32 %0,%%lanemask_gt;" : "=r"(r[3]));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(r[4]));
  asm("mov.u32 %0, %%tid.x;" : "=r"(r[5]));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(r[6]));
  uint32_t sm, sms;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
  r[7] = sm < sms;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(after));
  r[8] = after >= before;
  for (int i = 0; i < 9; ++i) out[(blockIdx.x * blockDim.x + threadIdx.x) * 9 + i] = r[i];
}

__global__ void moved(float* out, const float* in) {
  float x, y, z, w;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(in + threadIdx.x * 4));
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(out + threadIdx.x * 4), "f"(w), "f"(z) : "memory");
  asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(out + threadIdx.x * 4 + 2), "f"(y) : "memory");
  asm volatile("st.global.f32 [%0], %1;" ::"l"(out + threadIdx.x * 4 + 3), "f"(x) : "memory");
}

}  // namespace

TEST_CASE("PTX: special registers name the lanes around, the thread and the block", "[ptx]") {
  const std::vector<uint32_t> got = on_device<uint32_t>(3, 64, 3 * 64 * 9, registers);
  for (unsigned t = 0; t < 3 * 64; ++t) {
    const uint32_t bit = 1u << t % 32, *r = &got[t * 9];
    INFO("thread " << t);
    CHECK(r[0] == bit - 1);
    CHECK(r[1] == bit * 2 - 1);
    CHECK(r[2] == bit);
    CHECK(r[3] == ~(bit * 2 - 1));
    CHECK(r[4] == ~(bit - 1));
    CHECK(r[5] == t % 64);
    CHECK(r[6] == t / 64);
    CHECK(r[7] == 1);
    CHECK(r[8] == 1);
  }
}

TEST_CASE("PTX: ld.global and st.global move one, two or four elements at once", "[ptx]") {
  std::vector<float> values(128);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const DeviceBuffer<float> in(values);
  const std::vector<float> got = on_device<float>(1, 32, 128, moved, in.data());
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == values[i / 4 * 4 + 3 - i % 4]);
}

// ---------------------------------------------------------------- order between threads, atomics
namespace {

// Block 0 writes and says so, the other one waits and reads; `how` chooses among instructions that order alike.
template <int how>
__global__ void handed_on(uint32_t* out, uint32_t* data, uint32_t* flag) {
#if HAS_INSTRUCTIONS
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 7 * threadIdx.x;
    __syncthreads();
    if (threadIdx.x != 0) return;
    if constexpr (how == 0) asm volatile("st.release.sys.global.u8 [%1], %0;" ::"r"(0x101), "l"(flag) : "memory");
    if constexpr (how == 1) {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    if constexpr (how == 2) asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    if constexpr (how == 3) {
      asm volatile("membar.gl;" ::: "memory");
      asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    }
    return;
  }
  if (threadIdx.x == 0) {
    uint32_t told = 0;
    while (told == 0) {
      if constexpr (how == 0) asm volatile("ld.acquire.sys.global.u8 %0, [%1];" : "=r"(told) : "l"(flag) : "memory");
      if constexpr (how == 1) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(told) : "l"(flag) : "memory");
      if constexpr (how == 2)
        asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 1, 2;" : "=r"(told) : "l"(flag) : "memory");
      if constexpr (how == 3) {
        asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(told) : "l"(flag) : "memory");
        asm volatile("fence.sc.gpu;" ::: "memory");
      }
    }
  }
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
#endif
}

template <int how>
void check_handed_on() {
  DeviceBuffer<uint32_t> data(64), flag(1);
  data.zero();
  flag.zero();
  const std::vector<uint32_t> got = on_device<uint32_t>(2, 64, 64, handed_on<how>, data.data(), flag.data());
  INFO("variant " << how);
  for (uint32_t t = 0; t < 64; ++t) REQUIRE(got[t] == 7 * t);
}

// Numbers of 8 and 16 bits in registers that are wider, in global and in shared memory.
__global__ void narrow(uint32_t* out, const uint8_t* in) {
  __shared__ uint32_t s[2];
  const uint32_t at = shared_address(s);
  uint32_t a, b, c, d, e;
  uint64_t wide;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(a) : "l"(in));
  asm volatile("ld.global.s8 %0, [%1];" : "=r"(b) : "l"(in));
  asm volatile("ld.global.s16 %0, [%1];" : "=r"(c) : "l"(in + 2));
  asm volatile("ld.s32 %0, [%1];" : "=l"(wide) : "l"(in));
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
  asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(at + 1), "r"(0x1234) : "memory");
  asm volatile("ld.volatile.shared.v2.b32 {%0, %1}, [%2];" : "=r"(d), "=r"(e) : "r"(at) : "memory");
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = uint32_t(wide >> 32);
  out[4] = d;
  out[5] = e;
}

constexpr int kAtomics = 18;

__global__ void atomics(uint32_t* out, uint32_t* words) {
  __shared__ int s;
  uint32_t x;
  uint64_t wide;
  float f;
  int at = 0;
  s = -5;
  const uint32_t shared = shared_address(&s);
  const auto give = [&](uint32_t value) { out[at++] = value; };
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(x) : "l"(words), "r"(5) : "memory");
  give(x);
  asm volatile("atom.add.s32 %0, [%1], -1;" : "=r"(x) : "l"(words) : "memory");
  give(x);
  asm volatile("atom.relaxed.sys.global.exch.b32 %0, [%1], 9;" : "=r"(x) : "l"(words) : "memory");
  give(x);
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(x) : "l"(words), "r"(9), "r"(6) : "memory");
  give(x);
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(x) : "l"(words), "r"(9), "r"(1) : "memory");
  give(x);
  asm volatile("atom.global.inc.u32 %0, [%1], 6;" : "=r"(x) : "l"(words) : "memory");
  give(x);
  asm volatile("atom.global.dec.u32 %0, [%1], 3;" : "=r"(x) : "l"(words) : "memory");
  give(x);
  asm volatile("atom.acq_rel.cta.global.and.b32 %0, [%1], 2;" : "=r"(x) : "l"(words) : "memory");
  give(x);
  asm volatile("red.global.or.b32 [%0], 12;" ::"l"(words) : "memory");
  asm volatile("red.relaxed.gpu.global.xor.b32 [%0], 5;" ::"l"(words) : "memory");
  give(words[0]);
  asm volatile("atom.shared.min.s32 %0, [%1], %2;" : "=r"(x) : "r"(shared), "r"(-7) : "memory");
  give(x);
  asm volatile("atom.shared::cta.max.s32 %0, [%1], %2;" : "=r"(x) : "r"(shared), "r"(4) : "memory");
  give(x);
  asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(shared), "r"(-2) : "memory");
  give(uint32_t(s));
  asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(wide) : "l"(words + 2), "l"(~0ull) : "memory");
  give(uint32_t(wide));
  asm volatile("atom.global.min.s64 %0, [%1], %2;" : "=l"(wide) : "l"(words + 2), "l"(-3ll) : "memory");
  give(uint32_t(wide));
  give(words[3]);
  asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(f) : "l"(words + 4), "f"(1.5f) : "memory");
  give(__float_as_uint(f));
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(words + 4), "f"(2.0f) : "memory");
  give(words[4]);
  give(at);
}

}  // namespace

TEST_CASE("PTX: loads that acquire see what was written before a store that releases", "[ptx]") {
  if (skipped()) return;
  check_handed_on<0>();
  check_handed_on<1>();
  check_handed_on<2>();
  check_handed_on<3>();
}

TEST_CASE("PTX: narrow numbers get their sign, or zeros, in wider registers", "[ptx]") {
  const DeviceBuffer<uint8_t> in(std::vector<uint8_t>{0x85, 1, 0xfe, 0xff});
  const std::vector<uint32_t> got = on_device<uint32_t>(1, 1, 6, narrow, in.data());
  CHECK(got[0] == 0x85);
  CHECK(got[1] == 0xffffff85);
  CHECK(got[2] == 0xfffffffe);
  CHECK(got[3] == 0xffffffff);
  CHECK(got[4] == 0x3485);
  CHECK(got[5] == 0xffffff85);
}

TEST_CASE("PTX: atom gives the old word, and red changes it alike", "[ptx]") {
  DeviceBuffer<uint32_t> words(std::vector<uint32_t>{3, 0, 2, 0, 0, 0});
  const std::vector<uint32_t> got = on_device<uint32_t>(1, 1, kAtomics, atomics, words.data());
  const uint32_t want[kAtomics] = {3,          8,          7,          9, 6, 6,          0, 3,          11,
                                   0xfffffffb, 0xfffffff9, 0xfffffffe, 2, 1, 0xffffffff, 0, 0x40600000, 17};
  for (int i = 0; i < kAtomics; ++i) {
    INFO("result " << i);
    CHECK(got[static_cast<std::size_t>(i)] == want[i]);
  }
}

// ---------------------------------------------------------------- what is counted
#ifdef TILEWISE_SIMULATOR
namespace {

template <class Launch>
tilewise::sim::Counters counts_of(Launch launch) {
  const bool was = tilewise::sim::set_counting(true);
  launch();
  tilewise::sim::set_counting(was);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return tilewise::sim::last_counters();
}

}  // namespace

TEST_CASE("PTX: mma.sync is one tensor instruction of 4096 FLOP, in tf32 of 2048", "[ptx]") {
  DeviceBuffer<uint32_t> a(16 * 16), b(16 * 8);
  DeviceBuffer<float> c(16 * 8), d(16 * 8);
  a.zero();
  b.zero();
  c.zero();
  const auto multiplied = [&](auto kernel) {
    return counts_of([&] { kernel<<<3, 32>>>(d.data(), a.data(), b.data(), c.data()); });
  };
  CHECK(multiplied(product<Input::bf16>).tensor_instructions == 3);
  CHECK(multiplied(product<Input::bf16>).tensor_flop == 3 * 4096);
  CHECK(multiplied(product<Input::f16>).tensor_flop == 3 * 4096);
  CHECK(multiplied(product<Input::tf32>).tensor_instructions == 3);
  CHECK(multiplied(product<Input::tf32>).tensor_flop == 3 * 2048);
}

TEST_CASE("PTX: ldmatrix is counted with the banks that its rows share", "[ptx]") {
  DeviceBuffer<uint32_t> out(32 * 4);
  const auto loaded = [&](auto kernel, int row) {
    return counts_of([&] { kernel<<<1, 32, static_cast<std::size_t>(32 * row) * 2>>>(out.data(), row); });
  };
  tilewise::sim::Counters c = loaded(load<4, false>, 24);
  CHECK(c.matrix_load_instructions == 1);
  CHECK(c.matrix_load_wavefronts == 4);
  CHECK(c.shared_load_instructions == 0);
  c = loaded(load<4, true>, 64);
  CHECK(c.matrix_load_wavefronts == 4 * 8);
  CHECK(c.matrix_load_ideal == 4);
  CHECK(loaded(load<2, false>, 64).matrix_load_wavefronts == 2 * 8);
  CHECK(loaded(load<1, true>, 8).matrix_load_wavefronts == 1);
}

TEST_CASE("PTX: a load of four elements is one of 16 bytes, as wide as it is written", "[ptx]") {
  DeviceBuffer<float> in(128), out(128);
  in.zero();
  const tilewise::sim::Counters c = counts_of([&] { moved<<<1, 32>>>(out.data(), in.data()); });
  CHECK(c.global_load_instructions == 1);
  CHECK(c.global_load_sectors == 16);
  CHECK(c.global_store_instructions == 3);
}

TEST_CASE("PTX: cp.async is counted as __pipeline_memcpy_async() is", "[ptx]") {
  DeviceBuffer<float> in(5 * 128), out(32);
  in.zero();
  const tilewise::sim::Counters c = counts_of([&] { copies<<<1, 32>>>(out.data(), in.data(), 5, 16); });
  CHECK(c.async_copy_instructions == 5);
  CHECK(c.global_load_bytes == 5 * 512);
  CHECK(c.global_load_sectors == 5 * 16);
}
#endif
