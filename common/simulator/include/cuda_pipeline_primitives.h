// Asynchronous copies from global to shared memory, as on compute capability 8.0 and later.
#pragma once

#include <cstddef>

#include "tilewise_sim/device.hpp"

TILEWISE_INLINE void __pipeline_memcpy_async(void* dst_shared, const void* src_global, std::size_t size_and_align,
                                             std::size_t zfill = 0) {
  ::tilewise::sim::async_copy(dst_shared, src_global, size_and_align, zfill, !__builtin_constant_p(zfill));
}
TILEWISE_INLINE void __pipeline_commit() { ::tilewise::sim::async_commit(); }
TILEWISE_INLINE void __pipeline_wait_prior(std::size_t prior) { ::tilewise::sim::async_wait(prior); }
