// Launches in kernels.
#include "cases.hpp"

__global__ void sum_of_two(int* out, const int* in) { *out = in[0] + in[1]; }

__global__ void passes_local(int* out, int* scratch, bool local) {
  int mine[2] = {1, 2};
  scratch[0] = 1, scratch[1] = 2;
  sum_of_two<<<1, 1>>>(out, local ? mine : scratch);  // finding: child-pointer pointer_to_local
}
CASE(pointer_to_local) { int *o = zeros<int>(1), *s = zeros<int>(2); passes_local<<<1, 1>>>(o, s, true); return finish(o, s); }
CASE(pointer_to_local_right) { int *o = zeros<int>(1), *s = zeros<int>(2); passes_local<<<1, 1>>>(o, s, false); return finish(o, s); }

struct Job {
  int number;
  const int* input;
};
__global__ void does(int* out, Job job) { *out = job.number + *job.input; }
__global__ void passes_shared(int* out, int* scratch, bool shared) {
  __shared__ int s;
  s = 1;
  *scratch = 1;
  does<<<1, 1>>>(out, Job{2, shared ? &s : scratch});  // finding: child-pointer pointer_to_shared
}
CASE(pointer_to_shared) { int *o = zeros<int>(1), *s = zeros<int>(1); passes_shared<<<1, 1>>>(o, s, true); return finish(o, s); }
CASE(pointer_to_shared_right) { int *o = zeros<int>(1), *s = zeros<int>(1); passes_shared<<<1, 1>>>(o, s, false); return finish(o, s); }

// A child is checked like any launch.
__global__ void shift(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i + 1;  // finding: out-of-bounds child_out_of_bounds
}
__global__ void launches(int* a, int n) { shift<<<2, 32>>>(a, n); }
CASE(child_out_of_bounds) { int* a = zeros<int>(40); launches<<<1, 1>>>(a, 41); return finish(a); }
CASE(child_out_of_bounds_right) { int* a = zeros<int>(40); launches<<<1, 1>>>(a, 40); return finish(a); }

__global__ void unchecked(int* out, int threads) {
  sum_of_two<<<1, threads>>>(out, out);  // finding: unchecked-launch child_too_large
}
CASE(child_too_large) { int* o = zeros<int>(2); unchecked<<<1, 1>>>(o, 2048); return finish(o); }
CASE(child_too_large_right) { int* o = zeros<int>(2); unchecked<<<1, 1>>>(o, 1); return finish(o); }

// What children have written, the parent's successor in its stream reads.
__global__ void total(int* out, const int* a, int n) { for (int i = 0; i < n; ++i) *out += a[i]; }
__global__ void then_total(int* out, int* a, int n) {
  shift<<<2, 32>>>(a, n);
  total<<<1, 1, 0, cudaStreamTailLaunch>>>(out, a, n);
}
CASE(read_by_the_next_right) {
  int *o = zeros<int>(1), *a = zeros<int>(40);
  then_total<<<1, 1>>>(o, a, 40);
  total<<<1, 1>>>(o, a, 40);
  return finish(o, a);
}
