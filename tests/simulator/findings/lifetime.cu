// Pointers to the wrong kind of memory, memory after its end, and launches that fail.
#include <cstdlib>

#include "cases.hpp"

__global__ void add_one(int* data) {
  data[threadIdx.x] += 1;  // finding: use-after-free freed_before_launch, host-pointer malloc_pointer, host-pointer stack_pointer, null-pointer allocation_forgotten, null-pointer null_member, use-after-free freed_in_loop
}

// ---------------------------------------------------------------- freed
CASE(freed_before_launch) { int* d = zeros<int>(32); cudaFree(d); add_one<<<1, 32>>>(d); return finish(); }
CASE(freed_before_launch_right) { int* d = zeros<int>(32); add_one<<<1, 32>>>(d); cudaFree(d); return finish(); }
CASE(freed_in_loop) {
  int* d = zeros<int>(32);
  for (int i = 0; i < 2; ++i) {
    add_one<<<1, 32>>>(d);
    if (i == 0) cudaFree(d);
  }
  return finish();
}
CASE(freed_in_loop_right) {
  int* d = zeros<int>(32);
  for (int i = 0; i < 2; ++i) add_one<<<1, 32>>>(d);
  return finish(d);
}
CASE(copy_after_free) {
  int* d = zeros<int>(4);
  int host[4];
  cudaFree(d);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);  // finding: use-after-free copy_after_free
  return finish();
}
CASE(copy_after_free_right) {
  int* d = zeros<int>(4);
  int host[4];
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return finish();
}

CASE(freed_twice) {
  int* d = zeros<int>(4);
  cudaFree(d);
  cudaFree(d);  // finding: double-free freed_twice
  return finish();
}
CASE(freed_twice_right) { int* d = zeros<int>(4); cudaFree(d); cudaFree(nullptr); return finish(); }

struct Buffer {
  int* data = zeros<int>(8);
  ~Buffer() { cudaFree(data); }  // finding: double-free copied_owner
};
CASE(copied_owner) { Buffer a; Buffer b = a; return finish(); }
CASE(copied_owner_right) { Buffer a; Buffer b; return finish(); }

CASE(freed_by_two_names) {
  int *a = zeros<int>(8), *b = a;
  for (int* p : {a, b}) cudaFree(p);  // finding: double-free freed_by_two_names
  return finish();
}
CASE(freed_by_two_names_right) {
  int *a = zeros<int>(8), *b = zeros<int>(8);
  for (int* p : {a, b}) cudaFree(p);
  return finish();
}

// ---------------------------------------------------------------- never freed: notes
CASE(forgotten) {
  int* d = nullptr;
  cudaMalloc(&d, 1 << 20);  // note: leak forgotten
  return finish();
}
CASE(forgotten_right) { int* d = nullptr; cudaMalloc(&d, 1 << 20); return finish(d); }
// Who prints and does not wait: as measured on an H100, whose programs then show nothing.
__global__ void says(int letters) { if (threadIdx.x == 0) printf("%.*s", letters, "text"); }
CASE(not_waited_for) {
  says<<<1, 64>>>(0);  // note: lost-output not_waited_for
  return 0;
}
CASE(not_waited_for_right) { says<<<1, 64>>>(0); return finish(); }
CASE(only_launched_again) {
  says<<<1, 64>>>(0);
  cudaDeviceSynchronize();
  says<<<1, 64>>>(0);
  says<<<1, 64>>>(0);  // note: lost-output only_launched_again
  return 0;
}
CASE(only_launched_again_right) {
  int* d = zeros<int>(1);
  says<<<1, 64>>>(0);
  cudaFree(d);
  return 0;
}

CASE(forgotten_in_loop) {
  for (int i = 0; i < 10; ++i) {
    int* d = nullptr;
    cudaMallocManaged(&d, 100);  // note: leak forgotten_in_loop
  }
  return finish();
}
CASE(forgotten_in_loop_right) {
  for (int i = 0; i < 10; ++i) {
    int* d = nullptr;
    cudaMallocManaged(&d, 100);
    cudaFree(d);
  }
  return finish();
}
CASE(pointer_overwritten) {
  int* d = nullptr;
  cudaMallocHost(&d, 100);  // note: leak pointer_overwritten
  cudaMallocHost(&d, 200);
  cudaFreeHost(d);
  return finish();
}
CASE(pointer_overwritten_right) {
  int* d = nullptr;
  cudaMallocHost(&d, 100);
  cudaFreeHost(d);
  cudaMallocHost(&d, 200);
  cudaFreeHost(d);
  return finish();
}

