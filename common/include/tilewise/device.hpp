/// @file
/// What the machine is: limits, theoretical peaks, sensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tilewise {

/// True in programs compiled for the simulator.
bool is_simulated();

/// The current device. Bytes are bytes, clocks MHz.
struct Device {
  std::string name;
  bool simulated = false;
  int major = 0, minor = 0;  ///< compute capability
  int sms = 0;
  int warp_size = 32;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int max_block_dim[3] = {};
  std::size_t max_grid_dim[3] = {};
  std::size_t shared_per_block = 0;         ///< without asking for more
  std::size_t shared_per_block_opt_in = 0;  ///< with cudaFuncAttributeMaxDynamicSharedMemorySize
  std::size_t shared_per_sm = 0;
  std::size_t shared_reserved = 0;  ///< per block, by the system, beyond what the block asks for
  std::size_t constant_bytes = 0;
  int registers_per_block = 0;
  int registers_per_sm = 0;
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  double sm_clock_mhz = 0;      ///< highest
  double memory_clock_mhz = 0;  ///< highest
  int memory_bus_bits = 0;
  int driver_version = 0;  ///< CUDA version of the driver, 13000 for 13.0; 0 on the simulator
  int runtime_version = 0;

  /// FP32 FMA units per SM by compute capability; 0 when unknown.
  int fp32_cores_per_sm() const;
  /// SMs x FMA units x 2 FLOP x clock, GFLOP/s; 0 when unknown.
  double peak_fp32_gflops() const;
  /// Bus width x 2 transfers x memory clock, GB/s; 0 when unknown.
  double peak_bandwidth_gbs() const;

  /// SMs x 32 banks x 4 bytes x clock, GB/s: what shared memory gives at most.
  double peak_shared_gbs() const;
  /// L1 cache and shared memory of an SM together, in bytes, by compute capability; 0 when unknown.
  std::size_t l1_and_shared_per_sm() const;

  /// "" if a block of x * y * z threads with that much shared memory can be launched, else why not:
  /// "tile 64 needs 4,096 threads per block; this GPU allows 1,024". `what` begins the sentence.
  std::string why_not(const std::string& what, std::size_t x, std::size_t y, std::size_t z, std::size_t shared_bytes,
                      bool opt_in = false) const;

  /// One line: name, compute capability, SMs, threads per block, shared memory per block.
  std::string text() const;
};

/// Describes the current device; asked once and remembered.
const Device& device();

/// Free device memory in bytes, now.
std::size_t free_device_memory();

/// What NVML (loaded while running, if the driver has it) reads from the current GPU.
struct Sensors {
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  int temperature_c = 0;
  double power_w = 0;
  std::string driver;  ///< "580.82.07"
};

/// Reads the sensors; nothing on the simulator or without NVML.
std::optional<Sensors> read_sensors();

}  // namespace tilewise
