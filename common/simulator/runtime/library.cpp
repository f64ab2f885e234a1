#include "library.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

#include "api.hpp"
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/thread.hpp"
#include "errors.hpp"
#include "graph.hpp"
#include "tilewise_sim/library.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {
namespace {

bool said = false;  // that the CPU computes
LibraryCall last_call;
int last_failure = 0;
std::uint64_t fails_in = 0;  // calls; 0: none fails

}  // namespace

const char* library_engine() {
  said = true;
  return "the simulator's own library on the CPU";
}

LibraryCall last_library_call() { return last_call; }

int last_library_failure() { return last_failure; }
void forget_library_failure() { last_failure = 0; }

void fail_library_call(std::uint64_t n) { fails_in = n; }

namespace library {
namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::string plural(std::int64_t n, const char* word) {
  return grouped_digits(static_cast<std::uint64_t>(n)) + " " + word + (n == 1 ? "" : "s");
}

const char* word_for(const Region& r) { return r.element_bytes == 1 ? "byte" : "element"; }

/// "A (3 x 4, leading dimension 5)".
std::string text(const char* name, const Region& r) {
  std::string words = name;
  if (r.column_major) {
    words += " (" + std::to_string(r.by_rows ? r.runs : r.run) + " x " + std::to_string(r.by_rows ? r.run : r.runs) +
             (r.by_rows ? ", by rows" : "") + ", leading dimension " + std::to_string(r.stride) + ")";
  } else {
    words += " (" + plural(r.run * r.runs, word_for(r));
    if (r.runs > 1 && r.stride != r.run) words += ", " + std::to_string(r.stride) + " apart";
    words += ")";
  }
  return words;
}

std::string element(const char* name, const Region& r, std::int64_t i, std::int64_t j) {
  if (!r.column_major) return std::string(name) + "[" + std::to_string(j) + "]";
  if (r.by_rows) std::swap(i, j);
  return std::string(name) + "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
}

}  // namespace

Call::Call(const char* function, cudaStream_t stream, void* site)
    : lock_(device_mutex()), function_(function), stream_(stream), site_(site) {
  ready_ = sticky_error() == cudaSuccess && is_stream(stream) && device_of(stream) == current_device();
  if (fails_in > 0 && --fails_in == 0) ready_ = false;
  if (graph::is_captured(stream)) unsupported((std::string(function) + " in a stream that is being captured").c_str());
  cudaError_t error = cudaSuccess;  // the default stream must not be used while others are captured
  if (graph::capturing() && graph::takes(stream, cudaGraphNodeTypeKernel, nullptr, {}, error)) ready_ = false;
  if (ready_) order::ask_for(order_of(stream));
}

Call::Call(const char* function, cudaStream_t stream, void* site, std::shared_ptr<const Scalars> captured)
    : lock_(device_mutex()), function_(function), stream_(stream), site_(site), captured_(std::move(captured)) {
  ready_ = sticky_error() == cudaSuccess;
  stream_asked_ = true;  // of the graph
  if (ready_) order::ask_for(order_of(stream));
}

Call::Call(const char* function, cudaStream_t stream, void* site, Captured)
    : lock_(device_mutex()), function_(function), stream_(stream), site_(site), captures_(true) {
  ready_ = sticky_error() == cudaSuccess && device_of(stream) == current_device();
  if (fails_in > 0 && --fails_in == 0) ready_ = false;
}

void Call::read_from_host(void* value, const void* pointer, std::size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(pointer);
  if (captures_) kept_.emplace_back(from, from + bytes);
  std::memcpy(value, captured_ ? captured_->at(next_++).data() : from, bytes);
}

bool Call::may_deliver_to_host() {
  delivers_ = true;
  return !captures_;
}

bool is_captured(cudaStream_t stream) { return graph::is_captured(stream); }

bool capture(const char* function, cudaStream_t stream, void* site, const void* handle,
             std::function<bool(Call&)> work) {
  Call call(function, stream, site, Call::Captured{});
  if (!call.ready()) return false;
  const bool has_none = work(call);
  if (call.delivers_) graph::forbid_waiting(stream);
  if (has_none || call.delivers_) return has_none;
  const auto scalars = std::make_shared<const Scalars>(std::move(call.kept_));
  cudaError_t error = cudaSuccess;
  const auto again = [=](cudaStream_t chain) {
    Call node(function, chain, site, scalars);
    if (!node.ready() || !(launches_only || work(node))) return cudaErrorLaunchFailure;
    node.done(handle);
    return cudaSuccess;
  };
  graph::takes(stream, cudaGraphNodeTypeKernel, function, again, error);
  return error == cudaSuccess;
}

// Before races are looked for: a call in another stream than the demanded one is why there is one.
void Call::is_in_stream() {
  if (std::exchange(stream_asked_, true)) return;
  check_demanded_stream(function_, "cublasSetStream and cusparseSetStream tell a handle", stream_, site_);
}

void Call::uses(const void* pointer, const Region& r, bool writes) {
  is_in_stream();
  const order::Bytes bytes{address_of(pointer), static_cast<std::size_t>(r.run) * r.element_bytes,
                           static_cast<std::size_t>(r.runs), static_cast<std::size_t>(r.stride) * r.element_bytes};
  order::uses(function_, site_, bytes, writes ? order::Use::writes : order::Use::reads);
}

void Call::host_waits() { order::host_waits(order_of(stream_)); }

void Call::finding(const char* code, const std::string& message) {
  report_finding(code, std::string(function_) + ": " + message, site_);
}

