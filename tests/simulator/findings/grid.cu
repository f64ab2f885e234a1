// The barrier of a whole grid.
#include <cooperative_groups.h>

#include "cases.hpp"

namespace cg = cooperative_groups;

template <class... P>
static void launch(void (*kernel)(P...), int blocks, int threads, P... parameters) {
  void* arguments[] = {&parameters...};
  cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments);
}

__global__ void neighbours(int* a, int* b, bool meet) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  a[i] = i;  // finding: race-global no_grid_barrier
  if (meet) cg::this_grid().sync();
  b[i] = a[(i + 32) % n];
  cg::this_grid().sync();
  a[i] = b[(i + 32) % n];
}
CASE(no_grid_barrier) { int *a = zeros<int>(128), *b = zeros<int>(128); launch(neighbours, 4, 32, a, b, false); return finish(a, b); }
CASE(no_grid_barrier_right) { int *a = zeros<int>(128), *b = zeros<int>(128); launch(neighbours, 4, 32, a, b, true); return finish(a, b); }

// One barrier orders what is before it and after it, and nothing between two others.
__global__ void steps(int* a, bool both) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  for (int k = 0; k < 3; ++k) {
    int left = a[(i + n - 1) % n];  // finding: race-global one_barrier_per_step
    if (both) grid.sync();
    a[i] = left;
    grid.sync();
  }
}
CASE(one_barrier_per_step) { int* a = zeros<int>(4); launch(steps, 4, 1, a, false); return finish(a); }
CASE(one_barrier_per_step_right) { int* a = zeros<int>(4); launch(steps, 4, 1, a, true); return finish(a); }

// Between two barriers of the grid a block has its own races.
__global__ void in_the_block(int* out, bool meet) {
  __shared__ int s[64];
  cg::grid_group grid = cg::this_grid();
  s[threadIdx.x] = threadIdx.x;
  grid.sync();
  int other = s[63 - threadIdx.x];  // finding: race-shared behind_the_grid_barrier
  if (meet) __syncthreads();
  s[threadIdx.x] = other;
  grid.sync();
  out[grid.thread_rank()] = s[threadIdx.x];
}
CASE(behind_the_grid_barrier) { int* o = zeros<int>(128); launch(in_the_block, 2, 64, o, false); return finish(o); }
CASE(behind_the_grid_barrier_right) { int* o = zeros<int>(128); launch(in_the_block, 2, 64, o, true); return finish(o); }

// What a block has not written in shared memory, no other one has.
__global__ void own_shared(int* out, bool all) {
  __shared__ int s[32];
  cg::grid_group grid = cg::this_grid();
  if (all || blockIdx.x == 0) s[threadIdx.x] = 1;
  grid.sync();
  out[grid.thread_rank()] = s[threadIdx.x];  // finding: uninitialised-shared shared_of_another_block
}
CASE(shared_of_another_block) { int* o = zeros<int>(64); launch(own_shared, 2, 32, o, false); return finish(o); }
CASE(shared_of_another_block_right) { int* o = zeros<int>(64); launch(own_shared, 2, 32, o, true); return finish(o); }

__global__ void guarded(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = i;
  cg::this_grid().sync();  // finding: divergent-barrier some_have_returned
  out[i] += out[n - 1 - i];
}
__global__ void guarded_right(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
  cg::this_grid().sync();
  int other = i < n ? out[n - 1 - i] : 0;
  cg::this_grid().sync();
  if (i < n) out[i] += other;
}
CASE(some_have_returned) {
  int* o = zeros<int>(128);
  launch(guarded, 1, 128, o, 1);
  return finish(o);
}
CASE(some_have_returned_right) { int* o = zeros<int>(128); launch(guarded_right, 2, 64, o, 100); return finish(o); }

__global__ void block_leaves(int* out, bool all) {
  if (!all && blockIdx.x == 2) return;
  out[blockIdx.x] = 1;
  cg::this_grid().sync();  // finding: deadlock a_block_has_ended
}
CASE(a_block_has_ended) { int* o = zeros<int>(4); launch(block_leaves, 4, 32, o, false); return finish(o); }
CASE(a_block_has_ended_right) { int* o = zeros<int>(128); launch(block_leaves, 4, 1, o, true); return finish(o); }

