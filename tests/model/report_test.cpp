// The hardware's arithmetic on hand-made warps, and the words in which it is explained.
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "model/report.hpp"
#include "model/warp_instruction.hpp"

namespace {

using namespace tilewise::sim;
using model::LaneAddresses;
using model::MemorySpace;
using observer::Access;

struct Warp {
  std::uint64_t address[32] = {};
  std::uint32_t mask = ~0u;
  LaneAddresses of(std::uint32_t bytes) const { return {mask, bytes, address}; }
};

Warp warp(const std::function<std::uint64_t(std::uint64_t)>& address, std::uint32_t mask = ~0u) {
  Warp w;
  w.mask = mask;
  for (std::uint64_t i = 0; i < 32; ++i) w.address[i] = address(i);
  return w;
}

unsigned sectors(const Warp& w, std::uint32_t bytes) {
  std::uint64_t list[64];
  return model::distinct_sectors(w.of(bytes), list);
}

TEST_CASE("sectors: distinct 32-byte pieces that the active lanes touch", "[model]") {
  CHECK(sectors(warp([](auto i) { return 4 * i; }), 4) == 4);
  CHECK(sectors(warp([](auto i) { return 8 * i; }), 8) == 8);
  CHECK(sectors(warp([](auto i) { return 16 * i; }), 16) == 16);
  CHECK(sectors(warp([](auto i) { return i; }), 1) == 1);
  CHECK(sectors(warp([](auto i) { return 4 * i + 4; }), 4) == 5);  // one word over the edge
  CHECK(sectors(warp([](auto i) { return 128 * i; }), 4) == 32);
  CHECK(sectors(warp([](auto i) { return 4 * (31 - i); }), 4) == 4);
  CHECK(sectors(warp([](auto i) { return i % 2 ? 4096 + 4 * i : 4 * i; }), 4) == 8);
  CHECK(sectors(warp([](auto) { return 64; }), 4) == 1);
  CHECK(sectors(warp([](auto i) { return 4 * i; }, 0x000000FF), 4) == 1);
  CHECK(sectors(warp([](auto i) { return 32 * i + 28; }), 8) == 33);  // misaligned: each access straddles two
}

TEST_CASE("atomics: a sector counts as often as its most wanted word", "[model]") {
  CHECK(model::atomic_sectors(warp([](auto i) { return 4 * i; }).of(4)) == 4);
  CHECK(model::atomic_sectors(warp([](auto) { return 64; }).of(4)) == 32);
  CHECK(model::atomic_sectors(warp([](auto i) { return 4 * (i / 2); }).of(4)) == 4);  // 2 sectors, twice each
  CHECK(model::atomic_sectors(warp([](auto i) { return i == 0 ? 0 : 4 * (i % 4); }).of(4)) == 8);
}

TEST_CASE("wavefronts: 32 banks of 4 bytes", "[model]") {
  auto loads = [](const Warp& w, std::uint32_t bytes) { return model::shared_wavefronts(w.of(bytes), true); };
  for (const std::uint64_t stride : {1, 3, 5, 33}) CHECK(loads(warp([&](auto i) { return 4 * stride * i; }), 4) == 1);
  for (const std::uint64_t stride : {2, 4, 8, 16, 32})
    CHECK(loads(warp([&](auto i) { return 4 * stride * i; }), 4) == stride);
  CHECK(loads(warp([](auto) { return 40; }), 4) == 1);                 // broadcast
  CHECK(loads(warp([](auto i) { return 4 * (i / 2); }), 4) == 1);      // pairs share a word
  CHECK(loads(warp([](auto i) { return 128 * (i % 16); }), 4) == 16);  // half of the warp repeats the other half
  CHECK(loads(warp([](auto i) { return i; }), 1) == 1);
  CHECK(loads(warp([](auto i) { return 8 * i; }), 8) == 2);
  CHECK(loads(warp([](auto i) { return 16 * i; }), 16) == 4);
  CHECK(loads(warp([](auto i) { return 8 * (i / 2); }), 8) == 1);  // pairs share: both halves at once
  CHECK(model::shared_wavefronts(warp([](auto i) { return 8 * (i / 2); }).of(8), false) == 2);  // stores never do
  CHECK(loads(warp([](auto i) { return 8 * (i / 4 * 2 + i % 2); }), 8) == 1);                   // lanes i and i^2 share
  CHECK(loads(warp([](auto i) { return 8 * ((i / 2 % 2) * 64 + i / 4); }), 8) == 4);  // shared, but banks are hit twice
  CHECK(loads(warp([](auto i) { return 16 * i; }, 0xFF), 16) == 1);
}

// What the report says of an access that was seen once, by these lanes.
std::string said(const Warp& w, std::uint32_t bytes, MemorySpace space, Access kind = Access::load) {
  SiteRecord s;
  s.kind = kind;
  s.space = space;
  s.bytes = bytes;
  s.example_mask = w.mask;
  std::copy(std::begin(w.address), std::end(w.address), std::begin(s.example));
  const bool load = kind == Access::load;
  s.wavefronts = model::shared_wavefronts(w.of(bytes), load);
  s.ideal = model::ideal_wavefronts(w.of(bytes), load);
  s.worst = space == MemorySpace::global ? sectors(w, bytes) : static_cast<unsigned>(s.wavefronts);
  return diagnose(s);
}

TEST_CASE("16-byte loads from shared memory with idle lanes cost what an H200 counts", "[model]") {
  std::ifstream file(TILEWISE_SOURCE_DIR "/tests/simulator/validation/shared_16_bytes.txt");
  REQUIRE(file);
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::size_t patterns = 0, partial = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    std::string mask, places;
    unsigned wavefronts = 0;
    words >> mask >> wavefronts >> places;
    REQUIRE(places.size() == model::kLanes);
    std::uint64_t address[model::kLanes] = {};
    for (unsigned i = 0; i < model::kLanes; ++i)
      if (places[i] != '-') address[i] = 1024 + 16 * letters.find(places[i]);
    const auto active = static_cast<std::uint32_t>(std::stoul(mask, nullptr, 16));
    INFO(line);
    CHECK(model::shared_wavefronts({active, 16, address}, true) == wavefronts);
    ++patterns;
    partial += active != ~0u;
  }
  CHECK(patterns > 1000);
  CHECK(partial > 900);
}

