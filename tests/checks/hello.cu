// Any CUDA file: what `make sim FILE=tests/checks/hello.cu` is tried with.
#include <cstdio>

__global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }

int main() {
  int host[4] = {1, 2, 3, 4}, *device;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  square<<<1, 4>>>(device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
  return cudaFree(device);
}
