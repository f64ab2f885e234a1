// Finds what is wrong with the accesses of a launch: bounds, alignment, reads of memory that nobody wrote, and races.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/observer.hpp"
#include "model/order.hpp"
#include "model/warp_log.hpp"

namespace tilewise::sim::checker {

void begin_launch(const Launch& launch);
void end_launch();
/// The last interval so far (model/shadow.hpp).
std::uint32_t last_interval();
void begin_block();
void end_block();

/// A block of a cooperative launch makes room for another one, and runs again. Between the two is grid_goes_on(): what has been
/// done so far comes before what follows.
void suspend_block(observer::SuspendedBlock& block);
void resume_block(observer::SuspendedBlock& block);
void grid_goes_on();

/// The block's threads have met at a barrier: what came before is ordered before what comes after.
void block_barrier();

/// The lanes of `arrived` (of the warp whose first lane is `lanes`) have met: the same for them alone.
void warp_meeting(unsigned warp, std::uint32_t arrived);

/// A memory fence: an atomic or volatile store that follows hands over what its thread did before it, and what barriers had
/// ordered before it; to other blocks, too, unless it is `within_block`.
void fence(const Lane& lane, bool within_block);

/// A thread of the running block frees the memory that begins here.
void forget_visits(std::uintptr_t begin);

/// The host has freed memory: what was known about it goes back, too.
void forget_memory(std::uintptr_t begin, std::size_t bytes);

/// A shared variable was placed; accesses outside such variables are out of bounds.
void add_shared(const SharedVariable& variable, const char* place);

/// Looks at one access before it happens, as most accesses are: of an ordinary variable, aligned, by a place in the code that
/// has been seen in the running block. Returns where it goes when nothing is wrong with it. Returns none, and nothing is done,
/// when only check() can say.
template <observer::Access kind, std::uint32_t bytes>
model::MemorySpace check_quickly(const Lane& lane, std::uintptr_t address, const void* site);

/// Looks at one access before it happens. Its address must be a multiple of `alignment`. May end the launch.
void check(Lane& lane, model::MemorySpace space, const void* address, std::size_t bytes, observer::Access kind,
           const void* site, std::size_t alignment);

/// The thread begins an asynchronous copy between these memories; it has waited for one. The first may end the launch.
void begin_copy(Lane& lane, const AsyncCopy& copy, model::MemorySpace to, model::MemorySpace from);
void end_copy(Lane& lane, const AsyncCopy& copy);

/// The thread is about to use an index outside an array. `type` is the array's, as the compiler names it. May end the
/// launch.
void wrong_index(Lane& lane, const char* type, std::int64_t index, const void* site);

/// Work that is no kernel, such as a copy, uses these bytes: are they used by a launch that need not come before it? `name` and
/// `does` go into messages: "cudaMemcpyAsync", "writes".
void look_over(const char* name, void* site, const order::Bytes& bytes, const char* does, bool writes);
/// Host code uses bytes that kernels can reach: are they used by a launch that the host has not waited for?
void look_at_host(std::uintptr_t address, std::size_t bytes, bool writes, void* site);

/// A function that returns a value has come to its end without a return.
void missing_return(Lane& lane, const void* site);
/// The thread calls what only the host can run, as the message says.
void host_code(Lane& lane, const std::string& message, const void* site);
constexpr const char* kMissingReturn = "this function returns a value, and comes to its end without a return";

}  // namespace tilewise::sim::checker
