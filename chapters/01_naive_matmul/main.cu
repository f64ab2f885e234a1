// Lesson 01: one thread per element of C. The same arithmetic with the column, then with the row on
// threadIdx.x.
#include "naive_matmul.cuh"
#include "tilewise/lesson.hpp"

namespace {

using tilewise::MatmulProblem;
using tilewise::MatmulShape;
using tilewise::MatmulVariant;

/// Every thread reads K words of A and K words of B, and there are M N threads.
double loads(const MatmulShape& s) { return 2.0 * s.m * s.n * s.k; }

/// What both kernels have in common.
MatmulVariant variant(const char* kernel, int block) {
  MatmulVariant v;
  v.kernel = kernel;
  v.tile = block;
  v.block = dim3(block, block);
  v.loads = loads;
  v.loads_formula = "2 M N K";
  v.skip = [](const MatmulShape& s) {
    return naive_matmul_fits(s.m, s.n, s.k)
               ? ""
               : "a matrix of 2^31 elements or more: positions are 32-bit";
  };
  return v;
}

MatmulVariant column_on_x(int block) {
  MatmulVariant v = variant("naive_matmul", block);
  v.baseline = true;
  v.launch = [block](const MatmulProblem& p) {
    CUDA_CHECK(launch_naive_matmul(p.A, p.B, p.C, p.m, p.n, p.k, block, p.stream));
  };
  return v;
}

MatmulVariant row_on_x(int block) {
  MatmulVariant v = variant("naive_matmul_row_on_x", block);
  v.launch = [block](const MatmulProblem& p) {
    CUDA_CHECK(launch_naive_matmul_row_on_x(p.A, p.B, p.C, p.m, p.n, p.k, block, p.stream));
  };
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "01_naive_matmul",
        "C = A B with one thread per element: which coordinate belongs on threadIdx.x? "
        "--tile is the side of the square block of threads.");
    options.add_matmul({.sizes = {1024, 2048, 4096},
                        .sim_sizes = {192},
                        .tiles = {8, 16, 32},
                        .shapes = {{2048, 2048, 2049},
                                   {2048, 2048, 2064},
                                   {2048, 2048, 4096},
                                   {2048, 2048, 4097},
                                   {4096, 4096, 4097},
                                   {2047, 1025, 4093}},
                        .sim_shapes = {{192, 192, 193}, {127, 65, 93}}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(
        options, {.quantity = tilewise::Quantity::passes, .show_shared = false, .l1 = true});
    for (const MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;  // does not fit in device memory: a SKIP row says so
      for (int block : options.tiles()) lesson.run(column_on_x(block));
      for (int block : options.tiles()) lesson.run(row_on_x(block));
    }
    return lesson.finish();
  });
}