// ---------------------------------------------------------------- host memory in kernels
CASE(malloc_pointer) { int* h = static_cast<int*>(std::calloc(32, sizeof(int))); add_one<<<1, 32>>>(h); std::free(h); return finish() == 3 ? 0 : 4; }
CASE(malloc_pointer_right) { int* h = nullptr; cudaMallocHost(&h, 128); std::memset(h, 0, 128); add_one<<<1, 32>>>(h); cudaDeviceSynchronize(); return cudaFreeHost(h) == cudaSuccess ? 0 : 3; }
CASE(stack_pointer) { int h[32] = {}; add_one<<<1, 32>>>(h); return finish() == 3 ? 0 : 4; }
CASE(stack_pointer_right) { int h[32] = {}, *d = zeros<int>(32); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); add_one<<<1, 32>>>(d); return finish(d); }

struct Vector { float* values; int n; };
__global__ void scale(const Vector* v) {
  if (threadIdx.x < v->n) v->values[threadIdx.x] *= 2;  // finding: host-pointer pointer_to_host_struct
}
__global__ void scale_by_value(Vector v) {
  if (threadIdx.x < v.n) v.values[threadIdx.x] *= 2;
}
CASE(pointer_to_host_struct) { float* d = zeros<float>(32); Vector v{d, 32}; scale<<<1, 32>>>(&v); return finish(d) == 3 ? 0 : 4; }
CASE(pointer_to_host_struct_right) { float* d = zeros<float>(32); Vector v{d, 32}; scale_by_value<<<1, 32>>>(v); return finish(d); }

CASE(allocation_forgotten) { add_one<<<1, 32>>>(nullptr); return finish() == 3 ? 0 : 4; }
CASE(allocation_forgotten_right) { int* d = zeros<int>(32); add_one<<<1, 32>>>(d); return finish(d); }
CASE(null_member) { Vector v{}; add_one<<<1, 32>>>(reinterpret_cast<int*>(v.values)); return finish() == 3 ? 0 : 4; }
CASE(null_member_right) { Vector v{zeros<float>(32), 32}; scale_by_value<<<1, 32>>>(v); return finish(v.values); }
__global__ void row_of(float** rows, int r) {
  rows[r][threadIdx.x] = 1;  // finding: null-pointer row_not_set
}
CASE(row_not_set) { float** rows = zeros<float*>(2); row_of<<<1, 8>>>(rows, 1); return finish(rows) == 3 ? 0 : 4; }
CASE(row_not_set_right) {
  float **rows = zeros<float*>(2), *row = zeros<float>(8);
  cudaMemcpy(rows + 1, &row, sizeof row, cudaMemcpyHostToDevice);
  row_of<<<1, 8>>>(rows, 1);
  return finish(rows, row);
}

// ---------------------------------------------------------------- device memory in host code
CASE(result_not_copied) {
  int* d = zeros<int>(4);
  return d[0];  // finding: host-access result_not_copied
}
CASE(result_not_copied_right) { int *d = zeros<int>(4), host[4]; cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost); cudaFree(d); return host[0]; }
CASE(filled_by_host) {
  int* d = nullptr;
  cudaMalloc(&d, 400);
  for (int i = 0; i < 100; ++i) d[i] = i;  // finding: host-access filled_by_host
  return finish(d);
}
CASE(filled_by_host_right) {
  int* d = nullptr;
  cudaMallocManaged(&d, 400);
  for (int i = 0; i < 100; ++i) d[i] = i;
  return finish(d);
}
// After so many launches that closing device memory each time would cost too much.
CASE(read_after_many_launches) {
  int *d = zeros<int>(1 << 22), sum = 0;
  for (int i = 0; i < 100; ++i) add_one<<<1, 1>>>(d);
  sum += d[5];  // finding: host-access read_after_many_launches
  return sum;
}
CASE(read_after_many_launches_right) {
  int *d = zeros<int>(1 << 22), value = 0;
  for (int i = 0; i < 100; ++i) add_one<<<1, 1>>>(d);
  cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return value == 100 ? 0 : 1;
}

