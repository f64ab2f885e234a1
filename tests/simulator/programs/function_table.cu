// Kernels that call device functions through a table in device memory, by operator.
#include <cstdio>

typedef float (*Operation)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float minus(float a, float b) { return a - b; }
__device__ float times(float a, float b) { return a * b; }
__device__ Operation operations[] = {plus, minus, times};

__global__ void apply(int which, const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = operations[which](a[i], b[i]);
}

int main() {
  const int n = 96;
  float *a, *b, *c;
  cudaMallocManaged(&a, n * sizeof(float)), cudaMallocManaged(&b, n * sizeof(float));
  cudaMallocManaged(&c, n * sizeof(float));
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 3;
  int wrong = 0;
  for (int which = 0; which < 3; ++which) {
    apply<<<3, 32>>>(which, a, b, c, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) wrong += c[i] != (which == 0 ? i + 3 : which == 1 ? i - 3 : i * 3);
  }
  cudaFree(a), cudaFree(b), cudaFree(c);
  std::puts(wrong ? "wrong" : "right");
}
