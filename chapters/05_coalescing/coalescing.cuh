// What one request of a warp costs: words that are loaded and stored in the patterns that programs
// use.
//
// Words are float, float2 or float4 (4, 8, 16 bytes); positions are size_t, so that no array is too
// long. Inputs and outputs must not overlap.
#pragma once

#include <cuda_runtime.h>

// [copy_one_word]
/// A thread moves one word. The 32 lanes of a warp read 32 neighbours, so every byte that is
/// fetched is used. Blocks of 256 threads, enough for one word each.
template <class Word>
__global__ void copy_one_word(const Word* __restrict__ in,  // count words
                              Word* __restrict__ out,       // count words
                              size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}
// [copy_one_word]

// [copy_four_vectors]
/// The widest word, and four of them in flight per thread: 16 bytes x 4. A warp still reads 32
/// neighbours at a time; its next request is 256 words further on. Both arrays must be aligned to
/// 16 bytes. Blocks of 256 threads, enough for 16 floats each.
__global__ void __launch_bounds__(256)
    copy_four_vectors(const float* __restrict__ in,  // count floats
                      float* __restrict__ out,       // count floats
                      size_t count) {
  constexpr int IN_FLIGHT = 4;
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  const size_t vectors = count / 4;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * IN_FLIGHT) + threadIdx.x;

  float4 word[IN_FLIGHT];
#pragma unroll
  for (int k = 0; k < IN_FLIGHT; ++k) {
    if (first + k * 256 < vectors) word[k] = from[first + k * 256];
  }
  // A loop of its own: all loads are in flight before the thread waits for the first.
#pragma unroll
  for (int k = 0; k < IN_FLIGHT; ++k) {
    if (first + k * 256 < vectors) to[first + k * 256] = word[k];
  }

  const size_t rest = 4 * vectors + threadIdx.x;  // up to three floats after the last float4
  if (blockIdx.x == 0 && rest < count) out[rest] = in[rest];
}
// [copy_four_vectors]

/// Words that one thread of the following kernels has in flight: 64 bytes, so that memory is what
/// limits them.
template <class Word>
constexpr int kInFlight = 64 / static_cast<int>(sizeof(Word));

// [strided_read]
/// Reads every stride-th word and writes them side by side: only the loads are strided.
/// Blocks of 256 threads, enough for 64 bytes each.
template <class Word>
__global__ void __launch_bounds__(256)
    strided_read(const Word* __restrict__ in,  // (count - 1) * stride + 1 words
                 Word* __restrict__ out,       // count words
                 size_t count, size_t stride) {
  constexpr int N = kInFlight<Word>;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * N) + threadIdx.x;

  Word word[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) word[k] = in[i * stride];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) out[i] = word[k];
  }
}
// [strided_read]

// [strided_write]
/// Only the stores are strided: reads neighbours, writes every stride-th word, and leaves the words
/// between alone.
template <class Word>
__global__ void __launch_bounds__(256)
    strided_write(const Word* __restrict__ in,  // count words
                  Word* __restrict__ out,       // (count - 1) * stride + 1 words
                  size_t count, size_t stride) {
  constexpr int N = kInFlight<Word>;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * N) + threadIdx.x;

  Word word[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) word[k] = in[i];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) out[i * stride] = word[k];
  }
}
// [strided_write]

// [strided_copy]
/// Both sides strided: every stride-th word is copied to where it was.
template <class Word>
__global__ void __launch_bounds__(256)
    strided_copy(const Word* __restrict__ in,  // (count - 1) * stride + 1 words
                 Word* __restrict__ out,       // (count - 1) * stride + 1 words
                 size_t count, size_t stride) {
  constexpr int N = kInFlight<Word>;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * N) + threadIdx.x;

  Word word[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) word[k] = in[i * stride];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) out[i * stride] = word[k];
  }
}
// [strided_copy]

// [shifted_read]
/// Neighbours, but the first doesn't start where a sector starts: out[i] = in[i + offset].
template <class Word>
__global__ void __launch_bounds__(256)
    shifted_read(const Word* __restrict__ in,  // count + offset words
                 Word* __restrict__ out,       // count words
                 size_t count, size_t offset) {
  constexpr int N = kInFlight<Word>;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * N) + threadIdx.x;

  Word word[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) word[k] = in[i + offset];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) out[i] = word[k];
  }
}
// [shifted_read]

