// Memory that kernels allocate.
#include <cstdlib>

#include "cases.hpp"

__global__ void beyond(int* out, int n) {
  int* p = new int[8];
  for (int i = 0; i < n; ++i) p[i] = i;  // finding: out-of-bounds past_the_end_of_new
  *out = p[0];
  delete[] p;
}
CASE(past_the_end_of_new) { int* o = zeros<int>(1); beyond<<<1, 1>>>(o, 9); return finish(o); }
CASE(past_the_end_of_new_right) { int* o = zeros<int>(1); beyond<<<1, 1>>>(o, 8); return finish(o); }

__global__ void unwritten(int* out, bool write) {
  int* p = static_cast<int*>(malloc(4 * sizeof(int)));
  if (write) p[3] = 1;
  *out = p[3];  // finding: uninitialised malloc_does_not_clear
  free(p);
}
CASE(malloc_does_not_clear) { int* o = zeros<int>(1); unwritten<<<1, 1>>>(o, false); return finish(o); }
CASE(malloc_does_not_clear_right) { int* o = zeros<int>(1); unwritten<<<1, 1>>>(o, true); return finish(o); }

__global__ void freed_early(int* out, bool early) {
  int* p = new int(1);
  for (int i = 0; i < 2; ++i) {
    *out += *p;  // finding: use-after-free freed_in_a_loop
    if (early && i == 0) delete p;
  }
  if (!early) delete p;
}
CASE(freed_in_a_loop) { int* o = zeros<int>(1); freed_early<<<1, 1>>>(o, true); return finish(o); }
CASE(freed_in_a_loop_right) { int* o = zeros<int>(1); freed_early<<<1, 1>>>(o, false); return finish(o); }

__global__ void all_free(bool one) {
  __shared__ int* p;
  if (threadIdx.x == 0) p = new int[32];
  __syncthreads();
  p[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (!one || threadIdx.x == 0) delete[] p;  // finding: double-free each_thread_frees
}
CASE(each_thread_frees) { all_free<<<1, 32>>>(false); return finish(); }
CASE(each_thread_frees_right) { all_free<<<1, 32>>>(true); return finish(); }

__global__ void frees(int* p, bool own) {
  if (own) p = static_cast<int*>(malloc(4));
  free(p);  // finding: bad-free kernel_frees_the_hosts
}
CASE(kernel_frees_the_hosts) { int* p = zeros<int>(1); frees<<<1, 1>>>(p, false); return finish(p); }
CASE(kernel_frees_the_hosts_right) { int* p = zeros<int>(1); frees<<<1, 1>>>(p, true); return finish(p); }

__global__ void give(int** out) { *out = new int(42); }
__global__ void take(int** in, int* out) {
  *out = **in;
  delete *in;
}
CASE(host_frees_the_kernels) {
  int **at = zeros<int*>(1), *p = nullptr;
  give<<<1, 1>>>(at);
  cudaMemcpy(&p, at, sizeof p, cudaMemcpyDeviceToHost);
  cudaFree(p);  // finding: bad-free host_frees_the_kernels
  return finish(at);
}
CASE(host_frees_the_kernels_right) {
  int **at = zeros<int*>(1), *out = zeros<int>(1);
  give<<<1, 1>>>(at);
  take<<<1, 1>>>(at, out);
  return finish(at, out);
}
CASE(host_copies_the_heap) {
  int **at = zeros<int*>(1), *p = nullptr, value = 0;
  give<<<1, 1>>>(at);
  cudaMemcpy(&p, at, sizeof p, cudaMemcpyDeviceToHost);
  cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);  // finding: bad-copy host_copies_the_heap
  return finish(at);
}
CASE(host_copies_the_heap_right) {
  int **at = zeros<int*>(1), *out = zeros<int>(1), value = 0;
  give<<<1, 1>>>(at);
  take<<<1, 1>>>(at, out);
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  return finish(at, out);
}

__global__ void keeps(int** out, bool keep) {
  *out = new int[4];  // note: leak never_deleted
  if (!keep) delete[] *out;
}
CASE(never_deleted) { int** o = zeros<int*>(1); keeps<<<1, 1>>>(o, true); return finish(o); }
CASE(never_deleted_right) { int** o = zeros<int*>(1); keeps<<<1, 1>>>(o, false); return finish(o); }
