// Small kernels of which nvcc executes fewer instructions than are written, or just as many, for a reason each. One warp runs
// each of them. What nvcc makes of them is in sass.txt, which common/scripts/record/record-sass.sh writes.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace as_compiled {

constexpr int kTrips = 27;  // what `n` is: six times four, and three

// ------------------------------------------------------------------------------------------------ merged, or not
__global__ void row_of_a_tile(const float* a, const float*, float* o, int) {
  __shared__ float s[32][32];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x][k];
  o[threadIdx.x] = sum;
}

__global__ void row_of_33(const float* a, const float*, float* o, int) {
  __shared__ float s[32][33];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x][k];
  o[threadIdx.x] = sum;
}

__global__ void row_of_34(const float* a, const float*, float* o, int) {
  __shared__ float s[32][34];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x][k];
  o[threadIdx.x] = sum;
}

__global__ void row_kept(const float* a, const float*, float* o, int) {
  __shared__ float s[32][32];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x][k];
  o[threadIdx.x] = sum;
}

__global__ void row_to_n(const float* a, const float*, float* o, int n) {
  __shared__ float s[32][32];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += s[threadIdx.x][k];
  o[threadIdx.x] = sum;
}

__global__ void row_of_n(const float* a, const float*, float* o, int n) {
  __shared__ float s[32 * 32];
  for (int i = 0; i < 32; ++i) s[i * 32 + threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += s[threadIdx.x / 16 * (n - 11) + k];  // rows of 16, but only the launch knows
  o[threadIdx.x] = sum;
}

__global__ void row_of_the_dynamic_array(const float* a, const float*, float* o, int) {
  extern __shared__ float s[];
  for (int i = 0; i < 32; ++i) s[i * 32 + threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x * 32 + k];
  o[threadIdx.x] = sum;
}

__global__ void nine_weights(const float* a, const float* b, float* o, int) {
  __shared__ float w[9];
  if (threadIdx.x < 9) w[threadIdx.x] = b[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 9; ++k) sum += w[k] * a[threadIdx.x + k];
  o[threadIdx.x] = sum;
}

__global__ void volatile_row(const float* a, const float*, float* o, int) {
  __shared__ volatile float s[32][32];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x][k];
  o[threadIdx.x] = sum;
}

__global__ void stored_rows(const float* a, const float*, float* o, int) {
  __shared__ float s[32][8];
#pragma unroll
  for (int k = 0; k < 8; ++k) s[threadIdx.x][k] = a[threadIdx.x + 32 * k];
  __syncthreads();
  o[threadIdx.x] = s[31 - threadIdx.x][threadIdx.x % 8];
}

__global__ void store_between(const float* a, const float*, float* o, int) {
  __shared__ float s[128];
  for (int i = 0; i < 4; ++i) s[threadIdx.x + 32 * i] = a[threadIdx.x + i];
  __syncthreads();
  const float x = s[threadIdx.x * 4], y = s[threadIdx.x * 4 + 1];
  s[(threadIdx.x * 7 + 3) % 128] = x;
  const float z = s[threadIdx.x * 4 + 2], w = s[threadIdx.x * 4 + 3];
  o[threadIdx.x] = x + y + z + w;
}

__global__ void register_tile(const float* a, const float*, float* o, int) {
  __shared__ float s[2][128];
  for (int i = 0; i < 4; ++i) {
    s[0][threadIdx.x + 32 * i] = a[threadIdx.x + i];
    s[1][threadIdx.x + 32 * i] = a[threadIdx.x + 32 + i];
  }
  __syncthreads();
  float sum[4][4] = {};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum[i][j] += s[0][threadIdx.x * 4 + i] * s[1][124 - threadIdx.x * 4 + j];
  float all = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) all = all * 3 + sum[i][j];
  o[threadIdx.x] = all;
}

