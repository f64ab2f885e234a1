// Work on streams that nothing orders, and host code that comes too early. The simulator does everything at once, so all of these
// give the right numbers here.
#include <atomic>
#include <thread>
#include <vector>

#include "cases.hpp"

constexpr int kMany = 256;

__global__ void fill(int* out, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;  // finding: race-streams both_write, race-streams work_beside_a_graph, race-streams write_after_read, race-streams copy_and_kernel_in, race-streams copy_out_and_next, race-streams repeated_over_a_copy, race-streams legacy_and_nonblocking, race-streams allocated_elsewhere
}
__global__ void add(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += in[i];  // finding: race-streams read_after_write, race-streams read_after_a_repeat, race-streams branches_of_a_graph, race-streams event_too_early, race-streams memset_and_kernel, race-streams atomics_and_reader, race-streams two_of_three
}
__global__ void count(int* counter) { atomicAdd(counter, 1); }

struct Streams {
  cudaStream_t a, b;
  explicit Streams(unsigned flags = cudaStreamDefault) {
    cudaStreamCreateWithFlags(&a, flags);
    cudaStreamCreateWithFlags(&b, flags);
  }
  ~Streams() {
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
  }
};

/// Makes `later` wait for what has been asked for in `earlier`.
void wait_for(cudaStream_t later, cudaStream_t earlier) {
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, earlier);
  cudaStreamWaitEvent(later, event, 0);
  cudaEventDestroy(event);
}

int* pinned(int n) {
  int* p = nullptr;
  cudaMallocHost(&p, n * sizeof(int));
  for (int i = 0; i < n; ++i) p[i] = i;
  return p;
}

// ---------------------------------------------------------------- kernels in two streams
CASE(both_write) {
  Streams s;
  int* d = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  fill<<<1, kMany, 0, s.b>>>(d, 2, kMany);
  return finish(d);
}
CASE(both_write_right) {
  Streams s;
  int* d = zeros<int>(2 * kMany);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  fill<<<1, kMany, 0, s.b>>>(d + kMany, 2, kMany);
  return finish(d);
}
CASE(read_after_write) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}
CASE(read_after_write_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  wait_for(s.b, s.a);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}
CASE(write_after_read) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  add<<<1, kMany, 0, s.a>>>(x, y, kMany);
  fill<<<1, kMany, 0, s.b>>>(x, 1, kMany);
  return finish(x, y);
}
CASE(write_after_read_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  add<<<1, kMany, 0, s.a>>>(x, y, kMany);
  cudaStreamSynchronize(s.a);
  fill<<<1, kMany, 0, s.b>>>(x, 1, kMany);
  return finish(x, y);
}
// The event is recorded before the work that it should stand for.
CASE(event_too_early) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  wait_for(s.b, s.a);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}
CASE(event_too_early_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  wait_for(s.b, s.a);
  fill<<<1, kMany, 0, s.a>>>(y + 0 * kMany, 0, 0);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}
