// Corners that programs from elsewhere use: kernels started while static objects are made, template kernels by untyped
// pointer, formatters' `<< <`, several host threads, complex numbers, a value that one lane alone sets before a shuffle,
// the headers' include guards.
#include <cooperative_groups.h>
#include <cuComplex.h>

#include <cstdio>
#include <thread>
#include <vector>

#if !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__) || !defined(__VECTOR_TYPES_H__)
#error "programs find out by these names whether CUDA's headers were included"
#endif

__global__ void store(int *to, int value) { *to = value; }

struct Buffer {
  int *data;
  explicit Buffer(int value) {
    cudaMallocManaged(&data, sizeof(int));
    store<<<1, 1>>>(data, value);
    cudaDeviceSynchronize();
  }
  ~Buffer() { cudaFree(data); }
};

static Buffer early(11);
static int by_expression = (store<<<1, 1>>>(early.data, *early.data + 1), cudaDeviceSynchronize(), *early.data);

template <typename T, int kFactor>
__global__ void scale(T *values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= kFactor;
}

static bool untyped_pointers() {
  const int n = 50;
  double *values;
  cudaMallocManaged(&values, n * sizeof(double));
  for (int i = 0; i < n; ++i) values[i] = i;
  int count = n;
  void *arguments[] = {&values, &count};
  bool good = cudaLaunchKernel((void *)scale<double, 2>, dim3(2), dim3(32), arguments, 0, 0) == cudaSuccess;
  const void *kernel = reinterpret_cast<const void *>(&scale<double, 5>);
  good = good && cudaLaunchKernel(kernel, dim3(1), dim3(64), arguments) == cudaSuccess;
  scale<double, 3> << <2, 32 >> > (values, n);
  good = good && cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < n; ++i) good = good && values[i] == 30.0 * i;
  cudaFree(values);
  return good;
}

__global__ void squares(cuFloatComplex *z) {
  const cuFloatComplex a = make_cuFloatComplex(float(threadIdx.x), 1.0f);
  z[threadIdx.x] = cuCdivf(cuCmulf(a, cuCmulf(a, a)), a);
}

static bool complex_numbers() {
  cuFloatComplex *z;
  cudaMallocManaged((void **)&z, 8 * sizeof(cuFloatComplex));
  squares<<<1, 8>>>(z);
  cudaDeviceSynchronize();
  bool good = true;
  for (int i = 0; i < 8; ++i) {
    const cuFloatComplex error = cuCsubf(z[i], make_cuComplex(float(i * i - 1), float(2 * i)));
    good = good && cuCabsf(error) < 1e-4f;
  }
  cudaFree(z);
  return good;
}

// One lane takes room for all that are here; `first` has no value in the others until the shuffle.
__device__ int take_place(int *taken) {
  auto here = cooperative_groups::coalesced_threads();
  int first;
  if (here.thread_rank() == 0) first = atomicAdd(taken, here.size());
  return here.shfl(first, 0) + here.thread_rank();
}

__global__ void keep_odd(const int *in, int *out, int *taken) {
  const int value = in[threadIdx.x];
  if (value % 2 != 0) out[take_place(taken)] = value;
}

static bool leader_only() {
  int *in, *out, *taken;
  cudaMallocManaged(&in, 64 * sizeof(int));
  cudaMallocManaged(&out, 64 * sizeof(int));
  cudaMallocManaged(&taken, sizeof(int));
  for (int i = 0; i < 64; ++i) in[i] = 3 * i;
  keep_odd<<<1, 64>>>(in, out, taken);
  bool good = cudaDeviceSynchronize() == cudaSuccess && *taken == 32;
  long sum = 0;
  for (int i = 0; i < 32; ++i) sum += out[i];
  cudaFree(in);
  cudaFree(out);
  cudaFree(taken);
  return good && sum == 3 * 32 * 32;  // the odd numbers below 64 add up to 32 * 32
}

__global__ void mirror(int *values, int n) {
  __shared__ int part[64];
  part[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = part[n - 1 - threadIdx.x];
}

// Each host thread has a stream and memory of its own; the device is shared.
static bool host_threads() {
  std::vector<std::thread> threads;
  std::vector<int> good(4, 1);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &good] {
      cudaStream_t stream;
      cudaStreamCreate(&stream);
      for (int round = 0; round < 20; ++round) {
        int *values, host[64];
        for (int i = 0; i < 64; ++i) host[i] = 100 * t + i;
        cudaMalloc(&values, sizeof host);
        cudaMemcpyAsync(values, host, sizeof host, cudaMemcpyHostToDevice, stream);
        mirror<<<1, 64, 0, stream>>>(values, 64);
        cudaMemcpyAsync(host, values, sizeof host, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        for (int i = 0; i < 64; ++i) good[t] &= host[i] == 100 * t + 63 - i;
        good[t] &= cudaFree(values) == cudaSuccess;
      }
      cudaStreamDestroy(stream);
    });
  for (std::thread &thread : threads) thread.join();
  return good == std::vector<int>(4, 1);
}

int main() {
  const struct {
    const char *what;
    bool good;
  } results[] = {{"before main", *early.data == 12 && by_expression == 12},
                 {"untyped pointers", untyped_pointers()},
                 {"complex numbers", complex_numbers()},
                 {"value of one lane", leader_only()},
                 {"host threads", host_threads()}};
  bool all = true;
  for (const auto &result : results) {
    std::printf("%s: %s\n", result.what, result.good ? "right" : "WRONG");
    all = all && result.good;
  }
  return all ? 0 : 1;
}
