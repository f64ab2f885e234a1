// A cube of pitched memory, cleared, with a block of ones copied into its middle.
#include <cstdio>
#include <vector>

__global__ void add_all(cudaPitchedPtr cube, cudaExtent size, unsigned long long* sum) {
  const char* slice = static_cast<const char*>(cube.ptr) + blockIdx.x * cube.pitch * size.height;
  const int* row = reinterpret_cast<const int*>(slice + threadIdx.y * cube.pitch);
  if (threadIdx.x < size.width / sizeof(int)) atomicAdd(sum, static_cast<unsigned long long>(row[threadIdx.x]));
}

int main() {
  const int n = 12, inner = 5;
  const cudaExtent size = make_cudaExtent(n * sizeof(int), n, n);
  cudaPitchedPtr cube;
  cudaMalloc3D(&cube, size);
  cudaMemset3D(cube, 0, size);
  std::vector<int> ones(inner * inner * inner, 1);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(ones.data(), inner * sizeof(int), inner, inner);
  copy.dstPtr = cube;
  copy.dstPos = make_cudaPos(3 * sizeof(int), 4, 2);
  copy.extent = make_cudaExtent(inner * sizeof(int), inner, inner);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  unsigned long long *sum, result = 0;
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  add_all<<<n, dim3(16, n)>>>(cube, size, sum);
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(cube.ptr);
  cudaFree(sum);
  std::puts(result == inner * inner * inner ? "right" : "wrong");
}