// Both may read.
CASE(both_read_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(2 * kMany);
  add<<<1, kMany, 0, s.a>>>(x, y, kMany);
  add<<<1, kMany, 0, s.b>>>(x, y + kMany, kMany);
  wait_for(s.a, s.b);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  return finish(x, y);
}
CASE(both_update_right) {
  Streams s;
  int* counter = zeros<int>(1);
  count<<<1, kMany, 0, s.a>>>(counter);
  count<<<1, kMany, 0, s.b>>>(counter);
  return finish(counter);
}
CASE(atomics_and_reader) {
  Streams s;
  int *counter = zeros<int>(kMany), *y = zeros<int>(kMany);
  count<<<1, kMany, 0, s.a>>>(counter);
  add<<<1, kMany, 0, s.b>>>(counter, y, kMany);
  return finish(counter, y);
}
CASE(atomics_and_reader_right) {
  Streams s;
  int *counter = zeros<int>(kMany), *y = zeros<int>(kMany);
  count<<<1, kMany, 0, s.a>>>(counter);
  add<<<1, kMany, 0, s.a>>>(counter, y, kMany);
  return finish(counter, y);
}
// Of two streams that come before, one is waited for.
CASE(two_of_three) {
  Streams s, t;
  int *x = zeros<int>(2 * kMany), *y = zeros<int>(2 * kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  fill<<<1, kMany, 0, s.b>>>(x + kMany, 2, kMany);
  wait_for(t.a, s.a);
  add<<<2, kMany, 0, t.a>>>(x, y, 2 * kMany);
  return finish(x, y);
}
CASE(two_of_three_right) {
  Streams s, t;
  int *x = zeros<int>(2 * kMany), *y = zeros<int>(2 * kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  fill<<<1, kMany, 0, s.b>>>(x + kMany, 2, kMany);
  wait_for(t.a, s.a);
  wait_for(t.a, s.b);
  add<<<2, kMany, 0, t.a>>>(x, y, 2 * kMany);
  return finish(x, y);
}
// The order goes through a third stream.
CASE(through_another_right) {
  Streams s, t;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  wait_for(s.b, s.a);
  wait_for(t.a, s.b);
  add<<<1, kMany, 0, t.a>>>(x, y, kMany);
  return finish(x, y);
}

// ---------------------------------------------------------------- a launch that is repeated
// Launches that would change nothing are not run here: who meets them is found all the same.
CASE(repeated_over_a_copy) {
  Streams s;
  int* d = zeros<int>(kMany);
  int* h = pinned(kMany);
  for (int i = 0; i < 3; ++i) {
    fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
    cudaDeviceSynchronize();
  }
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.b);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  const int failed = finish(d);
  cudaFreeHost(h);
  return failed;
}
CASE(repeated_over_a_copy_right) {
  Streams s;
  int* d = zeros<int>(kMany);
  int* h = pinned(kMany);
  for (int i = 0; i < 4; ++i) {
    fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
    wait_for(s.b, s.a);
    cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.b);
    wait_for(s.a, s.b);
  }
  const int failed = finish(d);
  cudaFreeHost(h);
  return failed;
}
/// The same launch four times, the last one of which nobody has waited for.
void fill_again_and_again(cudaStream_t stream, int* d) {
  for (int i = 0; i < 4; ++i) {
    cudaDeviceSynchronize();
    fill<<<1, kMany, 0, stream>>>(d, 1, kMany);
  }
}
int copy_after_a_repeat(bool waits) {
  Streams s;
  int* d = zeros<int>(kMany);
  int* h = pinned(kMany);
  fill_again_and_again(s.a, d);
  if (waits) cudaDeviceSynchronize();
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.b);  // finding: race-streams copied_after_a_repeat
  const int failed = finish(d);
  cudaFreeHost(h);
  return failed;
}
CASE(copied_after_a_repeat) { return copy_after_a_repeat(false); }
CASE(copied_after_a_repeat_right) { return copy_after_a_repeat(true); }
CASE(read_after_a_repeat) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany), *z = zeros<int>(kMany);
  for (int i = 0; i < 4; ++i) {
    fill<<<1, kMany, 0, s.b>>>(z, i, kMany);  // other launches in between
    cudaDeviceSynchronize();
  }
  fill_again_and_again(s.a, x);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y, z);
}
CASE(read_after_a_repeat_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany), *z = zeros<int>(kMany);
  fill_again_and_again(s.a, x);
  wait_for(s.b, s.a);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  fill<<<1, kMany, 0, s.b>>>(z, 1, kMany);  // its intervals lie after those of the launch that was repeated
  add<<<1, kMany, 0, s.a>>>(x, y, 0);
  return finish(x, y, z);
}