TEST_CASE("diagnoses say what the addresses show", "[model]") {
  constexpr auto global = MemorySpace::global, shared = MemorySpace::shared;
  CHECK(said(warp([](auto i) { return 4 * i; }), 4, global).empty());
  CHECK(said(warp([](auto) { return 4; }), 4, global).empty());
  CHECK(said(warp([](auto i) { return 2048 * i; }), 4, global) ==
        "32 sectors where 4 would do: neighbouring threads are 2,048 bytes apart; 32 passes through L1's banks, 8 if "
        "they "
        "were 513 words apart");
  CHECK(said(warp([](auto i) { return 4100 * i; }), 4, global) ==  // 1,025 words: 32 banks
        "32 sectors where 4 would do: neighbouring threads are 4,100 bytes apart");
  CHECK(said(warp([](auto i) { return 4096 - 64 * i; }), 4, global, Access::store) ==
        "32 sectors where 4 would do: neighbouring threads are 64 bytes apart; 16 passes through L1's banks, 5 if they "
        "were 17 words apart");
  CHECK(said(warp([](auto i) { return 4 * i + 12; }), 4, global) ==
        "5 sectors where 4 would do: the first address is 12 bytes past the start of a sector");
  // A block that is 20 wide: the second warp has 8 threads of a row, 20 of the next, and 4.
  CHECK(said(warp([](auto i) { return (i + 12) / 20 * 336 + (i + 12) % 20 * 4; }), 4, global)
            .find("the words lie in 3 pieces") != std::string::npos);
  CHECK(said(warp([](auto i) { return i / 8 * 1000 + i % 8 * 4; }), 4, global).find("rows of 8 threads, 1,000 bytes") !=
        std::string::npos);
  CHECK(said(warp([](auto i) { return i * i * 64 % 8192; }), 4, global).find("scattered") != std::string::npos);
  CHECK(said(warp([](auto i) { return 4 * i; }), 4, shared).empty());
  CHECK(said(warp([](auto i) { return 128 * i; }), 4, shared) == "32-way bank conflict: stride 32 words");
  CHECK(said(warp([](auto i) { return 32 * i; }), 4, shared) == "8-way bank conflict: stride 8 words");
}

}  // namespace
