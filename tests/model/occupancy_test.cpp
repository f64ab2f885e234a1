// Occupancy and the table of cards, by hand-computed cases.
#include "base/occupancy.hpp"

#include <cstring>

#include "base/devices.hpp"
#include "catch.hpp"

using namespace tilewise::sim;

namespace {

const Device& card(const char* key) {
  for (const Device& device : devices()) {
    if (std::strcmp(device.key, key) == 0) return device;
  }
  FAIL("no card " << key);
  return devices().front();
}

}  // namespace

TEST_CASE("each resource can be the limit", "[occupancy]") {
  const Device& h200 = card("h200");
  // 1024 threads with 32 registers and 32 KB: two blocks fill all 64 warps.
  const Occupancy full = occupancy(h200, 32, 32 * 1024, 1024);
  CHECK(full.blocks == 2);
  CHECK(full.warps == 64);
  CHECK(full.limit == Limit::warps);
  CHECK(full.fraction() == 1.0);

  const Occupancy small = occupancy(h200, 16, 0, 32);  // 32 blocks of one warp
  CHECK(small.blocks == 32);
  CHECK(small.limit == Limit::blocks);
  CHECK(small.fraction() == 0.5);

  // 64 registers: 2048 per warp, 8 warps in each quarter of 16384: 32 warps, 4 blocks of 8.
  const Occupancy registers = occupancy(h200, 64, 0, 256);
  CHECK(registers.blocks == 4);
  CHECK(registers.limit == Limit::registers);

  // 255 registers: 8160 per warp, rounded to 8192: 2 warps in each quarter.
  CHECK(occupancy(h200, 255, 0, 256).blocks == 1);
  CHECK(occupancy(h200, 255, 0, 512).blocks == 0);
  CHECK(occupancy(h200, 255, 0, 512).limit == Limit::impossible);

  // 100 KB + 1 KB reserved in 228 KB.
  const Occupancy shared = occupancy(h200, 32, 100 * 1024, 128);
  CHECK(shared.blocks == 2);
  CHECK(shared.limit == Limit::shared);
}

TEST_CASE("shared memory: reserved part, granularity, limits", "[occupancy]") {
  const Device& h200 = card("h200");
  CHECK(occupancy(h200, 0, 16384, 128).by_shared == 13);  // 17408 of 233472
  CHECK(occupancy(h200, 0, 115712, 128).blocks == 2);     // exactly half with the reserved KB
  CHECK(occupancy(h200, 0, 115713, 128).blocks == 1);
  CHECK(occupancy(h200, 0, 232448, 128).blocks == 1);
  CHECK(occupancy(h200, 0, 232449, 128).blocks == 0);

  const Device& t4 = card("t4");
  CHECK(occupancy(t4, 0, 0, 1024).blocks == 1);  // 1024 threads per SM
  CHECK(occupancy(t4, 0, 32 * 1024, 64).blocks == 2);
  CHECK(occupancy(t4, 0, 32 * 1024 + 1, 64).blocks == 1);
  CHECK(occupancy(t4, 0, 64 * 1024 + 1, 64).blocks == 0);

  const Device& rtx3090 = card("rtx3090");
  CHECK(occupancy(rtx3090, 0, 0, 1024).blocks == 1);  // 1536 threads per SM
  CHECK(occupancy(rtx3090, 0, 0, 32).blocks == 16);
}

TEST_CASE("a carve-out: the next size up, and enough for one block", "[occupancy]") {
  const Device& h200 = card("h200");
  CHECK(shared_of_sm(h200, -1, 5248) == 228 * 1024);
  CHECK(shared_of_sm(h200, 100, 5248) == 228 * 1024);
  CHECK(shared_of_sm(h200, 0, 0) == 0);
  CHECK(shared_of_sm(h200, 0, 5248) == 8 * 1024);
  CHECK(shared_of_sm(h200, 0, 100 * 1024) == 100 * 1024);
  CHECK(shared_of_sm(h200, 0, 100 * 1024 + 128) == 132 * 1024);
  CHECK(shared_of_sm(h200, 50, 1024) == 132 * 1024);  // 114 KB wished
  CHECK(occupancy(h200, 0, 4224, 32, 50).by_shared == 25);
  CHECK(occupancy(h200, 0, 4224, 32, 0).blocks == 1);
  CHECK(occupancy(h200, 0, 232449, 32, 0).blocks == 0);
  CHECK(shared_of_sm(card("t4"), 0, 0) == 32 * 1024);
  CHECK(shared_of_sm(card("t4"), 60, 0) == 64 * 1024);
  for (const Device& device : devices()) {
    for (int percent = 0; percent <= 100; ++percent) {
      CHECK(shared_of_sm(device, percent, 0) >= percent * device.shared_per_multiprocessor / 100);
      CHECK(shared_of_sm(device, percent, 0) <= device.shared_per_multiprocessor);
    }
    CHECK(shared_of_sm(device, 100, 0) == device.shared_per_multiprocessor);
  }
}

TEST_CASE("no block without threads or beyond 1024", "[occupancy]") {
  for (const int threads : {0, -1, 1025}) CHECK(occupancy(card("h200"), 32, 0, threads).blocks == 0);
}

TEST_CASE("every card is consistent", "[occupancy]") {
  for (const Device& device : devices()) {
    INFO(device.key);
    CHECK(device.shared_per_block_optin + device.reserved_shared <= device.shared_per_multiprocessor);
    CHECK(device.max_threads_per_multiprocessor % 32 == 0);
    CHECK(device.max_blocks_per_multiprocessor * 32 <= device.max_threads_per_multiprocessor);
    CHECK(occupancy(device, 0, device.shared_per_block_optin, 32).blocks == 1);
    CHECK(occupancy(device, 0, device.shared_per_block_optin + 1, 32).blocks == 0);
    const cudaDeviceProp prop = device_properties(device);
    CHECK(std::strncmp(prop.name, "Simulated ", 10) == 0);
    // Peak bandwidths of the data sheets lie between 300 GB/s (L4) and 8.2 TB/s (B200).
    const double gigabytes = 2e3 * device.memory_clock_khz * (device.memory_bus_bits / 8) * 1e-9;
    CHECK(gigabytes >= 299);
    CHECK(gigabytes <= 8200);
  }
}
