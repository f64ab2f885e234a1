// Asynchronous copies: groups, waits, and who may touch what meanwhile.
#include <cuda_pipeline.h>

#include "cases.hpp"

constexpr int kThreads = 64;

/// Device memory of `n` numbers 1, 2, 3 ...
static float* numbers(int n) {
  float* host = new float[n];
  for (int i = 0; i < n; ++i) host[i] = float(i + 1);
  float* d = nullptr;
  cudaMalloc(&d, n * sizeof(float));
  cudaMemcpy(d, host, n * sizeof(float), cudaMemcpyHostToDevice);
  delete[] host;
  return d;
}

/// Waits, and says whether d[0 .. n) is first, first + 1, ...: what a copy that was not waited for has not brought is missing.
static int expect(float* d, int n, float first) {
  float* host = new float[n];
  const bool copied = cudaMemcpy(host, d, n * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess;
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[i] != first + float(i);
  delete[] host;
  return !copied ? 3 : wrong != 0 ? 4 : 0;
}

// ---------------------------------------------------------------- one copy
enum class Wait { right, none, no_commit, commit_behind, no_barrier };
template <Wait wait>
__global__ void reverse(const float* in, float* out) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4);
  if (wait != Wait::no_commit && wait != Wait::commit_behind) __pipeline_commit();
  if (wait != Wait::none) __pipeline_wait_prior(0);
  if (wait == Wait::commit_behind) __pipeline_commit();
  if (wait != Wait::no_barrier) __syncthreads();
  out[t] = s[kThreads - 1 - t];  // finding: async-in-flight no_wait, async-in-flight no_commit, async-in-flight commit_behind_wait, race-shared no_barrier
}
template <Wait wait>
static int reverse_all() {
  float *in = numbers(kThreads), *out = zeros<float>(kThreads);
  reverse<wait><<<1, kThreads>>>(in, out);
  reverse<wait><<<1, kThreads>>>(out, in);
  const int result = wait == Wait::right ? expect(in, kThreads, 1) : 0;
  return result + finish(in, out);
}
CASE(no_wait) { return reverse_all<Wait::none>(); }
CASE(no_wait_right) { return reverse_all<Wait::right>(); }
CASE(no_commit) { return reverse_all<Wait::no_commit>(); }
CASE(no_commit_right) { return reverse_all<Wait::right>(); }
CASE(commit_behind_wait) { return reverse_all<Wait::commit_behind>(); }
CASE(commit_behind_wait_right) { return reverse_all<Wait::right>(); }
CASE(no_barrier) { return reverse_all<Wait::no_barrier>(); }
CASE(no_barrier_right) { return reverse_all<Wait::right>(); }

// A thread that reads what it has copied itself needs no barrier, but the wait.
template <bool kRight>
__global__ void own_word(const float* in, float* out) {
  __shared__ float s[kThreads];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  if (kRight) __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];  // finding: async-in-flight own
}
CASE(own) { float *in = numbers(kThreads), *out = zeros<float>(kThreads); own_word<false><<<1, kThreads>>>(in, out); return finish(in, out); }
CASE(own_right) {
  float *in = numbers(kThreads), *out = zeros<float>(kThreads);
  own_word<true><<<1, kThreads>>>(in, out);
  return expect(out, kThreads, 1) + finish(in, out);
}

// Within one warp the barrier may be that of the warp.
template <bool kRight>
__global__ void neighbour(const float* in, float* out) {
  __shared__ float s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (kRight) __syncwarp();
  out[threadIdx.x] = s[31 - threadIdx.x];  // finding: warp-synchronous warp_without_barrier
}
CASE(warp_without_barrier) { float *in = numbers(32), *out = zeros<float>(32); neighbour<false><<<1, 32>>>(in, out); return finish(in, out); }
CASE(warp_without_barrier_right) { float *in = numbers(32), *out = zeros<float>(32); neighbour<true><<<1, 32>>>(in, out); return finish(in, out); }

