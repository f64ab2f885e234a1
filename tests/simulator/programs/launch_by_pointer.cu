// Kernels by their addresses: a launch with a list of arguments, what a kernel needs, and shared memory by request.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

template <typename T>
__global__ void mirror(const T* in, T* out, int n, T add) {
  extern __shared__ __align__(8) char memory[];
  T* all = reinterpret_cast<T*>(memory);
  for (int i = threadIdx.x; i < n; i += blockDim.x) all[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = all[n - 1 - i] + add;
}

template <typename T>
bool right(const void* kernel, int n) {
  size_t bytes = n * sizeof(T);  // more than the 48 KB that a kernel may have without a request
  T add = 17, *in, *out;
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) return false;
  bool right = attributes.maxThreadsPerBlock >= 224 && attributes.localSizeBytes == 0;
  right = right && attributes.maxDynamicSharedSizeBytes < static_cast<int>(bytes);
  cudaMalloc(&in, bytes), cudaMalloc(&out, bytes);
  std::vector<T> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<T>(i * 5);
  cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);
  void* arguments[] = {&in, &out, &n, &add};
  right = right && cudaLaunchKernel(kernel, 1, 224, arguments, bytes, nullptr) == cudaErrorInvalidValue;
  right = right && cudaGetLastError() == cudaErrorInvalidValue;  // which is forgotten now
  const auto size = cudaFuncAttributeMaxDynamicSharedMemorySize;
  right = right && cudaFuncSetAttribute(kernel, size, static_cast<int>(bytes)) == cudaSuccess;
  right = right && cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess;
  right = right && attributes.maxDynamicSharedSizeBytes == static_cast<int>(bytes);
  right = right && cudaLaunchKernel(kernel, 1, 224, arguments, bytes, nullptr) == cudaSuccess;
  right = right && cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(in), cudaFree(out);
  for (int i = 0; i < n && right; ++i) right = host[i] == static_cast<T>((n - 1 - i) * 5 + 17);
  return right;
}

int main() {
  const bool both = right<int>(reinterpret_cast<const void*>(mirror<int>), 15013) &&
                    right<double>(reinterpret_cast<const void*>(mirror<double>), 7001);
  std::puts(both ? "right" : "wrong");
}