__global__ void two_barriers(int* out, bool meet) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (meet || threadIdx.x < 32)
    cg::this_grid().sync();  // finding: divergent-barrier grid_or_block
  else
    __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(grid_or_block) { int* o = zeros<int>(64); launch(two_barriers, 1, 64, o, false); return finish(o); }
CASE(grid_or_block_right) { int* o = zeros<int>(64); launch(two_barriers, 1, 64, o, true); return finish(o); }

__global__ void two_places(int* out, bool meet) {
  cg::grid_group grid = cg::this_grid();
  if (meet || threadIdx.x < 32) {
    grid.sync();  // finding: divergent-barrier two_grid_barriers
  } else {
    grid.sync();
  }
  out[grid.thread_rank()] = 1;
}
CASE(two_grid_barriers) { int* o = zeros<int>(128); launch(two_places, 2, 64, o, false); return finish(o); }
CASE(two_grid_barriers_right) { int* o = zeros<int>(128); launch(two_places, 2, 64, o, true); return finish(o); }

__global__ void halves(int* out) {
  out[blockIdx.x] = 1;
  cg::this_grid().sync();  // finding: not-cooperative ordinary_launch
  out[blockIdx.x] += out[gridDim.x - 1 - blockIdx.x];
}
__global__ void halves_right(int* in, int* out) {
  in[blockIdx.x] = 1;
  cg::this_grid().sync();
  out[blockIdx.x] = in[gridDim.x - 1 - blockIdx.x];
}
CASE(ordinary_launch) { int* o = zeros<int>(4); halves<<<4, 1>>>(o); return finish(o); }
CASE(ordinary_launch_right) { int *i = zeros<int>(4), *o = zeros<int>(4); launch(halves_right, 4, 1, i, o); return finish(i, o); }

// A flag of one block, for which another one waits.
__global__ void flag(int* data, int* out, int* ready) {
  if (blockIdx.x == 1) {
    *data = 42;
    __threadfence();
    atomicExch(ready, 1);
  }
  if (blockIdx.x == 0) {
    while (atomicAdd(ready, 0) == 0) {}
    __threadfence();
    *out = *data;
  }
  cg::this_grid().sync();
}
CASE(flag_in_a_grid_right) {
  int *d = zeros<int>(1), *o = zeros<int>(1), *r = zeros<int>(1);
  launch(flag, 2, 1, d, o, r);
  return finish(d, o, r);
}

__global__ void waits_in_vain(int* ready) {
  if (blockIdx.x == 0)
    while (atomicAdd(ready, 0) == 0) {}  // finding: deadlock flag_never_set
  cg::this_grid().sync();
  if (blockIdx.x == 1) atomicExch(ready, 1);
}
__global__ void waits(int* ready) {
  if (blockIdx.x == 1) atomicExch(ready, 1);
  if (blockIdx.x == 0)
    while (atomicAdd(ready, 0) == 0) {}
  cg::this_grid().sync();
}
CASE(flag_never_set) { int* r = zeros<int>(1); launch(waits_in_vain, 2, 1, r); return finish(r); }
CASE(flag_never_set_right) { int* r = zeros<int>(1); launch(waits, 2, 1, r); return finish(r); }

__global__ void fill(int* a) {
  cg::this_grid().sync();
  a[blockIdx.x] = blockIdx.x;  // finding: race-streams two_streams
  cg::this_grid().sync();
}
static int fill_twice(int* a, cudaStream_t one, cudaStream_t two) {
  void* arguments[] = {&a};
  cudaLaunchCooperativeKernel(fill, 4, 1, arguments, 0, one);
  cudaLaunchCooperativeKernel(fill, 4, 1, arguments, 0, two);
  return finish(a);
}
CASE(two_streams) {
  cudaStream_t one, two;
  cudaStreamCreate(&one), cudaStreamCreate(&two);
  const int result = fill_twice(zeros<int>(4), one, two);
  cudaStreamDestroy(one), cudaStreamDestroy(two);
  return result;
}
CASE(two_streams_right) {
  cudaStream_t one;
  cudaStreamCreate(&one);
  const int result = fill_twice(zeros<int>(4), one, one);
  cudaStreamDestroy(one);
  return result;
}
