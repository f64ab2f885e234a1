// Allocating, copying and filling memory.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/memory/pages.hpp"
#include "cuda_runtime_api.h"
#include "graph.hpp"
#include "host_code.hpp"
#include "model/checker.hpp"
#include "model/order.hpp"
#include "model/timeline.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {

namespace {

using memory::Allocation;
using memory::Kind;

constexpr std::size_t kPitchAlignment = 512;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

/// What keep_copies_to_host() asks for.
struct KeptCopies {
  bool wanted = false;
  bool host_is_reachable = false;  ///< by kernels
  std::string bytes;
};
KeptCopies& kept_copies() {
  static auto& kept = *new KeptCopies;
  return kept;
}

cudaError_t allocate(void** pointer, std::size_t bytes, Kind kind, void* site) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t error = graph::forbid_allocating()) return error;
  memory::host_uses(pointer, sizeof *pointer);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  kept_copies().host_is_reachable |= kind != Kind::device;
  if (kind == Kind::device) ++host_work_so_far().allocations;
  *pointer = memory::allocate(bytes, kind, site);
  if (*pointer != nullptr) order::forget(address_of(*pointer), bytes);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

/// cudaFree and cudaFreeHost. CUDA says "invalid argument" to every mistake; the finding says which one it was.
cudaError_t release(const char* name, void* pointer, bool host, void* site) {
  if (pointer == nullptr) return cudaSuccess;
  if (const cudaError_t error = graph::forbid_allocating()) return error;
  const Allocation* found = memory::find(pointer);
  const auto refuse = [&](const char* code, const std::string& what) {
    report_finding(code, std::string(name) + what, site);
    return cudaErrorInvalidValue;
  };
  if (found == nullptr || found->kind == Kind::variable || found->kind == Kind::registered) {
    return refuse("bad-free", " of memory that no allocating call returned");
  }
  if (!found->live) {
    if (found->freed_by_reset) return cudaErrorInvalidValue;  // a destructor that runs after cudaDeviceReset
    return refuse("double-free", " of memory that is free already: " + memory::describe(*found));
  }
  if (found->begin != address_of(pointer)) {
    return refuse("bad-free", " of a pointer " + memory::describe(address_of(pointer)));
  }
  if (found->heap)
    return refuse("bad-free", " of " + memory::describe(*found) + ", which only kernels free: by free() or delete");
  if ((found->kind == Kind::host) != host) {
    return refuse("bad-free", std::string(" of ") + memory::describe(*found) + "; it takes " +
                                  (host ? "cudaFree" : "cudaFreeHost"));
  }
  const std::size_t bytes = found->bytes;
  if (found->pool != nullptr) give_to_pool(found->pool, bytes);
  memory::release(pointer, site);
  checker::forget_memory(address_of(pointer), bytes);
  host_code::forget(address_of(pointer), bytes);
  return cudaSuccess;
}

/// Whether the program has memory for all of these bytes: whatever it may do with it.
bool is_mapped(std::uintptr_t begin, std::size_t bytes) {
  const std::uintptr_t page = memory::round_down(begin, memory::page_size());
  std::size_t left = begin + bytes - page;
#ifdef __APPLE__
  char resident[1024];
#else
  unsigned char resident[1024];
#endif
  for (std::uintptr_t at = page; left > 0;) {
    const std::size_t part = std::min(left, std::size(resident) * memory::page_size());
    if (mincore(reinterpret_cast<void*>(at), part, resident) != 0 && errno == ENOMEM) return false;
    at += part;
    left -= part;
  }
  return true;
}

