// Lesson 09: several elements of C per thread, kept in registers. One element first (lesson 02's
// kernel), then a column of them, then rectangles of growing size; cuBLAS beside them.
#include "rows.hpp"

#include "tilewise/lesson.hpp"

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "09_register_tiles",
        "C = A B with several elements of C per thread: what does a word in a register save?");
    options.add_matmul({.sizes = {1024, 4096},
                        .sim_sizes = {128},
                        .tiles = {},
                        .shapes = {{4097, 4097, 4097}},
                        .sim_shapes = {{127, 65, 93}}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(options, {.quantity = tilewise::Quantity::wavefronts,
                                            .baseline_name = "cuBLAS",
                                            .kernel_width = 32,
                                            .show_tile = false,
                                            .share = true,
                                            .in_turns = true});
    const tilewise::CublasHandle handle;
    lesson.lesson().say("Library calls are computed by " + tilewise::cublas_engine() + ".\n");
    for (const tilewise::MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;  // does not fit in device memory: a SKIP row says so
      lesson.run(rows::cublas_sgemm(handle));
      lesson.run(rows::tiled_static(32));
      lesson.run(rows::columns<64, 64, 8, 8>());
      lesson.run(rows::registers<64, 64, 16, 4, 4>());
      lesson.run(rows::registers<128, 128, 16, 8, 8>());
      lesson.run(rows::registers<128, 128, 16, 16, 8>());
    }
    return lesson.finish();
  });
}
