// An addition and a maximum of doubles by compare-and-swap, as programs for old GPUs have them.
#include <cstdio>

__device__ double add_by_cas(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__device__ void max_by_cas(double* address, double value) {
  unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = atomicAdd(bits, 0ull);
  while (__longlong_as_double(old) < value) {
    const unsigned long long before = old;
    old = atomicCAS(bits, before, __double_as_longlong(value));
    if (old == before) break;
  }
}
__global__ void both(double* sum, double* most, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double value = (i * 7919) % n;
  add_by_cas(sum, value);
  max_by_cas(most, value);
}

int main() {
  const int n = 1009;  // a prime: every number below it comes once
  double* results;
  cudaMallocManaged(&results, 2 * sizeof(double));
  results[0] = results[1] = 0;
  both<<<(n + 127) / 128, 128>>>(&results[0], &results[1], n);
  cudaDeviceSynchronize();
  std::puts(results[0] == n * (n - 1) / 2.0 && results[1] == n - 1 ? "right" : "wrong");
  cudaFree(results);
}
