// Pixels of a surface, inverted in place.
#include <cstdio>

__global__ void invert(cudaSurfaceObject_t image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    uchar4 pixel = surf2Dread<uchar4>(image, x * sizeof(uchar4), y);
    surf2Dwrite(make_uchar4(255 - pixel.x, 255 - pixel.y, 255 - pixel.z, pixel.w), image, x * sizeof(uchar4), y);
  }
}

int main() {
  const int width = 50, height = 23;
  static uchar4 pixels[width * height];
  for (int i = 0; i < width * height; ++i) pixels[i] = make_uchar4(i, 2 * i, 3 * i, 7);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore);
  const size_t row = width * sizeof(uchar4);
  cudaMemcpy2DToArray(array, 0, 0, pixels, row, row, height, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t image;
  cudaCreateSurfaceObject(&image, &resource);
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  invert<<<grid, block>>>(image, width, height);
  cudaMemcpy2DFromArray(pixels, row, array, 0, 0, row, height, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < width * height; ++i) {
    const uchar4 p = pixels[i];
    wrong += p.x != (unsigned char)(255 - i) || p.y != (unsigned char)(255 - 2 * i) || p.w != 7;
  }
  cudaDestroySurfaceObject(image);
  cudaFreeArray(array);
  std::printf("%s\n", wrong ? "wrong" : "right");
}
