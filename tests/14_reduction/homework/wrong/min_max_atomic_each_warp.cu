// expect: min_max_count efficiency atomic updates of global memory
// points: min_max_count 55..60
// A thread for each element, and three atomic updates for each warp.
#include "homework.cuh"

// What is known of some of the elements.
struct Summary {
  float least, largest;
  int count;
};

constexpr int THREADS = 256, BLOCKS = 512;  // BLOCKS: the most that `parts` has room for

__device__ Summary nothing() { return {INFINITY, -INFINITY, 0}; }

__device__ Summary join(Summary a, Summary b) {
  return {fminf(a.least, b.least), fmaxf(a.largest, b.largest), a.count + b.count};
}

__device__ Summary joined(Summary a, float x) {  // of a number and a NaN, fminf() and fmaxf() give the number
  return {fminf(a.least, x), fmaxf(a.largest, x), a.count + (x == x)};
}

__device__ Summary warp_summary(Summary mine) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const Summary other = {__shfl_down_sync(0xffffffff, mine.least, distance),
                           __shfl_down_sync(0xffffffff, mine.largest, distance),
                           __shfl_down_sync(0xffffffff, mine.count, distance)};
    mine = join(mine, other);
  }
  return mine;
}

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

__global__ void min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                              int* arrived) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  Summary mine = i < n ? joined(nothing(), x[i]) : nothing();
  mine = warp_summary(mine);
  if (threadIdx.x % 32 == 0) {
    least_of_all(&range[0], mine.least);
    largest_of_all(&range[1], mine.largest);
    atomicAdd(count, mine.count);
  }
}

cudaError_t launch_min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                                 int* arrived, cudaStream_t stream) {
  set_to_nothing<<<1, 1, 0, stream>>>(range, count);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  const int blocks = n / THREADS + 1;
  min_max_count<<<blocks, THREADS, 0, stream>>>(x, n, range, count, parts, part_counts, arrived);
  return cudaGetLastError();
}
