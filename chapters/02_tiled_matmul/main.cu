// Lesson 02: tiles in shared memory. The naive kernel with the same block first, then the tiled kernel twice: tile
// size known to the compiler, and tile size chosen at launch.
#include "../01_naive_matmul/naive_matmul.cuh"
#include "tiled_matmul.cuh"
#include "tilewise/lesson.hpp"

namespace {

using tilewise::MatmulProblem;
using tilewise::MatmulShape;
using tilewise::MatmulVariant;

/// Every thread reads K words of A and K words of B.
double naive_loads(const MatmulShape& s) { return 2.0 * s.m * s.n * s.k; }

/// A is fetched once for every column of blocks, B once for every row of blocks: 2 M N K / T where T divides M and N.
double tiled_loads(const MatmulShape& s, int tile) {
  const double block_columns = (s.n + tile - 1) / tile;
  const double block_rows = (s.m + tile - 1) / tile;
  return block_columns * s.m * s.k + block_rows * s.k * s.n;
}

std::string too_large(const MatmulShape& s) {
  return tiled_matmul_fits(s.m, s.n, s.k) ? "" : "a matrix of 2^31 elements or more: positions are 32-bit";
}

MatmulVariant naive(int tile) {
  MatmulVariant v;
  v.kernel = "naive_matmul";
  v.tile = tile;
  v.block = dim3(tile, tile);
  v.baseline = true;
  v.loads = naive_loads;
  v.loads_formula = "2 M N K";
  v.skip = too_large;
  v.launch = [tile](const MatmulProblem& p) {
    CUDA_CHECK(launch_naive_matmul(p.A, p.B, p.C, p.m, p.n, p.k, tile, p.stream));
  };
  return v;
}

/// What both tiled kernels have in common.
MatmulVariant tiled(const char* kernel, int tile) {
  MatmulVariant v;
  v.kernel = kernel;
  v.tile = tile;
  v.block = dim3(tile, tile);
  v.shared_bytes = tiled_matmul_shared_bytes(tile);
  v.loads = [tile](const MatmulShape& s) { return tiled_loads(s, tile); };
  v.loads_formula = "2 M N K / T";
  v.skip = too_large;
  return v;
}

template <int TILE>
void launch_static(const MatmulProblem& p) {
  CUDA_CHECK(launch_tiled_matmul<TILE>(p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
}

/// A template is compiled once per tile size, so the sizes must be named here.
MatmulVariant tiled_static(int tile) {
  MatmulVariant v = tiled("tiled_matmul", tile);
  if (tile == 4) v.launch = launch_static<4>;
  if (tile == 8) v.launch = launch_static<8>;
  if (tile == 16) v.launch = launch_static<16>;
  if (tile == 32) v.launch = launch_static<32>;
  if (!v.launch) v.skip = [](const MatmulShape&) { return "compiled for tiles 4, 8, 16 and 32 only"; };
  return v;
}

MatmulVariant tiled_dynamic(int tile) {
  MatmulVariant v = tiled("tiled_matmul_dynamic", tile);
  v.launch = [tile](const MatmulProblem& p) {
    CUDA_CHECK(launch_tiled_matmul_dynamic(p.A, p.B, p.C, p.m, p.n, p.k, tile, p.stream));
  };
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("02_tiled_matmul",
                              "C = A B through shared memory: what does a tile save? --tile is the side of the square "
                              "tile and of the block of threads.");
    options.add_matmul({.sizes = {1024, 2048, 4096}, .sim_sizes = {100, 256}, .tiles = {8, 16, 32}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(options);
    for (const MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;  // does not fit in device memory: a SKIP row says so
      for (int tile : options.tiles()) lesson.run(naive(tile));
      for (int tile : options.tiles()) lesson.run(tiled_static(tile));
      for (int tile : options.tiles()) lesson.run(tiled_dynamic(tile));
    }
    return lesson.finish();
  });
}
