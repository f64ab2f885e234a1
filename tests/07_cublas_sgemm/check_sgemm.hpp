// Is a row-major wrapper of cublasSgemm right? The one function that every right wrapper must pass and every wrong one
// must fail.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "guarded_memory.hpp"
#include "tilewise/cublas.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
#endif

/// What can be wrong with a wrapper; several at once.
enum class SgemmFault : unsigned {
  refused = 1,             ///< a status other than success for arguments that are right
  wrong_value = 2,         ///< an element of C beyond its rounding bound, not finite, or never written
  gap_written = 4,         ///< words between the rows of C were changed
  outside_written = 8,     ///< memory before or after C was changed
  input_changed = 16,      ///< A or B was changed
  handle_changed = 32,     ///< stream, pointer mode or math mode of the handle are not what they were
  other_stream = 64,       ///< the work was not done on the handle's stream
  accepts_nonsense = 128,  ///< success for a leading dimension that cannot be
  finding = 256,           ///< the simulator saw a matrix that does not fit, an uninitialised read ...
};

inline std::string name_of(SgemmFault fault) {
  switch (fault) {
    case SgemmFault::refused:
      return "refused";
    case SgemmFault::wrong_value:
      return "wrong value";
    case SgemmFault::gap_written:
      return "gap written";
    case SgemmFault::outside_written:
      return "outside written";
    case SgemmFault::input_changed:
      return "input changed";
    case SgemmFault::handle_changed:
      return "handle changed";
    case SgemmFault::other_stream:
      return "other stream";
    case SgemmFault::accepts_nonsense:
      return "accepts nonsense";
    case SgemmFault::finding:
      return "finding";
  }
  return "?";
}

struct SgemmVerdict {
  unsigned faults = 0;
  std::string text;
  tilewise::Comparison comparison;

  bool right() const { return faults == 0; }
  bool has(SgemmFault fault) const { return (faults & static_cast<unsigned>(fault)) != 0; }
  void add(SgemmFault fault, const std::string& why) {
    faults |= static_cast<unsigned>(fault);
    text += (text.empty() ? "" : "; ") + name_of(fault) + ": " + why;
  }
};

/// handle, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc: all row-major.
using Sgemm = std::function<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, float,
                                           const float*, int, const float*, int, float, float*, int)>;

/// One call.
struct SgemmCase {
  tilewise::MatmulShape shape;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  int gap_a = 0, gap_b = 0, gap_c = 0;  ///< unused words at the end of every row
  float alpha = 1, beta = 0;
  std::uint64_t seed = 1;
  tilewise::Distribution data = tilewise::Distribution::uniform;

