// One solution of the homework of chapter 03. `make solution-03` prints it.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Three lines of this kernel are missing, and a fourth was never there. It compiles.

constexpr int WORDS = 8;     // of a record
constexpr int RECORDS = 32;  // of a block, one for each of its threads

/// Where word j of record i lies in the tile.
__device__ int place(int i, int j) {
  int at = i * WORDS + j;
  at += at / 32;  // one word unused after every 32: a fill's 32 words stay together, and walkers meet nowhere

  return at;
}

__global__ void record_sums(const float* x, float* y, int n) {
  __shared__ float tile[RECORDS * WORDS + 32];  // tile[place(i, j)]: word j of record first + i
  const int lane = threadIdx.x;
  const int first = blockIdx.x * RECORDS;
  for (int w = lane; w < RECORDS * WORDS; w += 32) {  // fill: 32 neighbouring words at a time, which are four records
    float word = 0.0f;
    if (first + w / WORDS < n) word = x[first * WORDS + w];

    tile[place(w / WORDS, w % WORDS)] = word;
  }
  __syncthreads();  // a lane reads words that others fetched

  float sum = 0.0f;
  for (int j = 0; j < WORDS; ++j) sum += tile[place(lane, j)];  // walk: lane i along record i
  if (first + lane >= n) return;

  y[first + lane] = sum;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  record_sums<<<(n + RECORDS - 1) / RECORDS, RECORDS, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// Running sums of the rows, stored transposed.

// Fetch rows, walk along columns, as in the lesson. But the walk is the last use of a word: at step j, lane i has the
// sum of row r0 + i, and what lies side by side in `out` is just that, one column for all rows. So each sum goes to
// global memory at once. A word enters the tile once and leaves it once: 64 wavefronts for a tile, not 128.
__global__ void running_sums_turned(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];  // tile[i][j] = in[r0 + i][c0 + j]
  const int lane = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  float sum = 0.0f;  // of row r0 + lane, so far
  for (int c0 = 0; c0 < cols; c0 += 32) {
    for (int i = 0; i < 32; ++i)
      tile[i][lane] = r0 + i < rows && c0 + lane < cols ? in[(r0 + i) * cols + c0 + lane] : 0.0f;
    __syncthreads();  // filled before walked
    for (int j = 0; j < 32; ++j) {
      sum += tile[lane][j];
      if (r0 + lane < rows && c0 + j < cols) out[(c0 + j) * rows + r0 + lane] = sum;
    }
    __syncthreads();  // walked before filled again
  }
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  running_sums_turned<<<(rows + 31) / 32, 32, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// Sums by key, for each row.

constexpr int KEYS = 64;

// A warp for each row, and 64 counters for each of its lanes. Counter b of lane i is word 32 b + i, in bank i whatever
// the key is. Padding would spoil that. At the end lane b adds up the 32 counters of key b. They lie in 32 banks, but
// if all lanes began with i = 0, all would want bank 0, and then bank 1. So each begins at a place of its own.
__global__ void sums_by_key(const int* keys, const float* values, float* sums, int cols) {
  __shared__ float mine[KEYS][32];  // mine[b][i]: what lane i has found under key b
  const int lane = threadIdx.x;
  const size_t row = blockIdx.x;
  for (int b = 0; b < KEYS; ++b) mine[b][lane] = 0.0f;
  for (int c = lane; c < cols; c += 32) mine[keys[row * cols + c]][lane] += values[row * cols + c];
  __syncthreads();  // from here on a lane reads what others have found
  for (int b = lane; b < KEYS; b += 32) {
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += mine[b][(i + lane) % 32];
    sums[row * KEYS + b] = sum;
  }
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols,
                               cudaStream_t stream) {
  sums_by_key<<<rows, 32, 0, stream>>>(keys, values, sums, cols);
  return cudaGetLastError();
}
