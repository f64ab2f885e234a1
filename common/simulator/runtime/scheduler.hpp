// The running launch and its running block, as those see them who run its threads.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/thread.hpp"
#include "driver_types.h"

namespace tilewise::sim {

struct SuspendedBlock;  // cooperative_grid.cpp

/// A stack with a loop on it that runs one thread after another. A thread that has to wait keeps its worker;
/// a kernel without barriers needs only one worker for the whole launch.
struct Worker {
  char* stack = nullptr;  ///< highest address
  boost::context::detail::fcontext_t context = nullptr;
  bool started = false;
  Calls calls;
};

struct Rendezvous {
  unsigned mask;
  WarpOp op;
  unsigned arrived;
};

struct Warp {
  unsigned fresh = 0, ready = 0, yielded = 0;  ///< lanes that can run; a lane is in at most one of them
  unsigned alive = 0;                          ///< lanes that exist and have not returned
  unsigned wants_active_mask = 0;
  std::vector<Rendezvous> meetings;  ///< warp operations that some lane waits in
  std::uint64_t published[kWarpSize] = {};
};

/// Why the running block, which has not ended, makes room for another one of a cooperative launch.
enum class Suspension : std::uint8_t {
  none,
  at_grid_barrier,  ///< all its threads that have not ended wait there
  polls,            ///< none of its threads gets further: they wait for what another block may do
};

struct Scheduler {
  void (*thread)(void*) = nullptr;
  void* context = nullptr;

  Lane lanes[kMaxThreadsPerBlock];
  Warp warps[kMaxWarps];
  unsigned warp_count = 0;
  unsigned thread_count = 0;

  boost::context::detail::fcontext_t home = nullptr;  ///< the scheduler itself, while a thread runs
  Worker* running = nullptr;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> idle;

  // Block barrier
  unsigned live = 0, waiting = 0;
  unsigned predicate_count = 0;
  int result_count = 0, result_and = 0, result_or = 0;
  bool restart = false;  ///< a barrier was released: start again with warp 0

  std::size_t shared_used = 0;  ///< static shared memory of the running block
  unsigned max_threads = 0;     ///< the kernel's __launch_bounds__

  // Cooperative launches
  unsigned at_grid_barrier = 0;              ///< threads of the running block that wait at the grid's barrier
  Suspension suspension = Suspension::none;  ///< of the running block
  std::vector<SharedVariable*> met;          ///< shared variables that have a place in the running block
  char* more_shared = nullptr;               ///< shared memory of the blocks beside the first one

  bool aborted = false;
  cudaError_t abort_error = cudaSuccess;
  bool abort_sticky = false;
  std::vector<std::uint64_t> done;  ///< blocks that were run as a sample of the grid, by their index
  void run_grid();
  void run_sample();
  void run_corner_blocks();
  void say_all_are_run() const;
  void run_block();
  void run_threads();
  bool run_warp(unsigned w);
  void resume(unsigned l);
  void release_barrier_if_complete();
  void complete_meetings(Warp& warp, unsigned first_lane);
  void carry_out(const Warp& warp, unsigned arrived, unsigned first_lane);
  void resolve_active_masks(Warp& warp, unsigned first_lane);
  void report_deadlock();
  void fail(Finding finding);
  /// `barrier` and `all` are words: "__syncthreads()", "a block".
  void report_divergent_barrier(const Lane& one, const Lane& other, const char* barrier, const char* all);
  void finish_lane(Lane& lane);
  Worker* take_worker();
  void abandon_workers();

  // cooperative_grid.cpp
  void run_cooperative_grid();
  void use_shared_memory_of(std::size_t slot);
  SuspendedBlock suspend(std::size_t slot);
  void put_back(SuspendedBlock& block);
  void release_grid_barrier();
  void look_at_grid_barrier();
  void report_incomplete_grid(std::size_t ended, uint3 one_of_them);
};

[[gnu::visibility("hidden")]] inline Scheduler& scheduler() {
  static Scheduler* s = for_ever<Scheduler>();  // never destroyed: host code may launch from destructors
  return *s;
}

/// Leaves the running thread for good, and the launch with it: what is on its stack stays there.
void leave_launch(int error, bool sticky);

/// Leaves the running thread, which goes on when the scheduler resumes it.
void wait_in(LaneState state, const void* site);

/// The n-th block of the grid, in the order in which blocks are run.
uint3 nth_block(std::uint64_t n, dim3 grid);

}  // namespace tilewise::sim
