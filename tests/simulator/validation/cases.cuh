// The validation set: kernels whose memory counters were read on a real GPU with Nsight Compute and must come out
// equal on the simulator. One launch per case, in a fixed order, so that row k of the recording is case k here.
//
// Loops carry `#pragma unroll 1` so that nvcc issues what is written. Cases whose loads nvcc merges on purpose say so
// in `merged`; each of those has a twin without merging.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace validation {

// The chapters' kernels under a name of their own: other tests of the same program include them too.
namespace chapters {
#include "../../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "../../../chapters/02_tiled_matmul/tiled_matmul.cuh"
}  // namespace chapters

constexpr int kThreads = 256;
constexpr int kBlocks = 8;
constexpr int kItems = kThreads * kBlocks;

// ------------------------------------------------------------------------------------------------ global memory
template <class T>
__global__ void copy_strided(const T* in, T* out, int stride, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride + offset];
}

template <class T>
__global__ void store_strided(const T* in, T* out, int stride, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride + offset] = in[i];
}

__global__ void broadcast(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[blockIdx.x];
}

__global__ void reversed(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[n - 1 - i];
}

__global__ void exchanged(const float* in, float* out, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i ^ mask];
}

__global__ void gather(const float* in, const int* index, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];
}

__global__ void scatter(const float* in, const int* index, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[index[i]] = in[i];
}

struct Point3 {
  float x, y, z;
};

__global__ void array_of_structures(const Point3* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i].x + in[i].y + in[i].z;
}

__global__ void one_field(const float4* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i].z;
}

__global__ void column_walk(const float* in, float* out, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) sum += in[i * width + k];
  out[i] = sum;
}

__global__ void row_walk(const float* in, float* out, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) sum += in[k * width + i];
  out[i] = sum;
}

// ------------------------------------------------------------------------------------------------ divergence
__global__ void odd_threads(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2) out[i] = in[i];
}

__global__ void first_lanes(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (static_cast<int>(threadIdx.x % 32) < count) out[i] = in[i];
}

__global__ void two_paths(const float* a, const float* b, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) {
    out[i] = a[2 * i];
  } else {
    out[i] = b[3 * i] + 1;
  }
}

// The same with a meeting of the warp between the branches, so that nvcc cannot make one store of two.
__global__ void two_paths_apart(const float* a, const float* b, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) out[i] = a[2 * i];
  __syncwarp();
  if (i % 3 != 0) out[i] = b[3 * i] + 1;
}

__global__ void early_exit(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i];
}

__global__ void uneven_loop(const float* in, const int* length, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  const int n = length[i];
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += in[i + k * 7];
  out[i] = sum;
}

__global__ void nested_uneven(const float* in, const int* length, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < i % 4; ++j) {
    const int n = length[(i + j) % 64];
#pragma unroll 1
    for (int k = 0; k < n; ++k) sum += in[j * 64 + k + i];
  }
  out[i] = sum;
}

__global__ void break_and_continue(const float* in, const int* length, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 24; ++k) {
    if ((i + k) % 3 == 0) continue;
    if (k > length[i]) break;
    sum += in[i + 5 * k];
  }
  out[i] = sum;
}

__global__ void while_scattered(const float* in, const int* next, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i;
  int steps = 0;
  float sum = 0;
#pragma unroll 1
  while (at % 5 != 0 && steps < 20) {
    sum += in[at];
    at = next[at];
    ++steps;
  }
  out[i] = sum;
}

__global__ void do_while(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i % 9;
  float sum = 0;
#pragma unroll 1
  do {
    sum += in[i * 2 + k];
    --k;
  } while (k > 0);
  out[i] = sum;
}

__global__ void condition_in_loop(const float* in, const int* length, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 12; ++k) {
    if (length[i] > k) sum += in[(i * 11 + k * 3) % 2048];
  }
  out[i] = sum;
}

