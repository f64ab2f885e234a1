// What the files of the runtime API (api_*.cpp) share.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/device_lock.hpp"
#include "base/findings.hpp"
#include "base/thread.hpp"
#include "driver_types.h"
#include "end_of_program.hpp"
#include "errors.hpp"
#include "model/order.hpp"
#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

/// Body of most API calls: nothing works after a sticky error; else the result of `call()` is recorded.
template <class Call>
cudaError_t api(Call call) {
  const DeviceLock lock(device_mutex());
  const cudaError_t before = sticky_error();
  const cudaError_t error = before != cudaSuccess ? before : call();
  if (error != cudaSuccess) launch_error_seen();
  return set_error(error);
}

/// Sizes that a program asks for. What is no std::size_t is kTooMany, and stays that.
constexpr std::size_t kTooMany = ~std::size_t{0};
constexpr std::size_t round_up(std::size_t bytes, std::size_t step) {
  return bytes > kTooMany - step ? kTooMany : (bytes + step - 1) / step * step;
}
constexpr std::size_t product(std::size_t a, std::size_t b) { return b != 0 && a > kTooMany / b ? kTooMany : a * b; }

/// A stream that exists: created and not destroyed, or one of the default streams.
bool is_stream(cudaStream_t stream);

/// cudaSuccess when the stream exists.
inline cudaError_t on_stream(cudaStream_t stream) {
  return is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/// What order.hpp knows the stream by. The stream must exist; a default stream is the current device's.
order::Stream order_of(cudaStream_t stream);
/// The device that it belongs to.
inline int device_of(cudaStream_t stream) { return order::device_of(order_of(stream)); }

/// A call that copies or fills: its name for messages, where it was called, its stream, and whether it returns before that is done.
struct CopyCall {
  const char* name;
  void* site;
  cudaStream_t stream = nullptr;
  bool async = false;
};

/// The copy under all of cudaMemcpy's kin.
cudaError_t copy(const CopyCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

/// cudaMallocAsync and its kin; without a pool from that of the stream's device.
cudaError_t malloc_in_stream(const char* name, void** pointer, std::size_t bytes, cudaStream_t stream, void* site,
                             cudaMemPool_t pool = nullptr);

/// cudaFreeAsync, now.
cudaError_t free_in_stream(const char* name, void* pointer, cudaStream_t stream, void* site);

/// Memory of a graph's node, of the current device: at an address that stays its own, and free until allocate_for_graph() is called. Null
/// when there is no room.
void* reserve_for_graph(std::size_t bytes);
cudaError_t allocate_for_graph(void* pointer, std::size_t bytes, cudaStream_t stream, void* site);

cudaMemPool_t pool_of_graphs(int device);
cudaMemPool_t pool_of_device(int device);  ///< what cudaDeviceSetMemPool has set
int device_of(cudaMemPool_t pool);
/// Memory comes from a pool, and goes back there: what the pool says of itself, and who may use it.
void take_from_pool(cudaMemPool_t pool, void* pointer, std::size_t bytes);
void give_to_pool(cudaMemPool_t pool, std::size_t bytes);
/// The host has waited: pools keep no more than their thresholds.
void release_what_pools_keep();
void forget_pools(int device);

/// The same in rows.
cudaError_t copy_rows(const CopyCall& call, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind);

/// cudaMemcpy3D and its kin.
cudaError_t copy_3d(const CopyCall& call, const cudaMemcpy3DParms& parameters);

/// The same for cudaMemset's: `width` bytes in each of `height` rows, `pitch` bytes apart, get the lowest `element` bytes of `value`, again
/// and again; element: 1, 2 or 4.
cudaError_t fill(const CopyCall& call, void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                 std::size_t height, std::size_t element = 1);

/// Whether the default stream waits for it, and it for that.
bool is_blocking(cudaStream_t stream);

/// A launch that has been checked and is to be done now. `site` is where the program asks for it. `arguments`: see repeats::Attempt.
cudaError_t run_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                       const void* site);
/// The same of a kernel by its pointer.
cudaError_t run_kernel(const void* kernel, const LaunchConfig& config, void** arguments, const void* site);
/// Bytes of each of the kernel's parameters, up to a 0; null where it isn't known.
const std::size_t* parameter_sizes_of(const void* kernel);

/// What cudaDeviceSetLimit has set on the current device.
std::size_t device_limit(cudaLimit limit);

/// What is wrong with an attribute of a stream, a launch or a node, if it is one that may be set there.
cudaError_t check_attribute(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value);

void destroy_streams(int device);  ///< all its streams and events, for cudaDeviceReset
void forget_kernel_settings(int device);

}  // namespace tilewise::sim

/// Return address of the API call: where the program called it.
#define TILEWISE_CALLER __builtin_return_address(0)
