// Lesson 13: products on tensor cores. With 16-bit numbers: CUDA's own functions first, then what
// Hopper has, step by step; with floats in TF32; and with floats in three products of TF32, which
// are as exact as FP32. cuBLASLt and cuBLAS beside them.
#include <limits>

#include "problem.hpp"
#include "rows.hpp"

namespace {

using tilewise::Lesson;
using tilewise::MatmulShape;

template <class T>
void run_narrow(Lesson& lesson, const tilewise::Options& options) {
  for (const MatmulShape& shape : options.shapes()) {
    lesson.begin_group();
    // does not fit in device memory: a SKIP row says so
    if (!Product<T>::begin(lesson, shape)) continue;
    Product<T> product(shape, options, narrow_arithmetic<T>());
    rows::run_library(lesson, product);
    lesson.run(rows::wmma_from_global(product));
    lesson.run(rows::wmma_tiles<3>(product));
    rows::run_wgmma(lesson, product);
  }
}

void run_tf32(Lesson& lesson, const tilewise::Options& options) {
  for (const MatmulShape& shape : options.shapes()) {
    lesson.begin_group();
    if (!Product<float>::begin(lesson, shape)) continue;
    Product<float> product(shape, options, tilewise::Arithmetic::tf32());
    rows::run_library(lesson, product);
    rows::run_wgmma_tf32(lesson, product);
  }
}

void run_fp32(Lesson& lesson, const tilewise::Options& options) {
  for (const MatmulShape& shape : options.shapes()) {
    lesson.begin_group();
    if (!Product<float>::begin(lesson, shape)) continue;
    Product<float> product(shape, options, split_arithmetic());
    rows::run_wgmma_3xtf32(lesson, product);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "13_tensor_cores", "C = A B on tensor cores, from CUDA's own functions to past cuBLASLt.");
    std::string only = "all";
    options.add("--part", only, "Which table", {"all", "16-bit", "tf32", "fp32"});
    options.add_matmul({.sizes = {4096, 8192, 16384},
                        .sim_sizes = {128},
                        .tiles = {},
                        .shapes = {{4097, 4104, 4088}},
                        .sim_shapes = {{129, 136, 72}}});
    options.parse(argc, argv);

    tilewise::LessonStyle style{.baseline_name = "cuBLASLt",
                                .kernel_width = 32,
                                .show_tile = false,
                                .share = true,
                                .in_turns = true};
    Lesson lesson(options, style);
    const bool bfloat16 = tilewise::device().major >= 8 || tilewise::is_simulated();
    if (only == "all" || only == "16-bit") {
      style.ceiling = peak_gflops(16);
      lesson.begin_part("16-bit", bfloat16 ? "bfloat16, sums in float" : "half, sums in float",
                        style);
      bfloat16 ? run_narrow<__nv_bfloat16>(lesson, options) : run_narrow<__half>(lesson, options);
    }
    if (only == "all" || only == "tf32") {
      style.ceiling = peak_gflops(32);
      lesson.begin_part("tf32", "float in TF32, sums in float", style);
      run_tf32(lesson, options);
    }
    if (only == "all" || only == "fp32") {
      style.baseline_name = "cublasSgemm";
      // FP32 units and tensor cores in one table
      style.ceiling = std::numeric_limits<double>::infinity();
      lesson.begin_part("fp32", "float, split into two TF32 numbers each", style);
      run_fp32(lesson, options);
    }
    return lesson.finish();
  });
}