/// One side of a copy or the target of a fill: fits it into what it points to?
bool check_range(const char* name, const char* role, const void* pointer, std::size_t bytes, bool must_be_device,
                 void* site) {
  const std::uintptr_t address = address_of(pointer);
  const Allocation* found = memory::find(address);
  const auto refuse = [&](const char* code, const std::string& what) {
    report_finding(code, std::string(name) + ": the " + role + what, site);
    return false;
  };
  if (pointer == nullptr) return refuse("bad-copy", " is a null pointer");
  if (found == nullptr && memory::in_arenas(address)) {
    return refuse("out-of-bounds", " lies " + memory::describe(address));
  }
  if (found == nullptr && must_be_device)
    return refuse("bad-copy", " is ordinary host memory, where device memory is meant");
  if (found == nullptr && !is_mapped(address, bytes))
    return refuse("bad-copy", is_mapped(address, 1)
                                  ? " has no room for " + bytes_text(bytes) + ": the host's memory ends before"
                                  : " is an address where the host has no memory");
  if (found == nullptr) return true;
  // What a captured stream has allocated is there when the graph is launched: then this is asked again.
  const bool will_live = found->kept && graph::capturing();
  if (!found->live && !will_live) return refuse("use-after-free", " is " + memory::describe(*found));
  if (found->heap)
    return refuse("bad-copy", " is " + memory::describe(*found) + ", which only kernels can use: copy it in one");
  if (bytes > found->end() - address) {
    // The program's own memory may go on beyond the registered part.
    if (found->kind == Kind::registered && !must_be_device) return true;
    return refuse("out-of-bounds",
                  " has no room for " + bytes_text(bytes) + ": they begin " + memory::describe(address));
  }
  return true;
}

bool says_device(cudaMemcpyKind kind, bool target) {
  return kind == cudaMemcpyDeviceToDevice || kind == (target ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

bool is_device_memory(const void* pointer) {
  const Allocation* found = memory::find(pointer);
  return found != nullptr && (found->kind == Kind::device || found->kind == Kind::variable);
}

/// Memory that the API gave or knows. Into other memory, the program's own, kernels can't look.
bool is_ours(const void* pointer) { return memory::find(pointer) != nullptr; }

void fill_row(char* begin, unsigned value, std::size_t width, std::size_t element) {
  if (width == 0) return;
  const bool has_them =
      std::memcmp(begin, &value, element) == 0 && std::memcmp(begin, begin + element, width - element) == 0;
  if (has_them) return;
  ++memory::changes;
  memory::give_large_pages(address_of(begin), width);
  if (element == 1) std::memset(begin, static_cast<int>(value), width);
  for (std::size_t i = 0; element != 1 && i < width; i += element) std::memcpy(begin + i, &value, element);
}

/// The last fill: benchmarks repeat one to empty a cache.
struct Fill {
  const void* pointer = nullptr;
  std::size_t pitch = 0;
  unsigned value = 0;
  std::size_t width = 0, height = 0, element = 0;
  std::uint64_t changes = 0;
  bool operator==(const Fill&) const = default;
};
Fill last_fill;

void note_host_code(const void* to, const void* from, std::size_t bytes) {
  const bool to_device = is_device_memory(to), from_device = is_device_memory(from);
  if (to_device && from_device) host_code::copied_on_device(to, from, bytes);
  if (to_device && !from_device) host_code::copied_to_device(to, bytes);
  if (!to_device && from_device) host_code::copied_to_host(from, bytes);
}

/// Moves bytes that were checked, and their shadow.
void move_bytes(void* to, const void* from, std::size_t bytes) {
  if (memory::has_addresses_only() && (is_device_memory(to) || is_device_memory(from))) return;
  const memory::DeviceMemoryOpen open(true);
  const bool kernels_see_it = is_ours(to);
  if (!kernels_see_it || std::memcmp(to, from, bytes) != 0) {
    if (!memory::in_device_arena(address_of(from))) memory::give_large_pages(address_of(to), bytes);
    std::memmove(to, from, bytes);
    memory::changes += kernels_see_it;
  } else if (!memory::is_written(address_of(from), bytes)) {
    ++memory::changes;  // of what is known about the bytes
  }
  if (kept_copies().wanted && is_device_memory(from) && !is_device_memory(to))
    kept_copies().bytes.append(static_cast<const char*>(from), bytes);
  memory::copy_written(address_of(to), address_of(from), bytes);
  note_host_code(to, from, bytes);
}

int device_of_memory(const void* pointer) { return memory::find(pointer)->device; }

/// Two places in the memory of different devices.
bool on_two_devices(const void* one, const void* other) {
  return several_devices() && memory::in_device_arena(address_of(one)) && memory::in_device_arena(address_of(other)) &&
         is_device_memory(one) && is_device_memory(other) && device_of_memory(one) != device_of_memory(other);
}

/// Asks for the copy. One between two devices in a default stream waits for both, and both for it, unless it is asynchronous.
void ask_for_copy(const CopyCall& call, const void* to, const void* from) {
  if (!call.async && on_two_devices(to, from))
    order::ask_for_between(order_of(call.stream), device_of_memory(from), device_of_memory(to));
  else
    order::ask_for(order_of(call.stream));
}

/// A copy to the device from the program's own memory, by a call that isn't asynchronous: it waits for what the stream was asked for
/// before, and returns as soon as the bytes are in the driver's buffer. They may still be on their way then (CUDA Runtime API, "API
/// synchronization behavior"; seen on an H200 by lesson 15's arrived.cu). Where a program sees several devices, such a copy is taken for
/// done: there, what it gets wrong between devices is what it's to be told.
bool leaves_before_arrival(const CopyCall& call, const void* to, const void* from) {
  return !call.async && !several_devices() && is_device_memory(to) && memory::find(from) == nullptr;
}

/// What the host waits for, beside the copy or fill itself: `on_host` says whether it touches memory that the host can reach, and
/// `pageable` whether that is the program's own, which a copy goes through at once.
void wait_as_documented(const CopyCall& call, bool on_host, bool to_pageable) {
  if (call.async ? to_pageable : on_host) order::host_waits(order_of(call.stream));
}

/// Pageable memory is copied with the host's help: it stays until that is done.
void note_copy(const void* to, const void* from, std::size_t bytes) {
  HostWork& work = host_work_so_far();
  if (memory::find(from) == nullptr || memory::find(to) == nullptr) work.pageable_bytes += bytes;
  if (on_two_devices(to, from)) {
    static_assert(std::tuple_size_v<decltype(work.bytes_sent)> == kMostDevices);
    const int source = device_of_memory(from);
    work.bytes_sent[static_cast<std::size_t>(source)] += bytes;
    work.bytes_received[static_cast<std::size_t>(device_of_memory(to))] += bytes;
    timeline::is_copy(Engine::copy_out, source, bytes, false);
  }
  if (is_device_memory(to) == is_device_memory(from)) return;
  const bool in = is_device_memory(to);
  (in ? work.bytes_to_device : work.bytes_to_host) += bytes;
  timeline::is_copy(in ? Engine::copy_in : Engine::copy_out, device_of_memory(in ? to : from), bytes,
                    memory::find(in ? from : to) == nullptr);
}

/// The host gets what nothing has written: where the findings are strict, since programs do so with the unused ends of rows.
void look_for_unwritten(const CopyCall& call, std::uintptr_t from, std::size_t pitch, std::size_t width,
                        std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    const std::uintptr_t begin = from + row * pitch;
    if (memory::is_written(begin, width)) continue;
    std::size_t first = 0;
    while (memory::is_written(begin + first, 1)) ++first;
    report_finding("unwritten-copy",
                   std::string(call.name) + " gives the host what nothing has written: it begins " +
                       memory::describe(begin + first),
                   call.site);
    return;
  }
}

}  // namespace