__global__ void floats_of_global_memory(const float* a, const float*, float* o, int) {
  o[threadIdx.x] = a[threadIdx.x * 4] + a[threadIdx.x * 4 + 1] + a[threadIdx.x * 4 + 2] + a[threadIdx.x * 4 + 3];
}

__global__ void members(const float* a, const float*, float* o, int) {
  const float4* p = reinterpret_cast<const float4*>(a);
  o[threadIdx.x] = p[threadIdx.x].x + p[threadIdx.x].y + p[threadIdx.x].z + p[threadIdx.x].w;
}

__global__ void three_members(const float* a, const float*, float* o, int) {
  const float4* p = reinterpret_cast<const float4*>(a);
  o[threadIdx.x] = p[threadIdx.x].x + p[threadIdx.x].y + p[threadIdx.x].z;
}

__global__ void referred_members(const float* a, const float*, float* o, int) {
  const float4* p = reinterpret_cast<const float4*>(a);
  const float4 &u = p[threadIdx.x], &v = *reinterpret_cast<const float4*>(a + 4 * threadIdx.x + 512);
  o[threadIdx.x] = u.x + v.y * u.z + v.x + u.y * v.z + u.w + v.w;
}

__global__ void last_members(const float* a, const float*, float* o, int) {
  const float4* p = reinterpret_cast<const float4*>(a);
  o[threadIdx.x] = p[threadIdx.x].y + p[threadIdx.x].z + p[threadIdx.x].w;
}

__global__ void stored_members(const float*, const float*, float* o, int n) {
  float4* p = reinterpret_cast<float4*>(o);
  const float f = static_cast<float>(n);
  p[threadIdx.x].x = f;
  p[threadIdx.x].y = f + 1;
  p[threadIdx.x].z = f + 2;
  p[threadIdx.x].w = f + 3;
}

struct Pair {
  float x, y;
};

__global__ void members_of_four_bytes(const float* a, const float*, float* o, int) {
  const Pair* p = reinterpret_cast<const Pair*>(a);
  o[threadIdx.x] = p[threadIdx.x].x + p[threadIdx.x].y;
}

__global__ void moved_points(const float* a, const float*, float* o, int n) {
  float4* p = reinterpret_cast<float4*>(o);
  const float4* v = reinterpret_cast<const float4*>(a);
  const float dt = static_cast<float>(n);
  p[threadIdx.x].x += v[threadIdx.x].x * dt;
  p[threadIdx.x].y += v[threadIdx.x].y * dt;
  p[threadIdx.x].z += v[threadIdx.x].z * dt;
}

// ------------------------------------------------------------------------------------------------ moved out of a loop, or not
__global__ void bound_of_the_loop(const float* a, const float* b, float* o, int) {
  const int* length = reinterpret_cast<const int*>(b);  // kTrips everywhere
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < length[threadIdx.x]; ++k) sum += a[k * 32 + threadIdx.x];
  o[threadIdx.x] = sum;
}

__global__ void factor(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += a[k * 32 + threadIdx.x] * b[threadIdx.x];
  o[threadIdx.x] = sum;
}

__global__ void volatile_factor(const float* a, const volatile float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += a[k * 32 + threadIdx.x] * b[threadIdx.x];
  o[threadIdx.x] = sum;
}

__global__ void factor_and_store(const float* a, const float* b, float* o, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) o[k * 32 + threadIdx.x] = a[k * 32 + threadIdx.x] * b[threadIdx.x];
}

__global__ void factor_and_restricted_store(const float* a, const float* b, float* __restrict__ o, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) o[k * 32 + threadIdx.x] = a[k * 32 + threadIdx.x] * b[threadIdx.x];
}

__global__ void factor_and_shared_store(const float* a, const float* b, float* o, int n) {
  __shared__ float s[32];
#pragma unroll 1
  for (int k = 0; k < n; ++k) s[(threadIdx.x + k) % 32] = a[k * 32 + threadIdx.x] * b[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}

__global__ void factor_and_atomic(const float* a, const float* b, float* o, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) atomicAdd(&o[k], a[k * 32 + threadIdx.x] * b[threadIdx.x]);
}

