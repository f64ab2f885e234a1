// Managed memory with hints: where it should lie, who reads it, and when to move it; they change no result.
#include <cuda_runtime.h>

#include <cstdio>

#if CUDART_VERSION >= 13000
using Place = cudaMemLocation;
static Place at(cudaMemLocationType type, int id) {
  Place place = {};
  place.type = type, place.id = id;
  return place;
}
static Place on_device(int device) { return at(cudaMemLocationTypeDevice, device); }
static Place on_host() { return at(cudaMemLocationTypeHost, 0); }
static cudaError_t prefetch(const void* p, size_t bytes, Place place) {
  return cudaMemPrefetchAsync(p, bytes, place, 0);
}
#else
using Place = int;
static Place on_device(int device) { return device; }
static Place on_host() { return cudaCpuDeviceId; }
static cudaError_t prefetch(const void* p, size_t bytes, Place place) { return cudaMemPrefetchAsync(p, bytes, place); }
#endif

__global__ void weighted(const float* x, const float* weights, int period, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = x[i] * weights[i % period];
}

int main() {
  const int n = 30001, period = 1009;
  int device = 0, hints = 0, wrong = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&hints, cudaDevAttrConcurrentManagedAccess, device);
  float *x, *y, *weights;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  cudaMallocManaged(&weights, period * sizeof(float));
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i % 50), y[i] = -1;
  for (int i = 0; i < period; ++i) weights[i] = static_cast<float>(i % 8) * 0.5f;
  if (hints) {  // a device that cannot share the memory's pages takes none
    wrong += cudaMemAdvise(weights, period * sizeof(float), cudaMemAdviseSetReadMostly, on_device(device));
    wrong += cudaMemAdvise(y, n * sizeof(float), cudaMemAdviseSetPreferredLocation, on_device(device));
    wrong += cudaMemAdvise(x, n * sizeof(float), cudaMemAdviseSetAccessedBy, on_device(device));
    wrong += prefetch(x, n * sizeof(float), on_device(device)) + prefetch(y, n * sizeof(float), on_device(device));
  }
  cudaPointerAttributes of_y;
  wrong += cudaPointerGetAttributes(&of_y, y + n / 2) != cudaSuccess || of_y.type != cudaMemoryTypeManaged;
  wrong += of_y.devicePointer != y + n / 2 || of_y.hostPointer != y + n / 2;
  weighted<<<11, 128>>>(x, weights, period, y, n);
  if (hints) wrong += prefetch(y, n * sizeof(float), on_host());
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < n; ++i) wrong += y[i] != x[i] * weights[i % period];
  cudaFree(x), cudaFree(y), cudaFree(weights);
  std::puts(wrong ? "wrong" : "right");
}
