#include "host_algorithm.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "api.hpp"
#include "cuda_runtime_api.h"
#include "devices.hpp"
#include "graph.hpp"
#include "inline_cache.hpp"
#include "order.hpp"
#include "symbols.hpp"
#include "thread.hpp"

namespace tilewise::sim {

int host_algorithms = 0;

namespace {

const char* running_algorithm = nullptr;  // null: the use of a single element
bool algorithms_said = false;             // that they are host loops
int algorithm_device = 0;

void say_once() {
  if (algorithms_said) return;
  algorithms_said = true;
  std::fputs(
      "tilewise: Thrust's algorithms run on the CPU, as loops of host code: checked for bounds, but neither for races "
      "nor counted nor timed\n",
      stderr);
}

void look_at_bounds(std::uintptr_t address, std::size_t bytes, bool writes, const void* site) {
  const memory::Allocation* const found = memory::find(address);
  if (found != nullptr && found->live && bytes <= found->end() - address) return;
  const void* const place = place_in_program(site);
  const char* code = found != nullptr && !found->live ? "use-after-free" : "out-of-bounds";
  report_finding(code,
                 (running_algorithm ? "thrust::" + std::string(running_algorithm) : "host code, through Thrust,") +
                     (writes ? " writes " : " reads ") +
                     memory::describe(found != nullptr && found->live ? found->end() : address),
                 const_cast<void*>(place ? place : site));
  std::exit(1);
}

}  // namespace

int begin_host_algorithm(const char* name, CUstream_st* stream) {
  if (current_lane != nullptr) return cudaSuccess;
  device_mutex().lock();
  if (host_algorithms++ > 0) return cudaSuccess;
  cudaError_t error = sticky_error();
  if (error == cudaSuccess) error = on_stream(stream);
  if (error != cudaSuccess) {
    --host_algorithms;
    device_mutex().unlock();
    set_error(error);
    launch_error_seen();  // by the exception
    return error;
  }
  if (graph::is_captured(stream)) unsupported("Thrust in a stream that is being captured");
  running_algorithm = name;
  if (name != nullptr) say_once();
  memory::open_device_memory();
  ++memory::changes;
  order::ask_for(order_of(stream));
  order::host_waits(order_of(stream));
  algorithm_device = current_device();
  memory::show_variables_of(algorithm_device);
  show_grid_of_one_thread();
  // What a kernel may do without being looked at, a host loop that comes to the same place may not.
  for (const auto until : {inline_cache::Until::places_are_forgotten, inline_cache::Until::threads_poll,
                           inline_cache::Until::stack_changes, inline_cache::Until::launch_ends})
    inline_cache::empty(until);
  return cudaSuccess;
}

void end_host_algorithm() noexcept {
  if (current_lane != nullptr) return;
  if (--host_algorithms == 0) {
    memory::keep_variables_of(algorithm_device);
    memory::close_device_memory();
  }
  device_mutex().unlock();
}

void algorithm_accesses(std::uintptr_t address, std::size_t bytes, bool writes, const void* site) {
  look_at_bounds(address, bytes, writes, site);
  if (writes) memory::mark_written(address, bytes);
}

void algorithm_copies(void* to, const void* from, std::size_t bytes, const void* site) {
  if (bytes == 0) return;
  const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
  if (is_of_algorithm(source)) look_at_bounds(source, bytes, false, site);
  if (!is_of_algorithm(target)) return;
  look_at_bounds(target, bytes, true, site);
  if (is_of_algorithm(source))
    memory::copy_written(target, source, bytes);
  else
    memory::mark_written_range(target, bytes);
}

void* allocate_for_algorithms(std::size_t bytes) {
  void* memory = nullptr;
  return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}

void free_of_algorithms(void* memory) { cudaFree(memory); }

}  // namespace tilewise::sim
