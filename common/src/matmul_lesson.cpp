// MatmulLesson: the part of lesson.hpp that needs references of matrix products.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tilewise/lesson.hpp"

namespace tilewise {

struct MatmulLesson::Data {
  Data(const MatmulShape& s, const Options& options)
      : shape(s), device_A(s.m * s.k), device_B(s.k * s.n), C(s.m * s.n) {
    if (sampled_blocks() != 0) return;  // nothing is checked, and no product goes by the values
    A = random_vector(s.m * s.k, options.seed(), options.data());
    B = random_vector(s.k * s.n, options.seed() + 1, options.data());
    device_A.upload(A);
    device_B.upload(B);
    reference.emplace(A, B, s, ReferenceOptions{.seed = options.seed() + 2});
    // With many products the rounding bound is wider than one product: integers, without rounding, find what it
    // hides. They cost one more launch.
    constexpr std::size_t kManyProducts = 512;
    if (s.k < kManyProducts && reference->method() == "all elements") return;
    integer_A = random_vector(s.m * s.k, options.seed() + 3, Distribution::integers);
    integer_B = random_vector(s.k * s.n, options.seed() + 4, Distribution::integers);
    exact.emplace(integer_A, integer_B, s, options.seed() + 5);
    device_integer_A = DeviceBuffer<float>(integer_A);
    device_integer_B = DeviceBuffer<float>(integer_B);
  }

  MatmulProblem problem(cudaStream_t stream) {
    return {device_A.data(),           device_B.data(),           C.data(), static_cast<int>(shape.m),
            static_cast<int>(shape.n), static_cast<int>(shape.k), stream};
  }
  MatmulProblem integer_problem() {
    MatmulProblem p = problem(nullptr);
    p.A = device_integer_A.data();
    p.B = device_integer_B.data();
    return p;
  }

  MatmulShape shape;
  std::vector<float> A, B;
  std::optional<MatmulReference> reference;
  DeviceBuffer<float> device_A, device_B, C;
  std::vector<float> integer_A, integer_B;
  std::optional<ExactMatmulCheck> exact;
  DeviceBuffer<float> device_integer_A, device_integer_B;
};

MatmulLesson::MatmulLesson(const Options& options, const LessonStyle& style)
    : options_(options), lesson_(options, style) {}

MatmulLesson::~MatmulLesson() = default;

bool MatmulLesson::begin(const MatmulShape& shape) {
  data_.reset();  // before asking what is free
  lesson_.begin_group();
  // Inputs twice (random and integers), the output, and the timer's flush buffers.
  const double wanted = 2 * shape.matrix_bytes() + 4 * static_cast<double>(device().l2_bytes);
  const auto available = static_cast<double>(free_device_memory());
  if (wanted > available) {
    lesson_.skip(shape.text(), "all", 0,
                 fmt::format("needs {} of device memory; {} are free", bytes_text(wanted), bytes_text(available)));
    return false;
  }
  data_ = std::make_unique<Data>(shape, options_);
  return true;
}

Outcome MatmulLesson::run(const MatmulVariant& v) {
  if (!data_) throw std::logic_error("MatmulLesson::run: begin() has not been called, or said no");
  Data& d = *data_;
  const auto compare = [&d] { return d.reference->check(d.C.to_host()); };

  Variant variant;
  variant.kernel = v.kernel;
  variant.shape = d.shape.text();
  variant.tile = v.tile;
  variant.block = v.block;
  variant.shared_bytes = v.shared_bytes;
  variant.opt_in_shared = v.opt_in_shared;
  if (v.skip) variant.skip = [&] { return v.skip(d.shape); };
  // By value: a baseline is launched again, in turns with later variants, when `v` is gone.
  variant.launch = [&d, launch = v.launch](cudaStream_t stream) { launch(d.problem(stream)); };
  variant.poison = [&] { d.C.poison(); };
  variant.check = [&] {
    Comparison comparison = compare();
    if (!comparison.ok || !d.exact) return comparison;
    d.C.poison();
    run_unwatched([&] { v.launch(d.integer_problem()); });  // the same accesses as before
    CUDA_CHECK(cudaDeviceSynchronize());
    if (Comparison exact = d.exact->check(d.C.to_host()); !exact.ok) return exact;
    comparison.method += " + exactly with integers, all elements";
    return comparison;
  };
  variant.recheck = compare;
  variant.work = d.shape.flops();
  variant.working_set = static_cast<std::size_t>(d.shape.matrix_bytes());
  variant.baseline = v.baseline;
  variant.block_key = fmt::format("{}x{}x{}", v.block.x, v.block.y, v.block.z);
  if (v.loads) variant.predicted_loads = v.loads(d.shape);
  variant.loads_formula = v.loads_formula;
  return lesson_.run(variant);
}

}  // namespace tilewise
