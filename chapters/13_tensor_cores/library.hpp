// cuBLASLt as a careful user calls it: it names algorithms for a product, each of them is tried,
// and the fastest is kept.
#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <limits>

#include "../07_cublas_sgemm/cublas_sgemm.cuh"
#include "problem.hpp"
#include "tilewise/cublas.hpp"

/// C = A B for one problem. Row-major C is column-major C^T = B^T A^T, so B is handed over first.
template <class T>
class LtProduct {
 public:
  explicit LtProduct(const ProductProblem<T>& p) : workspace_(kWorkspace) {
    const cudaDataType_t type = std::is_same_v<T, float>    ? CUDA_R_32F
                                : std::is_same_v<T, __half> ? CUDA_R_16F
                                                            : CUDA_R_16BF;
    const cublasComputeType_t compute =
        std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    CUBLAS_CHECK(cublasLtCreate(&handle_));
    CUBLAS_CHECK(cublasLtMatmulDescCreate(&operation_, compute, CUDA_R_32F));
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&a_, type, p.k, p.m, p.k));
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&b_, type, p.n, p.k, p.n));
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&c_, type, p.n, p.m, p.n));
    choose(p);
  }
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;
  ~LtProduct() {
    for (const cublasLtMatrixLayout_t layout : {a_, b_, c_}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(operation_);
    cublasLtDestroy(handle_);
  }

  void launch(const ProductProblem<T>& p) { launch(p, best_); }

 private:
  // bytes, more than any algorithm here asks for
  static constexpr std::size_t kWorkspace = std::size_t{256} << 20;
  static constexpr int kMost = 16;

  void launch(const ProductProblem<T>& p, int algorithm) {
    const float one = 1, zero = 0;
    CUBLAS_CHECK(cublasLtMatmul(handle_, operation_, &one, p.B, b_, p.A, a_, &zero, p.C, c_, p.C,
                                c_, &found_[algorithm].algo, workspace_.data(), kWorkspace,
                                p.stream));
  }

  /// The shortest of ten times each, taken in turns, so that a clock that moves is the same for
  /// all.
  void choose(const ProductProblem<T>& p) {
    cublasLtMatmulPreference_t preference = nullptr;
    int count = 0;
    CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof(kWorkspace)));
    CUBLAS_CHECK(cublasLtMatmulAlgoGetHeuristic(handle_, operation_, b_, a_, c_, c_, preference,
                                                kMost, found_, &count));
    CUBLAS_CHECK(cublasLtMatmulPreferenceDestroy(preference));
    cudaEvent_t start = nullptr, stop = nullptr;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    float shortest[kMost];
    std::fill_n(shortest, kMost, std::numeric_limits<float>::infinity());
    for (int turn = 0; turn < 10; ++turn) {
      for (int i = 0; i < count; ++i) {
        CUDA_CHECK(cudaEventRecord(start, p.stream));
        launch(p, i);
        CUDA_CHECK(cudaEventRecord(stop, p.stream));
        CUDA_CHECK(cudaEventSynchronize(stop));
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
        shortest[i] = std::min(shortest[i], ms);
      }
    }
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    best_ = static_cast<int>(std::min_element(shortest, shortest + count) - shortest);
  }

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulHeuristicResult_t found_[kMost];
  int best_ = 0;
  tilewise::DeviceBuffer<unsigned char> workspace_;
};
