// Homework of chapter 03. `make homework-03` grades this file; `make homework-03 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You need to add lines, and to change none.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Three lines of this kernel are missing, and a fourth was never there. It compiles.

constexpr int WORDS = 8;     // of a record
constexpr int RECORDS = 32;  // of a block, one for each of its threads

/// Where word j of record i lies in the tile.
__device__ int place(int i, int j) {
  int at = i * WORDS + j;
  // TODO (1 line): so that neither filling nor walking has bank conflicts. The tile has room for 32 words more

  return at;
}

__global__ void record_sums(const float* x, float* y, int n) {
  __shared__ float tile[RECORDS * WORDS + 32];  // tile[place(i, j)]: word j of record first + i
  const int lane = threadIdx.x;
  const int first = blockIdx.x * RECORDS;
  for (int w = lane; w < RECORDS * WORDS; w += 32) {  // fill: 32 neighbouring words at a time, which are four records
    float word = 0.0f;
    // TODO (1 line): fetch it, unless x has ended

    tile[place(w / WORDS, w % WORDS)] = word;
  }
  // TODO (1 line): what must stand between writing the tile and reading it

  float sum = 0.0f;
  for (int j = 0; j < WORDS; ++j) sum += tile[place(lane, j)];  // walk: lane i along record i
  // TODO (1 line): not every thread has a record

  y[first + lane] = sum;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  record_sums<<<(n + RECORDS - 1) / RECORDS, RECORDS, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// Running sums of the rows, stored transposed.

// TODO (about 25 lines): a kernel

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  // TODO (about 1 line): launch it
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// Sums by key, for each row.

constexpr int KEYS = 64;

// TODO (about 25 lines): a kernel

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols,
                               cudaStream_t stream) {
  // TODO (about 1 line): launch it
  return cudaGetLastError();
}