// ---------------------------------------------------------------- several stages
// Sums of the columns of a matrix of 64 columns, `stages` - 1 rows ahead.
template <int stages, int left, int late, bool barrier>
__global__ void columns(const float* in, float* out, int rows) {
  __shared__ float s[stages][kThreads];
  const int t = threadIdx.x, from = (t + 1) % kThreads;
  for (int r = 0; r < stages - 1; ++r) {
    if (r < rows) __pipeline_memcpy_async(&s[r][t], &in[r * kThreads + t], 4);
    __pipeline_commit();
  }
  float sum = 0;
  for (int r = 0; r < rows; ++r) {
    __pipeline_wait_prior(left);
    __syncthreads();
    const int next = r + stages - 1;
    if (barrier && next < rows) __pipeline_memcpy_async(&s[(next + late) % stages][t], &in[next * kThreads + t], 4);  // finding: race-shared wrong_stage
    if (barrier) __pipeline_commit();
    sum += s[r % stages][from];  // finding: async-in-flight wait_too_weak
    if (!barrier && next < rows) __pipeline_memcpy_async(&s[next % stages][t], &in[next * kThreads + t], 4);
    if (!barrier) __pipeline_commit();
  }
  out[from] = sum;
}
template <int stages, int left, int late = 0, bool barrier = true>
static int sum_columns() {
  const int rows = 7;
  float *in = numbers(rows * kThreads), *out = zeros<float>(kThreads), sums[kThreads];
  columns<stages, left, late, barrier><<<1, kThreads>>>(in, out, rows);
  if (finish() != 0) return 3;
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int t = 0; t < kThreads; ++t) {
    float sum = 0;
    for (int r = 0; r < rows; ++r) sum += float(r * kThreads + t + 1);
    wrong += sums[t] != sum;
  }
  return finish(in, out) + (wrong != 0 ? 4 : 0);
}
CASE(wait_too_weak) { return sum_columns<3, 2>() == 4 ? 0 : 5; }  // the sums are wrong, too
CASE(wait_too_weak_right) { return sum_columns<3, 1>() + sum_columns<2, 0>() + sum_columns<4, 2>() + sum_columns<4, 0>(); }
CASE(wrong_stage) { sum_columns<3, 1, 1>(); return 0; }
CASE(wrong_stage_right) { return sum_columns<3, 1>(); }
// The copy after the sum goes where another warp, which is a row behind, may still be reading; with two stages only.
template <bool kRight>
__global__ void two_stages(const float* in, float* out, int rows) {
  __shared__ float s[2][kThreads];
  const int t = threadIdx.x, from = kThreads - 1 - t;
  __pipeline_memcpy_async(&s[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0;
  for (int r = 0; r < rows; ++r) {
    if (r + 1 < rows) __pipeline_memcpy_async(&s[(r + 1) % 2][t], &in[(r + 1) * kThreads + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[r % 2][from];  // finding: race-shared no_second_barrier
    if (kRight) __syncthreads();
  }
  out[from] = sum;
}
CASE(no_second_barrier) { float *in = numbers(256), *out = zeros<float>(kThreads); two_stages<false><<<1, kThreads>>>(in, out, 4); return finish(in, out); }
CASE(no_second_barrier_right) { float *in = numbers(256), *out = zeros<float>(kThreads); two_stages<true><<<1, kThreads>>>(in, out, 4); return finish(in, out); }

// More than eight groups left are eight.
__global__ void many_groups(const float* in, float* out, int left) {
  __shared__ float s[10];
  for (int i = 0; i < 10; ++i) {
    __pipeline_memcpy_async(&s[i], &in[i], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(left);
  out[0] = s[0];
  out[1] = s[1] + (left > 8 ? 0 : s[2]);  // finding: async-in-flight eight_left
}
CASE(eight_left) { float *in = numbers(10), *out = zeros<float>(2); many_groups<<<1, 1>>>(in, out, 8); return finish(in, out); }
CASE(eight_left_right) { float *in = numbers(10), *out = zeros<float>(2); many_groups<<<1, 1>>>(in, out, 12); return finish(in, out) + 0; }

// ---------------------------------------------------------------- who comes between
template <bool kRight>
__global__ void cleared(const float* in, float* out) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  if (kRight) s[t] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &in[t], 4);
  __pipeline_commit();
  if (!kRight) s[t] = 0;  // finding: async-in-flight target_written
  __pipeline_wait_prior(0);
  out[t] = s[t];
}
CASE(target_written) { float *in = numbers(kThreads), *out = zeros<float>(kThreads); cleared<false><<<1, kThreads>>>(in, out); return finish(in, out); }
CASE(target_written_right) { float *in = numbers(kThreads), *out = zeros<float>(kThreads); cleared<true><<<1, kThreads>>>(in, out); return finish(in, out); }

template <bool kRight>
__global__ void twice_as_much(float* data) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &data[t], 4);
  __pipeline_commit();
  if (kRight) __pipeline_wait_prior(0);
  data[t] *= 2;  // finding: async-in-flight source_written
  __pipeline_wait_prior(0);
  data[t] += s[t];
}
CASE(source_written) { float* d = numbers(kThreads); twice_as_much<false><<<1, kThreads>>>(d); return finish(d); }
CASE(source_written_right) { float* d = numbers(kThreads); twice_as_much<true><<<1, kThreads>>>(d); return finish(d); }

// Another thread writes the source after the copier's wait, and no barrier stands between.
template <bool kRight>
__global__ void rotate(float* data) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &data[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (kRight) __syncthreads();
  data[(t + 32) % kThreads] = s[t];  // finding: race-global source_of_another
}
CASE(source_of_another) { float* d = numbers(kThreads); rotate<false><<<1, kThreads>>>(d); return finish(d); }
CASE(source_of_another_right) { float* d = numbers(kThreads); rotate<true><<<1, kThreads>>>(d); return finish(d); }

template <bool kRight>
__global__ void two_into_one(const float* in, float* out) {
  __shared__ float s[2];
  __pipeline_memcpy_async(&s[0], &in[0], 4);
  if (kRight) __pipeline_commit();
  if (kRight) __pipeline_wait_prior(0);
  __pipeline_memcpy_async(&s[0], &in[1], 4);  // finding: async-in-flight same_target
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[0] = s[0];
}
CASE(same_target) { float *in = numbers(2), *out = zeros<float>(1); two_into_one<false><<<1, 1>>>(in, out); return finish(in, out); }
CASE(same_target_right) { float *in = numbers(2), *out = zeros<float>(1); two_into_one<true><<<1, 1>>>(in, out); return finish(in, out); }

// ---------------------------------------------------------------- addresses and sizes
template <int bytes>
__global__ void copy_one(const char* in, float* out, int to, int from, int zfill) {
  __shared__ __align__(16) char s[64];
  __pipeline_memcpy_async(s + to, in + from, bytes, zfill);  // finding: misaligned misaligned_target, misaligned misaligned_source, async-size zfill_too_large, out-of-bounds-shared past_target, out-of-bounds past_source, async-size twelve_bytes, uninitialised unwritten_source
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < bytes / 4; ++i) out[i] = reinterpret_cast<float*>(s + to)[i];  // finding: out-of-bounds-shared past_target
}
template <int bytes>
static int copy_one_of(float* in, int to, int from, int zfill, const float (&expected)[4]) {
  float *out = zeros<float>(4), host[4];
  copy_one<bytes><<<1, 1>>>(reinterpret_cast<const char*>(in), out, to, from, zfill);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  const int wrong = std::memcmp(host, expected, sizeof host) != 0 ? 4 : 0;
  return wrong + finish(in, out);
}
CASE(misaligned_target) { return copy_one_of<16>(numbers(8), 8, 0, 0, {}); }
CASE(misaligned_target_right) { return copy_one_of<8>(numbers(8), 8, 0, 0, {1, 2, 0, 0}); }
CASE(misaligned_source) { return copy_one_of<8>(numbers(8), 0, 4, 0, {}); }
CASE(misaligned_source_right) { return copy_one_of<4>(numbers(8), 0, 4, 0, {2, 0, 0, 0}); }
CASE(zfill_too_large) { return copy_one_of<8>(numbers(8), 0, 0, 12, {}); }
CASE(zfill_too_large_right) {
  return copy_one_of<8>(numbers(8), 0, 0, 8, {0, 0, 0, 0}) + copy_one_of<16>(numbers(8), 0, 16, 4, {5, 6, 7, 0}) +
         copy_one_of<16>(numbers(8), 16, 16, 12, {5, 0, 0, 0}) + copy_one_of<16>(numbers(8), 0, 0, 0, {1, 2, 3, 4});
}
CASE(past_target) { return copy_one_of<8>(numbers(8), 64, 0, 0, {}); }
CASE(past_target_right) { return copy_one_of<8>(numbers(8), 56, 0, 0, {1, 2, 0, 0}); }
CASE(past_source) { copy_one_of<8>(numbers(8), 0, 32, 0, {}); return 0; }
CASE(past_source_right) {  // what is filled with zeros is not read
  return copy_one_of<8>(numbers(8), 0, 32, 8, {}) + copy_one_of<16>(numbers(6), 0, 16, 8, {5, 6, 0, 0}) +
         copy_one_of<16>(nullptr, 0, 0, 16, {});
}
CASE(twelve_bytes) { return copy_one_of<12>(numbers(8), 0, 0, 0, {}); }
CASE(twelve_bytes_right) { return copy_one_of<16>(numbers(8), 0, 0, 4, {1, 2, 3, 0}); }
CASE(unwritten_source) { float* in = nullptr; cudaMalloc(&in, 32); copy_one_of<4>(in, 0, 0, 0, {}); return 0; }
CASE(unwritten_source_right) { float* in = nullptr; cudaMalloc(&in, 32); return copy_one_of<4>(in, 0, 0, 4, {}); }

template <bool kRight>
__global__ void to_global(const float* in, float* out) {
  __shared__ float s[1];
  __pipeline_memcpy_async(kRight ? s : out, in, 4);  // finding: async-memory wrong_target
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (kRight) out[0] = s[0];
}
CASE(wrong_target) { float *in = numbers(2), *out = zeros<float>(1); to_global<false><<<1, 1>>>(in, out); return finish(in, out); }
CASE(wrong_target_right) { float *in = numbers(2), *out = zeros<float>(1); to_global<true><<<1, 1>>>(in, out); return finish(in, out); }

template <bool kRight>
__global__ void from_shared(const float* in, float* out) {
  __shared__ float s[2];
  if (threadIdx.x == 0) s[1] = in[0];
  __pipeline_memcpy_async(&s[0], kRight ? in : &s[1], 4);  // finding: async-memory wrong_source
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[0] = s[0];
}
CASE(wrong_source) { float *in = numbers(2), *out = zeros<float>(1); from_shared<false><<<1, 1>>>(in, out); return finish(in, out); }
CASE(wrong_source_right) { float *in = numbers(2), *out = zeros<float>(1); from_shared<true><<<1, 1>>>(in, out); return finish(in, out); }

// ---------------------------------------------------------------- silent
// Copies that nobody reads need no wait; threads may leave with copies in flight; two threads may copy from one word.
__global__ void unread(const float* in, float* out) {
  __shared__ float s[kThreads];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x / 2], 4);
  __pipeline_commit();
  if (threadIdx.x == 0) out[0] = in[0];
}
CASE(unread_right) { float *in = numbers(kThreads), *out = zeros<float>(1); unread<<<3, kThreads>>>(in, out); return finish(in, out); }
