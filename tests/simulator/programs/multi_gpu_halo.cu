/*
 * 1D heat equation, domain decomposed over all GPUs in the box. Each GPU owns a slab with one ghost cell on
 * either side; the boundary kernel stores straight into the neighbours' ghost cells through peer access.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                         \
  do {                                                                                      \
    cudaError_t err__ = (call);                                                             \
    if (err__ != cudaSuccess) {                                                             \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err__));        \
      exit(EXIT_FAILURE);                                                                   \
    }                                                                                       \
  } while (0)

__constant__ float c_alpha;

__device__ inline float relax(const float* u, int i) { return u[i] + c_alpha * (u[i - 1] - 2.0f * u[i] + u[i + 1]); }

__global__ void boundary(const float* in, float* out, int n, float* left_ghost, float* right_ghost) {
  if (threadIdx.x == 0) {
    out[1] = relax(in, 1);
    if (left_ghost) *left_ghost = out[1];
  } else if (threadIdx.x == 32) {
    out[n] = relax(in, n);
    if (right_ghost) *right_ghost = out[n];
  }
}

__global__ void interior(const float* __restrict__ in, float* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 2;
  if (i < n) out[i] = relax(in, i);
}

struct Gpu {
  float* u[2];
  int n;
  cudaStream_t halo, compute;
  cudaEvent_t halo_done, step_done;
};

int main(int argc, char** argv) {
  const int total = 3001, steps = argc > 1 ? atoi(argv[1]) : 9;
  const float alpha = 0.23f;
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));
  std::vector<float> ref(total + 2, 0.0f), tmp(total + 2, 0.0f), result(total);
  for (int i = 1; i <= total; ++i) ref[i] = float((i * 7919) % 101);
  std::vector<Gpu> g(gpus);

  for (int d = 0, first = 1; d < gpus; ++d) {
    CHECK(cudaSetDevice(d));
    if (d > 0) {
      int ok = 0;
      CHECK(cudaDeviceCanAccessPeer(&ok, d, d - 1));
      if (!ok) { puts("no peer access"); return 0; }
      CHECK(cudaDeviceEnablePeerAccess(d - 1, 0));
    }
    if (d + 1 < gpus) CHECK(cudaDeviceEnablePeerAccess(d + 1, 0));
    g[d].n = total / gpus + (d < total % gpus);
    for (auto& p : g[d].u) {
      CHECK(cudaMalloc(&p, (g[d].n + 2) * sizeof(float)));
      CHECK(cudaMemcpy(p, &ref[first - 1], (g[d].n + 2) * sizeof(float), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMemcpyToSymbol(c_alpha, &alpha, sizeof alpha));
    CHECK(cudaStreamCreateWithFlags(&g[d].halo, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&g[d].compute, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&g[d].halo_done, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&g[d].step_done, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    first += g[d].n;
  }

  for (int s = 0; s < steps; ++s) {
    const int in = s & 1, out = in ^ 1;
    for (int d = 0; d < gpus; ++d) {
      CHECK(cudaSetDevice(d));
      // my own last step, and the neighbours', who wrote my ghosts and still may read the buffer that I write into
      if (s > 0)
        for (int k = std::max(d - 1, 0); k <= std::min(d + 1, gpus - 1); ++k) {
          CHECK(cudaStreamWaitEvent(g[d].halo, g[k].step_done, 0));
          CHECK(cudaStreamWaitEvent(g[d].compute, g[k].step_done, 0));
        }
    }
    for (int d = 0; d < gpus; ++d) {
      CHECK(cudaSetDevice(d));
      float* left = d > 0 ? g[d - 1].u[out] + g[d - 1].n + 1 : nullptr;
      float* right = d + 1 < gpus ? g[d + 1].u[out] : nullptr;
      boundary<<<1, 64, 0, g[d].halo>>>(g[d].u[in], g[d].u[out], g[d].n, left, right);
      CHECK(cudaEventRecord(g[d].halo_done, g[d].halo));
      interior<<<(g[d].n + 127) / 128, 128, 0, g[d].compute>>>(g[d].u[in], g[d].u[out], g[d].n);
      CHECK(cudaGetLastError());
      CHECK(cudaStreamWaitEvent(g[d].compute, g[d].halo_done, 0));
      CHECK(cudaEventRecord(g[d].step_done, g[d].compute));
    }
    for (int i = 1; i <= total; ++i) tmp[i] = ref[i] + alpha * (ref[i - 1] - 2.0f * ref[i] + ref[i + 1]);
    std::swap(ref, tmp);
  }

  for (int d = 0, first = 0; d < gpus; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&result[first], g[d].u[steps & 1] + 1, g[d].n * sizeof(float), cudaMemcpyDeviceToHost));
    first += g[d].n;
  }
  float worst = 0;
  for (int i = 0; i < total; ++i) worst = std::max(worst, std::abs(result[i] - ref[i + 1]));
  for (int d = 0; d < gpus; ++d) {
    CHECK(cudaSetDevice(d));
    for (float* p : g[d].u) CHECK(cudaFree(p));
    CHECK(cudaStreamDestroy(g[d].halo));
    CHECK(cudaStreamDestroy(g[d].compute));
    CHECK(cudaEventDestroy(g[d].halo_done));
    CHECK(cudaEventDestroy(g[d].step_done));
  }
  printf("%d GPUs, %d cells, %d steps: %s\n", gpus, total, steps, worst < 1e-3f ? "right" : "wrong");
  return worst < 1e-3f ? EXIT_SUCCESS : EXIT_FAILURE;
}
