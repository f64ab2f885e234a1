// Thrust and kernels on the same memory: raw pointers of vectors, device_ptr, streams, atomics, and Thrust in kernels.
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/pair.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/tuple.h>

#include <cstdio>

__device__ int calls;

struct Count {
  int* bins;
  __device__ void operator()(int i) const {
    atomicAdd(&bins[i % 7], 1);
    atomicAdd(&calls, 1);
  }
};

__global__ void twice(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}

// Each thread sorts a row of its own.
__global__ void sort_rows(int* p, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int* const begin = p + row * columns;
  thrust::sort(thrust::seq, begin, begin + columns, thrust::less<int>());
  const thrust::pair<int, int> ends = thrust::make_pair(begin[0], begin[columns - 1]);
  const thrust::tuple<int, int> all(ends.first, thrust::reduce(thrust::seq, begin, begin + columns));
  thrust::swap(begin[0], begin[1]);
  begin[2] = thrust::get<1>(all);
}

static int wrong = 0;
static void check(bool right, const char* what) {
  if (!right) std::printf("wrong: %s\n", what);
  wrong += !right;
}

int main() {
  const int n = 1000;
  thrust::device_vector<int> v(n);
  thrust::sequence(v.begin(), v.end());
  twice<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(v.data()), n);
  check(thrust::reduce(v.begin(), v.end()) == n * (n - 1), "a reduction after a kernel");

  thrust::device_vector<int> bins(7, 0);
  thrust::counting_iterator<int> zero(0);
  thrust::for_each(thrust::device, zero, zero + 700, Count{thrust::raw_pointer_cast(bins.data())});
  int made = 0;
  cudaMemcpyFromSymbol(&made, calls, sizeof made);
  check(bins[6] == 100 && made == 700, "atomics in a functor");

  int* raw;
  cudaMalloc(&raw, n * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemsetAsync(raw, 0, n * sizeof(int), stream);
  thrust::for_each(thrust::cuda::par.on(stream), zero, zero + n, [raw] __device__(int i) { raw[i] = n - i; });
  thrust::sort(thrust::cuda::par.on(stream), raw, raw + n);
  twice<<<(n + 255) / 256, 256, 0, stream>>>(raw, n);
  cudaStreamSynchronize(stream);
  thrust::device_ptr<int> pointer(raw);
  check(pointer[0] == 2 && pointer[n - 1] == 2 * n, "a stream's work in order");
  pointer[5] = 77;
  int element = 0;
  cudaMemcpy(&element, raw + 5, sizeof element, cudaMemcpyDeviceToHost);
  check(element == 77, "an element by device_ptr");
  cudaStreamDestroy(stream);

  thrust::for_each(thrust::device, zero, zero + n, [raw] __device__(int i) { raw[i] = (i * 37) % 50; });
  sort_rows<<<1, 32>>>(raw, 20, 50);
  check(cudaDeviceSynchronize() == cudaSuccess, "sorting in a kernel");
  check(pointer[0] == 1 && pointer[1] == 0 && pointer[2] == 49 * 25 && pointer[3] == 3, "a sorted row");
  cudaFree(raw);

  thrust::device_ptr<int> own = thrust::device_malloc<int>(10);
  thrust::sequence(thrust::device, own, own + 10);
  check(own[9] == 9, "device_malloc");
  thrust::device_free(own);
  std::puts(wrong == 0 ? "right" : "wrong");
}
