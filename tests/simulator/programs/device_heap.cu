// The heap of the device: lists that one kernel makes by new and malloc, another walks over, and a third gives back.
#include <cstdio>
#include <cstdlib>

#define MUST(call)                                         \
  if (const cudaError_t e = (call)) {                      \
    std::printf("%s: %s\n", #call, cudaGetErrorString(e)); \
    return 1;                                              \
  }

class Link {
 public:
  __device__ Link(Link* next, int count) : next_(next), count_(count) {
    words_ = static_cast<int*>(malloc(count * sizeof(int)));
    for (int i = 0; i < count; ++i) words_[i] = i * count;
  }
  __device__ ~Link() { free(words_); }
  __device__ Link* next() const { return next_; }
  __device__ void add_to(int& sum) const {
    for (int i = 0; i < count_; ++i) sum += words_[i];
  }

 private:
  Link* next_;
  int count_, *words_;
};

__global__ void build(Link** lists, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Link* first = nullptr;
  for (int k = 0; k < i % 4; ++k) first = new Link(first, 1 + (i + k) % 9);
  lists[i] = first;
}
__global__ void add_up(Link* const* lists, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  sums[i] = 0;
  for (const Link* link = lists[i]; link; link = link->next()) link->add_to(sums[i]);
}
__global__ void give_back(Link** lists, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  while (Link* link = lists[i]) {
    lists[i] = link->next();
    delete link;
  }
}

int main() {
  const int n = 307;
  int* sums;
  Link** lists;
  MUST(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  MUST(cudaMalloc(&lists, n * sizeof(Link*)));
  MUST(cudaMallocManaged(&sums, n * sizeof(int)));
  build<<<5, 64>>>(lists, n);
  add_up<<<5, 64>>>(lists, sums, n);
  give_back<<<5, 64>>>(lists, n);
  MUST(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    int wanted = 0;
    for (int k = 0; k < i % 4; ++k)
      for (int count = 1 + (i + k) % 9, j = 0; j < count; ++j) wanted += j * count;
    wrong += sums[i] != wanted;
  }
  cudaFree(lists), cudaFree(sums);
  std::puts(wrong ? "wrong" : "right");
}
