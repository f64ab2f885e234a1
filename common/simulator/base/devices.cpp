#include "base/devices.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kGiB = 1024 * kMiB;

// Limits per SM: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability". The rest: data
// sheets; the H200's figures are what a card reports.
// clang-format off
constexpr Device kDevices[] = {
    //                                        SMs  memory        bus   memory    SM       L2         persist   copy fp64  threads blocks shared      opt-in      reserved granule
    {"v100", "Tesla V100-SXM2-16GB",  7, 0,   80,  16 * kGiB,   4096,  877000, 1530000,   6 * kMiB,       0,    6,  2,  2048, 32,  96 * kKiB,  96 * kKiB, 0,    256},
    {"t4", "Tesla T4",                7, 5,   40,  16 * kGiB,    256, 5001000, 1590000,   4 * kMiB,       0,    3, 32,  1024, 16,  64 * kKiB,  64 * kKiB, 0,    256},
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0,  108,  80 * kGiB,   5120, 1593000, 1410000,  40 * kMiB, 30 * kMiB,  3,  2,  2048, 32, 164 * kKiB, 163 * kKiB, kKiB, 128},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 24 * kGiB,  384, 9751000, 1695000,   6 * kMiB,       0,    2, 64,  1536, 16, 100 * kKiB,  99 * kKiB, kKiB, 128},
    {"l4", "NVIDIA L4",               8, 9,   58,  24 * kGiB,    192, 6251000, 2040000,  48 * kMiB,       0,    2, 64,  1536, 24, 100 * kKiB,  99 * kKiB, kKiB, 128},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 24 * kGiB, 384, 10501000, 2520000, 72 * kMiB,       0,    2, 64,  1536, 24, 100 * kKiB,  99 * kKiB, kKiB, 128},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0,  132,  80 * kGiB,   5120, 2619000, 1980000,  50 * kMiB,       0,    3,  2,  2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {"h200", "NVIDIA H200",           9, 0,  132, 150109880320, 6016, 3201000, 1980000,  60 * kMiB,  39321600,  3,  2,  2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {"b200", "NVIDIA B200",          10, 0,  148, 180 * kGiB,   8192, 3996000, 1965000, 126 * kMiB,       0,    4,  2,  2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
};
// clang-format on

int count_from_environment() {
  const char* wish = std::getenv("TILEWISE_DEVICES");
  if (wish == nullptr || *wish == '\0') return 1;
  if (wish[1] == '\0' && wish[0] >= '1' && wish[0] <= '0' + kMostDevices) return wish[0] - '0';
  std::fprintf(stderr, "TILEWISE_DEVICES '%s': not a number of devices; allowed are 1 to %d\n", wish, kMostDevices);
  std::_Exit(2);
}

// Before main(): a wrong value ends the program before it does anything.
const int count_at_start = device_count();

thread_local int current = 0;
bool peers[kMostDevices][kMostDevices];

const Device& chosen() {
  const char* wish = std::getenv("TILEWISE_DEVICE");
  const char* key = wish && *wish ? wish : "h200";
  for (const Device& device : kDevices) {
    if (std::strcmp(device.key, key) == 0) return device;
  }
  std::fprintf(stderr, "TILEWISE_DEVICE=%s: no such card; the simulator knows", key);
  for (const Device& device : kDevices) std::fprintf(stderr, " %s", device.key);
  std::fprintf(stderr, "\n");
  std::_Exit(2);
}

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", of 7.0 and later: what
// programs print that list what a device can do.
void set_texture_limits(cudaDeviceProp& prop) {
  const auto set = [](int* to, std::initializer_list<int> values) { std::copy(values.begin(), values.end(), to); };
  prop.maxTexture1D = 131072;
  prop.maxTexture1DMipmap = 32768;
  prop.maxTexture1DLinear = 1 << 28;
  set(prop.maxTexture2D, {131072, 65536});
  set(prop.maxTexture2DMipmap, {32768, 32768});
  set(prop.maxTexture2DLinear, {131072, 65000, 2097120});
  set(prop.maxTexture2DGather, {32768, 32768});
  set(prop.maxTexture3D, {16384, 16384, 16384});
  set(prop.maxTexture3DAlt, {8192, 8192, 32768});
  prop.maxTextureCubemap = 32768;
  set(prop.maxTexture1DLayered, {32768, 2048});
  set(prop.maxTexture2DLayered, {32768, 32768, 2048});
  set(prop.maxTextureCubemapLayered, {32768, 2046});
  prop.maxSurface1D = 32768;
  set(prop.maxSurface2D, {131072, 65536});
  set(prop.maxSurface3D, {16384, 16384, 16384});
  set(prop.maxSurface1DLayered, {32768, 2048});
  set(prop.maxSurface2DLayered, {32768, 32768, 2048});
  prop.maxSurfaceCubemap = 32768;
  set(prop.maxSurfaceCubemapLayered, {32768, 2046});
  prop.surfaceAlignment = 512;
}

}  // namespace

