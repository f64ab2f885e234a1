// A volume in a three-dimensional array, read along its diagonal.
#include <cstdio>

#define N 8
__global__ void diagonal(cudaTextureObject_t volume, float* out) {
  int i = threadIdx.x;
  out[i] = tex3D<float>(volume, i + 0.5f, i + 0.5f, i + 0.5f);
}

int main() {
  static float numbers[N][N][N], result[N];
  for (int z = 0; z < N; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++) numbers[z][y][x] = x + 10 * y + 100 * z;
  cudaExtent size = make_cudaExtent(N, N, N);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray* array;
  cudaMalloc3DArray(&array, &format, size);
  cudaMemcpy3DParms copy = {0};
  copy.srcPtr = make_cudaPitchedPtr(numbers, N * sizeof(float), N, N);
  copy.dstArray = array;
  copy.extent = size;
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.filterMode = cudaFilterModePoint;
  cudaTextureObject_t volume;
  cudaCreateTextureObject(&volume, &resource, &how, NULL);
  float* out;
  cudaMalloc((void**)&out, sizeof(result));
  diagonal<<<1, N>>>(volume, out);
  cudaMemcpy(result, out, sizeof(result), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += result[i] != 111 * i;
  cudaDestroyTextureObject(volume);
  cudaFreeArray(array);
  cudaFree(out);
  printf(wrong ? "wrong\n" : "right\n");
  return wrong;
}
