// Algorithms of a library whose source the program includes (Thrust, CUB), run by host code on device memory.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace tilewise::sim {

/// Begins one: until it ends, host code may use device memory. It comes after all that has been asked for in the stream. `name`: null for the use of a single element.
/// Returns a cudaError_t; if that isn't 0, nothing has begun.
int begin_host_algorithm(const char* name, CUstream_st* stream);
/// In a kernel both do nothing: what a thread calls there is its own.
void end_host_algorithm() noexcept;

/// The same for a call that returns before its work is done, as CUB's do: what it reads and writes is work in the stream. `name`: "cub::DeviceScan".
/// `bytes` from `scratch` are memory of the program's that it may use as it likes.
int begin_stream_algorithm(const char* name, const void* scratch, std::size_t bytes, CUstream_st* stream);
/// A pointer that it was given. Where that isn't to memory which the device can reach, it's a finding, and the program ends.
void algorithm_is_given(const char* what, const void* pointer);
void end_stream_algorithm() noexcept;

/// Device memory that such algorithms ask for in the middle of their work, or null.
void* allocate_for_algorithms(std::size_t bytes);
void free_of_algorithms(void* memory);

}  // namespace tilewise::sim
