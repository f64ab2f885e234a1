// A copy with four float4 per thread is slower than one with a single float4. Are too many bytes in
// flight, or is it the order? This tries fewer blocks at a time on an SM (they ask for shared
// memory that they don't use) and three orders, each timed in turns with cudaMemcpyAsync. On a GPU:
//   nvcc -std=c++20 -O3 -arch=native copies.cu -o copies && ./copies
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

/// How far apart the words of one thread lie, in threads: those of a block, of a warp, or of the
/// whole grid.
enum class Apart { block, warp, grid };

/// Each thread copies WORDS float4. Blocks of 256 threads, exactly as many as are needed.
template <int WORDS, Apart APART>
__global__ void __launch_bounds__(256)
    copy(const float4* __restrict__ in, float4* __restrict__ out) {
  const size_t block = blockIdx.x, thread = threadIdx.x, grid = size_t{256} * gridDim.x;
  const size_t step = APART == Apart::block ? 256 : APART == Apart::warp ? 32 : grid;
  const size_t first = APART == Apart::block ? block * 256 * WORDS + thread
                       : APART == Apart::warp
                           ? block * 256 * WORDS + thread / 32 * 32 * WORDS + thread % 32
                           : block * 256 + thread;
  float4 word[WORDS];
#pragma unroll
  for (int i = 0; i < WORDS; ++i) word[i] = in[first + i * step];
#pragma unroll
  for (int i = 0; i < WORDS; ++i) out[first + i * step] = word[i];
}

constexpr size_t kWords = size_t{1} << 26;  // of 16 bytes: 1 GiB
float4 *in, *out;
cudaEvent_t begin_event, end_event;

template <class Call>
float ms_of(Call call) {
  CHECK(cudaEventRecord(begin_event));
  call();
  CHECK(cudaEventRecord(end_event));
  CHECK(cudaEventSynchronize(end_event));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin_event, end_event));
  return ms;
}

float median(std::vector<float> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// All of an SM's blocks, and fewer.
template <int WORDS, Apart APART>
void run(const char* name) {
  int shared = 0;
  CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  for (const int blocks : {8, 6, 4, 3, 2}) {
    const int unused = blocks == 8 ? 0 : shared / blocks / 1024 * 1024 - 1024;
    CHECK(cudaFuncSetAttribute(copy<WORDS, APART>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               unused));
    int resident = 0;
    CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, copy<WORDS, APART>, 256, unused));
    std::vector<float> ours, drivers, shares;
    for (int turn = 0; turn < 23; ++turn) {
      const float theirs =
          ms_of([] { CHECK(cudaMemcpyAsync(out, in, 16 * kWords, cudaMemcpyDeviceToDevice)); });
      const float mine =
          ms_of([&] { copy<WORDS, APART><<<kWords / 256 / WORDS, 256, unused>>>(in, out); });
      CHECK(cudaGetLastError());
      if (turn < 3) continue;
      ours.push_back(mine), drivers.push_back(theirs), shares.push_back(100 * theirs / mine);
    }
    std::sort(shares.begin(), shares.end());
    std::printf("%d x 16 bytes, %-24s %9d %12d KB %8.4f ms %7.1f %%, quartiles %.1f to %.1f\n",
                WORDS, name, resident, resident * 4 * WORDS, median(ours),
                100 * median(drivers) / median(ours), shares[5], shares[14]);
  }
}

int main() {
  CHECK(cudaMalloc(&in, 16 * kWords));
  CHECK(cudaMalloc(&out, 16 * kWords));
  CHECK(cudaMemset(in, 1, 16 * kWords));
  CHECK(cudaEventCreate(&begin_event));
  CHECK(cudaEventCreate(&end_event));
  std::printf(
      "a thread's words                     blocks/SM    in flight/SM      time   of "
      "cudaMemcpyAsync\n");
  run<1, Apart::block>("");
  run<2, Apart::block>("a block apart");
  run<4, Apart::block>("a block apart");
  run<4, Apart::warp>("a warp apart");
  run<4, Apart::grid>("a grid apart");
  CHECK(cudaEventDestroy(begin_event));
  CHECK(cudaEventDestroy(end_event));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return 0;
}
