// Lesson 07: one call of cuBLAS, in every form that row-major code needs it; then all matrix
// products so far beside it.
#include <limits>

#include "problem.hpp"
#include "rows.hpp"

namespace {

using Sizes = std::vector<std::int64_t>;
using tilewise::CublasHandle;
using tilewise::LessonStyle;

constexpr auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;

void run_calls(tilewise::Lesson& lesson, const CublasHandle& handle, Calls& calls) {
  lesson.run(calls.gemm(handle, N, N, 0, 1, 0));
  lesson.run(calls.gemm(handle, N, T, 0, 1, 0));
  lesson.run(calls.gemm(handle, T, N, 0, 1, 0));
  lesson.run(calls.gemm(handle, T, T, 0, 1, 0));
  lesson.run(calls.gemm(handle, N, N, 1, 1, 0));  // rows with a gap after them
  lesson.run(calls.gemm(handle, N, N, 4, 1, 0));
  lesson.run(calls.gemm(handle, N, N, 0, 2, -1));  // alpha and beta
}

void run_modes(tilewise::Lesson& lesson, const CublasHandle& handle, MathModes& modes) {
  const double fp32 = lesson.run(modes.run(handle, "CUBLAS_DEFAULT_MATH", CUBLAS_DEFAULT_MATH))
                          .comparison.max_error;
  lesson.run(modes.run(handle, "CUBLAS_PEDANTIC_MATH", CUBLAS_PEDANTIC_MATH));
  const auto last =
      lesson.run(modes.run(handle, "CUBLAS_TF32_TENSOR_OP_MATH", CUBLAS_TF32_TENSOR_OP_MATH))
          .comparison;
  const auto judged = modes.by_fp32();
  lesson.say("TF32's largest error is " + tilewise::significant(last.max_error / fp32) +
             " times FP32's; " + tilewise::with_commas(judged.wrong) + " of " +
             tilewise::with_commas(judged.checked) + " elements are outside FP32's bound.");
}

void run_small(tilewise::Lesson& lesson, const CublasHandle& handle, SmallProducts& products) {
  const int n = products.n();
  const auto all_with = [&products, n](cublasHandle_t with, int i, cudaStream_t stream) {
    CUBLAS_CHECK(
        launch_cublas_sgemm(with, products.A(i), products.B(i), products.C(i), n, n, n, stream));
  };
  lesson.run(products.run("a call for each", true, [&](cudaStream_t stream) {
    for (int i = 0; i < products.count(); ++i) all_with(handle, i, stream);
  }));
  lesson.run(products.run("one batched call", false, [&](cudaStream_t stream) {
    CUBLAS_CHECK(cublasSetStream(handle, stream));
    CUBLAS_CHECK(sgemm_row_major_batch(handle, n, n, n, products.A(0), products.B(0), products.C(0),
                                       products.count()));
  }));
  lesson.run(products.run("a handle for each", false, [&](cudaStream_t stream) {
    // what not to do
    for (int i = 0; i < products.count(); ++i) all_with(CublasHandle(), i, stream);
  }));
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "07_cublas_sgemm",
        "Calling cuBLAS from row-major code, and how far our kernels are from it. --n, --m and "
        "--k are the sizes of the table of all kernels.");
    const bool small = tilewise::is_simulated();
    std::string only = "all";
    Sizes call_shape = small ? Sizes{40, 56, 72} : Sizes{1000, 1500, 700};
    std::int64_t math_n = small ? 128 : 4096, small_n = small ? 16 : 128;
    bool slow = false;
    options.add("--part", only, "Which table",
                {"all", "calls", "vectors", "math", "small", "kernels"});
    options.add("--call-shape", call_shape, "M,N,K of the table of calls", {1, 2000});
    options.add("--math-n", math_n, "Size of the table of math modes", {1, 16384});
    options.add("--small-n", small_n, "Size of the table of small products", {1, 1024});
    options.add_flag("--slow", slow, "Run the slow kernels on large matrices, too");
    const tilewise::MatmulShape ragged{4097, 4097, 4097}, small_ragged{61, 47, 53};
    options.add_matmul({{512, 1024, 2048, 4096}, {96}, {}, {ragged}, {small_ragged}});
    options.parse(argc, argv);
    if (call_shape.size() != 3) options.refuse("--call-shape takes three numbers: M,N,K");
    tilewise::MatmulLesson products(options, {});
    tilewise::Lesson& lesson = products.lesson();
    const CublasHandle handle;  // one for the whole program
    lesson.say("Library calls are computed by " + tilewise::cublas_engine() + ".\n");
    LessonStyle style{.baseline_name = "NN",
                      .show_tile = false,
                      .counts = false,
                      .share = true,
                      .min_seconds = 0.1};
    // where blocks are sampled, the calls of libraries have nothing to show
    const bool sampled = tilewise::sampled_blocks() != 0;
    const auto begin = [&](const char* part, const char* title) {
      if ((only != "all" && only != part) || (sampled && std::string(part) != "kernels"))
        return false;
      lesson.begin_part(part, title, style);
      lesson.begin_group();
      return true;
    };

    style.extra = {{"op", "A B", 3}, {"gap", "words", 5}, {"alpha, beta", "", 11}};
    if (begin("calls", "every call of the lesson, row-major")) {
      Calls calls(call_shape, options);
      run_calls(lesson, handle, calls);
    }
    if (!sampled && (only == "all" || only == "vectors")) {
      // small enough to stay in a GPU's L2
      Vectors(call_shape[0], call_shape[2], options).run(lesson, handle);
      if (!small) Vectors(16384, 8192, options).run(lesson, handle);  // not so
    }
    style.in_turns = true;
    style.extra = {};
    style.baseline_name = "FP32";
    // FP32 units and tensor cores in one table
    style.ceiling = std::numeric_limits<double>::infinity();
    if (begin("math", "FP32 and TF32")) {
      MathModes modes(static_cast<int>(math_n), options);
      run_modes(lesson, handle, modes);
    }
    style.baseline_name = "loop";
    style.graphs = false;  // the host's part of a call is the question
    if (begin("small", "many small products")) {
      SmallProducts many(static_cast<int>(small_n), 16, options);
      run_small(lesson, handle, many);
    }
    style = {.baseline_name = "cuBLAS",
             .kernel_width = 34,
             .share = true,
             .in_turns = true,
             .graphs = false};
    if (begin("kernels", "all matrix products so far")) {
      for (const tilewise::MatmulShape& shape : options.shapes()) {
        if (!products.begin(shape)) continue;
        if (!sampled)
          products.run(rows::cublas_sgemm(handle)),
              products.run(rows::by_transposing(handle, shape));
        for (const tilewise::MatmulVariant& kernel : rows::kernels())
          products.run(rows::unless_slow(kernel, slow));
      }
    }
    return lesson.finish();
  });
}
