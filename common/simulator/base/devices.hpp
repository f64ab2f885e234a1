// The cards that the simulator can stand for.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "driver_types.h"

namespace tilewise::sim {

/// What the data sheets and CUDA's table of compute capabilities say of a card. Sizes in bytes.
struct Device {
  const char* key;   ///< as in TILEWISE_DEVICE
  const char* name;  ///< the real card's
  int major, minor;  ///< compute capability
  int multiprocessors;
  std::size_t memory;
  int memory_bus_bits;
  int memory_clock_khz;  ///< of a double data rate: bandwidth = 2 * clock * bus / 8
  int clock_khz;         ///< boost clock
  std::size_t l2;
  std::size_t max_persisting_l2;
  int async_engines;
  int fp32_to_fp64;  ///< how many times slower doubles are

  int max_threads_per_multiprocessor;
  int max_blocks_per_multiprocessor;
  std::size_t shared_per_multiprocessor;
  std::size_t shared_per_block_optin;
  std::size_t reserved_shared;     ///< the system's part of every block
  std::size_t shared_granularity;  ///< shared memory of a block is rounded up to this

  // The same for all cards since compute capability 5.
  std::size_t shared_per_block = 48 * 1024;
  int registers = 65536;  ///< per SM, and per block
  int max_threads_per_block = 1024;
  int max_block[3] = {1024, 1024, 64};
  int max_grid[3] = {2147483647, 65535, 65535};
  int warp_size = 32;
};

/// All of them.
std::span<const Device> devices();

/// The card that TILEWISE_DEVICE names, an H200 by default. An unknown name ends the program with exit code 2.
const Device& device();

// ---------------------------------------------------------------- how many there are
constexpr int kMostDevices = 8;

/// How many devices of that card the machine has: TILEWISE_DEVICES, 1 by default. A value that is none of 1 to kMostDevices ends the
/// program with exit code 2, before main().
int device_count();
inline bool several_devices() { return device_count() > 1; }

/// The host thread's current device: what cudaSetDevice said, 0 at first.
int current_device();
/// `device` must exist.
void set_current_device(int device);

/// Makes a device the current one as long as it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) : before_(current_device()) { set_current_device(device); }
  ~OnDevice() { set_current_device(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

/// Whether kernels on `device` may use the memory of `other`: cudaDeviceEnablePeerAccess. Always true of its own.
bool may_access(int device, int other);
void set_peer_access(int device, int other, bool allowed);
/// `device` is reset: neither it nor others for its memory have access any more.
void forget_peer_access(int device);

/// The card as cudaGetDeviceProperties describes it. Its name says that it is simulated. `index`: which of the devices, whose places
/// on the bus differ.
cudaDeviceProp device_properties(const Device& device, int index = 0);

}  // namespace tilewise::sim