__global__ void factor_and_barrier(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    sum += a[k * 32 + threadIdx.x] * b[threadIdx.x];
    __syncthreads();
  }
  o[threadIdx.x] = sum;
}

__global__ void factor_and_syncwarp(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    sum += a[k * 32 + threadIdx.x] * b[threadIdx.x];
    __syncwarp();
  }
  o[threadIdx.x] = sum;
}

__global__ void factor_and_shuffle(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    sum += a[k * 32 + threadIdx.x] * b[threadIdx.x];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  }
  o[threadIdx.x] = sum;
}

__device__ __noinline__ float called(const float* a, int i) { return a[i] + 1; }

__global__ void factor_and_call(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += called(a, k * 32 + threadIdx.x) * b[threadIdx.x];
  o[threadIdx.x] = sum;
}

__global__ void factor_of_some(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k)
    if (a[k * 32 + threadIdx.x] > static_cast<float>(k)) sum += b[threadIdx.x];
  o[threadIdx.x] = sum;
}

__global__ void sum_in_memory(const float* a, const float*, float* o, int n) {
  o[threadIdx.x] = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) o[threadIdx.x] += a[k * 32 + threadIdx.x];
}

__global__ void sum_in_restricted_memory(const float* __restrict__ a, const float*, float* __restrict__ o, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) o[threadIdx.x] += a[k * 32 + threadIdx.x];
}

__global__ void two_loops(const float* a, const float* b, float* o, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k)
#pragma unroll 1
    for (int j = 0; j < n; ++j) sum += a[threadIdx.x] * b[j * 32 + k];
  o[threadIdx.x] = sum;
}

// A promise says what the type does not.
__global__ void promised_words(const float* a, const float*, float* o, int) {
  const float* p = static_cast<const float*>(__builtin_assume_aligned(a, 16)) + 4 * threadIdx.x;
  o[threadIdx.x] = p[0] + p[1] + p[2] + p[3];
}

__global__ void promised_bytes(const float* a, const float*, float* o, int) {
  float words[4];
  memcpy(words, __builtin_assume_aligned(a + 4 * threadIdx.x, 16), 16);
  o[threadIdx.x] = words[0] + words[1] + words[2] + words[3];
}

__global__ void pointer_in_parentheses(const float* a, const float*, float* o, int) {
  const float4* p = reinterpret_cast<const float4*>(a);
  o[threadIdx.x] = (p)[threadIdx.x].x + (p)[threadIdx.x].y + (p)[threadIdx.x].z + (p)[threadIdx.x].w;
}

struct View {
  const float4* first;
  __device__ const float4& operator[](int i) const { return first[i]; }
};

__global__ void members_in_a_view(const float* a, const float*, float* o, int) {
  const View v{reinterpret_cast<const float4*>(a)};
  const int i = threadIdx.x;
  o[i] = v[i].x + v[i].y + v[i].z + v[i].w;
}

// A struct of the program's own, copied before its members are used: by a pointer and by casts.
struct alignas(16) Quad {
  float x, y, z, w;
};

__global__ void copied_struct(const float* a, const float*, float* o, int) {
  const Quad* p = reinterpret_cast<const Quad*>(a);
  const Quad v = p[threadIdx.x];
  o[threadIdx.x] = v.x + v.y * v.z + v.w;
}

__global__ void cast_struct(const float* a, const float*, float* o, int) {
  const Quad u = *(const Quad*)&a[4 * threadIdx.x], v = ((const Quad*)a)[threadIdx.x + 32];
  o[threadIdx.x] = u.x + u.y * u.z + u.w + v.x * v.y + v.z * v.w;
}

union Floats {
  float4 vector;
  float f[4];
};

