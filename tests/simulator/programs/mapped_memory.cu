// Pinned memory that the device reads and writes where it lies.
#include <stdio.h>

__global__ void negate(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -in[i];
}

int main() {
  const int n = 500;
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  if (!prop.canMapHostMemory) return 1;
  cudaSetDeviceFlags(cudaDeviceMapHost);
  int *in, *out, *d_in, *d_out;
  cudaHostAlloc((void**)&in, n * sizeof(int), cudaHostAllocWriteCombined | cudaHostAllocMapped);
  cudaHostAlloc((void**)&out, n * sizeof(int), cudaHostAllocMapped);
  for (int i = 0; i < n; i++) in[i] = i;
  cudaHostGetDevicePointer((void**)&d_in, in, 0);
  cudaHostGetDevicePointer((void**)&d_out, out, 0);
  negate<<<2, 256>>>(d_in, d_out, n);
  cudaThreadSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += out[i] != -i;
  cudaFreeHost(in);
  cudaFreeHost(out);
  puts(wrong ? "wrong" : "right");
  return wrong;
}
