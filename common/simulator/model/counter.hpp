// Counts what the hardware would count of a launch: model/observer.hpp says what happens, and what its functions' like-named ones here are
// told. Where nothing is counted, they do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/observer.hpp"
#include "model/warp_log.hpp"

namespace tilewise::sim::counter {

void begin_launch(const Launch& launch);
void end_launch(const Launch& launch);
void begin_block();
void end_block();

/// Where the running block's static shared variables begin, while another block runs, and back again.
const std::vector<std::uint64_t>& suspend_block();
void resume_block(std::vector<std::uint64_t> shared_places);
/// One more begins here; the block's first one.
void place_shared(const char* place, bool first);

const std::vector<Stratum>& sample();
void end_sample_block();
void end_stratum();
bool blocks_depend();
std::string dependence();
void note_dependence(const void* site, const char* what);

void block_barrier();
void fence(const Lane& lane);
void restricted(const void* pointer);
void end_of_interval(Lane* lanes);

void access(Lane& lane, model::MemorySpace space, const void* address, std::size_t bytes, observer::Access kind,
            const void* site, observer::Layout layout);
void piece(Lane& lane, model::MemorySpace space, const void* address, std::size_t bytes, observer::Access kind,
           const void* site, unsigned number);
void tensor_instructions(std::uint64_t instructions, std::uint64_t flop);
void begin_copy(Lane& lane, const AsyncCopy& copy);
std::uint64_t shared_loads(const Lane& lane);
void waited_for(const AsyncCopy& copy);

}  // namespace tilewise::sim::counter
