// Homework: histogram. `make homework-histogram` grades this file. What the function must do is in homework.cuh.
#include "homework.cuh"

// TODO (about 12 lines): a kernel that counts in shared memory first

cudaError_t launch_histogram(const int* key, int* count, int n, int bins, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  // TODO (1 line): zeros into count

  if (error != cudaSuccess || n == 0) return error;
  // TODO (1 line): launch the kernel
  return cudaGetLastError();
}