// [shifted_write]
/// The stores are shifted: out[i + offset] = in[i].
template <class Word>
__global__ void __launch_bounds__(256)
    shifted_write(const Word* __restrict__ in,  // count words
                  Word* __restrict__ out,       // count + offset words
                  size_t count, size_t offset) {
  constexpr int N = kInFlight<Word>;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * N) + threadIdx.x;

  Word word[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) word[k] = in[i];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) out[i + offset] = word[k];
  }
}
// [shifted_write]

// [particle]
/// 32 bytes: one sector, if the array starts where a sector starts.
struct Particle {
  float x, y, z, age;
  float vx, vy, vz, drag;  // drag: the share of the velocity that a step leaves
};

/// One step of dt seconds. All eight fields are needed.
__host__ __device__ inline Particle advance(Particle p, float dt) {
  p.x += dt * p.vx;
  p.y += dt * p.vy;
  p.z += dt * p.vz;
  p.age += dt;
  p.vx *= p.drag;
  p.vy *= p.drag;
  p.vz *= p.drag;
  return p;
}
// [particle]

// [particles_aos]
/// An array of structures, a thread per particle. A Particle is made of floats, so it may start at
/// any multiple of 4 bytes, and the compiler has to read it in eight loads of 4 bytes, each with a
/// stride of 8 floats. Blocks of 256 threads.
__global__ void particles_aos(const Particle* __restrict__ in,  // count
                              Particle* __restrict__ out,       // count
                              size_t count, float dt) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = advance(in[i], dt);
}
// [particles_aos]

// [particles_soa]
/// A structure of arrays: all x, then all y, and so on; field f of particle i is in[f * count + i].
/// Eight loads of 4 bytes, each of them with stride 1. Blocks of 256 threads.
__global__ void particles_soa(const float* __restrict__ in,  // 8 x count
                              float* __restrict__ out,       // 8 x count
                              size_t count, float dt) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;

  const Particle p =
      advance({in[i], in[count + i], in[2 * count + i], in[3 * count + i], in[4 * count + i],
               in[5 * count + i], in[6 * count + i], in[7 * count + i]},
              dt);
  out[i] = p.x;
  out[count + i] = p.y;
  out[2 * count + i] = p.z;
  out[3 * count + i] = p.age;
  out[4 * count + i] = p.vx;
  out[5 * count + i] = p.vy;
  out[6 * count + i] = p.vz;
  out[7 * count + i] = p.drag;
}
// [particles_soa]

// [particles_float4]
/// The array of structures again. If it is aligned to 16 bytes, a particle can be read as two
/// float4: particle i is in[2 * i] and in[2 * i + 1]. Blocks of 256 threads.
__global__ void particles_float4(const float4* __restrict__ in,  // 2 x count
                                 float4* __restrict__ out,       // 2 x count
                                 size_t count, float dt) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;

  const float4 a = in[2 * i];
  const float4 b = in[2 * i + 1];
  const Particle p = advance({a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, dt);
  out[2 * i] = make_float4(p.x, p.y, p.z, p.age);
  out[2 * i + 1] = make_float4(p.vx, p.vy, p.vz, p.drag);
}
// [particles_float4]