cudaError_t copy_rows(const CopyCall& call, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  const std::size_t to_extent = (height - 1) * to_pitch + width;
  const std::size_t from_extent = (height - 1) * from_pitch + width;
  if (!check_range(call.name, "destination", to, to_extent, says_device(kind, true), call.site) ||
      !check_range(call.name, "source", from, from_extent, says_device(kind, false), call.site)) {
    return cudaErrorInvalidValue;
  }
  if (graph::capturing()) {
    const auto again = [=](cudaStream_t stream) {
      return copy_rows({call.name, call.site, stream, true}, to, to_pitch, from, from_pitch, width, height, kind);
    };
    cudaMemcpy3DParms node{};
    node.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), from_pitch, width, height);
    node.dstPtr = make_cudaPitchedPtr(to, to_pitch, width, height);
    node.extent = make_cudaExtent(width, height, 1);
    node.kind = kind;
    cudaError_t error;
    if (graph::takes_copy(call.stream, node, again, error)) return error;
  }
  if (findings_are_strict() && is_device_memory(from) && !is_device_memory(to))
    look_for_unwritten(call, address_of(from), from_pitch, width, height);
  const bool arrives_later = leaves_before_arrival(call, to, from);
  if (arrives_later) order::host_waits(order_of(call.stream));
  ask_for_copy(call, to, from);
  const char* const name =
      arrives_later ? "a copy from pageable memory, whose call may return before the bytes are there," : call.name;
  order::uses(call.name, call.site, {address_of(from), width, height, from_pitch}, order::Use::reads);
  order::uses(name, call.site, {address_of(to), width, height, to_pitch}, order::Use::writes);
  note_copy(to, from, width * height);
  const memory::DeviceMemoryOpen open(true);
  for (std::size_t row = 0; row < height; ++row) {
    move_bytes(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  }
  if (!arrives_later)
    wait_as_documented(call, !is_device_memory(to) || !is_device_memory(from), memory::find(to) == nullptr);
  return cudaSuccess;
}

