// Does it matter that the compiler knows how often a fetching loop runs? tiled_matmul_rectangular()
// counts words from the thread's number to the end of the tile; nvcc unrolls such a loop by four
// and lets what is left of four go one after the other. Here the same kernel with the number of
// rounds written down, beside it, on a GPU:
//   nvcc -std=c++20 -O3 -arch=native rounds.cu -o rounds && ./rounds
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tiled_matmul.cuh"

#define CHECK(call)                                                      \
  do {                                                                   \
    if (const cudaError_t error = (call); error != cudaSuccess) {        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(error));                           \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

/// tiled_matmul_rectangular() with all loads of a step ahead of the first store. BM x BK and
/// BK x BN are multiples of 256.
template <int BM, int BN, int BK>
__global__ void rounds_known(const float* __restrict__ A,  // M x K
                             const float* __restrict__ B,  // K x N
                             float* __restrict__ C,        // M x N
                             int M, int N, int K) {
  constexpr int kRoundsOfA = BM * BK / 256, kRoundsOfB = BK * BN / 256;
  static_assert(BM * BK % 256 == 0 && BK * BN % 256 == 0);
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float sum[BM / 16][BN / 16] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    float a_words[kRoundsOfA], b_words[kRoundsOfB];
#pragma unroll
    for (int i = 0; i < kRoundsOfA; ++i) {
      const int word = thread + 256 * i, row = row0 + word / BK, k = k0 + word % BK;
      a_words[i] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kRoundsOfB; ++i) {
      const int word = thread + 256 * i, k = k0 + word / BN, col = col0 + word % BN;
      b_words[i] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kRoundsOfA; ++i)
      As[(thread + 256 * i) / BK][(thread + 256 * i) % BK] = a_words[i];
#pragma unroll
    for (int i = 0; i < kRoundsOfB; ++i)
      Bs[(thread + 256 * i) / BN][(thread + 256 * i) % BN] = b_words[i];
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[BM / 16], b[BN / 16];
      for (int i = 0; i < BM / 16; ++i) a[i] = As[ty + 16 * i][k];
      for (int j = 0; j < BN / 16; ++j) b[j] = Bs[k][tx + 16 * j];
      for (int i = 0; i < BM / 16; ++i) {
        for (int j = 0; j < BN / 16; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < BM / 16; ++i) {
    for (int j = 0; j < BN / 16; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}

using Kernel = void (*)(const float*, const float*, float*, int, int, int);

/// Median of ten runs in ms; `result` gets C.
float median_ms(Kernel kernel, dim3 grid, const float* A, const float* B, float* C, int n,
                std::vector<float>& result) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 13; ++i) {
    CHECK(cudaEventRecord(begin));
    kernel<<<grid, dim3(16, 16)>>>(A, B, C, n, n, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaMemcpy(result.data(), C, sizeof(float) * n * n, cudaMemcpyDeviceToHost));
  std::nth_element(times.begin(), times.begin() + 5, times.end());
  return times[5];
}

int main() {
  constexpr std::size_t most = std::size_t{4096} * 4096;
  float *A, *B, *C;
  CHECK(cudaMalloc(&A, sizeof(float) * most));
  CHECK(cudaMalloc(&B, sizeof(float) * most));
  CHECK(cudaMalloc(&C, sizeof(float) * most));
  std::vector<float> words(most), one(most), other(most);
  unsigned state = 1;
  for (float& word : words)
    word = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1;
  CHECK(cudaMemcpy(A, words.data(), sizeof(float) * most, cudaMemcpyHostToDevice));
  std::reverse(words.begin(), words.end());
  CHECK(cudaMemcpy(B, words.data(), sizeof(float) * most, cudaMemcpyHostToDevice));

  const struct {
    const char* tile;
    int bm, bn;
    Kernel as_in_the_chapter, known;
  } rows[] = {
      {"32 x 32 x 8", 32, 32, tiled_matmul_rectangular<32, 32, 8>, rounds_known<32, 32, 8>},
      {"64 x 64 x 8", 64, 64, tiled_matmul_rectangular<64, 64, 8>, rounds_known<64, 64, 8>},
      {"64 x 64 x 16", 64, 64, tiled_matmul_rectangular<64, 64, 16>, rounds_known<64, 64, 16>},
      {"32 x 128 x 8", 32, 128, tiled_matmul_rectangular<32, 128, 8>, rounds_known<32, 128, 8>}};
  bool same = true;
  std::printf("   N   tile           as in the chapter   rounds known\n");
  for (const int n : {1024, 4096}) {
    for (const auto& row : rows) {
      const dim3 grid((n + row.bn - 1) / row.bn, (n + row.bm - 1) / row.bm);
      const float before = median_ms(row.as_in_the_chapter, grid, A, B, C, n, one);
      const float after = median_ms(row.known, grid, A, B, C, n, other);
      std::printf("%5d  %-14s  %13.3f ms  %10.3f ms\n", n, row.tile, before, after);
      same = same && std::memcmp(one.data(), other.data(), sizeof(float) * n * n) == 0;
    }
  }
  std::printf("The results are %s.\n", same ? "the same to the last bit" : "NOT the same");
  for (float* memory : {A, B, C}) CHECK(cudaFree(memory));
  return same ? 0 : 1;
}
