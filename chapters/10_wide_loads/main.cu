// Lesson 10: four words per load. Lesson 09's best kernel first, then its loads from global memory,
// its loads from shared memory and its stores of C made 16 bytes wide, one after the other; cuBLAS
// beside them.
#include "rows.hpp"

#include "tilewise/lesson.hpp"

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "10_wide_loads",
        "C = A B with 16 bytes per load: which of a kernel's accesses gain by it?");
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
      lesson.run(rows::registers<128, 128, 16, 8, 8>());
      lesson.run(rows::wide_fetches<128, 128, 16, 8, 8>());
      lesson.run(rows::wide_loads<128, 128, 16, 8, 8>());
      lesson.run(rows::wide_stores<128, 128, 16, 8, 8>());
      lesson.run(rows::wide_loads<64, 128, 16, 8, 8>());
    }
    return lesson.finish();
  });
}
