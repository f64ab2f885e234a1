// The device's heap: malloc, free, new and delete in kernels. Its pieces are device memory, and checked as such.
#include <fmt/format.h>

#include <cstdlib>
#include <new>
#include <string>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/checker.hpp"
#include "model/observer.hpp"
#include "runtime/api.hpp"

namespace tilewise::sim {
namespace {

void report_bad_free(const char* code, const std::string& what, const void* site) {
  if (!observer::checking) return;
  report_finding(finding_of(code, "free() or delete in a kernel, " + what, *current_lane, site));
}

}  // namespace

void* heap_allocate(std::size_t bytes) {
  void* const site = __builtin_return_address(0);
  if (!current_lane) return std::malloc(bytes);  // a function of both sides
  Unobserved guard;
  if (shows_no_findings()) unsupported("memory allocated in device code in homework");
  // As large as the device's own pieces are at the least.
  constexpr std::size_t kStep = 16;
  const std::size_t taken = (bytes + kStep - 1) / kStep * kStep;
  if (bytes == 0) bytes = 1;  // new int[0]
  void* const pointer = memory::allocate_on_heap(bytes, taken, device_limit(cudaLimitMallocHeapSize), site);
  if (pointer != nullptr) order::forget(reinterpret_cast<std::uintptr_t>(pointer), bytes);
  return pointer;
}

void heap_free(void* pointer) {
  void* const site = __builtin_return_address(0);
  if (!current_lane) return std::free(pointer);
  if (pointer == nullptr) return;
  Unobserved guard;
  const memory::Allocation* found = memory::find(pointer);
  if (found == nullptr || !found->heap)
    return report_bad_free("bad-free",
                           found == nullptr ? "of memory that no malloc() or new has returned"
                                            : "of " + memory::describe(*found) + ", which isn't on the device's heap",
                           site);
  if (!found->live)
    return report_bad_free("double-free", "of memory that is free already: " + memory::describe(*found), site);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (found->begin != address) return report_bad_free("bad-free", "of a pointer " + memory::describe(address), site);
  checker::forget_visits(found->begin);
  memory::release(pointer, site);
}

}  // namespace tilewise::sim
