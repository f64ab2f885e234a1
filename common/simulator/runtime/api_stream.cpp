// Streams and events. Work is done when it is asked for; what a program may rely on is in order.hpp.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/memory.hpp"
#include "cuda_runtime_api.h"
#include "device_launches.hpp"
#include "graph.hpp"
#include "model/order.hpp"

namespace tilewise::sim {

/// What cudaStreamSetAttribute was given: nothing here goes by it.
struct StreamAttributes {
  cudaAccessPolicyWindow window = {};
  cudaSynchronizationPolicy policy = cudaSyncPolicyAuto;
  cudaLaunchMemSyncDomainMap domains = {0, 1};
  cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
};

}  // namespace tilewise::sim

struct CUstream_st {
  unsigned flags;
  int priority;
  tilewise::sim::order::Stream order;  // which knows the device
  tilewise::sim::StreamAttributes attributes = {};
};

struct CUevent_st {
  unsigned flags;
  int device;
  bool recorded;
  std::chrono::steady_clock::time_point time;
  tilewise::sim::order::Clock order;
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

/// Events that went with their device's reset: they are kept, since CUDA knows them still.
Owners<CUevent_st>& events_before_reset() {
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
  const order::Stream number = order::open_stream((flags & cudaStreamNonBlocking) == 0);
  streams().push_back(std::make_unique<CUstream_st>(CUstream_st{flags, priority, number}));
  *stream = streams().back().get();
  return cudaSuccess;
}

constexpr unsigned kEventFlags = cudaEventBlockingSync | cudaEventDisableTiming;

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  if (event == nullptr || (flags & ~kEventFlags)) return cudaErrorInvalidValue;
  memory::host_uses(event, sizeof *event);
  events().push_back(std::make_unique<CUevent_st>(CUevent_st{flags, current_device(), false, {}, {}}));
  *event = events().back().get();
  return cudaSuccess;
}

