// The rows of the lesson's table: cuBLAS, lesson 09's kernel to start from, and this lesson's
// kernels.
#pragma once

#include "../09_register_tiles/rows.hpp"
#include "async_copies.cuh"

namespace rows {

inline std::string positions_do_not_fit(const MatmulShape& s) {
  return async_copies_fits(s.m, s.n, s.k)
             ? ""
             : "a matrix of 2^31 elements or more: positions are 32-bit";
}

template <int BM, int BN, int BK, int TM, int TN>
MatmulVariant double_buffered() {
  MatmulVariant v;
  v.kernel = with_arguments("double_buffered_tiles", BM, BN, BK, TM, TN);
  v.block = dim3(BM / TM * (BN / TN));
  v.shared_bytes = sizeof(float) * 2 * BK * (BM + 4 + BN);
  v.loads = [](const MatmulShape& s) { return tiled_loads(s, BM, BN); };
  v.skip = positions_do_not_fit;
  launch_with(v, launch_double_buffered_tiles<BM, BN, BK, TM, TN>);
  return v;
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
MatmulVariant async() {
  MatmulVariant v;
  v.kernel = with_arguments("async_tiles", BM, BN, BK, TM, TN, STAGES);
  v.block = dim3(BM / TM * (BN / TN));
  v.shared_bytes = async_tiles_bytes(BM, BN, BK, STAGES);
  v.opt_in_shared = true;
  // Whole tiles, since rows and columns outside are fetched from the last ones.
  v.loads = [](const MatmulShape& s) {
    const auto blocks = static_cast<double>((s.m + BM - 1) / BM * ((s.n + BN - 1) / BN));
    return blocks * (BM + BN) * static_cast<double>(s.k);
  };
  v.skip = positions_do_not_fit;
  launch_with(v, launch_async_tiles<BM, BN, BK, TM, TN, STAGES>);
  return v;
}

}  // namespace rows
