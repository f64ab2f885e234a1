// One simulated CUDA thread, as the scheduler, the hooks and the counting model see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

using Fiber = void*;  // boost::context::detail::fcontext_t

constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxWarps = kMaxThreadsPerBlock / kWarpSize;
constexpr unsigned kCallDepth = 48;

enum class LaneState : std::uint8_t {
  fresh,
  ready,
  at_barrier,
  at_warp_operation,
  at_active_mask,
  yielded,
  done,
  at_grid_barrier
};

/// The calls that a thread is in, of functions that are not inlined. It lies with the thread's stack: threads that run one after
/// another on one stack use the same memory.
struct Calls {
  std::uint64_t saved[kCallDepth];  ///< what Lane::call_context was before each
  const void* callers[kCallDepth];  ///< where each was called
};

struct alignas(64) Lane {
  // Read by thread_idx() and kin.
  uint3 index{};
  unsigned linear = 0;  ///< position in the block
  LaneState state = LaneState::fresh;
  bool in_kernel = false;  ///< between the kernel's first statement and its return
  bool discard_next = false;
  bool volatile_access = false;  ///< the access that the observer is shown is one of a volatile variable

  Fiber fiber = nullptr;   ///< its registers and the top of its stack, while it waits
  void* worker = nullptr;  ///< whose stack it runs on
  Calls* calls = nullptr;

  // Context of the running code, for grouping accesses into warp instructions.
  std::uint64_t loop_context = 0;
  const Loop* loop = nullptr;  ///< the innermost
  std::uint64_t call_context = 0;
  unsigned call_depth = 0;
  std::uint32_t last_slot = 0;  ///< where the counting model expects the next access

  const void* wait_site = nullptr;  ///< call site of the barrier or warp operation it waits in
  std::uintptr_t polls = 0;         ///< what it last read as a volatile variable, or updated atomically
  unsigned wait_mask = 0;
  WarpOp wait_op = WarpOp::sync;
  std::uint64_t* exchange_out = nullptr;
  unsigned active_mask_result = 0;
  unsigned atomics_in_a_row = 0;
  unsigned next_barrier = 0,
           wait_barrier = 0;  ///< the number of the barrier it comes to, and waits in: see number_barrier()
};
static_assert(sizeof(Lane) <= 3 * 64);  // each thread of a block has one, and they run one after another

/// The running launch: what hooks and messages need to know.
struct Launch {
  LaunchConfig config{dim3(), dim3()};
  std::size_t serial = 0;        ///< 1 for the first launch of the process
  const void* site = nullptr;    ///< the call that launched it
  const void* parent = nullptr;  ///< the kernel that did; null: the host
  int device = 0;                ///< where it runs
  uint3 block{};
  std::uint64_t block_serial = 0;  ///< over all launches; never 0 in a kernel
  std::uint64_t epoch = 0;         ///< barrier interval of the running block
  const void* kernel = nullptr;    ///< start of the kernel's code, once its first thread entered
  std::size_t static_shared = 0;   ///< bytes of __shared__ variables met so far
  /// Blocks of earlier launches.
  std::uint64_t blocks_before = 0;
};

/// The thread that is running, or null in host code.
extern constinit thread_local Lane* current_lane;
/// The same, but also null when accesses are neither counted nor checked: the hooks' only test.
extern constinit thread_local Lane* observed_lane;

/// The runtime's own work on a simulated thread. The standard library's templates may have been compiled with the user's
/// instrumentation (the linker keeps one copy of each), so their accesses must not be taken for the thread's.
class Unobserved {
 public:
  Unobserved() : lane_(observed_lane) { observed_lane = nullptr; }
  ~Unobserved() { observed_lane = lane_; }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  Lane* lane_;
};

const Launch& running_launch();

/// What threadIdx and its kin say while no launch runs.
void show_grid_of_one_thread();

/// Ends the running launch from inside a thread: no further thread of it runs. `error` is a cudaError_t.
[[noreturn]] void abort_launch(int error, bool sticky);

/// A block that run_corners() has run may end here: see there.
void count_access_of_corner();

/// Whether the iterations of loops are followed: not where nobody asks in which of them a thread is.
extern bool follow_loops;
/// In the running launch or an earlier one of its place, a thread has waited for others: then somebody does.
extern bool threads_waited;
inline bool in_same_iteration(const Lane& a, const Lane& b) {
  return !follow_loops || a.loop_context == b.loop_context;
}

/// Polls since some thread last got further: stored something, passed a barrier, or ended.
extern std::uint64_t idle_polls;
/// After so many of them, none ever will: 40,000,000, or TILEWISE_POLLS.
extern const std::uint64_t most_polls;
/// Threads that have come to their end, over all launches.
extern std::uint64_t threads_ended;

/// The thread polls memory (an atomic or volatile read, which it may do in a loop): after many in a row, others run.
void polled(Lane& lane, const volatile void* address, const void* site);

/// "block (1,0,0), thread (3,2,0)" of the running thread.
const char* describe_thread(const Lane& lane);
/// "(3,2,0)"
std::string thread_triple(const Lane& lane);

/// Since the launch began, own_arithmetic() has been called: see there.
struct OwnArithmetic {
  bool in_single = false, in_double = false;
};
extern constinit OwnArithmetic own_arithmetic_seen;

// Shared memory of the running block: static variables in the first half, dynamic in the second.
constexpr std::size_t kSharedRegion = std::size_t{1} << 20;
extern char* shared_begin;  ///< 2 * kSharedRegion bytes

/// Everything that is on the stack of some simulated thread.
bool on_thread_stack(const void* address);
/// Of those, what is on the stack of the thread that runs now, which ends here.
extern constinit std::uintptr_t own_stack_end;
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
inline bool on_own_stack(std::uintptr_t address) { return address - (own_stack_end - kStackBytes) < kStackBytes; }

}  // namespace tilewise::sim