cudaError_t on_event(cudaEvent_t event) {
  if (owns(events_before_reset(), event)) return cudaErrorContextIsDestroyed;
  return owns(events(), event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

order::Stream order_of(cudaStream_t stream) {
  if (stream == cudaStreamPerThread) return order::per_thread_of(current_device());
  return is_default(stream) ? order::default_of(current_device()) : stream->order;
}

bool is_blocking(cudaStream_t stream) { return is_default(stream) || (stream->flags & cudaStreamNonBlocking) == 0; }

bool is_stream(cudaStream_t stream) { return is_default(stream) || owns(streams(), stream); }

void destroy_streams(int device) {
  std::erase_if(streams(), [=](const auto& stream) {
    if (order::device_of(stream->order) != device) return false;
    order::close_stream(stream->order);
    return true;
  });
  const auto gone = std::stable_partition(events().begin(), events().end(),
                                          [=](const auto& event) { return event->device != device; });
  std::move(gone, events().end(), std::back_inserter(events_before_reset()));
  events().erase(gone, events().end());
}

cudaError_t check_attribute(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value) {
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow: {
      const cudaAccessPolicyWindow& window = value.accessPolicyWindow;
      const bool fits =
          window.num_bytes <=
          static_cast<std::size_t>(device_properties(device(), current_device()).accessPolicyMaxWindowSize);
      const bool known =
          window.hitProp >= cudaAccessPropertyNormal && window.hitProp <= cudaAccessPropertyPersisting &&
          (window.missProp == cudaAccessPropertyNormal || window.missProp == cudaAccessPropertyStreaming);
      return fits && known && window.hitRatio >= 0 && window.hitRatio <= 1 ? cudaSuccess : cudaErrorInvalidValue;
    }
    case cudaLaunchAttributeCooperative:
      if (value.cooperative != 0) unsupported("a cooperative launch (all blocks of a grid wait for each other)");
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
      if (value.clusterDim.x != 1 || value.clusterDim.y != 1 || value.clusterDim.z != 1)
        unsupported("thread block clusters");
      return cudaSuccess;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return cudaSuccess;
  }
  unsupported("this attribute of a launch");
}

std::size_t live_objects() { return streams().size() + events().size() + graph::live(); }

}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return api([=] { return create_stream(stream, cudaStreamDefault, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  if (in_kernel()) return create_device_stream(stream, flags);
  return api([=] { return create_stream(stream, flags, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return api([=] { return create_stream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (in_kernel()) return destroy_device_stream(stream);
  return api([=] {
    if (owns(streams(), stream)) order::close_stream(stream->order);
    return destroy(streams(), stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api([=] {
    note_wait();
    if (const cudaError_t error = on_stream(stream)) return error;
    if (const cudaError_t error = graph::forbid_waiting(stream)) return error;
    order::host_waits(order_of(stream));
    release_what_pools_keep();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api([=] {
    if (const cudaError_t error = on_stream(stream)) return error;
    if (const cudaError_t error = graph::forbid_waiting(stream)) return error;
    order::host_waits(order_of(stream));  // the answer is that all is done
    return cudaSuccess;
  });
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

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return api([=] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    memory::host_uses(value, sizeof *value);
    if (const cudaError_t error = check_attribute(attribute, *value)) return error;
    StreamAttributes ignored;  // a default stream's
    StreamAttributes& attributes = is_default(stream) ? ignored : stream->attributes;
    if (attribute == cudaLaunchAttributeAccessPolicyWindow)
      attributes.window = value->accessPolicyWindow;
    else if (attribute == cudaLaunchAttributeSynchronizationPolicy)
      attributes.policy = value->syncPolicy;
    else if (attribute == cudaLaunchAttributeMemSyncDomainMap)
      attributes.domains = value->memSyncDomainMap;
    else if (attribute == cudaLaunchAttributeMemSyncDomain)
      attributes.domain = value->memSyncDomain;
    else if (attribute == cudaLaunchAttributePriority && !is_default(stream))
      stream->priority = std::clamp(value->priority, kGreatestPriority, kLeastPriority);
    else
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return api([=] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    memory::host_uses(value, sizeof *value);
    const StreamAttributes attributes = is_default(stream) ? StreamAttributes{} : stream->attributes;
    if (attribute == cudaLaunchAttributeAccessPolicyWindow)
      value->accessPolicyWindow = attributes.window;
    else if (attribute == cudaLaunchAttributeSynchronizationPolicy)
      value->syncPolicy = attributes.policy;
    else if (attribute == cudaLaunchAttributeMemSyncDomainMap)
      value->memSyncDomainMap = attributes.domains;
    else if (attribute == cudaLaunchAttributeMemSyncDomain)
      value->memSyncDomain = attributes.domain;
    else if (attribute == cudaLaunchAttributePriority)
      value->priority = is_default(stream) ? kLeastPriority : stream->priority;
    else
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return api([=] {
    for (const cudaStream_t stream : {to, from})
      if (const cudaError_t error = on_stream(stream)) return error;
    if (!is_default(to)) to->attributes = is_default(from) ? StreamAttributes{} : from->attributes;
    return cudaSuccess;
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return api([] { return cudaSuccess; });
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
    if (graph::capturing()) {
      const auto again = [=](cudaStream_t chain) { return cudaLaunchHostFunc(chain, function, data); };
      cudaError_t error;
      if (graph::takes(stream, cudaGraphNodeTypeHost, nullptr, again, error)) return error;
    }
    order::ask_for(order_of(stream));
    const order::AsWork host_function;
    function(data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return api([=] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    order::ask_for(order_of(stream));
    const order::AsWork host_function;
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return api([=] {
    if (flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = on_stream(stream)) return error;
    if (const cudaError_t error = on_event(event)) return error;
    cudaError_t error;
    if (graph::capturing() && graph::takes_wait(stream, event, error)) return error;
    order::wait(order_of(stream), event->order);
    return cudaSuccess;
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
    if (event->device != device_of(stream)) return cudaErrorInvalidResourceHandle;
    cudaError_t error;
    if (graph::capturing() && graph::takes_record(event, stream, error)) return error;
    event->recorded = true;
    event->time = std::chrono::steady_clock::now();
    event->order = order::record(order_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api([=] {
    note_wait();
    if (const cudaError_t error = on_event(event)) return error;
    if (const cudaError_t error = graph::forbid_waiting(event)) return error;
    order::host_waits(event->order);
    release_what_pools_keep();
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([=] {
    if (const cudaError_t error = on_event(event)) return error;
    if (const cudaError_t error = graph::forbid_waiting(event)) return error;
    order::host_waits(event->order);  // the answer is that it has happened
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    memory::host_uses(milliseconds, sizeof *milliseconds);
    for (const cudaEvent_t event : {start, end}) {
      if (const cudaError_t error = on_event(event)) return error;
      if (!event->recorded || (event->flags & cudaEventDisableTiming)) return cudaErrorInvalidResourceHandle;
    }
    if (start->device != end->device) return cudaErrorInvalidResourceHandle;
    if (!order::host_knows(start->order) || !order::host_knows(end->order)) {
      report_finding(
          "event-not-ready",
          "cudaEventElapsedTime of an event that nothing has waited for: on a GPU the work before it is still running "
          "then, and the call fails (cudaErrorNotReady); cudaEventSynchronize() first",
          site);
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([=] { return destroy(events(), event); });
}
