// How many blocks of a kernel an SM can hold at a time.
#pragma once

#include <cstddef>

#include "base/devices.hpp"

namespace tilewise::sim {

/// What runs out first on an SM.
enum class Limit { blocks, warps, registers, shared, impossible };

struct Occupancy {
  int blocks = 0;                                                    ///< resident blocks per SM
  int warps = 0;                                                     ///< resident warps per SM
  int max_warps = 0;                                                 ///< warps that the SM has room for
  Limit limit = Limit::impossible;                                   ///< impossible: not even one block fits
  int by_blocks = 0, by_warps = 0, by_registers = 0, by_shared = 0;  ///< blocks that each resource alone allows

  double fraction() const { return max_warps ? static_cast<double>(warps) / max_warps : 0; }
};

/// Occupancy of blocks of `threads` threads with `registers` per thread (0: not known, so no limit) and
/// `shared` bytes of static and dynamic shared memory together.
/// `carveout`: the preferred part of an SM's shared memory in per cent, -1 for none; see shared_of_sm().
/// Source: CUDA C++ Programming Guide, "Compute Capabilities", and the allocation rules of NVIDIA's occupancy
/// calculator.
Occupancy occupancy(const Device& device, int registers, std::size_t shared, int threads, int carveout = -1);

/// Shared memory that an SM is set up with when a kernel prefers `carveout` per cent of the most (-1: no preference, the
/// most) and its blocks take `per_block` bytes: the next size up that the hardware knows, and no less than one block
/// needs. What is left of the SM's memory is L1 cache.
/// Source: the header cuda_occupancy.h of the CUDA Toolkit; compared on an H200 for 0 to 100 per cent.
std::size_t shared_of_sm(const Device& device, int carveout, std::size_t per_block);

/// The largest block that the registers of an SM allow, in threads: whole warps. 0 registers: not known, so no limit.
/// An H200 refuses larger ones with cudaErrorLaunchOutOfResources.
int threads_with_registers(const Device& device, int registers);

}  // namespace tilewise::sim
