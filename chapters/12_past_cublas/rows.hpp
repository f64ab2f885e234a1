// The rows of the lesson's table: cuBLAS, lesson 11's best kernel to start from, and this lesson's
// kernels with their workspaces.
#pragma once

#include <memory>

#include "../11_async_copies/rows.hpp"
#include "past_cublas.cuh"
#include "tilewise/device_buffer.hpp"

namespace rows {

inline std::string not_counted(const MatmulShape& s) {
  return past_cublas_fits(s.m, s.n, s.k)
             ? ""
             : "a matrix of 2^31 - 2^16 elements or more, or a grid that is too large";
}

using LaunchWithWorkspace = cudaError_t (*)(const float*, const float*, float*, int, int, int,
                                            float*, cudaStream_t);

/// What the kernels of this lesson have in common. `words` of workspace are allocated at once, and
/// freed with the row.
inline MatmulVariant with_workspace(std::string kernel, std::size_t words,
                                    LaunchWithWorkspace launch) {
  MatmulVariant v;
  v.kernel = std::move(kernel);
  v.opt_in_shared = true;
  v.skip = not_counted;
  if (sizeof(float) * words >= tilewise::free_device_memory()) {
    v.skip = [](const MatmulShape&) { return "no device memory for its workspace"; };
    return v;
  }
  const auto workspace = std::make_shared<tilewise::DeviceBuffer<float>>(words);
  v.launch = [launch, workspace](const MatmulProblem& p) {
    CUDA_CHECK(launch(p.A, p.B, p.C, p.m, p.n, p.k, workspace->data(), p.stream));
  };
  return v;
}

/// Enough whatever B's address is.
inline std::size_t words_to_prepare(const MatmulShape& s) {
  return prepared_words(nullptr, s.m, s.n, s.k) + (s.n + 3) / 4 * 4 * s.k;
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
MatmulVariant wide(const MatmulShape& shape) {
  MatmulVariant v =
      with_workspace(with_arguments("wide_copies", BM, BN, BK, TM, TN, STAGES),
                     words_to_prepare(shape), launch_wide_copies<BM, BN, BK, TM, TN, STAGES>);
  v.block = dim3(BM / TM * (BN / TN));
  v.shared_bytes = tile_bytes(BM, BN, BK, STAGES);
  return v;
}

template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
MatmulVariant warps(const MatmulShape& shape) {
  MatmulVariant v = with_workspace(
      with_arguments("warp_tiles", BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP),
      words_to_prepare(shape), launch_warp_tiles<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>);
  v.block = dim3(32 * WM * WN);
  v.shared_bytes = tile_bytes(BM, BN, BK, STAGES);
  return v;
}

template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int GROUP>
MatmulVariant shared_out(const MatmulShape& shape) {
  std::size_t words = 0;
  CUDA_CHECK((past_cublas_words<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>(
      nullptr, shape.m, shape.n, shape.k, words)));
  words += words_to_prepare(shape);
  MatmulVariant v =
      with_workspace(with_arguments("past_cublas", BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP),
                     words, launch_past_cublas<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUP>);
  v.block = dim3(32 * WM * WN);
  v.shared_bytes = tile_bytes(BM, BN, BK, STAGES);
  return v;
}

template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int SLICES, int STAGES>
MatmulVariant sliced(const MatmulShape& shape) {
  MatmulVariant v =
      with_workspace(with_arguments("sliced_tiles", BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES),
                     shape.k < BK ? words_to_prepare(shape) : 1,
                     launch_sliced_tiles<BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES>);
  v.block = dim3(32 * WM * WN * SLICES);
  v.shared_bytes = sliced_bytes(BM, BN, BK, SLICES, STAGES);
  return v;
}

}  // namespace rows
