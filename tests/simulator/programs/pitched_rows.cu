// Rows of an odd length in pitched memory.
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                             \
  do {                                                                          \
    cudaError_t error_ = (call);                                                \
    if (error_ != cudaSuccess) {                                                \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));     \
      exit(EXIT_FAILURE);                                                       \
    }                                                                           \
  } while (0)

__global__ void scale_rows(float* data, size_t pitch, int width, int height) {
  int row = blockIdx.x;
  if (row >= height) return;
  float* line = (float*)((char*)data + row * pitch);
  for (int column = threadIdx.x; column < width; column += blockDim.x) line[column] *= row;
}

int main(void) {
  const int width = 101, height = 17;
  float* host = (float*)malloc(width * height * sizeof(float));
  for (int i = 0; i < width * height; i++) host[i] = 2.0f;
  float* device;
  size_t pitch;
  CHECK(cudaMallocPitch((void**)&device, &pitch, width * sizeof(float), height));
  CHECK(cudaMemcpy2D(device, pitch, host, width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
  scale_rows<<<height, 32>>>(device, pitch, width, height);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(host, width * sizeof(float), device, pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost));
  int wrong = pitch % 32 != 0;
  for (int i = 0; i < width * height; i++) wrong += host[i] != 2.0f * (i / width);
  CHECK(cudaFree(device));
  free(host);
  puts(wrong ? "wrong" : "right");
  return wrong;
}
