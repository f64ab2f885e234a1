// Relaxation of a rod's temperatures in one cooperative launch: all blocks meet after each step, and change the arrays.
#include <cooperative_groups.h>

#include <cstdio>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

__global__ void relax(float* now, float* next, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
      next[i] = i == 0 || i == n - 1 ? now[i] : 0.5f * (now[i - 1] + now[i + 1]);
    grid.sync();
    float* last = now;
    now = next;
    next = last;
  }
}

int main() {
  int n = 1009, steps = 21, cooperative = 0, multiprocessors = 0, resident = 0;
  const int threads = 96;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, relax, threads, 0);
  if (!cooperative || resident * multiprocessors < 7) {
    std::puts("this device cannot do it");
    return 0;
  }
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i * 31 % 97);
  float *now, *next;
  cudaMalloc(&now, n * sizeof(float));
  cudaMalloc(&next, n * sizeof(float));
  cudaMemcpy(now, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  void* arguments[] = {&now, &next, &n, &steps};
  int wrong = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(relax), 7, threads, arguments, 0, 0) != cudaSuccess;
  std::vector<float> got(n);
  wrong += cudaMemcpy(got.data(), steps % 2 ? next : now, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess;
  cudaFree(now);
  cudaFree(next);
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < n; ++i) b[i] = i == 0 || i == n - 1 ? a[i] : 0.5f * (a[i - 1] + a[i + 1]);
    std::swap(a, b);
  }
  wrong += got != a;
  std::puts(wrong ? "wrong" : "right");
}