// ---------------------------------------------------------------- the default stream
CASE(legacy_and_nonblocking) {
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  add<<<1, kMany>>>(x, y, kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  return finish(x, y);
}
CASE(legacy_and_nonblocking_right) {  // a blocking one
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  add<<<1, kMany>>>(x, y, kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  add<<<1, kMany>>>(x, y, kMany);
  return finish(x, y);
}
CASE(legacy_between_right) {  // stands between two streams that know nothing of each other
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  fill<<<1, kMany>>>(y, 0, kMany);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}

// ---------------------------------------------------------------- copies and fills
CASE(copy_and_kernel_in) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(d, h, kMany * sizeof(int), cudaMemcpyHostToDevice, s.a);
  fill<<<1, kMany, 0, s.b>>>(d, 1, kMany);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(copy_and_kernel_in_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(d, h, kMany * sizeof(int), cudaMemcpyHostToDevice, s.a);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(copy_out_too_early) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.b);  // finding: race-streams copy_out_too_early
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(copy_out_too_early_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
// A buffer is used again before its last contents have been copied out.
CASE(copy_out_and_next) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  fill<<<1, kMany, 0, s.b>>>(d, 1, kMany);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(copy_out_and_next_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  wait_for(s.b, s.a);
  fill<<<1, kMany, 0, s.b>>>(d, 1, kMany);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(chunks_right) {
  Streams s;
  constexpr int chunks = 8;
  int *h = pinned(chunks * kMany), *d = zeros<int>(chunks * kMany);
  for (int k = 0; k < chunks; ++k) {
    const cudaStream_t stream = k % 2 ? s.a : s.b;
    cudaMemcpyAsync(d + k * kMany, h + k * kMany, kMany * sizeof(int), cudaMemcpyHostToDevice, stream);
    add<<<1, kMany, 0, stream>>>(d + k * kMany, d + k * kMany, kMany);
    cudaMemcpyAsync(h + k * kMany, d + k * kMany, kMany * sizeof(int), cudaMemcpyDeviceToHost, stream);
  }
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < chunks * kMany; ++i) wrong += h[i] != 2 * i;
  cudaFreeHost(h);
  return wrong ? 4 : finish(d);
}
CASE(two_copies) {
  Streams s;
  int *h = pinned(2 * kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(d, h, kMany * sizeof(int), cudaMemcpyHostToDevice, s.a);
  cudaMemcpyAsync(d + 10, h + kMany, 20 * sizeof(int), cudaMemcpyHostToDevice, s.b);  // finding: race-streams two_copies
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(two_copies_right) {
  Streams s;
  int *h = pinned(2 * kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(d, h, kMany * sizeof(int), cudaMemcpyHostToDevice, s.a);
  wait_for(s.b, s.a);
  cudaMemcpyAsync(d + 10, h + kMany, 20 * sizeof(int), cudaMemcpyHostToDevice, s.b);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(columns_right) {  // two parts of each row, side by side
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpy2DAsync(d, 16 * sizeof(int), h, 16 * sizeof(int), 8 * sizeof(int), 16, cudaMemcpyHostToDevice, s.a);
  cudaMemcpy2DAsync(d + 8, 16 * sizeof(int), h + 8, 16 * sizeof(int), 8 * sizeof(int), 16, cudaMemcpyHostToDevice, s.b);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(memset_and_kernel) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaMemsetAsync(x, 0, kMany * sizeof(int), s.a);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}
CASE(memset_and_kernel_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaMemsetAsync(x, 0, kMany * sizeof(int), s.a);
  cudaStreamSynchronize(s.a);
  add<<<1, kMany, 0, s.b>>>(x, y, kMany);
  return finish(x, y);
}

// ---------------------------------------------------------------- copies whose calls return before the bytes are there
__global__ void add_arrived(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] += x[i];  // finding: race-streams pageable_copy, race-streams pageable_rows
}
// An H200's kernel found old bytes after such a copy of 1 MiB in 999 of 1,000 runs (lesson 15, arrived.cu).
CASE(pageable_copy) {
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  const std::vector<int> h(kMany, 1);
  cudaMemcpy(x, h.data(), kMany * sizeof(int), cudaMemcpyHostToDevice);
  add_arrived<<<1, kMany, 0, s.a>>>(x, y, kMany);
  return finish(x, y);
}
CASE(pageable_rows) {
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  const std::vector<int> h(kMany, 1);
  cudaMemcpy2D(x, 8 * sizeof(int), h.data(), 8 * sizeof(int), 8 * sizeof(int), 16, cudaMemcpyHostToDevice);
  add_arrived<<<1, kMany, 0, s.a>>>(x, y, kMany);
  return finish(x, y);
}
CASE(pageable_copy_right) {
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  const std::vector<int> h(kMany, 1);
  cudaMemcpy(x, h.data(), kMany * sizeof(int), cudaMemcpyHostToDevice);
  cudaStreamSynchronize(nullptr);
  add_arrived<<<1, kMany, 0, s.a>>>(x, y, kMany);
  return finish(x, y);
}
CASE(pageable_rows_right) {
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  const std::vector<int> h(kMany, 1);
  cudaMemcpy2D(x, 8 * sizeof(int), h.data(), 8 * sizeof(int), 8 * sizeof(int), 16, cudaMemcpyHostToDevice);
  wait_for(s.a, nullptr);
  add_arrived<<<1, kMany, 0, s.a>>>(x, y, kMany);
  return finish(x, y);
}
CASE(pageable_copy_default_right) {  // and a stream that waits for the default one
  cudaStream_t blocking;
  cudaStreamCreate(&blocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  const std::vector<int> h(kMany, 1);
  cudaMemcpy(x, h.data(), kMany * sizeof(int), cudaMemcpyHostToDevice);
  add_arrived<<<1, kMany>>>(x, y, kMany);
  add_arrived<<<1, kMany, 0, blocking>>>(x, y, kMany);
  cudaStreamSynchronize(blocking);
  cudaStreamDestroy(blocking);
  return finish(x, y);
}
CASE(pageable_copy_knows_earlier_right) {  // it waits for what the stream had to do before
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);  // by cudaMemset: the host waits for none
  const std::vector<int> h(1, 1);
  int* z = nullptr;
  cudaMalloc(&z, sizeof(int));
  cudaMemcpy(z, h.data(), sizeof(int), cudaMemcpyHostToDevice);
  add_arrived<<<1, kMany, 0, s.a>>>(x, y, kMany);
  cudaFree(z);
  return finish(x, y);
}
CASE(pinned_copy_right) {
  Streams s(cudaStreamNonBlocking);
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany), *h = pinned(kMany);
  cudaDeviceSynchronize();
  cudaMemcpy(x, h, kMany * sizeof(int), cudaMemcpyHostToDevice);
  add_arrived<<<1, kMany, 0, s.a>>>(x, y, kMany);
  const int status = finish(x, y);
  cudaFreeHost(h);
  return status;
}

// ---------------------------------------------------------------- variables of the device
// No kernel can write a __constant__ variable, but copies do.
__constant__ int weights[2 * kMany];
__device__ int table[kMany];
__global__ void add_weights(int* out, int first) {
  out[threadIdx.x] += weights[first + threadIdx.x];  // finding: race-streams constant_too_early, race-streams constant_from_pageable
}
__global__ void add_table(int* out) {
  out[threadIdx.x] += table[threadIdx.x];  // finding: race-streams variable_too_early
}
/// The second half of `weights`, or all.
void set_weights(const int* from, int first, cudaStream_t stream) {
  cudaMemcpyToSymbolAsync(weights, from, (2 * kMany - first) * sizeof(int), first * sizeof(int), cudaMemcpyHostToDevice, stream);  // finding: race-streams constant_overwritten
}
int read_copied_constants(bool waits) {
  Streams s(cudaStreamNonBlocking);
  int *h = pinned(2 * kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  set_weights(h, 0, s.a);
  if (waits) wait_for(s.b, s.a);
  add_weights<<<1, kMany, 0, s.b>>>(y, 0);
  const int failed = finish(y);
  cudaFreeHost(h);
  return failed;
}
CASE(constant_too_early) { return read_copied_constants(false); }
CASE(constant_too_early_right) { return read_copied_constants(true); }
// The next weights come while the last ones are read; or into the other half.
int overwrite_constants(int first) {
  Streams s(cudaStreamNonBlocking);
  int *h = pinned(2 * kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) add_weights<<<1, kMany, 0, s.b>>>(y, 0);
  set_weights(h, first, s.a);
  const int failed = finish(y);
  cudaFreeHost(h);
  return failed;
}
CASE(constant_overwritten) { return overwrite_constants(0); }
CASE(constant_overwritten_right) { return overwrite_constants(kMany); }
int read_constants_from_pageable(cudaStream_t stream) {
  int *y = zeros<int>(kMany), h[kMany] = {};
  cudaDeviceSynchronize();
  cudaMemcpyToSymbol(weights, h, sizeof h);
  add_weights<<<1, kMany, 0, stream>>>(y, 0);
  return finish(y);
}
CASE(constant_from_pageable) { return read_constants_from_pageable(Streams(cudaStreamNonBlocking).a); }
CASE(constant_from_pageable_right) { return read_constants_from_pageable(Streams().a); }
int read_copied_variable(bool waits) {
  Streams s(cudaStreamNonBlocking);
  int *h = pinned(kMany), *y = zeros<int>(kMany);
  cudaDeviceSynchronize();
  cudaMemcpyToSymbolAsync(table, h, sizeof table, 0, cudaMemcpyHostToDevice, s.a);
  if (waits) wait_for(s.b, s.a);
  add_table<<<1, kMany, 0, s.b>>>(y);
  const int failed = finish(y);
  cudaFreeHost(h);
  return failed;
}
CASE(variable_too_early) { return read_copied_variable(false); }
CASE(variable_too_early_right) { return read_copied_variable(true); }

// ---------------------------------------------------------------- memory of streams
CASE(allocated_elsewhere) {
  Streams s;
  int* d = nullptr;
  cudaMallocAsync(&d, kMany * sizeof(int), s.a);
  fill<<<1, kMany, 0, s.b>>>(d, 1, kMany);
  return finish(d);
}
CASE(allocated_elsewhere_right) {
  Streams s;
  int* d = nullptr;
  cudaMallocAsync(&d, kMany * sizeof(int), s.a);
  wait_for(s.b, s.a);
  fill<<<1, kMany, 0, s.b>>>(d, 1, kMany);
  wait_for(s.a, s.b);
  cudaFreeAsync(d, s.a);
  return finish();
}
CASE(freed_while_used) {
  Streams s;
  int* d = nullptr;
  cudaMallocAsync(&d, kMany * sizeof(int), s.a);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  cudaFreeAsync(d, s.b);  // finding: race-streams freed_while_used
  return finish();
}
CASE(freed_while_used_right) {
  Streams s;
  int* d = nullptr;
  cudaMallocAsync(&d, kMany * sizeof(int), s.a);
  fill<<<1, kMany, 0, s.a>>>(d, 1, kMany);
  cudaFreeAsync(d, s.a);
  return finish();
}

// ---------------------------------------------------------------- the host
CASE(read_before_copied) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  const int first = h[0];  // finding: host-too-early read_before_copied
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return first ? 4 : finish(d);
}
CASE(read_before_copied_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  cudaStreamSynchronize(s.a);
  const int first = h[0];
  cudaFreeHost(h);
  return first ? 4 : finish(d);
}
CASE(waits_for_another) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  cudaStreamSynchronize(s.b);
  const int first = h[0];  // finding: host-too-early waits_for_another
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return first ? 4 : finish(d);
}
CASE(waits_for_another_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  wait_for(s.b, s.a);
  cudaStreamSynchronize(s.b);
  const int first = h[0];
  cudaFreeHost(h);
  return first ? 4 : finish(d);
}
CASE(written_before_copied) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(d, h, kMany * sizeof(int), cudaMemcpyHostToDevice, s.a);
  h[0] = 5;  // finding: host-too-early written_before_copied
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return finish(d);
}
CASE(written_before_copied_right) {
  Streams s;
  int *h = pinned(2 * kMany), *d = zeros<int>(kMany);
  cudaMemcpyAsync(d, h, kMany * sizeof(int), cudaMemcpyHostToDevice, s.a);
  const int first = h[0];  // reading is no harm
  h[kMany] = 5;            // nor is the next buffer
  cudaEvent_t copied;
  cudaEventCreate(&copied);
  cudaEventRecord(copied, s.a);
  cudaEventSynchronize(copied);
  h[0] = 5;
  cudaEventDestroy(copied);
  cudaFreeHost(h);
  return first ? 4 : finish(d);
}
CASE(registered_too_early) {
  Streams s;
  static int h[kMany];
  int* d = zeros<int>(kMany);
  cudaHostRegister(h, sizeof h, cudaHostRegisterDefault);
  cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s.a);
  const int first = h[0];  // finding: host-too-early registered_too_early
  cudaDeviceSynchronize();
  cudaHostUnregister(h);
  return first ? 4 : finish(d);
}
CASE(registered_too_early_right) {
  Streams s;
  static int h[kMany];
  int* d = zeros<int>(kMany);
  cudaHostRegister(h, sizeof h, cudaHostRegisterDefault);
  cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s.a);
  cudaStreamSynchronize(s.a);
  const int first = h[0];
  cudaHostUnregister(h);
  return first ? 4 : finish(d);
}
CASE(pageable_right) {  // such a copy returns when it is done
  Streams s;
  int h[kMany];
  int* d = zeros<int>(kMany);
  cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s.a);
  return h[0] ? 4 : finish(d);
}
CASE(managed_too_early) {
  int* m = nullptr;
  cudaMallocManaged(&m, kMany * sizeof(int));
  fill<<<1, kMany>>>(m, 0, kMany);
  const int first = m[0];  // finding: host-too-early managed_too_early
  return first ? 4 : finish(m);
}
CASE(managed_too_early_right) {
  int *m = nullptr, *other = nullptr;
  cudaMallocManaged(&m, kMany * sizeof(int));
  cudaMallocManaged(&other, kMany * sizeof(int));
  fill<<<1, kMany>>>(m, 0, kMany);
  other[0] = 1;
  cudaDeviceSynchronize();
  const int first = m[0];
  return first ? 4 : finish(m, other);
}
CASE(managed_written_while_read) {
  int *m = nullptr, *y = zeros<int>(kMany);
  cudaMallocManaged(&m, kMany * sizeof(int));
  for (int i = 0; i < kMany; ++i) m[i] = i;
  add<<<1, kMany>>>(m, y, kMany);
  m[3] = 7;  // finding: host-too-early managed_written_while_read
  return finish(m, y);
}
CASE(managed_written_while_read_right) {
  int *m = nullptr, *y = zeros<int>(kMany);
  cudaMallocManaged(&m, kMany * sizeof(int));
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < kMany; ++i) m[i] = i;
    add<<<1, kMany>>>(m, y, kMany);
    const int third = m[3];
    cudaDeviceSynchronize();
    m[3] = third;
  }
  return finish(m, y);
}
__managed__ int variable[kMany];
CASE(managed_variable_too_early) {
  fill<<<1, kMany>>>(variable, 0, kMany);
  const int first = variable[0];  // finding: host-too-early managed_variable_too_early
  return first ? 4 : finish();
}
CASE(managed_variable_too_early_right) {
  fill<<<1, kMany>>>(variable, 0, kMany);
  cudaDeviceSynchronize();
  return variable[0] ? 4 : finish();
}
struct Sum {
  int* numbers;
  int n, sum;
};
void add_up(void* data) {
  auto& job = *static_cast<Sum*>(data);
  for (int i = 0; i < job.n; ++i) job.sum += job.numbers[i];  // finding: host-too-early host_function_elsewhere
}
CASE(host_function_elsewhere_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  Sum job{h, kMany, 0};
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  cudaLaunchHostFunc(s.a, add_up, &job);
  cudaStreamSynchronize(s.a);
  cudaFreeHost(h);
  return job.sum ? 4 : finish(d);
}
// A host function tells a thread that works with the result.
CASE(host_function_tells_a_thread_right) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  static std::atomic<bool> copied{false};
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  int sum = 0;
  std::thread waits([&] {
    while (!copied) std::this_thread::yield();
    for (int i = 0; i < kMany; ++i) sum += h[i];
  });
  cudaLaunchHostFunc(s.a, [](void*) { copied = true; }, nullptr);
  waits.join();
  cudaFreeHost(h);
  return sum ? 4 : finish(d);
}
CASE(host_function_elsewhere) {
  Streams s;
  int *h = pinned(kMany), *d = zeros<int>(kMany);
  Sum job{h, kMany, 0};
  cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, s.a);
  cudaLaunchHostFunc(s.b, add_up, &job);
  cudaDeviceSynchronize();
  cudaFreeHost(h);
  return job.sum ? 4 : finish(d);
}

