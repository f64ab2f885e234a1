// Sees every memory access of a launch: counts what the hardware would count, and finds what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread.hpp"
#include "model/async_copies.hpp"
#include "model/sample.hpp"

namespace tilewise::sim::observer {

/// An asynchronous copy is seen twice, from global memory and to shared memory, and counted once, as copy_from. matrix_load is
/// LDSM, which loads 8 x 8 matrices from shared memory.
enum class Access : std::uint8_t { load, store, atomic, reduction, copy_from, copy_to, matrix_load };
constexpr bool only_reads(Access kind) {
  return kind == Access::load || kind == Access::copy_from || kind == Access::matrix_load;
}

void begin_launch(const Launch& launch);
void end_launch(const Launch& launch);
void begin_block();
void end_block();

/// A piece of a block's shared memory: a variable, or, without one, what the launch asked for.
struct SharedPiece {
  std::uintptr_t begin, end;
  const SharedVariable* variable;
};

/// What is kept of a block of a cooperative launch while another one runs.
struct SuspendedBlock {
  std::size_t static_end = 0;
  std::vector<std::uint64_t> shared_places;
  std::vector<SharedPiece> pieces;
  std::uint32_t first_interval = 0;
  bool fenced = false;
  std::vector<async::ThreadsCopies> copies;
};
void suspend_block(SuspendedBlock& block);
void resume_block(SuspendedBlock& block);
/// All that blocks of the running launch have done so far comes before what they do from now on: they have met, or all that
/// have not ended poll.
void grid_goes_on();

/// The blocks that are to be run in place of the launch's whole grid; empty: all are.
const std::vector<Stratum>& sample();
/// One of them has been run, all of a stratum have been.
void end_sample_block();
void end_stratum();
/// Whether something has been seen that may make blocks of the launch depend on each other, so that all must be run; and
/// what, for messages: "x.cu:12 calls __threadfence()".
bool blocks_depend();
std::string dependence();
/// The launch does so at `site`.
void note_dependence(const void* site, const char* what);

/// All threads of the block have met at a barrier; some lanes of a warp have met; a thread fenced its writes.
void block_barrier();
void warp_meeting(unsigned warp, std::uint32_t arrived);
void device_fence(const Lane& lane, bool within_block);
/// The compiler moves no access of the loops that the thread is in across what it does now.
void fence(const Lane& lane);
/// A parameter of the running kernel: nothing else points to what it points to.
void restricted(const void* pointer);

/// No lane of a warp can go on before the next barrier: its accesses form complete warp instructions.
/// `lanes` are the warp's 32.
void end_of_interval(Lane* lanes);

/// What is known of the accessed type.
struct Layout {
  std::uint8_t width;           ///< nvcc moves it in pieces of that many bytes
  std::uint8_t alignment;       ///< its addresses are multiples of this, or the program is wrong; 1: nothing is known
  std::uint8_t known_bits = 0;  ///< so many last bits of the address follow from the code
};

/// One access by the running thread. `site` is the return address of the hook.
void access(Lane& lane, const volatile void* address, std::size_t bytes, Access kind, const void* site, Layout layout);
/// One access that is checked as an ordinary one and not counted: of a texture or surface.
void look(Lane& lane, const void* address, std::size_t bytes, Access kind, const void* site);
/// One of the accesses, numbered by `piece`, that the lane makes in a warp's matrix operation, which no compiler takes apart.
void piece(Lane& lane, const void* address, std::size_t bytes, Access kind, const void* site, unsigned piece);
/// The tensor cores execute instructions for a warp, which make so many FLOP together.
void tensor_instructions(std::uint64_t instructions, std::uint64_t flop);
/// Global or shared memory of the device.
bool on_device(const void* address);
void atomic(Lane& lane, const volatile void* address, std::size_t bytes, const void* site);

/// The running thread begins an asynchronous copy; it has waited for it, and the copy has been made.
void begin_copy(Lane& lane, const AsyncCopy& copy);
void end_copy(Lane& lane, const AsyncCopy& copy);

/// How many loads of shared memory the thread has made since the last barrier. Where nothing is counted: 0.
std::uint64_t shared_loads(const Lane& lane);
/// A thread waits for this copy, and nothing has been done while it was on its way.
void waited_for(const AsyncCopy& copy);

/// Address of a shared variable in the block's region; adds what it takes on a GPU to `used`.
void* place_shared(const SharedVariable& variable, std::size_t& used);

/// A launch that failed its checks; `error` is the name of CUDA's error.
void refused_launch(const LaunchConfig& config, const char* error, const void* call_site);

}  // namespace tilewise::sim::observer
