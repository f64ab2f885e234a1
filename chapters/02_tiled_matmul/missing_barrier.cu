// What is each of the two barriers for? Leave one out and look.
//
//   make sim FILE=chapters/02_tiled_matmul/missing_barrier.cu ARGS=first     (or: second, none)
//   nvcc missing_barrier.cu && compute-sanitizer --tool racecheck ./a.out first
//
// Complete and without our library: this is how a CUDA program of your own looks to the simulator.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int TILE = 16;
// four tiles of 16 x 16: no edges, so that nothing but the barriers can be wrong
constexpr int N = 64;

// tiled_matmul() of this chapter, for N x N. FIRST and SECOND say which barriers are there.
template <bool FIRST, bool SECOND>
__global__ void with_barriers(const float* A, const float* B, float* C) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < N; k0 += TILE) {
    As[ty][tx] = A[row * N + k0 + tx];
    Bs[ty][tx] = B[(k0 + ty) * N + col];
    if (FIRST) __syncthreads();

    for (int k = 0; k < TILE; ++k) {
      sum += As[ty][k] * Bs[k][tx];
    }
    if (SECOND) __syncthreads();
  }
  C[row * N + col] = sum;
}

int main(int argc, char** argv) {
  const char* without = argc > 1 ? argv[1] : "none";
  const bool first = std::strcmp(without, "first") == 0;
  const bool second = std::strcmp(without, "second") == 0;
  if (argc > 2 || (!first && !second && std::strcmp(without, "none") != 0)) {
    std::fprintf(stderr,
                 "missing_barrier: say which barrier to leave out: first, second or none\n");
    return 2;
  }
  auto* kernel = with_barriers<true, true>;
  if (first) kernel = with_barriers<false, true>;
  if (second) kernel = with_barriers<true, false>;

  std::vector<float> a(N * N), b(N * N), c(N * N);
  // small integers: sums are exact, so the result is right or it is not
  for (int i = 0; i < N * N; ++i) {
    a[i] = static_cast<float>((i * 7 + i / N) % 11 - 5);
    b[i] = static_cast<float>((i * 5 + i / N) % 13 - 6);
  }
  float *A = nullptr, *B = nullptr, *C = nullptr;
  const size_t bytes = sizeof(float) * N * N;
  if (cudaMalloc(&A, bytes) != cudaSuccess || cudaMalloc(&B, bytes) != cudaSuccess ||
      cudaMalloc(&C, bytes) != cudaSuccess)
    return 2;
  cudaMemcpy(A, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(B, b.data(), bytes, cudaMemcpyHostToDevice);
  kernel<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(A, B, C);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaMemcpy(c.data(), C, bytes, cudaMemcpyDeviceToHost);
  cudaFree(A), cudaFree(B), cudaFree(C);
  if (status != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(status));
    return 2;
  }

  int wrong = 0;
  for (int row = 0; row < N; ++row) {
    for (int col = 0; col < N; ++col) {
      float sum = 0.0f;
      for (int k = 0; k < N; ++k) sum += a[row * N + k] * b[k * N + col];
      wrong += !(c[row * N + col] == sum);  // written so that NaN counts as wrong
    }
  }
  std::printf("without barrier: %s; %d of %d elements are wrong\n", without, wrong, N * N);
  return wrong == 0 ? 0 : 1;
}