// [particles_shared]
/// The array of structures, through shared memory. The block reads its 256 particles as 2,048
/// floats in a row, wherever a particle starts, and stores them in shared memory as a structure of
/// arrays. No alignment is needed. Blocks of 256 threads.
__global__ void __launch_bounds__(256) particles_shared(const Particle* __restrict__ in,  // count
                                                        Particle* __restrict__ out,       // count
                                                        size_t count, float dt) {
  constexpr int FIELDS = 8;
  // Eight neighbours in memory go to eight rows. Rows begin 4 banks apart, so that the 8 rows x 4
  // particles of a warp lie in 32 different banks.
  __shared__ float tile[FIELDS][256 + 4];
  const int t = threadIdx.x;
  const size_t begin = static_cast<size_t>(blockIdx.x) * (256 * FIELDS);  // of the block, in floats
  const size_t end = FIELDS * count;
  const float* from = reinterpret_cast<const float*>(in);
  float* to = reinterpret_cast<float*>(out);

#pragma unroll
  for (int k = 0; k < FIELDS; ++k) {
    const int word = k * 256 + t;  // 32 neighbours for a warp: 4 sectors
    if (begin + word < end) tile[word % FIELDS][word / FIELDS] = from[begin + word];
  }
  __syncthreads();  // eight threads brought the fields of a particle

  if (begin + FIELDS * t < end) {
    const Particle p = advance({tile[0][t], tile[1][t], tile[2][t], tile[3][t],  //
                                tile[4][t], tile[5][t], tile[6][t], tile[7][t]},
                               dt);
    tile[0][t] = p.x;
    tile[1][t] = p.y;
    tile[2][t] = p.z;
    tile[3][t] = p.age;
    tile[4][t] = p.vx;
    tile[5][t] = p.vy;
    tile[6][t] = p.vz;  // tile[7]: the drag stays
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < FIELDS; ++k) {
    const int word = k * 256 + t;
    if (begin + word < end) to[begin + word] = tile[word % FIELDS][word / FIELDS];
  }
}
// [particles_shared]

// [row_sums_thread]
/// A thread adds up a row. It reads neighbours, one after the other; what the *warp* reads at each
/// step is a column. Blocks of 256 threads.
__global__ void row_sums_thread(const float* __restrict__ in,  // rows x cols, row-major
                                float* __restrict__ sums,      // rows
                                int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;

  float sum = 0;
  for (int col = 0; col < cols; ++col) sum += in[static_cast<size_t>(row) * cols + col];
  sums[row] = sum;
}
// [row_sums_thread]

// [row_sums_warp]
/// A warp adds up a row: 32 neighbours at each step, and 32 partial sums that are added at the end.
/// Blocks of 256 threads: eight warps, eight rows.
__global__ void row_sums_warp(const float* __restrict__ in,  // rows x cols, row-major
                              float* __restrict__ sums,      // rows
                              int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp

  float sum = 0;
  for (int col = lane; col < cols; col += 32) sum += in[static_cast<size_t>(row) * cols + col];
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) sums[row] = sum;
}
// [row_sums_warp]

// [column_sums_thread]
/// A thread adds up a column. It jumps from row to row; what the warp reads at each step is 32
/// neighbours of one row. Blocks of 256 threads.
__global__ void column_sums_thread(const float* __restrict__ in,  // rows x cols, row-major
                                   float* __restrict__ sums,      // cols
                                   int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;

  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += in[static_cast<size_t>(row) * cols + col];
  sums[col] = sum;
}
// [column_sums_thread]

// [column_sums_block]
/// A block adds up 32 columns: each of its 32 warps takes every 32nd row, and the 32 partial sums
/// of a column are added at the end. The requests are the same as with a thread per column, but
/// from 32 times as many threads. Blocks of (32, 32) threads.
__global__ void __launch_bounds__(1024)
    column_sums_block(const float* __restrict__ in,  // rows x cols, row-major
                      float* __restrict__ sums,      // cols
                      int rows, int cols) {
  __shared__ float part[32][32];  // part[warp][column]
  const int col = blockIdx.x * 32 + threadIdx.x;

  float sum = 0;
  if (col < cols) {
    for (int row = threadIdx.y; row < rows; row += 32)
      sum += in[static_cast<size_t>(row) * cols + col];
  }
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();

  if (threadIdx.y == 0 && col < cols) {
    for (int warp = 1; warp < 32; ++warp) sum += part[warp][threadIdx.x];
    sums[col] = sum;
  }
}
// [column_sums_block]

