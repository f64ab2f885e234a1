// A dot product of two long vectors: each block fetches its next tiles while it adds up the last ones, by a pipeline; then its warps meet at
// a barrier, and the last value of each is added by one thread.
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>
#include <vector>

constexpr int kThreads = 128, kStages = 3;

__global__ void dot(const float4* a, const float4* b, int tiles, float* sums) {
  __shared__ float4 as[kStages][kThreads], bs[kStages][kThreads];
  __shared__ float of_warps[kThreads / 32];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const int t = threadIdx.x;
  if (t == 0) init(&bar, kThreads);
  __syncthreads();
  auto pipe = cuda::make_pipeline();
  const cuda::aligned_size_t<16> bytes(sizeof(float4));
  const int first = blockIdx.x * tiles;
  float sum = 0;
  for (int tile = 0, fetched = 0; tile < tiles; ++tile) {
    for (; fetched < tiles && fetched < tile + kStages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(&as[fetched % kStages][t], &a[(first + fetched) * kThreads + t], bytes, pipe);
      cuda::memcpy_async(&bs[fetched % kStages][t], &b[(first + fetched) * kThreads + t], bytes, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();  // what a thread reads it has fetched itself
    const float4 x = as[tile % kStages][t], y = bs[tile % kStages][t];
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    pipe.consumer_release();
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (t % 32 == 0) of_warps[t / 32] = sum;
  auto token = bar.arrive();
  if (t != 0) return;  // who has arrived may go
  bar.wait(std::move(token));
  float total = 0;
  for (const float warp : of_warps) total += warp;
  sums[blockIdx.x] = total;
}

int main() {
  constexpr int blocks = 6, tiles = 7, n = blocks * tiles * kThreads * 4;
  std::vector<float> a(n), b(n), sums(blocks);
  double wanted = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i % 5);
    b[i] = static_cast<float>(i % 3);
    wanted += a[i] * b[i];
  }
  float *da, *db, *dsums;
  cudaMalloc(&da, n * sizeof(float)), cudaMalloc(&db, n * sizeof(float)), cudaMalloc(&dsums, blocks * sizeof(float));
  cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  dot<<<blocks, kThreads>>>(reinterpret_cast<float4*>(da), reinterpret_cast<float4*>(db), tiles, dsums);
  cudaMemcpy(sums.data(), dsums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
  double total = 0;
  for (const float sum : sums) total += sum;
  for (float* p : {da, db, dsums}) cudaFree(p);
  std::puts(total == wanted ? "right" : "wrong");
}
