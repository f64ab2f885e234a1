// What was tried on the way to transpose_vectorised<columns, evict_last>, and what each trial
// costs: hints to L2, other tiles, other orders of blocks, persistent blocks. Each is checked, and
// timed in turns with cudaMemcpyAsync. At the end: what the hints leave to the kernel that comes
// after the transpose. On a GPU:
//   nvcc -std=c++20 -O3 -arch=native trials.cu -o trials && ./trials [n]
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                      \
  do {                                                                   \
    if (const cudaError_t error = (call); error != cudaSuccess) {        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(error));                           \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

/// The cache hint of the loads, which tells L2 what to do with the words: nothing, evict them
/// first, evict them last.
enum class Hint { none, evict_first, evict_last };

template <Hint HINT>
__device__ float4 load(const float4* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(TILEWISE_SIMULATOR)
  if constexpr (HINT != Hint::none) {
    unsigned long long policy;
    if constexpr (HINT == Hint::evict_first)
      asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    else
      asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    float4 v;
    asm("ld.global.nc.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(from), "l"(policy));
    return v;
  }
#endif
  return *from;
}

/// The copy with hints. Blocks of 256 threads, a float4 each.
template <Hint HINT>
__global__ void __launch_bounds__(256)
    copy(const float4* __restrict__ in, float4* __restrict__ out) {
  const size_t at = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  out[at] = load<HINT>(in + at);
}

/// transpose_vectorised() of a square matrix for tiles of HEIGHT x WIDTH words, a piece of 4 x 4
/// per thread. Tiles are taken in strips of `strip` tile columns: from left to right in a strip,
/// then one further down, and strip after strip. STAY: persistent blocks, as many as fit. When one
/// has a tile in shared memory, it reads the next before it writes this one. n is a multiple of
/// HEIGHT and of WIDTH.
template <int HEIGHT, int WIDTH, Hint HINT, bool STAY>
__global__ void __launch_bounds__(HEIGHT* WIDTH / 16)
    transpose(const float* __restrict__ in, float* __restrict__ out, int n, int strip) {
  // float4 in a column of the tile, and in a row
  constexpr int DOWN = HEIGHT / 4, ACROSS = WIDTH / 4;
  __shared__ float4 tile[WIDTH][DOWN];  // tile[j][u ^ (j / 4 % 8)] as in transpose_vectorised()
  const unsigned tile_rows = n / HEIGHT, tile_cols = n / WIDTH;
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  int r0, c0;
  float4 a, b, c, d;
  const auto fetch = [&](unsigned number) {
    // tile columns of the strips before
    const unsigned before = number / (strip * tile_rows) * strip;
    const unsigned width = min(static_cast<unsigned>(strip), tile_cols - before),
                   inside = number - before * tile_rows;
    r0 = static_cast<int>(inside / width) * HEIGHT;
    c0 = static_cast<int>(before + inside % width) * WIDTH;
    const float* from = in + static_cast<size_t>(r0 + 4 * y) * n + c0 + 4 * x;
    a = load<HINT>(reinterpret_cast<const float4*>(from));
    b = load<HINT>(reinterpret_cast<const float4*>(from + n));
    c = load<HINT>(reinterpret_cast<const float4*>(from + 2 * static_cast<size_t>(n)));
    d = load<HINT>(reinterpret_cast<const float4*>(from + 3 * static_cast<size_t>(n)));
  };
  fetch(blockIdx.x);
  for (unsigned number = blockIdx.x;;) {
    const int u = y ^ (x % 8);
    tile[4 * x + 0][u] = make_float4(a.x, b.x, c.x, d.x);
    tile[4 * x + 1][u] = make_float4(a.y, b.y, c.y, d.y);
    tile[4 * x + 2][u] = make_float4(a.z, b.z, c.z, d.z);
    tile[4 * x + 3][u] = make_float4(a.w, b.w, c.w, d.w);
    __syncthreads();
    float* to = out + static_cast<size_t>(c0) * n + r0;
    number += gridDim.x;
    const bool more = STAY && number < tile_rows * tile_cols;
    if (more) fetch(number);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int p = threadIdx.x + k * (HEIGHT * WIDTH / 16), j = p / DOWN, i = p % DOWN;
      *reinterpret_cast<float4*>(to + static_cast<size_t>(j) * n + 4 * i) =
          tile[j][i ^ (j / 4 % 8)];
    }
    if (!more) return;
    __syncthreads();  // the next tile overwrites this one
  }
}

/// Reads words and writes next to nothing. Blocks of 256 threads, 16 float4 each.
__global__ void read_words(const float4* __restrict__ words, float* __restrict__ sums) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float4 v = words[(static_cast<size_t>(blockIdx.x) * 16 + k) * 256 + threadIdx.x];
    sum += v.x + v.y + v.z + v.w;
  }
  sums[static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x] = sum;
}

