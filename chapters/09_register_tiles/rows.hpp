// The rows of the lesson's table: cuBLAS, the tiled kernels of lesson 02 to start from, and this
// lesson's kernels.
#pragma once

#include <string>

#include "../07_cublas_sgemm/rows.hpp"
#include "register_tiles.cuh"

namespace rows {

/// "name<1,2,3>"
template <class... Numbers>
std::string with_arguments(const char* name, Numbers... numbers) {
  std::string text = name;
  char separator = '<';
  ((text += separator, text += std::to_string(numbers), separator = ','), ...);
  text += '>';
  return text;
}

inline std::string no_int_position(const MatmulShape& s) {
  return register_tiles_fits(s.m, s.n, s.k)
             ? ""
             : "a matrix of 2^31 elements or more: positions are 32-bit";
}

template <int BM, int BN, int BK, int TM>
MatmulVariant columns() {
  MatmulVariant v;
  v.kernel = with_arguments("column_tiles", BM, BN, BK, TM);
  v.block = dim3(BN, BM / TM);
  v.shared_bytes = sizeof(float) * (BM * BK + BK * BN);
  v.loads = [](const MatmulShape& s) { return tiled_loads(s, BM, BN); };
  v.skip = no_int_position;
  launch_with(v, launch_column_tiles<BM, BN, BK, TM>);
  return v;
}

template <int BM, int BN, int BK, int TM, int TN>
MatmulVariant registers() {
  MatmulVariant v;
  v.kernel = with_arguments("register_tiles", BM, BN, BK, TM, TN);
  v.block = dim3(BM / TM * (BN / TN));
  v.shared_bytes = sizeof(float) * BK * (BM + 32 / BK + BN);
  v.loads = [](const MatmulShape& s) { return tiled_loads(s, BM, BN); };
  v.skip = no_int_position;
  launch_with(v, launch_register_tiles<BM, BN, BK, TM, TN>);
  return v;
}

}  // namespace rows
