// Kernels that are called as functions of C, of CUDA and of C++ are.
#include <algorithm>
#include <cstdio>
#include <numeric>

using namespace std;

__global__ void read(const int* in, int* out, int n) {
  if (int i = threadIdx.x; i < n) out[i] = in[i] + 1;
}
__global__ void norm(const int* in, int* out, int n) {
  if (int i = threadIdx.x; i < n) out[i] = in[i] + 2;
}
__global__ void rotate(const int* in, int* out, int n) {
  if (int i = threadIdx.x; i < n) out[(i + 1) % n] = in[i] + 3;
}
template <int Add>
__global__ void transform(const int* in, int* out, int n) {
  if (int i = threadIdx.x; i < n) out[i] = in[i] + Add;
}
namespace mine {
__global__ void round(const int* in, int* out, int n) {
  if (int i = threadIdx.x; i < n) out[i] = in[i] + 5;
}
}  // namespace mine

int main() {
  const int n = 100;
  int *a, *b, *end;
  cudaMallocManaged(&a, n * sizeof(int));
  cudaMallocManaged(&b, n * sizeof(int));
  fill(a, a + n, 0);
  read<<<1, 128>>>(a, b, n);
  norm<<<1, 128>>>(b, a, n);
  rotate<<<1, 128>>>(a, b, n);
  transform<4><<<1, 128>>>(b, a, n);
  mine::round<<<1, 128>>>(a, b, n);
  cudaDeviceSynchronize();
  end = b + n;
  printf("%s\n", count(b, end, 1 + 2 + 3 + 4 + 5) == n ? "right" : "WRONG");
  cudaFree(a);
  cudaFree(b);
}
