// A launch, from <<< >>> to its end.
#include <fmt/format.h>
#include <sys/mman.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>
#include "base/device_lock.hpp"
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/inline_cache.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/observer.hpp"
#include "model/order.hpp"
#include "model/timeline.hpp"
#include "runtime/api.hpp"
#include "runtime/device_launches.hpp"
#include "runtime/errors.hpp"
#include "runtime/graph.hpp"
#include "runtime/host_code.hpp"
#include "runtime/repeats.hpp"
#include "runtime/scheduler.hpp"
#include "runtime/watchdog.hpp"

namespace tilewise::sim {

static void reserve_shared_memory() {
  if (shared_begin) return;
  // A fixed address keeps reports identical from run to run; any other works as well.
  void* wanted = reinterpret_cast<void*>(std::uintptr_t{0x0f0000000000});
  void* region =
      mmap(wanted, 2 * kSharedRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    std::fputs("tilewise simulator: cannot reserve the shared memory region\n", stderr);
    std::exit(1);
  }
  shared_begin = static_cast<char*>(region);
}

// ------------------------------------------------------------------------------------------- the launch
namespace {

/// Of a launch in a stream of another device than the current one.
std::string cure_of_refusal(const LaunchConfig& config) {
  const int current = current_device();
  const int other = is_stream(config.stream) ? order::device_of(order_of(config.stream)) : current;
  if (other == current) return "";
  return fmt::format("; its stream belongs to device {}, and device {} is the current one: cudaSetDevice({}) before it",
                     other, current, other);
}

// `child`: a kernel has asked for it.
// `arguments` as repeats::Attempt wants them.
void launch_once(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                 const void* site, const DeviceLaunch* child = nullptr) {
  ++the_launch.serial;
  the_launch.blocks_before = the_launch.block_serial;
  if (const cudaError_t error = check_launch_config(config); error != cudaSuccess) {
    set_error(error);
    launch_failed(error, site, cure_of_refusal(config));
    observer::refused_launch(config, cudaGetErrorName(error), site);
    return;
  }
  if (!graph::launching() && !child) {
    check_demanded_stream("this launch", "it is the fourth argument of <<< >>>", config.stream,
                          const_cast<void*>(site));
    ++host_work_so_far().launches;
  }
  reserve_shared_memory();
  set_abort_launch(leave_launch);
  Scheduler& s = scheduler();
  the_launch.config = config;
  the_launch.site = site;
  the_launch.parent = child ? child->parent : nullptr;
  set_launch_depth(child ? child->depth : 0);
  the_launch.kernel = nullptr;
  the_launch.carveout = cudaSharedmemCarveoutDefault;
  the_launch.static_shared = 0;
  s.thread = thread;
  s.context = context;
  s.aborted = false;
  s.abort_error = cudaSuccess;
  s.abort_sticky = false;
  idle_polls = 0;
  static auto& waiting = *for_ever<std::set<const void*>>();  // places of launches whose threads have waited
  threads_waited = waiting.count(site) != 0;

  const std::uint64_t reports = reports_made();
  watch_blocks();
  memory::open_device_memory();
  the_launch.stream = order_of(config.stream);
  order::ask_for(the_launch.stream);
  const dim3 &grid = config.grid, &block = config.block;
  timeline::is_launch(std::size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z);
  the_launch.device = current_device();
  memory::show_variables_of(the_launch.device);
  inline_cache::empty(
      inline_cache::Until::host_is_watched);  // a kernel may come to the same place, where host memory matters
  observer::begin_launch(the_launch);
  follow_loops = observer::active();
  repeats::Attempt attempt(config, thread, arguments);
  const bool repeated = attempt.changes_nothing();
  if (repeated) {
    attempt.skip(the_launch);
  } else {
    attempt.begin();
    s.run_grid();
    attempt.end(the_launch, s.aborted);
  }
  if (threads_waited) waiting.insert(site);
  observer::end_launch(the_launch);
  inline_cache::empty(inline_cache::Until::launch_ends);
  memory::keep_variables_of(the_launch.device);
  memory::close_device_memory();
  if (the_launch.kernel && !repeated) note_kernel(the_launch.kernel, s.max_threads, the_launch.static_shared);

  if (s.aborted) {
    s.abandon_workers();
    if (s.abort_error == cudaSuccess) return;
    if (s.abort_sticky)
      set_sticky(s.abort_error);
    else
      set_error(s.abort_error);
    if (reports_made() == reports) launch_failed(s.abort_error, site);
  }
}

// The launch, and all that its kernel and those of its children launch: it ends when all of them have.
void start_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                  const void* site) {
  host_code::passed(arguments);
  launch_once(config, thread, context, arguments, site);
  std::vector<DeviceLaunch> open = take_device_launches();
  while (!open.empty() && sticky_error() == cudaSuccess) {
    const DeviceLaunch next = std::move(open.back());
    open.pop_back();
    launch_once(next.config, next.thread, next.context.get(), {}, next.site, &next);
    for (DeviceLaunch& more : take_device_launches()) open.push_back(std::move(more));
  }
}

}  // namespace

void launch_erased(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes) {
  void* const site = __builtin_return_address(0);
  if (current_lane) return launch_in_kernel(config, thread, context, bytes, site);
  const DeviceLock lock(device_mutex());
  if (sticky_error() != cudaSuccess) {
    set_error(sticky_error());
    return;
  }
  if (graph::capturing()) {
    cudaError_t error = graph::is_captured(config.stream) ? check_launch_config(config) : cudaSuccess;
    if (error != cudaSuccess || graph::takes_launch(config, thread, context, bytes, site, error)) {
      if (error == cudaSuccess) return;
      set_error(error);
      launch_failed(error, site, cure_of_refusal(config));
      return;
    }
  }
  start_launch(config, thread, context, {static_cast<const char*>(context), bytes}, site);
}

cudaError_t run_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                       const void* site) {
  // The launch records its error as <<<>>> does; here the call returns it as well.
  const cudaError_t before = cudaGetLastError();
  start_launch(config, thread, context, arguments, site);
  const cudaError_t error = cudaPeekAtLastError();
  if (error == cudaSuccess) set_error(before);
  return error;
}

// The launch's first thread tells which kernel it is. `from` is in it.
[[gnu::noinline, gnu::cold]] static void note_kernel_of_launch(unsigned max_threads, void* from) {
  if (!current_lane) {
    std::fprintf(stderr,
                 "tilewise simulator: %s: a __global__ function was called like an ordinary function; "
                 "launch it with kernel<<<grid, block>>>(...)\n",
                 describe_site(from).c_str());
    std::exit(1);
  }
  Scheduler& s = scheduler();
  the_launch.kernel = function_start(from);
  the_launch.carveout = preferred_carveout(the_launch.kernel);
  Unobserved guard;
  s.max_threads = max_threads;
  if (const cudaError_t error = check_kernel_limits(the_launch.kernel, the_launch.config, max_threads, 0);
      error != cudaSuccess)
    abort_launch(error, false);
  if (launches_only && !corners_only)
    abort_launch(cudaSuccess, false);  // all that there is to know about the launch is known now
}

void enter_kernel(unsigned max_threads) {
  Lane* lane = current_lane;
  if (!lane || !the_launch.kernel) [[unlikely]]
    note_kernel_of_launch(max_threads, __builtin_return_address(0));
  lane->in_kernel = true;
  if (observer::active()) observed_lane = lane;
}

void restricted(const volatile void* pointer) {
  if (observed_lane && observed_lane->linear == 0) observer::restricted(const_cast<const void*>(pointer));
}

}  // namespace tilewise::sim
