// An image through a texture with normalized coordinates: read at its pixels, and at half the size, where four pixels become their mean.
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void resample(cudaTextureObject_t image, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
}

int main() {
  const int width = 64, height = 32;
  std::vector<float> in(width * height), same(in.size()), half(in.size() / 4);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((i * 37) % 101);
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array;
  cudaMallocArray(&array, &format, width, height);
  cudaMemcpy2DToArray(array, 0, 0, in.data(), width * sizeof(float), width * sizeof(float), height,
                      cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  how.normalizedCoords = 1;
  cudaTextureObject_t image = 0;
  cudaCreateTextureObject(&image, &resource, &how, nullptr);
  float* out;
  cudaMalloc(&out, in.size() * sizeof(float));
  resample<<<dim3(4, 4), dim3(16, 8)>>>(image, out, width, height);
  cudaMemcpy(same.data(), out, same.size() * sizeof(float), cudaMemcpyDeviceToHost);
  resample<<<dim3(2, 2), dim3(16, 8)>>>(image, out, width / 2, height / 2);
  cudaMemcpy(half.data(), out, half.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (size_t i = 0; i < in.size(); ++i) wrong += std::fabs(same[i] - in[i]) > 1e-3f;
  for (int y = 0; y < height / 2; ++y)
    for (int x = 0; x < width / 2; ++x) {
      const float* corner = &in[2 * y * width + 2 * x];
      const float mean = (corner[0] + corner[1] + corner[width] + corner[width + 1]) / 4;
      wrong += std::fabs(half[y * width / 2 + x] - mean) > 1e-3f;
    }
  cudaDestroyTextureObject(image);
  cudaFreeArray(array);
  cudaFree(out);
  std::puts(wrong == 0 ? "right" : "wrong");
}