// ---------------------------------------------------------------- events
CASE(elapsed_too_early) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  int* d = zeros<int>(kMany);
  cudaEventRecord(begin);
  fill<<<1, kMany>>>(d, 1, kMany);
  cudaEventRecord(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);  // finding: event-not-ready elapsed_too_early
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return finish(d);
}
CASE(elapsed_too_early_right) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  int* d = zeros<int>(kMany);
  cudaEventRecord(begin);
  fill<<<1, kMany>>>(d, 1, kMany);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return finish(d);
}

// ---------------------------------------------------------------- graphs
/// A graph of `work(stream, other)`, captured in a stream that another one has joined.
template <class Work>
cudaGraphExec_t graph_of(Work work) {
  Streams s(cudaStreamNonBlocking);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
  wait_for(s.b, s.a);
  work(s.a, s.b);
  wait_for(s.a, s.b);
  cudaStreamEndCapture(s.a, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  return exec;
}
int launch(cudaGraphExec_t exec, cudaStream_t stream, int times) {
  for (int i = 0; i < times; ++i) cudaGraphLaunch(exec, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 5;
}
CASE(branches_of_a_graph) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  const auto exec = graph_of([=](cudaStream_t a, cudaStream_t b) {
    fill<<<1, kMany, 0, a>>>(x, 1, kMany);
    add<<<1, kMany, 0, b>>>(x, y, kMany);
  });
  const int failed = launch(exec, s.a, 1);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  return failed ? failed : finish(x, y);
}
CASE(branches_of_a_graph_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  const auto exec = graph_of([=](cudaStream_t a, cudaStream_t b) {
    fill<<<1, kMany, 0, a>>>(x, 1, kMany);
    wait_for(b, a);
    add<<<1, kMany, 0, b>>>(x, y, kMany);
  });
  const int failed = launch(exec, s.a, 3);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  return failed ? failed : finish(x, y);
}
CASE(work_beside_a_graph) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  const auto exec = graph_of([=](cudaStream_t a, cudaStream_t) { add<<<1, kMany, 0, a>>>(x, y, kMany); });
  const int failed = launch(exec, s.a, 1);
  fill<<<1, kMany, 0, s.b>>>(x, 1, kMany);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  return failed ? failed : finish(x, y);
}
CASE(work_beside_a_graph_right) {
  Streams s;
  int *x = zeros<int>(kMany), *y = zeros<int>(kMany);
  const auto exec = graph_of([=](cudaStream_t a, cudaStream_t) { add<<<1, kMany, 0, a>>>(x, y, kMany); });
  const int failed = launch(exec, s.a, 1);
  fill<<<1, kMany, 0, s.a>>>(x, 1, kMany);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  return failed ? failed : finish(x, y);
}
/// A graph of a copy to `h`, made by hand or captured, is launched. Its first word after that, as the host sees it.
int launch_copy_out(int* h, bool by_hand, bool waits) {
  Streams s;
  int* d = zeros<int>(kMany);
  cudaDeviceSynchronize();
  cudaGraphExec_t exec = nullptr;
  if (by_hand) {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
  } else {
    exec = graph_of([=](cudaStream_t a, cudaStream_t) {
      cudaMemcpyAsync(h, d, kMany * sizeof(int), cudaMemcpyDeviceToHost, a);
    });
  }
  const int failed = launch(exec, s.a, 1);
  if (waits) cudaStreamSynchronize(s.a);
  const int first = h[0];  // finding: host-too-early graph_copies_out, host-too-early captured_copies_out
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  return failed + first + finish(d);
}
int launch_copy_to_pinned(bool by_hand, bool waits) {
  int* h = pinned(kMany);
  const int failed = launch_copy_out(h, by_hand, waits);
  cudaFreeHost(h);
  return failed;
}
CASE(graph_copies_out) { return launch_copy_to_pinned(true, false); }
CASE(graph_copies_out_right) { return launch_copy_to_pinned(true, true); }
CASE(captured_copies_out) { return launch_copy_to_pinned(false, false); }
CASE(captured_copies_out_right) { return launch_copy_to_pinned(false, true); }
// An H200's cudaGraphLaunch returns when such a copy is done, as cudaMemcpyAsync does.
CASE(graph_copies_to_pageable_right) {
  std::vector<int> h(kMany);
  return launch_copy_out(h.data(), true, false) + launch_copy_out(h.data(), false, false);
}