namespace {

/// The variable that a symbol names, or null.
const Allocation* variable(const void* symbol) {
  const Allocation* found = symbol ? memory::find(symbol) : nullptr;
  return found && found->kind == Kind::variable && found->begin == address_of(symbol) ? found : nullptr;
}

cudaError_t copy_symbol(const CopyCall& call, bool to_symbol, const void* symbol, void* to, const void* from,
                        std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  const Allocation* found = variable(symbol);
  if (found == nullptr) return cudaErrorInvalidSymbol;
  if (bytes == 0) return cudaSuccess;
  const cudaMemcpyKind usual = to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind != usual && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (offset > found->bytes || bytes > found->bytes - offset) return cudaErrorInvalidValue;
  const int device = call.stream == nullptr ? current_device() : device_of(call.stream);
  char* const place = reinterpret_cast<char*>(memory::place_of(*found, device)) + offset;
  return to_symbol ? copy(call, place, from, bytes, kind) : copy(call, to, place, bytes, kind);
}

cudaError_t check_managed(const void* pointer, std::size_t bytes) {
  const Allocation* found = memory::find(pointer);
  if (found == nullptr || !found->live || bytes == 0) return cudaErrorInvalidValue;
  const bool managed =
      found->kind == Kind::managed || (found->kind == Kind::variable && found->space == Space::managed);
  return managed && bytes <= found->end() - address_of(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t check_place(int place) {
  return (place >= 0 && place < device_count()) || place == cudaCpuDeviceId ? cudaSuccess : cudaErrorInvalidDevice;
}

int place_of(cudaMemLocation location) {
  if (location.type == cudaMemLocationTypeHost) return cudaCpuDeviceId;
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaInvalidDeviceId;
}

constexpr unsigned kHostAllocFlags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned kHostRegisterFlags =
    cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

}  // namespace

cudaError_t malloc_in_stream(const char* name, void** pointer, std::size_t bytes, cudaStream_t stream, void* site,
                             cudaMemPool_t pool) {
  const cudaError_t error = on_stream(stream);
  check_demanded_stream(name, "it is the last argument", stream, site);
  if (error) return error;
  if (graph::is_captured(stream)) return graph::takes_allocation(pointer, bytes, stream, site);
  if (pool == nullptr) pool = pool_of_device(device_of(stream));
  const OnDevice there(device_of(pool));
  const cudaError_t result = allocate(pointer, bytes, Kind::device, site);
  if (result == cudaSuccess && *pointer != nullptr) {
    take_from_pool(pool, *pointer, bytes);
    order::ask_for(order_of(stream));
    order::uses(name, site, {address_of(*pointer), bytes}, order::Use::allocates);
  }
  return result;
}

cudaError_t free_in_stream(const char* name, void* pointer, cudaStream_t stream, void* site) {
  if (const Allocation* found = memory::find(pointer); found && found->live && found->begin == address_of(pointer)) {
    order::ask_for(order_of(stream));
    order::uses(name, site, {found->begin, found->bytes}, order::Use::frees);
  }
  return release(name, pointer, false, site);
}

void* reserve_for_graph(std::size_t bytes) {
  void* const pointer = memory::allocate(bytes, Kind::device, nullptr);
  if (pointer == nullptr) return nullptr;
  memory::keep_addresses(pointer, true);
  memory::release(pointer, nullptr);
  return pointer;
}

cudaError_t allocate_for_graph(void* pointer, std::size_t bytes, cudaStream_t stream, void* site) {
  if (!memory::allocate_again(pointer, site)) return cudaErrorMemoryAllocation;
  ++host_work_so_far().allocations;
  take_from_pool(pool_of_graphs(memory::find(pointer)->device), pointer, bytes);
  order::forget(address_of(pointer), bytes);
  order::ask_for(order_of(stream));
  order::uses("a graph's allocation", site, {address_of(pointer), bytes}, order::Use::allocates);
  return cudaSuccess;
}

cudaError_t fill(const CopyCall& call, void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                 std::size_t height, std::size_t element) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && pitch < width) return cudaErrorInvalidValue;
  if (!check_range(call.name, "target", pointer, (height - 1) * pitch + width, true, call.site))
    return cudaErrorInvalidValue;
  if (const int filling = device_of(call.stream);
      is_device_memory(pointer) && !memory::may_access(filling, *memory::find(pointer))) {
    const std::string there = std::to_string(device_of_memory(pointer));
    report_finding("peer-access",
                   std::string(call.name) + " fills memory of device " + there + " from device " +
                       std::to_string(filling) +
                       ", which has no access to it: cudaErrorInvalidValue. Call cudaSetDevice(" + there +
                       ") before, and take a stream of that device",
                   call.site);
    return cudaErrorInvalidValue;
  }
  if (graph::capturing()) {
    const auto again = [=](cudaStream_t stream) {
      return fill({call.name, call.site, stream, true}, pointer, pitch, value, width, height, element);
    };
    cudaError_t error;
    if (graph::takes(call.stream, cudaGraphNodeTypeMemset, nullptr, again, error)) return error;
  }
  order::ask_for(order_of(call.stream));
  order::uses(call.name, call.site, {address_of(pointer), width, height, pitch}, order::Use::writes);
  if (memory::has_addresses_only() && is_device_memory(pointer)) return cudaSuccess;
  if (last_fill != Fill{pointer, pitch, value, width, height, element, memory::changes} ||
      !memory::in_device_arena(address_of(pointer))) {
    const memory::DeviceMemoryOpen open(true);
    for (std::size_t row = 0; row < height; ++row) {
      char* const begin = static_cast<char*>(pointer) + row * pitch;
      fill_row(begin, value, width, element);
      memory::mark_written(address_of(begin), width);
    }
    last_fill = {pointer, pitch, value, width, height, element, memory::changes};
  }
  wait_as_documented(call, !is_device_memory(pointer), false);
  return cudaSuccess;
}

