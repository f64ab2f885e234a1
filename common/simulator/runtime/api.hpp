// What the files of the runtime API (api_*.cpp) share.
#pragma once

#include <cstddef>

#include "device_lock.hpp"
#include "driver_types.h"
#include "errors.hpp"
#include "findings.hpp"
#include "order.hpp"

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

/// A stream that exists: created and not destroyed, or one of the default streams.
bool is_stream(cudaStream_t stream);

/// cudaSuccess when the stream exists.
inline cudaError_t on_stream(cudaStream_t stream) {
  return is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/// What order.hpp knows the stream by. The stream must exist.
order::Stream order_of(cudaStream_t stream);

/// A call that copies or fills: its name for messages, where it was called, its stream, and whether it returns before that is done.
struct CopyCall {
  const char* name;
  void* site;
  cudaStream_t stream = nullptr;
  bool async = false;
};

/// The copy under all of cudaMemcpy's kin.
cudaError_t copy(const CopyCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

void destroy_streams();  ///< all streams and events, for cudaDeviceReset
void forget_kernel_settings();

}  // namespace tilewise::sim

/// Return address of the API call: where the program called it.
#define TILEWISE_CALLER __builtin_return_address(0)