/// Words that are all different, as far as 32 bits go, and numbers.
__global__ void fill(float* words) {
  const size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  words[i] = __uint_as_float((static_cast<unsigned>(i) * 2654435761u & 0x3fffffffu) | 0x20000000u);
}

__global__ void differences(const float* in, const float* out, int n, bool transposed,
                            unsigned long long* count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  if (out[i] != in[transposed ? i % n * n + i / n : i]) atomicAdd(count, 1ull);
}

int n = 16384;
// the copy has a pair of its own, so what one call leaves in L2 doesn't help the next
float *in[2], *out[2];
unsigned long long* wrong;
cudaEvent_t events[3];

/// Prints a line: the time, and the share of the copy's speed. launch(in, out) starts a trial.
template <class Launch>
void trial(const char* name, bool transposed, Launch launch) {
  const size_t bytes = sizeof(float) * n * n;
  const unsigned blocks = static_cast<unsigned>(bytes / sizeof(float) / 256);
  CHECK(cudaMemset(out[0], 0xff, bytes));
  CHECK(cudaMemset(wrong, 0, sizeof *wrong));
  launch(in[0], out[0]);
  CHECK(cudaGetLastError());
  differences<<<blocks, 256>>>(in[0], out[0], n, transposed, wrong);
  unsigned long long count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count > 0) {
    std::printf("%-52s WRONG in %llu words\n", name, count);
    std::exit(1);
  }
  std::vector<float> copies, trials, shares;
  for (int i = -2; i < 30; ++i) {  // the first two warm up
    CHECK(cudaEventRecord(events[0]));
    CHECK(cudaMemcpyAsync(out[0], in[0], bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaEventRecord(events[1]));
    launch(in[1], out[1]);
    CHECK(cudaEventRecord(events[2]));
    CHECK(cudaEventSynchronize(events[2]));
    float copy_ms = 0, ms = 0;
    CHECK(cudaEventElapsedTime(&copy_ms, events[0], events[1]));
    CHECK(cudaEventElapsedTime(&ms, events[1], events[2]));
    if (i < 0) continue;
    copies.push_back(copy_ms);
    trials.push_back(ms);
    shares.push_back(100 * copy_ms / ms);
  }
  std::nth_element(copies.begin(), copies.begin() + 15, copies.end());
  std::nth_element(trials.begin(), trials.begin() + 15, trials.end());
  std::sort(shares.begin(), shares.end());
  std::printf("%-52s %8.4f ms %6.1f %% of the copy, quartiles %.1f to %.1f\n", name, trials[15],
              100 * copies[15] / trials[15], shares[7], shares[22]);
}

template <Hint HINT>
void copy_trial(const char* name) {
  trial(name, false, [](const float* from, float* to) {
    copy<HINT><<<static_cast<unsigned>(static_cast<size_t>(n) * n / 1024), 256>>>(
        reinterpret_cast<const float4*>(from), reinterpret_cast<float4*>(to));
  });
}

template <int HEIGHT, int WIDTH, Hint HINT, bool STAY = false>
void transpose_trial(const char* name, int strip = 1) {
  const auto kernel = transpose<HEIGHT, WIDTH, HINT, STAY>;
  constexpr int threads = HEIGHT * WIDTH / 16;
  unsigned blocks = static_cast<unsigned>(n / HEIGHT) * (n / WIDTH);
  if (STAY) {
    int resident = 0, sms = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    blocks = std::min(blocks, static_cast<unsigned>(resident * sms));
  }
  trial(name, true,
        [=](const float* from, float* to) { kernel<<<blocks, threads>>>(from, to, n, strip); });
}

