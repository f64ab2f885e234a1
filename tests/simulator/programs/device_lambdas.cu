// A parallel for that takes lambdas, by value, with what they capture.
#include <cstdio>

template <class Function>
__global__ void for_each_index(int n, Function function) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) function(i);
}
template <class Function>
void parallel_for(int n, Function function) {
  for_each_index<<<(n + 127) / 128, 128>>>(n, function);
}

int main() {
  const int n = 999;
  int* numbers;
  cudaMallocManaged(&numbers, n * sizeof(int));
  const int offset = 5;
  parallel_for(n, [=] __device__(int i) { numbers[i] = i + offset; });
  parallel_for(n, [numbers] __device__(int i) { numbers[i] *= numbers[i]; });
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += numbers[i] != (i + 5) * (i + 5);
  cudaFree(numbers);
  std::puts(wrong ? "wrong" : "right");
}
