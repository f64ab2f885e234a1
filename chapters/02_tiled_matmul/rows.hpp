// The rows of the lesson's table: kernels of this chapter with their launches and their formulas
// for loads.
#pragma once

#include <string>

#include "../01_naive_matmul/naive_matmul.cuh"
#include "tiled_matmul.cuh"
#include "tilewise/lesson.hpp"

namespace rows {

using tilewise::MatmulProblem;
using tilewise::MatmulShape;
using tilewise::MatmulVariant;

/// A is fetched once for every column of blocks, B once for every row of blocks, where a block owns
/// bm x bn elements of C: M N K (1 / bn + 1 / bm) where the tile divides the matrix.
inline double tiled_loads(const MatmulShape& s, std::size_t bm, std::size_t bn) {
  const auto block_columns = static_cast<double>((s.n + bn - 1) / bn);
  const auto block_rows = static_cast<double>((s.m + bm - 1) / bm);
  return block_columns * s.m * s.k + block_rows * s.k * s.n;
}

inline std::string too_large(const MatmulShape& s) {
  return tiled_matmul_fits(s.m, s.n, s.k)
             ? ""
             : "a matrix of 2^31 elements or more: positions are 32-bit";
}

inline MatmulVariant naive(int tile) {
  MatmulVariant v;
  v.kernel = "naive_matmul";
  v.tile = tile;
  v.block = dim3(tile, tile);
  v.baseline = true;
  // K words of A and K of B per thread
  v.loads = [](const MatmulShape& s) { return 2.0 * s.m * s.n * s.k; };
  v.loads_formula = "2 M N K";
  v.skip = too_large;
  v.launch = [tile](const MatmulProblem& p) {
    CUDA_CHECK(launch_naive_matmul(p.A, p.B, p.C, p.m, p.n, p.k, tile, p.stream));
  };
  return v;
}

/// What the kernels with square tiles and one thread per element have in common.
inline MatmulVariant tiled(const char* kernel, int tile) {
  MatmulVariant v;
  v.kernel = kernel;
  v.tile = tile;
  v.block = dim3(tile, tile);
  v.shared_bytes = tiled_matmul_shared_bytes(tile);
  v.loads = [tile](const MatmulShape& s) { return tiled_loads(s, tile, tile); };
  v.loads_formula = "2 M N K / T";
  v.skip = too_large;
  return v;
}

using Launch = cudaError_t (*)(const float*, const float*, float*, int, int, int, cudaStream_t);

inline void launch_with(MatmulVariant& v, Launch launch) {
  v.launch = [launch](const MatmulProblem& p) {
    CUDA_CHECK(launch(p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  };
}

/// A template is compiled once per tile size, so the sizes must be named.
inline MatmulVariant tiled_static(int tile) {
  MatmulVariant v = tiled("tiled_matmul", tile);
  if (tile == 4) launch_with(v, launch_tiled_matmul<4>);
  if (tile == 8) launch_with(v, launch_tiled_matmul<8>);
  if (tile == 16) launch_with(v, launch_tiled_matmul<16>);
  if (tile == 32) launch_with(v, launch_tiled_matmul<32>);
  if (!v.launch)
    v.skip = [](const MatmulShape&) { return "compiled for tiles 4, 8, 16 and 32 only"; };
  return v;
}

inline MatmulVariant tiled_dynamic(int tile) {
  MatmulVariant v = tiled("tiled_matmul_dynamic", tile);
  v.launch = [tile](const MatmulProblem& p) {
    CUDA_CHECK(launch_tiled_matmul_dynamic(p.A, p.B, p.C, p.m, p.n, p.k, tile, p.stream));
  };
  return v;
}

inline MatmulVariant prefetched(int tile) {
  MatmulVariant v = tiled("tiled_matmul_prefetched", tile);
  v.shared_bytes *= 2;
  if (tile == 8) launch_with(v, launch_tiled_matmul_prefetched<8>);
  if (tile == 16) launch_with(v, launch_tiled_matmul_prefetched<16>);
  if (tile == 32) launch_with(v, launch_tiled_matmul_prefetched<32>);
  if (!v.launch) v.skip = [](const MatmulShape&) { return "compiled for tiles 8, 16 and 32 only"; };
  return v;
}

template <int BM, int BN, int BK>
MatmulVariant rectangular() {
  MatmulVariant v;
  v.kernel = "tiled_matmul_rectangular<" + std::to_string(BM) + "," + std::to_string(BN) + "," +
             std::to_string(BK) + ">";
  v.block = dim3(16, 16);
  v.shared_bytes = sizeof(float) * (BM * BK + BK * BN);
  v.loads = [](const MatmulShape& s) { return tiled_loads(s, BM, BN); };
  v.skip = too_large;
  launch_with(v, launch_tiled_matmul_rectangular<BM, BN, BK>);
  return v;
}

}  // namespace rows
