// Pairs of blocks that work at the same time: one fills the slots of a ring, the other one empties them; flags count.
#include <cstdio>

constexpr int kThreads = 96, kSlots = 3, kPairs = 4;

struct Ring {
  int slots[kSlots][kThreads];
  volatile int filled, emptied;  // how many batches so far
};

__device__ void wait_for(const volatile int* counter, int least) {
  if (threadIdx.x == 0) {
    while (*counter < least) {
    }
    __threadfence();
  }
  __syncthreads();
}
__device__ void tell(volatile int* counter, int now) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *counter = now;
}

__global__ void work(Ring* rings, int batches, const int* in, long long* out) {
  const int pair = blockIdx.x / 2, t = threadIdx.x;
  Ring& ring = rings[pair];
  in += pair * batches * kThreads;
  if (blockIdx.x % 2 == 0) {
    for (int batch = 0; batch < batches; ++batch) {
      wait_for(&ring.emptied, batch - kSlots + 1);
      ring.slots[batch % kSlots][t] = in[batch * kThreads + t] * 3;
      tell(&ring.filled, batch + 1);
    }
  } else {
    long long sum = 0;
    for (int batch = 0; batch < batches; ++batch) {
      wait_for(&ring.filled, batch + 1);
      sum += __ldcg(&ring.slots[batch % kSlots][kThreads - 1 - t]) * (batch + 1ll);
      tell(&ring.emptied, batch + 1);
    }
    out[pair * kThreads + t] = sum;
  }
}

int main() {
  int batches = 17;
  const int n = kPairs * batches * kThreads;
  Ring* rings;
  int* in;
  long long* out;
  cudaMalloc(&rings, kPairs * sizeof(Ring));
  cudaMemset(rings, 0, kPairs * sizeof(Ring));
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, kPairs * kThreads * sizeof(long long));
  for (int i = 0; i < n; ++i) in[i] = i * 7 % 1009;
  void* arguments[] = {&rings, &batches, &in, &out};
  int wrong =
      cudaLaunchCooperativeKernel((const void*)work, dim3(2 * kPairs), dim3(kThreads), arguments) != cudaSuccess;
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int pair = 0; pair < kPairs; ++pair)
    for (int t = 0; t < kThreads; ++t) {
      long long sum = 0;
      for (int batch = 0; batch < batches; ++batch)
        sum += in[(pair * batches + batch) * kThreads + kThreads - 1 - t] * 3ll * (batch + 1);
      wrong += out[pair * kThreads + t] != sum;
    }
  cudaFree(rings), cudaFree(in), cudaFree(out);
  std::puts(wrong ? "wrong" : "right");
}
