// Addresses that are none of the program's, and memory that nobody has written.
#include "cases.hpp"

// ---------------------------------------------------------------- global memory
__global__ void fill(int* data, int n, bool guard) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!guard || i < n) data[i] = i;  // finding: out-of-bounds past_the_end
}
CASE(past_the_end) { int* d = zeros<int>(100); fill<<<1, 128>>>(d, 100, false); return finish(d); }
CASE(past_the_end_right) { int* d = zeros<int>(100); fill<<<1, 128>>>(d, 100, true); return finish(d); }

__global__ void left_neighbour(const int* in, int* out, int first) {
  int i = threadIdx.x + first;
  if (i < 64) out[i] = in[i - 1];  // finding: out-of-bounds before_the_start
}
CASE(before_the_start) { int *d = zeros<int>(64), *e = zeros<int>(64); left_neighbour<<<1, 64>>>(d, e, 0); return finish(d, e); }
CASE(before_the_start_right) { int *d = zeros<int>(64), *e = zeros<int>(64); left_neighbour<<<1, 64>>>(d, e, 1); return finish(d, e); }

__global__ void wild(float* data, long long stride) {
  data[threadIdx.x * stride] = 1;  // finding: out-of-bounds far_away
}
CASE(far_away) { float* d = zeros<float>(64); wild<<<1, 4>>>(d, 1LL << 30); return finish(d) == 3 ? 0 : 4; }
CASE(far_away_right) { float* d = zeros<float>(64); wild<<<1, 4>>>(d, 16); return finish(d); }

__global__ void columns(const float* a, float* sum, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    sum[threadIdx.x] += a[r * columns + threadIdx.x];  // finding: out-of-bounds swapped_extents
  }
}
CASE(swapped_extents) { float *a = zeros<float>(8 * 64), *s = zeros<float>(64); columns<<<1, 8>>>(a, s, 8, 128); return finish(a, s); }
CASE(swapped_extents_right) { float *a = zeros<float>(8 * 64), *s = zeros<float>(64); columns<<<1, 64>>>(a, s, 8, 64); return finish(a, s); }

// What thread 1 reads lies nearer to `other` than to `in`, which the line used before.
__global__ void strided(const float* in, float* out, int stride) {
  if (threadIdx.x < 2) out[threadIdx.x] = in[threadIdx.x * stride];  // finding: out-of-bounds far_from_its_array
}
CASE(far_from_its_array) { float *in = zeros<float>(80), *other = zeros<float>(1000), *o = zeros<float>(2); strided<<<1, 2>>>(in, o, 10000); return finish(in, other, o); }
CASE(far_from_its_array_right) { float *in = zeros<float>(80), *other = zeros<float>(1000), *o = zeros<float>(2); strided<<<1, 2>>>(in, o, 70); return finish(in, other, o); }

CASE(copy_too_much) {
  int host[100] = {}, *d = nullptr;
  cudaMalloc(&d, 100);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);  // finding: out-of-bounds copy_too_much
  return finish(d);
}
CASE(copy_too_much_right) {
  int host[100] = {}, *d = nullptr;
  cudaMalloc(&d, sizeof host);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);
  return finish(d);
}

// ---------------------------------------------------------------- local memory
__global__ void exchange(int* out, unsigned other) {
  __shared__ int* of[32];
  int mine = threadIdx.x;
  of[threadIdx.x] = &mine;
  __syncthreads();
  out[threadIdx.x] = *of[threadIdx.x ^ other];  // finding: local-of-another others_local
  __syncthreads();
}
CASE(others_local) { int* d = zeros<int>(32); exchange<<<1, 32>>>(d, 1); return finish(d); }
CASE(others_local_right) { int* d = zeros<int>(32); exchange<<<1, 32>>>(d, 0); return finish(d); }

// ---------------------------------------------------------------- vectors
__global__ void pairs(float* data, int first) {
  reinterpret_cast<float2*>(data + first)[threadIdx.x] = make_float2(1, 2);  // finding: misaligned odd_float2
}
CASE(odd_float2) { float* d = zeros<float>(66); pairs<<<1, 32>>>(d, 1); return finish(d) == 3 ? 0 : 4; }
CASE(odd_float2_right) { float* d = zeros<float>(66); pairs<<<1, 32>>>(d, 2); return finish(d); }

