// Registers and static shared memory of the kernels that the repository recorded from ptxas.
#pragma once

#include <cstddef>

#include "base/devices.hpp"
#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

/// What ptxas assigned to a kernel. Registers depend on the architecture, and nothing but ptxas can tell them.
struct KernelResources {
  int registers = 0;              ///< per thread; 0: unknown, as no ptxas runs here
  std::size_t static_shared = 0;  ///< bytes per block
  int local = 0;                  ///< bytes per thread; meaningful when the registers are known
};

/// Resources of the kernel whose code starts at `kernel`, on the architecture nearest to the device's that is not above
/// it. Unknown for any kernel that base/registers.inc does not list with its signature and file. A listed kernel that
/// was edited since keeps the recorded numbers until common/scripts/record/record-registers.sh has run.
KernelResources recorded_resources(const Device& device, const void* kernel);

/// At least the registers of recorded_resources(): judged by the signature alone, which takes no look at debug
/// information.
int recorded_registers_at_most(const Device& device, const void* kernel);

/// Static shared memory of a block that has `bytes`, and places this variable after them.
inline std::size_t shared_with(std::size_t bytes, const SharedVariable& variable) {
  return (bytes + variable.alignment - 1) / variable.alignment * variable.alignment + variable.bytes;
}

/// What the `__shared__` variables take that the kernel's code, and that of functions in its file that it calls, mentions. 0 where
/// simcc made no list of them (rewriter/shared_memory.hpp).
std::size_t static_shared_of(const void* kernel);

}  // namespace tilewise::sim
