// What Hopper has instructions for: a sum, and the larger or smaller of two or three, of words and of their halves. On the device, against
// 64-bit arithmetic on the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

#if CUDART_VERSION >= 12000
namespace {

using u32 = unsigned;

constexpr u32 kWords[] = {0,           1,           0xffffffffu, 0x7fffffffu, 0x80000000u, 0x80008000u,
                          0x7fff7fffu, 0x00018000u, 0xffff0001u, 0x12345678u, 0xfedcba98u, 0x0000ffffu};
constexpr int kCount = sizeof(kWords) / sizeof *kWords, kResults = 36;

__global__ void all_of_three(u32* out, const u32* words) {
  const u32 a = words[blockIdx.x], b = words[threadIdx.x];
  for (int k = 0; k < kCount; ++k) {
    const u32 c = words[k];
    u32* const row = out + kResults * ((blockIdx.x * kCount + threadIdx.x) * kCount + k);
    const int x = static_cast<int>(a), y = static_cast<int>(b), z = static_cast<int>(c);
    bool high, low;
    row[0] = __viaddmax_s32(x, y, z), row[1] = __viaddmax_u32(a, b, c);
    row[2] = __viaddmax_s16x2(a, b, c), row[3] = __viaddmax_u16x2(a, b, c);
    row[4] = __viaddmax_s32_relu(x, y, z), row[5] = __viaddmax_s16x2_relu(a, b, c);
    row[6] = __viaddmin_s32(x, y, z), row[7] = __viaddmin_u32(a, b, c);
    row[8] = __viaddmin_s16x2(a, b, c), row[9] = __viaddmin_u16x2(a, b, c);
    row[10] = __viaddmin_s32_relu(x, y, z), row[11] = __viaddmin_s16x2_relu(a, b, c);
    row[12] = __vimax3_s32(x, y, z), row[13] = __vimax3_u32(a, b, c);
    row[14] = __vimax3_s16x2(a, b, c), row[15] = __vimax3_u16x2(a, b, c);
    row[16] = __vimax3_s32_relu(x, y, z), row[17] = __vimax3_s16x2_relu(a, b, c);
    row[18] = __vimin3_s32(x, y, z), row[19] = __vimin3_u32(a, b, c);
    row[20] = __vimin3_s16x2(a, b, c), row[21] = __vimin3_u16x2(a, b, c);
    row[22] = __vimin3_s32_relu(x, y, z), row[23] = __vimin3_s16x2_relu(a, b, c);
    row[24] = __vimax_s32_relu(x, y), row[25] = __vimax_s16x2_relu(a, b);
    row[26] = __vimin_s32_relu(x, y), row[27] = __vimin_s16x2_relu(a, b);
    row[28] = __vibmax_s32(x, y, &low), row[29] = low;
    row[30] = __vibmin_u32(a, b, &low), row[31] = low;
    row[32] = __vibmax_u16x2(a, b, &high, &low), row[33] = 2 * high + low;
    row[34] = __vibmin_s16x2(a, b, &high, &low), row[35] = 2 * high + low;
  }
}

// A word's parts, each wide enough for what comes of them; and the word of such parts.
template <class T>
std::vector<long long> parts(u32 word) {
  std::vector<long long> all;
  for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(T)) all.push_back(static_cast<T>(word >> shift));
  return all;
}

// `of` each part; a sum has wrapped round where the part is put back.
template <class T, class Of>
u32 of_parts(u32 a, u32 b, u32 c, Of of) {
  const auto x = parts<T>(a), y = parts<T>(b), z = parts<T>(c);
  u32 word = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    word |= static_cast<u32>(static_cast<std::make_unsigned_t<T>>(of(x[i], y[i], z[i]))) << (8 * sizeof(T) * i);
  return word;
}

using s32 = int;
using s16 = short;
using u16 = unsigned short;

std::vector<u32> expected_row(u32 a, u32 b, u32 c) {
  using W = long long;
  std::vector<u32> row;
  const auto four = [&](auto of) {
    row.push_back(of_parts<s32>(a, b, c, [&](W x, W y, W z) { return of(x, y, z, s32{}); }));
    row.push_back(of_parts<u32>(a, b, c, [&](W x, W y, W z) { return of(x, y, z, u32{}); }));
    row.push_back(of_parts<s16>(a, b, c, [&](W x, W y, W z) { return of(x, y, z, s16{}); }));
    row.push_back(of_parts<u16>(a, b, c, [&](W x, W y, W z) { return of(x, y, z, u16{}); }));
    row.push_back(of_parts<s32>(a, b, c, [&](W x, W y, W z) { return std::max(W(of(x, y, z, s32{})), W{0}); }));
    row.push_back(of_parts<s16>(a, b, c, [&](W x, W y, W z) { return std::max(W(of(x, y, z, s16{})), W{0}); }));
  };
  four([](W x, W y, W z, auto t) { return std::max(W(static_cast<decltype(t)>(x + y)), z); });
  four([](W x, W y, W z, auto t) { return std::min(W(static_cast<decltype(t)>(x + y)), z); });
  four([](W x, W y, W z, auto) { return std::max({x, y, z}); });
  four([](W x, W y, W z, auto) { return std::min({x, y, z}); });
  const auto two = [&](auto of) {
    row.push_back(of_parts<s32>(a, b, c, [&](W x, W y, W) { return std::max(of(x, y), W{0}); }));
    row.push_back(of_parts<s16>(a, b, c, [&](W x, W y, W) { return std::max(of(x, y), W{0}); }));
  };
  two([](W x, W y) { return std::max(x, y); });
  two([](W x, W y) { return std::min(x, y); });
  const auto greater = [](W x, W y, W) { return std::max(x, y); };
  const auto less = [](W x, W y, W) { return std::min(x, y); };
  row.push_back(of_parts<s32>(a, b, c, greater));
  row.push_back(static_cast<int>(a) >= static_cast<int>(b));
  row.push_back(of_parts<u32>(a, b, c, less));
  row.push_back(a <= b);
  row.push_back(of_parts<u16>(a, b, c, greater));
  row.push_back(2 * (a >> 16 >= b >> 16) + ((a & 0xffffu) >= (b & 0xffffu)));
  row.push_back(of_parts<s16>(a, b, c, less));
  row.push_back(2 * (static_cast<s16>(a >> 16) <= static_cast<s16>(b >> 16)) +
                (static_cast<s16>(a) <= static_cast<s16>(b)));
  return row;
}

}  // namespace

TEST_CASE("sums, largest and smallest of two and three words, and of their halves") {
  const std::vector<u32> words(std::begin(kWords), std::end(kWords));
  tilewise::DeviceBuffer<u32> device_words(words);
  const auto out = on_device<u32>(kCount, kCount, kResults * kCount * kCount * kCount, all_of_three,
                                  static_cast<const u32*>(device_words.data()));
  for (int i = 0; i < kCount * kCount * kCount; ++i) {
    const u32 a = words[i / kCount / kCount], b = words[i / kCount % kCount], c = words[i % kCount];
    INFO(std::hex << a << ", " << b << ", " << c);
    const std::vector<u32> row(out.begin() + kResults * i, out.begin() + kResults * (i + 1));
    REQUIRE(row == expected_row(a, b, c));
  }
}
#endif
