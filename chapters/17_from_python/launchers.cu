// Kernels of earlier lessons behind functions that every language can call: their names are not
// mangled (extern "C"), and they take pointers and numbers. Compiled into libtilewise_kernels.so by
// nvcc or, without a GPU, by simcc. Each comes back as soon as the work is in the stream's queue,
// with 0 or the number of a CUDA error.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "../01_naive_matmul/naive_matmul.cuh"
#include "../02_tiled_matmul/tiled_matmul.cuh"
#include "../04_transpose/transpose.cuh"
#include "../14_reduction/reduction.cuh"

#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

#define LIBRARY extern "C" __attribute__((visibility("default")))

__global__ void nothing() {}

/// A kernel that does nothing: what remains is the launch.
LIBRARY int launch_nothing(cudaStream_t stream) {
  nothing<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

// [launchers]
/// c = a * b. a: m x k, b: k x n, c: m x n, row-major, on the device.
LIBRARY int launch_naive(const float* a, const float* b, float* c, int m, int n, int k,
                         cudaStream_t stream) {
  return launch_naive_matmul(a, b, c, m, n, k, 32, stream);
}
LIBRARY int launch_tiled(const float* a, const float* b, float* c, int m, int n, int k,
                         cudaStream_t stream) {
  return launch_tiled_matmul<32>(a, b, c, m, n, k, stream);
}
// [launchers]

/// out = transpose of in. in: rows x cols.
LIBRARY int launch_transpose_f32(const float* in, float* out, int rows, int cols,
                                 cudaStream_t stream) {
  return launch_transpose_padded<32>(in, out, rows, cols, stream);
}

/// *total = the sum of n floats. The scratch memory comes and goes in the stream's own order, so
/// that calls in two streams never share it.
LIBRARY int launch_sum_f32(const float* x, size_t n, float* total, cudaStream_t stream) {
  void* scratch = nullptr;
  cudaError_t error = cudaMallocAsync(&scratch, reduction_scratch_bytes(), stream);
  if (error != cudaSuccess) return error;
  error = cudaMemsetAsync(scratch, 0, reduction_scratch_bytes(), stream);
  if (error == cudaSuccess) error = launch_sum_one_launch(n, x, scratch, total, stream);
  const cudaError_t freed = cudaFreeAsync(scratch, stream);
  return error != cudaSuccess ? error : freed;
}

// ---------------------------------------------------------------- the device
LIBRARY const char* error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}
LIBRARY const char* error_name(int error) {
  return cudaGetErrorName(static_cast<cudaError_t>(error));
}
/// CUDA remembers a call's error until somebody asks, and the next launch would report it as its own.
LIBRARY int forget_error() { return cudaGetLastError(); }
/// Makes `device` the one that this thread works on; *before is the one that it was.
LIBRARY int use_device(int device, int* before) {
  const cudaError_t error = cudaGetDevice(before);
  return error != cudaSuccess || *before == device ? error : cudaSetDevice(device);
}

/// On the simulator the device can use memory of the host that was lent to it, and nothing else.
LIBRARY int lend_to_device(void* memory, size_t bytes) {
  return cudaHostRegister(memory, bytes, cudaHostRegisterMapped);
}
LIBRARY int take_back(void* memory) { return cudaHostUnregister(memory); }
LIBRARY int wait_for(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

// ---------------------------------------------------------------- for main.py
/// What the host needs for one launch of a kernel that does nothing, from C++: seconds, or -1.
LIBRARY double seconds_per_launch(int times, cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return -1;
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i)
    if (launch_nothing(stream) != 0) return -1;
  const double all = std::chrono::duration<double>(Clock::now() - begin).count();
  return cudaStreamSynchronize(stream) == cudaSuccess ? all / times : -1;
}

/// What the device needs for one tiled product, launched from C++: seconds, the mean of `times`.
LIBRARY double seconds_per_tiled(const float* a, const float* b, float* c, int m, int n, int k,
                                 int times, cudaStream_t stream) {
  cudaEvent_t begin, end;
  float ms = -1e3f;
  if (cudaEventCreate(&begin) != cudaSuccess) return -1;
  if (cudaEventCreate(&end) != cudaSuccess) return -1;
  cudaEventRecord(begin, stream);
  for (int i = 0; i < times; ++i) launch_tiled(a, b, c, m, n, k, stream);
  cudaEventRecord(end, stream);
  const bool done = cudaEventSynchronize(end) == cudaSuccess && cudaGetLastError() == cudaSuccess;
  if (!done || cudaEventElapsedTime(&ms, begin, end) != cudaSuccess) ms = -1e3f * times;
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return 1e-3 * ms / times;
}

/// The simulator counts what is launched between the two calls.
LIBRARY void begin_counting() {
#ifdef TILEWISE_SIMULATOR
  tilewise::sim::set_counting(true);
  tilewise::sim::forget_sum();
#endif
}
/// What was counted since begin_counting(), in the order of COUNTS in table.py; zeros on a GPU.
LIBRARY void end_counting(unsigned long long* counts) {
  std::fill(counts, counts + 7, 0ULL);
#ifdef TILEWISE_SIMULATOR
  const tilewise::sim::Counters& c = tilewise::sim::sum_of_counters();
  counts[0] = c.global_load_requests, counts[1] = c.global_load_sectors;
  counts[2] = c.global_store_requests, counts[3] = c.global_store_sectors;
  counts[4] = c.shared_load_wavefronts, counts[5] = c.shared_store_wavefronts;
  counts[6] = c.shared_load_wavefronts - c.shared_load_ideal + c.shared_store_wavefronts -
              c.shared_store_ideal;
  tilewise::sim::set_counting(tilewise::sim::counting_demanded());
#endif
}

/// The device's name, and of it: compute capability (major, minor), SMs, bytes of memory, bytes of
/// L2, clocks of SMs and memory in kHz, the versions of runtime and driver.
LIBRARY int describe_device(char* name, int size, long long* nine) {
  cudaDeviceProp device;
  int number = 0, clock = 0, memory_clock = 0, runtime = 0, driver = 0;
  cudaError_t error = cudaGetDevice(&number);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&device, number);
  if (error != cudaSuccess) return error;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, number);
  cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, number);
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  const long long all[] = {device.major,
                           device.minor,
                           device.multiProcessorCount,
                           static_cast<long long>(device.totalGlobalMem),
                           device.l2CacheSize,
                           clock,
                           memory_clock,
                           runtime,
                           driver};
  std::copy(all, all + 9, nine);
  std::snprintf(name, size, "%s", device.name);
  return 0;
}
