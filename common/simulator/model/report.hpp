// Records of launches, and how they are shown: JSON for programs, a table for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread.hpp"
#include "model/as_compiled.hpp"
#include "model/warp_log.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {

/// How often one place in the code did what during a launch.
struct SiteCounts {
  std::uint64_t instructions = 0;           ///< warp instructions
  std::uint64_t threads = 0;                ///< thread accesses
  std::uint64_t partial = 0;                ///< instructions in which some thread of the warp took no part
  std::uint64_t sectors = 0;                ///< global memory
  std::uint64_t sectors_ideal = 0;          ///< if the same words lay side by side
  std::uint64_t tag_passes = 0;             ///< global memory: L1 finds the cache lines
  std::uint64_t data_passes = 0;            ///< and delivers the words, from 32 banks
  std::uint64_t wavefronts = 0, ideal = 0;  ///< shared memory
  /// Of asynchronous copies: bytes that they read, without zeros that are written after them.
  std::uint64_t bytes_copied = 0;
  /// Of these: bytes that a thread waited for without having loaded from shared memory since it began the
  /// first copy of their group. Nothing was done while they were on their way.
  std::uint64_t bytes_waited_for = 0;
  // Of these: of loads of what the same threads had just loaded, with no store, atomic or barrier since. nvcc keeps such
  // words in registers, where it sees that they are the same.
  std::uint64_t repeated = 0, repeated_sectors = 0, repeated_wavefronts = 0;
};

/// What one place in the code did during a launch.
struct SiteRecord : SiteCounts {
  const void* site = nullptr;
  observer::Access kind{};
  model::MemorySpace space{};
  std::uint32_t bytes = 0;     ///< width of one thread's access
  model::Rewritten rewritten;  ///< by nvcc
  std::uint32_t object = 0;    ///< what it accesses, see AsCompiled::add()
  unsigned worst = 0;          ///< sectors or wavefronts of the worst instruction, which is kept as example
  std::uint32_t example_mask = 0;
  std::uint64_t example[model::kLanes] = {};

  /// Adds the counts of the same place, or of one that is to be shown with it, `size / count` times.
  void add(const SiteRecord& other, std::uint64_t size = 1, std::uint64_t count = 1);
};

struct LaunchRecord {
  std::size_t serial = 0;
  int device = 0;  ///< that it ran on
  const void* kernel = nullptr;
  const void* parent = nullptr;       ///< the kernel that has launched it,
  const void* launched_at = nullptr;  ///< and where; null: the host
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::size_t static_shared_bytes = 0;
  int carveout = -1;  ///< preferred, in per cent; -1: none
  bool counted = false;
  std::uint64_t blocks_run = 0;      ///< in place of the whole grid, see model/sample.hpp; 0: all
  SampleError sample_error;          ///< what comes of that
  std::string depends;               ///< why all were run although a sample was asked for
  const void* reads_from = nullptr;  ///< a kernel, run in part, that should have written all of what this one reads
  std::string refused;               ///< CUDA's error name when the launch was not accepted
  const void* refused_at = nullptr;  ///< and which call that was
  Counters counters;                 ///< of the accesses as written
  Counters as_compiled;              ///< after the rewrites that nvcc makes
  std::vector<SiteRecord> sites;
  OwnArithmetic own_arithmetic;
  Bound bound;  ///< from the counters as compiled

  /// Adds what `count` blocks did, for `size` of their kind.
  void add(const LaunchRecord& stratum, std::uint64_t size, std::uint64_t count);
};

/// The least time in which the simulated card can do what was counted.
Bound bound_of(const LaunchRecord& launch);
InFlight in_flight(const LaunchRecord& launch);

/// "4.24 ms".
std::string time_text(double seconds);

/// TILEWISE_REPORT is set.
bool report_wanted();
/// Writes the report if one is wanted and has not been written yet.
void write_report_now();
void add_to_report(LaunchRecord record);
void add_refused_launch(const LaunchConfig& config, const char* error, const void* call_site);

/// Why an access costs more than it must, in a learner's words; empty when it does not.
std::string diagnose(const SiteRecord& site);

}  // namespace tilewise::sim
