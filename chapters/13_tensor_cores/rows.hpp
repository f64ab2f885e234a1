// The rows of the lesson's tables: WMMA's, which every machine has, and those of cuBLASLt and of
// compute capability 9.0.
#pragma once

#include <set>
#include <string>

#include "problem.hpp"
#include "tensor_cores.cuh"

#ifndef TILEWISE_SIMULATOR
#include "library.hpp"
#include "tf32.cuh"
#include "wgmma.cuh"
#endif

namespace rows {

using tilewise::Lesson;
using tilewise::Variant;

inline Variant skipped(Variant v, std::string reason) {
  v.skip = [reason = std::move(reason)] { return reason; };
  return v;
}

template <class T>
Variant wmma_from_global(Product<T>& product) {
  Variant v = product.row("wmma_from_global", [](const ProductProblem<T>& p) {
    CUDA_CHECK(launch_wmma_from_global(p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  });
  v.block = dim3(128);
  const tilewise::MatmulShape& s = product.shape();
  return s.m % 16 || s.n % 16 || s.k % 16
             ? skipped(std::move(v), "M, N and K must be multiples of 16")
             : v;
}

template <int STAGES, class T>
Variant wmma_tiles(Product<T>& product) {
  Variant v =
      product.row("wmma_tiles<" + std::to_string(STAGES) + ">", [](const ProductProblem<T>& p) {
        CUDA_CHECK((launch_wmma_tiles<T, STAGES>(p.A, p.B, p.C, p.m, p.n, p.k, p.stream)));
      });
  v.block = dim3(256);
  v.shared_bytes = wmma_tiles_bytes(STAGES);
  v.opt_in_shared = true;
  const tilewise::MatmulShape& s = product.shape();
  return s.n % 8 || s.k % 8 ? skipped(std::move(v), "N and K must be multiples of 8") : v;
}

#ifdef TILEWISE_SIMULATOR

/// A SKIP row for a kernel that the simulator can't run, once for all shapes.
inline void skip(Lesson& lesson, const std::string& kernel,
                 const char* reason = "needs compute capability 9.0 (H100, H200): wgmma and TMA") {
  static std::set<std::string> said;
  if (said.insert(kernel).second) lesson.skip("all", kernel, 0, reason);
}

template <class T>
void run_library(Lesson&, Product<T>&) {}
template <class T>
void run_wgmma(Lesson& lesson, Product<T>&) {
  for (const char* kernel :
       {"wgmma_tiles", "wgmma_stages<4>", "wgmma_persistent<4, 16>", "wgmma_clusters<4, 8>"})
    skip(lesson, kernel);
}
inline void run_wgmma_tf32(Lesson& lesson, Product<float>&) {
  skip(lesson, "wgmma_tf32_persistent<4, 8>");
}
inline void run_wgmma_3xtf32(Lesson& lesson, Product<float>&) {
  skip(lesson, "wgmma_3xtf32<4, 8>");
}

#else

/// cuBLASLt, with the fastest of the algorithms that its heuristics name for this product.
template <class T>
void run_library(Lesson& lesson, Product<T>& product) {
  const auto library = std::make_shared<LtProduct<T>>(product.problem());
  Variant v =
      product.row("cublasLtMatmul", [library](const ProductProblem<T>& p) { library->launch(p); });
  v.baseline = true;
  lesson.run(v);
}

/// Why a kernel with TMA and wgmma doesn't run here; "" if it does.
template <class T>
std::string why_not_hopper(const tilewise::MatmulShape& s) {
  if (tilewise::device().major != 9)
    return "needs compute capability 9.0 (H100, H200), for wgmma and TMA";
  constexpr std::size_t multiple = 16 / sizeof(T);
  if (s.n % multiple == 0 && s.k % multiple == 0) return "";
  return "N and K must be multiples of " + std::to_string(multiple) +
         ": TMA wants rows at multiples of 16 bytes";
}

template <class T>
Variant on_hopper(Product<T>& product, std::string kernel, int threads, int shared_bytes,
                  std::function<void(const ProductProblem<T>&)> launch) {
  Variant v = product.row(std::move(kernel), std::move(launch));
  v.block = dim3(threads);
  v.shared_bytes = shared_bytes;
  v.opt_in_shared = true;
  v.skip = [shape = product.shape()] { return why_not_hopper<T>(shape); };
  return v;
}

inline std::shared_ptr<tilewise::DeviceBuffer<unsigned char>> workspace() {
  std::size_t bytes = 0;
  CUDA_CHECK(persistent_workspace(bytes));
  return std::make_shared<tilewise::DeviceBuffer<unsigned char>>(bytes);
}

inline void run_wgmma(Lesson& lesson, Product<bf16>& product) {
  using Problem = ProductProblem<bf16>;
  lesson.run(on_hopper<bf16>(product, "wgmma_tiles", 256, kTiles, [](const Problem& p) {
    CUDA_CHECK(launch_wgmma_tiles(p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  }));
  lesson.run(on_hopper<bf16>(product, "wgmma_stages<4>", 384, 4 * kTiles, [](const Problem& p) {
    CUDA_CHECK(launch_wgmma_stages<4>(p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  }));
  const auto launch = [work = workspace()](const Problem& p) {
    CUDA_CHECK(
        (launch_wgmma_persistent<4, 16>(p.A, p.B, p.C, p.m, p.n, p.k, work->data(), p.stream)));
  };
  const auto launch_in_pairs = [work = workspace()](const Problem& p) {
    CUDA_CHECK((launch_wgmma_clusters<4, 8>(p.A, p.B, p.C, p.m, p.n, p.k, work->data(), p.stream)));
  };
  constexpr int bytes = 4 * kTiles + 4 * kBoxC;
  lesson.run(on_hopper<bf16>(product, "wgmma_persistent<4, 16>", 384, bytes, launch));
  lesson.run(on_hopper<bf16>(product, "wgmma_clusters<4, 8>", 384, bytes, launch_in_pairs));
}
// half is for GPUs that are older than bfloat16
inline void run_wgmma(Lesson&, Product<__half>&) {}

inline void run_wgmma_tf32(Lesson& lesson, Product<float>& product) {
  const auto launch = [work = workspace()](const ProductProblem<float>& p) {
    CUDA_CHECK((launch_wgmma_tf32<4, 8>(p.A, p.B, p.C, p.m, p.n, p.k, work->data(), p.stream)));
  };
  lesson.run(
      on_hopper<float>(product, "wgmma_tf32_persistent<4, 8>", 384, 4 * tf32::kTiles, launch));
}

/// cublasSgemm, and three products of TF32 in its place. What it costs to split A is part of the
/// time.
inline void run_wgmma_3xtf32(Lesson& lesson, Product<float>& product) {
  const tilewise::CublasHandle handle;
  Variant sgemm = product.row("cublasSgemm", [&handle](const ProductProblem<float>& p) {
    CUBLAS_CHECK(launch_cublas_sgemm(handle, p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  });
  sgemm.baseline = true;
  const double theirs = lesson.run(sgemm).comparison.max_error;
  const auto low =
      std::make_shared<tilewise::DeviceBuffer<float>>(product.shape().m * product.shape().k);
  const auto launch = [low](const ProductProblem<float>& p) {
    CUDA_CHECK((launch_wgmma_3xtf32<4, 8>(p.A, p.B, p.C, p.m, p.n, p.k, low->data(), p.stream)));
  };
  const double ours = lesson
                          .run(on_hopper<float>(product, "wgmma_3xtf32<4, 8>", 384,
                                                4 * (2 * kTile3A + tf32::kTileB), launch))
                          .comparison.max_error;
  if (ours > 0)
    lesson.say("Largest error, of cublasSgemm's: " + tilewise::significant(ours / theirs));
  // the handle ends here, and with it the call that later rows would be timed with
  lesson.begin_group();
}

#endif

}  // namespace rows
