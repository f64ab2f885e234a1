#include "host_algorithm.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/inline_cache.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "graph.hpp"
#include "model/order.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {

int host_algorithms = 0;

namespace {

const char* running_algorithm = nullptr;  // null: the use of a single element
int algorithm_device = 0;
bool said_of_thrust = false, said_of_cub = false;  // that they are host loops

bool is_of_cub(const char* name) { return std::string_view(name).starts_with("cub::"); }

void say_once(const char* name) {
  bool& said = is_of_cub(name) ? said_of_cub : said_of_thrust;
  if (std::exchange(said, true)) return;
  if (is_of_cub(name))
    std::fputs(
        "tilewise: CUB's device-wide algorithms run on the CPU, as loops of host code: checked, but neither counted "
        "nor "
        "timed\n",
        stderr);
  else
    std::fputs(
        "tilewise: Thrust's algorithms run on the CPU, as loops of host code: checked for bounds, but neither for "
        "races "
        "nor counted nor timed\n",
        stderr);
}

// ---------------------------------------------------------------- what work in a stream uses

/// Bytes that have been used, in pieces that grow as a loop goes on.
class Pieces {
 public:
  void add(std::uintptr_t begin, std::size_t bytes) {
    constexpr std::size_t kLast = 4, kMost = 4096;  // loops go along a few arrays at a time
    const std::size_t oldest = pieces_.size() > kLast ? pieces_.size() - kLast : 0;
    for (std::size_t i = pieces_.size(); i-- > oldest;) {
      memory::Range& piece = pieces_[i];
      if (begin < piece.begin || begin > piece.begin + piece.bytes) continue;
      piece.bytes = std::max(piece.bytes, begin + bytes - piece.begin);
      return;
    }
    if (pieces_.size() >= kMost) merge();
    pieces_.push_back({begin, bytes});
  }
  const std::vector<memory::Range>& merged() { return merge(), pieces_; }
  void clear() { pieces_.clear(); }

 private:
  void merge() {
    std::sort(pieces_.begin(), pieces_.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
    std::vector<memory::Range> whole;
    for (const memory::Range& piece : pieces_) {
      if (!whole.empty() && piece.begin <= whole.back().begin + whole.back().bytes)
        whole.back().bytes = std::max(whole.back().bytes, piece.begin + piece.bytes - whole.back().begin);
      else
        whole.push_back(piece);
    }
    pieces_ = std::move(whole);
  }
  std::vector<memory::Range> pieces_;
};

bool in_stream = false;  // the running one is work in a stream
void* algorithm_site = nullptr;
Pieces read_bytes, written_bytes;
bool found_unwritten = false;

void note_use(std::uintptr_t address, std::size_t bytes, bool writes, const void* site) {
  if (!in_stream || bytes == 0) return;
  (writes ? written_bytes : read_bytes).add(address, bytes);
  if (writes || found_unwritten || memory::is_written(address, bytes)) return;
  found_unwritten = true;
  report_finding("uninitialised",
                 std::string(running_algorithm) + " reads " + memory::describe(address) + ", which nothing has written",
                 algorithm_site ? algorithm_site : const_cast<void*>(site));
}

void look_at_bounds(std::uintptr_t address, std::size_t bytes, bool writes, const void* site) {
  const memory::Allocation* const found = memory::find(address);
  if (found != nullptr && found->live && bytes <= found->end() - address) return;
  const void* const place = place_in_program(site);
  const char* code = found != nullptr && !found->live ? "use-after-free" : "out-of-bounds";
  report_finding(code,
                 std::string(running_algorithm ? running_algorithm : "host code, through Thrust,") +
                     (writes ? " writes " : " reads ") +
                     memory::describe(found != nullptr && found->live ? found->end() : address),
                 const_cast<void*>(place ? place : site));
  std::exit(1);
}

int begin_algorithm(const char* name, CUstream_st* stream, bool waits) {
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
  if (graph::is_captured(stream))
    unsupported((std::string(waits ? "Thrust" : name) + " in a stream that is being captured").c_str());
  running_algorithm = name;
  if (name != nullptr) say_once(name);
  memory::open_device_memory();
  ++memory::changes;
  order::ask_for(order_of(stream));
  if (waits) order::host_waits(order_of(stream));
  algorithm_device = current_device();
  memory::show_variables_of(algorithm_device);
  the_launch.config.grid = the_launch.config.block = dim3(1);  // what threadIdx and its kin say
  the_launch.block = {};
  // What a kernel may do without being looked at, a host loop that comes to the same place may not.
  for (const auto until : {inline_cache::Until::places_are_forgotten, inline_cache::Until::threads_poll,
                           inline_cache::Until::stack_changes, inline_cache::Until::launch_ends})
    inline_cache::empty(until);
  return cudaSuccess;
}

}  // namespace

int begin_host_algorithm(const char* name, CUstream_st* stream) {
  return current_lane != nullptr ? cudaSuccess : begin_algorithm(name, stream, true);
}

int begin_stream_algorithm(const char* name, const void* scratch, std::size_t bytes, CUstream_st* stream) {
  if (current_lane != nullptr) return cudaSuccess;
  if (const int error = begin_algorithm(name, stream, false)) return error;
  if (host_algorithms > 1) return cudaSuccess;
  in_stream = true;
  found_unwritten = !set_checking(true);  // not looked for where nothing is checked
  set_checking(!found_unwritten);
  algorithm_site = const_cast<void*>(place_in_program(TILEWISE_CALLER));
  algorithm_is_given("temporary storage", scratch);
  look_at_bounds(reinterpret_cast<std::uintptr_t>(scratch), bytes, true, algorithm_site);
  written_bytes.add(reinterpret_cast<std::uintptr_t>(scratch), bytes);
  return cudaSuccess;
}

void algorithm_is_given(const char* what, const void* pointer) {
  if (!in_stream || memory::find(pointer) != nullptr || memory::in_arenas(reinterpret_cast<std::uintptr_t>(pointer))) {
    return;
  }
  report_finding(pointer == nullptr ? "null-pointer" : "host-pointer",
                 std::string(running_algorithm) + ": " + what +
                     (pointer == nullptr ? " is a null pointer"
                                         : " is host memory; it works on memory from cudaMalloc, to which the data is "
                                           "copied first"),
                 algorithm_site);
  std::exit(1);
}

void end_stream_algorithm() noexcept {
  if (current_lane != nullptr) return;
  if (host_algorithms == 1) {
    for (const memory::Range& piece : read_bytes.merged())
      order::uses(running_algorithm, algorithm_site, {piece.begin, piece.bytes}, order::Use::reads);
    for (const memory::Range& piece : written_bytes.merged())
      order::uses(running_algorithm, algorithm_site, {piece.begin, piece.bytes}, order::Use::writes);
    read_bytes.clear(), written_bytes.clear();
    in_stream = false;
  }
  end_host_algorithm();
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
  note_use(address, bytes, writes, site);
  if (writes) memory::mark_written(address, bytes);
}

void algorithm_copies(void* to, const void* from, std::size_t bytes, const void* site) {
  if (bytes == 0) return;
  const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
  if (is_of_algorithm(source)) look_at_bounds(source, bytes, false, site), note_use(source, bytes, false, site);
  if (!is_of_algorithm(target)) return;
  look_at_bounds(target, bytes, true, site);
  note_use(target, bytes, true, site);
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
