// What host code can ask about calls of CUDA's libraries (cuBLAS, cuSPARSE): on the simulator the CPU computes them.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace tilewise::sim {

/// What computes library calls here, in words. A program that asks says so itself; for one that never asks, the
/// runtime says it once on stderr, when the first call computes something.
const char* library_engine();

/// The last library call that was carried out.
struct LibraryCall {
  const char* function = "";      ///< "cublasSgemm"
  CUstream_st* stream = nullptr;  ///< the stream that its work went to
  std::uint64_t serial = 0;       ///< 1, 2, 3 ...; 0: there was none
  const void* handle = nullptr;   ///< that it was called with, a cublasHandle_t or a cusparseHandle_t
};
LibraryCall last_library_call();

/// The status that the last call of cuBLAS which computed nothing returned, since it was refused or failed; 0: there
/// was none since forget_library_failure().
int last_library_failure();
void forget_library_failure();

/// The n-th call that computes something from here on computes nothing and returns the library's EXECUTION_FAILED, as
/// where its kernel cannot be launched; 0: none does.
void fail_library_call(std::uint64_t n);

}  // namespace tilewise::sim