cudaError_t copy(const CopyCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_rows(call, to, bytes, from, bytes, bytes, 1, kind);
}

namespace {

/// One side of a copy between devices: is it memory of the device that the call names?
bool check_device_of(const CopyCall& call, const char* role, const void* pointer, int device) {
  const Allocation* found = memory::find(pointer);
  if (found == nullptr || !found->live || found->device == device) return true;
  if (!memory::in_device_arena(address_of(pointer)) || !is_device_memory(pointer)) return true;
  report_finding("bad-copy",
                 std::string(call.name) + ": the " + role + " is memory of device " + std::to_string(found->device) +
                     ", and the call says device " + std::to_string(device),
                 call.site);
  return false;
}

/// cudaMemcpyPeer and cudaMemcpyPeerAsync.
cudaError_t copy_peer(const CopyCall& call, void* to, int to_device, const void* from, int from_device,
                      std::size_t bytes) {
  for (const int device : {to_device, from_device})
    if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  if (!check_device_of(call, "destination", to, to_device) || !check_device_of(call, "source", from, from_device))
    return cudaErrorInvalidValue;
  return copy(call, to, from, bytes, cudaMemcpyDeviceToDevice);
}

}  // namespace

}  // namespace tilewise::sim

namespace tilewise::sim {

void* allocate_closed_host_memory(std::size_t bytes) {
  void* const pointer = memory::allocate(bytes, Kind::host, nullptr, true);
  if (pointer != nullptr) order::forget(address_of(pointer), bytes);
  return pointer;
}

void note_callers_work(cudaStream_t stream, const void* pointer, std::size_t bytes, bool writes, const char* name) {
  if (writes) ++memory::changes;
  order::ask_for(order_of(stream));
  order::uses(name, nullptr, {address_of(pointer), bytes}, writes ? order::Use::writes : order::Use::reads);
}

void keep_copies_to_host() { kept_copies() = {true, false, {}}; }

bool came_from_device(const void* pointer, std::size_t bytes) {
  const std::string_view wanted(static_cast<const char*>(pointer), bytes);
  return kept_copies().host_is_reachable || kept_copies().bytes.find(wanted) != std::string::npos;
}

}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- allocating

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return allocate(pointer, bytes, Kind::device, site); });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return malloc_in_stream("cudaMallocAsync", pointer, bytes, stream, site); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(pointer, bytes, Kind::managed, site);
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return allocate(pointer, bytes, Kind::host, site); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (flags & ~kHostAllocFlags) return cudaErrorInvalidValue;
    return allocate(pointer, bytes, Kind::host, site);
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    const std::size_t row = round_up(width, kPitchAlignment), bytes = product(row, height);
    if (bytes == kTooMany) return cudaErrorMemoryAllocation;
    *pitch = row;
    return allocate(pointer, bytes, Kind::device, site);
  });
}