/// How the transpose slows the next kernel, which reads `bytes` bytes that fit in L2, again and
/// again. Before the transpose L2 has them. Prints the median time of the read before it, and of
/// the first four after it.
template <Hint HINT>
void after_trial(const char* name, size_t bytes) {
  constexpr int READS = 5;
  const auto read = [=] {
    read_words<<<static_cast<unsigned>(bytes / sizeof(float4) / 16 / 256), 256>>>(
        reinterpret_cast<float4*>(in[0]), out[0]);
  };
  cudaEvent_t marks[READS + 2];
  for (cudaEvent_t& mark : marks) CHECK(cudaEventCreate(&mark));
  std::vector<float> ms[READS];
  for (int i = -2; i < 30; ++i) {
    for (int k = 0; k < 20; ++k) read();
    CHECK(cudaEventRecord(marks[0]));
    read();
    CHECK(cudaEventRecord(marks[1]));
    transpose<64, 64, HINT, false>
        <<<static_cast<unsigned>(n / 64) * (n / 64), 256>>>(in[1], out[1], n, 1);
    for (int k = 0; k < READS; ++k) {
      CHECK(cudaEventRecord(marks[k + 2]));
      if (k + 1 < READS) read();
    }
    CHECK(cudaEventSynchronize(marks[READS + 1]));
    for (int k = 0; k < READS; ++k) {
      float time = 0;
      CHECK(cudaEventElapsedTime(&time, marks[k == 0 ? 0 : k + 1], marks[k == 0 ? 1 : k + 2]));
      if (i >= 0) ms[k].push_back(time);
    }
  }
  std::printf("%-28s %5.0f MB:", name, 1e-6 * static_cast<double>(bytes));
  for (std::vector<float>& times : ms) {
    std::nth_element(times.begin(), times.begin() + 15, times.end());
    std::printf("%9.4f", times[15]);
  }
  std::printf("\n");
  for (const cudaEvent_t mark : marks) CHECK(cudaEventDestroy(mark));
}

int main(int argc, char** argv) {
  if (argc > 1) n = std::atoi(argv[1]);
  if (n < 128 || n > 32768 || n % 128 != 0) {
    std::fprintf(stderr, "trials: n must be a multiple of 128, from 128 to 32768\n");
    return 2;
  }
  const size_t words = static_cast<size_t>(n) * n;
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMalloc(&in[i], words * sizeof(float)));
    CHECK(cudaMalloc(&out[i], words * sizeof(float)));
    fill<<<static_cast<unsigned>(words / 256), 256>>>(in[i]);
  }
  CHECK(cudaMalloc(&wrong, sizeof *wrong));
  for (cudaEvent_t& event : events) CHECK(cudaEventCreate(&event));

  std::printf(
      "%d x %d; tiles of 64 x 64, down the columns, evict_last, unless the line says otherwise\n",
      n, n);
  copy_trial<Hint::none>("copy, no hint");
  copy_trial<Hint::evict_first>("copy, evict_first");
  copy_trial<Hint::evict_last>("copy, evict_last");
  transpose_trial<64, 64, Hint::none>("transpose, no hint");
  transpose_trial<64, 64, Hint::evict_first>("transpose, evict_first");
  transpose_trial<64, 64, Hint::evict_last>("transpose, evict_last");
  transpose_trial<32, 32, Hint::evict_last>("tiles of 32 x 32");
  transpose_trial<64, 32, Hint::evict_last>("tiles of 64 x 32: 128 bytes are read of a row");
  transpose_trial<32, 64, Hint::evict_last>("tiles of 32 x 64: 128 bytes are written of a row");
  transpose_trial<128, 64, Hint::evict_last>("tiles of 128 x 64");
  transpose_trial<64, 128, Hint::evict_last>("tiles of 64 x 128");
  transpose_trial<64, 64, Hint::evict_last>("strips of 2 tile columns", 2);
  transpose_trial<64, 64, Hint::evict_last>("strips of 4 tile columns", 4);
  transpose_trial<64, 64, Hint::evict_last>("along the rows", n / 64);
  transpose_trial<64, 64, Hint::evict_last, true>("persistent blocks");
  std::printf(
      "\nThe kernel after the transpose reads words that L2 had before it. ms: before; after it "
      "the 1st to 4th time\n");
  for (const size_t bytes : {size_t{8} << 20, size_t{24} << 20, size_t{40} << 20}) {
    if (bytes > words * sizeof(float)) continue;
    after_trial<Hint::none>("transpose, no hint", bytes);
    after_trial<Hint::evict_first>("transpose, evict_first", bytes);
    after_trial<Hint::evict_last>("transpose, evict_last", bytes);
  }
  for (const cudaEvent_t event : events) CHECK(cudaEventDestroy(event));
  for (float* matrix : {in[0], in[1], out[0], out[1]}) CHECK(cudaFree(matrix));
  CHECK(cudaFree(wrong));
  return 0;
}
