// C = A * B on tensor cores with CUDA's own functions for them, WMMA: first with everything from
// global memory, then with tiles in shared memory.
//
//   A: M x K    B: K x N    C: M x N     row-major; sums in float
//   T: __half (compute capability 7.0 and later) or __nv_bfloat16 (8.0)
//
// What only compute capability 9.0 has is in wgmma.cuh and tf32.cuh.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/// What fragments hold. WMMA has no bfloat16 before compute capability 8.0; there the launches
/// below refuse it.
template <class T>
using Operand = __half;
#else
template <class T>
using Operand = T;
#endif

// [store_rounded]
/// Rounds a warp's 16 x 16 sums to T and stores them. `floats` is room for them in shared memory,
/// of this warp alone. N is a multiple of 8.
template <class T>
__device__ __forceinline__ void store_rounded(
    const nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>& sums, float* floats,
    T* C, int row0, int col0, int M, int N) {
  // a lane stores 8 neighbours, 16 bytes
  const int lane = threadIdx.x % 32, row = lane / 2, col = lane % 2 * 8;
  nvcuda::wmma::store_matrix_sync(floats, sums, 16, nvcuda::wmma::mem_row_major);
  __syncwarp();
  if (row0 + row < M && col0 + col < N) {
    union {
      T numbers[8];
      float4 bytes;
    } rounded;
#pragma unroll
    for (int i = 0; i < 8; ++i) rounded.numbers[i] = T(floats[row * 16 + col + i]);
    *reinterpret_cast<float4*>(C + size_t(row0 + row) * N + col0 + col) = rounded.bytes;
  }
  __syncwarp();  // `floats` may be written again
}
// [store_rounded]

// [wmma_from_global]
/// A warp computes 16 x 16 elements of C. M, N and K are multiples of 16. Block: 4 warps side by
/// side. Grid: x covers N in steps of 64, y covers M in steps of 16.
template <class T>
__global__ void __launch_bounds__(128)
    wmma_from_global(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int M,
                     int N, int K) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) float floats[4][16 * 16];
  const int warp = threadIdx.x / 32, row0 = blockIdx.y * 16, col0 = blockIdx.x * 64 + warp * 16;
  if (col0 >= N) return;  // the whole warp

  const auto* a_rows = reinterpret_cast<const Operand<T>*>(A + size_t(row0) * K);
  const auto* b_cols = reinterpret_cast<const Operand<T>*>(B + col0);
  // [wmma_loop]
  fragment<matrix_a, 16, 16, 16, Operand<T>, row_major> a;
  fragment<matrix_b, 16, 16, 16, Operand<T>, row_major> b;
  fragment<accumulator, 16, 16, 16, float> sums;
  fill_fragment(sums, 0.0f);
  for (int k = 0; k < K; k += 16) {
    load_matrix_sync(a, a_rows + k, K);
    load_matrix_sync(b, b_cols + size_t(k) * N, N);
    mma_sync(sums, a, b, sums);  // 16 x 16 x 16 multiply-adds by 32 threads together
  }
  // [wmma_loop]
  store_rounded(sums, floats[warp], C, row0, col0, M, N);
}
// [wmma_from_global]

/// Shared memory of wmma_tiles<T, STAGES>: rows of 32 and of 128 numbers, each with 8 more.
constexpr int wmma_tiles_bytes(int stages) {
  return stages * (128 * (32 + 8) + 32 * (128 + 8)) * 2;
}

