// The rows of the lesson's table: the kernel of lesson 09 to start from, and this lesson's kernels.
#pragma once

#include "../09_register_tiles/rows.hpp"
#include "wide_loads.cuh"

namespace rows {

inline std::string no_int_index(const MatmulShape& s) {
  const auto fits = [](std::size_t n) { return n <= std::size_t{1} << 30; };
  return fits(s.m) && fits(s.n) && fits(s.k)
             ? ""
             : "a side of more than 2^30: rows and columns are 32-bit";
}

/// A row of a kernel of tiles BM x BN x BK and TM x TN elements per thread, whose As has `pad`
/// words more per row.
template <int BM, int BN, int BK, int TM, int TN, class Launch>
MatmulVariant wide(const char* kernel, int pad, Launch launch) {
  MatmulVariant v;
  v.kernel = with_arguments(kernel, BM, BN, BK, TM, TN);
  v.block = dim3(BM / TM * (BN / TN));
  v.shared_bytes = sizeof(float) * BK * (BM + pad + BN);
  v.loads = [](const MatmulShape& s) { return tiled_loads(s, BM, BN); };
  v.skip = no_int_index;
  launch_with(v, launch);
  return v;
}

template <int BM, int BN, int BK, int TM, int TN>
MatmulVariant wide_fetches() {
  return wide<BM, BN, BK, TM, TN>("wide_fetches", 32 / BK, launch_wide_fetches<BM, BN, BK, TM, TN>);
}

template <int BM, int BN, int BK, int TM, int TN>
MatmulVariant wide_loads() {
  return wide<BM, BN, BK, TM, TN>("wide_loads", 4, launch_wide_loads<BM, BN, BK, TM, TN>);
}

template <int BM, int BN, int BK, int TM, int TN>
MatmulVariant wide_stores() {
  return wide<BM, BN, BK, TM, TN>("wide_stores", 4, launch_wide_stores<BM, BN, BK, TM, TN>);
}

}  // namespace rows