// [gather]
/// Reads words through an index. Every index must be inside `in`.
/// Blocks of 256 threads, enough for 8 words each.
__global__ void __launch_bounds__(256)
    gather(const float* __restrict__ in,        // more words than any index
           const unsigned* __restrict__ index,  // count
           float* __restrict__ out,             // count: out[i] = in[index[i]]
           size_t count) {
  constexpr int N = 8;
  const size_t first = static_cast<size_t>(blockIdx.x) * (256 * N) + threadIdx.x;

  float word[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) word[k] = in[index[i]];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const size_t i = first + k * 256;
    if (i < count) out[i] = word[k];
  }
}
// [gather]

/// Blocks for `count` items, `per_block` each; 0 where a grid cannot have so many (2^31 - 1 in x).
constexpr unsigned coalescing_blocks(size_t count, size_t per_block) {
  const size_t blocks = count / per_block + (count % per_block != 0);
  return blocks < (size_t{1} << 31) ? static_cast<unsigned>(blocks) : 0;
}

/// True when `p` may be read as an array of T: the hardware has no misaligned loads.
template <class T>
bool coalescing_aligned(const void* p) {
  return reinterpret_cast<size_t>(p) % sizeof(T) == 0;
}

// [launch]
/// Starts a kernel in blocks of `block` threads, `per_block` of `count` items in each. Nothing to
/// do is no error. cudaErrorInvalidConfiguration when a grid cannot have that many blocks.
template <class... Parameters, class... Arguments>
cudaError_t launch_blocks(void (*kernel)(Parameters...), size_t count, size_t per_block, dim3 block,
                          cudaStream_t stream, Arguments... arguments) {
  if (count == 0) return cudaSuccess;  // a grid of 0 blocks is an error
  const unsigned blocks = coalescing_blocks(count, per_block);
  if (blocks == 0) return cudaErrorInvalidConfiguration;
  kernel<<<blocks, block, 0, stream>>>(arguments...);
  return cudaGetLastError();
}
// [launch]

template <class Word>
cudaError_t launch_copy_one_word(const Word* in, Word* out, size_t count,
                                 cudaStream_t stream = nullptr) {
  if (!coalescing_aligned<Word>(in) || !coalescing_aligned<Word>(out)) return cudaErrorInvalidValue;
  return launch_blocks(copy_one_word<Word>, count, 256, dim3(256), stream, in, out, count);
}

/// `count` floats; both arrays must be aligned to 16 bytes.
inline cudaError_t launch_copy_four_vectors(const float* in, float* out, size_t count,
                                            cudaStream_t stream = nullptr) {
  if (!coalescing_aligned<float4>(in) || !coalescing_aligned<float4>(out))
    return cudaErrorInvalidValue;
  return launch_blocks(copy_four_vectors, count, 4096, dim3(256), stream, in, out, count);
}

/// True when memory could hold `count` words with that stride or offset, and no position overflows.
constexpr bool positions_fit(size_t count, size_t stride, size_t offset) {
  constexpr size_t most = size_t{1} << 56;
  return count <= most && offset <= most && (stride == 0 || count <= most / stride);
}

/// Starts a strided or shifted kernel; `parameter` is the stride or the offset.
template <class Word>
cudaError_t launch_moving(void (*kernel)(const Word*, Word*, size_t, size_t), const Word* in,
                          Word* out, size_t count, size_t parameter, bool fits,
                          cudaStream_t stream) {
  if (!coalescing_aligned<Word>(in) || !coalescing_aligned<Word>(out) || !fits)
    return cudaErrorInvalidValue;
  return launch_blocks(kernel, count, 256 * kInFlight<Word>, dim3(256), stream, in, out, count,
                       parameter);
}

/// `stride` in words; 0 reads the same word again and again.
template <class Word>
cudaError_t launch_strided_read(const Word* in, Word* out, size_t count, size_t stride,
                                cudaStream_t stream = nullptr) {
  return launch_moving(strided_read<Word>, in, out, count, stride, positions_fit(count, stride, 0),
                       stream);
}

/// `stride` in words, 1 or more.
template <class Word>
cudaError_t launch_strided_write(const Word* in, Word* out, size_t count, size_t stride,
                                 cudaStream_t stream = nullptr) {
  // stride 0: all words to one place
  const bool fits = stride > 0 && positions_fit(count, stride, 0);
  return launch_moving(strided_write<Word>, in, out, count, stride, fits, stream);
}