__global__ void unions(const float* a, const float*, float* o, int) {
  Floats four = reinterpret_cast<const Floats*>(a)[threadIdx.x];
  for (int i = 0; i < 4; ++i) four.f[i] *= 2;
  reinterpret_cast<Floats*>(o)[threadIdx.x] = four;
}

__global__ void shared_members(const float* a, const float*, float* o, int) {
  __shared__ float4 row[32];
  row[threadIdx.x] = reinterpret_cast<const float4*>(a)[threadIdx.x];
  __syncthreads();
  const float4& next = row[(threadIdx.x + 1) % 32];
  o[threadIdx.x] = next.x + next.y + next.z + next.w;
}

struct Case {
  const char* name;
  void (*kernel)(const float*, const float*, float*, int);
  /// What one warp executes with n = kTrips, worked out from the instructions of sass.txt; -1 where no loop is left there, and
  /// it executes each of them once.
  int global_loads = -1, global_stores = -1, shared_loads = -1, shared_stores = -1;
};

inline std::vector<Case> cases() {
  const auto of_volatile = reinterpret_cast<void (*)(const float*, const float*, float*, int)>(&volatile_factor);
  return {
      {"row_of_a_tile", row_of_a_tile},
      {"row_of_33", row_of_33},
      {"row_of_34", row_of_34},
      {"row_kept", row_kept, 32, 1, 32, 32},
      {"row_to_n", row_to_n, 32, 1, 12 + 3, 32},
      {"row_of_n", row_of_n},
      {"row_of_the_dynamic_array", row_of_the_dynamic_array},
      {"nine_weights", nine_weights},
      {"volatile_row", volatile_row},
      {"stored_rows", stored_rows},
      {"store_between", store_between},
      {"register_tile", register_tile},
      {"floats_of_global_memory", floats_of_global_memory},
      {"members", members},
      {"three_members", three_members},
      {"referred_members", referred_members},
      {"last_members", last_members},
      {"promised_words", promised_words},
      {"promised_bytes", promised_bytes},
      {"pointer_in_parentheses", pointer_in_parentheses},
      {"members_in_a_view", members_in_a_view},
      {"copied_struct", copied_struct},
      {"cast_struct", cast_struct},
      {"unions", unions},
      {"shared_members", shared_members},
      {"stored_members", stored_members},
      {"members_of_four_bytes", members_of_four_bytes},
      {"moved_points", moved_points},
      {"bound_of_the_loop", bound_of_the_loop, kTrips + 1, 1, 0, 0},
      {"factor", factor, kTrips + 1, 1, 0, 0},
      {"volatile_factor", of_volatile, 2 * kTrips, 1, 0, 0},
      {"factor_and_store", factor_and_store, 2 * kTrips, kTrips, 0, 0},
      {"factor_and_restricted_store", factor_and_restricted_store, kTrips + 1, kTrips, 0, 0},
      {"factor_and_shared_store", factor_and_shared_store, kTrips + 1, 1, 1, kTrips},
      {"factor_and_atomic", factor_and_atomic, 2 * kTrips, 0, 0, 0},
      {"factor_and_barrier", factor_and_barrier, 2 * kTrips, 1, 0, 0},
      {"factor_and_syncwarp", factor_and_syncwarp, 2 * kTrips, 1, 0, 0},
      {"factor_and_shuffle", factor_and_shuffle, kTrips + 1, 1, 0, 0},
      {"factor_and_call", factor_and_call, kTrips + 1, 1, 0, 0},
      {"factor_of_some", factor_of_some, 2 * kTrips, 1, 0, 0},
      {"sum_in_memory", sum_in_memory, kTrips, 1 + kTrips, 0, 0},
      {"sum_in_restricted_memory", sum_in_restricted_memory, 1 + kTrips, 1, 0, 0},
      {"two_loops", two_loops, kTrips * kTrips + 1, 1, 0, 0},
  };
}

}  // namespace as_compiled
