#include "runtime/device_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "model/observer.hpp"
#include "runtime/api.hpp"
#include "runtime/errors.hpp"
#include "runtime/repeats.hpp"

namespace tilewise::sim {
namespace {

constexpr unsigned kDeepest = 24;

struct DeviceLaunches {
  std::vector<DeviceLaunch> asked_for;  // by the running launch
  unsigned depth = 0;
  std::map<std::pair<std::uint64_t, unsigned>, cudaError_t> errors;  // of threads, by block and position: mostly none
  std::set<cudaStream_t> streams;
  std::uintptr_t next_stream = 0;
};

DeviceLaunches& launches_in_kernels() {
  static DeviceLaunches* s = for_ever<DeviceLaunches>();
  return *s;
}

std::pair<std::uint64_t, unsigned> running_thread() { return {running_launch().block_serial, current_lane->linear}; }

void set_device_error(cudaError_t error, const void* site) {
  launches_in_kernels().errors[running_thread()] = error;
  launch_failed(error, site);
}

bool in_shared_memory(std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(shared_begin) < 2 * kSharedRegion;
}

// A child has a shared memory of its own, and its threads have other stacks: such a pointer means another place there, or none.
void refuse_own_memory(const void* context, std::size_t bytes, const void* site) {
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(context) + at, sizeof word);
    const bool shared = in_shared_memory(word);
    if (!shared && !on_thread_stack(reinterpret_cast<const void*>(word))) continue;
    std::string message = fmt::format(
        "this thread launches a kernel with a pointer to {} memory of its own, which the kernel's threads don't have: "
        "pass values, "
        "or a pointer to global memory",
        shared ? "shared" : "local");
    end_launch_for("child-pointer", std::move(message), *current_lane, site, cudaErrorIllegalAddress);
  }
}

std::shared_ptr<void> copy_of_arguments(const void* context, std::size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  void* copy = ::operator new(bytes, kAlignment);
  std::memcpy(copy, context, bytes);
  return {copy, [](void* p) { ::operator delete(p, kAlignment); }};
}

// A stream of the host's means nothing here.
bool is_device_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamPerThread || stream == cudaStreamTailLaunch ||
         stream == cudaStreamFireAndForget || launches_in_kernels().streams.count(stream) != 0;
}

}  // namespace

void launch_in_kernel(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes,
                      const void* site) {
  Unobserved guard;
  DeviceLaunches& s = launches_in_kernels();
  if (shows_no_findings()) unsupported("a launch in device code (dynamic parallelism) in homework");
  if (bytes == 0)
    unsupported(
        "a launch in device code whose kernel is a variable, or one of whose arguments has a constructor or a "
        "destructor");
  observer::note_dependence(site, "launches a kernel");
  ++launch_effects;
  if (!is_device_stream(config.stream)) return set_device_error(cudaErrorInvalidResourceHandle, site);
  DeviceLaunch launch{
      config, thread, nullptr, site, running_launch().kernel, s.depth + 1, config.stream == cudaStreamTailLaunch};
  launch.config.stream = running_launch().config.stream;
  if (const cudaError_t error = check_launch_config(launch.config)) return set_device_error(error, site);
  if (launch.tail) launch.depth = s.depth;
  if (launch.depth > kDeepest) return set_device_error(cudaErrorLaunchMaxDepthExceeded, site);
  refuse_own_memory(context, bytes, site);
  launch.context = copy_of_arguments(context, bytes);
  s.asked_for.push_back(std::move(launch));
}

std::vector<DeviceLaunch> take_device_launches() {
  DeviceLaunches& s = launches_in_kernels();
  s.errors.clear();
  std::vector<DeviceLaunch> all = std::exchange(s.asked_for, {});
  std::stable_partition(all.begin(), all.end(), [](const DeviceLaunch& launch) { return !launch.tail; });
  std::reverse(all.begin(), all.end());
  return all;
}

void set_launch_depth(unsigned depth) { launches_in_kernels().depth = depth; }

cudaError_t device_error(bool forget) {
  Unobserved guard;
  launch_error_seen();
  auto& errors = launches_in_kernels().errors;
  const auto found = errors.find(running_thread());
  if (found == errors.end()) return cudaSuccess;
  const cudaError_t error = found->second;
  if (forget) errors.erase(found);
  return error;
}

cudaError_t create_device_stream(cudaStream_t* stream, unsigned flags) {
  Unobserved guard;
  if (stream == nullptr || flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
  DeviceLaunches& s = launches_in_kernels();
  s.next_stream += 64;
  const auto handle = reinterpret_cast<cudaStream_t>(s.next_stream | 1);  // no address of the host's
  s.streams.insert(handle);
  raw_copy(stream, &handle, sizeof handle);
  return cudaSuccess;
}

cudaError_t destroy_device_stream(cudaStream_t stream) {
  Unobserved guard;
  return launches_in_kernels().streams.erase(stream) != 0 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

}  // namespace tilewise::sim
