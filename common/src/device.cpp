#include "tilewise/device.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "tilewise/cuda_check.hpp"
#include "tilewise/table.hpp"

namespace tilewise {

bool is_simulated() {
#ifdef TILEWISE_SIMULATOR
  return true;
#else
  return false;
#endif
}

int Device::fp32_cores_per_sm() const {
  // CUDA C++ Programming Guide, arithmetic instructions: results per clock and SM, 32-bit floating-point multiply-add.
  switch (major * 10 + minor) {
    case 60:
    case 70:
    case 72:
    case 75:
    case 80:
      return 64;
    case 50:
    case 52:
    case 53:
    case 61:
    case 62:
    case 86:
    case 87:
    case 89:
    case 90:
      return 128;
    default:
      return major >= 10 ? 128 : 0;
  }
}

double Device::peak_fp32_gflops() const { return sms * fp32_cores_per_sm() * 2.0 * sm_clock_mhz * 1e-3; }

double Device::peak_bandwidth_gbs() const { return memory_bus_bits / 8.0 * 2.0 * memory_clock_mhz * 1e-3; }

double Device::peak_shared_gbs() const { return sms * 32 * 4.0 * sm_clock_mhz * 1e-3; }

std::size_t Device::l1_and_shared_per_sm() const {
  // CUDA C++ Programming Guide, technical specifications: size of the unified data cache. No attribute tells it.
  switch (major * 10 + minor) {
    case 70:
    case 72:
    case 86:
    case 89:
    case 120:
      return 128 << 10;
    case 75:
      return 96 << 10;
    case 80:
    case 87:
      return 192 << 10;
    case 90:
    case 100:
      return 256 << 10;
    default:
      return 0;
  }
}

std::string Device::why_not(const std::string& what, std::size_t x, std::size_t y, std::size_t z,
                            std::size_t shared_bytes, bool opt_in) const {
  const char* here = simulated ? "the simulated GPU" : "this GPU";
  // Each side first: their product could overflow.
  const std::size_t sides[] = {x, y, z};
  const auto most = static_cast<std::size_t>(max_threads_per_block);
  for (const std::size_t side : sides)
    if (side == 0 || side > 0xFFFF) return fmt::format("{}: a block side of {} threads", what, with_commas(side));
  if (x * y * z > most)
    return fmt::format("{} needs {} threads per block; {} allows {}", what, with_commas(x * y * z), here,
                       with_commas(most));
  for (int axis = 0; axis < 3; ++axis)
    if (sides[axis] > static_cast<std::size_t>(max_block_dim[axis]))
      return fmt::format("{} needs a block of {} threads in {}; {} allows {}", what, with_commas(sides[axis]),
                         "xyz"[axis], here, with_commas(static_cast<std::size_t>(max_block_dim[axis])));
  const std::size_t shared_limit = opt_in ? shared_per_block_opt_in : shared_per_block;
  if (shared_bytes > shared_limit)
    return fmt::format("{} needs {} of shared memory per block; {} allows {}", what,
                       bytes_text(static_cast<double>(shared_bytes)), here,
                       bytes_text(static_cast<double>(shared_limit)));
  return "";
}

std::string Device::text() const {
  return fmt::format("{}{}, compute capability {}.{}, {} SMs, {} threads per block, {} shared memory per block",
                     simulated && !name.starts_with("Simulated") ? "Simulated " : "", name, major, minor, sms,
                     with_commas(static_cast<std::size_t>(max_threads_per_block)),
                     bytes_text(static_cast<double>(shared_per_block)));
}

namespace {

int current_device() {
  int id = 0;
  CUDA_CHECK(cudaGetDevice(&id));
  return id;
}

Device describe() {
  const int id = current_device();
  // Attributes rather than cudaDeviceProp: CUDA 13 removed the clocks from the struct.
  const auto ask = [&](cudaDeviceAttr attribute) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, id));
    return value;
  };
  const auto ask_size = [&](cudaDeviceAttr attribute) { return static_cast<std::size_t>(ask(attribute)); };
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, id));

  Device device;
  device.name = properties.name;
  device.simulated = is_simulated();
  device.memory_bytes = properties.totalGlobalMem;
  device.major = ask(cudaDevAttrComputeCapabilityMajor);
  device.minor = ask(cudaDevAttrComputeCapabilityMinor);
  device.sms = ask(cudaDevAttrMultiProcessorCount);
  device.warp_size = ask(cudaDevAttrWarpSize);
  device.max_threads_per_block = ask(cudaDevAttrMaxThreadsPerBlock);
  device.max_threads_per_sm = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  device.max_blocks_per_sm = ask(cudaDevAttrMaxBlocksPerMultiprocessor);
  device.max_block_dim[0] = ask(cudaDevAttrMaxBlockDimX);
  device.max_block_dim[1] = ask(cudaDevAttrMaxBlockDimY);
  device.max_block_dim[2] = ask(cudaDevAttrMaxBlockDimZ);
  device.max_grid_dim[0] = ask_size(cudaDevAttrMaxGridDimX);
  device.max_grid_dim[1] = ask_size(cudaDevAttrMaxGridDimY);
  device.max_grid_dim[2] = ask_size(cudaDevAttrMaxGridDimZ);
  device.shared_per_block = ask_size(cudaDevAttrMaxSharedMemoryPerBlock);
  device.shared_per_block_opt_in = ask_size(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  device.shared_per_sm = ask_size(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  device.shared_reserved = ask_size(cudaDevAttrReservedSharedMemoryPerBlock);
  device.constant_bytes = ask_size(cudaDevAttrTotalConstantMemory);
  device.registers_per_block = ask(cudaDevAttrMaxRegistersPerBlock);
  device.registers_per_sm = ask(cudaDevAttrMaxRegistersPerMultiprocessor);
  device.l2_bytes = ask_size(cudaDevAttrL2CacheSize);
  device.sm_clock_mhz = ask(cudaDevAttrClockRate) * 1e-3;
  device.memory_clock_mhz = ask(cudaDevAttrMemoryClockRate) * 1e-3;
  device.memory_bus_bits = ask(cudaDevAttrGlobalMemoryBusWidth);
  CUDA_CHECK(cudaDriverGetVersion(&device.driver_version));
  CUDA_CHECK(cudaRuntimeGetVersion(&device.runtime_version));
  return device;
}

}  // namespace