__global__ void condition_in_loop_hoisted(const float* in, const int* length, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  const int n = length[i];
#pragma unroll 1
  for (int k = 0; k < 12; ++k) {
    if (n > k) sum += in[(i * 11 + k * 3) % 2048];
  }
  out[i] = sum;
}

__global__ void grid_stride(const float* in, float* out, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * in[i];
}

// ------------------------------------------------------------------------------------------------ functions
__device__ __noinline__ float called(const float* in, int i) { return in[i] * 2; }

__global__ void function_twice(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = called(in, i);
  if (i % 4 == 0) sum += called(in, i * 3);
  out[i] = sum;
}

template <int N>
__device__ float inlined_sum(const float* in, int i) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < N; ++k) sum += in[i + 33 * k];
  return sum;
}

__global__ void inlined_template(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i % 2 ? inlined_sum<3>(in, i) : inlined_sum<5>(in, i + 64);
}

// ------------------------------------------------------------------------------------------------ CSR
__global__ void csr_scalar(const int* row_ptr, const int* col, const float* value, const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
#pragma unroll 1
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) sum += value[e] * x[col[e]];
  y[row] = sum;
}

__global__ void csr_scalar_hoisted(const int* row_ptr, const int* col, const float* value, const float* x, float* y,
                                   int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  const int end = row_ptr[row + 1];
#pragma unroll 1
  for (int e = row_ptr[row]; e < end; ++e) sum += value[e] * x[col[e]];
  y[row] = sum;
}

__global__ void csr_vector(const int* row_ptr, const int* col, const float* value, const float* x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  const int end = row_ptr[row + 1];
#pragma unroll 1
  for (int e = row_ptr[row] + lane; e < end; e += 32) sum += value[e] * x[col[e]];
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}

// ------------------------------------------------------------------------------------------------ shared memory
// Each thread stores its own word, then the pattern under test is loaded (or the reverse).
template <class T>
__global__ void shared_load(T* out, int stride, int offset) {
  extern __shared__ float4 raw[];
  T* s = reinterpret_cast<T*>(raw);
#pragma unroll 1
  for (int i = threadIdx.x; i < 2304; i += blockDim.x) s[i] = T{};
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[(threadIdx.x * stride + offset) % 2304];
}

template <class T>
__global__ void shared_store(T* out, const T* in, int stride) {
  extern __shared__ float4 raw[];
  T* s = reinterpret_cast<T*>(raw);
  s[threadIdx.x * stride] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// Loads by an arbitrary index per lane: the rules for wide accesses.
template <class T>
__global__ void shared_indexed(T* out, const int* index) {
  extern __shared__ float4 raw[];
  T* s = reinterpret_cast<T*>(raw);
#pragma unroll 1
  for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i] = T{};
  __syncthreads();
  const int i = index[threadIdx.x];
  if (i >= 0) out[threadIdx.x] = s[i];
}

template <class T>
__global__ void shared_store_indexed(T* out, const T* in, const int* index) {
  extern __shared__ float4 raw[];
  T* s = reinterpret_cast<T*>(raw);
  const int i = index[threadIdx.x];
  const T v = in[threadIdx.x];
  if (i >= 0) s[i] = v;
  __syncthreads();
  if (threadIdx.x == 0 && i >= 0) out[0] = s[i];
}

template <int TILE, int PAD>
__global__ void transpose_tile(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE + PAD];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

// A swizzled tile: no padding, no conflicts.
__global__ void transpose_swizzled(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.x ^ threadIdx.y];
}

template <int T, int PAD, bool UNROLL>
__global__ void tile_product(const float* A, const float* B, float* C, int n) {
  __shared__ float As[T][T + PAD], Bs[T][T + PAD];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < n; t += T) {
    As[ty][tx] = A[row * n + t + tx];
    Bs[ty][tx] = B[(t + ty) * n + col];
    __syncthreads();
    if (UNROLL) {
#pragma unroll
      for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
    } else {
#pragma unroll 1
      for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
    }
    __syncthreads();
  }
  C[row * n + col] = sum;
}

