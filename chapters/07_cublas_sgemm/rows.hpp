// The rows of the table that holds all matrix products so far: cuBLAS first, which the others are
// measured by.
#pragma once

#include <memory>
#include <vector>

#include "../02_tiled_matmul/rows.hpp"
#include "../03_padded_tiles/padded_tiles.cuh"
#include "cublas_sgemm.cuh"
#include "tilewise/cublas.hpp"

namespace rows {

inline MatmulVariant cublas_sgemm(const tilewise::CublasHandle& handle) {
  MatmulVariant v;
  v.kernel = "cublasSgemm";
  v.baseline = true;
  v.launch = [&handle](const MatmulProblem& p) {
    CUBLAS_CHECK(launch_cublas_sgemm(handle, p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  };
  return v;
}

inline MatmulVariant by_transposing(const tilewise::CublasHandle& handle,
                                    const MatmulShape& shape) {
  MatmulVariant v;
  v.kernel = "sgemm_by_transposing";
  const bool fits = shape.matrix_bytes() < static_cast<double>(tilewise::free_device_memory());
  if (!fits)
    v.skip = [](const MatmulShape&) {
      return "no device memory for a second copy of the three matrices";
    };
  const std::size_t words = fits ? shape.m * shape.k + shape.k * shape.n + shape.m * shape.n : 0;
  const auto workspace = std::make_shared<tilewise::DeviceBuffer<float>>(words);
  v.launch = [&handle, workspace](const MatmulProblem& p) {
    CUBLAS_CHECK(cublasSetStream(handle, p.stream));
    CUBLAS_CHECK(sgemm_by_transposing(handle, p.m, p.n, p.k, p.A, p.B, p.C, workspace->data()));
  };
  return v;
}

inline MatmulVariant naive_row_on_x() {
  MatmulVariant v = naive(32);
  v.kernel = "naive_matmul_row_on_x";
  v.launch = [](const MatmulProblem& p) {
    CUDA_CHECK(launch_naive_matmul_row_on_x(p.A, p.B, p.C, p.m, p.n, p.k, 32, p.stream));
  };
  return v;
}

inline MatmulVariant padded() {
  MatmulVariant v = tiled("tiled_matmul_padded<32, 1>", 32);
  v.shared_bytes = sizeof(float) * 2 * 32 * 33;
  launch_with(v, launch_tiled_matmul_padded<32, 1>);
  return v;
}

/// Every kernel of the chapters before this one, in their best configuration, in the order of the
/// chapters.
inline std::vector<MatmulVariant> kernels() {
  std::vector<MatmulVariant> all = {naive_row_on_x(),  naive(32),      tiled_static(32),
                                    tiled_dynamic(32), prefetched(32), rectangular<64, 64, 16>(),
                                    padded()};
  for (MatmulVariant& v : all) v.baseline = false;
  return all;
}

/// On large matrices the slow kernels take a second and more per launch, and are launched dozens of
/// times.
inline MatmulVariant unless_slow(MatmulVariant v, bool slow_too) {
  const auto before = v.skip;
  const double n = v.kernel == "naive_matmul_row_on_x" ? 3000 : 5000;
  v.skip = [before, slow_too, n](const MatmulShape& s) -> std::string {
    if (!slow_too && s.flops() > 2 * n * n * n)
      return "takes too long at this size; --slow runs it";
    return before ? before(s) : "";
  };
  return v;
}

}  // namespace rows
