// Tables of a program by their symbols: filled in part, found by address, given to kernels, and read back.
#include <stdio.h>
#include <stdlib.h>

#define N 1009
#define CHECK(call)                                                   \
  do {                                                                \
    cudaError_t err = (call);                                         \
    if (err != cudaSuccess) {                                         \
      fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(err)); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

typedef struct {
  float scale;
  int shift;
} Step;

__constant__ Step steps[5] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}, {5, 50}};
__device__ int table[N];
__device__ unsigned int calls = 3;

__global__ void through_table(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Step s = steps[i % 5];
  out[i] = (int)(s.scale * table[i]) + s.shift;
  if (i % 100 == 0) atomicAdd(&calls, 1);
}

int main(void) {
  int *host = (int*)malloc(N * sizeof(int)), *out, *address, i, wrong = 0;
  size_t bytes = 0;
  const Step changed[2] = {{0.5f, -7}, {1.5f, -9}};
  unsigned int counted = 0;
  void* place;

  for (i = 0; i < N; i++) host[i] = 6 * i;
  CHECK(cudaMemcpyToSymbol(table, host, 500 * sizeof(int)));
  CHECK(cudaMemcpyToSymbol(table, host + 500, (N - 500) * sizeof(int), 500 * sizeof(int)));
  CHECK(cudaMemcpyToSymbol(steps, changed, sizeof changed, 2 * sizeof(Step), cudaMemcpyHostToDevice));
  CHECK(cudaGetSymbolSize(&bytes, table));
  wrong += bytes != N * sizeof(int);

  CHECK(cudaMalloc((void**)&out, N * sizeof(int)));
  through_table<<<(N + 63) / 64, 64>>>(out, N);
  CHECK(cudaMemcpy(host, out, N * sizeof(int), cudaMemcpyDeviceToHost));
  for (i = 0; i < N; i++) {
    const int twice_scale = i % 5 == 2 ? 1 : i % 5 == 3 ? 3 : 2 * (i % 5 + 1);
    const int shift = i % 5 == 2 ? -7 : i % 5 == 3 ? -9 : 10 * (i % 5 + 1);
    wrong += host[i] != twice_scale * 3 * i + shift;
  }

  CHECK(cudaGetSymbolAddress(&place, table));
  address = (int*)place;
  through_table<<<1, 101>>>(address, 101);  // in place
  CHECK(cudaMemcpyFromSymbol(host, table, 11 * sizeof(int), 95 * sizeof(int)));
  for (i = 0; i < 11; i++) {
    const int at = 95 + i, change[5] = {6 * at + 10, 12 * at + 20, 3 * at - 7, 9 * at - 9, 30 * at + 50};
    wrong += host[i] != (at < 101 ? change[at % 5] : 6 * at);
  }
  CHECK(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
  wrong += counted != 3 + 11 + 2;
  CHECK(cudaFree(out));
  free(host);
  puts(wrong ? "wrong" : "right");
  return 0;
}