__global__ void row_sums(const float* a, float* out, int columns) {
  float4 v = *reinterpret_cast<const float4*>(a + threadIdx.x * columns);  // finding: misaligned ragged_rows
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
CASE(ragged_rows) { float *a = zeros<float>(8 * 6), *o = zeros<float>(8); row_sums<<<1, 8>>>(a, o, 6); return finish(a, o) == 3 ? 0 : 4; }
CASE(ragged_rows_right) { float *a = zeros<float>(8 * 8), *o = zeros<float>(8); row_sums<<<1, 8>>>(a, o, 8); return finish(a, o); }

template <int Pitch>
__global__ void shared_vectors(float* out) {
  __shared__ __align__(16) float s[8][Pitch];
  for (int k = 0; k < 4; ++k) s[threadIdx.x][k] = k;
  __syncthreads();
  float4 v = *reinterpret_cast<float4*>(&s[threadIdx.x][0]);  // finding: misaligned padded_rows
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
CASE(padded_rows) { float* o = zeros<float>(8); shared_vectors<5><<<1, 8>>>(o); return finish(o) == 3 ? 0 : 4; }
CASE(padded_rows_right) { float* o = zeros<float>(8); shared_vectors<8><<<1, 8>>>(o); return finish(o); }

// A vector type of the program's own.
struct alignas(16) Vector {
  float x, y, z, w;
};
__global__ void copy_vectors(const float* from, Vector* to) {
  to[threadIdx.x] = reinterpret_cast<const Vector*>(from)[threadIdx.x];  // finding: misaligned own_vector
}
CASE(own_vector) { float *a = zeros<float>(132), *o = zeros<float>(128); copy_vectors<<<1, 32>>>(a + 2, (Vector*)o); return finish(a, o) == 3 ? 0 : 4; }
CASE(own_vector_right) { float *a = zeros<float>(132), *o = zeros<float>(128); copy_vectors<<<1, 32>>>(a + 4, (Vector*)o); return finish(a, o); }

__global__ void add_pairs(double* sums) { atomicAdd(reinterpret_cast<double*>(reinterpret_cast<float*>(sums) + 1), 1.0); }  // finding: misaligned odd_atomic
__global__ void add_pairs_right(double* sums) { atomicAdd(sums + 1, 1.0); }
CASE(odd_atomic) { double* d = zeros<double>(4); add_pairs<<<1, 1>>>(d); return finish(d) == 3 ? 0 : 4; }
CASE(odd_atomic_right) { double* d = zeros<double>(4); add_pairs_right<<<1, 1>>>(d); return finish(d); }

// ---------------------------------------------------------------- shared memory
__global__ void past_array(float* out, int extra) {
  __shared__ float s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + extra];  // finding: out-of-bounds-shared past_shared
}
CASE(past_shared) { float* o = zeros<float>(64); past_array<<<1, 64>>>(o, 1); return finish(o); }
CASE(past_shared_right) { float* o = zeros<float>(64); past_array<<<1, 64>>>(o, 0); return finish(o); }

// The loop runs one step too far, out of one array and into its neighbour. Pointers hide the arrays' lengths.
__global__ void two_arrays(float* out, int steps) {
  __shared__ float a[32], b[32];
  a[threadIdx.x] = 1;
  b[threadIdx.x] = 2;
  __syncthreads();
  float sum = 0;
  const float* p = a;
  for (int k = 0; k < steps; ++k) sum += p[k];  // finding: out-of-bounds-shared array_to_array
  out[threadIdx.x] = sum + b[threadIdx.x];
}
CASE(array_to_array) { float* o = zeros<float>(32); two_arrays<<<1, 32>>>(o, 33); return finish(o); }
CASE(array_to_array_right) { float* o = zeros<float>(32); two_arrays<<<1, 32>>>(o, 32); return finish(o); }

__global__ void tile_row(float* out, int width) {
  __shared__ float tile[8][8];
  for (int k = 0; k < 8; ++k) tile[threadIdx.x][k] = k;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += tile[threadIdx.x][k];  // finding: out-of-bounds-shared row_overrun
  out[threadIdx.x] = sum;
}
CASE(row_overrun) { float* o = zeros<float>(8); tile_row<<<1, 8>>>(o, 9); return finish(o); }
CASE(row_overrun_right) { float* o = zeros<float>(8); tile_row<<<1, 8>>>(o, 8); return finish(o); }

__global__ void dynamic(float* out) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1;  // finding: out-of-bounds-shared dynamic_too_small, out-of-bounds-shared dynamic_forgotten
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  // finding: out-of-bounds-shared dynamic_too_small, out-of-bounds-shared dynamic_forgotten
}
CASE(dynamic_too_small) { float* o = zeros<float>(64); dynamic<<<1, 64, 64>>>(o); return finish(o); }
CASE(dynamic_too_small_right) { float* o = zeros<float>(64); dynamic<<<1, 64, 64 * sizeof(float)>>>(o); return finish(o); }
CASE(dynamic_forgotten) { float* o = zeros<float>(1); dynamic<<<1, 1>>>(o); return finish(o); }
CASE(dynamic_forgotten_right) { float* o = zeros<float>(1); dynamic<<<1, 1, sizeof(float)>>>(o); return finish(o); }