bool Call::fits(const char* name, const void* pointer, const Region& region) {
  if (captures_) return false;
  if (region.empty()) return true;
  const std::uintptr_t address = address_of(pointer);
  const auto refuse = [&](const char* code, const std::string& what) {
    finding(code, text(name, region) + what);
    return false;
  };
  if (pointer == nullptr) return refuse("null-pointer", " is a null pointer");
  const memory::Allocation* found = memory::find(address);
  if (found == nullptr && memory::in_arenas(address)) {
    return refuse("out-of-bounds", " lies " + memory::describe(address));
  }
  if (found == nullptr) {
    return refuse("host-pointer",
                  " is host memory; the library works on memory from cudaMalloc, to which the data is copied first");
  }
  if (!found->live) return refuse("use-after-free", " is " + memory::describe(*found));
  if (memory::in_device_arena(address) && !memory::may_access(current_device(), *found)) {
    return refuse("peer-access",
                  " is memory of device " + std::to_string(found->device) + ", and the library works on device " +
                      std::to_string(current_device()) + ": " +
                      (found->pool != nullptr ? "cudaMemPoolSetAccess()" : "cudaDeviceEnablePeerAccess()") +
                      " lets it, or cudaMemcpyPeer() brings the data");
  }
  if (address % region.element_bytes != 0) {
    return refuse("misaligned", " is not aligned to its " + plural(std::int64_t(region.element_bytes), "byte"));
  }
  const std::uint64_t room = (found->end() - address) / region.element_bytes;
  if (static_cast<std::uint64_t>(region.extent()) > room) {
    return refuse("out-of-bounds", " needs " + plural(region.extent(), word_for(region)) + " and has room for " +
                                       plural(static_cast<std::int64_t>(room), word_for(region)) + ": it begins " +
                                       memory::describe(address));
  }
  return true;
}

bool Call::readable(const char* name, const void* pointer, const Region& region) {
  if (!fits(name, pointer, region)) return false;
  if (region.empty()) return true;
  uses(pointer, region, false);
  const bool was_checking = set_checking(true);  // off: TILEWISE_FINDINGS=off, or the program does not want it
  set_checking(was_checking);
  if (!was_checking) return true;
  const std::size_t bytes = static_cast<std::size_t>(region.run) * region.element_bytes;
  std::int64_t unwritten = 0, first_i = 0, first_j = 0;
  for (std::int64_t j = 0; j < region.runs; ++j) {
    const std::uintptr_t begin =
        address_of(pointer) + static_cast<std::uintptr_t>(j * region.stride) * region.element_bytes;
    if (memory::is_written_range(begin, bytes)) continue;
    for (std::int64_t i = 0; i < region.run; ++i) {
      const std::uintptr_t at = begin + static_cast<std::uintptr_t>(i) * region.element_bytes;
      if (memory::is_written(at, region.element_bytes)) continue;
      if (unwritten++ == 0) first_i = i, first_j = j;
    }
  }
  if (unwritten > 0) {
    finding("uninitialised", "reads " + element(name, region, first_i, first_j) + ", which nothing has written" +
                                 (unwritten > 1 ? " (and " + plural(unwritten - 1, "other element") + ")" : ""));
  }
  return true;
}

bool Call::scratch(const char* name, const void* pointer, std::size_t bytes) {
  const auto n = static_cast<std::int64_t>(bytes);
  const Region region{1, n, 1, n, false};
  if (!fits(name, pointer, region)) return false;
  if (bytes > 0) uses(pointer, region, true);
  return true;
}

bool Call::apart(const char* output, const void* out, const Region& out_region, const char* input, const void* in,
                 const Region& in_region) {
  if (out_region.empty() || in_region.empty()) return true;
  // Both are groups in the order of their addresses: walk along the two lists.
  const auto begin = [](const void* p, const Region& r, std::int64_t j) {
    return address_of(p) + static_cast<std::uintptr_t>(j * r.stride) * r.element_bytes;
  };
  const auto bytes = [](const Region& r) { return static_cast<std::uintptr_t>(r.run) * r.element_bytes; };
  if (out_region.stride == 0 || in_region.stride == 0) return true;  // one element again and again
  for (std::int64_t i = 0, j = 0; i < out_region.runs && j < in_region.runs;) {
    const std::uintptr_t a = begin(out, out_region, i), b = begin(in, in_region, j);
    if (a + bytes(out_region) <= b) {
      ++i;
    } else if (b + bytes(in_region) <= a) {
      ++j;
    } else {
      finding("overlap", text(output, out_region) + ", which is written, shares memory with " + text(input, in_region) +
                             ", which is read: the library reads and writes in no particular order");
      return false;
    }
  }
  return true;
}

bool Call::on_host(const char* name, const void* pointer, const char* hint) {
  if (captured_) return true;  // it was, when the call was captured
  if (!memory::in_device_arena(address_of(pointer))) return true;
  finding("host-access",
          std::string(name) + " is device memory (" + memory::describe(address_of(pointer)) + "), " + hint);
  return false;
}

void Call::wrote(void* pointer, const Region& region) {
  if (region.empty()) return;
  uses(pointer, region, true);
  for (std::int64_t j = 0; j < region.runs; ++j) {
    memory::mark_written_range(
        address_of(pointer) + static_cast<std::uintptr_t>(j * region.stride) * region.element_bytes,
        static_cast<std::size_t>(region.run) * region.element_bytes);
  }
}

void Call::done(const void* handle) {
  last_call = {function_, stream_, last_call.serial + 1, handle};
  is_in_stream();
  if (said) return;
  said = true;
  std::fprintf(stderr, "tilewise: %s and its kin are computed by %s: checked, but neither counted nor timed\n",
               function_, library_engine());
}

void note_failure(int status) { last_failure = status; }

void not_supported(const char* function, const std::string& what) {
  std::fprintf(stderr, "tilewise: the simulator does not support %s with %s\n", function, what.c_str());
}

}  // namespace library
}  // namespace tilewise::sim
