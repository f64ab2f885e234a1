// Lesson 11: the next tiles are fetched while the present ones are multiplied. Lesson 09's kernel
// first, which waits for them; then two buffers by hand; then asynchronous copies, with two and
// three stages, short and long tiles; cuBLAS beside them.
#include "rows.hpp"

#include "tilewise/lesson.hpp"

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("11_async_copies",
                              "C = A B, fetching ahead: through registers, or by copies that need "
                              "none. What does it save?");
    options.add_matmul({.sizes = {1024, 4096},
                        .sim_sizes = {128},
                        .tiles = {},
                        .shapes = {{4097, 4097, 4097}},
                        .sim_shapes = {{127, 65, 93}}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(options, {.baseline_name = "cuBLAS",
                                            .kernel_width = 37,
                                            .show_tile = false,
                                            .share = true,
                                            .in_turns = true});
    const tilewise::CublasHandle handle;
    lesson.lesson().say("Library calls are computed by " + tilewise::cublas_engine() + ".\n");
    for (const tilewise::MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;  // does not fit in device memory: a SKIP row says so
      lesson.run(rows::cublas_sgemm(handle));
      lesson.run(rows::registers<128, 128, 16, 8, 8>());
      lesson.run(rows::double_buffered<128, 128, 8, 8, 8>());
      lesson.run(rows::async<128, 128, 8, 8, 8, 2>());
      lesson.run(rows::async<128, 128, 16, 8, 8, 2>());
      lesson.run(rows::async<128, 128, 16, 8, 8, 3>());
      lesson.run(rows::async<128, 128, 32, 8, 8, 3>());
    }
    return lesson.finish();
  });
}
