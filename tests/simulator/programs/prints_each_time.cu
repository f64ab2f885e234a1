// A kernel that only prints, and one that only reads the time, launched again and again with the same arguments.
#include <cstdarg>
#include <cstdio>

__device__ void say(const char* format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}

__global__ void with_printf(int n) { printf("printf %d\n", n); }
__global__ void with_vprintf(int n) { say("vprintf %d\n", n); }

__global__ void keep_time(unsigned long long* last, unsigned* steps) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (now != *last) ++*steps;
  *last = now;
}

int main() {
  unsigned long long* last;
  unsigned *steps, n = 0;
  cudaMalloc(&last, sizeof *last);
  cudaMalloc(&steps, sizeof *steps);
  cudaMemset(last, 0, sizeof *last);
  cudaMemset(steps, 0, sizeof *steps);
  for (int i = 0; i < 4; ++i) with_printf<<<1, 1>>>(7);
  for (int i = 0; i < 4; ++i) with_vprintf<<<1, 1>>>(8);
  for (int i = 0; i < 4; ++i) keep_time<<<1, 1>>>(last, steps);
  cudaMemcpy(&n, steps, sizeof n, cudaMemcpyDeviceToHost);
  printf("%u steps of time\n", n);
  cudaFree(last);
  cudaFree(steps);
  return n == 4 ? 0 : 1;
}
