#include "errors.hpp"

#include "device_launches.hpp"

#include <algorithm>
#include <iterator>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/occupancy.hpp"
#include "base/registers.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/order.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {

namespace {

thread_local cudaError_t last_error = cudaSuccess;
cudaError_t sticky[kMostDevices] = {};  // of each device
std::uint64_t waits_so_far = 0;
std::uint64_t launch_fails_in = 0;  // launches; 0: none fails

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled", "profiler disabled while using external profiling tool"},
    {cudaErrorProfilerNotInitialized, "cudaErrorProfilerNotInitialized",
     "profiler not initialized: call cudaProfilerInitialize()"},
    {cudaErrorProfilerAlreadyStarted, "cudaErrorProfilerAlreadyStarted", "profiler already started"},
    {cudaErrorProfilerAlreadyStopped, "cudaErrorProfilerAlreadyStopped", "profiler already stopped"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidTexture, "cudaErrorInvalidTexture", "invalid texture reference"},
    {cudaErrorInvalidTextureBinding, "cudaErrorInvalidTextureBinding", "texture is not bound to a pointer"},
    {cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {cudaErrorInvalidFilterSetting, "cudaErrorInvalidFilterSetting",
     "linear filtering not supported for non-float type"},
    {cudaErrorInvalidNormSetting, "cudaErrorInvalidNormSetting",
     "read as normalized float not supported for 32-bit non float type"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver",
     "API call is not supported in the installed CUDA driver"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorIncompatibleDriverContext, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {cudaErrorLaunchMaxDepthExceeded, "cudaErrorLaunchMaxDepthExceeded",
     "launch would exceed maximum depth of nested launches"},
    {cudaErrorLaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorUnmapBufferObjectFailed, "cudaErrorUnmapBufferObjectFailed", "unmapping of buffer object failed"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {cudaErrorDeviceAlreadyInUse, "cudaErrorDeviceAlreadyInUse",
     "exclusive-thread device already in use by a different thread"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {cudaErrorInvalidSource, "cudaErrorInvalidSource", "device kernel image is invalid"},
    {cudaErrorFileNotFound, "cudaErrorFileNotFound", "file not found"},
    {cudaErrorSharedObjectSymbolNotFound, "cudaErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
    {cudaErrorSharedObjectInitFailed, "cudaErrorSharedObjectInitFailed", "shared object initialization failed"},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorSetOnActiveProcess, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    {cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorTooManyPeers, "cudaErrorTooManyPeers", "peer mapping resources exhausted"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorInvalidAddressSpace, "cudaErrorInvalidAddressSpace",
     "operation not supported on global/shared address space"},
    {cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid program counter"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorSystemNotReady, "cudaErrorSystemNotReady", "system not yet initialized"},
    {cudaErrorSystemDriverMismatch, "cudaErrorSystemDriverMismatch",
     "system has unsupported display driver / cuda driver combination"},
    {cudaErrorTimeout, "cudaErrorTimeout", "wait operation timed out"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize",
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph "
     "update"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

constexpr const char* kUnknown = "unrecognized error code";

/// The block needs more registers than an SM has. Never true of a kernel whose registers are not recorded.
bool lacks_registers(const void* kernel, std::size_t threads) {
  const auto too_many = [threads](int registers) {
    return threads > static_cast<std::size_t>(threads_with_registers(device(), registers));
  };
  return too_many(recorded_registers_at_most(device(), kernel)) &&
         too_many(recorded_resources(device(), kernel).registers);
}

}  // namespace

cudaError_t set_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t set_sticky(cudaError_t error) {
  cudaError_t& first = sticky[current_device()];
  if (first == cudaSuccess) first = error;
  return set_error(first);
}

cudaError_t sticky_error() {
  if (sticky[current_device()] != cudaSuccess) return sticky[current_device()];
  const auto other = std::find_if(std::begin(sticky), std::end(sticky), [](cudaError_t e) { return e != cudaSuccess; });
  return other == std::end(sticky) ? cudaSuccess : *other;  // as on two H100s: the process is lost, not a device
}

bool any_sticky_error() {
  return std::any_of(std::begin(sticky), std::end(sticky), [](cudaError_t error) { return error != cudaSuccess; });
}

void clear_errors() {
  sticky[current_device()] = cudaSuccess;
  last_error = cudaSuccess;
}

std::uint64_t waits() { return waits_so_far; }
void note_wait() { ++waits_so_far; }

HostWork& host_work_so_far() {
  static constinit HostWork work;
  return work;
}

HostWork host_work() {
  HostWork work = host_work_so_far();
  work.waits = order::host_has_waited();
  return work;
}

void fail_launch(std::uint64_t n) { launch_fails_in = n; }

void launch_only() {
  launches_only = true;
  memory::addresses_only();
}

void run_corners() {
  launch_only();
  corners_only = true;
  memory::pages_on_demand();
}

cudaError_t check_launch_config(const LaunchConfig& config) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (launch_fails_in > 0 && --launch_fails_in == 0) return cudaErrorLaunchOutOfResources;
  if (!is_stream(config.stream)) return cudaErrorInvalidResourceHandle;
  if (order::device_of(order_of(config.stream)) != current_device()) return cudaErrorInvalidResourceHandle;
  const Device& card = device();
  const unsigned grid[] = {config.grid.x, config.grid.y, config.grid.z};
  const unsigned block[] = {config.block.x, config.block.y, config.block.z};
  std::size_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || grid[i] > static_cast<unsigned>(card.max_grid[i])) return cudaErrorInvalidConfiguration;
    if (block[i] == 0 || block[i] > static_cast<unsigned>(card.max_block[i])) return cudaErrorInvalidConfiguration;
    threads *= block[i];
  }
  if (threads > static_cast<std::size_t>(card.max_threads_per_block)) return cudaErrorInvalidConfiguration;
  if (config.shared > max_dynamic_shared(nullptr)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t check_kernel_limits(const void* kernel, const LaunchConfig& config, unsigned max_threads,
                                std::size_t static_shared) {
  const std::size_t threads = std::size_t(config.block.x) * config.block.y * config.block.z;
  if (max_threads != 0 && threads > max_threads) return cudaErrorInvalidValue;
  if (static_shared > device().shared_per_block) return cudaErrorInvalidValue;  // nvcc would not compile it
  if (lacks_registers(kernel, threads)) return cudaErrorLaunchOutOfResources;
  note_kernel(kernel, max_threads, static_shared);
  if (config.shared > max_dynamic_shared(kernel)) return cudaErrorInvalidValue;
  if (config.cooperative && !is_resident_at_once(kernel, config)) return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

}  // namespace tilewise::sim

using namespace tilewise::sim;

cudaError_t cudaGetLastError() {
  if (in_kernel()) return device_error(true);
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  launch_error_seen();
  return error;
}

cudaError_t cudaPeekAtLastError() {
  if (in_kernel()) return device_error(false);
  launch_error_seen();
  return last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  for (const ErrorText& entry : kErrors) {
    if (entry.code == error) return entry.name;
  }
  return kUnknown;
}

const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorText& entry : kErrors) {
    if (entry.code == error) return entry.text;
  }
  return kUnknown;
}
