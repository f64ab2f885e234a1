// Algorithms of a library whose source the program includes (Thrust), run by host code on device memory.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace tilewise::sim {

/// Begins one: until it ends, host code may use device memory. It comes after all that has been asked for in the stream. `name`: null for the use of a single element.
/// Returns a cudaError_t; if that isn't 0, nothing has begun.
int begin_host_algorithm(const char* name, CUstream_st* stream);
/// In a kernel both do nothing: what a thread calls there is its own.
void end_host_algorithm() noexcept;

/// Device memory that such algorithms ask for in the middle of their work, or null.
void* allocate_for_algorithms(std::size_t bytes);
void free_of_algorithms(void* memory);

}  // namespace tilewise::sim
