// Operations that all lanes of a warp make together. Each lane brings a Call and waits; when the last one has come, the operation
// is carried out for all of them, before any goes on.
#pragma once

#include <cstdint>

#include "base/thread.hpp"
#include "tilewise_sim/tensor.hpp"

namespace tilewise::sim::tensor {

/// What one lane brings. It lies on the lane's stack.
struct Call {
  enum class Kind : std::uint8_t { load, store, multiply, load_matrices };
  Kind kind;
  Fragment fragment{};        // load, store: of what
  Product product{};          // multiply
  bool column_major = false;  // load, store
  unsigned ldm = 0;
  unsigned count = 0;       // load_matrices
  bool transposed = false;  // load_matrices
  void* memory = nullptr;   // load_matrices: of the lane's row
  void* d = nullptr;        // elements of the lane: load and multiply write d, store reads a
  const void *a = nullptr, *b = nullptr, *c = nullptr;
};

/// Waits for the other lanes of the warp; see device_functions.cpp. `site` is the place in the program.
void meet(const Call& call, const void* site);

/// Called for the warp whose first lane is *lanes, before those that `arrived` go on: `calls` are theirs.
void carry_out(Lane* lanes, std::uint32_t arrived, const Call* const (&calls)[kWarpSize]);

}  // namespace tilewise::sim::tensor
