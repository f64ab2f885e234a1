// The arithmetic of tensor cores: a product of the matrices that a warp's lanes hold.
#pragma once

#include <cstdint>

#include "tilewise_sim/tensor.hpp"

namespace tilewise::sim::model {

/// The elements that each lane of a warp holds of a matrix.
template <class Pointer>
struct OfLanes {
  Pointer x[kWarpSize];
};

/// D = A B + C. Products are exact. They are added one after another in the order of k, the first to C, and each sum is rounded to
/// a float; where D is half, the last one is rounded once more. A GPU adds several products at once and cuts the sum off, in an
/// order and with a number of bits that are not documented, so results differ in the last bits. Of tf32 inputs the lower 13
/// bits are ignored, as on a GPU. A NaN is CUDA's canonical one. Sums of integers are exact, and those of doubles are rounded once
/// for each product.
void multiply(const tensor::Product& product, const OfLanes<void*>& d, const OfLanes<const void*>& a,
              const OfLanes<const void*>& b, const OfLanes<const void*>& c);

}  // namespace tilewise::sim::model
