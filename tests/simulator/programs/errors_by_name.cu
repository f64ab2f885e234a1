// What goes wrong has a name: launches that cannot be, pointers that are none, and none of it spoils what follows.
#include <cstdio>
#include <cstring>

__global__ void one(int* p) { *p = 1; }

static int differs(cudaError_t error, const char* name) { return std::strcmp(cudaGetErrorName(error), name) != 0; }

int main() {
  int wrong = 0, *p = nullptr, host = 0;
  one<<<1, 2048>>>(p);
  wrong += differs(cudaGetLastError(), "cudaErrorInvalidConfiguration");
  wrong += differs(cudaGetLastError(), "cudaSuccess");
  one<<<dim3(1, 70000), 1>>>(p);
  wrong += differs(cudaPeekAtLastError(), "cudaErrorInvalidConfiguration");
  wrong += differs(cudaGetLastError(), "cudaErrorInvalidConfiguration");
  wrong += differs(cudaMalloc(&p, size_t(1) << 60), "cudaErrorMemoryAllocation");
  cudaGetLastError();
  wrong += differs(cudaSetDevice(77), "cudaErrorInvalidDevice");
  cudaGetLastError();
  wrong += differs(cudaMalloc(&p, sizeof(int)), "cudaSuccess");
  one<<<1, 1>>>(p);
  wrong += differs(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost), "cudaSuccess");
  wrong += host != 1;
  wrong += differs(cudaFree(p), "cudaSuccess");
  std::puts(wrong ? "wrong" : "right");
}
