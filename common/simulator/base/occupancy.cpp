#include "base/occupancy.hpp"

#include <algorithm>

namespace tilewise::sim {

namespace {

constexpr int kPartitions = 4;          // warp schedulers of an SM, each with a quarter of the registers
constexpr int kRegistersGranule = 256;  // registers are handed to a warp in portions of this size

template <class T>
T round_up(T value, T step) {
  return (value + step - 1) / step * step;
}

/// Warps that the registers of an SM are enough for.
int warps_with_registers(const Device& device, int registers) {
  const int per_warp = round_up(registers * device.warp_size, kRegistersGranule);
  return device.registers / kPartitions / per_warp * kPartitions;
}

}  // namespace

int threads_with_registers(const Device& device, int registers) {
  if (registers <= 0) return device.max_threads_per_block;
  return std::min(device.max_threads_per_block, warps_with_registers(device, registers) * device.warp_size);
}

std::size_t shared_of_sm(const Device& device, int carveout, std::size_t per_block) {
  const std::size_t most = device.shared_per_multiprocessor;
  if (carveout < 0) return most;
  const auto preferred = static_cast<std::size_t>(carveout) * most / 100;
  const std::size_t wanted = std::max(preferred, per_block);
  // In KB. Those beyond the card's own maximum are never reached. Turing knows only its two largest.
  constexpr std::size_t sizes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  for (const std::size_t kb : sizes) {
    if (device.major == 7 && kb < 32) continue;
    if (kb * 1024 >= wanted) return std::min(kb * 1024, most);
  }
  return most;
}

Occupancy occupancy(const Device& device, int registers, std::size_t shared, int threads, int carveout) {
  Occupancy result;
  const int warps = (threads + device.warp_size - 1) / device.warp_size;
  result.max_warps = device.max_threads_per_multiprocessor / device.warp_size;
  if (threads <= 0 || threads > device.max_threads_per_block) return result;

  result.by_blocks = device.max_blocks_per_multiprocessor;
  result.by_warps = result.max_warps / warps;

  result.by_registers = device.max_blocks_per_multiprocessor;
  if (registers > 0) result.by_registers = warps_with_registers(device, registers) / warps;

  result.by_shared = device.max_blocks_per_multiprocessor;
  if (shared > device.shared_per_block_optin) {
    result.by_shared = 0;
  } else if (const std::size_t per_block = round_up(shared + device.reserved_shared, device.shared_granularity)) {
    result.by_shared = static_cast<int>(shared_of_sm(device, carveout, per_block) / per_block);
  }

  result.blocks = std::min({result.by_blocks, result.by_warps, result.by_registers, result.by_shared});
  result.warps = result.blocks * warps;
  if (result.blocks == 0) return result;
  if (result.blocks == result.by_warps) {
    result.limit = Limit::warps;
  } else if (result.blocks == result.by_blocks) {
    result.limit = Limit::blocks;
  } else if (result.blocks == result.by_registers) {
    result.limit = Limit::registers;
  } else {
    result.limit = Limit::shared;
  }
  return result;
}

}  // namespace tilewise::sim
