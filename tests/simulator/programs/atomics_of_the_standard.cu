// cuda::atomic and cuda::atomic_ref: counters, a lock, a message from block to block, sums in shared memory; and a little of cuda::std.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include <cstdio>

struct Shared {
  cuda::atomic<int> ready;
  cuda::atomic<unsigned, cuda::thread_scope_device> count;
  cuda::atomic<int, cuda::thread_scope_device> lock;
  int message[32];
  int guarded;
  int received;
};

/// Block 0 writes and block 1 reads. (On a GPU both run at a time.)
__global__ void message(Shared* s) {
  if (blockIdx.x == 0) {
    s->message[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) s->ready.store(1, cuda::memory_order_release);
  } else if (threadIdx.x == 0) {
    while (s->ready.load(cuda::memory_order_acquire) == 0) {
    }
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += s->message[i];
    s->received = sum;
  }
}

__global__ void count(Shared* s, float* sum, int* extremes) {
  s->count.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<int>(extremes[0]).fetch_max(i * 7 % 100);
  cuda::atomic_ref<int>(extremes[1]).fetch_min(i * 7 % 100 - 50);
  if (threadIdx.x % 32 == 0) {
    int open = 0;
    while (!s->lock.compare_exchange_weak(open, 1, cuda::memory_order_acquire)) open = 0;
    s->guarded += 1;
    s->lock.store(0, cuda::memory_order_release);
  }
}

__global__ void in_block(int* out) {
  __shared__ int total;
  cuda::std::array<int, 3> three{1, 2, 3};
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> ref(total);
  ref += three[threadIdx.x % 3];
  __syncthreads();
  if (threadIdx.x == 0) *out = ref.exchange(0) + (cuda::std::numeric_limits<short>::max() == 32767);
}

int main() {
  static_assert(cuda::std::is_same<cuda::std::remove_cv<const int>::type, int>::value, "");
  Shared* s;
  float* sum;
  int *extremes, *total;
  cudaMallocManaged(&s, sizeof *s), cudaMallocManaged(&sum, sizeof *sum);
  cudaMallocManaged(&extremes, 2 * sizeof(int)), cudaMallocManaged(&total, sizeof(int));
  s->ready.store(0), s->count.store(0), s->lock.store(0);
  s->guarded = 0, *sum = 0, extremes[0] = extremes[1] = 0;
  message<<<2, 32>>>(s);
  count<<<4, 64>>>(s, sum, extremes);
  in_block<<<1, 96>>>(total);
  cudaDeviceSynchronize();
  int wrong = s->received != 32 * 33 / 2;
  wrong += s->count.load() != 256 || s->guarded != 8 || *sum != 128 || extremes[0] != 99 || extremes[1] != -50;
  wrong += *total != 32 * 6 + 1;
  cuda::atomic<int> of_host(5);
  wrong += of_host.fetch_add(2) != 5 || of_host++ != 7 || of_host != 8;
  cudaFree(s), cudaFree(sum), cudaFree(extremes), cudaFree(total);
  std::puts(wrong ? "wrong" : "right");
}
