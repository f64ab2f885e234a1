// Streams and events. Work is done when it is asked for, so nothing is ever pending: a stream is a name, an event a
// moment.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "api.hpp"
#include "cuda_runtime_api.h"
#include "memory.hpp"

struct CUstream_st {
  unsigned flags;
  int priority;
};

struct CUevent_st {
  unsigned flags;
  bool recorded;
  std::chrono::steady_clock::time_point time;
};

namespace tilewise::sim {

namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

template <class Object>
using Owners = std::vector<std::unique_ptr<Object>>;

// Never destroyed: programs destroy streams and events in destructors of their own static objects.
Owners<CUstream_st>& streams() {
  static auto* owners = new Owners<CUstream_st>;
  return *owners;
}

Owners<CUevent_st>& events() {
  static auto* owners = new Owners<CUevent_st>;
  return *owners;
}

template <class Object>
bool owns(const Owners<Object>& owners, const Object* object) {
  return object && std::any_of(owners.begin(), owners.end(), [=](auto& owner) { return owner.get() == object; });
}

template <class Object>
cudaError_t destroy(Owners<Object>& owners, const Object* object) {
  if (!owns(owners, object)) return cudaErrorInvalidResourceHandle;
  std::erase_if(owners, [=](auto& owner) { return owner.get() == object; });
  return cudaSuccess;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || (flags & ~cudaStreamNonBlocking)) return cudaErrorInvalidValue;
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  streams().push_back(std::make_unique<CUstream_st>(CUstream_st{flags, priority}));
  *stream = streams().back().get();
  return cudaSuccess;
}

constexpr unsigned kEventFlags = cudaEventBlockingSync | cudaEventDisableTiming;

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  if (event == nullptr || (flags & ~kEventFlags)) return cudaErrorInvalidValue;
  memory::host_uses(event, sizeof *event);
  events().push_back(std::make_unique<CUevent_st>(CUevent_st{flags, false, {}}));
  *event = events().back().get();
  return cudaSuccess;
}

cudaError_t on_event(cudaEvent_t event) { return owns(events(), event) ? cudaSuccess : cudaErrorInvalidResourceHandle; }

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

bool is_stream(cudaStream_t stream) { return is_default(stream) || owns(streams(), stream); }

void destroy_streams() {
  streams().clear();
  events().clear();
}

}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return api([=] { return create_stream(stream, cudaStreamDefault, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return api([=] { return create_stream(stream, flags, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return api([=] { return create_stream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api([=] { return destroy(streams(), stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api([=] { return note_wait(), on_stream(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api([=] { return on_stream(stream); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return api([=] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    *flags = is_default(stream) ? cudaStreamDefault : stream->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return api([=] {
    if (priority == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    *priority = is_default(stream) ? kLeastPriority : stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = kLeastPriority;
  if (greatest) *greatest = kGreatestPriority;
  return set_error(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return api([=] {
    if (function == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    function(data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return api([=] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return api([=] {
    if (flags != 0) return cudaErrorInvalidValue;
    const cudaError_t error = on_stream(stream);
    return error ? error : on_event(event);
  });
}

// ---------------------------------------------------------------- events

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return api([=] { return create_event(event, cudaEventDefault); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return api([=] { return create_event(event, flags); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return api([=] { return create_event(event, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api([=] {
    if (const cudaError_t error = on_event(event)) return error;
    if (const cudaError_t error = on_stream(stream)) return error;
    event->recorded = true;
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api([=] { return note_wait(), on_event(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([=] { return on_event(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api([=] {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    memory::host_uses(milliseconds, sizeof *milliseconds);
    for (const cudaEvent_t event : {start, end}) {
      if (const cudaError_t error = on_event(event)) return error;
      if (!event->recorded || (event->flags & cudaEventDisableTiming)) return cudaErrorInvalidResourceHandle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([=] { return destroy(events(), event); });
}
