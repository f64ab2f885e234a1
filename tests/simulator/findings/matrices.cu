// Tensor cores: all lanes of a warp together, the same arguments, aligned matrices, and memory that is there and written.
#include <mma.h>

#include "cases.hpp"

using namespace nvcuda;

constexpr int kElements = 16 * 16;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// ---------------------------------------------------------------- who comes
enum class Who { all, half_of_it, returned, two_lines, two_pointers, two_rows, two_calls, two_loads };
template <Who who>
__global__ void tile(const __half* in, float* out) {
  A a;
  B b;
  C c;
  const bool first = threadIdx.x < 16;
  if (who == Who::returned && !first) return;
  wmma::fill_fragment(c, 0.0f);
  if (who != Who::half_of_it || first)
    wmma::load_matrix_sync(a, in + (who == Who::two_pointers && first ? 16 : 0), who == Who::two_rows && first ? 24 : 16);  // finding: divergent-matrix half_of_it, divergent-matrix returned, divergent-matrix two_pointers, divergent-matrix two_rows
  if (who == Who::half_of_it) __syncwarp();
  if (who == Who::two_lines && first)
    wmma::load_matrix_sync(b, in, 16);  // finding: divergent-matrix two_lines
  else if (who == Who::two_calls && first)
    wmma::load_matrix_sync(b, in, 16);  // finding: divergent-matrix two_calls
  else if (who == Who::two_calls)
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
  else
    wmma::load_matrix_sync(b, in, 16);
  for (int i = 0; i < (who == Who::two_loads && first ? 1 : 2); ++i)
    wmma::mma_sync(c, a, b, c);  // finding: divergent-matrix two_loads
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
template <Who who>
static int tile_of(int threads = 32) {
  __half* in = zeros<__half>(4 * kElements);
  float* out = zeros<float>(kElements);
  tile<who><<<1, threads>>>(in, out);
  if (who != Who::all) return cudaDeviceSynchronize(), 0;
  return finish(in, out);
}
CASE(half_of_it) { return tile_of<Who::half_of_it>(); }
CASE(half_of_it_right) { return tile_of<Who::all>(); }
CASE(returned) { return tile_of<Who::returned>(); }
CASE(returned_right) { return tile_of<Who::all>(64); }
CASE(two_pointers) { return tile_of<Who::two_pointers>(); }
CASE(two_pointers_right) { return tile_of<Who::all>(); }
CASE(two_rows) { return tile_of<Who::two_rows>(); }
CASE(two_rows_right) { return tile_of<Who::all>(); }
CASE(two_lines) { return tile_of<Who::two_lines>(); }
CASE(two_lines_right) { return tile_of<Who::all>(); }
CASE(two_calls) { return tile_of<Who::two_calls>(); }
CASE(two_calls_right) { return tile_of<Who::all>(); }
CASE(two_loads) { return tile_of<Who::two_loads>(); }
CASE(two_loads_right) { return tile_of<Who::all>(); }

// ---------------------------------------------------------------- where the matrix lies
template <class T>
using Source = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major>;

// A matrix that begins `first` elements into the memory, in rows of `ld`.
template <class T>
__global__ void load_at(const T* in, float* out, int first, int ld) {
  Source<T> a;
  wmma::load_matrix_sync(a, in + first, ld);  // finding: matrix-alignment eight_elements_on, matrix-alignment rows_of_20, matrix-alignment rows_of_17, out-of-bounds past_the_end
  out[threadIdx.x] = float(a.x[0]);
}
template <class T>
static int load_all(int elements, int first, int ld) {
  T* in = zeros<T>(elements);
  float* out = zeros<float>(32);
  load_at<<<1, 32>>>(in, out, first, ld);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
CASE(eight_elements_on) { return load_all<__half>(400, 8, 16); }
CASE(eight_elements_on_right) { return load_all<__half>(400, 16, 16); }
CASE(rows_of_20) { return load_all<__nv_bfloat16>(400, 0, 20); }
CASE(rows_of_20_right) { return load_all<__nv_bfloat16>(400, 0, 24); }
CASE(rows_of_17) { return load_all<__half>(400, 0, 17); }
CASE(rows_of_17_right) { return load_all<__half>(400, 0, 24); }
CASE(past_the_end) { return load_all<__half>(240, 0, 16); }
CASE(past_the_end_right) { return load_all<__half>(256, 0, 16); }

template <bool kRight>
__global__ void store_at(float* out) {
  C c;
  wmma::fill_fragment(c, 1.0f);
  wmma::store_matrix_sync(out + (kRight ? 8 : 4), c, kRight ? 20 : 16, wmma::mem_row_major);  // finding: matrix-alignment stored_four_on
}
CASE(stored_four_on) { float* out = zeros<float>(400); store_at<false><<<1, 32>>>(out); return finish(out); }
CASE(stored_four_on_right) { float* out = zeros<float>(400); store_at<true><<<1, 32>>>(out); return finish(out); }

__global__ void rows_of_tf32(const float* in, float* out, int ld) {
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
  wmma::load_matrix_sync(b, in, ld);  // finding: matrix-alignment tf32_rows_of_18
  out[threadIdx.x] = b.x[0];
}
CASE(tf32_rows_of_18) { float *in = zeros<float>(400), *out = zeros<float>(32); rows_of_tf32<<<1, 32>>>(in, out, 18); cudaDeviceSynchronize(); return 0; }
CASE(tf32_rows_of_18_right) { float *in = zeros<float>(400), *out = zeros<float>(32); rows_of_tf32<<<1, 32>>>(in, out, 20); return finish(in, out); }

// ---------------------------------------------------------------- what has been written
template <bool kAll, bool kBarrier>
__global__ void through_shared(const __half* in, float* out) {
  __shared__ __align__(32) __half s[kElements];
  for (int i = threadIdx.x; i < (kAll ? kElements : kElements / 2); i += blockDim.x) s[i] = in[i];
  if (kBarrier) __syncthreads();
  A a;
  wmma::load_matrix_sync(a, s, 16);  // finding: race-shared no_barrier, uninitialised-shared rows_left
  out[threadIdx.x] = float(a.x[0]);
}
template <bool kAll, bool kBarrier>
static int through_shared_all(int threads) {
  __half* in = zeros<__half>(kElements);
  float* out = zeros<float>(threads);
  through_shared<kAll, kBarrier><<<1, threads>>>(in, out);
  return finish(in, out);
}
CASE(no_barrier) { return through_shared_all<true, false>(64); }
CASE(rows_left) { return through_shared_all<false, true>(64); }
CASE(rows_left_right) { return through_shared_all<true, true>(64); }
CASE(no_barrier_right) { return through_shared_all<true, true>(64); }

__global__ void unwritten(const float* in, float* out) {
  C c;
  wmma::load_matrix_sync(c, in, 16, wmma::mem_row_major);  // finding: uninitialised never_written
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
CASE(never_written) { float *in, *out = zeros<float>(kElements); cudaMalloc(&in, kElements * 4); unwritten<<<1, 32>>>(in, out); return finish(in, out); }
CASE(never_written_right) { float *in = zeros<float>(kElements), *out = zeros<float>(kElements); unwritten<<<1, 32>>>(in, out); return finish(in, out); }

// All lanes come to the store; nothing keeps one that goes on from reading what another stores.
template <bool kRight>
__global__ void read_after_store(float* out) {
  __shared__ __align__(32) float s[kElements];
  C c;
  wmma::fill_fragment(c, 1.0f);
  wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);
  if (kRight) __syncwarp();
  out[threadIdx.x] = s[threadIdx.x * 8 + 7];  // finding: warp-synchronous other_lanes
}
CASE(other_lanes) { float* out = zeros<float>(32); read_after_store<false><<<1, 32>>>(out); return finish(out); }
CASE(other_lanes_right) { float* out = zeros<float>(32); read_after_store<true><<<1, 32>>>(out); return finish(out); }

// Two warps store tiles that overlap by a column.
template <bool kRight>
__global__ void overlapping(float* out) {
  C c;
  const int warp = threadIdx.x / 32;
  wmma::fill_fragment(c, float(warp));
  wmma::store_matrix_sync(out + warp * (kRight ? 16 : 8), c, 32, wmma::mem_row_major);  // finding: race-global two_warps
}
CASE(two_warps) { float* out = zeros<float>(600); overlapping<false><<<1, 64>>>(out); return finish(out); }
CASE(two_warps_right) { float* out = zeros<float>(600); overlapping<true><<<1, 64>>>(out); return finish(out); }

// ---------------------------------------------------------------- inline PTX
// Rows of `row` halves, of which each lane names one; `s` or, if not kShared, global memory.
template <int kRow, bool kShared>
__global__ void load_rows(const __half* in, unsigned* out) {
  __shared__ __align__(16) __half s[8 * 16];
  for (int i = threadIdx.x; i < 8 * 16; i += 32) s[i] = in[i];
  __syncwarp();
  const __half* row = (kShared ? s : in) + threadIdx.x % 8 * kRow;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));  // finding: not-shared rows_in_global
  unsigned bits;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(bits) : "r"(address));  // finding: misaligned rows_of_12, out-of-bounds-shared rows_of_32
  out[threadIdx.x] = bits;
}
template <int kRow, bool kShared>
static int load_all_rows() {
  __half* in = zeros<__half>(1000);
  unsigned* out = zeros<unsigned>(32);
  load_rows<kRow, kShared><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
CASE(rows_of_12) { return load_all_rows<12, true>(); }
CASE(rows_of_12_right) { return load_all_rows<16, true>(); }
CASE(rows_of_32) { return load_all_rows<32, true>(); }
CASE(rows_of_32_right) { return load_all_rows<8, true>(); }
CASE(rows_in_global) { return load_all_rows<8, false>(); }
CASE(rows_in_global_right) { return load_all_rows<8, true>(); }

template <bool kRight>
__global__ void in_half_of_the_warp(float* out) {
  const unsigned a = 0, b = 0;
  float d[4] = {};
  if (kRight || threadIdx.x < 16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "r"(b));  // finding: divergent-matrix mma_in_half
  out[threadIdx.x] = d[0];
}
CASE(mma_in_half) { float* out = zeros<float>(32); in_half_of_the_warp<false><<<1, 32>>>(out); cudaDeviceSynchronize(); return 0; }
CASE(mma_in_half_right) { float* out = zeros<float>(32); in_half_of_the_warp<true><<<1, 32>>>(out); return finish(out); }