const Device& device() {
  static const Device description = describe();
  return description;
}

std::size_t free_device_memory() {
  std::size_t available = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&available, &total));
  return available;
}

#ifdef TILEWISE_SIMULATOR

std::optional<Sensors> read_sensors() { return std::nullopt; }

#else

namespace {

// The few functions of NVML that are used, found while running: the library comes with the driver, its header with
// an optional part of the Toolkit. All return 0 for success.
class Nvml {
 public:
  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) return;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    int (*init)() = nullptr;
    int (*by_pci)(const char*, void**) = nullptr;
    if (!find(init, "nvmlInit_v2") || !find(by_pci, "nvmlDeviceGetHandleByPciBusId_v2") ||
        !find(clock_, "nvmlDeviceGetClockInfo") || !find(temperature_, "nvmlDeviceGetTemperature") ||
        !find(power_, "nvmlDeviceGetPowerUsage") || !find(driver_, "nvmlSystemGetDriverVersion") || init() != 0)
      return;
    char bus[32] = {};
    if (cudaDeviceGetPCIBusId(bus, sizeof(bus), current_device()) != cudaSuccess) return;
    if (by_pci(bus, &gpu_) != 0) gpu_ = nullptr;
  }

  std::optional<Sensors> read() const {
    constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;
    if (!gpu_) return std::nullopt;
    unsigned sm = 0, memory = 0, celsius = 0, milliwatt = 0;
    char driver[96] = {};
    if (clock_(gpu_, kSmClock, &sm) != 0) return std::nullopt;
    clock_(gpu_, kMemoryClock, &memory);
    temperature_(gpu_, kGpuTemperature, &celsius);
    power_(gpu_, &milliwatt);
    driver_(driver, sizeof(driver));
    return Sensors{static_cast<int>(sm), static_cast<int>(memory), static_cast<int>(celsius), milliwatt * 1e-3, driver};
  }

 private:
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*temperature_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*driver_)(char*, unsigned) = nullptr;
  void* gpu_ = nullptr;
};

}  // namespace

std::optional<Sensors> read_sensors() {
  static const Nvml nvml;
  return nvml.read();
}

#endif

}  // namespace tilewise