cudaError_t cudaFree(void* pointer) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const Allocation* found = pointer == nullptr ? nullptr : memory::find(pointer);
    if (found != nullptr && found->kind == Kind::device)  // as on a GPU
      order::host_waits_for_device(found->device);
    else if (pointer != nullptr)
      order::host_waits_for_all();
    return release("cudaFree", pointer, false, site);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    check_demanded_stream("cudaFreeAsync", "it is the last argument", stream, site);
    if (error) return error;
    if (graph::is_captured(stream)) return graph::takes_free(pointer, stream, site);
    return free_in_stream("cudaFreeAsync", pointer, stream, site);
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (pointer != nullptr) order::host_waits_for_all();  // as on a GPU
    return release("cudaFreeHost", pointer, true, site);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    if (pointer == nullptr || bytes == 0 || (flags & ~kHostRegisterFlags)) return cudaErrorInvalidValue;
    kept_copies().host_is_reachable = true;
    if (memory::in_arenas(address_of(pointer))) return cudaErrorInvalidValue;
    return memory::register_host(pointer, bytes, flags, site) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api([=] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return memory::unregister_host(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return api([=] {
    const Allocation* found = host ? memory::find(host) : nullptr;
    if (device == nullptr || flags != 0 || found == nullptr || !found->live) return cudaErrorInvalidValue;
    if (found->kind != Kind::host && found->kind != Kind::registered) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return api([=] {
    const Allocation* found = host ? memory::find(host) : nullptr;
    if (flags == nullptr || found == nullptr || !found->live) return cudaErrorInvalidValue;
    if (found->kind != Kind::host && found->kind != Kind::registered) return cudaErrorInvalidValue;
    *flags = found->flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

namespace {

// A third of the memory that this machine, or the container, could give when it was first asked; all where nobody says.
std::size_t what_the_host_can_give() {
  const auto number_in = [](const char* path, const char* before) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t at = text.find(before);
    return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::strlen(before), nullptr, 10);
  };
  static const std::size_t bytes = [&] {
    std::size_t most = number_in("/proc/meminfo", "MemAvailable:") << 10;
    if (most == 0) most = SIZE_MAX;
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (const std::size_t limit = number_in(path, ""); limit != 0) most = std::min(most, limit);
    return most / 3;
  }();
  return bytes;
}

// Programs take nine tenths of what is free, and as much in host memory: more than the host has would end them without a word.
std::size_t free_bytes() {
  const std::size_t all = std::min(memory::capacity(), what_the_host_can_give());
  return all - std::min(all, memory::used_bytes(current_device()));
}

}  // namespace

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return api([=] {
    memory::host_uses(free, sizeof *free);
    memory::host_uses(total, sizeof *total);
    if (free) *free = free_bytes();
    if (total) *total = device().memory;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return set_error(cudaErrorInvalidValue);
  const DeviceLock lock(device_mutex());
  const Allocation* found = memory::find(pointer);
  void* const address = const_cast<void*>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
  if (found == nullptr || !found->live) return cudaSuccess;
  attributes->device = found->device;
  attributes->devicePointer = address;
  const bool managed =
      found->kind == Kind::managed || (found->kind == Kind::variable && found->space == Space::managed);
  if (managed) {
    attributes->type = cudaMemoryTypeManaged;
  } else if (found->kind == Kind::host || found->kind == Kind::registered) {
    attributes->type = cudaMemoryTypeHost;
  } else {
    attributes->type = cudaMemoryTypeDevice;
    attributes->hostPointer = nullptr;
  }
  return cudaSuccess;
}

// ---------------------------------------------------------------- copying and filling

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return copy({"cudaMemcpy", site}, to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error : copy({"cudaMemcpyAsync", site, stream, true}, to, from, bytes, kind);
  });
}

cudaError_t cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice, size_t bytes) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return copy_peer({"cudaMemcpyPeer", site}, to, toDevice, from, fromDevice, bytes); });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice, size_t bytes,
                                cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error
                 : copy_peer({"cudaMemcpyPeerAsync", site, stream, true}, to, toDevice, from, fromDevice, bytes);
  });
}