// [wmma_tiles]
/// A block computes 128 x 128 elements of C from tiles in shared memory that are 32 deep, each of 8
/// warps 32 x 64 of them; STAGES pairs of tiles are there or on their way. Any M; N and K are
/// multiples of 8. Block: 256 threads. Grid: x covers N, y covers M, in steps of 128. Dynamic
/// shared memory: wmma_tiles_bytes(STAGES).
template <class T, int STAGES>
__global__ void __launch_bounds__(256) wmma_tiles(const T* __restrict__ A, const T* __restrict__ B,
                                                  T* __restrict__ C, int M, int N, int K) {
  using namespace nvcuda::wmma;
  // rows of 16 bytes more, so that neighbouring rows lie in other banks
  constexpr int kDepth = 32, kRowA = kDepth + 8, kRowB = 128 + 8;
  extern __shared__ __align__(128) unsigned char shared[];
  const auto As = reinterpret_cast<Operand<T>(*)[128][kRowA]>(shared);  // As[stage][row][k]
  const auto Bs = reinterpret_cast<Operand<T>(*)[kDepth][kRowB]>(
      shared + STAGES * 128 * kRowA * sizeof(T));  // Bs[stage][k][col]
  const int thread = threadIdx.x, warp = thread / 32, row0 = blockIdx.y * 128,
            col0 = blockIdx.x * 128;
  const int warp_row = warp / 2 * 32, warp_col = warp % 2 * 64;

  const auto copy = [&](int stage, int k0) {  // 8 numbers at a time; zeros where there are none
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = thread / 4 + i * 64, k = thread % 4 * 8;
      const bool inside = row0 + row < M && k0 + k < K;
      __pipeline_memcpy_async(&As[stage][row][k], inside ? A + size_t(row0 + row) * K + k0 + k : A,
                              16, inside ? 0 : 16);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int k = thread / 16 + i * 16, col = thread % 16 * 8;
      const bool inside = k0 + k < K && col0 + col < N;
      __pipeline_memcpy_async(&Bs[stage][k][col], inside ? B + size_t(k0 + k) * N + col0 + col : B,
                              16, inside ? 0 : 16);
    }
  };

  fragment<accumulator, 16, 16, 16, float> sums[2][4];
  for (auto& row : sums)
    for (auto& sum : row) fill_fragment(sum, 0.0f);
  const int tiles = (K + kDepth - 1) / kDepth;
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < tiles) copy(t, t * kDepth);
    __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    const int next = t + STAGES - 1, stage = t % STAGES;
    if (next < tiles) copy(next % STAGES, next * kDepth);
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      fragment<matrix_a, 16, 16, 16, Operand<T>, row_major> a[2];
      fragment<matrix_b, 16, 16, 16, Operand<T>, row_major> b[4];
#pragma unroll
      for (int i = 0; i < 2; ++i) load_matrix_sync(a[i], &As[stage][warp_row + i * 16][k], kRowA);
#pragma unroll
      for (int j = 0; j < 4; ++j) load_matrix_sync(b[j], &Bs[stage][k][warp_col + j * 16], kRowB);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
      }
    }
  }

  __pipeline_wait_prior(0);
  __syncthreads();  // the tiles are done with: their memory serves to round the sums
  float* floats = reinterpret_cast<float*>(shared) + warp * 16 * 16;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      store_rounded(sums[i][j], floats, C, row0 + warp_row + i * 16, col0 + warp_col + j * 16, M,
                    N);
  }
}
// [wmma_tiles]

/// cudaErrorNotSupported where this device's tensor cores don't know T.
template <class T>
cudaError_t tensor_cores_take() {
  int device = 0, major = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (status != cudaSuccess) return status;
  return major < (std::is_same_v<T, __half> ? 7 : 8) ? cudaErrorNotSupported : cudaSuccess;
}

/// A and B lie at multiples of 32 bytes. cudaErrorInvalidValue: a size that isn't a multiple of 16,
/// or too large.
template <class T>
cudaError_t launch_wmma_from_global(const T* A, const T* B, T* C, int M, int N, int K,
                                    cudaStream_t stream = nullptr) {
  const auto address = reinterpret_cast<uintptr_t>(A) | reinterpret_cast<uintptr_t>(B);
  if (M < 0 || N < 0 || K < 0 || M % 16 || N % 16 || K % 16 || M / 16 > 65535 || address % 32)
    return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  if (const cudaError_t status = tensor_cores_take<T>()) return status;
  wmma_from_global<<<dim3((N + 63) / 64, M / 16), 128, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

/// A, B and C lie at multiples of 16 bytes. cudaErrorInvalidValue: N or K isn't a multiple of 8, or
/// a size is too large.
template <class T, int STAGES>
cudaError_t launch_wmma_tiles(const T* A, const T* B, T* C, int M, int N, int K,
                              cudaStream_t stream = nullptr) {
  const auto address = reinterpret_cast<uintptr_t>(A) | reinterpret_cast<uintptr_t>(B) |
                       reinterpret_cast<uintptr_t>(C);
  constexpr int kMost = 1 << 30;
  if (M < 0 || N < 0 || K < 0 || M > kMost || N > kMost || K > kMost || N % 8 || K % 8 ||
      address % 16)
    return cudaErrorInvalidValue;
  if (M == 0 || N == 0) return cudaSuccess;
  if ((M + 127) / 128 > 65535) return cudaErrorInvalidValue;
  if (const cudaError_t status = tensor_cores_take<T>()) return status;
  const auto kernel = wmma_tiles<T, STAGES>;
  constexpr int bytes = wmma_tiles_bytes(STAGES);
  if (const cudaError_t status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))
    return status;
  kernel<<<dim3((N + 127) / 128, (M + 127) / 128), 256, bytes, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