  std::string text() const {
    const auto letter = [](cublasOperation_t op) { return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C"; };
    return shape.text() + ", " + letter(op_a) + letter(op_b) + ", gaps " + std::to_string(gap_a) + " " +
           std::to_string(gap_b) + " " + std::to_string(gap_c) + ", alpha " + std::to_string(alpha) + ", beta " +
           std::to_string(beta);
  }
};

namespace sgemm_check {

/// A matrix of rows x cols as it is stored for `op`: itself or its transpose, row-major, NaN in the gaps.
struct Stored {
  Stored(const std::vector<float>& matrix, int rows, int cols, cublasOperation_t op, int gap,
         float in_gap = GuardedMatrix::canary())
      : ld(std::max(1, (op == CUBLAS_OP_N ? cols : rows) + gap)) {
    const int stored_rows = op == CUBLAS_OP_N ? rows : cols;
    words.assign(static_cast<std::size_t>(stored_rows) * ld, in_gap);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        words[op == CUBLAS_OP_N ? std::size_t(i) * ld + j : std::size_t(j) * ld + i] =
            matrix[std::size_t(i) * cols + j];
  }
  int ld;
  std::vector<float> words;
};

/// Copies after a while: what runs on another stream, and does not wait, comes before it.
__global__ inline void late_copy(const float* from, float* to, std::size_t n, long long clocks) {
  const long long start = clock64();
  while (clocks > 0 && clock64() - start < clocks) {
  }
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}

}  // namespace sgemm_check

/// Runs the wrapper and looks at everything it may have done. `arithmetic` is that of the products.
inline SgemmVerdict check_sgemm(const Sgemm& sgemm, const SgemmCase& c,
                                const tilewise::Arithmetic& arithmetic = tilewise::Arithmetic::fp32()) {
  using sgemm_check::Stored;
  SgemmVerdict verdict;
  NewFindings findings;
  const int m = static_cast<int>(c.shape.m), n = static_cast<int>(c.shape.n), k = static_cast<int>(c.shape.k);
  const auto a = tilewise::random_vector(c.shape.m * c.shape.k, 3 * c.seed, c.data);
  const auto b = tilewise::random_vector(c.shape.k * c.shape.n, 3 * c.seed + 1, c.data);
  const auto old = tilewise::random_vector(c.shape.m * c.shape.n, 3 * c.seed + 2, c.data);
  const Stored stored_a(a, m, k, c.op_a, c.gap_a), stored_b(b, k, n, c.op_b, c.gap_b);
  // Beside C there is a number, so that a NaN from beside A or B, written there, is seen. In C itself, unless beta
  // makes cuBLAS read it, there is NaN.
  constexpr float kBesideC = -1.2345678e33f;
  const Stored stored_c(c.beta != 0 ? old : std::vector<float>(old.size(), GuardedMatrix::canary()), m, n, CUBLAS_OP_N,
                        c.gap_c, kBesideC);
  GuardedMatrix A(stored_a.words), B(stored_b.words), C(stored_c.words, kBesideC);

  // The input arrives late on the stream, so that work elsewhere does not see it.
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  tilewise::DeviceBuffer<float> late(stored_a.words);
  CUDA_CHECK(cudaMemset(A.data(), 0xFF, stored_a.words.size() * sizeof(float)));
  CUDA_CHECK(cudaDeviceSynchronize());
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  {
    // One handle for all checks, as it should be; a wrong wrapper may have left something in it.
    static tilewise::CublasHandle& handle = *new tilewise::CublasHandle;
    handle.set_stream(stream);
    CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    if (tilewise::is_simulated()) {
      CUDA_CHECK(cudaMemcpyAsync(A.data(), late.data(), late.bytes(), cudaMemcpyDeviceToDevice, stream));
    } else {
      sgemm_check::late_copy<<<1, 256, 0, stream>>>(late.data(), A.data(), late.size(), 2'000'000);  // a millisecond
      CUDA_CHECK_LAUNCH();
    }
#ifdef TILEWISE_SIMULATOR
    const std::uint64_t calls_before = tilewise::sim::last_library_call().serial;
#endif
    status = sgemm(handle, c.op_a, c.op_b, m, n, k, c.alpha, A.data(), stored_a.ld, B.data(), stored_b.ld, c.beta,
                   C.data(), stored_c.ld);
    CUDA_CHECK(cudaDeviceSynchronize());
#ifdef TILEWISE_SIMULATOR
    if (const auto call = tilewise::sim::last_library_call(); call.serial != calls_before && call.stream != stream)
      verdict.add(SgemmFault::other_stream, "the work went to another stream than the handle's");
#endif
    cudaStream_t stream_after = nullptr;
    cublasPointerMode_t pointers{};
    cublasMath_t math{};
    CUBLAS_CHECK(cublasGetStream(handle, &stream_after));
    CUBLAS_CHECK(cublasGetPointerMode(handle, &pointers));
    CUBLAS_CHECK(cublasGetMathMode(handle, &math));
    if (stream_after != stream) verdict.add(SgemmFault::handle_changed, "another stream");
    if (pointers != CUBLAS_POINTER_MODE_HOST) verdict.add(SgemmFault::handle_changed, "another pointer mode");
    if (math != CUBLAS_DEFAULT_MATH) verdict.add(SgemmFault::handle_changed, "another math mode");
    // A row of B, as it is stored, has n words (or k): one less cannot be, and cuBLAS says so.
    const int too_small = (c.op_b == CUBLAS_OP_N ? n : k) - 1;
    CUBLAS_CHECK(cublasSetStream(handle, stream));
    CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    GuardedMatrix unused(stored_c.words);
    if (sgemm(handle, c.op_a, c.op_b, m, n, k, c.alpha, A.data(), stored_a.ld, B.data(), too_small, c.beta,
              unused.data(), stored_c.ld) == CUBLAS_STATUS_SUCCESS)
      verdict.add(SgemmFault::accepts_nonsense, "success for rows of B that are longer than their distance");
    CUDA_CHECK(cudaDeviceSynchronize());
    handle.set_stream(nullptr);
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
  if (status != CUBLAS_STATUS_SUCCESS) verdict.add(SgemmFault::refused, cublasGetStatusName(status));

  const std::vector<float> words = C.values();
  std::vector<float> got;
  bool gaps_intact = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int j = static_cast<int>(i % stored_c.ld);
    if (j < n)
      got.push_back(words[i]);
    else
      gaps_intact = gaps_intact && words[i] == kBesideC;
  }
  std::vector<double> expected(got.size()), bound(got.size());
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int l = 0; l < k; ++l) {
        const double p = double(a[std::size_t(i) * k + l]) * double(b[std::size_t(l) * n + j]);
        sum += p;
        magnitude += std::abs(p);
      }
      const std::size_t at = std::size_t(i) * n + j;
      const double before = c.beta == 0 ? 0 : double(c.beta) * old[at];
      expected[at] = c.alpha * sum + before;
      // The rounded sum, times alpha, plus beta times what was there: at most three roundings more.
      const double scale = std::abs(double(c.alpha));
      bound[at] = scale * tilewise::error_bound(c.shape.k, magnitude, arithmetic) +
                  (c.alpha == 1 && c.beta == 0 ? 0 : 3.1 * 0x1p-24 * (scale * magnitude + std::abs(before)));
    }
  }
  verdict.comparison = tilewise::compare(got, expected, bound, c.shape.m, c.shape.n);
  if (status == CUBLAS_STATUS_SUCCESS && !verdict.comparison.ok)
    verdict.add(SgemmFault::wrong_value, verdict.comparison.text());
  if (!gaps_intact) verdict.add(SgemmFault::gap_written, "words between the rows of C");
  if (!C.margins_intact()) verdict.add(SgemmFault::outside_written, "memory around C");
  if (A.values() != stored_a.words && !std::equal(stored_a.words.begin(), stored_a.words.end(), A.values().begin(),
                                                  [](float x, float y) { return x == y || (x != x && y != y); }))
    verdict.add(SgemmFault::input_changed, "A");
  if (!B.intact()) verdict.add(SgemmFault::input_changed, "B");
  if (const std::string text = findings.take(); !text.empty()) verdict.add(SgemmFault::finding, text);
  return verdict;
}

/// Calls on which one wrong wrapper at least must fail: ragged, with gaps, transposed, with alpha and beta, and square
/// without gaps, where wrong sizes do not show.
inline std::vector<SgemmCase> mutant_cases() {
  const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
  return {
      {.shape = {13, 29, 17}},
      {.shape = {29, 13, 17}, .gap_a = 3, .gap_b = 2, .gap_c = 5},
      {.shape = {24, 24, 24}},
      {.shape = {12, 20, 16}, .op_a = T, .op_b = N, .gap_a = 1, .gap_b = 2, .gap_c = 3, .alpha = 0.5f, .beta = -2},
      {.shape = {20, 12, 16}, .op_a = N, .op_b = T, .alpha = 3, .beta = 1},
      {.shape = {17, 11, 23}, .op_a = T, .op_b = T, .alpha = -1},
      {.shape = {24, 24, 24}, .op_a = T, .op_b = N},
      {.shape = {16, 16, 16}, .gap_a = 4, .gap_b = 6, .gap_c = 3},
      {.shape = {24, 24, 24}, .alpha = 2, .beta = 0.5f},
  };
}
