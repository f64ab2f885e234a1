// A lock that blocks spin on: one thread of each block changes a record of several words while nobody else does.
#include <cstdio>

class Lock {
 public:
  __device__ void acquire() {
    while (atomicCAS(&taken_, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ void release() {
    __threadfence();
    atomicExch(&taken_, 0);
  }

 private:
  int taken_;
};

struct Record {
  long long sum;
  int most, where, changes;
};

__global__ void summarize(const int* values, int n, Lock* lock, volatile Record* record) {
  __shared__ long long sums[128];
  __shared__ int places[128];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? values[i] : 0;
  places[t] = i < n ? i : n - 1;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      sums[t] += sums[t + half];
      if (values[places[t + half]] > values[places[t]]) places[t] = places[t + half];
    }
  }
  if (t != 0) return;
  const int place = places[0];
  lock->acquire();
  record->sum = record->sum + sums[0];
  if (values[place] > record->most) record->most = values[place], record->where = place;
  record->changes = record->changes + 1;
  lock->release();
}

int main() {
  const int n = 5003, blocks = (n + 127) / 128;
  int* values;
  Lock* lock;
  Record* record;
  cudaMallocManaged(&values, n * sizeof(int));
  cudaMallocManaged(&record, sizeof(Record));
  cudaMalloc(&lock, sizeof(Lock));
  cudaMemset(lock, 0, sizeof(Lock));
  *record = {0, -1, -1, 0};
  long long sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i] = static_cast<int>(i * 1234577ll % n);  // each number below n once
  summarize<<<blocks, 128>>>(values, n, lock, record);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  wrong += record->sum != sum || record->most != n - 1 || record->changes != blocks;
  wrong += record->where < 0 || values[record->where] != n - 1;
  cudaFree(values), cudaFree(record), cudaFree(lock);
  std::puts(wrong ? "wrong" : "right");
}
