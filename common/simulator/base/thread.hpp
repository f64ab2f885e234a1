// The launch that is running and its threads: what the scheduler runs, the hooks report and the model judges.
//
// The runtime writes what is here, the model reads it. So the model can be tested without a runtime: who feeds it events fills this
// in, and takes what abort_launch() throws or jumps to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tilewise_sim/device.hpp"

/// FLOP of the host's thread, single and double precision; that of kernels among them.
#define TILEWISE_FLOP __attribute__((visibility("default"), tls_model("initial-exec"))) constinit thread_local
extern "C" TILEWISE_FLOP std::uint64_t tilewise_flop[2];

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
  unsigned stream = 0;  ///< what model/order.hpp knows its stream by
  int carveout = -1;    ///< per cent of an SM's shared memory that the kernel was told to prefer; -1: no preference
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

/// The running launch, or the last one. The runtime alone writes to it.
[[gnu::visibility("hidden")]] extern constinit Launch the_launch;
inline const Launch& running_launch() { return the_launch; }

/// The accesses of the running launch are counted, checked, or either.
namespace observer {
extern constinit bool counting, checking;
inline bool active() { return counting || checking; }
}  // namespace observer

/// Ends the running launch from inside a thread: no further thread of it runs. `error` is a cudaError_t.
[[noreturn]] void abort_launch(int error, bool sticky);
/// Who does that: whoever runs the threads. The function does not return.
using AbortLaunch = void (*)(int error, bool sticky);
void set_abort_launch(AbortLaunch does_it);

/// launch_only() has been called: no kernel and no library computes anything.
extern bool launches_only;
/// run_corners() has been called: libraries compute nothing, and a few blocks of each launch are run.
extern bool corners_only;
/// Accesses that a block at a corner of the grid may still make. It ends with the last one, if corners_only.
extern std::uint64_t corner_accesses_left;
void count_access_of_corner();

/// How often running launches have done something that is not a change of the device's memory, or does not follow from it: see
/// runtime/repeats.hpp.
extern std::uint64_t launch_effects;

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

/// Where the threads' stacks are: those of a block, and those that only blocks that wait for each other need.
struct Stacks {
  const char *begin = nullptr, *end = nullptr;
};
extern Stacks thread_stacks[2];
/// Everything that is on the stack of some simulated thread.
bool on_thread_stack(const void* address);
/// Of those, what is on the stack of the thread that runs now, which ends here.
extern constinit std::uintptr_t own_stack_end;
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
inline bool on_own_stack(std::uintptr_t address) { return address - (own_stack_end - kStackBytes) < kStackBytes; }

}  // namespace tilewise::sim
