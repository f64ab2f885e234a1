// Wrong kernels that share out the k-tiles of C's tiles. Each holds one mistake that people make, and each must be rejected by
// check_matmul(), the same function that the right kernels pass. What else the chapter's kernels can do wrong is among the mutants
// of chapters 09 to 11: theirs are the tiles, the copies and the stages.
#pragma once

#include <cuda_runtime.h>

#include "check_matmul.hpp"
#include "tilewise/device_buffer.hpp"

namespace share_mutants {

// A tile of C of 16 x 16 elements, one for each of 256 threads, and k-tiles of depth 8, the first of which may be shorter.
constexpr int kTile = 16, kDepth = 8, kThreads = kTile * kTile;

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  no_fence,
  no_barrier_before_arrival,  ///< thread 0 says that all parts are there
  arrival_not_atomic,
  last_but_one_adds,     ///< one part is still missing
  every_share_stores,    ///< its own part, as if it were all
  forgets_own_part,      ///< adds up those of the others
  begins_in_the_middle,  ///< of its second tile, too
  equal_shares,          ///< rounded down, so that the last k-tiles are nobody's
  short_tile_last,       ///< addresses as if the first k-tile were a whole one
  shared_memory_reused   ///< for the answer of the counter, before everybody has read it
};

template <Bug BUG>
__global__ void shares(const float* A, const float* B, float* C, int M, int N, int K, int whole, int shares,
                       float* parts, unsigned* arrived) {
  const auto is = [](Bug bug) { return bug == BUG; };
  __shared__ float As[kTile][kDepth], Bs[kDepth][kTile];
  __shared__ unsigned before_me;
  const int tx = threadIdx.x % kTile, ty = threadIdx.x / kTile;
  const int tiles_m = (M + kTile - 1) / kTile, tiles_n = (N + kTile - 1) / kTile, tiles_k = (K + kDepth - 1) / kDepth;
  const int head = K - (tiles_k - 1) * kDepth, share = int(blockIdx.x) - whole;
  const long long all = (long long)(tiles_m * tiles_n - whole) * tiles_k;
  const auto begin_of = [&](int s) { return is(Bug::equal_shares) ? all / shares * s : all * s / shares; };
  const auto share_of = [&](long long k_tile) {
    if (is(Bug::equal_shares)) return min(int(k_tile / (all / shares)), shares - 1);
    return int(((k_tile + 1) * shares + all - 1) / all) - 1;
  };
  int tile = blockIdx.x, first = 0, left = tiles_k;
  if (share >= 0) {
    tile = whole + int(begin_of(share) / tiles_k);
    first = int(begin_of(share) % tiles_k);
    left = int(begin_of(share + 1) - begin_of(share));
  }
  while (left > 0 && tile < tiles_m * tiles_n) {  // the second only fails after a mistake
    const int count = min(left, tiles_k - first);
    const int row = tile / tiles_n * kTile + ty, col = tile % tiles_n * kTile + tx;
    float sum = 0;
    for (int t = first; t < first + count; ++t) {
      const int depth = t == 0 ? head : kDepth,
                k0 = t == 0 || is(Bug::short_tile_last) ? t * kDepth : head + (t - 1) * kDepth;
      if (tx < kDepth) As[ty][tx] = row < M && tx < depth && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
      if (ty < kDepth) Bs[ty][tx] = col < N && ty < depth && k0 + ty < K ? B[(k0 + ty) * N + col] : 0.0f;
      __syncthreads();
      for (int k = 0; k < kDepth; ++k) sum += As[ty][k] * Bs[k][tx];
      __syncthreads();
    }
    bool complete = count == tiles_k || is(Bug::every_share_stores);
    if (!complete) {
      const long long k_tile = (long long)(tile - whole) * tiles_k;
      const int from = share_of(k_tile), to = share_of(k_tile + tiles_k - 1);
      const auto slot = [&](int s) { return 2 * s + (s == from); };
      parts[slot(share) * kThreads + threadIdx.x] = sum;
      if (!is(Bug::no_fence)) __threadfence();
      if (!is(Bug::no_barrier_before_arrival)) __syncthreads();
      if (threadIdx.x == 0) {
        if (is(Bug::arrival_not_atomic))
          before_me = arrived[tile - whole]++;
        else
          before_me = atomicAdd(&arrived[tile - whole], 1u);
      }
      if (!is(Bug::shared_memory_reused)) __syncthreads();
      complete = before_me == unsigned(to - from) - (is(Bug::last_but_one_adds) ? 1 : 0);
      __syncthreads();
      if (complete) {
        __threadfence();
        sum = 0;
        for (int p = from; p <= to; ++p)
          if (!is(Bug::forgets_own_part) || p != share) sum += __ldcg(&parts[slot(p) * kThreads + threadIdx.x]);
      }
    }
    if (complete && row < M && col < N) C[row * N + col] = sum;
    left -= count;
    if (!is(Bug::begins_in_the_middle)) first = 0;
    ++tile;
  }
}

/// Deals all tiles but the first to 7 shares.
template <Bug BUG>
cudaError_t launch(const float* A, const float* B, float* C, int M, int N, int K) {
  if (M == 0 || N == 0) return cudaSuccess;
  const int tiles = (M + kTile - 1) / kTile * ((N + kTile - 1) / kTile),
            k_tiles = (tiles - 1) * ((K + kDepth - 1) / kDepth);
  const int count = k_tiles < 7 ? k_tiles : 7;
  const tilewise::DeviceBuffer<float> parts(2 * 7 * kThreads);
  const tilewise::DeviceBuffer<unsigned> arrived(std::vector<unsigned>(tiles, 0));
  // const_cast: a buffer of the launch's own
  shares<BUG><<<1 + count, kThreads>>>(A, B, C, M, N, K, 1, count, const_cast<float*>(parts.data()),
                                       const_cast<unsigned*>(arrived.data()));
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

struct Mutant {
  const char* name;
  cudaError_t (*launch)(const float*, const float*, float*, int, int, int);
  Fault fault;  ///< what check_matmul() must find, among other things
  const char* finding =
      "";  ///< of missing order: what the simulator calls it. A GPU may be lucky, the simulator never is
};

inline const Mutant mutants[] = {
    {"no_fence", launch<Bug::no_fence>, Fault::finding, "race-global"},
    {"no_barrier_before_arrival", launch<Bug::no_barrier_before_arrival>, Fault::finding, "race-global"},
    {"arrival_not_atomic", launch<Bug::arrival_not_atomic>, Fault::finding, "race-global"},
    {"last_but_one_adds", launch<Bug::last_but_one_adds>, Fault::wrong_value},
    {"every_share_stores", launch<Bug::every_share_stores>, Fault::wrong_value},
    {"forgets_own_part", launch<Bug::forgets_own_part>, Fault::wrong_value},
    {"begins_in_the_middle", launch<Bug::begins_in_the_middle>, Fault::wrong_value},
    {"equal_shares", launch<Bug::equal_shares>, Fault::wrong_value},
    {"short_tile_last", launch<Bug::short_tile_last>, Fault::wrong_value},
    {"shared_memory_reused", launch<Bug::shared_memory_reused>, Fault::finding, "race-shared"},
};

}  // namespace share_mutants
