// Homework of chapter 00. `make homework-00` grades this file; `make homework-00 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You need to add lines, and to change none.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Two lines of this kernel are missing, and one of its launch. It compiles.

__global__ void negative(const float* in, float* out, int n) {
  int i = 0;
  // TODO (1 line): which pixel is this thread's?

  // TODO (1 line): not every thread has one

  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  int blocks = 1;
  // TODO (1 line): as many blocks of 256 threads as cover n pixels

  negative<<<blocks, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// A picture in the mirror, a thread for each pixel.

// TODO (about 6 lines): a kernel

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}
