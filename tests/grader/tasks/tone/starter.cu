// Homework: tone. `make homework-tone` grades this file. What the function must do is in homework.cuh.
#include "homework.cuh"

// TODO (about 7 lines): a kernel

cudaError_t launch_tone(const float* in, float* out, int rows, int cols, float gain, float offset,
                        cudaStream_t stream) {
  // TODO (about 2 lines): launch it
  return cudaGetLastError();
}