std::span<const Device> devices() { return kDevices; }

const Device& device() {
  static const Device& device = chosen();
  return device;
}

int device_count() {
  static const int count = count_from_environment();
  return count;
}

int current_device() { return current; }
void set_current_device(int device) { current = device; }

bool may_access(int device, int other) { return device == other || peers[device][other]; }
void set_peer_access(int device, int other, bool allowed) { peers[device][other] = allowed; }

void forget_peer_access(int device) {
  for (int other = 0; other < kMostDevices; ++other) peers[device][other] = peers[other][device] = false;
}

cudaDeviceProp device_properties(const Device& device, int index) {
  cudaDeviceProp prop{};
  prop.pciBusID = index;
  if (several_devices()) {
    constexpr char maker[] = "tilewise-device";
    std::memcpy(prop.uuid.bytes, maker, sizeof maker - 1);
    prop.uuid.bytes[sizeof maker - 1] = static_cast<char>(index);
  }
  std::snprintf(prop.name, sizeof(prop.name), "Simulated %s", device.name);
  prop.totalGlobalMem = device.memory;
  prop.sharedMemPerBlock = device.shared_per_block;
  prop.regsPerBlock = device.registers;
  prop.warpSize = device.warp_size;
  prop.memPitch = 2147483647;
  prop.maxThreadsPerBlock = device.max_threads_per_block;
  std::copy(device.max_block, device.max_block + 3, prop.maxThreadsDim);
  std::copy(device.max_grid, device.max_grid + 3, prop.maxGridSize);
  prop.clockRate = device.clock_khz;
  prop.totalConstMem = 64 * kKiB;
  prop.major = device.major;
  prop.minor = device.minor;
  set_texture_limits(prop);
  prop.textureAlignment = 512;
  prop.texturePitchAlignment = 32;
  prop.deviceOverlap = 1;
  prop.multiProcessorCount = device.multiprocessors;
  prop.canMapHostMemory = 1;
  prop.computeMode = cudaComputeModeDefault;
  prop.concurrentKernels = 1;
  prop.asyncEngineCount = device.async_engines;
  prop.unifiedAddressing = 1;
  prop.memoryClockRate = device.memory_clock_khz;
  prop.memoryBusWidth = device.memory_bus_bits;
  prop.l2CacheSize = static_cast<int>(device.l2);
  prop.persistingL2CacheMaxSize = static_cast<int>(device.max_persisting_l2);
  prop.accessPolicyMaxWindowSize = device.max_persisting_l2 != 0 ? static_cast<int>(128 * kMiB) : 0;
  prop.maxThreadsPerMultiProcessor = device.max_threads_per_multiprocessor;
  prop.streamPrioritiesSupported = 1;
  prop.globalL1CacheSupported = 1;
  prop.localL1CacheSupported = 1;
  prop.sharedMemPerMultiprocessor = device.shared_per_multiprocessor;
  prop.regsPerMultiprocessor = device.registers;
  prop.managedMemory = 1;
  prop.singleToDoublePrecisionPerfRatio = device.fp32_to_fp64;
  prop.concurrentManagedAccess = 1;
  prop.computePreemptionSupported = 1;
  prop.canUseHostPointerForRegisteredMem = 1;
  prop.cooperativeLaunch = 1;
  prop.sharedMemPerBlockOptin = device.shared_per_block_optin;
  prop.maxBlocksPerMultiProcessor = device.max_blocks_per_multiprocessor;
  prop.reservedSharedMemPerBlock = device.reserved_shared;
  prop.hostRegisterSupported = 1;
  prop.memoryPoolsSupported = 1;
  prop.unifiedFunctionPointers = 1;
  return prop;
}

unsigned multiprocessors() { return static_cast<unsigned>(device().multiprocessors); }

unsigned warps_of_multiprocessor() { return static_cast<unsigned>(device().max_threads_per_multiprocessor / 32); }

}  // namespace tilewise::sim