cudaError_t cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] { return copy_rows({"cudaMemcpy2D", site}, to, toPitch, from, fromPitch, width, height, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error
                 : copy_rows({"cudaMemcpy2DAsync", site, stream, true}, to, toPitch, from, fromPitch, width, height,
                             kind);
  });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    check_demanded_stream("cudaMemset", "cudaMemsetAsync takes it", nullptr, site);
    return fill({"cudaMemset", site}, pointer, bytes, static_cast<unsigned>(value), bytes, 1);
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    check_demanded_stream("cudaMemsetAsync", "it is the last argument", stream, site);
    return error
               ? error
               : fill({"cudaMemsetAsync", site, stream, true}, pointer, bytes, static_cast<unsigned>(value), bytes, 1);
  });
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    check_demanded_stream("cudaMemset2D", "cudaMemset2DAsync takes it", nullptr, site);
    return fill({"cudaMemset2D", site}, pointer, pitch, static_cast<unsigned>(value), width, height);
  });
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    check_demanded_stream("cudaMemset2DAsync", "it is the last argument", stream, site);
    return error ? error
                 : fill({"cudaMemset2DAsync", site, stream, true}, pointer, pitch, static_cast<unsigned>(value), width,
                        height);
  });
}

// ---------------------------------------------------------------- managed memory: hints without effect

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int place, cudaStream_t stream) {
  return api([=] {
    if (const cudaError_t error = on_stream(stream)) return error;
    if (const cudaError_t error = check_place(place)) return error;
    return check_managed(pointer, bytes);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream) {
  if (flags != 0) return set_error(cudaErrorInvalidValue);
  return cudaMemPrefetchAsync(pointer, bytes, place_of(location), stream);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int place) {
  return api([=] {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_managed(pointer, bytes)) return error;
    const bool place_matters = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly &&
                               advice != cudaMemAdviseUnsetPreferredLocation;
    return place_matters ? check_place(place) : cudaSuccess;
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, place_of(location));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned int) {
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error : check_managed(pointer, 1);
  });
}

// ---------------------------------------------------------------- device variables

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return api([=] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (variable(symbol) == nullptr) return cudaErrorInvalidSymbol;
    *pointer = reinterpret_cast<void*>(memory::place_of(*variable(symbol), current_device()));
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return api([=] {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    const Allocation* found = variable(symbol);
    if (found == nullptr) return cudaErrorInvalidSymbol;
    *bytes = found->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    return copy_symbol({"cudaMemcpyToSymbol", site}, true, symbol, nullptr, from, bytes, offset, kind);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    return copy_symbol({"cudaMemcpyFromSymbol", site}, false, symbol, to, nullptr, bytes, offset, kind);
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error
                 : copy_symbol({"cudaMemcpyToSymbolAsync", site, stream, true}, true, symbol, nullptr, from, bytes,
                               offset, kind);
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  void* const site = TILEWISE_CALLER;
  return api([=] {
    const cudaError_t error = on_stream(stream);
    return error ? error
                 : copy_symbol({"cudaMemcpyFromSymbolAsync", site, stream, true}, false, symbol, to, nullptr, bytes,
                               offset, kind);
  });
}