// ------------------------------------------------------------------------------------------------ reductions, atomics
__global__ void tree_sum(const float* in, float* out) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

__global__ void interleaved_sum(const float* in, float* out) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const unsigned i = 2 * step * threadIdx.x;
    if (i < blockDim.x) s[i] += s[i + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

__global__ void shuffle_sum(const float* in, float* out) {
  __shared__ float partial[32];
  float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

__global__ void histogram_global(const int* in, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[in[i] % 64], 1);
}

__global__ void tickets(const int* in, int* counters, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = atomicAdd(&counters[in[i] % 64], 1);
}

__global__ void maximum(const int* in, int* result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = in[i];
  if (value % 2) atomicMax(&result[i % 128], value);
}

// ------------------------------------------------------------------------------------------------ the launches
/// Arrays that the cases work on: reproducible, large enough for every stride. They lie in one allocation, each at a multiple
/// of 2 MiB: which lines L1 looks up together depends on their addresses, so these must be alike on both machines.
struct Data {
  char* memory;
  float *in, *out;
  int *index, *near, *length, *bins, *row_ptr, *col;
  int rows = 1000;
  static constexpr std::size_t kFloats = std::size_t{1} << 18;

  Data();
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
};

struct Case {
  std::string name;
  std::function<void(Data&)> launch;
  const char* merged = nullptr;  ///< why nvcc issues fewer instructions than are written; null when it does not
};

inline std::uint32_t scrambled(std::uint32_t i) {
  i = (i ^ 61u) ^ (i >> 16);
  i *= 9u;
  i ^= i >> 4;
  i *= 0x27d4eb2du;
  return i ^ (i >> 15);
}

inline Data::Data() {
  constexpr std::size_t kApart = std::size_t{2} << 20;
  cudaMalloc(&memory, 8 * kApart);
  char* next = memory;
  auto allocate = [&](auto*& p, std::size_t n) {
    static_assert(kFloats * sizeof(float) <= kApart);
    if (n > kFloats) std::abort();
    p = reinterpret_cast<std::remove_reference_t<decltype(p)>>(next);
    next += kApart;
  };
  allocate(in, kFloats);
  allocate(out, kFloats);
  allocate(index, 4096);
  allocate(near, 4096);
  allocate(length, 4096);
  allocate(bins, 4096);
  allocate(row_ptr, 4096);
  allocate(col, 65536);
  auto upload = [](int* to, const std::vector<int>& v) { cudaMemcpy(to, v.data(), v.size() * sizeof(int), cudaMemcpyHostToDevice); };
  std::vector<float> f(kFloats);
  for (std::size_t i = 0; i < kFloats; ++i) f[i] = static_cast<float>(scrambled(static_cast<std::uint32_t>(i)) % 1000) / 1000;
  cudaMemcpy(in, f.data(), kFloats * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, kFloats * sizeof(float));
  std::vector<int> a(4096), b(4096), c(4096), zero(4096), r(4096), columns(65536);
  for (unsigned i = 0; i < 4096; ++i) {
    a[i] = static_cast<int>(scrambled(i) % 4096);
    b[i] = static_cast<int>((i + scrambled(i) % 24) % 4096);
    c[i] = static_cast<int>(scrambled(i + 77) % 13);
  }
  for (unsigned i = 0; i + 1 < 4096; ++i) r[i + 1] = r[i] + static_cast<int>(scrambled(i + 5) % 16 ? scrambled(i + 5) % 16 : (i % 7 ? 0 : 40));
  for (unsigned i = 0; i < 65536; ++i) columns[i] = static_cast<int>(scrambled(i) % 4096);
  upload(index, a);
  upload(near, b);
  upload(length, c);
  upload(bins, zero);
  upload(row_ptr, r);
  upload(col, columns);
}

inline Data::~Data() { cudaFree(memory); }

// Index patterns for wide shared accesses, one entry per lane; -1: the lane takes no part.
inline void upload_pattern(Data& d, const std::function<int(int)>& pattern) {
  std::vector<int> v(kThreads);
  for (int i = 0; i < kThreads; ++i) v[static_cast<std::size_t>(i)] = pattern(i);
  cudaMemcpy(d.bins, v.data(), v.size() * sizeof(int), cudaMemcpyHostToDevice);
}

inline std::vector<Case> cases() {
  std::vector<Case> list;
  auto add = [&](std::string name, std::function<void(Data&)> run, const char* merged = nullptr) {
    list.push_back({std::move(name), std::move(run), merged});
  };
  // Widths
  add("copy 1 byte", [](Data& d) { copy_strided<char><<<kBlocks, kThreads>>>((char*)d.in, (char*)d.out, 1, 0); });
  add("copy 2 bytes", [](Data& d) { copy_strided<short><<<kBlocks, kThreads>>>((short*)d.in, (short*)d.out, 1, 0); });
  add("copy 8 bytes", [](Data& d) { copy_strided<float2><<<kBlocks, kThreads>>>((float2*)d.in, (float2*)d.out, 1, 0); });
  add("copy 16 bytes", [](Data& d) { copy_strided<float4><<<kBlocks, kThreads>>>((float4*)d.in, (float4*)d.out, 1, 0); });
  add("copy double", [](Data& d) { copy_strided<double><<<kBlocks, kThreads>>>((double*)d.in, (double*)d.out, 1, 0); });
  add("copy 16 bytes, stride 2", [](Data& d) { copy_strided<float4><<<kBlocks, kThreads>>>((float4*)d.in, (float4*)d.out, 2, 1); });
  add("copy 8 bytes, stride 5", [](Data& d) { copy_strided<float2><<<kBlocks, kThreads>>>((float2*)d.in, (float2*)d.out, 5, 3); });
  add("copy 1 byte, stride 9", [](Data& d) { copy_strided<char><<<kBlocks, kThreads>>>((char*)d.in, (char*)d.out, 9, 5); });
  add("copy 2 bytes, stride 3", [](Data& d) { copy_strided<short><<<kBlocks, kThreads>>>((short*)d.in, (short*)d.out, 3, 1); });
  // Strides and offsets
  for (int stride : {1, 2, 3, 4, 7, 8, 16, 32, 33, 64})
    add("load stride " + std::to_string(stride), [stride](Data& d) { copy_strided<float><<<kBlocks, kThreads>>>(d.in, d.out, stride, 0); });
  for (int offset : {1, 2, 4, 7, 8, 13, 16, 31})
    add("load offset " + std::to_string(offset), [offset](Data& d) { copy_strided<float><<<kBlocks, kThreads>>>(d.in, d.out, 1, offset); });
  for (int stride : {2, 5, 8, 32})
    add("store stride " + std::to_string(stride), [stride](Data& d) { store_strided<float><<<kBlocks, kThreads>>>(d.in, d.out, stride, 0); });
  add("store 16 bytes, offset 1", [](Data& d) { store_strided<float4><<<kBlocks, kThreads>>>((float4*)d.in, (float4*)d.out, 1, 1); });
  add("store 1 byte, offset 3", [](Data& d) { store_strided<char><<<kBlocks, kThreads>>>((char*)d.in, (char*)d.out, 1, 3); });
  // Orders
  add("broadcast", [](Data& d) { broadcast<<<kBlocks, kThreads>>>(d.in, d.out); });
  add("reversed", [](Data& d) { reversed<<<kBlocks, kThreads>>>(d.in, d.out, kItems); });
  for (int mask : {1, 17, 31, 96})
    add("exchanged ^" + std::to_string(mask), [mask](Data& d) { exchanged<<<kBlocks, kThreads>>>(d.in, d.out, mask); });
  add("gather, random", [](Data& d) { gather<<<kBlocks, kThreads>>>(d.in, d.index, d.out); });
  add("gather, near", [](Data& d) { gather<<<kBlocks, kThreads>>>(d.in, d.near, d.out); });
  add("scatter, random", [](Data& d) { scatter<<<kBlocks, kThreads>>>(d.in, d.index, d.out); });
  add("array of structures", [](Data& d) { array_of_structures<<<kBlocks, kThreads>>>((Point3*)d.in, d.out); });
  add("one field of four", [](Data& d) { one_field<<<kBlocks, kThreads>>>((float4*)d.in, d.out); });
  add("column walk", [](Data& d) { column_walk<<<kBlocks, kThreads>>>(d.in, d.out, 100); });
  add("row walk", [](Data& d) { row_walk<<<kBlocks, kThreads>>>(d.in, d.out, 2051); });
  // Divergence and loops
  add("odd threads", [](Data& d) { odd_threads<<<kBlocks, kThreads>>>(d.in, d.out); });
  add("first 10 lanes", [](Data& d) { first_lanes<<<kBlocks, kThreads>>>(d.in, d.out, 10); });
  add("two paths", [](Data& d) { two_paths<<<kBlocks, kThreads>>>(d.in, d.in + 9, d.out); }, "both branches end in the same store: nvcc issues one");
  add("two paths, apart", [](Data& d) { two_paths_apart<<<kBlocks, kThreads>>>(d.in, d.in + 9, d.out); });
  add("early exit", [](Data& d) { early_exit<<<kBlocks, kThreads>>>(d.in, d.out, 1717); });
  add("block of 20", [](Data& d) { early_exit<<<40, 20>>>(d.in, d.out, 777); });
  add("block of 33", [](Data& d) { early_exit<<<40, 33>>>(d.in, d.out, 1301); });
  add("block of 7 x 5 x 3", [](Data& d) { early_exit<<<16, dim3(7, 5, 3)>>>(d.in, d.out, 100); });
  add("uneven loop", [](Data& d) { uneven_loop<<<kBlocks, kThreads>>>(d.in, d.length, d.out); });
  add("nested uneven loops", [](Data& d) { nested_uneven<<<kBlocks, kThreads>>>(d.in, d.length, d.out); });
  add("break and continue", [](Data& d) { break_and_continue<<<kBlocks, kThreads>>>(d.in, d.length, d.out); });
  add("while, scattered", [](Data& d) { while_scattered<<<kBlocks, kThreads>>>(d.in, d.index, d.out); });
  add("do while", [](Data& d) { do_while<<<kBlocks, kThreads>>>(d.in, d.out); });
  add("condition in a loop", [](Data& d) { condition_in_loop<<<kBlocks, kThreads>>>(d.in, d.length, d.out); }, "length[i] does not change in the loop: nvcc loads it once");
  add("condition in a loop, hoisted", [](Data& d) { condition_in_loop_hoisted<<<kBlocks, kThreads>>>(d.in, d.length, d.out); });
  add("grid-stride loop", [](Data& d) { grid_stride<<<3, 96>>>(d.in, d.out, 5000); });
  add("function called twice", [](Data& d) { function_twice<<<kBlocks, kThreads>>>(d.in, d.out); });
  add("inlined templates", [](Data& d) { inlined_template<<<kBlocks, kThreads>>>(d.in, d.out); });
  add("CSR, thread per row", [](Data& d) { csr_scalar<<<8, 128>>>(d.row_ptr, d.col, d.in, d.in, d.out, d.rows); }, "row_ptr[row + 1] does not change in the loop: nvcc loads it once");
  add("CSR, thread per row, hoisted", [](Data& d) { csr_scalar_hoisted<<<8, 128>>>(d.row_ptr, d.col, d.in, d.in, d.out, d.rows); });
  add("CSR, warp per row", [](Data& d) { csr_vector<<<125, 256>>>(d.row_ptr, d.col, d.in, d.in, d.out, d.rows); });
  // Shared memory: strides and widths
  constexpr std::size_t kBytes = 2304 * 16;
  for (int stride : {1, 2, 3, 4, 6, 8, 16, 32, 33})
    add("shared load stride " + std::to_string(stride), [stride](Data& d) { shared_load<float><<<2, kThreads, kBytes>>>(d.out, stride, 0); });
  for (int stride : {0, 1, 2, 3, 4, 16})
    add("shared load 8 bytes, stride " + std::to_string(stride), [stride](Data& d) { shared_load<float2><<<2, kThreads, kBytes>>>((float2*)d.out, stride, 0); });
  for (int stride : {0, 1, 2, 3, 8})
    add("shared load 16 bytes, stride " + std::to_string(stride), [stride](Data& d) { shared_load<float4><<<2, kThreads, kBytes>>>((float4*)d.out, stride, 0); });
  for (int stride : {1, 2, 4, 33})
    add("shared load 1 byte, stride " + std::to_string(stride), [stride](Data& d) { shared_load<char><<<2, kThreads, kBytes>>>((char*)d.out, stride, 1); });
  add("shared load 2 bytes, stride 1", [](Data& d) { shared_load<short><<<2, kThreads, kBytes>>>((short*)d.out, 1, 0); });
  add("shared load 2 bytes, stride 33", [](Data& d) { shared_load<short><<<2, kThreads, kBytes>>>((short*)d.out, 33, 0); });
  for (int stride : {1, 2, 5, 8, 32})
    add("shared store stride " + std::to_string(stride), [stride](Data& d) { shared_store<float><<<2, kThreads, 40000>>>(d.out, d.in, stride); });
  for (int stride : {1, 2, 3})
    add("shared store 8 bytes, stride " + std::to_string(stride), [stride](Data& d) { shared_store<float2><<<2, kThreads, 40000>>>((float2*)d.out, (float2*)d.in, stride); });
  for (int stride : {1, 2, 3})
    add("shared store 16 bytes, stride " + std::to_string(stride), [stride](Data& d) { shared_store<float4><<<2, kThreads, 40000>>>((float4*)d.out, (float4*)d.in, stride); });
  // Shared memory: when the parts of a wide access go together
  struct Pattern {
    const char* name;
    int (*index)(int);
  };
  static const Pattern patterns[] = {
      {"pairs share", [](int i) { return i / 2; }},
      {"lanes i and i^2 share", [](int i) { return (i & ~2) % 32 + (i / 32) * 32; }},
      {"lanes i and i^3 share", [](int i) { return ((i % 4 < 2) ? i : (i ^ 3)) % 64; }},
      {"fours share", [](int i) { return i / 4; }},
      {"eights share", [](int i) { return i / 8; }},
      {"halves share", [](int i) { return i % 16; }},
      {"even lanes only", [](int i) { return i % 2 ? -1 : i; }},
      {"even lanes only, stride 2", [](int i) { return i % 2 ? -1 : 2 * (i % 128); }},
      {"lanes 0,1 of 4", [](int i) { return i % 4 < 2 ? i : -1; }},
      {"lanes 0,3 of 4", [](int i) { return i % 4 == 0 || i % 4 == 3 ? i : -1; }},
      {"first half only", [](int i) { return i % 32 < 16 ? i : -1; }},
      {"one lane of 8", [](int i) { return i % 8 ? -1 : i; }},
      {"one lane", [](int i) { return i % 32 ? -1 : i; }},
      {"pairs share, one does not", [](int i) { return i % 32 == 5 ? 40 : i / 2; }},
      {"two conflicting pairs", [](int i) { return (i / 2 % 2) * 64 + (i / 4); }},
      {"pairs share, one bank twice", [](int i) { return i % 32 / 2 == 1 ? 16 : i % 32 / 2; }},
      {"pairs share, two quarters meet", [](int i) { return i % 32 / 2 >= 4 && i % 32 / 2 < 8 ? i % 32 / 2 + 4 : i % 32 / 2; }},
      {"i and i^2 share, compact", [](int i) { return i / 4 * 2 + i % 2; }},
      {"i and i^3 share, compact", [](int i) { return i / 4 * 2 + (i % 4 == 1 || i % 4 == 2); }},
      {"even lanes only, compact", [](int i) { return i % 2 ? -1 : i / 2; }},
      {"lanes 0,1 of 4, compact", [](int i) { return i % 4 < 2 ? i / 4 * 2 + i % 2 : -1; }},
      {"lanes 0,3 of 4, compact", [](int i) { return i % 4 == 0 ? i / 2 : i % 4 == 3 ? i / 2 : -1; }},
      {"pairs share in the first half", [](int i) { return i % 32 < 16 ? i % 32 / 2 : i % 32; }},
      {"pairs share in the second half", [](int i) { return i % 32 >= 16 ? i % 32 / 2 : i % 32 + 32; }},
      {"odd pairs share", [](int i) { return (i + 1) / 2; }},
      {"pairs share or idle", [](int i) { return i % 6 == 3 ? -1 : i / 2; }},
      {"pairs share, backwards", [](int i) { return 255 - i / 2; }},
      {"pairs share, random", [](int i) { return static_cast<int>(scrambled(static_cast<std::uint32_t>(i / 2)) % 512); }},
      {"fours share, random", [](int i) { return static_cast<int>(scrambled(static_cast<std::uint32_t>(i / 4)) % 512); }},
      {"one for all", [](int) { return 7; }},
      {"two for all", [](int i) { return i % 32 == 9 ? 16 : 0; }},
      {"random", [](int i) { return static_cast<int>(scrambled(static_cast<std::uint32_t>(i)) % 512); }},
      {"random, a third idle", [](int i) { return i % 3 ? static_cast<int>(scrambled(static_cast<std::uint32_t>(i)) % 512) : -1; }},
  };
  for (const Pattern& p : patterns) {
    add(std::string("shared load 4 bytes: ") + p.name, [p](Data& d) { upload_pattern(d, p.index); shared_indexed<float><<<1, kThreads, 8192>>>(d.out, d.bins); });
    add(std::string("shared load 8 bytes: ") + p.name, [p](Data& d) { upload_pattern(d, p.index); shared_indexed<float2><<<1, kThreads, 8192>>>((float2*)d.out, d.bins); });
    add(std::string("shared load 16 bytes: ") + p.name, [p](Data& d) { upload_pattern(d, p.index); shared_indexed<float4><<<1, kThreads, 8192>>>((float4*)d.out, d.bins); });
    add(std::string("shared store 4 bytes: ") + p.name, [p](Data& d) { upload_pattern(d, p.index); shared_store_indexed<float><<<1, kThreads, 8192>>>(d.out, d.in, d.bins); });
    add(std::string("shared store 8 bytes: ") + p.name, [p](Data& d) { upload_pattern(d, p.index); shared_store_indexed<float2><<<1, kThreads, 8192>>>((float2*)d.out, (float2*)d.in, d.bins); });
    add(std::string("shared store 16 bytes: ") + p.name, [p](Data& d) { upload_pattern(d, p.index); shared_store_indexed<float4><<<1, kThreads, 8192>>>((float4*)d.out, (float4*)d.in, d.bins); });
  }
  // Tiles
  constexpr int n = 128;
  add("transpose, naive", [](Data& d) { transpose_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(d.in, d.out, n); });
  add("transpose 8", [](Data& d) { transpose_tile<8, 0><<<dim3(n / 8, n / 8), dim3(8, 8)>>>(d.in, d.out, n); });
  add("transpose 8 padded", [](Data& d) { transpose_tile<8, 1><<<dim3(n / 8, n / 8), dim3(8, 8)>>>(d.in, d.out, n); });
  add("transpose 16", [](Data& d) { transpose_tile<16, 0><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d.in, d.out, n); });
  add("transpose 16 padded", [](Data& d) { transpose_tile<16, 1><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d.in, d.out, n); });
  add("transpose 32", [](Data& d) { transpose_tile<32, 0><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d.in, d.out, n); });
  add("transpose 32 padded", [](Data& d) { transpose_tile<32, 1><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d.in, d.out, n); });
  add("transpose 32 swizzled", [](Data& d) { transpose_swizzled<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d.in, d.out, n); });
  add("tile product 8", [](Data& d) { tile_product<8, 0, false><<<dim3(n / 8, n / 8), dim3(8, 8)>>>(d.in, d.in + n * n, d.out, n); });
  add("tile product 16", [](Data& d) { tile_product<16, 0, false><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d.in, d.in + n * n, d.out, n); });
  add("tile product 32", [](Data& d) { tile_product<32, 0, false><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d.in, d.in + n * n, d.out, n); });
  add("tile product 16 padded", [](Data& d) { tile_product<16, 1, false><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d.in, d.in + n * n, d.out, n); });
  add("tile product 32 padded", [](Data& d) { tile_product<32, 1, false><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d.in, d.in + n * n, d.out, n); });
  constexpr const char* kAsMerged = "unrolled: four neighbouring As[ty][k] become one 16-byte load (the twin is 'tile product')";
  add("tile product 32 padded, unrolled", [](Data& d) { tile_product<32, 1, true><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d.in, d.in + n * n, d.out, n); });
  // The chapters' kernels, whole and ragged
  constexpr const char* kPredicated =
      "predicated: nvcc issues the instruction in warps where no thread takes part; sectors and wavefronts are equal";
  for (int size : {128, 100}) {
    const std::string shape = ", " + std::to_string(size);
    for (int block : {8, 16, 32}) {
      const std::string name = " " + std::to_string(block) + shape;
      add("naive_matmul" + name, [=](Data& d) { chapters::launch_naive_matmul(d.in, d.in + n * n, d.out, size, size, size, block); });
      add("naive_matmul_row_on_x" + name, [=](Data& d) { chapters::launch_naive_matmul_row_on_x(d.in, d.in + n * n, d.out, size, size, size, block); });
      add("tiled_matmul_dynamic" + name, [=](Data& d) { chapters::launch_tiled_matmul_dynamic(d.in, d.in + n * n, d.out, size, size, size, block); },
          size % block ? kPredicated : nullptr);
    }
    add("tiled_matmul 8" + shape, [=](Data& d) { chapters::launch_tiled_matmul<8>(d.in, d.in + n * n, d.out, size, size, size); }, kAsMerged);
    add("tiled_matmul 16" + shape, [=](Data& d) { chapters::launch_tiled_matmul<16>(d.in, d.in + n * n, d.out, size, size, size); }, kAsMerged);
    add("tiled_matmul 32" + shape, [=](Data& d) { chapters::launch_tiled_matmul<32>(d.in, d.in + n * n, d.out, size, size, size); }, kAsMerged);
  }
  // Reductions and atomics
  add("tree sum", [](Data& d) { tree_sum<<<kBlocks, kThreads>>>(d.in, d.out); }, kPredicated);
  add("interleaved sum", [](Data& d) { interleaved_sum<<<kBlocks, kThreads>>>(d.in, d.out); }, kPredicated);
  add("shuffle sum", [](Data& d) { shuffle_sum<<<kBlocks, kThreads>>>(d.in, d.out); },
      "sunk: only the first thread needs the last addition, and nvcc moves it there");
  add("histogram, global", [](Data& d) { histogram_global<<<kBlocks, kThreads>>>(d.index, d.bins); });
  add("tickets", [](Data& d) { tickets<<<kBlocks, kThreads>>>(d.index, d.bins, (int*)d.out); });
  add("maximum", [](Data& d) { maximum<<<kBlocks, kThreads>>>(d.index, d.bins); });
  return list;
}

}  // namespace validation