// ---------------------------------------------------------------- constants
__constant__ float weights[8];
__constant__ int limit;
__device__ float counted[8];
__global__ void change(int which) {
  float* w = which == 1 ? counted : weights;
  if (which <= 1) w[threadIdx.x] = 2;  // finding: constant-write through_pointer
  if (which == 2) const_cast<volatile int&>(limit) = 3;  // finding: constant-write variable
  if (which == 3) atomicAdd(&weights[0], 1.0f);  // finding: constant-write atomic
}
CASE(through_pointer) { change<<<1, 8>>>(0); return finish(); }
CASE(through_pointer_right) { change<<<1, 8>>>(1); return finish(); }
CASE(variable) { change<<<1, 1>>>(2); return finish(); }
CASE(variable_right) { int v = 3; cudaMemcpyToSymbol(limit, &v, sizeof v); return finish(); }
CASE(atomic) { change<<<1, 1>>>(3); return finish(); }
CASE(atomic_right) { float v[8] = {1}; cudaMemcpyToSymbol(weights, v, sizeof v); return finish(); }

// ---------------------------------------------------------------- launches that fail
__global__ void nothing() {}
__global__ void __launch_bounds__(64) small_only() {}
__global__ void stops() { __trap(); }
CASE(too_many_threads) {
  nothing<<<1, 2048>>>();  // finding: unchecked-launch too_many_threads
  return finish();
}
CASE(too_many_threads_right) { nothing<<<2, 1024>>>(); return finish(); }
CASE(beyond_launch_bounds) {
  small_only<<<1, 128>>>();  // finding: unchecked-launch beyond_launch_bounds
  return finish();
}
CASE(beyond_launch_bounds_right) { small_only<<<1, 128>>>(); return cudaGetLastError() == cudaErrorInvalidValue ? 0 : 1; }
CASE(too_much_shared) {
  nothing<<<1, 32, 1 << 20>>>();  // finding: unchecked-launch too_much_shared
  return 0;
}
CASE(too_much_shared_right) { nothing<<<1, 32, 1 << 20>>>(); return cudaPeekAtLastError() == cudaSuccess ? 1 : 0; }
CASE(trapped) {
  stops<<<1, 1>>>();  // finding: unchecked-launch trapped
  return 0;
}
CASE(trapped_right) { stops<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 1; }

// ---------------------------------------------------------------- what ends a program on the CPU
__global__ void share(int* out, int n) {
  out[threadIdx.x] = 100 / n;  // finding: division-by-zero divided_by_zero
}
CASE(divided_by_zero) { int* d = zeros<int>(4); share<<<1, 4>>>(d, 0); return finish(d); }
CASE(divided_by_zero_right) { int* d = zeros<int>(4); share<<<1, 4>>>(d, 3); return finish(d); }

CASE(host_divides_by_zero) {
  cudaFree(zeros<int>(4));
  volatile int none = 0;
  return 100 % none;  // finding: division-by-zero host_divides_by_zero
}
CASE(host_divides_by_zero_right) {
  cudaFree(zeros<int>(4));
  volatile int one = 1;
  return 100 % one;
}

// The array is larger than what protects a neighbouring thread's stack.
template <int kWords>
__global__ void large_array(int* out) {  // finding: stack-overflow array_of_400_kb
  volatile int all[kWords];
  all[threadIdx.x] = 1;
  out[threadIdx.x] = all[threadIdx.x];
}
CASE(array_of_400_kb) { int* d = zeros<int>(4); large_array<100000><<<1, 4>>>(d); return finish(d); }
CASE(array_of_400_kb_right) { int* d = zeros<int>(4); large_array<10000><<<1, 4>>>(d); return finish(d); }

// A graph's memory is there from the node that allocates it to the one that frees it.
__global__ void write_seven(int* p) {
  p[threadIdx.x] = 7;  // finding: use-after-free memory_of_graph_after
}
static int use_of_graph_memory(bool after) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  int* x = nullptr;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&x, 32 * sizeof(int), s);
  write_seven<<<1, 32, 0, s>>>(x);
  cudaFreeAsync(x, s);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, s);
  if (after) write_seven<<<1, 32, 0, s>>>(x);
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(s);
  return finish();
}
CASE(memory_of_graph_after) { return use_of_graph_memory(true); }
CASE(memory_of_graph_after_right) { return use_of_graph_memory(false); }