// ---------------------------------------------------------------- local arrays
__global__ void local_array(float* out, int n) {
  float r[8];
  for (int i = 0; i < n; ++i) r[i] = i;  // finding: out-of-bounds-local registers
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += r[i] * r[7 - i];
  out[threadIdx.x] = sum;
}
CASE(registers) { float* o = zeros<float>(8); local_array<<<1, 8>>>(o, 9); return finish(o) == 3 ? 0 : 4; }
CASE(registers_right) { float* o = zeros<float>(8); local_array<<<1, 8>>>(o, 8); return finish(o); }

__global__ void sorted(int* data, int from) {
  int v[4];
  for (int i = 0; i < 4; ++i) v[i] = data[4 * threadIdx.x + i];
  for (int i = from; i < 4; ++i) {
    int x = v[i], k = i - 1;
    while (v[k] > x && k > 0) v[k + 1] = v[k], --k;  // finding: out-of-bounds-local before_local
    v[k + 1] = x;
  }
  for (int i = 0; i < 4; ++i) data[4 * threadIdx.x + i] = v[i];
}
CASE(before_local) { int* d = zeros<int>(16); sorted<<<1, 4>>>(d, 0); return finish(d) == 3 ? 0 : 4; }
CASE(before_local_right) { int* d = zeros<int>(16); sorted<<<1, 4>>>(d, 1); return finish(d); }

__global__ void local_matrix(float* out, int n) {
  float acc[4][4] = {};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < n; ++j) acc[i][j] += 1;  // finding: out-of-bounds-local accumulators
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = acc[i][i];
}
CASE(accumulators) { float* o = zeros<float>(16); local_matrix<<<1, 4>>>(o, 5); return finish(o) == 3 ? 0 : 4; }
CASE(accumulators_right) { float* o = zeros<float>(16); local_matrix<<<1, 4>>>(o, 4); return finish(o); }

// ---------------------------------------------------------------- not written
__global__ void unset_edge(float* out, bool all) {
  __shared__ float s[66];
  s[threadIdx.x + 1] = 1;
  if (all && threadIdx.x < 2) s[65 * threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];  // finding: uninitialised-shared halo
}
CASE(halo) { float* o = zeros<float>(64); unset_edge<<<1, 64>>>(o, false); return finish(o); }
CASE(halo_right) { float* o = zeros<float>(64); unset_edge<<<1, 64>>>(o, true); return finish(o); }

