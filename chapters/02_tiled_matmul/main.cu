// Lesson 02: tiles in shared memory. The naive kernel with the same block first, then the tiled
// kernel: tile size known to the compiler, tile size chosen at launch, the next tile prefetched,
// and tiles that are no squares.
#include "rows.hpp"
#include "tile_costs.hpp"
#include "tilewise/lesson.hpp"

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "02_tiled_matmul",
        "C = A B through shared memory: what does a tile save? --tile is the side of the square "
        "tile and of the block of threads.");
    options.add_matmul({.sizes = {1024, 4096},
                        .sim_sizes = {128},
                        .tiles = {8, 16, 32},
                        .shapes = {{2047, 1025, 4093}},
                        .sim_shapes = {{127, 65, 93}}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(options, {.kernel_width = 34});
    for (const tilewise::MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;  // does not fit in device memory: a SKIP row says so
      for (int tile : options.tiles()) lesson.run(rows::naive(tile));
      for (int tile : options.tiles()) lesson.run(rows::tiled_static(tile));
      for (int tile : options.tiles()) lesson.run(rows::tiled_dynamic(tile));
      for (int tile : options.tiles()) lesson.run(rows::prefetched(tile));
      lesson.run(rows::rectangular<32, 32, 8>());
      lesson.run(rows::rectangular<64, 64, 8>());
      lesson.run(rows::rectangular<64, 64, 16>());
      lesson.run(rows::rectangular<32, 128, 8>());
    }
    lesson.lesson().say("");
    tile_costs::print();
    return lesson.finish();
  });
}
