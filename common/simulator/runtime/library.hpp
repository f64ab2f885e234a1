// What the simulator's versions of CUDA's libraries (libraries/*.cpp) share. A library call is work on a stream, as a
// kernel is: it takes its turn on the device, works on device memory alone, and every pointer is checked before use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/device_lock.hpp"
#include "base/memory.hpp"
#include "driver_types.h"

namespace tilewise::sim::library {

/// Elements that a call touches: `runs` groups of `run` neighbours, from one group to the next `stride` elements.
struct Region {
  std::size_t element_bytes = 0;
  std::int64_t run = 0;
  std::int64_t runs = 0;
  std::int64_t stride = 0;
  bool column_major = false;  ///< a matrix: element (i, j) is the i-th of group j. Else the j-th of a vector
  bool by_rows = false;       ///< of a matrix: element (i, j) is the j-th of group i

  bool empty() const { return run <= 0 || runs <= 0; }
  /// Elements from the first to the last one, both included.
  std::int64_t extent() const { return empty() ? 0 : (runs - 1) * stride + run; }
};

/// Rows x cols, column-major, `ld` elements from one column to the next.
inline Region matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::size_t element_bytes) {
  return {element_bytes, rows, cols, ld, true};
}

/// n elements, |increment| apart. (With a negative increment a vector is walked backwards from its far end.)
inline Region vector(std::int64_t n, std::int64_t increment, std::size_t element_bytes) {
  return {element_bytes, 1, n, increment < 0 ? -increment : increment, false};
}

/// Numbers of the host's that a captured call has read, in the order of its reads: its node goes by these.
using Scalars = std::vector<std::vector<unsigned char>>;

/// One call of a library function while it runs.
class Call {
 public:
  /// `site` is where the program called it.
  Call(const char* function, cudaStream_t stream, void* site);
  /// The same as a node of a graph.
  Call(const char* function, cudaStream_t stream, void* site, std::shared_ptr<const Scalars> captured);

  /// False when nothing can run any more (an earlier error ruined the device, or the stream does not exist).
  bool ready() const { return ready_; }

  /// Whether the region is device memory that holds it all. If not, that is a finding.
  bool fits(const char* name, const void* pointer, const Region& region);
  /// The same, and all of it has been written. Reading what nobody wrote is a finding, but no reason to stop.
  bool readable(const char* name, const void* pointer, const Region& region);
  /// Memory of the program's that the call may use as it likes while it runs.
  bool scratch(const char* name, const void* pointer, std::size_t bytes);
  /// Whether an output shares no element with an input. If it does, that is a finding.
  bool apart(const char* output, const void* out, const Region& out_region, const char* input, const void* in,
             const Region& in_region);
  /// A scalar that the CPU reads or writes: not device memory. `hint` ends the finding's text.
  bool on_host(const char* name, const void* pointer, const char* hint);

  /// Reads such a scalar. Of a node it's the value that was there when the call was captured.
  void read_from_host(void* value, const void* pointer, std::size_t bytes);
  /// The result is a number for the host. False while the call is captured: nobody could wait for it.
  bool may_deliver_to_host();

  /// Notes that the region holds values now.
  void wrote(void* pointer, const Region& region);
  /// The call returns when it is done: its result is a number of the host's.
  void host_waits();
  /// The call has done its work: it enters the log.
  void done(const void* handle);

  void finding(const char* code, const std::string& message);
  const char* function() const { return function_; }

 private:
  friend bool capture(const char* function, cudaStream_t stream, void* site, const void* handle,
                      std::function<bool(Call&)> work);
  struct Captured {};
  Call(const char* function, cudaStream_t stream, void* site, Captured);
  void is_in_stream();
  void uses(const void* pointer, const Region& region, bool writes);

  DeviceLock lock_;
  memory::DeviceMemoryOpen open_;
  const char* function_;
  cudaStream_t stream_;
  void* site_;
  bool ready_;
  bool stream_asked_ = false;
  bool captures_ = false;  // all that is wanted of the work are scalars: no memory is looked at
  bool delivers_ = false;
  Scalars kept_;
  std::shared_ptr<const Scalars> captured_;
  std::size_t next_ = 0;  // of these
};

/// Whether work in that stream becomes nodes of a graph.
bool is_captured(cudaStream_t stream);
/// Makes a node of a call that would be `work(call)`, which is copied, done each time the graph is launched. `work` first reads its scalars,
/// and stops where memory isn't as it should be. False where it can't be captured; the capture is then lost.
bool capture(const char* function, cudaStream_t stream, void* site, const void* handle,
             std::function<bool(Call&)> work);

/// For last_library_failure().
void note_failure(int status);

/// A request that the real library would serve and this one does not: one line on stderr.
void not_supported(const char* function, const std::string& what);

}  // namespace tilewise::sim::library