__global__ void counts(int* out, bool clear) {
  __shared__ int bins[4];
  if (clear && threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 4], 1);  // finding: uninitialised-shared bins_not_cleared
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}
CASE(bins_not_cleared) { int* o = zeros<int>(4); counts<<<1, 32>>>(o, false); return finish(o); }
CASE(bins_not_cleared_right) { int* o = zeros<int>(4); counts<<<1, 32>>>(o, true); return finish(o); }

// Shared memory does not outlive a block: the second one reads what the first one left.
__global__ void across_blocks(int* out, bool each) {
  extern __shared__ int kept[];
  if (each || blockIdx.x == 0) kept[threadIdx.x] = 7;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept[threadIdx.x];  // finding: uninitialised-shared left_by_another_block
}
CASE(left_by_another_block) { int* o = zeros<int>(64); across_blocks<<<2, 32, 128>>>(o, false); return finish(o); }
CASE(left_by_another_block_right) { int* o = zeros<int>(64); across_blocks<<<2, 32, 128>>>(o, true); return finish(o); }

__global__ void increment(int* data, int n) {
  int i = threadIdx.x;
  if (i < n) data[i] += 1;  // finding: uninitialised never_set, uninitialised half_copied
}
CASE(never_set) { int* d = nullptr; cudaMalloc(&d, 256); increment<<<1, 64>>>(d, 64); return finish(d); }
CASE(never_set_right) { int* d = nullptr; cudaMalloc(&d, 256); cudaMemset(d, 0, 256); increment<<<1, 64>>>(d, 64); return finish(d); }

CASE(half_copied) {
  int host[64] = {}, *d = nullptr;
  cudaMalloc(&d, sizeof host);
  cudaMemcpy(d, host, 64, cudaMemcpyHostToDevice);
  increment<<<1, 64>>>(d, 64);
  return finish(d);
}
CASE(half_copied_right) {
  int host[64] = {}, *d = nullptr;
  cudaMalloc(&d, sizeof host);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);
  increment<<<1, 64>>>(d, 64);
  return finish(d);
}

// A number of which only one byte has been set, by cudaMemset's count of bytes.
__global__ void add_one(float* sum) {
  atomicAdd(sum, 1.0f);  // finding: uninitialised one_byte_set
}
CASE(one_byte_set) { float* d = nullptr; cudaMalloc(&d, 4); cudaMemset(d, 0, 1); add_one<<<1, 32>>>(d); return finish(d); }
CASE(one_byte_set_right) { float* d = nullptr; cudaMalloc(&d, 4); cudaMemset(d, 0, 4); add_one<<<1, 32>>>(d); return finish(d); }

// The same in shared memory, where each byte is right for a struct with padding.
struct Padded { char letter; int number; };
__global__ void bytes_and_words(int* out, bool all) {
  __shared__ union { unsigned char bytes[4]; int word; } s;
  __shared__ Padded p, q;
  if (threadIdx.x == 0 || (all && threadIdx.x < 4)) s.bytes[threadIdx.x] = 1;
  if (threadIdx.x == 0) p.letter = 'a', p.number = 1, q = p;
  __syncthreads();
  out[threadIdx.x] = q.number;
  out[threadIdx.x] += s.word;  // finding: uninitialised-shared one_byte_stored
}
CASE(one_byte_stored) { int* o = zeros<int>(32); bytes_and_words<<<1, 32>>>(o, false); return finish(o); }
CASE(one_byte_stored_right) { int* o = zeros<int>(32); bytes_and_words<<<1, 32>>>(o, true); return finish(o); }

__global__ void accumulate(const float4* in, float4* out) {
  float4 v = in[threadIdx.x];  // finding: uninitialised vector_not_set
  out[threadIdx.x] = make_float4(v.x, v.y, v.z, v.w);
}
CASE(vector_not_set) {
  float4 *in = nullptr, *out = zeros<float4>(8);
  cudaMalloc(&in, 8 * sizeof(float4));
  cudaMemset(in, 0, 7 * sizeof(float4));
  accumulate<<<1, 8>>>(in, out);
  return finish(in, out);
}
CASE(vector_not_set_right) { float4 *in = zeros<float4>(8), *out = zeros<float4>(8); accumulate<<<1, 8>>>(in, out); return finish(in, out); }
