// Homework: add_neighbour. `make homework-add_neighbour` grades this file. What the function must do is in homework.cuh.
#include "homework.cuh"

// TODO (about 4 lines): a kernel

cudaError_t launch_add_neighbour(const float* x, float* y, int n, cudaStream_t stream) {
  // TODO (1 line): launch it
  return cudaGetLastError();
}
