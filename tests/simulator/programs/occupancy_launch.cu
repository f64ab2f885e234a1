// The block size that the occupancy calculator proposes, and a grid-stride loop.
#include <cstdio>

__global__ void squares(int* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = i * i;
}

int main() {
  const int n = 30000;
  int grid = 0, block = 0, resident = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, squares, 0, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, squares, block, 0);
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  int wrong = block % 32 != 0 || resident < 1 || grid != resident * multiprocessors;
  int* out;
  cudaMallocManaged(&out, n * sizeof(int));
  squares<<<8, block>>>(out, n);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < n; ++i) wrong += out[i] != i * i;
  cudaFree(out);
  std::puts(wrong ? "wrong" : "right");
}