/// `stride` in words, 1 or more.
template <class Word>
cudaError_t launch_strided_copy(const Word* in, Word* out, size_t count, size_t stride,
                                cudaStream_t stream = nullptr) {
  const bool fits = stride > 0 && positions_fit(count, stride, 0);
  return launch_moving(strided_copy<Word>, in, out, count, stride, fits, stream);
}

/// `offset` in words.
template <class Word>
cudaError_t launch_shifted_read(const Word* in, Word* out, size_t count, size_t offset,
                                cudaStream_t stream = nullptr) {
  return launch_moving(shifted_read<Word>, in, out, count, offset, positions_fit(count, 1, offset),
                       stream);
}

/// `offset` in words.
template <class Word>
cudaError_t launch_shifted_write(const Word* in, Word* out, size_t count, size_t offset,
                                 cudaStream_t stream = nullptr) {
  return launch_moving(shifted_write<Word>, in, out, count, offset, positions_fit(count, 1, offset),
                       stream);
}

inline cudaError_t launch_particles_aos(const Particle* in, Particle* out, size_t count, float dt,
                                        cudaStream_t stream = nullptr) {
  return launch_blocks(particles_aos, count, 256, dim3(256), stream, in, out, count, dt);
}

inline cudaError_t launch_particles_soa(const float* in, float* out, size_t count, float dt,
                                        cudaStream_t stream = nullptr) {
  return launch_blocks(particles_soa, count, 256, dim3(256), stream, in, out, count, dt);
}

/// Both arrays must be aligned to 16 bytes.
inline cudaError_t launch_particles_float4(const Particle* in, Particle* out, size_t count,
                                           float dt, cudaStream_t stream = nullptr) {
  if (!coalescing_aligned<float4>(in) || !coalescing_aligned<float4>(out))
    return cudaErrorInvalidValue;
  return launch_blocks(particles_float4, count, 256, dim3(256), stream,
                       reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), count,
                       dt);
}

inline cudaError_t launch_particles_shared(const Particle* in, Particle* out, size_t count,
                                           float dt, cudaStream_t stream = nullptr) {
  return launch_blocks(particles_shared, count, 256, dim3(256), stream, in, out, count, dt);
}

/// The sums of no columns are zeros. int holds every row and column that the kernels compute, those
/// past the edge included.
inline cudaError_t launch_sums(void (*kernel)(const float*, float*, int, int), int per_block,
                               dim3 block, bool of_rows, const float* in, float* sums, int rows,
                               int cols, cudaStream_t stream) {
  constexpr int most = 1 << 30;
  if (rows < 0 || cols < 0 || rows > most || cols > most) return cudaErrorInvalidValue;
  return launch_blocks(kernel, of_rows ? rows : cols, per_block, block, stream, in, sums, rows,
                       cols);
}

inline cudaError_t launch_row_sums_thread(const float* in, float* sums, int rows, int cols,
                                          cudaStream_t stream = nullptr) {
  return launch_sums(row_sums_thread, 256, dim3(256), true, in, sums, rows, cols, stream);
}

inline cudaError_t launch_row_sums_warp(const float* in, float* sums, int rows, int cols,
                                        cudaStream_t stream = nullptr) {
  return launch_sums(row_sums_warp, 8, dim3(256), true, in, sums, rows, cols, stream);
}

inline cudaError_t launch_column_sums_thread(const float* in, float* sums, int rows, int cols,
                                             cudaStream_t stream = nullptr) {
  return launch_sums(column_sums_thread, 256, dim3(256), false, in, sums, rows, cols, stream);
}

inline cudaError_t launch_column_sums_block(const float* in, float* sums, int rows, int cols,
                                            cudaStream_t stream = nullptr) {
  return launch_sums(column_sums_block, 32, dim3(32, 32), false, in, sums, rows, cols, stream);
}

inline cudaError_t launch_gather(const float* in, const unsigned* index, float* out, size_t count,
                                 cudaStream_t stream = nullptr) {
  return launch_blocks(gather, count, 2048, dim3(256), stream, in, index, out, count);
}
