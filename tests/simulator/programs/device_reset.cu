// What a reset of the device leaves. On an H200 a variable had its first value again, and waiting for the event ended in this error.
#include <cstdio>

__device__ int counter = 7;
__device__ int zeros[3];
__constant__ int factor = 5;

__global__ void change() {
  if (threadIdx.x == 0) counter += factor;
  zeros[threadIdx.x] = 1;
}

void show(const char* when) {
  int count, sum[3], times;
  cudaMemcpyFromSymbol(&count, counter, sizeof(int));
  cudaMemcpyFromSymbol(sum, zeros, sizeof(sum));
  cudaMemcpyFromSymbol(&times, factor, sizeof(int));
  std::printf("%s: %d, %d %d %d, %d\n", when, count, sum[0], sum[1], sum[2], times);
}

int main() {
  cudaEvent_t event;
  cudaEventCreate(&event);
  const int six = 6;
  cudaMemcpyToSymbol(factor, &six, sizeof(int));
  change<<<1, 1>>>();
  show("changed");
  cudaDeviceReset();
  show("reset");
  std::printf("event: %s\n", cudaGetErrorName(cudaEventSynchronize(event)));
  change<<<1, 3>>>();
  show("changed again");
}
