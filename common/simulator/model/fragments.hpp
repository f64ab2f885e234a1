// Which elements of a matrix each lane holds in a tensor-core fragment, and by which accesses a warp loads and stores one.
// Pure functions. The places are those that the PTX manual gives for the fragments of mma.sync; those of wmma, which no
// manual gives, and the accesses were read off the machine code that nvcc 13.0 makes for sm_80 and sm_90a.
#pragma once

#include <cstdint>
#include <vector>

#include "model/warp_instruction.hpp"
#include "tilewise_sim/tensor.hpp"

namespace tilewise::sim::model {

struct Place {
  std::uint8_t row, column;
  bool operator==(const Place&) const = default;
};

/// Elements that a lane holds. Of half, wmma's fragments of A and B hold some more than once: the copies come last, and products
/// and stores do not use them.
unsigned elements_of(const tensor::Fragment& fragment);
unsigned copies_of(const tensor::Fragment& fragment);  ///< all elements over the distinct ones

/// Where element `i` of a lane lies in the matrix.
Place place_of(const tensor::Fragment& fragment, unsigned lane, unsigned i);

unsigned bytes_of(tensor::Element element);

/// One warp instruction of those that load or store a fragment.
struct FragmentAccess {
  bool is_matrix_load = false;  ///< LDSM: each lane names a row of 16 bytes, and others get its elements, too
  std::uint32_t mask = ~0u;     ///< the lanes that name one
  std::uint32_t bytes = 0;      ///< of one lane
  /// Where a lane's first element lies in memory, at outer * ldm + inner: column and row where the matrix is column-major.
  struct {
    std::uint8_t outer, inner;
  } at[kLanes];
};

/// `in_shared` for fragments of half alone: nvcc 13.0 follows no other type's pointers into shared memory.
std::vector<FragmentAccess> accesses_of(const tensor::Fragment& fragment, bool column_major, bool in_shared);

}  // namespace tilewise::sim::model
