// expect: min_max_count efficiency One for each element is 262,147
// points: min_max_count 55..60
// Three atomic updates for each element.
#include "homework.cuh"

// The bits of floats from 0 up rise as the floats do; those of floats below 0 fall. -0 is made 0 first.
__device__ void least_of_all(float* least, float x) {
  if (x >= 0) atomicMin(reinterpret_cast<int*>(least), __float_as_int(x + 0.0f));
  if (x < 0) atomicMax(reinterpret_cast<unsigned*>(least), __float_as_uint(x));
}

__device__ void largest_of_all(float* largest, float x) {
  if (x >= 0) atomicMax(reinterpret_cast<int*>(largest), __float_as_int(x + 0.0f));
  if (x < 0) atomicMin(reinterpret_cast<unsigned*>(largest), __float_as_uint(x));
}

__global__ void set_to_nothing(float* range, int* count) {
  range[0] = INFINITY, range[1] = -INFINITY, *count = 0;
}

__global__ void min_max_count(const float* x, int n, float* range, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] != x[i]) return;
  least_of_all(&range[0], x[i]);
  largest_of_all(&range[1], x[i]);
  atomicAdd(count, 1);
}

cudaError_t launch_min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                                 int* arrived, cudaStream_t stream) {
  set_to_nothing<<<1, 1, 0, stream>>>(range, count);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  if (n > 0) min_max_count<<<n / 256 + 1, 256, 0, stream>>>(x, n, range, count);
  return cudaGetLastError();
}
