// Lesson 12: past cuBLAS. Lesson 11's best kernel first, then one step after another: both tiles by
// copies of 16 bytes; warps that own rectangles, without and with an order of blocks that suits L2;
// the last tiles shared out; slices of K for small C; cuBLAS beside them.
#include "rows.hpp"

#include "tilewise/lesson.hpp"

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("12_past_cublas",
                              "C = A B, faster than the library. What is left to save?");
    options.add_matmul({.sizes = {512, 1024, 2048, 4096, 8192, 16384, 4095, 4097},
                        .sim_sizes = {256},
                        .tiles = {},
                        .shapes = {},
                        .sim_shapes = {{257, 129, 100}}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(options, {.quantity = tilewise::Quantity::wavefronts,
                                            .baseline_name = "cuBLAS",
                                            .kernel_width = 42,
                                            .show_tile = false,
                                            .share = true,
                                            .in_turns = true});
    const tilewise::CublasHandle handle;
    lesson.lesson().say("Library calls are computed by " + tilewise::cublas_engine() + ".\n");
    for (const tilewise::MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;  // does not fit in device memory: a SKIP row says so
      lesson.run(rows::cublas_sgemm(handle));
      lesson.run(rows::async<128, 128, 32, 8, 8, 3>());
      lesson.run(rows::wide<128, 128, 32, 8, 8, 3>(shape));
      lesson.run(rows::warps<128, 128, 16, 16, 8, 2, 2, 3, 1>(shape));
      lesson.run(rows::warps<128, 128, 16, 16, 8, 2, 2, 3, 8>(shape));
      lesson.run(rows::shared_out<128, 128, 16, 16, 8, 2, 2, 3, 8>(shape));
      lesson.run(rows::shared_out<128, 128, 8, 16, 8, 2, 2, 5, 8>(shape));
      lesson.run(rows::shared_out<128, 128, 8, 8, 16, 2, 2, 5, 8>(shape));
      lesson.run(rows::sliced<64, 128, 64, 8, 8, 2, 2, 4, 3>(shape));
      lesson.run(rows::sliced<32, 64, 32, 4, 8, 1, 2, 4, 3>(shape));
    }
    return lesson.finish();
  });
}
