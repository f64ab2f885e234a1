// What <cuda/barrier>, <cuda/pipeline> and cooperative_groups::memcpy_async have in common: a barrier in one word of memory, and
// asynchronous copies of any length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block_barrier_word.hpp"
#include "cuda_runtime.h"
#include "thread_scope.hpp"

namespace cuda {

/// So many bytes, between addresses that are multiples of `alignment`.
template <std::size_t alignment>
struct aligned_size_t {
  static constexpr std::size_t align = alignment;
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }
};

}  // namespace cuda

namespace tilewise::sim::barrier {

/// A thread's part of a copy by `threads` threads: asynchronous from global to shared memory in pieces of 4 bytes and more.
template <std::size_t alignment>
TILEWISE_INLINE void copy_part(void* to, const void* from, std::size_t bytes, std::size_t rank, std::size_t threads) {
  constexpr std::size_t kPiece = alignment >= 16 ? 16 : alignment >= 8 ? 8 : alignment >= 4 ? 4 : 1;
  char* const target = static_cast<char*>(to);
  const char* const source = static_cast<const char*>(from);
  std::size_t whole = 0;
  if constexpr (kPiece >= 4) {
    if (__isShared(to) && __isGlobal(from)) {
      whole = bytes / kPiece * kPiece;
      for (Loop loop;;) {
        for (std::size_t i = rank * kPiece; i < whole; i += threads * kPiece) {
          loop.tick();
          async_copy(target + i, source + i, kPiece, 0, false);
        }
        if (loop.left()) break;
      }
    } else {
      whole = bytes / 4 * 4;
      for (Loop loop;;) {
        for (std::size_t i = rank * 4; i < whole; i += threads * 4) {
          loop.tick();
          *reinterpret_cast<std::uint32_t*>(target + i) = *reinterpret_cast<const std::uint32_t*>(source + i);
        }
        if (loop.left()) break;
      }
    }
  }
  for (Loop loop;;) {
    for (std::size_t i = whole + rank; i < bytes; i += threads) {
      loop.tick();
      target[i] = source[i];
    }
    if (loop.left()) break;
  }
}

}  // namespace tilewise::sim::barrier
